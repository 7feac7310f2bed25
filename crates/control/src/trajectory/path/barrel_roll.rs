//! A barrel roll: 360 degrees along a corkscrew.

use nalgebra::Vector3;

use super::{Path, PathPoint};
use crate::trajectory::jet::{Jet, Jet3};
use crate::trajectory::smooth;

/// One turn of a helix about a horizontal axis, from its lowest point, from rest to rest: to the left, over, and back from the right, rolling to the right.
///
/// With `phi = 2 pi smooth((t - start)/duration)` and body x along the axis the body rolls once, provided that it is fast enough at the top for the thrust
/// to point downwards there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarrelRoll {
    /// The lowest point, where it starts, m.
    pub position: Vector3<f64>,
    /// Direction of the axis, from the world's x towards y, rad.
    pub heading: f64,
    /// Radius, m.
    pub radius: f64,
    /// Distance along the axis, m.
    pub distance: f64,
    /// Time from rest to rest, s.
    pub duration: f64,
    /// When it starts, s.
    pub start: f64,
}

impl Path for BarrelRoll {
    fn at(&self, t: f64) -> PathPoint {
        let s = Jet::linear((t - self.start) / self.duration, self.duration.recip());
        let part = smooth(s);
        let (sin, cos) = part.scale(std::f64::consts::TAU).sin_cos();
        let along = part.scale(self.distance);
        let left = sin.scale(self.radius);
        let up = (Jet::constant(1.0) - cos).scale(self.radius);
        let (sh, ch) = self.heading.sin_cos();
        let offset = |i: usize| Jet::constant(self.position[i]);
        PathPoint {
            position: [
                along.scale(ch) - left.scale(sh) + offset(0),
                along.scale(sh) + left.scale(ch) + offset(1),
                up + offset(2),
            ],
            side: [Jet::constant(-sh), Jet::constant(ch), Jet::constant(0.0)],
        }
    }

    fn forward(&self, _t: f64) -> Option<Jet3<3>> {
        let (sh, ch) = self.heading.sin_cos();
        Some([ch, sh, 0.0].map(Jet::constant))
    }

    fn duration(&self) -> Option<f64> {
        Some(self.horizon())
    }

    fn horizon(&self) -> f64 {
        self.start + self.duration
    }
}
