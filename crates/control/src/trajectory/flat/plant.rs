//! The equation of motion of a system at rest, from which its flat outputs are determined.
#![allow(non_snake_case)]

use fly_lie::{SE3, SO3};
use fly_mechanics::System;
use fly_mechanics::multibody::{BodyId, EquationOfMotion, JointKind, Workspace};
use nalgebra::{DMatrix, Matrix6xX, Vector3};

/// A system without the flat output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
pub struct NotFlat {
    /// The kind of system that has it.
    pub expected: &'static str,
    /// What was found instead.
    pub found: String,
}

/// The equation of motion `M xi_dot + b = B u` near the neutral configuration.
pub(super) struct Plant<'a> {
    system: &'a System,
    workspace: Workspace<f64>,
    pub terms: EquationOfMotion<f64>,
}

impl<'a> Plant<'a> {
    pub fn new(system: &'a System) -> Self {
        Self {
            workspace: Workspace::new(&system.model),
            terms: EquationOfMotion::new(&system.model),
            system,
        }
    }

    /// b with the joints displaced by these steps from the neutral configuration, at these velocities.
    pub fn bias(&mut self, step: &[f64], velocity: &[f64]) -> Vec<f64> {
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

    /// B in the configuration of the last bias.
    pub fn inputs(&self) -> DMatrix<f64> {
        let (n, inputs) = (self.system.model.dof(), &self.system.inputs);
        let mut B = DMatrix::zeros(n, inputs.input_dim());
        inputs.input_matrix(&self.workspace, &mut Matrix6xX::zeros(n), &mut B);
        B
    }
}

/// The bodies whose joints have degrees of freedom.
pub(crate) fn moving(system: &System) -> Vec<BodyId> {
    let model = &system.model;
    (model.bodies())
        .filter(|body| !model.velocity_range(*body).is_empty())
        .collect()
}

pub(crate) fn is_planar(system: &System, body: BodyId) -> bool {
    let kind = system.model.joint(body).map(|joint| *joint.kind());
    matches!(kind, Some(JointKind::Planar(_)))
}

/// The frame of a body's joint in the world, in the joint's own axes, in the neutral configuration.
pub fn joint_frame(system: &System, body: BodyId) -> SE3<f64> {
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
    workspace.pose(BodyId::WORLD, body) * SE3::new(axes, Vector3::zeros())
}
