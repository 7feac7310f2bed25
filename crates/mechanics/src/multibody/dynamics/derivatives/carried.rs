//! From the root to the leaves: places, motions and directions of all nodes, in the axes of the node that stands on the world.

use nalgebra::{Matrix3, RealField, Vector3};

use super::Scratch;
use super::column::{Carrier, Column};
use super::composite::{Composite, in_axes};
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
    pub omega: Vector3<T>,
    pub alpha: Vector3<T>,
    /// `wed(alpha) + wed(omega)²`.
    pub matrix: Matrix3<T>,
    /// Of its origin.
    pub velocity: Vector3<T>,
    /// Of its origin, less gravity.
    pub acceleration: Vector3<T>,
}

impl<T: RealField + Copy> Carried<T> {
    pub fn zero() -> Self {
        let o = Vector3::zeros();
        Self {
            rotation: Matrix3::identity(),
            position: o,
            arm: o,
            omega: o,
            alpha: o,
            matrix: Matrix3::zeros(),
            velocity: o,
            acceleration: o,
        }
    }

    /// Where a node on this one is, and how it is carried along.
    #[inline]
    fn carry(&self, place: &Place<T>, absolute: bool) -> (Self, Carrier<T>) {
        let arm = turn(&self.rotation, &place.translation);
        let carrier = Carrier {
            omega: self.omega,
            alpha: self.alpha,
            matrix: self.matrix,
            velocity: self.velocity + cross(&self.omega, &arm),
            acceleration: self.acceleration + turn(&self.matrix, &arm),
        };
        let node = Self {
            rotation: product(&self.rotation, &place.rotation),
            position: self.position + arm,
            arm,
            ..Self::zero()
        };
        let carrier = if absolute { carrier.point() } else { carrier };
        (node, carrier)
    }
}

impl<T: RealField + Copy> Carrier<T> {
    /// What stands on the world: gravity in axes of this rotation is all.
    #[inline]
    fn world(gravity: &Vector3<T>, rotation: &Matrix3<T>) -> Self {
        let o = Vector3::zeros();
        Self {
            omega: o,
            alpha: o,
            matrix: Matrix3::zeros(),
            velocity: o,
            acceleration: -turn_back(rotation, gravity),
        }
    }

    /// An absolute joint follows its origin without turning.
    fn point(&self) -> Self {
        let o = Vector3::zeros();
        Self {
            omega: o,
            alpha: o,
            matrix: Matrix3::zeros(),
            ..*self
        }
    }
}

impl<T: RealField + Copy> Tree<T> {
    /// All nodes with their own mass, after [`place`](Self::place).
    pub fn carry(
        &self,
        gravity: &Vector3<T>,
        xi: &[T],
        xi_dot: &[T],
        places: &[Place<T>],
        scratch: &mut Scratch<T>,
    ) {
        for (i, node) in self.nodes.iter().enumerate() {
            let place = &places[i];
            let (mut own, carrier) = match node.parent.checked_sub(1) {
                Some(parent) => scratch.nodes[parent].carry(place, node.motion.is_absolute()),
                None => (Carried::zero(), Carrier::world(gravity, &place.rotation)),
            };
            let columns = &mut scratch.columns[node.xi..];
            node.move_along(
                &carrier,
                &xi[node.xi..],
                &xi_dot[node.xi..],
                &mut own,
                columns,
            );
            let twist = own.twist();
            let mass = in_axes(&node.moments, &own.rotation);
            scratch.composites[i] =
                Composite::of_body(mass, &twist, &own.acceleration, &own.matrix);
            scratch.nodes[i] = own;
        }
    }
}

impl<T: RealField + Copy> Node<T> {
    /// The motion of a node that is carried along and moves in its joint, and its directions.
    #[inline]
    fn move_along(
        &self,
        carrier: &Carrier<T>,
        xi: &[T],
        xi_dot: &[T],
        node: &mut Carried<T>,
        columns: &mut [Column<T>],
    ) {
        let R = &node.rotation;
        if let Motion::Revolute(_) = self.motion {
            let axis = R.column(2).into_owned();
            node.velocity = carrier.velocity;
            node.acceleration = carrier.acceleration;
            node.omega = carrier.omega + axis * xi[0];
            let turned = cross(&carrier.omega, &axis) * xi[0];
            node.alpha = carrier.alpha + axis * xi_dot[0] + turned;
            node.matrix = acceleration_matrix(&node.omega, &node.alpha);
            let twist = node.twist();
            columns[0] = Column::rotation(carrier, &twist, &axis, &node.position);
            return;
        }
        let in_root = |twist: Twist<T>| Twist {
            linear: turn(R, &twist.linear),
            angular: turn(R, &twist.angular),
        };
        let (rate, rate_dot) = (
            in_root(self.motion.twist(xi)),
            in_root(self.motion.twist(xi_dot)),
        );
        node.omega = carrier.omega + rate.angular;
        node.velocity = carrier.velocity + rate.linear;
        node.alpha = carrier.alpha + rate_dot.angular + cross(&carrier.omega, &rate.angular);
        node.acceleration = carrier.acceleration
            + rate_dot.linear
            + cross(&(carrier.omega + node.omega), &rate.linear);
        node.matrix = acceleration_matrix(&node.omega, &node.alpha);
        let twist = node.twist();
        let mut unit = [T::zero(); 6];
        for k in 0..self.motion.dof() {
            unit[k] = T::one();
            let direction = in_root(self.motion.twist(&unit));
            unit[k] = T::zero();
            columns[k] = Column::any(carrier, &twist, &direction, &node.position);
        }
    }
}

impl<T: RealField + Copy> Carried<T> {
    #[inline]
    pub fn twist(&self) -> Twist<T> {
        Twist {
            linear: self.velocity,
            angular: self.omega,
        }
    }
}
