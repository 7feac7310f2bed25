//! The table `[controller.cascade]`.

use serde::Deserialize;

use super::{SettingsError, not_negative};
use crate::baselines::CascadeGains;
use crate::poles::Poles;

/// The table `[controller.cascade]`: what the loops have beside their proportional gains.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CascadeSettings {
    /// Integral of the velocity error, as a part of the proportional gain each second, 1/s. Default 0.5, as PX4 has it for the height.
    pub velocity_integral: f64,
    /// The same of the angular velocity. Default 1.3, as PX4 has it.
    pub rate_integral: f64,
    /// Part of the measured acceleration that the velocity loop takes off. Default 0.
    pub velocity_derivative: f64,
    /// Part of the measured angular acceleration that the loop of the angular velocity takes off. Default 0.
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
