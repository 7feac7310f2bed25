//! Kinds of `[reference]` for systems with a flat output, and for bodies in a plane.
#![allow(non_snake_case)]

use fly_lie::{SE3, SO3};
use fly_mechanics::System;
use fly_mechanics::multibody::{BodyId, EquationOfMotion, JointKind, Workspace};
use nalgebra::{DMatrix, Matrix6xX, Vector2};
use serde::Deserialize;

use super::joints::{JointTable, filled, finite_table, joint};
use super::path::PathSettings;
use super::{SettingsError, finite};
use crate::matching::null_space;
use crate::trajectory::{Headed, JointTrajectory, Path, PlanarPath, Pvtol, Sinusoid, TwoMasses};

/// `kind = "two_masses"`: the second of two masses with a spring between them follows a way along their line.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwoMassesSettings {
    /// The way of the second mass in the world.
    pub path: PathSettings,
}

/// `kind = "pvtol"`: the flat output of a planar body with two independent thrusts follows a way in its plane.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PvtolSettings {
    /// The way of the flat output in the world.
    pub path: PathSettings,
}

/// `kind = "planar"`: a body on a planar joint follows a way with any heading.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanarSettings {
    /// The joint. Default: the only planar one.
    pub joint: Option<String>,
    /// The way of the body's origin in the world.
    pub path: PathSettings,
    /// The joint's angle. Default: the way's yaw.
    pub angle: Option<AngleSettings>,
    /// Where the other joints rest, rad or m. Default: the neutral configuration.
    #[serde(default)]
    pub joints: JointTable,
}

/// `offset + rate t + amplitude sin(angular_frequency t + phase)`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AngleSettings {
    /// Where it swings about, rad. Default 0.
    pub offset: f64,
    /// How fast that turns, rad/s. Default 0.
    pub rate: f64,
    /// Amplitude, rad. Default 0.
    pub amplitude: f64,
    /// Angular frequency, rad/s. Default 0.
    pub angular_frequency: f64,
    /// Phase, rad. Default 0.
    pub phase: f64,
}

/// What a system's equation of motion is at rest in its neutral configuration.
struct Equation<'a> {
    system: &'a System,
    workspace: Workspace<f64>,
    terms: EquationOfMotion<f64>,
}

impl<'a> Equation<'a> {
    fn new(system: &'a System) -> Self {
        Self {
            workspace: Workspace::new(&system.model),
            terms: EquationOfMotion::new(&system.model),
            system,
        }
    }

    /// b where the joints have moved by these steps from the neutral configuration, at these velocities.
    fn bias(&mut self, step: &[f64], velocity: &[f64]) -> Vec<f64> {
        let model = &self.system.model;
        let mut x = model.neutral_configuration();
        model.integrate(&mut x, step);
        self.workspace.update(model, &x, velocity);
        self.workspace.update_jacobians(model);
        self.terms.update(model, &self.workspace);
        let mut b = vec![0.0; model.dof()];
        self.terms.bias(velocity, &mut b);
        b
    }

    /// B where the last bias was.
    fn inputs(&self) -> DMatrix<f64> {
        let (n, inputs) = (self.system.model.dof(), &self.system.inputs);
        let mut B = DMatrix::zeros(n, inputs.input_dim());
        inputs.input_matrix(&self.workspace, &mut Matrix6xX::zeros(n), &mut B);
        B
    }
}

/// The bodies that move.
fn moving(system: &System) -> Vec<BodyId> {
    let model = &system.model;
    (model.bodies())
        .filter(|body| !model.velocity_range(*body).is_empty())
        .collect()
}

fn is_planar(system: &System, body: BodyId) -> bool {
    let kind = system.model.joint(body).map(|joint| *joint.kind());
    matches!(kind, Some(JointKind::Planar(_)))
}

