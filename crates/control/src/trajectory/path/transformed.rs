//! Paths in another frame, or with another heading.

use std::ops::Range;

use fly_lie::SE3;

use super::{Path, PathPoint, side_of_yaw};
use crate::trajectory::Sinusoid;
use crate::trajectory::jet::{Jet, Jet3, derivative};

/// A path in the coordinates of another frame.
pub struct TransformedPath {
    path: Box<dyn Path>,
    /// The world in the frame.
    world: SE3<f64>,
}

/// A path that leaves the line or plane on which a joint moves.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("at {time} s it leaves the {what} on which the body moves by {distance:.6} m")]
pub struct LeavesSubspace {
    /// The time, s.
    pub time: f64,
    /// `line` or `plane`.
    pub what: &'static str,
    /// The distance, m.
    pub distance: f64,
}

impl Path for TransformedPath {
    fn at(&self, t: f64) -> PathPoint {
        let point = self.path.at(t);
        let mut position = self.turned(&point.position);
        for (p, offset) in position.iter_mut().zip(self.world.translation.iter()) {
            *p = *p + Jet::constant(*offset);
        }
        PathPoint {
            position,
            side: self.turned(&point.side),
        }
    }

    fn forward(&self, t: f64) -> Option<Jet3<3>> {
        self.path.forward(t).map(|forward| self.turned(&forward))
    }

    fn duration(&self) -> Option<f64> {
        self.path.duration()
    }

    fn horizon(&self) -> f64 {
        self.path.horizon()
    }
}

impl TransformedPath {
    /// Expresses a world path in a frame with this pose.
    pub fn new(path: Box<dyn Path>, frame: &SE3<f64>) -> Self {
        let world = frame.inverse();
        Self { path, world }
    }

    /// Checks that the coordinates outside `kept` stay zero, at 201 instants of its horizon.
    ///
    /// # Errors
    /// [`LeavesSubspace`].
    pub fn check_within(&self, kept: Range<usize>) -> Result<(), LeavesSubspace> {
        for i in 0..=200 {
            let time = self.horizon() * f64::from(i) / 200.0;
            let at = derivative(&self.at(time).position, 0);
            let left = (0..3).filter(|k| !kept.contains(k)).map(|k| at[k].abs());
            let distance = left.fold(0.0, f64::max);
            // The rounding error of positions and attitudes.
            if distance > 1e-9 * (1.0 + at.norm()) {
                let what = if kept.len() == 1 { "line" } else { "plane" };
                return Err(LeavesSubspace {
                    time,
                    what,
                    distance,
                });
            }
        }
        Ok(())
    }

    fn turned<const N: usize>(&self, v: &Jet3<N>) -> Jet3<N> {
        let matrix = self.world.rotation.matrix();
        std::array::from_fn(|i| {
            v[0].scale(matrix[(i, 0)]) + v[1].scale(matrix[(i, 1)]) + v[2].scale(matrix[(i, 2)])
        })
    }
}

/// A path with another heading about the third axis.
pub struct WithYaw {
    /// The path.
    pub path: Box<dyn Path>,
    /// The heading, rad.
    pub yaw: Sinusoid,
}

impl Path for WithYaw {
    fn at(&self, t: f64) -> PathPoint {
        PathPoint {
            side: side_of_yaw(self.yaw.at(t)),
            ..self.path.at(t)
        }
    }

    fn duration(&self) -> Option<f64> {
        self.path.duration().filter(|_| self.yaw.is_constant())
    }

    fn horizon(&self) -> f64 {
        self.path.horizon()
    }
}
