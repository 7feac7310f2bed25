//! The directions in which joints move all that they carry, and what a motion along them changes.

use nalgebra::{Matrix3, RealField, Vector3};

use super::carried::Carried;
use crate::multibody::dynamics::motion::Twist;
use crate::multibody::dynamics::spatial::{Wrench, cross, fma, turn};

/// One velocity coordinate's direction `S`, and how it changes the motion of all bodies that it moves.
///
/// Twists and wrenches are in the root's axes and about the node's origin. A mass point at `p` changes its acceleration, as its body sees
/// it, by `w(p) + 2 u × V(p)` with the twist `w`, the vector `u`, and its velocity `V`:
///
/// | along | `w` | `u` |
/// |---|---|---|
/// | the configuration | [`configuration`](Self::configuration) | [`turn`](Self::turn) |
/// | the velocity | [`velocity`](Self::velocity) | the angular part of `S` |
#[derive(Clone, Copy, Debug)]
pub struct Column<T: RealField + Copy> {
    pub direction: Twist<T>,
    /// About the root's origin.
    pub at_root: Twist<T>,
    pub turn: Vector3<T>,
    pub velocity: Twist<T>,
    pub configuration: Twist<T>,
    /// `I S` with the inertia of all that is moved.
    pub inertia: Wrench<T>,
    /// Twists about the root's origin, side by side for four products at once, see [`Probe`](super::probe::Probe): `w, w', S, S` with six
    /// numbers, then `u, u', 0, 0` with three.
    pub lanes: [[T; 4]; 9],
}

impl<T: RealField + Copy> Column<T> {
    pub fn zero() -> Self {
        Self {
            direction: Twist::zero(),
            at_root: Twist::zero(),
            turn: Vector3::zeros(),
            velocity: Twist::zero(),
            configuration: Twist::zero(),
            inertia: Wrench::zero(),
            lanes: [[T::zero(); 4]; 9],
        }
    }

    /// A rotation about a unit vector through the node's origin: what its velocity says.
    #[inline]
    pub fn set_rotation(&mut self, axis: &Vector3<T>, node: &Carried<T>) {
        let (carrier, own) = (&node.carrier, &node.twist);
        self.direction = Twist {
            linear: Vector3::zeros(),
            angular: *axis,
        };
        self.at_root = Twist {
            linear: cross(&node.position, axis),
            angular: *axis,
        };
        self.turn = cross(&carrier.angular, axis);
        self.velocity = Twist {
            linear: cross(&(carrier.linear + own.linear), axis),
            angular: cross(&(carrier.angular + own.angular), axis),
        };
    }

    /// Any direction.
    #[inline]
    pub fn set_direction(&mut self, S: &Twist<T>, node: &Carried<T>) {
        self.set_rotation(&S.angular, node);
        let l = &S.linear;
        self.direction.linear = *l;
        self.at_root.linear += l;
        self.velocity.linear += cross(&(node.carrier.angular + node.twist.angular), l);
    }

    /// What the acceleration of its carrier says, which has the matrix `wed(alpha) + wed(omega)²`.
    #[inline]
    pub fn accelerate(&mut self, matrix: &Matrix3<T>, node: &Carried<T>) {
        let (l, e) = (&self.direction.linear, &self.direction.angular);
        let coriolis = cross(&(self.turn + self.turn), &node.carrier.linear);
        self.configuration = Twist {
            linear: turn(matrix, l) + cross(&node.support, e) - coriolis,
            angular: turn(matrix, e),
        };
        self.set_lanes(&node.position);
    }

    /// As [`accelerate`](Self::accelerate) for a rotation.
    #[inline]
    pub fn accelerate_rotation(&mut self, matrix: &Matrix3<T>, node: &Carried<T>) {
        let e = &self.direction.angular;
        let coriolis = cross(&(self.turn + self.turn), &node.carrier.linear);
        self.configuration = Twist {
            linear: cross(&node.support, e) - coriolis,
            angular: turn(matrix, e),
        };
        self.set_lanes(&node.position);
    }

    #[inline]
    fn set_lanes(&mut self, position: &Vector3<T>) {
        let o = T::zero();
        let at_root = |twist: &Twist<T>| twist.linear + cross(position, &twist.angular);
        let (w, v, s) = (
            at_root(&self.configuration),
            at_root(&self.velocity),
            &self.at_root.linear,
        );
        let (w_, v_, s_) = (
            &self.configuration.angular,
            &self.velocity.angular,
            &self.direction.angular,
        );
        self.lanes = [
            [w.x, v.x, s.x, s.x],
            [w.y, v.y, s.y, s.y],
            [w.z, v.z, s.z, s.z],
            [w_.x, v_.x, s_.x, s_.x],
            [w_.y, v_.y, s_.y, s_.y],
            [w_.z, v_.z, s_.z, s_.z],
            [self.turn.x, s_.x, o, o],
            [self.turn.y, s_.y, o, o],
            [self.turn.z, s_.z, o, o],
        ];
    }
}

/// The products lane by lane, summed.
#[inline]
pub fn lane_products<T: RealField + Copy>(a: &[[T; 4]; 9], b: &[[T; 4]; 9]) -> [T; 4] {
    let mut sums = [T::zero(); 4];
    for (a, b) in a.iter().zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum = fma(*a, *b, *sum);
        }
    }
    sums
}
