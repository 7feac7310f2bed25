//! The table `[controller.cascade]`.

use serde::Deserialize;

use super::{SettingsError, not_negative};
use crate::baselines::CascadeGains;
use crate::poles::Poles;

/// The table `[controller.cascade]`: integral and derivative gains of the loops.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CascadeSettings {
    /// Integral gain of the velocity error relative to the proportional gain, 1/s. Default 0.5, PX4's for the height.
    pub velocity_integral: f64,
    /// The same for the angular velocity. Default 1.3, PX4's.
    pub rate_integral: f64,
    /// Derivative gain of the velocity loop: the fraction of the measured acceleration that it subtracts. Default 0.
    pub velocity_derivative: f64,
    /// Derivative gain of the rate loop: the fraction of the measured angular acceleration that it subtracts. Default 0.
    pub rate_derivative: f64,
}

impl Default for CascadeSettings {
    fn default() -> Self {
        Self {
            velocity_integral: 0.5,
            rate_integral: 1.3,
            velocity_derivative: 0.0,
            rate_derivative: 0.0,
        }
    }
}

impl CascadeSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        not_negative("velocity_integral", self.velocity_integral)?;
        not_negative("rate_integral", self.rate_integral)?;
        not_negative("velocity_derivative", self.velocity_derivative)?;
        not_negative("rate_derivative", self.rate_derivative)
    }

    pub(super) fn gains(&self, poles: &Poles) -> CascadeGains {
        CascadeGains {
            velocity_integral: self.velocity_integral,
            rate_integral: self.rate_integral,
            velocity_derivative: self.velocity_derivative,
            rate_derivative: self.rate_derivative,
            ..CascadeGains::of_poles(poles)
        }
    }
}
