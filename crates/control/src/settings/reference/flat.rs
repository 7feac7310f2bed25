//! Kinds of `[reference]` for systems with a flat output, and for bodies in a plane.

use fly_mechanics::System;
use fly_mechanics::multibody::BodyId;
use serde::Deserialize;

use super::joints::{JointTable, filled, finite_table, joint};
use super::path::PathSettings;
use crate::SystemPoint;
use crate::settings::{SettingsError, finite};
use crate::trajectory::flat::{
    MassesOnLine, NotFlat, PlanarAircraft, is_planar, joint_frame, moving,
};
use crate::trajectory::path::LeavesSubspace;
use crate::trajectory::{
    AlongPath, JointTrajectory, Path, PlanarPath, Pvtol, RollingTrajectory, Sinusoid, Trajectory,
    TransformedPath, TwoMasses, WithYaw,
};

/// `kind = "two_masses"`: the second of two masses with a spring between them follows a path along their line.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwoMassesSettings {
    /// The path of the second mass in the world.
    pub path: PathSettings,
}

/// `kind = "pvtol"`: the flat output of a planar body with two independent thrusts follows a path in its plane.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PvtolSettings {
    /// The path of the flat output in the world.
    pub path: PathSettings,
}

/// `kind = "planar"`: a body on a planar joint follows a path with any heading.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanarSettings {
    /// The joint. Default: the only planar one.
    pub joint: Option<String>,
    /// The path of the body's origin in the world.
    pub path: PathSettings,
    /// The joint's angle. Default: the path's yaw; of a system that rolls the direction in which the path goes, and its wheels turn with it.
    pub angle: Option<AngleSettings>,
    /// Where the other joints rest, rad or m. Default: the neutral configuration.
    #[serde(default)]
    pub joints: JointTable,
}

/// `offset + rate t + amplitude sin(angular_frequency t + phase)`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AngleSettings {
    /// The mean, rad. Default 0.
    pub offset: f64,
    /// Rate of the mean, rad/s. Default 0.
    pub rate: f64,
    /// Amplitude, rad. Default 0.
    pub amplitude: f64,
    /// Angular frequency, rad/s. Default 0.
    pub angular_frequency: f64,
    /// Phase, rad. Default 0.
    pub phase: f64,
}

/// The key at fault if a system does not have the flat output.
fn not_flat(error: &NotFlat) -> SettingsError {
    SettingsError::new("kind", error.to_string())
}

/// The key at fault if a path leaves the joint's plane or line.
fn off(error: LeavesSubspace) -> SettingsError {
    SettingsError::new("path", error.to_string())
}

impl TwoMassesSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        self.path.validate()
    }

    pub(super) fn motion(&self, system: &System) -> Result<TwoMasses, SettingsError> {
        let masses = MassesOnLine::of_system(system).map_err(|error| not_flat(&error))?;
        let path = self.path.path(masses.frame.translation)?;
        TwoMasses::new(masses, path).map_err(off)
    }
}

impl PvtolSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        self.path.validate()
    }

    pub(super) fn motion(&self, system: &System) -> Result<Pvtol, SettingsError> {
        let aircraft = PlanarAircraft::of_system(system).map_err(|error| not_flat(&error))?;
        let path = self.path.path(aircraft.frame.translation)?;
        Pvtol::new(aircraft, path).map_err(off)
    }
}

impl PlanarSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        self.path.validate()?;
        finite_table("joints", &self.joints)?;
        let angle = self.angle.clone().unwrap_or_default();
        for (key, x) in [
            ("offset", angle.offset),
            ("rate", angle.rate),
            ("amplitude", angle.amplitude),
            ("angular_frequency", angle.angular_frequency),
            ("phase", angle.phase),
        ] {
            finite(&format!("angle.{key}"), &[x])?;
        }
        Ok(())
    }

    /// The body on the named joint, or on the only planar one.
    fn body(&self, system: &System) -> Result<BodyId, SettingsError> {
        if let Some(name) = &self.joint {
            let body = joint(system, name, "joint")?;
            if is_planar(system, body) {
                return Ok(body);
            }
            return Err(SettingsError::new(
                "joint",
                format!("expected a planar joint, found `{name}`, which has another type"),
            ));
        }
        let planar = moving(system).into_iter();
        let planar: Vec<_> = planar.filter(|body| is_planar(system, *body)).collect();
        match planar.as_slice() {
            [body] => Ok(*body),
            [] => Err(SettingsError::new(
                "kind",
                "expected a kind that suits the system, found planar, which needs a planar joint",
            )),
            several => Err(SettingsError::new(
                "kind",
                format!(
                    "expected `joint`, the name of one of {} planar joints, beside it",
                    several.len()
                ),
            )),
        }
    }

    pub(super) fn trajectory(
        &self,
        system: &System,
    ) -> Result<Box<dyn Trajectory<SystemPoint>>, SettingsError> {
        let model = &system.model;
        let body = self.body(system)?;
        let rest = filled(system, "joints", &self.joints)?;
        if model.parent(body) != Some(BodyId::WORLD) {
            return Err(SettingsError::new(
                "joint",
                "expected a planar joint whose parent is the world, found one that a body carries",
            ));
        }
        let frame = joint_frame(system, body);
        let path = TransformedPath::new(self.path.path(frame.translation)?, &frame);
        path.check_within(0..2).map_err(off)?;
        let path: Box<dyn Path> = match &self.angle {
            Some(angle) => Box::new(WithYaw {
                path: Box::new(path),
                yaw: Sinusoid {
                    offset: angle.offset,
                    rate: angle.rate,
                    amplitude: angle.amplitude,
                    angular_frequency: angle.angular_frequency,
                    phase: angle.phase,
                },
            }),
            None if !system.rolling.is_empty() => {
                let range = model.velocity_range(body);
                let along = AlongPath(Box::new(path));
                let given = JointTrajectory::partial(model, &rest, range.clone(), along);
                let rolling = RollingTrajectory::new(system, given, &range);
                let rolling = rolling.map_err(|error| {
                    SettingsError::new("kind", format!("expected a system that can roll: {error}"))
                })?;
                // Something rolls.
                return rolling.map_or_else(
                    || Err(SettingsError::new("kind", "expected a system that rolls")),
                    |rolling| Ok(Box::new(rolling) as Box<dyn Trajectory<SystemPoint>>),
                );
            }
            // The yaw turns about the vertical.
            None if frame.rotation.matrix()[(2, 2)].abs() < 1.0 - 1e-9 => {
                return Err(SettingsError::new(
                    "angle",
                    "expected `angle`, found a plane that is not horizontal: the path's yaw is not an angle in this plane",
                ));
            }
            None => Box::new(path),
        };
        let range = model.velocity_range(body);
        Ok(Box::new(JointTrajectory::partial(
            model,
            &rest,
            range,
            PlanarPath(path),
        )))
    }
}
