//! How violated constraints are brought back.

use nalgebra::{RealField, convert};

/// Terms beside the equations for the acceleration, which let violations decay, Konz (A.179).
///
/// ```text
/// holonomic:     ψ_ddot + velocity ψ_dot + position ψ = 0
/// nonholonomic:  η_dot + nonholonomic η = 0
/// ```
///
/// Residuals here are linear in the violation, so that it decays at the stated rate; a stabilised square, as in (A.178), decays at twice the
/// rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stabilization<T> {
    /// `Lambda_0`, 1/s².
    pub position: T,
    /// `Lambda_1`, 1/s.
    pub velocity: T,
    /// `Lambda` of nonholonomic equations, 1/s.
    pub nonholonomic: T,
}

impl<T: RealField + Copy> Stabilization<T> {
    /// Violations stay: accelerations keep the differentiated constraints and nothing more.
    pub fn none() -> Self {
        Self {
            position: T::zero(),
            velocity: T::zero(),
            nonholonomic: T::zero(),
        }
    }

    /// Every violation decays with this rate `r` (1/s), holonomic ones without overshoot: both roots of `s^2 + 2 r s + r^2` are `-r`.
    ///
    /// Take ten times the fastest rate of the motion, and not more than the inverse of the integrator's step.
    pub fn critically_damped(rate: T) -> Self {
        Self {
            position: rate * rate,
            velocity: rate * convert(2.0),
            nonholonomic: rate,
        }
    }
}
