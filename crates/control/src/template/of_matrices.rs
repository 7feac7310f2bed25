//! The desired closed loop of a system whose energies are given by full symmetric 6 x 6 matrices.
#![allow(non_snake_case)]

use fly_mechanics::multibody::{BodyId, Model, Workspace};
use nalgebra::{DMatrix, Matrix6, Matrix6xX};

use super::general::{GeneralMoment, GeneralPair};
use super::{Approach, DesiredMotion};
use crate::Energies;
use crate::kinematics::{BodyJacobian, Jacobian, Kinematics, ModelKinematics};
use crate::linear::LinearModel;
use crate::system::SystemReference;

/// Two bodies, or the world and a body, with desired energies of 21 parameters each.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixPair {
    /// The body, or the world, relative to which b is controlled.
    pub a: BodyId,
    /// The body in whose frame the energies are given.
    pub b: BodyId,
    /// K, D, M.
    pub energies: GeneralPair,
}

/// The particle- or body-based template of such pairs, Konz (B.52), (B.53): like [`Template`](super::Template), but stiffness, damping and inertia may
/// differ along the axes of the frame a (particle-based) or of the reference (body-based).
#[derive(Clone)]
pub struct MatrixTemplate {
    approach: Approach,
    pairs: Vec<MatrixPair>,
    jacobian: BodyJacobian,
}

impl MatrixTemplate {
    /// For these pairs; `None` for [`Approach::Energy`], which has no such form.
    pub fn new(model: &Model<f64>, approach: Approach, pairs: Vec<MatrixPair>) -> Option<Self> {
        (approach != Approach::Energy).then(|| Self {
            approach,
            pairs,
            jacobian: model.jacobian(),
        })
    }

    /// Its pairs.
    pub fn pairs(&self) -> &[MatrixPair] {
        &self.pairs
    }

    /// Its approach.
    pub fn approach(&self) -> Approach {
        self.approach
    }

    /// Writes the desired motion with the velocity `xi` in the state for which `actual` was updated, Jacobians included. `reference` is
    /// scratch: it holds the reference's kinematics afterwards. Does not allocate.
    ///
    /// # Panics
    /// If the length of a slice is not that of the model's coordinates.
    pub fn evaluate(
        &mut self,
        model: &Model<f64>,
        actual: &Workspace<f64>,
        xi: &[f64],
        reference: &mut Workspace<f64>,
        goal: &SystemReference<'_>,
        out: &mut DesiredMotion,
    ) {
        reference.update(model, goal.configuration, goal.velocity);
        reference.update_jacobians(model);
        let at = ModelKinematics {
            model,
            actual,
            velocity: xi,
            reference,
            goal: *goal,
        };
        out.clear();
        out.energies = Energies::default();
        let (J, mut reference_power) = (&mut self.jacobian, 0.0);
        for pair in &self.pairs {
            let (motion, desired) = at.motions(pair.a, pair.b, J);
            let of_pair = match self.approach {
                Approach::Body => pair.energies.body(&motion, &desired),
                Approach::Particle | Approach::Energy => pair.energies.particle(&motion, &desired),
            };
            J.add_matrix(&of_pair.mass_matrix, 1.0, &mut out.mass_matrix);
            out.add_forces(&of_pair.forces, J, 1.0);
            reference_power += of_pair.forces.reference_power;
        }
        out.sum_up();
        out.reference_power = Some(reference_power);
    }

    /// The linear model for small errors about rest in the configuration for which the workspace was updated, Jacobians
    /// included, Konz (5.71).
    pub fn linear(&self, model: &Model<f64>, reference: &Workspace<f64>) -> LinearModel {
        let n = model.dof();
        let [mut inertia, mut damping, mut stiffness] = [(); 3].map(|()| DMatrix::zeros(n, n));
        let mut J = Matrix6xX::zeros(n);
        for MatrixPair { a, b, energies } in &self.pairs {
            reference.jacobian(*a, *b, &mut J);
            let of = |moment: &GeneralMoment| {
                let matrix: Matrix6<f64> = match self.approach {
                    Approach::Body => *moment.matrix(),
                    Approach::Particle | Approach::Energy => moment.at(&reference.pose(*a, *b)),
                };
                J.transpose() * matrix * &J
            };
            inertia += of(&energies.inertia);
            damping += of(&energies.damping);
            stiffness += of(&energies.stiffness);
        }
        LinearModel::without_inputs(inertia, damping, stiffness)
    }
}
