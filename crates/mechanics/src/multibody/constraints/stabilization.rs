//! Stabilisation of constraint violations.

use nalgebra::{RealField, convert};

/// Terms added to the acceleration equations that let violations decay, Konz (A.179).
///
/// ```text
/// holonomic:     ψ_ddot + velocity ψ_dot + position ψ = 0
/// nonholonomic:  η_dot + nonholonomic η = 0
/// ```
///
/// Residuals are linear in the violation, so that it decays at the stated rate; a stabilised squared residual, as in (A.178), decays at
/// twice the rate.
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
    /// No stabilisation: accelerations satisfy the differentiated constraints, and violations persist.
    pub fn none() -> Self {
        Self {
            position: T::zero(),
            velocity: T::zero(),
            nonholonomic: T::zero(),
        }
    }

    /// Every violation decays at this rate `r` (1/s), holonomic ones without overshoot: both roots of `s^2 + 2 r s + r^2` are `-r`.
    ///
    /// Choose ten times the fastest rate of the motion, but at most the inverse of the integrator's step.
    pub fn critically_damped(rate: T) -> Self {
        Self {
            position: rate * rate,
            velocity: rate * convert(2.0),
            nonholonomic: rate,
        }
    }
}
