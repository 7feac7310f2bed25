//! Sinusoids along the three axes.

use super::{Path, PathPoint, side_of_yaw};
use crate::trajectory::Sinusoid;

/// A sinusoid along each axis, with a separate yaw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lissajous {
    /// x, y and z in the world, m.
    pub position: [Sinusoid; 3],
    /// Yaw, rad.
    pub yaw: Sinusoid,
}

impl Path for Lissajous {
    fn at(&self, t: f64) -> PathPoint {
        PathPoint {
            position: self.position.map(|x| x.at(t)),
            side: side_of_yaw(self.yaw.at(t)),
        }
    }

    fn duration(&self) -> Option<f64> {
        None
    }

    fn horizon(&self) -> f64 {
        // Ten periods of the slowest axis come close to every combination of phases.
        let frequencies = self.position.iter().map(|x| x.angular_frequency);
        let moving = frequencies.filter(|w| *w != 0.0);
        let slowest = moving.fold(f64::INFINITY, |slow, w| slow.min(w.abs()));
        if slowest.is_finite() {
            10.0 * std::f64::consts::TAU / slowest
        } else {
            0.0
        }
    }
}
