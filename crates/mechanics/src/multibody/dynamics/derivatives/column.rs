//! The directions in which joints move all that they carry, and what a motion along them changes.

use nalgebra::{Matrix3, RealField, Vector3};

use crate::multibody::dynamics::motion::Twist;
use crate::multibody::dynamics::spatial::{cross, fma, turn};

/// How a joint is carried along: the motion, in the root's axes, that a node would have if its joint stood still.
#[derive(Clone, Copy, Debug)]
pub struct Carrier<T: RealField + Copy> {
    pub omega: Vector3<T>,
    pub alpha: Vector3<T>,
    /// `wed(alpha) + wed(omega)²`.
    pub matrix: Matrix3<T>,
    /// Of the point that is now in the node's origin.
    pub velocity: Vector3<T>,
    /// Of that point, less gravity.
    pub acceleration: Vector3<T>,
}

/// One velocity coordinate's direction `S`, and how it changes the motion of all bodies that it moves.
///
/// Twists are in the root's axes and about the node's origin. A mass point at `p` changes its acceleration, as its body sees it, by
/// `w(p) + 2 u × V(p)` with the twist `w`, the vector `u`, and its velocity `V`:
///
/// | along | `w` | `u` |
/// |---|---|---|
/// | the configuration | [`configuration`](Self::configuration) | [`turn`](Self::turn) |
/// | the velocity | [`velocity`](Self::velocity) | the angular part of `S` |
#[derive(Clone, Copy, Debug)]
pub struct Column<T: RealField + Copy> {
    pub direction: Twist<T>,
    pub turn: Vector3<T>,
    pub configuration: Twist<T>,
    pub velocity: Twist<T>,
    /// All of them about the root's origin, side by side for four products at once, see [`Probe`](super::probe::Probe):
    /// `w, w', S, S` with six numbers, then `u, u', 0, 0` with three.
    pub lanes: [[T; 4]; 9],
}

impl<T: RealField + Copy> Column<T> {
    pub fn zero() -> Self {
        Self {
            direction: Twist::zero(),
            turn: Vector3::zeros(),
            configuration: Twist::zero(),
            velocity: Twist::zero(),
            lanes: [[T::zero(); 4]; 9],
        }
    }

    /// A rotation about a unit vector through the node's origin, `position`; `node` is the node's own motion.
    #[inline]
    pub fn rotation(
        carrier: &Carrier<T>,
        node: &Twist<T>,
        axis: &Vector3<T>,
        position: &Vector3<T>,
    ) -> Self {
        let direction = Twist {
            linear: Vector3::zeros(),
            angular: *axis,
        };
        let turn_ = cross(&carrier.omega, axis);
        let coriolis = cross(&(turn_ + turn_), &carrier.velocity);
        let configuration = Twist {
            linear: cross(&carrier.acceleration, axis) - coriolis,
            angular: turn(&carrier.matrix, axis),
        };
        let velocity = Twist {
            linear: cross(&(carrier.velocity + node.linear), axis),
            angular: cross(&(carrier.omega + node.angular), axis),
        };
        Self::new(direction, turn_, configuration, velocity, position)
    }

    /// Any direction.
    #[inline]
    pub fn any(
        carrier: &Carrier<T>,
        node: &Twist<T>,
        direction: &Twist<T>,
        position: &Vector3<T>,
    ) -> Self {
        let mut column = Self::rotation(carrier, node, &direction.angular, position);
        let l = &direction.linear;
        column.direction.linear = *l;
        column.configuration.linear += turn(&carrier.matrix, l);
        column.velocity.linear += cross(&(carrier.omega + node.angular), l);
        let Self {
            turn,
            configuration,
            velocity,
            ..
        } = column;
        Self::new(*direction, turn, configuration, velocity, position)
    }

    #[inline]
    fn new(
        direction: Twist<T>,
        turn: Vector3<T>,
        configuration: Twist<T>,
        velocity: Twist<T>,
        position: &Vector3<T>,
    ) -> Self {
        let o = T::zero();
        let at_root = |twist: &Twist<T>| twist.linear + cross(position, &twist.angular);
        let (w, v, s) = (
            at_root(&configuration),
            at_root(&velocity),
            at_root(&direction),
        );
        let (w_, v_, s_) = (
            &configuration.angular,
            &velocity.angular,
            &direction.angular,
        );
        Self {
            lanes: [
                [w.x, v.x, s.x, s.x],
                [w.y, v.y, s.y, s.y],
                [w.z, v.z, s.z, s.z],
                [w_.x, v_.x, s_.x, s_.x],
                [w_.y, v_.y, s_.y, s_.y],
                [w_.z, v_.z, s_.z, s_.z],
                [turn.x, s_.x, o, o],
                [turn.y, s_.y, o, o],
                [turn.z, s_.z, o, o],
            ],
            direction,
            turn,
            configuration,
            velocity,
        }
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
