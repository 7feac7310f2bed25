//! The kinematics of systems of bodies.
#![allow(non_snake_case)]

use core::borrow::Borrow;

use fly_lie::SE3;
use fly_mechanics::State;
use fly_mechanics::multibody::{BodyId, Model, Workspace};
use nalgebra::{DMatrix, DVector, DVectorView, Dyn, Matrix6, Matrix6xX, RealField, Vector6};

use super::{Jacobian, Kinematics, Motions};
use crate::ReferencePoint;
use crate::pair::{Pair, PairKinematics, Tracking};
use crate::system::{SystemPair, SystemReference};
use crate::transport::{Map, TransportContext, TransportError, TransportMap};

/// A free body is its own pair (world, body).
impl<T: RealField + Copy> From<&State<T>> for PairKinematics<T> {
    fn from(state: &State<T>) -> Self {
        Self {
            pose: state.pose,
            twist: state.twist,
            bias_acceleration: Vector6::zeros(),
        }
    }
}

/// The body Jacobian of a pair in a system of bodies.
#[derive(Clone, Debug)]
pub struct BodyJacobian {
    J: Matrix6xX<f64>,
    /// The Jacobian at the reference.
    J_R: Matrix6xX<f64>,
}

impl Jacobian<f64, Dyn> for BodyJacobian {
    fn times(&self, v: &DVector<f64>) -> Vector6<f64> {
        &self.J * v
    }

    fn add_force(&self, f: &Vector6<f64>, kept: f64, out: &mut DVector<f64>) {
        out.gemv_tr(1.0, &self.J, f, kept);
    }

    /// (A product of whole matrices of this size would allocate.)
    fn add_matrix(&self, X: &Matrix6<f64>, kept: f64, out: &mut DMatrix<f64>) {
        let J = &self.J;
        if kept == 0.0 {
            out.fill(0.0);
        } else if kept != 1.0 {
            *out *= kept;
        }
        for j in 0..J.ncols() {
            let column = J.column(j);
            // Most coordinates affect few pairs.
            if column.iter().all(|x| *x == 0.0) {
                continue;
            }
            let momentum: Vector6<f64> = X * column;
            for i in 0..=j {
                let entry = J.column(i).dot(&momentum);
                out[(i, j)] += entry;
                if i != j {
                    out[(j, i)] += entry;
                }
            }
        }
    }
}

/// The kinematics of a system of bodies and of its reference, Jacobians included.
#[derive(Clone, Copy)]
pub struct ModelKinematics<'a> {
    /// The system.
    pub model: &'a Model<f64>,
    /// The kinematics of the state.
    pub actual: &'a Workspace<f64>,
    /// xi, n entries.
    pub velocity: &'a [f64],
    /// The kinematics of the reference.
    pub reference: &'a Workspace<f64>,
    /// The reference.
    pub goal: SystemReference<'a>,
}

impl ModelKinematics<'_> {
    /// The actual and desired motion of b relative to a. Writes its Jacobian.
    pub(crate) fn motions(&self, a: BodyId, b: BodyId, J: &mut BodyJacobian) -> Motions<f64> {
        let (actual, reference, goal) = (self.actual, self.reference, &self.goal);
        actual.jacobian(a, b, &mut J.J);
        reference.jacobian(a, b, &mut J.J_R);
        let acceleration = DVectorView::from_slice(goal.acceleration, goal.acceleration.len());
        let pose = |at: &Workspace<f64>| -> SE3<f64> { at.pose(a, b) };
        let motion = PairKinematics {
            pose: pose(actual),
            twist: actual.twist(a, b),
            bias_acceleration: actual.bias_acceleration(a, b),
        };
        let desired = ReferencePoint {
            pose: pose(reference),
            twist: reference.twist(a, b),
            acceleration: &J.J_R * acceleration + reference.bias_acceleration(a, b),
        };
        (motion, desired)
    }
}

/// A system of bodies, with any number of pairs.
impl Kinematics for Model<f64> {
    type Scalar = f64;
    type Dof = Dyn;
    type Pair = SystemPair;
    type Pairs = Vec<SystemPair>;
    type Map = Box<dyn TransportMap>;
    type MapError = TransportError;
    type Jacobian = BodyJacobian;
    type At<'a> = ModelKinematics<'a>;

    fn dof(&self) -> Dyn {
        Dyn(Model::dof(self))
    }

    fn jacobian(&self) -> BodyJacobian {
        let J = Matrix6xX::zeros(Model::dof(self));
        BodyJacobian { J_R: J.clone(), J }
    }

    fn velocities(at: &ModelKinematics<'_>, out: [&mut DVector<f64>; 3]) {
        let [xi, xi_R, xi_dot_R] = out;
        xi.copy_from_slice(at.velocity);
        xi_R.copy_from_slice(at.goal.velocity);
        xi_dot_R.copy_from_slice(at.goal.acceleration);
    }

    fn pair<'a>(
        at: &'a ModelKinematics<'_>,
        pair: &SystemPair,
        J: &mut BodyJacobian,
        storage: &'a mut Option<Motions<f64>>,
    ) -> Tracking<'a> {
        let (motion, desired) = storage.insert(at.motions(pair.a, pair.b, J));
        Tracking::new(motion, desired)
    }

    fn rate_times(
        at: &ModelKinematics<'_>,
        pair: &SystemPair,
        v: &DVector<f64>,
    ) -> Option<Vector6<f64>> {
        Some(at.actual.jacobian_rate_times(pair.a, pair.b, v.as_slice()))
    }

    fn transport(
        map: &mut Box<dyn TransportMap>,
        at: &ModelKinematics<'_>,
        pairs: &Vec<SystemPair>,
        out: &mut Map,
    ) -> Result<(), TransportError> {
        let at = TransportContext {
            model: at.model,
            pairs,
            actual: at.actual,
            reference: at.reference,
        };
        map.evaluate(&at, out)
    }
}

impl Borrow<Pair> for SystemPair {
    fn borrow(&self) -> &Pair {
        &self.energies
    }
}
