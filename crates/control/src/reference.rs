//! The reference of a rigid body at one instant.

use fly_lie::SE3;
use nalgebra::{RealField, Vector6};

/// The reference of a rigid body at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReferencePoint<T: RealField + Copy = f64> {
    /// G_R: the pose in the world, or in the first frame of a pair.
    pub pose: SE3<T>,
    /// xi_R = [v; omega] in the reference's own frame, m/s, rad/s.
    pub twist: Vector6<T>,
    /// The rate of xi_R, m/s^2, rad/s^2.
    pub acceleration: Vector6<T>,
}

impl<T: RealField + Copy> ReferencePoint<T> {
    /// A reference at rest in this pose.
    pub fn at_rest(pose: SE3<T>) -> Self {
        Self {
            pose,
            twist: Vector6::zeros(),
            acceleration: Vector6::zeros(),
        }
    }

    /// Returns whether all entries are finite.
    pub fn is_finite(&self) -> bool {
        let numbers = self.twist.iter().chain(&self.acceleration);
        let position = self.pose.translation.iter();
        let rotation = self.pose.rotation.matrix().iter();
        numbers.chain(position).chain(rotation).all(T::is_finite)
    }
}

impl<T: RealField + Copy> Default for ReferencePoint<T> {
    /// At rest at the world's origin.
    fn default() -> Self {
        Self::at_rest(SE3::identity())
    }
}
