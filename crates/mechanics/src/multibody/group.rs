//! The Lie groups of the joints: their brackets and the Jacobians of their exponentials, in velocity coordinates.

use fly_lie::{CoordinateVector, LieGroup, Operator, Rn, SE2, SE3, SO3, Schoenflies};
use nalgebra::{RealField, Vector6};

use super::{Joint, JointKind, Model};

/// A linear map of velocities that depends on a velocity `u`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Map {
    /// `ad(u)`.
    Bracket,
    /// `ad(u)^T`.
    BracketTransposed,
    /// `J_r(u)^T`.
    RightJacobianTransposed,
    /// `J_r(u)^-1`: `d/dt (g exp(u)) = g exp(u) xi` with `u_dot = J_r(u)^-1 xi`.
    RightJacobianInverse,
    /// `J_r(u)^-T`.
    RightJacobianInverseTransposed,
}

impl Map {
    fn of<T: RealField + Copy, G: LieGroup<T>>(self, u: &G::Tangent) -> G::Operator {
        match self {
            Self::Bracket => G::ad(u),
            Self::BracketTransposed => G::ad(u).transpose(),
            Self::RightJacobianTransposed => G::right_jacobian(u).transpose(),
            Self::RightJacobianInverse => G::right_jacobian_inverse(u),
            Self::RightJacobianInverseTransposed => G::right_jacobian_inverse(u).transpose(),
        }
    }

    fn apply<T: RealField + Copy, G: LieGroup<T>>(self, u: &[T], v: &mut [T]) {
        let read = |numbers: &[T]| G::Tangent::from_fn(|i| numbers[i]);
        let mapped = self.of::<T, G>(&read(u)).apply(&read(v));
        for (i, v) in v[..G::Tangent::DIM].iter_mut().enumerate() {
            *v = mapped.entry(i);
        }
    }
}

impl<T: RealField + Copy> Joint<T> {
    /// Applies the map at `u` to `v`: both start with this joint's velocities.
    fn apply(&self, map: Map, u: &[T], v: &mut [T]) {
        match self.kind() {
            JointKind::Fixed => {}
            JointKind::Revolute(_) | JointKind::Prismatic | JointKind::Screw { .. } => {
                map.apply::<T, Rn<T, 1>>(u, v);
            }
            // A universal joint's velocities are the rates of its angles: holonomic, so they commute.
            JointKind::Cylindrical(_) | JointKind::Universal { .. } => {
                map.apply::<T, Rn<T, 2>>(u, v);
            }
            JointKind::Spherical(_) | JointKind::AbsoluteSpherical(_) => {
                map.apply::<T, SO3<T>>(u, v);
            }
            JointKind::Planar(_) => map.apply::<T, SE2<T>>(u, v),
            JointKind::Schoenflies(_) => map.apply::<T, Schoenflies<T>>(u, v),
            JointKind::Free(_) if map == Map::RightJacobianInverse => {
                let read = |numbers: &[T]| Vector6::from_column_slice(&numbers[..6]);
                let mapped = SE3::right_jacobian_inverse_times(&read(u), &read(v));
                v[..6].copy_from_slice(mapped.as_slice());
            }
            JointKind::Free(_) => map.apply::<T, SE3<T>>(u, v),
        }
    }
}

impl<T: RealField + Copy> Model<T> {
    /// Applies the map at `u` to `v`, joint by joint.
    pub(crate) fn apply(&self, map: Map, u: &[T], v: &mut [T]) {
        for link in &self.links {
            link.joint.apply(map, &u[link.xi..], &mut v[link.xi..]);
        }
    }
}

/// # Commutation of the velocity coordinates
///
/// `[d_i, d_j] = gamma_ij^k d_k`, Konz (3.34), with the derivatives `d_i` along the velocity coordinates. The coefficients are constant:
/// those of SO(3), SE(2), SE(3) or the Schönflies group for joints on these groups, zero for all others and between joints. For an absolute
/// joint, whose angular velocity is relative to the world, they are the same: it is the body velocity of its own attitude.
impl<T: RealField + Copy> Model<T> {
    /// `gamma_ij^k a^i b^j`, written over `b`.
    ///
    /// # Panics
    /// If a slice is shorter than [`dof`](Model::dof).
    pub fn bracket(&self, a: &[T], b: &mut [T]) {
        self.apply(Map::Bracket, a, b);
    }

    /// `gamma_ij^k xi^j p_k`, the force that the commutation coefficients add to `d/dt dT/dxi` (of one body `-ad(xi)^T p`), written over
    /// `p`.
    ///
    /// # Panics
    /// As [`bracket`](Model::bracket).
    pub fn commutation_force(&self, xi: &[T], p: &mut [T]) {
        // gamma_ij^k xi^j p_k = (ad(e_i) xi) . p = -(ad(xi) e_i) . p
        self.apply(Map::BracketTransposed, xi, p);
        for p in p {
            *p = -*p;
        }
    }
}
