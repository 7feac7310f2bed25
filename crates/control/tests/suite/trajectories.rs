//! References: consistency of their derivatives, limits and end states.

use crate::common;

use common::{QUADCOPTER, TRICOPTER, vehicle};
use fly_control::inputs::ReferenceInputs;
use fly_control::settings::ReferenceSettings;
use fly_control::trajectory::flat::{MotionLimits, NotFlyable};
use fly_control::trajectory::jet::Jet;
use fly_control::trajectory::{
    AttitudeMode, Infeasible, MinimumSnap, Path, PathPoint, PathTrajectory, Recorded, Setpoint,
    Waypoint, Waypoints,
};
use fly_control::{Reference, ReferencePoint, Trajectory};
use fly_lie::{SE3, SO3};
use nalgebra::{Vector3, Vector6};

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// Kinds of both postures with the vehicle that can follow them.
const REFERENCES: [(&str, &str); 19] = [
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
    (
        QUADCOPTER,
        "kind = 'circle'\nradius = 1.5\nperiod = 4\ncenter = [1, 0, 2]",
    ),
    (
        QUADCOPTER,
        "kind = 'circle'\nradius = 0.8\nperiod = 3\nturns = 1.25\nramp = 1\nclockwise = true\nstart_angle_deg = 50",
    ),
    (
        TRICOPTER,
        "kind = 'helix'\nradius = 1\nperiod = 2.5\nclimb = 0.5\nturns = 1.5\nyaw_deg = 20",
    ),
    (
        QUADCOPTER,
        "kind = 'takeoff'\nheight = 2\nposition = [1, 2, 0.1]\nyaw_deg = 40\nstart = 0.5",
    ),
    (TRICOPTER, "kind = 'landing'\nposition = [1, 2, 1]"),
    (
        QUADCOPTER,
        "kind = 'flip'\nduration = 1.2\nheading_deg = 30\nstart = 0.4",
    ),
    (
        QUADCOPTER,
        "kind = 'flip'\nduration = 1.2\naxis = 'roll'\nheading_deg = 30\nstart = 0.4",
    ),
    (
        QUADCOPTER,
        "kind = 'barrel_roll'\nradius = 0.5\ndistance = 3\nduration = 1.8\nheading_deg = -60\nstart = 0.4",
    ),
    (
        TRICOPTER,
        "kind = 'barrel_roll'\nradius = 0.4\ndistance = 0\nduration = 1.6\nposition = [0, 0, 1]",
    ),
    (
        QUADCOPTER,
        "kind = 'minimum_snap'\npoints = [{ position = [0, 0, 1] }, { position = [2, 1, 2], yaw_deg = 60 }, { position = [3, -1, 1] }]",
    ),
    (
        TRICOPTER,
        "kind = 'minimum_snap'\nposture = 'thrust'\npoints = [{ position = [0, 0, 1] }, { position = [2, 1, 2] }]",
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
            let point = trajectory.sample(t).unwrap();
            let mut at = |t: f64| trajectory.sample(t).unwrap();
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
    let (start, end) = (turn.sample(0.0).unwrap(), turn.sample(2.1).unwrap());
    assert!((start.pose.translation - end.pose.translation).amax() < 1e-12);
    assert!(end.twist.amax() < 1e-9 && end.acceleration.amax() < 1e-9);
    let top = turn.sample(1.3).unwrap();
    assert!((top.pose.translation - Vector3::new(1.0, 0.0, 3.0)).amax() < 1e-12);

    let mut way = planned(QUADCOPTER, REFERENCES[5].1);
    let end = way.duration().expect("waypoints end");
    let last = way.sample(end).unwrap();
    assert!((last.pose.translation - Vector3::new(2.0, 1.0, 3.0)).amax() < 1e-12);
    // Yaw 90 degrees: body x points along the world's y.
    assert!((last.pose.rotation.act(&Vector3::x()) - Vector3::y()).amax() < 1e-12);
    assert_eq!(
        way.sample(0.3).unwrap(),
        ReferencePoint::at_rest(SE3::new(SO3::identity(), Vector3::z()))
    );
    assert_eq!(way.sample(end + 100.0).unwrap().twist, Vector6::zeros());
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
    let ways = Waypoints::new(&points, 2.0, 1.5, 0.8);
    let mut peaks = [[0.0_f64; 2]; 3];
    for (i, peak) in peaks.iter_mut().enumerate() {
        let (start, duration) = ways.leg(i).expect("three ways");
        for k in 0..=2000 {
            let x = ways.at(start + duration * f64::from(k) / 2000.0).position[0];
            peak[0] = peak[0].max(x.derivative(1).abs());
            peak[1] = peak[1].max(x.derivative(2).abs());
        }
    }
    assert!((peaks[0][0] - 2.0).abs() < 1e-5 && peaks[0][1] < 1.5);
    assert!((peaks[1][1] - 1.5).abs() < 1e-4 && peaks[1][0] < 2.0);
    let (_, turn) = ways.leg(2).expect("the turn");
    assert!((turn - 3.0 * 630.0 / 256.0 / 0.8).abs() < 1e-12);
}

#[test]
fn recorded_setpoints_fill_in_what_is_missing() {
    let mut reference = Recorded::new(AttitudeMode::ThrustAligned, GRAVITY, SE3::identity());
    // Position only: upright, at rest there.
    let setpoint = Setpoint {
        position: Some(Vector3::new(1.0, 2.0, 3.0)),
        ..Setpoint::default()
    };
    reference.update(0.0, &setpoint).unwrap();
    assert_eq!(
        reference.sample(0.0).unwrap(),
        ReferencePoint::at_rest(SE3::new(SO3::identity(), Vector3::new(1.0, 2.0, 3.0)))
    );
    // An acceleration of g forwards leans the thrust by 45 degrees; what is not finite counts as missing.
    let setpoint = Setpoint {
        position: Some(Vector3::new(f64::NAN, 0.0, 0.0)),
        velocity: Some(Vector3::new(0.0, 0.0, 2.0)),
        acceleration: Some(Vector3::new(9.81, 0.0, 0.0)),
        ..Setpoint::default()
    };
    reference.update(0.0, &setpoint).unwrap();
    let point = reference.sample(0.0).unwrap();
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
    reference.update(0.0, &setpoint).unwrap();
    let point = reference.sample(0.0).unwrap();
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
    // Vertical, accelerating down faster than gravity: the thrust vanishes on the way.
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

/// Falls freely from 1 s on.
#[derive(Clone, Copy)]
struct Fall;

impl Path for Fall {
    fn at(&self, t: f64) -> PathPoint {
        let z = if t < 1.0 {
            Jet::constant(3.0)
        } else {
            Jet::from_derivatives([3.0, 0.0, -9.81, 0.0, 0.0])
        };
        PathPoint {
            position: [Jet::constant(0.0), Jet::constant(0.0), z],
            side: [0.0, 1.0, 0.0].map(Jet::constant),
        }
    }

    fn duration(&self) -> Option<f64> {
        None
    }

    // It hides the fall from the check in advance.
    fn horizon(&self) -> f64 {
        0.5
    }
}

#[test]
fn free_fall_is_reported_and_the_last_point_stays() {
    let body = vehicle(QUADCOPTER).body;
    let mut aligned = PathTrajectory::new(Fall, AttitudeMode::ThrustAligned, &body).unwrap();
    let mut point = ReferencePoint::default();
    aligned.at(0.7, &mut point).unwrap();
    let last = point;
    let error = aligned.at(1.2, &mut point).unwrap_err();
    assert!(
        matches!(error, Infeasible::NoAttitude { time, thrust, .. } if time == 1.2 && thrust < 1e-9),
        "{error:?}"
    );
    assert_eq!(point, last);
    // What is level needs no thrust to tell its attitude.
    let mut level = PathTrajectory::new(Fall, AttitudeMode::Level, &body).unwrap();
    assert_eq!(level.sample(1.2).unwrap().acceleration[2], -9.81);

    let mut recorded = Recorded::new(AttitudeMode::ThrustAligned, GRAVITY, SE3::identity());
    let falling = Setpoint {
        position: Some(Vector3::x()),
        acceleration: Some(GRAVITY),
        ..Setpoint::default()
    };
    let error = recorded.update(2.5, &falling).unwrap_err();
    assert!(
        error.to_string().starts_with("at 2.50 s the motion needs"),
        "{error}"
    );
    assert_eq!(recorded.sample(2.5).unwrap(), ReferencePoint::default());
    // Thrust along the side of the last heading says nothing of the attitude either.
    let sideways = Setpoint {
        acceleration: Some(GRAVITY + Vector3::y()),
        ..falling
    };
    let error = recorded.update(2.5, &sideways).unwrap_err();
    assert_eq!(
        error,
        Infeasible::ThrustAlongHeading {
            time: 2.5,
            thrust: 1.0
        }
    );
}

/// Neither times nor points that are not finite reach a law, and the last point stays.
#[test]
fn what_is_not_finite_is_refused() {
    let body = vehicle(QUADCOPTER).body;
    for (i, (vehicle, text)) in REFERENCES.iter().enumerate() {
        let mut reference = planned(vehicle, text);
        let mut point = reference.sample(0.0).unwrap();
        let last = point;
        if let Err(error) = reference.at(f64::NAN, &mut point) {
            assert!(
                matches!(error, Infeasible::NotFinite { .. }),
                "{i}: {error}"
            );
        }
        // At rest, any time will do.
        assert_eq!(point, last, "{i}");
    }
    let waypoint = |x: f64, hold: f64| Waypoint {
        position: Vector3::new(x, 0.0, 0.0),
        yaw: 0.0,
        hold,
    };
    for points in [
        [waypoint(0.0, f64::NAN), waypoint(1.0, 0.0)],
        [waypoint(f64::NAN, 0.0), waypoint(1.0, 0.0)],
        [waypoint(0.0, 0.0), waypoint(f64::NAN, 0.0)],
        [waypoint(0.0, 0.0), waypoint(f64::INFINITY, 0.0)],
    ] {
        for mode in [AttitudeMode::Level, AttitudeMode::ThrustAligned] {
            let path = Waypoints::new(&points, 1.0, 1.0, 1.0);
            let found = PathTrajectory::new(path, mode, &body).map(|_| ());
            let Err(Infeasible::NotFinite { .. }) = found else {
                panic!("{points:?}: {found:?}");
            };
        }
    }
}

/// A level attitude needs side forces that four thrusts do not have, however slowly.
#[test]
fn slowness_is_no_side_force() {
    let quadcopter = vehicle(QUADCOPTER);
    let points = [Vector3::zeros(), Vector3::new(2.0, 1.0, 0.5)].map(|point| (point, 0.0));
    let curve = MinimumSnap::new(&points, 2.0, 2.0).unwrap();
    let limits = MotionLimits {
        speed: 5.0,
        angular_rate: 5.0,
    };
    let fastest = |mode| PathTrajectory::fastest(&curve, mode, Some(0.0), &quadcopter, limits);
    assert_eq!(
        fastest(AttitudeMode::Level).map(|_| ()).unwrap_err(),
        NotFlyable::Wrench
    );
    let along = fastest(AttitudeMode::ThrustAligned).unwrap();
    assert!(along.duration().unwrap() < 10.0);
}

#[test]
fn circles_run_at_their_rate_and_rest_at_both_ends() {
    for (text, sense) in [("", 1.0), ("clockwise = true\n", -1.0)] {
        let text = format!(
            "kind = 'helix'\nradius = 2\nperiod = 4\nclimb = 0.5\nturns = 3\nramp = 2\n{text}"
        );
        let mut helix = planned(QUADCOPTER, &text);
        // Three turns at full rate, and the ramps at half of it.
        assert_eq!(helix.duration(), Some(14.0));
        let (start, end) = (helix.sample(0.0).unwrap(), helix.sample(14.0).unwrap());
        assert_eq!(start.twist, Vector6::zeros());
        assert!(end.twist.amax() < 1e-9, "{}", end.twist);
        let rise = end.pose.translation - start.pose.translation;
        assert!((rise - Vector3::new(0.0, 0.0, 1.5)).amax() < 1e-9, "{rise}");
        let speed = (std::f64::consts::PI.powi(2) + 0.125_f64.powi(2)).sqrt();
        for i in 0..=100 {
            let point = helix.sample(2.0 + 0.1 * f64::from(i)).unwrap();
            let v = point.twist.fixed_rows::<3>(0).into_owned();
            assert!((v.norm() - speed).abs() < 1e-9, "{}", v.norm());
            // Body x along the motion, as seen from above.
            let motion = point.pose.rotation.act(&v);
            let ahead = point.pose.rotation.act(&Vector3::x());
            assert!(motion.xy().dot(&ahead.xy()) > 0.99 * motion.xy().norm() * ahead.xy().norm());
            let turn = point
                .pose
                .rotation
                .act(&point.twist.fixed_rows::<3>(3).into_owned());
            assert!(
                (turn.z - sense * 0.5 * std::f64::consts::PI).abs() < 1e-9,
                "{turn}"
            );
            let radius = point.pose.translation.xy().norm();
            assert!((radius - 2.0).abs() < 1e-12);
        }
    }
}

#[test]
fn flips_and_rolls_turn_once_over() {
    // Which axis of the body, and which way round.
    let cases = [
        (
            "kind = 'loop'\nradius = 0.5\nduration = 1.6\n",
            4,
            -1.0,
            [0.0, 0.0],
        ),
        ("kind = 'flip'\nduration = 1.2\n", 4, 1.0, [2.88, 0.0]),
        (
            "kind = 'flip'\nduration = 1.2\naxis = 'roll'\n",
            3,
            -1.0,
            [2.88, 0.0],
        ),
        (
            "kind = 'barrel_roll'\nradius = 0.5\ndistance = 1\nduration = 2\n",
            3,
            1.0,
            [1.0, 0.0],
        ),
    ];
    let vehicle = vehicle(QUADCOPTER);
    let mut inputs = ReferenceInputs::new(&vehicle);
    for (text, axis, sense, moved) in cases {
        for heading in [0.0, 70.0_f64] {
            let mut trajectory = planned(QUADCOPTER, &format!("{text}heading_deg = {heading}"));
            let end = trajectory.duration().expect("it ends");
            let (mut turn, mut lowest, mut excess) = (0.0, 1.0_f64, 0.0_f64);
            let steps = 4000;
            for i in 0..steps {
                let point = trajectory
                    .sample(end * (f64::from(i) + 0.5) / f64::from(steps))
                    .unwrap();
                turn += point.twist[axis] * end / f64::from(steps);
                lowest = lowest.min(point.pose.rotation.matrix()[(2, 2)]);
                let needed = inputs.at(&point);
                assert!(needed.is_exact(), "{text} {}", needed.missing_fraction());
                excess = excess.max(vehicle.rotors.limits().violation(needed.input.as_slice()));
            }
            // What a barrel roll pitches meanwhile is not part of its roll.
            let tolerance = if text.contains("barrel") { 0.3 } else { 1e-6 };
            assert!(
                (sense * turn - std::f64::consts::TAU).abs() < tolerance,
                "{text}: {turn}"
            );
            assert!(lowest < -0.999, "{text}: {lowest}");
            // The loop of this speed is beyond the rotors, the others are not.
            assert_eq!(excess > 0.0, text.contains("loop"), "{text}: {excess}");
            let last = trajectory.sample(end).unwrap();
            let way = last.pose.translation;
            let (sin, cos) = heading.to_radians().sin_cos();
            let expected = Vector3::new(moved[0] * cos, moved[0] * sin, moved[1]);
            assert!((way - expected).amax() < 1e-9, "{text}: {way}");
            assert!(last.twist.amax() < 1e-6 && last.acceleration.amax() < 1e-6);
        }
    }
}

#[test]
fn manoeuvres_that_cannot_be_flown_are_refused() {
    for (text, expected) in [
        (
            "kind = 'circle'\nradius = 1\nperiod = 2\nclimb = 1",
            "climb: expected kind = \"helix\" beside it, found a circle",
        ),
        (
            "kind = 'helix'\nradius = 1\nperiod = 2\nturns = 0.5",
            "turns: expected at least 1, the ramp of 2 s by the period, found 0.5",
        ),
        (
            "kind = 'landing'\nposition = [0, 0, 1]\nground = 1",
            "ground: expected less than the height 1 of position, found 1",
        ),
        (
            "kind = 'takeoff'\nheight = 0",
            "height: expected a positive number, found 0",
        ),
        (
            "kind = 'flip'\nduration = 1\ndistance = 0",
            "distance: expected a positive number, found 0",
        ),
    ] {
        let Err(error) = settings(text).build(&vehicle(QUADCOPTER)) else {
            panic!("{text}")
        };
        assert_eq!(error.to_string(), expected);
    }
    // Straight up and over: the thrust would have to vanish on the way to its other direction.
    let text = "kind = 'flip'\nduration = 1\ndistance = 0.01";
    let Err(error) = settings(text).build(&vehicle(QUADCOPTER)) else {
        panic!("free fall")
    };
    assert!(error.to_string().starts_with("distance: at 0."), "{error}");
}

#[test]
fn minimum_snap_is_stretched_until_the_limits_hold() {
    let points = "points = [{ position = [0, 0, 1] }, { position = [4, 1, 2] }, { position = [6, -3, 1] }, { position = [0, 0, 1] }]";
    // What binds: the speed, the rate, and the rotors.
    for (limits, binding) in [
        ("max_speed = 1.5", 0),
        ("max_speed = 100\nmax_rate = 0.8", 1),
        ("max_speed = 100\nmax_rate = 100", 2),
    ] {
        let text = format!("kind = 'minimum_snap'\n{limits}\n{points}");
        let mut trajectory = planned(QUADCOPTER, &text);
        let end = trajectory.duration().expect("it ends");
        let vehicle = vehicle(QUADCOPTER);
        let mut inputs = ReferenceInputs::new(&vehicle);
        let (mut speed, mut rate, mut excess) = (0.0_f64, 0.0_f64, f64::NEG_INFINITY);
        for i in 0..=5000 {
            let point = trajectory.sample(end * f64::from(i) / 5000.0).unwrap();
            speed = speed.max(point.twist.fixed_rows::<3>(0).norm());
            rate = rate.max(point.twist.fixed_rows::<3>(3).norm());
            let needed = inputs.at(&point);
            assert!(needed.is_exact());
            excess = excess.max(vehicle.rotors.limits().violation(needed.input.as_slice()));
        }
        let share = [speed / 1.5, rate / 0.8, 1.0 + excess / 7.0][binding];
        assert!(
            (0.99..1.002).contains(&share),
            "{limits}: {speed} {rate} {excess}"
        );
        assert!(excess < 0.02, "{limits}: {excess}");
    }
    let heavy = QUADCOPTER.replace("mass = 0.9", "mass = 4");
    let text = format!("kind = 'minimum_snap'\n{points}");
    let Err(error) = settings(&text).build(&vehicle(&heavy)) else {
        panic!("too heavy")
    };
    assert!(
        error
            .to_string()
            .starts_with("points: expected a curve that the vehicle can fly"),
        "{error}"
    );
}
