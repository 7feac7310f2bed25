//! A circle in a vertical plane.

use nalgebra::Vector3;

use super::{Path, PathPoint};
use crate::trajectory::jet::Jet;
use crate::trajectory::smooth;

/// One turn on a circle in a vertical plane, from its lowest point and back, from rest to rest.
///
/// The angle is `phi = 2 pi smooth((t - start)/duration)`. With [`AttitudeMode::ThrustAligned`](crate::trajectory::AttitudeMode::ThrustAligned) and enough
/// speed at the top the body turns over by 360 degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerticalLoop {
    /// Radius, m.
    pub radius: f64,
    /// Time from rest to rest, s.
    pub duration: f64,
    /// When it starts, s.
    pub start: f64,
    /// The lowest point, m.
    pub position: Vector3<f64>,
    /// The horizontal direction in which it starts, from the world's x towards y, rad.
    pub heading: f64,
}

impl Path for VerticalLoop {
    fn at(&self, t: f64) -> PathPoint {
        let s = Jet::linear((t - self.start) / self.duration, 1.0 / self.duration);
        let (sin, cos) = smooth(s).scale(std::f64::consts::TAU).sin_cos();
        let along = sin.scale(self.radius);
        let up = (Jet::constant(1.0) - cos).scale(self.radius);
        let (sh, ch) = self.heading.sin_cos();
        let offset = |i: usize| Jet::constant(self.position[i]);
        PathPoint {
            position: [
                along.scale(ch) + offset(0),
                along.scale(sh) + offset(1),
                up + offset(2),
            ],
            side: [Jet::constant(-sh), Jet::constant(ch), Jet::constant(0.0)],
        }
    }

    fn duration(&self) -> Option<f64> {
        Some(self.horizon())
    }

    fn horizon(&self) -> f64 {
        self.start + self.duration
    }
}
