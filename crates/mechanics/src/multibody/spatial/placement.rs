//! Placements: frames in other frames.

use fly_lie::{SE3, SO3};
use nalgebra::{Matrix3, RealField, Vector3};

use super::SpatialVector;
use crate::multibody::simd::{Mat3, Vec3};

/// A frame in another frame: rotation and translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement<T> {
    pub rotation: Mat3<T>,
    /// The transpose.
    pub inverse: Mat3<T>,
    pub translation: Vec3<T>,
}

impl<T: RealField + Copy> Placement<T> {
    #[inline]
    pub fn new(rotation: Mat3<T>, translation: Vec3<T>) -> Self {
        Self {
            rotation,
            inverse: rotation.transposed(),
            translation,
        }
    }

    pub fn identity() -> Self {
        Self::new(Mat3::identity(), Vec3::zero())
    }

    pub fn of(rotation: &Matrix3<T>, translation: &Vector3<T>) -> Self {
        Self::new((*rotation).into(), (*translation).into())
    }

    /// The same as a group element.
    #[inline]
    pub fn pose(&self) -> SE3<T> {
        let rotation = SO3::from_matrix(self.rotation.matrix());
        SE3::new(rotation, self.translation.vector())
    }

    /// `R R_2, p + R p_2`: the composition with a frame in this one.
    #[inline]
    pub fn compose(&self, other: &Self) -> Self {
        Self::new(
            self.rotation.product(&other.rotation),
            self.rotation.mul_add(other.translation, self.translation),
        )
    }

    /// Transforms a twist from the outer frame to the inner frame's axes and origin: `Ad(G^-1)`, RBDA (2.24).
    #[inline]
    pub fn pull_twist(&self, twist: &SpatialVector<T>) -> SpatialVector<T> {
        let at_origin = twist.linear + twist.angular.cross(self.translation);
        SpatialVector::new(
            self.inverse.times(at_origin),
            self.inverse.times(twist.angular),
        )
    }

    /// Transforms a wrench from the inner frame to the outer one: `Ad(G^-1)^T`, RBDA (2.25).
    #[inline]
    pub fn push_wrench(&self, wrench: &SpatialVector<T>) -> SpatialVector<T> {
        let linear = self.rotation.times(wrench.linear);
        let moment = self.translation.cross(linear);
        SpatialVector::new(linear, self.rotation.mul_add(wrench.angular, moment))
    }

    /// As [`push_wrench`](Self::push_wrench) through an absolute joint, which transmits no torque because its attitude is relative to the
    /// world.
    #[inline]
    pub fn push_force(&self, wrench: &SpatialVector<T>) -> SpatialVector<T> {
        let linear = self.rotation.times(wrench.linear);
        SpatialVector::new(linear, self.translation.cross(linear))
    }
}
