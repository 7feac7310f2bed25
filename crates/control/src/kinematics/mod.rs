//! The kinematics of pairs of frames, as a function of the system's velocity.
//!
//! A [`Template`](crate::template::Template) is a sum over pairs of frames, whatever the system. [`Kinematics`] provides the motion of each pair: for a
//! free body its own twist, J = I, Jdot = 0, so that no products are necessary; for a system of bodies by the body Jacobian of each pair.
#![allow(non_snake_case)]

use core::borrow::Borrow;
use core::convert::Infallible;
use core::marker::PhantomData;

use nalgebra::{Const, DefaultAllocator, Dim, Matrix6, OMatrix, OVector, RealField, Vector6};

#[cfg(feature = "systems")]
mod model;

#[cfg(feature = "systems")]
pub use model::{BodyJacobian, ModelKinematics};

use crate::ReferencePoint;
use crate::pair::{Pair, PairKinematics, Tracking};
use crate::sizes::Sizes;
use crate::transport::{Map, Transport, write_adjoint, write_centred};

/// The actual and the desired motion of a pair.
pub type Motions<T> = (PairKinematics<T>, ReferencePoint<T>);

/// A system with n degrees of freedom whose velocity determines the motion of pairs of frames.
pub trait Kinematics: Sized
where
    DefaultAllocator: Sizes<Self::Dof, Self::Dof>,
{
    /// The scalar type.
    type Scalar: RealField + Copy;
    /// n.
    type Dof: Dim;
    /// Two frames and the desired energies between them.
    type Pair: Borrow<Pair<Self::Scalar>>;
    /// All its pairs.
    type Pairs: AsRef<[Self::Pair]>;
    /// Maps the velocity of the reference to the actual configuration, Konz (5.43).
    type Map;
    /// Why the map may not exist.
    type MapError;
    /// J of a pair.
    type Jacobian: Jacobian<Self::Scalar, Self::Dof>;
    /// State and reference at one instant.
    type At<'a>;

    /// n.
    fn dof(&self) -> Self::Dof;

    /// Storage for a Jacobian.
    fn jacobian(&self) -> Self::Jacobian;

    /// Writes xi, xi_R and its rate.
    fn velocities(at: &Self::At<'_>, out: [&mut OVector<Self::Scalar, Self::Dof>; 3]);

    /// The actual and the desired motion of a pair, computed into `storage` if not stored elsewhere. Writes its Jacobian.
    fn pair<'a>(
        at: &'a Self::At<'_>,
        pair: &Self::Pair,
        J: &mut Self::Jacobian,
        storage: &'a mut Option<Motions<Self::Scalar>>,
    ) -> Tracking<'a, Self::Scalar>;

    /// `Jdot v` of a pair; `None` if J is constant.
    fn rate_times(
        at: &Self::At<'_>,
        pair: &Self::Pair,
        v: &OVector<Self::Scalar, Self::Dof>,
    ) -> Option<Vector6<Self::Scalar>>;

    /// Writes the transport map and its rate.
    ///
    /// # Errors
    /// If the map is singular.
    fn transport(
        map: &mut Self::Map,
        at: &Self::At<'_>,
        pairs: &Self::Pairs,
        out: &mut Map<Self::Scalar, Self::Dof>,
    ) -> Result<(), Self::MapError>;
}

/// The Jacobian of a pair, which maps the velocity to its twist: `z = J xi` with J 6 x n.
pub trait Jacobian<T: RealField + Copy, N: Dim>
where
    DefaultAllocator: Sizes<N, N>,
{
    /// `J v`.
    fn times(&self, v: &OVector<T, N>) -> Vector6<T>;

    /// `out <- J^T f + kept out`; if `kept` is zero the previous `out` is ignored.
    fn add_force(&self, f: &Vector6<T>, kept: T, out: &mut OVector<T, N>);

    /// `out <- J^T X J + kept out` for a symmetric X.
    fn add_matrix(&self, X: &Matrix6<T>, kept: T, out: &mut OMatrix<T, N, N>);
}

/// The velocity of a free body is its twist: J = I.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Identity;

impl<T: RealField + Copy> Jacobian<T, Const<6>> for Identity {
    #[inline]
    fn times(&self, v: &Vector6<T>) -> Vector6<T> {
        *v
    }

    #[inline]
    fn add_force(&self, f: &Vector6<T>, kept: T, out: &mut Vector6<T>) {
        *out = if kept.is_zero() { *f } else { f + *out * kept };
    }

    #[inline]
    fn add_matrix(&self, X: &Matrix6<T>, kept: T, out: &mut Matrix6<T>) {
        if kept.is_zero() {
            out.copy_from(X);
        } else {
            *out = X + *out * kept;
        }
    }
}

/// A vehicle: one free body whose velocity is its own twist relative to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneBody<T = f64>(PhantomData<T>);

impl<T> Default for OneBody<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: RealField + Copy> Kinematics for OneBody<T> {
    type Scalar = T;
    type Dof = Const<6>;
    type Pair = Pair<T>;
    type Pairs = [Pair<T>; 1];
    type Map = Transport;
    type MapError = Infallible;
    type Jacobian = Identity;
    type At<'a> = Tracking<'a, T>;

    fn dof(&self) -> Const<6> {
        Const
    }

    fn jacobian(&self) -> Identity {
        Identity
    }

    #[inline]
    fn velocities(at: &Tracking<'_, T>, out: [&mut Vector6<T>; 3]) {
        let [xi, xi_R, xi_dot_R] = out;
        *xi = at.motion.twist;
        *xi_R = at.desired.twist;
        *xi_dot_R = at.desired.acceleration;
    }

    #[inline]
    fn pair<'a>(
        at: &'a Tracking<'_, T>,
        _: &Pair<T>,
        _: &mut Identity,
        _: &'a mut Option<Motions<T>>,
    ) -> Tracking<'a, T> {
        *at
    }

    #[inline]
    fn rate_times(_: &Tracking<'_, T>, _: &Pair<T>, _: &Vector6<T>) -> Option<Vector6<T>> {
        None
    }

    #[inline]
    fn transport(
        map: &mut Transport,
        at: &Tracking<'_, T>,
        [pair]: &Self::Pairs,
        out: &mut Map<T, Const<6>>,
    ) -> Result<(), Infallible> {
        let (E, z, z_R) = (&at.error, &at.motion.twist, &at.desired.twist);
        match map {
            Transport::Adjoint => write_adjoint(E, z, z_R, out),
            Transport::Centred => write_centred(E, z, z_R, pair.stiffness_center(), out),
        }
        Ok(())
    }
}
