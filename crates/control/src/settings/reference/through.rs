//! References through points and samples, in the section `[reference]`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use fly_mechanics::System;
use fly_mechanics::description::read_text;
use serde::Deserialize;

use crate::settings::{SettingsError, finite, positive};
use crate::trajectory::flat::MotionLimits;
use crate::trajectory::{AttitudeMode, JointSamples, MinimumSnap, Sampled, Swing, Table};

/// `kind = "minimum_snap"`: through points without stopping, as fast as the limits allow.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinimumSnapSettings {
    /// The points, at least two.
    pub points: Vec<MinimumSnapPointSettings>,
    /// Largest speed, m/s, > 0. Default 2.
    #[serde(default = "two")]
    pub max_speed: f64,
    /// Largest acceleration on the way to each point by itself, from which the times are guessed, m/s^2, > 0. Default 2.
    #[serde(default = "two")]
    pub max_acceleration: f64,
    /// Largest angular velocity of the body, rad/s, > 0. Default 4.
    #[serde(default = "four")]
    pub max_rate: f64,
    /// `thrust` or `level`. Default `thrust`, or `level` for a fully actuated vehicle.
    pub posture: Option<AttitudeMode>,
    /// Height above the centre of mass, along body z, of the point that follows the path (shifted up by the same height), m. Default: the
    /// height at which the vehicle can follow the path exactly, 0 if there is none.
    pub point_height: Option<f64>,
}

/// One of the `points`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinimumSnapPointSettings {
    /// Where, m.
    pub position: [f64; 3],
    /// Yaw there, degrees. Default 0.
    #[serde(default)]
    pub yaw_deg: f64,
}

/// `kind = "sampled"`: a path from a file.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampledSettings {
    /// Comma-separated values with the columns `time`, `x`, `y`, `z` (s, m) and `yaw` (rad, may be left out); of a system `time` and its joints
    /// by name (rad, m), or `joint.coordinate` where a joint has several.
    pub file: PathBuf,
    /// `thrust` or `level`. Default `thrust`, or `level` for a fully actuated vehicle.
    pub posture: Option<AttitudeMode>,
    /// Height above the centre of mass, along body z, of the point that follows the path (shifted up by the same height), m. Default: the
    /// height at which the vehicle can follow the path exactly, 0 if there is none.
    pub point_height: Option<f64>,
}

fn two() -> f64 {
    2.0
}

fn four() -> f64 {
    4.0
}

impl MinimumSnapSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        if self.points.len() < 2 {
            let found = self.points.len();
            return Err(SettingsError::new(
                "points",
                format!("expected at least two points, found {found}"),
            ));
        }
        for (i, point) in self.points.iter().enumerate() {
            finite(&format!("points.{i}.position"), &point.position)?;
            finite(&format!("points.{i}.yaw_deg"), &[point.yaw_deg])?;
            if i > 0 && self.points[i - 1].position == point.position {
                return Err(SettingsError::new(
                    format!("points.{i}.position"),
                    "expected another point than the one before",
                ));
            }
        }
        finite("point_height", self.point_height.as_slice())?;
        positive("max_speed", self.max_speed)?;
        positive("max_acceleration", self.max_acceleration)?;
        positive("max_rate", self.max_rate)
    }

    /// The curve with the times of rest-to-rest legs.
    pub(super) fn curve(&self) -> Result<MinimumSnap, SettingsError> {
        let points: Vec<_> = (self.points.iter())
            .map(|p| (p.position.into(), p.yaw_deg.to_radians()))
            .collect();
        MinimumSnap::new(&points, self.max_speed, self.max_acceleration)
            .ok_or_else(|| SettingsError::new("points", "expected points that are apart"))
    }

    /// Its limits.
    pub(super) fn limits(&self) -> MotionLimits {
        MotionLimits {
            speed: self.max_speed,
            angular_rate: self.max_rate,
        }
    }
}

impl SampledSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        finite("point_height", self.point_height.as_slice())
    }

    pub(super) fn path(&self) -> Result<Sampled, SettingsError> {
        Sampled::from_csv(&self.text()?).map_err(|error| self.failed(&error))
    }

    /// Where the curve through its samples swings, if they are too coarse.
    pub(super) fn swing(&self) -> Result<Option<(&Path, Swing)>, SettingsError> {
        let table = Table::from_csv(&self.text()?, "time", |_| true);
        let swing = table.map_err(|error| self.failed(&error))?.swing();
        Ok(swing.map(|swing| (self.file.as_path(), swing)))
    }

    /// Whether its columns are those of a position, not of joints.
    pub(super) fn names_position(&self) -> Result<bool, SettingsError> {
        let text = self.text()?;
        let mut lines = text.lines().map(str::trim);
        let header = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
        let columns = header.unwrap_or_default().split(',').map(str::trim);
        Ok(columns.take(4).eq(["time", "x", "y", "z"]))
    }

    /// The joint motion given by its columns.
    pub(super) fn motion(&self, system: &System) -> Result<JointSamples, SettingsError> {
        for (key, given) in [
            ("posture", self.posture.is_some()),
            ("point_height", self.point_height.is_some()),
        ] {
            if given {
                let expected = "expected none beside samples of joints";
                return Err(SettingsError::new(key, expected));
            }
        }
        JointSamples::from_csv(&self.text()?, system).map_err(|error| self.failed(&error))
    }

    fn text(&self) -> Result<String, SettingsError> {
        // A file that is not text is the user's mistake.
        let unreadable = |error: &std::io::Error| {
            let kind = error.kind();
            kind != ErrorKind::InvalidData && kind != ErrorKind::IsADirectory
        };
        read_text(&self.file).map_err(|error| SettingsError {
            unreadable: unreadable(&error),
            ..self.failed(&error)
        })
    }

    fn failed(&self, why: &dyn std::fmt::Display) -> SettingsError {
        SettingsError::new("file", format!("{}: {why}", self.file.display()))
    }
}
