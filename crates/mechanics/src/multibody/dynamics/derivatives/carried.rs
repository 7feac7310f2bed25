//! From the root to the leaves: places and motions of all nodes, in the axes of the node that stands on the world.

use nalgebra::{Matrix3, RealField, Vector3};

use super::Scratch;
use super::column::Column;
use super::composite::{VectorMoments, in_axes};
use crate::multibody::dynamics::motion::{Motion, Twist};

use crate::multibody::dynamics::scratch::Place;
use crate::multibody::dynamics::spatial::{acceleration_matrix, cross, product, turn, turn_back};
use crate::multibody::dynamics::tree::{Node, Tree};

/// A node in the axes and about the origin of its root: the node below it that stands on the world.
#[derive(Clone, Copy, Debug)]
pub struct Carried<T: RealField + Copy> {
    pub rotation: Matrix3<T>,
    pub position: Vector3<T>,
    /// From the parent's origin.
    pub arm: Vector3<T>,
    /// How it would move if its joint stood still; an absolute joint follows its origin without turning.
    pub carrier: Twist<T>,
    pub twist: Twist<T>,
    /// Its acceleration relative to the carrier while the velocities are constant.
    pub drift: Twist<T>,
    /// The carrier's acceleration in its origin, less gravity.
    pub support: Vector3<T>,
    /// Of its origin, less gravity.
    pub acceleration: Vector3<T>,
    pub alpha: Vector3<T>,
    /// `wed(alpha) + wed(omega)²`.
    pub matrix: Matrix3<T>,
}

impl<T: RealField + Copy> Carried<T> {
    pub fn zero() -> Self {
        let o = Vector3::zeros();
        Self {
            rotation: Matrix3::identity(),
            position: o,
            arm: o,
            carrier: Twist::zero(),
            twist: Twist::zero(),
            drift: Twist::zero(),
            support: o,
            acceleration: o,
            alpha: o,
            matrix: Matrix3::zeros(),
        }
    }

