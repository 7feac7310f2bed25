//! `[setpoints]`: the inner loops of an autopilot that is told attitudes or angular velocities.

use serde::Deserialize;

use super::diagnostic::{ConfigError, Problems};
use super::document::Document;
use super::section::{out_of_range, section};

/// `[setpoints]`: the inner loops of an autopilot that receives attitudes or angular velocities, and the limits of its setpoints.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SetpointsSection {
    /// Gain of its attitude loop, of roll and pitch, 1/s, more than 0, at most 100. Default: as reported by the vehicle, else 6.5.
    pub attitude_gain: Option<f64>,
    /// Its gain of yaw, 1/s, more than 0, at most 100. Default: as reported by the vehicle, else 2.8.
    pub yaw_gain: Option<f64>,
    /// Response time of its rate loop, s, more than 0, at most 1. Default 0.05.
    pub rate_time: f64,
    /// Largest angular velocity, deg/s, more than 0, at most 3600. Default 220.
    pub max_rate_deg: f64,
    /// Largest tilt of a commanded attitude, deg, more than 0, at most 180. Default 60.
    pub max_tilt_deg: f64,
}

impl Default for SetpointsSection {
    fn default() -> Self {
        Self {
            attitude_gain: None,
            yaw_gain: None,
            rate_time: 0.05,
            max_rate_deg: 220.0,
            max_tilt_deg: 60.0,
        }
    }
}

impl SetpointsSection {
    pub(super) fn read(document: &Document) -> Result<Self, ConfigError> {
        let Some(fragment) = section(document, "setpoints")? else {
            return Ok(Self::default());
        };
        let setpoints: Self = fragment.decode()?;
        let mut problems = Problems::default();
        for (key, value, most) in [
            ("attitude_gain", setpoints.attitude_gain, 100.0),
            ("yaw_gain", setpoints.yaw_gain, 100.0),
            ("rate_time", Some(setpoints.rate_time), 1.0),
            ("max_rate_deg", Some(setpoints.max_rate_deg), 3600.0),
            ("max_tilt_deg", Some(setpoints.max_tilt_deg), 180.0),
        ] {
            let Some(value) = value else { continue };
            if !(value > 0.0 && value <= most) {
                let expected = format!("expected more than 0, at most {most}");
                let path = format!("setpoints.{key}");
                problems.push(out_of_range(document, &path, &expected, value));
            }
        }
        problems.finish()?;
        Ok(setpoints)
    }
}
