//! What a coordinate feels of the motions that others cause, and what they feel of its.

use nalgebra::{RealField, Vector3};

use super::carried::Carried;
use super::column::Column;
use super::composite::{Composite, VectorMoments, wrench_at};
use crate::multibody::dynamics::spatial::{Wrench, cross};

/// A coordinate's products with the inertia of what it moves, carried down to the root.
///
/// Its force changes by `inertia . w + turning . u + hanging . S_w` along a direction `S` below it whose motion is `w`, `u`; the forces of the
/// directions below it change by `S . configuration` and `S . velocity` along it.
#[derive(Clone, Copy, Debug)]
pub struct Probe<T: RealField + Copy> {
    pub inertia: Wrench<T>,
    pub turning: Vector3<T>,
    /// Nothing where no joint is absolute.
    pub hanging: Vector3<T>,
    pub configuration: Wrench<T>,
    pub velocity: Wrench<T>,
}

impl<T: RealField + Copy> Probe<T> {
    /// About the node's origin.
    #[inline]
    pub fn any(composite: &Composite<T>, column: &Column<T>) -> Self {
        let S = &column.direction;
        let mut probe = Self::rotation(composite, column);
        let turning = composite.momentum.against(S);
        probe.turning = turning + turning;
        probe.configuration.torque += cross(&S.linear, &composite.wrench.force);
        probe
    }

    /// As [`any`](Self::any) for a rotation about the node's origin.
    #[inline]
    pub fn rotation(composite: &Composite<T>, column: &Column<T>) -> Self {
        let axis = &column.direction.angular;
        let turning = composite.momentum.against_rotation(axis);
        // The change of the motion, and the wrench that turns with the displacement.
        let mut configuration = composite.resistance(&column.configuration, &column.turn);
        configuration.force += cross(axis, &composite.wrench.force);
        configuration.torque += cross(axis, &composite.wrench.torque);
        Self {
            inertia: column.inertia,
            turning: turning + turning,
            hanging: Vector3::zeros(),
            configuration,
            velocity: composite.resistance(&column.velocity, axis),
        }
    }

    /// Forces `q` at points of the node that keep their direction in the world while it turns: on absolute joints hang such.
    #[inline]
    pub fn add_hanging(&mut self, forces: &VectorMoments<T>, column: &Column<T>) {
        self.hanging = -forces.against(&column.direction);
        let turned = forces.turned(&column.direction.angular);
        self.configuration.force -= turned.force;
        self.configuration.torque -= turned.torque;
    }

    /// About the root's origin.
    #[inline]
    pub fn at_root(&self, position: &Vector3<T>) -> Self {
        Self {
            inertia: wrench_at(&self.inertia, position),
            configuration: wrench_at(&self.configuration, position),
            velocity: wrench_at(&self.velocity, position),
            ..*self
        }
    }

    /// Through an absolute joint, about the root's origin: what it carries follows its origin without turning.
    pub fn through_absolute(&mut self, node: &Carried<T>) {
        let at_joint = |wrench: &mut Wrench<T>| {
            wrench.torque = cross(&node.position, &wrench.force);
        };
        at_joint(&mut self.inertia);
        at_joint(&mut self.configuration);
        at_joint(&mut self.velocity);
        let force = &self.inertia.force;
        let turning = cross(&node.twist.linear, force);
        self.turning = turning + turning;
        self.hanging = cross(&node.acceleration, force);
    }

    /// Side by side for [`Column::lanes`].
    #[inline]
    pub fn lanes(&self) -> [[T; 4]; 9] {
        let (y, c, d) = (&self.inertia, &self.configuration, &self.velocity);
        let lane = |y: T, c: T, d: T| [y, y, c, d];
        let half = |z: T| [z, z, T::zero(), T::zero()];
        let (yf, cf, df) = (&y.force, &c.force, &d.force);
        let (yt, ct, dt) = (&y.torque, &c.torque, &d.torque);
        [
            lane(yf.x, cf.x, df.x),
            lane(yf.y, cf.y, df.y),
            lane(yf.z, cf.z, df.z),
            lane(yt.x, ct.x, dt.x),
            lane(yt.y, ct.y, dt.y),
            lane(yt.z, ct.z, dt.z),
            half(self.turning.x),
            half(self.turning.y),
            half(self.turning.z),
        ]
    }
}
