//! Straight from one point to another.

use nalgebra::Vector3;

use super::jet::Jet;
use super::path::side_of_yaw;
use super::{Path, PathPoint, smooth};

/// A straight way from rest to rest along [`smooth`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Where it begins, m.
    pub from: Vector3<f64>,
    /// Where it ends, m.
    pub to: Vector3<f64>,
    /// When it starts, s.
    pub start: f64,
    /// How long it takes, s.
    pub duration: f64,
    /// Yaw, rad.
    pub yaw: f64,
}

impl Path for Line {
    fn at(&self, t: f64) -> PathPoint {
        let rate = self.duration.recip();
        let part = smooth(Jet::linear((t - self.start) * rate, rate));
        let way = self.to - self.from;
        PathPoint {
            position: std::array::from_fn(|i| Jet::constant(self.from[i]) + part.scale(way[i])),
            side: side_of_yaw(Jet::constant(self.yaw)),
        }
    }

    fn duration(&self) -> Option<f64> {
        Some(self.horizon())
    }

    fn horizon(&self) -> f64 {
        self.start + self.duration
    }
}
