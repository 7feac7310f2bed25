//! The reference of a rigid body at one instant.

use fly_lie::operators::{angular, join, linear};
use fly_lie::{SE3, SO3};
use nalgebra::{RealField, Vector3, Vector6};

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

    /// The same motion of the origin in the world with another attitude: one that has the angular velocity `omega`
    /// (rad/s) and acceleration `omega_dot` (rad/s^2), both in its own frame.
    #[must_use]
    pub fn with_attitude(
        &self,
        rotation: SO3<T>,
        omega: &Vector3<T>,
        omega_dot: &Vector3<T>,
    ) -> Self {
        let (v, spin) = (linear(&self.twist), angular(&self.twist));
        let into = |vector: &Vector3<T>| rotation.inverse().act(&self.pose.rotation.act(vector));
        let velocity = into(&v);
        let speeding = into(&(linear(&self.acceleration) + spin.cross(&v)));
        Self {
            pose: SE3::new(rotation, self.pose.translation),
            twist: join(&velocity, omega),
            acceleration: join(&(speeding - omega.cross(&velocity)), omega_dot),
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

#[cfg(test)]
mod tests {
    use nalgebra::vector;

    use super::*;

    #[test]
    fn another_attitude_leaves_the_motion_of_the_origin() {
        let attitude = |x, y, z| SO3::exp(&vector![x, y, z]);
        let point = ReferencePoint {
            pose: SE3::new(attitude(0.4, -0.7, 1.9), vector![1.0, -2.0, 0.5]),
            twist: vector![1.2, -0.4, 0.7, 0.9, -1.3, 2.1],
            acceleration: vector![-0.6, 2.2, 0.3, 1.7, 0.2, -0.8],
        };
        let (omega, omega_dot) = (vector![-0.3, 5.0, 0.8], vector![0.1, 0.2, -4.0]);
        let other = point.with_attitude(attitude(-1.1, 0.2, 0.6), &omega, &omega_dot);
        assert_eq!(
            (angular(&other.twist), angular(&other.acceleration)),
            (omega, omega_dot)
        );
        let moves = |point: &ReferencePoint| {
            let (v, omega) = (linear(&point.twist), angular(&point.twist));
            let rate = linear(&point.acceleration) + omega.cross(&v);
            [v, rate].map(|vector| point.pose.rotation.act(&vector))
        };
        for (before, after) in moves(&point).iter().zip(moves(&other)) {
            assert!((before - after).norm() < 1e-14);
        }
        assert_eq!(point.pose.translation, other.pose.translation);
    }
}