/// The frame of a body's joint in the world, in the joint's own axes, in the neutral configuration.
fn own_frame(system: &System, body: BodyId) -> SE3<f64> {
    let model = &system.model;
    let mut workspace = Workspace::new(model);
    workspace.update(
        model,
        &model.neutral_configuration(),
        &vec![0.0; model.dof()],
    );
    let axes = model
        .joint(body)
        .map_or(SO3::identity(), |joint| *joint.axes());
    workspace.pose(BodyId::WORLD, body) * SE3::new(axes, nalgebra::Vector3::zeros())
}

/// Whether two numbers are the same but for rounding of numbers of this size.
fn same(a: f64, b: f64, size: f64) -> bool {
    (a - b).abs() <= 1e-9 * size.abs()
}

impl TwoMassesSettings {
    pub(super) fn motion(&self, system: &System) -> Result<TwoMasses, SettingsError> {
        let refused = |found: String| {
            SettingsError::new(
                "kind",
                format!(
                    "expected two bodies that slide along one line, inputs at the first only, and nothing but a spring from it and gravity at the \
                     second, found {found}"
                ),
            )
        };
        let bodies = moving(system);
        let &[a, b] = bodies.as_slice() else {
            return Err(refused(format!("{} bodies that move", bodies.len())));
        };
        for body in [a, b] {
            let kind = system.model.joint(body).map(|joint| *joint.kind());
            if !matches!(kind, Some(JointKind::Prismatic)) {
                return Err(refused(format!(
                    "`{}` on another joint than a prismatic one",
                    system.model.name(body)
                )));
            }
        }
        let mut equation = Equation::new(system);
        let rest = equation.bias(&[0.0; 2], &[0.0; 2]);
        let B = equation.inputs();
        let driven = [0, 1].map(|i| B.row(i).iter().any(|b| *b != 0.0));
        let (first, second) = match driven {
            [true, false] => (0, 1),
            [false, true] => (1, 0),
            [true, true] => return Err(refused("inputs at both".to_owned())),
            [false, false] => return Err(refused("no inputs".to_owned())),
        };
        let M = equation.terms.mass_matrix.clone();
        let mass = M[(second, second)];
        // Carried by the first, the second moves with it.
        let carried = same(M[(first, second)], mass, mass);
        if !carried && !same(M[(first, second)], 0.0, mass) {
            return Err(refused(
                "other directions of the two, or the first carried by the second".to_owned(),
            ));
        }
        let mut along = |body: usize, step: f64, speed: f64| {
            let (mut x, mut xi) = ([0.0; 2], [0.0; 2]);
            (x[body], xi[body]) = (step, speed);
            equation.bias(&x, &xi)[second] - rest[second]
        };
        let stiffness = along(second, 1.0, 0.0);
        let coupling = along(first, 1.0, 0.0);
        let expected = if carried { 0.0 } else { -stiffness };
        if stiffness <= 0.0 || !same(coupling, expected, stiffness) {
            return Err(refused("no such spring".to_owned()));
        }
        if along(first, 0.0, 1.0) != 0.0 || along(second, 0.0, 1.0) != 0.0 {
            return Err(refused("a damper at the second".to_owned()));
        }
        let body = [a, b]
            .into_iter()
            .find(|body| system.model.velocity_range(*body).start == second);
        let frame = own_frame(system, body.unwrap_or(b));
        Ok(TwoMasses {
            output: self.path.path_in(&frame, 2..3, "line")?,
            ratio: stiffness / mass,
            offset: rest[second] / stiffness,
            carried,
            swapped: first == 1,
        })
    }

    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        self.path.validate()
    }
}

