//! The directions of joints, and the change of motion along them.

use nalgebra::RealField;

use crate::multibody::kinematics::{NodePose, NodeVelocity};
use crate::multibody::simd::{Vec3, fma};
use crate::multibody::spatial::SpatialVector;

/// The acceleration of a node's carrier, in the axes of its root.
#[derive(Clone, Copy, Debug)]
pub struct CarrierAcceleration<T> {
    /// At the node's origin, minus gravity.
    pub linear: Vec3<T>,
    /// Zero under an absolute joint.
    pub angular: Vec3<T>,
}

/// The change of the motion of all bodies that one velocity coordinate moves, along its direction `S`.
///
/// Twists are in the root's axes and about the node's origin. A mass point at `p` changes its acceleration, as seen in its body, by
/// `w(p) + 2 u × V(p)` with the twist `w`, the vector `u`, and its velocity `V`:
///
/// | along | `w` | `u` |
/// |---|---|---|
/// | the configuration | [`configuration`](Self::configuration) | [`turn`](Self::turn) |
/// | the velocity | [`velocity`](Self::velocity) | the angular part of `S` |
#[derive(Clone, Copy, Debug)]
pub struct Column<T> {
    pub turn: Vec3<T>,
    pub velocity: SpatialVector<T>,
    pub configuration: SpatialVector<T>,
    /// Twists about the root's origin, arranged for four products at once, see [`Probe`](super::probe::Probe): `w, w', S, S` with six
    /// entries, then `u, u', 0, 0` with three.
    pub lanes: [[T; 4]; 9],
}

impl<T: RealField + Copy> Column<T> {
    pub fn zero() -> Self {
        Self {
            turn: Vec3::zero(),
            velocity: SpatialVector::zero(),
            configuration: SpatialVector::zero(),
            lanes: [[T::zero(); 4]; 9],
        }
    }

    /// For a rotation about an axis through the node's origin.
    #[inline]
    pub fn of_rotation(
        e: Vec3<T>,
        pose: &NodePose<T>,
        node: &NodeVelocity<T>,
        acceleration: &CarrierAcceleration<T>,
    ) -> Self {
        let (carrier, own) = (&node.carrier, &node.twist);
        let turn = carrier.angular.cross(e);
        let velocity = SpatialVector::new(
            (carrier.linear + own.linear).cross(e),
            (carrier.angular + own.angular).cross(e),
        );
        let configuration = SpatialVector::new(
            acceleration.linear.cross(e) - (turn + turn).cross(carrier.linear),
            acceleration.angular.cross(e) + carrier.angular.cross(turn),
        );
        let direction = SpatialVector::new(Vec3::zero(), e);
        Self::of(&direction, turn, velocity, configuration, pose)
    }

    /// For any direction.
    #[inline]
    pub fn of_direction(
        direction: &SpatialVector<T>,
        pose: &NodePose<T>,
        node: &NodeVelocity<T>,
        acceleration: &CarrierAcceleration<T>,
    ) -> Self {
        let SpatialVector { linear: l, angular } = *direction;
        let rotation = Self::of_rotation(angular, pose, node, acceleration);
        let omega = node.carrier.angular;
        let (mut velocity, mut configuration) = (rotation.velocity, rotation.configuration);
        velocity.linear += (omega + node.twist.angular).cross(l);
        configuration.linear += acceleration.angular.cross(l) + omega.cross(omega.cross(l));
        Self::of(direction, rotation.turn, velocity, configuration, pose)
    }

    #[inline]
    fn of(
        direction: &SpatialVector<T>,
        turn: Vec3<T>,
        velocity: SpatialVector<T>,
        configuration: SpatialVector<T>,
        pose: &NodePose<T>,
    ) -> Self {
        let (w, v, s) = (
            configuration.twist_about(pose.position),
            velocity.twist_about(pose.position),
            direction.twist_about(pose.position),
        );
        let lane = |k: usize| {
            let (s, v, w) = (s.linear.get(k), v.linear.get(k), w.linear.get(k));
            [w, v, s, s]
        };
        let angular_lane = |k: usize| {
            let (s, v, w) = (s.angular.get(k), v.angular.get(k), w.angular.get(k));
            [w, v, s, s]
        };
        let turn_lane = |k: usize| [turn.get(k), s.angular.get(k), T::zero(), T::zero()];
        Self {
            turn,
            velocity,
            configuration,
            lanes: [
                lane(0),
                lane(1),
                lane(2),
                angular_lane(0),
                angular_lane(1),
                angular_lane(2),
                turn_lane(0),
                turn_lane(1),
                turn_lane(2),
            ],
        }
    }
}

/// The sum of the products, lane by lane.
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
