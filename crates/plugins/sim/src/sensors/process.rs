//! Correlated errors.

use nalgebra::Vector3;

use crate::random::Random;

/// First-order Gauss-Markov process in three axes, `x' = -x / time_constant + noise`, started from its stationary distribution. Its steps are
/// exact: variance and correlation do not depend on their length.
pub(crate) struct GaussMarkov {
    deviation: Vector3<f64>,
    time_constant: f64,
    value: Vector3<f64>,
}

impl GaussMarkov {
    /// With this standard deviation in each axis, and this time constant, s; infinite for a constant.
    pub(crate) fn new(deviation: Vector3<f64>, time_constant: f64, random: &mut Random) -> Self {
        Self {
            deviation,
            time_constant,
            value: random.vector().component_mul(&deviation),
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
