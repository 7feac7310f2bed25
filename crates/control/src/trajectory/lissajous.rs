//! Sinusoids along the three axes.

use nalgebra::Vector3;

use super::jet::{Jet, Jet3};
use super::path::side_of_yaw;
use super::{Path, PathPoint};

/// `r_i = offset_i + amplitude_i sin(angular_frequency_i t + phase_i)` with a yaw that turns evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lissajous {
    /// Amplitudes, m.
    pub amplitude: Vector3<f64>,
    /// Angular frequencies, rad/s.
    pub angular_frequency: Vector3<f64>,
    /// Phases at t = 0, rad.
    pub phase: Vector3<f64>,
    /// Centre, m.
    pub offset: Vector3<f64>,
    /// Rate of the yaw, which starts at zero, rad/s.
    pub yaw_rate: f64,
}

impl Lissajous {
    /// The sinusoids at `t`, with N - 1 derivatives.
    pub fn position<const N: usize>(&self, t: f64) -> Jet3<N> {
        std::array::from_fn(|i| {
            let w = self.angular_frequency[i];
            let (sine, _) = Jet::linear(w * t + self.phase[i], w).sin_cos();
            sine.scale(self.amplitude[i]) + Jet::constant(self.offset[i])
        })
    }
}

impl Path for Lissajous {
    fn at(&self, t: f64) -> PathPoint {
        PathPoint {
            position: self.position(t),
            side: side_of_yaw(Jet::linear(self.yaw_rate * t, self.yaw_rate)),
        }
    }

    fn duration(&self) -> Option<f64> {
        None
    }

    fn horizon(&self) -> f64 {
        // Ten periods of the slowest axis come near to every combination of phases.
        let moving = self.angular_frequency.iter().filter(|w| **w != 0.0);
        let slowest = moving.fold(f64::INFINITY, |slow, w| slow.min(w.abs()));
        if slowest.is_finite() {
            10.0 * std::f64::consts::TAU / slowest
        } else {
            0.0
        }
    }
}
