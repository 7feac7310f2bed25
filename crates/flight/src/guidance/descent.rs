//! The reference of a failsafe: level attitude where a moving vehicle can stop, constant sink rate.
#![allow(non_snake_case)]

use fly_control::ReferencePoint;
use fly_control::governor::Governor;
use fly_lie::{SE3, SO3};
use fly_mechanics::State;
use nalgebra::{Vector3, Vector6};

/// The heading is undefined below this value: the body is upside down to within a nanoradian.
const SINGULAR: f64 = 1e-9;

/// A descent from where a vehicle can stop: level attitude at the initial heading, constant sink rate.
///
/// The acceleration is zero, so every vehicle that can hover level can follow it. A governor leads one that moves to it.
#[derive(Debug, Clone, Copy)]
pub struct Descent {
    start: Vector3<f64>,
    level: SO3<f64>,
    rate: f64,
    /// Whether the governor still leads the vehicle to it.
    is_led: bool,
}

impl Descent {
    /// A descent from `state` at `rate` m/s.
    pub fn new(state: &State<f64>, rate: f64) -> Self {
        Self {
            start: state.pose.translation,
            level: level(&state.pose.rotation),
            rate,
            is_led: false,
        }
    }

    /// The same elsewhere: `by` m away, in the world.
    #[must_use]
    pub fn displaced(mut self, by: &Vector3<f64>) -> Self {
        self.start += by;
        self
    }

    /// A descent over the place where the vehicle can stop, to which this governor leads it. The measured velocity counts only as far as it is near that of
    /// the last `reference`, before the governor: a wrong measurement may have exceeded the limit, and the governor follows measurements.
    pub fn where_it_stops(
        state: &State<f64>,
        rate: f64,
        reference: &ReferencePoint,
        governor: &Governor,
    ) -> Self {
        let (limits, reach) = (governor.limits(), governor.reach());
        let across = |rotation: &SO3<f64>, twist: &Vector6<f64>| {
            let linear = twist.fixed_rows::<3>(0).into_owned();
            rotation.act(&linear).xy()
        };
        let measured = across(&state.pose.rotation, &state.twist);
        let desired = across(&reference.pose.rotation, &reference.twist);
        let apart = measured - desired;
        let believed = desired + apart * (reach.position / reach.time / apart.norm()).min(1.0);
        let velocity = if measured.norm() < believed.norm() {
            measured
        } else {
            believed
        };
        // At constant deceleration, which the jerk builds up and takes away again.
        let time = velocity.norm() / limits.acceleration + limits.acceleration / limits.jerk;
        let way = velocity * (0.5 * time);
        let mut descent = Self::new(state, rate);
        descent.is_led = true;
        if way.iter().all(|x| x.is_finite()) {
            descent.start += Vector3::new(way.x, way.y, 0.0);
        }
        descent
    }

    /// Whether the governor leads the vehicle to it.
    pub fn is_led(&self) -> bool {
        self.is_led
    }

    /// The vehicle has arrived: from now on the law follows the descent directly, so that contact with the ground shows in its input.
    pub fn arrive(&mut self) {
        self.is_led = false;
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
    use fly_control::governor::{GovernorLimits, Reach};
    use fly_control::trajectory::AttitudeMode;

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

    /// Of a vehicle at 8 m/s and its reference.
    fn moving() -> (Governor, State<f64>, ReferencePoint) {
        let vehicle = include_str!("../../../../configs/vehicles/quadcopter.toml");
        let vehicle = fly_mechanics::Vehicle::from_toml(vehicle).expect("a vehicle");
        let limits = GovernorLimits {
            speed: 10.0,
            climb: 3.0,
            descent: 2.0,
            acceleration: 4.0,
            lift: 3.0,
            sink: 3.0,
            jerk: 20.0,
            tilt: 0.5,
            yaw_rate: 1.0,
            yaw_acceleration: 1.0,
        };
        let reach = Reach {
            position: 1.0,
            heading: 0.5,
            time: 0.5,
        };
        let mode = AttitudeMode::ThrustAligned;
        let governor = Governor::new(&vehicle.body, mode, limits, reach);
        let pose = SE3::new(turned(0.0, 0.0, 1.0), Vector3::new(1.0, 2.0, 30.0));
        let mut state = State::at_rest(pose);
        state.twist[0] = 8.0;
        state.twist[2] = -3.0;
        let reference = ReferencePoint {
            twist: state.twist,
            ..ReferencePoint::at_rest(pose)
        };
        (governor, state, reference)
    }

    #[test]
    fn a_moving_vehicle_is_given_the_way_to_stop() {
        let (governor, state, reference) = moving();
        // From 8 m/s at 4 m/s^2, which 20 m/s^3 build up in 0.2 s: simulated.
        let (mut way, mut speed, mut braking, step) = (0.0, 8.0_f64, 0.0_f64, 1e-5);
        while speed > 0.0 {
            let must_ease = speed <= 0.5 * braking * braking / 20.0;
            let rate = if must_ease { -20.0 } else { 20.0 };
            braking = (braking + rate * step).min(4.0);
            way += speed * step;
            speed -= braking.max(1e-3) * step;
        }
        let stops = Descent::where_it_stops(&state, 0.5, &reference, &governor);
        let ahead = Vector3::new(way * 1.0_f64.cos(), way * 1.0_f64.sin(), 0.0);
        let place = stops.at(0.0).pose.translation;
        assert!(
            (place - state.pose.translation - ahead).norm() < 1e-3,
            "{way} {place}"
        );
        let still = State::at_rest(state.pose);
        let at = Descent::where_it_stops(&still, 0.5, &reference, &governor).at(0.0);
        assert_eq!(at, Descent::new(&still, 0.5).at(0.0));
    }

    #[test]
    fn a_velocity_that_nobody_asked_for_is_hardly_believed() {
        let (governor, mut state, _) = moving();
        state.twist[0] = 60.0;
        let reference = ReferencePoint::at_rest(state.pose);
        let stops = Descent::where_it_stops(&state, 0.5, &reference, &governor);
        let way = stops.at(0.0).pose.translation - state.pose.translation;
        // As from the 2 m/s that the law corrects by itself.
        assert!(
            (way.norm() - 0.5 * 2.0 * (2.0 / 4.0 + 4.0 / 20.0)).abs() < 1e-12,
            "{way}"
        );
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
