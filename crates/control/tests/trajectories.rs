//! References against their own derivatives, limits and ends.

mod common;

use common::{QUADCOPTER, TRICOPTER, vehicle};
use fly_control::settings::ReferenceSettings;
use fly_control::trajectory::{Path, Posture, Recorded, Setpoint, Waypoint, Waypoints};
use fly_control::{Reference, ReferencePoint, Trajectory};
use fly_lie::{SE3, SO3};
use nalgebra::{Vector3, Vector6};

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// Kinds of both postures with the vehicle that can follow them.
const REFERENCES: [(&str, &str); 8] = [
    (
        QUADCOPTER,
        "kind = 'hover'\nposition = [1, 2, 3]\nyaw_deg = 30",
    ),
    (TRICOPTER, "kind = 'hover'\nattitude_deg = [10, 30, -20]"),
    (
        QUADCOPTER,
        "kind = 'lissajous'\namplitude = [1.5, 1, 0.4]\nangular_frequency = [1.1, 1.6, 0.8]\nphase = [0, 0.5, 1]\nyaw_rate = 0.5",
    ),
    (
        TRICOPTER,
        "kind = 'lissajous'\namplitude = [1.5, 1, 0.4]\nangular_frequency = [1.1, 1.6, 0.8]\noffset = [0, 0, 1]\nyaw_rate = 0.5",
    ),
    (
        QUADCOPTER,
        "kind = 'loop'\nradius = 0.5\nduration = 1.6\nstart = 0.5\nposition = [1, 0, 2]\nheading_deg = 40",
    ),
    (
        QUADCOPTER,
        "kind = 'waypoints'\nmax_speed = 2\npoints = [{ position = [0, 0, 1], hold = 0.5 }, { position = [2, 1, 3], yaw_deg = 90 }]",
    ),
    (
        TRICOPTER,
        "kind = 'waypoints'\nposture = 'thrust'\npoints = [{ position = [0, 0, 1] }, { position = [2, 1, 3] }, { position = [0, 0, 0] }]",
    ),
    (
        TRICOPTER,
        "kind = 'independent'\namplitude = [1, 0.7, 0.3]\nangular_frequency = [0.8, 0.8, 0.5]\nattitude_amplitude_deg = [14, 14, 5]\n\
         attitude_angular_frequency = [1.5, 1.65, 1]\nattitude_phase = [0, 1.57, 0]\nyaw_rate = 0.4",
    ),
];

fn settings(text: &str) -> ReferenceSettings {
    toml::from_str(text).expect("valid settings")
}

