//! Textbook controllers of robot arms as special cases: joint PD, computed torque, linear control.
#![allow(non_snake_case)]

use fly_mechanics::multibody::projection;
use fly_mechanics::multibody::{AngleCoordinates, JointKind, Model, Workspace};
use nalgebra::{DMatrix, DVector};

use crate::Energies;
use crate::linear::LinearModel;
use crate::system::SystemReference;
use crate::template::DesiredMotion;

/// The desired inertia of a [`EuclideanTemplate`].
#[derive(Clone, Debug, PartialEq)]
pub enum DesiredInertia {
    /// The model's: *joint PD* or *augmented PD* control, Konz (5.60).
    Model,
    /// A constant n x n matrix: the identity gives *computed torque* or *inverse dynamics* control, Konz (5.62); one joint gives *linear* control,
    /// Konz (5.99).
    Constant(DMatrix<f64>),
}

/// The desired closed loop with a quadratic potential of the error coordinates `q_E = q - q_R`, Konz (5.58), whose transport map is the identity.
///
/// ```text
/// Model:     M q_E'' + C q_E' + D q_E' + K q_E = 0          Konz (5.59)
/// Constant:  Mbar q_E'' + D q_E' + K q_E = 0                Konz (5.61)
/// ```
///
/// These are baselines: they treat angles as numbers on a line. A joint that is a full turn away turns all the way back, and attitude has no such
/// coordinates; pairs of bodies ([`Template`](crate::template::Template)) avoid both. `docs/baselines.md` in the repository flies both beyond a
/// half turn and through a gimbal singularity.
#[derive(Clone, Debug)]
pub struct EuclideanTemplate {
    inertia: DesiredInertia,
    damping: DMatrix<f64>,
    stiffness: DMatrix<f64>,
    C: DMatrix<f64>,
    q_E: DVector<f64>,
    xi_E: DVector<f64>,
    xi_dot_R: DVector<f64>,
}

/// A joint whose configuration is not a vector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a quadratic potential needs one coordinate per degree of freedom, but the joint of `{body}` has other coordinates (attitudes, planar poses, \
     cosine and sine); use pairs of bodies instead"
)]
pub struct NotEuclidean {
    /// The body that the joint carries.
    pub body: String,
}

impl EuclideanTemplate {
    /// With these n x n matrices, symmetric and positive definite.
    ///
    /// # Errors
    /// [`NotEuclidean`] for the first joint whose coordinates do not form a vector.
    pub fn new(
        model: &Model<f64>,
        inertia: DesiredInertia,
        damping: DMatrix<f64>,
        stiffness: DMatrix<f64>,
    ) -> Result<Self, NotEuclidean> {
        for body in model.bodies() {
            let vector = match model.joint(body).map(|joint| *joint.kind()) {
                None
                | Some(
                    JointKind::Fixed
                    | JointKind::Prismatic
                    | JointKind::Screw { .. }
                    | JointKind::Universal { .. },
                ) => true,
                Some(JointKind::Revolute(angle) | JointKind::Cylindrical(angle)) => {
                    angle == AngleCoordinates::Angle
                }
                Some(_) => false,
            };
            if !vector {
                let body = model.name(body).to_owned();
                return Err(NotEuclidean { body });
            }
        }
        let n = model.dof();
        Ok(Self {
            inertia,
            damping,
            stiffness,
            C: DMatrix::zeros(n, n),
            q_E: DVector::zeros(n),
            xi_E: DVector::zeros(n),
            xi_dot_R: DVector::zeros(n),
        })
    }

    /// The linearisation, with the model's mass matrix M at the reference.
    pub fn linear(&self, M: &DMatrix<f64>) -> LinearModel {
        let inertia = match &self.inertia {
            DesiredInertia::Model => M,
            DesiredInertia::Constant(inertia) => inertia,
        };
        let (damping, stiffness) = (self.damping.clone(), self.stiffness.clone());
        LinearModel::without_inputs(inertia.clone(), damping, stiffness)
    }

    /// Writes the desired motion in the state for which `workspace` was updated, Jacobians included, with the model's mass matrix M there.
    /// Does not allocate.
    ///
    /// # Panics
    /// If the length of a slice is not that of the model's coordinates.
    pub fn evaluate(
        &mut self,
        model: &Model<f64>,
        workspace: &Workspace<f64>,
        M: &DMatrix<f64>,
        (q, xi): (&[f64], &[f64]),
        goal: &SystemReference<'_>,
        out: &mut DesiredMotion,
    ) {
        self.q_E.copy_from_slice(q);
        self.xi_E.copy_from_slice(xi);
        self.xi_dot_R.copy_from_slice(goal.acceleration);
        for (e, reference) in self.q_E.iter_mut().zip(goal.configuration) {
            *e -= reference;
        }
        for (e, reference) in self.xi_E.iter_mut().zip(goal.velocity) {
            *e -= reference;
        }
        match &self.inertia {
            DesiredInertia::Model => {
                out.mass_matrix.copy_from(M);
                projection::coriolis_matrix(model, workspace, &mut self.C);
                out.inertial.gemv(1.0, &self.C, &self.xi_E, 0.0);
            }
            DesiredInertia::Constant(inertia) => {
                out.mass_matrix.copy_from(inertia);
                out.inertial.fill(0.0);
            }
        }
        out.inertial
            .gemv(-1.0, &out.mass_matrix, &self.xi_dot_R, 1.0);
        out.damping.gemv(1.0, &self.damping, &self.xi_E, 0.0);
        out.stiffness.gemv(1.0, &self.stiffness, &self.q_E, 0.0);
        out.sum_up();

        let half = |force: &DVector<f64>, along: &DVector<f64>| 0.5 * along.dot(force);
        out.momentum.gemv(1.0, &out.mass_matrix, &self.xi_E, 0.0);
        out.energies = Energies::new(
            half(&out.momentum, &self.xi_E),
            half(&out.stiffness, &self.q_E),
            half(&out.damping, &self.xi_E),
        );
        out.map.Q.fill_with_identity();
        out.map.Q_dot.fill(0.0);
    }
}