impl PvtolSettings {
    pub(super) fn motion(&self, system: &System) -> Result<Pvtol, SettingsError> {
        let refused = |found: &str| {
            SettingsError::new(
                "kind",
                format!(
                    "expected one body on a planar joint, driven by two independent thrusts in its plane, found {found}"
                ),
            )
        };
        let bodies = moving(system);
        let &[body] = bodies.as_slice() else {
            return Err(refused(&format!("{} bodies that move", bodies.len())));
        };
        if !is_planar(system, body) {
            return Err(refused("another joint"));
        }
        let model = &system.model;
        if model.springs().len() + model.dampers().len() > 0 {
            return Err(refused("springs or dampers besides"));
        }
        if model.bodies().any(|body| model.drag(body).is_some()) {
            return Err(refused("drag, with which no point of it is free"));
        }
        let mut equation = Equation::new(system);
        equation.bias(&[0.0; 3], &[0.0; 3]);
        let (M, mut B) = (&equation.terms.mass_matrix, equation.inputs());
        let mass = M[(0, 0)];
        let center = Vector2::new(M[(1, 2)], -M[(0, 2)]) / mass;
        let inertia = M[(2, 2)] - mass * center.norm_squared();
        // Torques about the centre of mass.
        for mut wrench in B.column_iter_mut() {
            wrench[2] -= center.x * wrench[1] - center.y * wrench[0];
        }
        let missing = null_space(&B * B.transpose());
        match missing.ncols() {
            0 => return Err(refused("three; `planar` suits it")),
            1 => {}
            _ => return Err(refused("fewer")),
        }
        let n = Vector2::new(missing[(0, 0)], missing[(1, 0)]);
        if n.norm() < 1e-9 {
            return Err(refused("no torque"));
        }
        // Without torque the thrust is along u, across n; upwards as far as the thrusts have a sense.
        let thrust: Vector2<f64> = B.column_iter().map(|b| Vector2::new(b[0], b[1])).sum();
        let u = Vector2::new(-n.y, n.x) / n.norm();
        let sense = if thrust.dot(&u) < 0.0 { -1.0 } else { 1.0 };
        // Across u a force f comes with the torque -|n| f / n_tau; the point at eps u does not feel it.
        let offset = -sense * inertia * missing[(2, 0)] / (mass * n.norm());
        let frame = own_frame(system, body);
        let gravity = frame.rotation.inverse().act(system.model.gravity());
        Ok(Pvtol {
            output: self.path.path_in(&frame, 0..2, "plane")?,
            offset,
            gravity: gravity.xy(),
            up: u * sense,
            center,
        })
    }

    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        self.path.validate()
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

    /// The body on the joint that is named, or on the only planar one.
    fn body(&self, system: &System) -> Result<BodyId, SettingsError> {
        if let Some(name) = &self.joint {
            let body = joint(system, name, "joint")?;
            if is_planar(system, body) {
                return Ok(body);
            }
            return Err(SettingsError::new(
                "joint",
                format!("expected a planar joint, found `{name}`, which is another"),
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
    ) -> Result<JointTrajectory<PlanarPath>, SettingsError> {
        let model = &system.model;
        let body = self.body(system)?;
        let rest = filled(system, "joints", &self.joints)?;
        if model.parent(body) != Some(BodyId::WORLD) {
            return Err(SettingsError::new(
                "joint",
                "expected a planar joint whose parent is the world, found one that a body carries",
            ));
        }
        let frame = own_frame(system, body);
        let path = self.path.path_in(&frame, 0..2, "plane")?;
        let path: Box<dyn Path> = match &self.angle {
            Some(angle) => Box::new(Headed {
                path,
                yaw: Sinusoid {
                    offset: angle.offset,
                    rate: angle.rate,
                    amplitude: angle.amplitude,
                    angular_frequency: angle.angular_frequency,
                    phase: angle.phase,
                },
            }),
            // The yaw turns about the vertical.
            None if frame.rotation.matrix()[(2, 2)].abs() < 1.0 - 1e-9 => {
                return Err(SettingsError::new(
                    "angle",
                    "expected `angle`, found a plane that is not horizontal: the way's yaw is no angle in it",
                ));
            }
            None => path,
        };
        let range = model.velocity_range(body);
        Ok(JointTrajectory::among(
            model,
            &rest,
            range,
            PlanarPath(path),
        ))
    }
}
