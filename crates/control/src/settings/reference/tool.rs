//! `kind = "tool"`: a body of a system follows a path in the world.

use fly_lie::SE3;
use fly_mechanics::System;
use fly_mechanics::multibody::{BodyId, Workspace};
use nalgebra::Vector3;
use serde::Deserialize;

use super::build::attitude;
use super::joints::{JointTable, filled, finite_table, joint};
use super::path::PathSettings;
use crate::Trajectory;
use crate::settings::{SettingsError, finite};
use crate::trajectory::joints::configuration;
use crate::trajectory::{HeadingAligned, InverseKinematics, NotDetermined, Target};

/// `kind = "tool"`: a body, or a point of it, follows a path in the world, by inverse kinematics.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSettings {
    /// The name of the body.
    pub body: String,
    /// The point that follows the path, m in the body's frame. Default: the whole pose follows, its origin along the path.
    pub point: Option<[f64; 3]>,
    /// Approximate initial positions of the joints, rad or m, which select the solution (elbow up or down). Default: the neutral configuration.
    #[serde(default)]
    pub joints: JointTable,
    /// Joints that rest there.
    #[serde(default)]
    pub held: Vec<String>,
    /// Roll, pitch and yaw of the body, degrees, to which the path's yaw is added. Default: the attitude in the beginning, turned by how far the
    /// path's yaw has changed.
    pub attitude_deg: Option<[f64; 3]>,
    /// The path.
    pub path: PathSettings,
}

impl ToolSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        finite("point", self.point.as_ref().map_or(&[][..], |p| p))?;
        finite(
            "attitude_deg",
            self.attitude_deg.as_ref().map_or(&[][..], |p| p),
        )?;
        finite_table("joints", &self.joints)?;
        if self.point.is_some() && self.attitude_deg.is_some() {
            return Err(SettingsError::new(
                "attitude_deg",
                "expected point or attitude_deg, found both: a point has no attitude",
            ));
        }
        self.path.validate()
    }

    pub(super) fn trajectory(&self, system: &System) -> Result<InverseKinematics, SettingsError> {
        let model = &system.model;
        let body = match model.body_id(&self.body) {
            Ok(BodyId::WORLD) => {
                return Err(SettingsError::new(
                    "body",
                    "expected a body that moves, found the world",
                ));
            }
            Ok(body) => body,
            Err(error) => return Err(SettingsError::new("body", error.to_string())),
        };
        let mut held = Vec::new();
        for (i, name) in self.held.iter().enumerate() {
            held.push(joint(system, name, &format!("held.{i}"))?);
        }
        let start = configuration(model, &filled(system, "joints", &self.joints)?);
        let mut workspace = Workspace::new(model);
        workspace.update(model, &start, &vec![0.0; model.dof()]);
        let pose = workspace.pose(BodyId::WORLD, body);
        let target = match self.point.map(Vector3::from) {
            Some(point) => Target::Point(point, self.path.path(pose.act(&point))?),
            None => Target::Pose(self.whole(&pose)?),
        };
        let kinematics = InverseKinematics::holding(model.clone(), body, target, &start, &held);
        kinematics.map_err(|error| {
            let (key, message) = match error {
                NotDetermined::Fixed => (
                    "body",
                    format!(
                        "expected a body that moves, found `{}`, which does not",
                        self.body
                    ),
                ),
                NotDetermined::Redundant { rows, found } => (
                    "held",
                    format!(
                        "expected at most {rows} degrees of freedom between the world and `{}`, found {found}: name joints that are held",
                        self.body
                    ),
                ),
            };
            SettingsError::new(key, message)
        })
    }

    /// The path of the whole body from this pose.
    fn whole(&self, start: &SE3<f64>) -> Result<Box<dyn Trajectory>, SettingsError> {
        if let PathSettings::Independent(s) = &self.path {
            if self.attitude_deg.is_some() {
                return Err(SettingsError::new(
                    "attitude_deg",
                    "expected none beside a path of kind independent, which moves the attitude",
                ));
            }
            return Ok(Box::new(s.independent()));
        }
        let path = self.path.path(start.translation)?;
        Ok(Box::new(match self.attitude_deg {
            Some(angles) => HeadingAligned {
                path,
                attitude: attitude(angles),
            },
            None => HeadingAligned::starting_at(path, start.rotation),
        }))
    }
}
