//! A flip: 360 degrees during a hop.

use nalgebra::Vector3;

use super::{Path, PathPoint};
use crate::trajectory::jet::{Jet, Jet3};
use crate::trajectory::smooth;

/// About which axis of the body a [`Flip`] turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "settings", derive(serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "settings", serde(rename_all = "snake_case"))]
pub enum FlipAxis {
    /// About body y: it moves along body x.
    #[default]
    Pitch,
    /// About body x: it moves along body y.
    Roll,
}

/// A hop with a flip, from rest to rest, with a small displacement.
///
/// With `s = (t - start)/duration` it rises by `H (4 s (1 - s))^6` and moves by `distance smooth(s)`. At the top it accelerates
/// downwards with more than gravity, so that the thrust points downwards, and the body with it:
/// `48 H / duration^2 = g + inverted_thrust`. On the way the lateral acceleration, first forwards and then back, rotates the
/// thrust's direction once around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flip {
    /// Where it begins, m.
    pub position: Vector3<f64>,
    /// The direction of the displacement, from the world's x towards y, rad.
    pub heading: f64,
    /// The displacement, m.
    pub distance: f64,
    /// Time from rest to rest, s.
    pub duration: f64,
    /// When it starts, s.
    pub start: f64,
    /// The downward specific thrust while inverted, m/s^2.
    pub inverted_thrust: f64,
    /// Gravity, m/s^2.
    pub gravity: f64,
    /// About which axis.
    pub axis: FlipAxis,
}

impl Flip {
    /// The height of the hop, m.
    pub fn height(&self) -> f64 {
        (self.gravity + self.inverted_thrust) * self.duration * self.duration / 48.0
    }

    fn progress(&self, t: f64) -> Jet<5> {
        Jet::linear((t - self.start) / self.duration, self.duration.recip())
    }
}

/// `(4 s (1 - s))^6` for s in [0, 1], else zero: all four derivatives vanish at both ends.
fn hop(s: Jet<5>) -> Jet<5> {
    if !(0.0..=1.0).contains(&s.value()) {
        return Jet::constant(0.0);
    }
    let square = |a: Jet<5>| a * a;
    let base = (s * (Jet::constant(1.0) - s)).scale(4.0);
    square(base * square(base))
}

impl Path for Flip {
    fn at(&self, t: f64) -> PathPoint {
        let s = self.progress(t);
        let along = smooth(s).scale(self.distance);
        let (sh, ch) = self.heading.sin_cos();
        let offset = |i: usize| Jet::constant(self.position[i]);
        PathPoint {
            position: [
                along.scale(ch) + offset(0),
                along.scale(sh) + offset(1),
                hop(s).scale(self.height()) + offset(2),
            ],
            side: [Jet::constant(-sh), Jet::constant(ch), Jet::constant(0.0)],
        }
    }

    fn forward(&self, _t: f64) -> Option<Jet3<3>> {
        // Body y along the motion: body x to its right.
        let (sh, ch) = self.heading.sin_cos();
        (self.axis == FlipAxis::Roll).then(|| [sh, -ch, 0.0].map(Jet::constant))
    }

    fn duration(&self) -> Option<f64> {
        Some(self.horizon())
    }

    fn horizon(&self) -> f64 {
        self.start + self.duration
    }
}
