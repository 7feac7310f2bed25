//! The reference of a descent: level attitude, constant sink rate.
#![allow(non_snake_case)]

use fly_control::ReferencePoint;
use fly_lie::{SE3, SO3};
use fly_mechanics::State;
use nalgebra::{Vector3, Vector6};

/// The heading is undefined below this value: the body is upside down to within a nanoradian.
const SINGULAR: f64 = 1e-9;

/// A descent from its starting position: level attitude at the initial heading, constant sink rate.
///
/// The acceleration is zero, so every vehicle that can hover level can follow it.
#[derive(Debug, Clone, Copy)]
pub struct Descent {
    start: Vector3<f64>,
    level: SO3<f64>,
    rate: f64,
}

impl Descent {
    /// A descent from `state` at `rate` m/s.
    pub fn new(state: &State<f64>, rate: f64) -> Self {
        Self {
            start: state.pose.translation,
            level: level(&state.pose.rotation),
            rate,
        }
    }

    /// The reference `time` s after the descent began.
    pub fn at(&self, time: f64) -> ReferencePoint {
        let down = Vector3::new(0.0, 0.0, -self.rate);
        let mut twist = Vector6::zeros();
        // A level body's z axis is the world's.
        twist.fixed_rows_mut::<3>(0).copy_from(&down);
        ReferencePoint {
            pose: SE3::new(self.level, self.start + down * time),
            twist,
            acceleration: Vector6::zeros(),
        }
    }
}

/// The nearest level attitude: the rotation about the vertical in the swing-twist decomposition.
fn level(rotation: &SO3<f64>) -> SO3<f64> {
    let R = rotation.matrix();
    let (sin, cos) = (R[(1, 0)] - R[(0, 1)], R[(0, 0)] + R[(1, 1)]);
    // After a rotation by exactly 180 degrees about a horizontal axis all headings are equally near: use that of the
    // body's x axis.
    let yaw = if sin.hypot(cos) > SINGULAR {
        sin.atan2(cos)
    } else {
        R[(1, 0)].atan2(R[(0, 0)])
    };
    SO3::exp(&Vector3::new(0.0, 0.0, yaw))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(x: f64, y: f64, z: f64) -> SO3<f64> {
        SO3::exp(&Vector3::new(x, y, z))
    }

    #[test]
    fn the_heading_is_kept_whatever_the_tilt() {
        for yaw in [-3.0, -1.0, 0.0, 0.5, 2.0] {
            for tilt in [0.0, 0.4, 1.5, 3.1] {
                for direction in [0.0_f64, 1.0, 2.5] {
                    let tilted = turned(0.0, 0.0, yaw)
                        * turned(tilt * direction.cos(), tilt * direction.sin(), 0.0);
                    let error = level(&tilted).inverse() * turned(0.0, 0.0, yaw);
                    assert!(
                        error.log().norm() < 1e-9,
                        "yaw {yaw}, tilt {tilt} towards {direction}"
                    );
                }
            }
        }
    }

    #[test]
    fn no_level_attitude_is_nearer() {
        let rotation = turned(0.7, -1.1, 0.4);
        let distance = |level: SO3<f64>| (level.inverse() * rotation).log().norm();
        let best = distance(level(&rotation));
        for step in 0..360 {
            assert!(best <= distance(turned(0.0, 0.0, f64::from(step).to_radians())) + 1e-12);
        }
    }

    #[test]
    fn exactly_upside_down_still_has_a_level_attitude() {
        for rotation in [
            turned(std::f64::consts::PI, 0.0, 0.0),
            turned(0.0, std::f64::consts::PI, 0.0),
        ] {
            let up = level(&rotation).act(&Vector3::z());
            assert!((up - Vector3::z()).norm() < 1e-12);
        }
    }

    #[test]
    fn it_sinks_from_where_it_began() {
        let pose = SE3::new(turned(0.3, 0.1, 1.0), Vector3::new(1.0, 2.0, 30.0));
        let descent = Descent::new(&State::at_rest(pose), 0.5);
        let point = descent.at(4.0);
        assert!((point.pose.translation - Vector3::new(1.0, 2.0, 28.0)).norm() < 1e-12);
        // The twist is the motion of the pose.
        let (before, after) = (descent.at(3.9).pose, descent.at(4.1).pose);
        let velocity = point
            .pose
            .rotation
            .inverse()
            .act(&((after.translation - before.translation) / 0.2));
        assert!((point.twist.fixed_rows::<3>(0) - velocity).norm() < 1e-9);
        assert_eq!(point.acceleration, Vector6::zeros());
    }
}
