//! `[reference] tolerance`: when a flight counts as settled.

use serde::Deserialize;

use super::diagnostic::{ConfigError, Problems};
use super::document::Document;
use super::keys::TOLERANCE;
use super::section::{out_of_range, section};

/// `[reference] tolerance`: the errors within which the reference counts as reached.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tolerance {
    /// Distance from the reference, m, > 0.
    pub position: Option<f64>,
    /// Angle from the reference, degrees, > 0.
    pub attitude_deg: Option<f64>,
}

impl Tolerance {
    pub(super) fn read(document: &Document) -> Result<Self, ConfigError> {
        let Some(fragment) = section(document, "reference.tolerance")? else {
            return Ok(Self::default());
        };
        let tolerance: Self = fragment.decode()?;
        let mut problems = Problems::default();
        for (key, value) in [
            ("position", tolerance.position),
            ("attitude_deg", tolerance.attitude_deg),
        ] {
            if let Some(value) = value.filter(|value| *value <= 0.0) {
                let path = format!("reference.{TOLERANCE}.{key}");
                problems.push(out_of_range(document, &path, "expected more than 0", value));
            }
        }
        problems.finish()?;
        Ok(tolerance)
    }

    /// Tolerances of distance (m) and angle (rad).
    pub fn of_errors(&self) -> [Option<f64>; 2] {
        [self.position, self.attitude_deg.map(f64::to_radians)]
    }
}
