//! How a vehicle looks to an autopilot, as it is written.

use serde::Deserialize;

use super::Origin;
use crate::outputs::OutputSettings;

/// `[serve]`: the vehicle as seen by an autopilot or a ground station.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServeSettings {
    /// Rate of the simulation, Hz. Default: 250 for PX4, 1000 for ArduPilot.
    pub rate_hz: Option<f64>,
    /// Where the world's origin is. Default: Irchel park in Zurich.
    pub origin: Origin,
    /// c of the curve of thrusts `full ((1 - c) u + c u^2)` where an output says nothing, 0 to 1. Default: 0 for PX4, 0.65 for ArduPilot.
    pub thrust_curve: Option<f64>,
    /// The outputs, one for each command. Default: as the autopilot numbers its motors.
    pub outputs: Vec<OutputSettings>,
}
