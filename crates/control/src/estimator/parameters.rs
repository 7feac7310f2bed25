//! What a user can set of the estimator.

use super::chi_square::quantile;

/// Noises, gates and delays of the estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "settings",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields, default)
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EstimatorParameters {
    /// Noise density of the gyro, rad/s/√Hz.
    pub gyro_noise: f64,
    /// Noise density of the accelerometer, m/s²/√Hz.
    pub accelerometer_noise: f64,
    /// Random walk of the gyro's bias, rad/s²/√Hz.
    pub gyro_bias_walk: f64,
    /// Random walk of the accelerometer's bias, m/s³/√Hz.
    pub accelerometer_bias_walk: f64,
    /// Standard deviation of the attitude at the start, rad.
    pub start_attitude: f64,
    /// Standard deviation of the velocity at the start, m/s.
    pub start_velocity: f64,
    /// Standard deviation of the position at the start, m.
    pub start_position: f64,
    /// Standard deviation of the gyro's bias at the start, rad/s.
    pub start_gyro_bias: f64,
    /// Standard deviation of the accelerometer's bias at the start, m/s².
    pub start_accelerometer_bias: f64,
    /// The part of right measurements that pass the gate, 0 to 1.
    pub gate: f64,
    /// How long a kind of measurement may be rejected before the filter widens and takes it, s.
    pub rejection_time: f64,
    /// Largest delay of a measurement, s: how far behind the present the filter runs.
    pub delay: f64,
}

impl Default for EstimatorParameters {
    /// A consumer IMU, no delay.
    fn default() -> Self {
        Self {
            gyro_noise: 2e-3,
            accelerometer_noise: 2e-2,
            gyro_bias_walk: 1e-4,
            accelerometer_bias_walk: 1e-3,
            start_attitude: 0.1,
            start_velocity: 0.5,
            start_position: 0.5,
            start_gyro_bias: 0.02,
            start_accelerometer_bias: 0.2,
            gate: 0.999,
            rejection_time: 1.0,
            delay: 0.0,
        }
    }
}

/// An invalid parameter.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{key}: expected {expected}, found {found}")]
pub struct ParameterError {
    /// The key.
    pub key: &'static str,
    /// What was expected.
    pub expected: &'static str,
    /// What was found.
    pub found: f64,
}

impl EstimatorParameters {
    /// Checks all values.
    ///
    /// # Errors
    /// [`ParameterError`] with the first invalid key.
    pub fn validate(&self) -> Result<(), ParameterError> {
        let positive = [
            ("gyro_noise", self.gyro_noise),
            ("accelerometer_noise", self.accelerometer_noise),
            ("start_attitude", self.start_attitude),
            ("start_velocity", self.start_velocity),
            ("start_position", self.start_position),
            ("rejection_time", self.rejection_time),
        ];
        for (key, found) in positive {
            check(key, "a positive number", found, found > 0.0)?;
        }
        let not_negative = [
            ("gyro_bias_walk", self.gyro_bias_walk),
            ("accelerometer_bias_walk", self.accelerometer_bias_walk),
            ("start_gyro_bias", self.start_gyro_bias),
            ("start_accelerometer_bias", self.start_accelerometer_bias),
            ("delay", self.delay),
        ];
        for (key, found) in not_negative {
            check(key, "zero or a positive number", found, found >= 0.0)?;
        }
        let inside = self.gate > 0.0 && self.gate < 1.0;
        check("gate", "a number between 0 and 1", self.gate, inside)
    }

    /// The gates for 1 to 6 degrees of freedom.
    pub(super) fn gates(&self) -> [f64; 6] {
        core::array::from_fn(|i| quantile(i + 1, self.gate))
    }
}

fn check(
    key: &'static str,
    expected: &'static str,
    found: f64,
    right: bool,
) -> Result<(), ParameterError> {
    if right && found.is_finite() {
        Ok(())
    } else {
        Err(ParameterError {
            key,
            expected,
            found,
        })
    }
}