fn planned(description: &str, text: &str) -> Box<dyn Trajectory> {
    match settings(text).build(&vehicle(description)) {
        Ok(Reference::Planned(trajectory)) => trajectory,
        Ok(Reference::Recorded(_)) => panic!("not planned"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn twist_and_acceleration_are_the_derivatives_of_the_pose() {
    for (description, text) in REFERENCES {
        let mut trajectory = planned(description, text);
        let mut moves = 0.0_f64;
        for i in 0..60 {
            // Off the instants where a way starts or ends: there the fifth derivative jumps.
            let (t, h) = (0.0137 + 0.09 * f64::from(i), 1e-4);
            let point = trajectory.at(t);
            let mut at = |t: f64| trajectory.at(t);
            let (before, after) = (at(t - h), at(t + h));
            let twist = (before.pose.inverse() * after.pose).log() / (2.0 * h);
            let acceleration = (after.twist - before.twist) / (2.0 * h);
            let scale = 1.0 + point.twist.amax().powi(3) + point.acceleration.amax();
            // Error of the difference: h^2/6 times the third derivative.
            assert!(
                (twist - point.twist).amax() < 1e-5 * scale,
                "{text} at {t}: {twist} {}",
                point.twist
            );
            assert!(
                (acceleration - point.acceleration).amax() < 1e-4 * scale,
                "{text} at {t}"
            );
            let attitude = point.pose.rotation.matrix();
            assert!(
                (attitude.transpose() * attitude - nalgebra::Matrix3::identity()).amax() < 1e-13
            );
            moves = moves.max(point.twist.amax());
        }
        assert!(moves > 0.1 || text.contains("hover"), "{text}");
    }
}

#[test]
fn ends_are_where_they_should_be() {
    let mut turn = planned(QUADCOPTER, REFERENCES[4].1);
    assert_eq!(turn.duration(), Some(2.1));
    let (start, end) = (turn.at(0.0), turn.at(2.1));
    assert!((start.pose.translation - end.pose.translation).amax() < 1e-12);
    assert!(end.twist.amax() < 1e-9 && end.acceleration.amax() < 1e-9);
    let top = turn.at(1.3);
    assert!((top.pose.translation - Vector3::new(1.0, 0.0, 3.0)).amax() < 1e-12);

    let mut way = planned(QUADCOPTER, REFERENCES[5].1);
    let end = way.duration().expect("waypoints end");
    let last = way.at(end);
    assert!((last.pose.translation - Vector3::new(2.0, 1.0, 3.0)).amax() < 1e-12);
    // Yaw 90 degrees: body x points along the world's y.
    assert!((last.pose.rotation.act(&Vector3::x()) - Vector3::y()).amax() < 1e-12);
    assert_eq!(
        way.at(0.3),
        ReferencePoint::at_rest(SE3::new(SO3::identity(), Vector3::z()))
    );
    assert_eq!(way.at(end + 100.0).twist, Vector6::zeros());
    assert_eq!(planned(QUADCOPTER, REFERENCES[2].1).duration(), None);
}

#[test]
fn waypoints_reach_their_limits_and_do_not_exceed_them() {
    let point = |x: f64, yaw: f64| Waypoint {
        position: Vector3::new(x, 0.0, 0.0),
        yaw,
        hold: 0.0,
    };
    // A long way is limited by speed, a short one by acceleration, a turn on the spot by the yaw rate.
    let points = vec![
        point(0.0, 0.0),
        point(20.0, 0.0),
        point(20.1, 0.0),
        point(20.1, 3.0),
    ];
    let ways = Waypoints::new(points, 2.0, 1.5, 0.8);
    let mut peaks = [[0.0_f64; 2]; 3];
    for (i, peak) in peaks.iter_mut().enumerate() {
        let (start, duration) = ways.way(i).expect("three ways");
        for k in 0..=2000 {
            let x = ways.at(start + duration * f64::from(k) / 2000.0).position[0];
            peak[0] = peak[0].max(x.derivative(1).abs());
            peak[1] = peak[1].max(x.derivative(2).abs());
        }
    }
    assert!((peaks[0][0] - 2.0).abs() < 1e-5 && peaks[0][1] < 1.5);
    assert!((peaks[1][1] - 1.5).abs() < 1e-4 && peaks[1][0] < 2.0);
    let (_, turn) = ways.way(2).expect("the turn");
    assert!((turn - 3.0 * 630.0 / 256.0 / 0.8).abs() < 1e-12);
}

#[test]
fn recorded_setpoints_fill_in_what_is_missing() {
    let mut reference = Recorded::new(Posture::Thrust, GRAVITY, SE3::identity());
    // Position only: upright, at rest there.
    let setpoint = Setpoint {
        position: Some(Vector3::new(1.0, 2.0, 3.0)),
        ..Setpoint::default()
    };
    reference.update(&setpoint);
    assert_eq!(
        reference.at(0.0),
        ReferencePoint::at_rest(SE3::new(SO3::identity(), Vector3::new(1.0, 2.0, 3.0)))
    );
    // An acceleration of g forwards leans the thrust by 45 degrees; what is not finite counts as missing.
    let setpoint = Setpoint {
        position: Some(Vector3::new(f64::NAN, 0.0, 0.0)),
        velocity: Some(Vector3::new(0.0, 0.0, 2.0)),
        acceleration: Some(Vector3::new(9.81, 0.0, 0.0)),
        ..Setpoint::default()
    };
    reference.update(&setpoint);
    let point = reference.at(0.0);
    assert_eq!(point.pose.translation, Vector3::new(1.0, 2.0, 3.0));
    let up = point.pose.rotation.act(&Vector3::z());
    let half = 0.5_f64.sqrt();
    assert!((up - Vector3::new(half, 0.0, half)).amax() < 1e-12, "{up}");
    assert!(
        (point
            .pose
            .rotation
            .act(&point.twist.fixed_rows::<3>(0).into_owned())
            - Vector3::new(0.0, 0.0, 2.0))
        .amax()
            < 1e-12
    );
    // A given attitude and angular velocity are taken as they are; v' = R^T r'' - omega x v.
    let attitude = SO3::exp(&Vector3::new(0.1, -0.2, 0.3));
    let w = Vector3::new(0.3, 0.2, -0.1);
    let setpoint = Setpoint {
        attitude: Some(attitude),
        angular_velocity: Some(w),
        ..setpoint
    };
    reference.update(&setpoint);
    let point = reference.at(0.0);
    assert_eq!(point.pose.rotation, attitude);
    let v = attitude.inverse().act(&Vector3::new(0.0, 0.0, 2.0));
    let v_dot = attitude.inverse().act(&Vector3::new(9.81, 0.0, 0.0)) - w.cross(&v);
    assert!((point.acceleration.fixed_rows::<3>(0) - v_dot).amax() < 1e-12);
    assert_eq!(point.twist.fixed_rows::<3>(3).into_owned(), w);
}

#[test]
fn what_a_vehicle_cannot_follow_is_refused() {
    let cases = [
        (
            QUADCOPTER,
            REFERENCES[7].1,
            "kind: expected a kind that this vehicle can follow, found independent, which needs six independent inputs",
        ),
        (
            QUADCOPTER,
            REFERENCES[1].1,
            "attitude_deg: expected roll and pitch 0 for a vehicle without side thrust, found 10, 30",
        ),
        (
            QUADCOPTER,
            "kind = 'waypoints'\nposture = 'level'\npoints = [{ position = [0, 0, 1] }]",
            "posture: expected thrust, found level, which needs six independent inputs",
        ),
        (
            TRICOPTER,
            "kind = 'waypoints'\npoints = []",
            "points: expected at least one point, found none",
        ),
        (
            TRICOPTER,
            "kind = 'loop'\nradius = -1\nduration = 1",
            "radius: expected a positive number, found -1",
        ),
        (
            TRICOPTER,
            "kind = 'hover'\nyaw_deg = 1\nattitude_deg = [0, 0, 0]",
            "yaw_deg: expected yaw_deg or attitude_deg, found both",
        ),
        (
            TRICOPTER,
            "kind = 'hover'\nposition = [nan, 0, 0]",
            "position: expected finite numbers, found NaN",
        ),
    ];
    for (description, text, expected) in cases {
        let Err(error) = settings(text).build(&vehicle(description)) else {
            panic!("{text}")
        };
        assert_eq!(error.to_string(), expected);
    }
    // Straight up and down faster than gravity: the thrust vanishes on the way.
    let text = "kind = 'lissajous'\namplitude = [0, 0, 1]\nangular_frequency = [0, 0, 3.2]";
    let Err(error) = settings(text).build(&vehicle(QUADCOPTER)) else {
        panic!("free fall")
    };
    assert!(error.to_string().starts_with("amplitude: at "), "{error}");
    assert!(
        error.to_string().contains("expected more than 0.5"),
        "{error}"
    );
}