    /// A node on this one is placed and carried along.
    #[inline]
    fn carry(&self, place: &Place<T>, absolute: bool, node: &mut Self) {
        let arm = turn(&self.rotation, &place.translation);
        node.rotation = product(&self.rotation, &place.rotation);
        node.position = self.position + arm;
        node.arm = arm;
        let omega = &self.twist.angular;
        node.carrier.linear = self.twist.linear + cross(omega, &arm);
        node.carrier.angular = if absolute { Vector3::zeros() } else { *omega };
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// A node's place and velocity, its directions and momenta, after [`place`](Self::place).
    #[inline]
    pub fn carry(&self, i: usize, xi: &[T], place: &Place<T>, scratch: &mut Scratch<T>) {
        let node = &self.nodes[i];
        let (before, rest) = scratch.nodes.split_at_mut(i);
        let carried = &mut rest[0];
        if let Some(parent) = node.parent.checked_sub(1) {
            before[parent].carry(place, node.motion.is_absolute(), carried);
        }
        node.move_along(&xi[node.xi..], carried, &mut scratch.columns[node.xi..]);
        let mass = in_axes(&node.moments, &carried.rotation);
        scratch.bodies[i] = mass;
        scratch.composites[i].mass = mass;
        scratch.composites[i].momentum = VectorMoments::momenta(&mass, &carried.twist);
    }

    /// A node's acceleration with these of the joints (none: zero), and its wrench of inertia, after [`carry`](Self::carry).
    #[inline]
    pub fn accelerate(
        &self,
        i: usize,
        gravity: &Vector3<T>,
        xi_dot: Option<&[T]>,
        place: &Place<T>,
        scratch: &mut Scratch<T>,
    ) {
        let node = &self.nodes[i];
        let (before, rest) = scratch.nodes.split_at_mut(i);
        let carried = &mut rest[0];
        let mut alpha = carried.drift.angular;
        if let Some(parent) = node.parent.checked_sub(1) {
            let parent = &before[parent];
            carried.support = parent.acceleration + turn(&parent.matrix, &carried.arm);
            if !node.motion.is_absolute() {
                alpha += parent.alpha;
            }
        } else {
            carried.support = -turn_back(&place.rotation, gravity);
        }
        let mut acceleration = carried.support + carried.drift.linear;
        if let Some(xi_dot) = xi_dot {
            let rate = node.rate(&carried.rotation, &xi_dot[node.xi..]);
            acceleration += rate.linear;
            alpha += rate.angular;
        }
        carried.alpha = alpha;
        carried.acceleration = acceleration;
        carried.matrix = acceleration_matrix(&carried.twist.angular, &alpha);
        scratch.composites[i].wrench = scratch.bodies[i].force(&acceleration, &carried.matrix);
    }

    /// What displacements along a node's directions change, after [`accelerate`](Self::accelerate).
    #[inline]
    pub fn displace(&self, i: usize, scratch: &mut Scratch<T>) {
        let node = &self.nodes[i];
        if node.is_free_root() {
            return;
        }
        let matrix = match node.parent.checked_sub(1) {
            Some(parent) if !node.motion.is_absolute() => scratch.nodes[parent].matrix,
            _ => Matrix3::zeros(),
        };
        let rotates = node.motion.is_rotation();
        for column in &mut scratch.columns[node.xi..node.xi + node.motion.dof()] {
            if rotates {
                column.accelerate_rotation(&matrix, &scratch.nodes[i]);
            } else {
                column.accelerate(&matrix, &scratch.nodes[i]);
            }
        }
    }
}

impl<T: RealField + Copy> Motion<T> {
    /// Whether all its directions are rotations about the body's origin.
    #[inline]
    pub fn is_rotation(&self) -> bool {
        matches!(
            self,
            Self::Revolute(_) | Self::Spherical(_) | Self::AbsoluteSpherical(_)
        )
    }
}

impl<T: RealField + Copy> Node<T> {
    /// Whether it moves freely in the world: its directions are the unit twists in its own axes, so that nothing needs to be known of them.
    #[inline]
    pub fn is_free_root(&self) -> bool {
        self.parent == 0 && matches!(self.motion, Motion::Free(_))
    }

    /// The twist of these velocities in axes of this rotation.
    #[inline]
    fn rate(&self, R: &Matrix3<T>, xi: &[T]) -> Twist<T> {
        if let Motion::Revolute(_) = self.motion {
            return Twist {
                linear: Vector3::zeros(),
                angular: R.column(2) * xi[0],
            };
        }
        let twist = self.motion.twist(xi);
        Twist {
            linear: turn(R, &twist.linear),
            angular: turn(R, &twist.angular),
        }
    }

    /// The motion of a node that is carried along and moves in its joint, and its directions.
    #[inline]
    fn move_along(&self, xi: &[T], node: &mut Carried<T>, columns: &mut [Column<T>]) {
        let rate = self.rate(&node.rotation, xi);
        let carrier = &node.carrier;
        let omega = carrier.angular + rate.angular;
        node.drift.angular = cross(&carrier.angular, &rate.angular);
        if self.motion.is_rotation() {
            node.twist = Twist {
                linear: carrier.linear,
                angular: omega,
            };
            for (k, column) in columns[..self.motion.dof()].iter_mut().enumerate() {
                // A hinge turns about z.
                let axis = 2 * usize::from(self.motion.dof() == 1) + k;
                column.set_rotation(&node.rotation.column(axis).into_owned(), node);
            }
            return;
        }
        node.drift.linear = cross(&(carrier.angular + omega), &rate.linear);
        node.twist = Twist {
            linear: carrier.linear + rate.linear,
            angular: omega,
        };
        if self.is_free_root() {
            return;
        }
        let mut unit = [T::zero(); 6];
        for (k, column) in columns[..self.motion.dof()].iter_mut().enumerate() {
            unit[k] = T::one();
            column.set_direction(&self.rate(&node.rotation, &unit), node);
            unit[k] = T::zero();
        }
    }
}
