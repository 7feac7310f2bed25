//! Correlated errors.

use nalgebra::Vector3;

use crate::random::Random;

/// The drift of a sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Drift {
    /// Stationary standard deviation of each axis.
    pub(crate) deviation: Vector3<f64>,
    /// s; infinite for a constant.
    pub(crate) time_constant: f64,
    /// Whether it begins stationary, as a constant does, else at zero.
    pub(crate) is_absolute: bool,
}

/// First-order Gauss-Markov process in three axes, `x' = -x / time_constant + noise`. Its steps are exact: variance and correlation do not
/// depend on their length.
pub(crate) struct GaussMarkov {
    deviation: Vector3<f64>,
    time_constant: f64,
    value: Vector3<f64>,
}

impl GaussMarkov {
    pub(crate) fn new(drift: Drift, random: &mut Random) -> Self {
        // The random numbers that follow do not depend on where it begins.
        let value = random.vector().component_mul(&drift.deviation);
        Self {
            deviation: drift.deviation,
            time_constant: drift.time_constant,
            value: if drift.is_absolute || drift.time_constant == f64::INFINITY {
                value
            } else {
                Vector3::zeros()
            },
        }
    }

    /// Returns the current value, and advances it by this time, s.
    pub(crate) fn next(&mut self, step: f64, random: &mut Random) -> Vector3<f64> {
        let value = self.value;
        let ways = step / self.time_constant;
        let fresh = (-(-2.0 * ways).exp_m1()).sqrt();
        self.value = value * (-ways).exp() + random.vector().component_mul(&self.deviation) * fresh;
        value
    }
}

/// Random walk in three axes: its standard deviation grows with the square root of time.
pub(crate) struct Walk {
    density: f64,
    value: Vector3<f64>,
}

impl Walk {
    /// Starts at this value, with this density, in units of the value per s and sqrt(Hz).
    pub(crate) fn new(density: f64, start: Vector3<f64>) -> Self {
        Self {
            density,
            value: start,
        }
    }

    /// Returns the current value, and advances it by this time, s.
    pub(crate) fn next(&mut self, step: f64, random: &mut Random) -> Vector3<f64> {
        let value = self.value;
        self.value += random.vector() * (self.density * step.sqrt());
        value
    }
}
