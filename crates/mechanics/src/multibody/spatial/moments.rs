//! Moments of vectors at points.

use nalgebra::RealField;

use super::{RigidInertia, SpatialVector};
use crate::multibody::simd::{Mat3, Vec3};

/// The sums `Σ q_p` and `Σ q_p h_p^T` of vectors at points: momenta, or forces.
#[derive(Clone, Copy, Debug)]
pub struct MomentumMoments<T> {
    pub sum: Vec3<T>,
    pub first: Mat3<T>,
}

impl<T: RealField + Copy> MomentumMoments<T> {
    pub fn zero() -> Self {
        Self::at_origin(Vec3::zero())
    }

    /// A single vector at the origin.
    #[inline]
    pub fn at_origin(sum: Vec3<T>) -> Self {
        Self {
            sum,
            first: Mat3::zero(),
        }
    }

    /// The momenta of a body's mass points: `m v + ω × h`, `v h^T + hat3(ω) S`.
    #[inline]
    pub fn momenta(inertia: &RigidInertia<T>, twist: &SpatialVector<T>) -> Self {
        let (v, omega, h) = (twist.linear, twist.angular, inertia.first);
        Self {
            sum: v.mul_add(inertia.mass, omega.cross(h)),
            first: inertia.second.matrix().hat_times(omega).plus_outer(v, h),
        }
    }

    #[inline]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            sum: self.sum + other.sum,
            first: self.first.plus(&other.first),
        }
    }

    /// About an origin at `-p` from its own.
    #[inline]
    pub fn about(&self, p: Vec3<T>) -> Self {
        Self {
            sum: self.sum,
            first: self.first.plus_outer(self.sum, p),
        }
    }

    /// The wrench of the forces `u × q_p`: `[u × Σ q_p; Σ h_p × (u × q_p)]`.
    #[inline]
    pub fn turned(&self, u: Vec3<T>) -> SpatialVector<T> {
        SpatialVector::new(
            u.cross(self.sum),
            u * self.first.trace() - self.first.times(u),
        )
    }

    /// The transpose of [`turned`](Self::turned): the vector whose product with `u` equals that of the twist with
    /// `turned(u)`.
    #[inline]
    pub fn turned_transposed(&self, twist: &SpatialVector<T>) -> Vec3<T> {
        self.sum.cross(twist.linear) + self.turned_transposed_rotation(twist.angular)
    }

    /// The same for a rotation about the origin.
    #[inline]
    pub fn turned_transposed_rotation(&self, axis: Vec3<T>) -> Vec3<T> {
        axis * self.first.trace() - self.first.transposed().times(axis)
    }
}
