//! How the velocity of what is controlled moves pairs of frames.
//!
//! A [`Template`](crate::template::Template) is a sum over pairs of frames, whatever moves them. [`Kinematics`] say how they move: a free body by its own
//! twist, J = I, Jdot = 0, so that nothing is to be multiplied; a system of bodies by the body Jacobian of each pair.
#![allow(non_snake_case)]

use core::borrow::Borrow;

use fly_lie::SE3;
use fly_mechanics::multibody::{BodyId, Model, Workspace};
use fly_mechanics::{FreeBody, State};
use nalgebra::allocator::Allocator;
use nalgebra::{
    Const, DMatrix, DVector, DVectorView, DefaultAllocator, Dim, Dyn, Matrix6, Matrix6xX, OMatrix,
    OVector, RealField, Vector6,
};

use crate::ReferencePoint;
use crate::sizes::Sizes;
use crate::system::{SystemPair, SystemReference};
use crate::template::pair::error_pose;
use crate::template::{Pair, PairKinematics, Transport};
use crate::transport::{Map, TransportError, TransportMap, Transported, adjoint, centred};

/// A system with n degrees of freedom whose velocity moves pairs of frames.
pub trait Kinematics: Sized
where
    DefaultAllocator: Sizes<Self::Dof, Self::Dof>,
{
    /// The numbers that it reckons with.
    type Scalar: RealField + Copy;
    /// n.
    type Dof: Dim;
    /// Two frames, and the desired energies between them.
    type Pair: Borrow<Pair<Self::Scalar>>;
    /// All its pairs.
    type Pairs: AsRef<[Self::Pair]>;
    /// Carries the velocity of the reference to where the system is, Konz (5.43).
    type Map;
    /// Why there may be no such map.
    type MapError;
    /// J of a pair.
    type Jacobian: Jacobian<Self::Scalar, Self::Dof>;
    /// The state beside the reference at one instant.
    type At<'a>;

    /// n.
    fn dof(&self) -> Self::Dof;

    /// Room for a Jacobian.
    fn jacobian(&self) -> Self::Jacobian;

    /// Writes xi, xi_R and its rate.
    fn velocities(at: &Self::At<'_>, out: [&mut OVector<Self::Scalar, Self::Dof>; 3]);

    /// How a pair moves and should move. Writes its Jacobian, with its rate if `with_rate` asks for it.
    fn pair(
        at: &Self::At<'_>,
        pair: &Self::Pair,
        with_rate: bool,
        J: &mut Self::Jacobian,
    ) -> (PairKinematics<Self::Scalar>, ReferencePoint<Self::Scalar>);

    /// Writes the transport map and its rate.
    ///
    /// # Errors
    /// Where there is none.
    fn transport(
        map: &mut Self::Map,
        at: &Self::At<'_>,
        pairs: &[Self::Pair],
        out: &mut Map<Self::Scalar, Self::Dof>,
    ) -> Result<(), Self::MapError>;
}

/// How the twist of a pair follows from the velocity, `z = J xi` with J 6 x n.
pub trait Jacobian<T: RealField + Copy, N: Dim>
where
    DefaultAllocator: Sizes<N, N>,
{
    /// `J v`.
    fn times(&self, v: &OVector<T, N>) -> Vector6<T>;

    /// `Jdot v`; `None` where J is constant.
    fn rate_times(&self, v: &OVector<T, N>) -> Option<Vector6<T>>;

    /// Adds `J^T f`.
    fn add_force(&self, f: &Vector6<T>, out: &mut OVector<T, N>);

    /// Adds `J^T X J` of a symmetric X.
    fn add_matrix(&self, X: &Matrix6<T>, out: &mut OMatrix<T, N, N>);
}

/// The velocity of a free body is its twist: J = I.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Identity;

impl<T: RealField + Copy> Jacobian<T, Const<6>> for Identity {
    fn times(&self, v: &Vector6<T>) -> Vector6<T> {
        *v
    }

    fn rate_times(&self, _: &Vector6<T>) -> Option<Vector6<T>> {
        None
    }

    fn add_force(&self, f: &Vector6<T>, out: &mut Vector6<T>) {
        *out += f;
    }

    fn add_matrix(&self, X: &Matrix6<T>, out: &mut Matrix6<T>) {
        *out += X;
    }
}

/// The body Jacobian of a pair in a system of bodies.
#[derive(Clone, Debug)]
pub struct BodyJacobian {
    J: Matrix6xX<f64>,
    J_dot: Matrix6xX<f64>,
    /// That of the reference.
    J_R: Matrix6xX<f64>,
}

impl Jacobian<f64, Dyn> for BodyJacobian {
    fn times(&self, v: &DVector<f64>) -> Vector6<f64> {
        &self.J * v
    }

    fn rate_times(&self, v: &DVector<f64>) -> Option<Vector6<f64>> {
        Some(&self.J_dot * v)
    }

    fn add_force(&self, f: &Vector6<f64>, out: &mut DVector<f64>) {
        out.gemv_tr(1.0, &self.J, f, 1.0);
    }

    /// (A product of whole matrices of this size would allocate.)
    fn add_matrix(&self, X: &Matrix6<f64>, out: &mut DMatrix<f64>) {
        let J = &self.J;
        for j in 0..J.ncols() {
            let column = J.column(j);
            // Most coordinates move few pairs.
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

/// A vehicle: one free body with its own twist as the velocity, seen from the world.
impl<T: RealField + Copy> Kinematics for FreeBody<T>
where
    DefaultAllocator: Allocator<Const<6>>,
{
    type Scalar = T;
    type Dof = Const<6>;
    type Pair = Pair<T>;
    type Pairs = [Pair<T>; 1];
    type Map = Transport;
    type MapError = core::convert::Infallible;
    type Jacobian = Identity;
    type At<'a> = (&'a State<T>, &'a ReferencePoint<T>);

    fn dof(&self) -> Const<6> {
        Const
    }

    fn jacobian(&self) -> Identity {
        Identity
    }

    fn velocities((state, reference): &Self::At<'_>, out: [&mut Vector6<T>; 3]) {
        let [xi, xi_R, xi_dot_R] = out;
        *xi = state.twist;
        *xi_R = reference.twist;
        *xi_dot_R = reference.acceleration;
    }

    fn pair(
        (state, reference): &Self::At<'_>,
        _: &Pair<T>,
        _: bool,
        _: &mut Identity,
    ) -> (PairKinematics<T>, ReferencePoint<T>) {
        let motion = PairKinematics {
            pose: state.pose,
            twist: state.twist,
            bias_acceleration: Vector6::zeros(),
        };
        (motion, **reference)
    }

    fn transport(
        map: &mut Transport,
        (state, reference): &Self::At<'_>,
        pairs: &[Pair<T>],
        out: &mut Map<T, Const<6>>,
    ) -> Result<(), Self::MapError> {
        let E = error_pose(&state.pose, &reference.pose);
        let (z, z_R) = (&state.twist, &reference.twist);
        *out = match map {
            Transport::Adjoint => adjoint(&E, z, z_R),
            Transport::Centred => centred(&E, z, z_R, pairs[0].stiffness_center()),
        };
        Ok(())
    }
}

/// The kinematics of a system of bodies, Jacobians included, beside those of its reference.
#[derive(Clone, Copy)]
pub struct ModelKinematics<'a> {
    /// The system.
    pub model: &'a Model<f64>,
    /// The kinematics of the state.
    pub actual: &'a Workspace<f64>,
    /// xi, n numbers.
    pub velocity: &'a [f64],
    /// The kinematics of the reference.
    pub reference: &'a Workspace<f64>,
    /// The reference.
    pub goal: SystemReference<'a>,
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
        BodyJacobian {
            J_dot: J.clone(),
            J_R: J.clone(),
            J,
        }
    }

    fn velocities(at: &ModelKinematics<'_>, out: [&mut DVector<f64>; 3]) {
        let [xi, xi_R, xi_dot_R] = out;
        xi.copy_from_slice(at.velocity);
        xi_R.copy_from_slice(at.goal.velocity);
        xi_dot_R.copy_from_slice(at.goal.acceleration);
    }

    fn pair(
        at: &ModelKinematics<'_>,
        pair: &SystemPair,
        with_rate: bool,
        J: &mut BodyJacobian,
    ) -> (PairKinematics<f64>, ReferencePoint) {
        let (a, b): (BodyId, BodyId) = (pair.a, pair.b);
        let (actual, reference) = (at.actual, at.reference);
        actual.jacobian(a, b, &mut J.J);
        reference.jacobian(a, b, &mut J.J_R);
        if with_rate {
            actual.jacobian_rate(a, b, &mut J.J_dot);
        }
        let acceleration =
            DVectorView::from_slice(at.goal.acceleration, at.goal.acceleration.len());
        let pose = |at: &Workspace<f64>| -> SE3<f64> { at.pose(a, b) };
        (
            PairKinematics {
                pose: pose(actual),
                twist: actual.twist(a, b),
                bias_acceleration: actual.bias_acceleration(a, b),
            },
            ReferencePoint {
                pose: pose(reference),
                twist: reference.twist(a, b),
                acceleration: &J.J_R * acceleration + reference.bias_acceleration(a, b),
            },
        )
    }

    fn transport(
        map: &mut Box<dyn TransportMap>,
        at: &ModelKinematics<'_>,
        pairs: &[SystemPair],
        out: &mut Map,
    ) -> Result<(), TransportError> {
        let at = Transported {
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
