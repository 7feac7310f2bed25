//! The sensitivity of a coordinate's force to the motions of others, and of their forces to its own.

use nalgebra::RealField;

use super::column::Column;
use crate::multibody::kinematics::{NodePose, NodeVelocity};
use crate::multibody::simd::Vec3;
use crate::multibody::spatial::{MomentumMoments, RigidInertia, SpatialVector};

/// A node with everything that it carries, as one moving rigid body under a load, in the root's axes about the node's origin.
#[derive(Clone, Copy, Debug)]
pub struct Composite<T> {
    pub inertia: RigidInertia<T>,
    /// The momenta of all mass points.
    pub momentum: MomentumMoments<T>,
    /// The wrench transmitted by the joint.
    pub wrench: SpatialVector<T>,
}

impl<T: RealField + Copy> Composite<T> {
    /// The wrench on mass points with the accelerations `w(p) + 2 u × V(p)`.
    #[inline]
    pub fn inertial_wrench(&self, w: &SpatialVector<T>, u: Vec3<T>) -> SpatialVector<T> {
        let turned = self.momentum.turned(u);
        turned.mul_add(T::one() + T::one(), self.inertia.momentum(w))
    }
}

/// A coordinate's products with the inertia that it moves, propagated to the root.
///
/// Its force changes by `inertia . w + turning . u + absolute . S_w` along a direction `S` below it with the motion `w`, `u`; the forces of the
/// directions below it change by `S . configuration` and `S . velocity` along it.
#[derive(Clone, Copy, Debug)]
pub struct Probe<T> {
    pub inertia: SpatialVector<T>,
    pub turning: Vec3<T>,
    /// Zero without absolute joints.
    pub absolute: Vec3<T>,
    pub configuration: SpatialVector<T>,
    pub velocity: SpatialVector<T>,
}

impl<T: RealField + Copy> Probe<T> {
    /// About the node's origin; `momentum` is `I S`.
    #[inline]
    pub fn of_direction(
        composite: &Composite<T>,
        direction: &SpatialVector<T>,
        momentum: &SpatialVector<T>,
        column: &Column<T>,
    ) -> Self {
        let mut probe = Self::of_rotation(composite, direction.angular, momentum, column);
        let turning = composite.momentum.turned_transposed(direction);
        probe.turning = turning + turning;
        probe.configuration.angular += direction.linear.cross(composite.wrench.linear);
        probe
    }

    /// As [`of_direction`](Self::of_direction) for a rotation about the node's origin.
    #[inline]
    pub fn of_rotation(
        composite: &Composite<T>,
        axis: Vec3<T>,
        momentum: &SpatialVector<T>,
        column: &Column<T>,
    ) -> Self {
        let turning = composite.momentum.turned_transposed_rotation(axis);
        // The change of the motion, and the wrench that rotates with the displacement.
        let mut configuration = composite.inertial_wrench(&column.configuration, column.turn);
        configuration.linear += axis.cross(composite.wrench.linear);
        configuration.angular += axis.cross(composite.wrench.angular);
        Self {
            inertia: *momentum,
            turning: turning + turning,
            absolute: Vec3::zero(),
            configuration,
            velocity: composite.inertial_wrench(&column.velocity, axis),
        }
    }

    /// Adds forces on points of the node that keep their world direction while it rotates: those transmitted by absolute
    /// joints.
    #[inline]
    pub fn add_absolute_forces(
        &mut self,
        forces: &MomentumMoments<T>,
        direction: &SpatialVector<T>,
    ) {
        self.absolute = -forces.turned_transposed(direction);
        self.configuration += -forces.turned(direction.angular);
    }

    /// About the root's origin.
    #[inline]
    pub fn at_root(&self, position: Vec3<T>) -> Self {
        Self {
            inertia: self.inertia.wrench_about(position),
            configuration: self.configuration.wrench_about(position),
            velocity: self.velocity.wrench_about(position),
            ..*self
        }
    }

    /// Propagated through an absolute joint, about the root's origin: what it carries follows its origin without rotating. `acceleration` is
    /// that of the origin.
    pub fn through_absolute(
        &mut self,
        pose: &NodePose<T>,
        node: &NodeVelocity<T>,
        acceleration: Vec3<T>,
    ) {
        let at_joint = |wrench: &mut SpatialVector<T>| {
            wrench.angular = pose.position.cross(wrench.linear);
        };
        at_joint(&mut self.inertia);
        at_joint(&mut self.configuration);
        at_joint(&mut self.velocity);
        let force = self.inertia.linear;
        let turning = node.twist.linear.cross(force);
        self.turning = turning + turning;
        self.absolute = acceleration.cross(force);
    }

    /// Arranged for [`Column::lanes`].
    #[inline]
    pub fn lanes(&self) -> [[T; 4]; 9] {
        let (y, c, d) = (&self.inertia, &self.configuration, &self.velocity);
        let lane = |k: usize| {
            let (y, c, d) = (y.linear.get(k), c.linear.get(k), d.linear.get(k));
            [y, y, c, d]
        };
        let angular_lane = |k: usize| {
            let (y, c, d) = (y.angular.get(k), c.angular.get(k), d.angular.get(k));
            [y, y, c, d]
        };
        let turning_lane = |k: usize| {
            let z = self.turning.get(k);
            [z, z, T::zero(), T::zero()]
        };
        [
            lane(0),
            lane(1),
            lane(2),
            angular_lane(0),
            angular_lane(1),
            angular_lane(2),
            turning_lane(0),
            turning_lane(1),
            turning_lane(2),
        ]
    }
}
