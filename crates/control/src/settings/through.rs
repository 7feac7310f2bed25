//! References through points and samples, in the section `[reference]`.

use std::path::PathBuf;

use fly_mechanics::System;
use serde::Deserialize;

use super::build::Follower;
use super::{SettingsError, finite, positive};
use crate::Trajectory;
use crate::inputs::ReferenceInputs;
use crate::trajectory::joints::{JointSamples, coordinates};
use crate::trajectory::{AttitudeMode, MinimumSnap, Sampled, Table};

/// `kind = "minimum_snap"`: through points without stopping, as fast as the limits allow.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinimumSnapSettings {
    /// The points, at least two.
    pub points: Vec<ThroughSettings>,
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
    /// How far above the centre of mass, along body z, the point is that follows the path raised by as much, m. Default: where the motion
    /// is exact for this vehicle, 0 if nowhere.
    pub point_height: Option<f64>,
}

/// One of the `points`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThroughSettings {
    /// Where, m.
    pub position: [f64; 3],
    /// Yaw there, degrees. Default 0.
    #[serde(default)]
    pub yaw_deg: f64,
}

/// `kind = "sampled"`: a path from a file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampledSettings {
    /// Comma-separated values with the columns `time`, `x`, `y`, `z` (s, m) and `yaw` (rad, may be left out); of a system `time` and its joints
    /// by name (rad, m), or `joint.coordinate` where a joint has several.
    pub file: PathBuf,
    /// `thrust` or `level`. Default `thrust`, or `level` for a fully actuated vehicle.
    pub posture: Option<AttitudeMode>,
    /// How far above the centre of mass, along body z, the point is that follows the path raised by as much, m. Default: where the motion
    /// is exact for this vehicle, 0 if nowhere.
    pub point_height: Option<f64>,
}

fn two() -> f64 {
    2.0
}

fn four() -> f64 {
    4.0
}

/// Instants at which limits are looked at.
const SAMPLES: u32 = 1000;
/// A path that must be this much slower than its guess is impossible at any speed.
const SLOWEST: f64 = 100.0;

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

    /// The fastest of all stretched curves that stays inside the limits of speed and rate and of the vehicle's inputs.
    pub(super) fn trajectory(
        &self,
        follower: &Follower<'_>,
    ) -> Result<Box<dyn Trajectory>, SettingsError> {
        let vehicle = follower.vehicle;
        let posture = follower.posture(self.posture)?;
        let points: Vec<_> = self
            .points
            .iter()
            .map(|p| (p.position.into(), p.yaw_deg.to_radians()))
            .collect();
        let curve = MinimumSnap::new(&points, self.max_speed, self.max_acceleration)
            .ok_or_else(|| SettingsError::new("points", "expected points that are apart"))?;
        let inputs = ReferenceInputs::new(vehicle);
        let mut coupled = false;
        let mut flown = |factor: f64| {
            let path = curve.stretched(factor);
            let mut along = follower.exactly(path, posture, self.point_height).ok()?;
            let end = along.duration()?;
            let holds = (0..=SAMPLES).all(|i| {
                let Ok(point) = along.sample(end * f64::from(i) / f64::from(SAMPLES)) else {
                    return false;
                };
                let speed = point.twist.fixed_rows::<3>(0).norm();
                let rate = point.twist.fixed_rows::<3>(3).norm();
                let needed = inputs.at(&point);
                coupled |= !needed.reached();
                speed <= self.max_speed
                    && rate <= self.max_rate
                    && needed.reached()
                    && vehicle
                        .rotors
                        .limits()
                        .contains(needed.input.as_slice(), 0.0)
            });
            holds.then_some(along)
        };
        // Faster as long as it holds, or slower until it does; then halve.
        let (mut slow, mut fast) = (1.0, 1.0);
        if flown(1.0).is_some() {
            while fast > SLOWEST.recip() && flown(fast).is_some() {
                (slow, fast) = (fast, fast / 1.2);
            }
        } else {
            while flown(slow).is_none() {
                (fast, slow) = (slow, slow * 1.2);
                if slow > SLOWEST {
                    let expected = if coupled {
                        "expected a way whose wrench the inputs can make, such as one in a vertical plane with yaw_deg along or across it"
                    } else {
                        "expected a way that the vehicle can fly at some speed, found limits or attitudes that it cannot meet at any"
                    };
                    return Err(SettingsError::new("points", expected));
                }
            }
        }
        while slow - fast > 1e-4 * slow {
            let middle = f64::midpoint(slow, fast);
            if flown(middle).is_some() {
                slow = middle;
            } else {
                fast = middle;
            }
        }
        match flown(slow) {
            Some(along) => Ok(Box::new(along)),
            None => Err(SettingsError::new(
                "points",
                "expected a way that can be flown",
            )),
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

    /// Whether its columns are those of a position, not of joints.
    pub(super) fn names_position(&self) -> Result<bool, SettingsError> {
        let text = self.text()?;
        let mut lines = text.lines().map(str::trim);
        let header = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
        let columns = header.unwrap_or_default().split(',').map(str::trim);
        Ok(columns.take(4).eq(["time", "x", "y", "z"]))
    }

    /// The joints of a system that its columns name.
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
        let mut known = Vec::new();
        let model = &system.model;
        for (body, data) in model.bodies().zip(&system.joints) {
            let names = model.joint(body).map_or(&[][..], coordinates);
            for (name, place) in names.iter().zip(model.velocity_range(body)) {
                known.push((format!("{}.{name}", data.name), place));
                if names.len() == 1 {
                    known.push((data.name.clone(), place));
                }
            }
        }
        let place = |column: &str| {
            let mut known = known.iter();
            known.find_map(|(name, place)| (name == column).then_some(*place))
        };
        let expected = "time, then joints by name: `shoulder`, or `ball.yaw` of several coordinates, each once";
        let all_known = |columns: &[&str]| {
            let mut places: Vec<_> = columns.iter().map(|column| place(column)).collect();
            places.sort_unstable();
            !places.is_empty() && places[0].is_some() && places.windows(2).all(|p| p[0] != p[1])
        };
        let table = Table::from_csv(&self.text()?, expected, all_known)
            .map_err(|error| self.failed(&error))?;
        let places = table.columns().iter().filter_map(|column| place(column));
        let places = places.collect();
        Ok(JointSamples::new(table, places, vec![0.0; model.dof()]))
    }

    fn text(&self) -> Result<String, SettingsError> {
        std::fs::read_to_string(&self.file).map_err(|error| self.failed(&error))
    }

    fn failed(&self, why: &dyn std::fmt::Display) -> SettingsError {
        SettingsError::new("file", format!("{}: {why}", self.file.display()))
    }
}
