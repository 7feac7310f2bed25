//! The reference governor: limits kept on the way, a reference that can be followed, and the goal itself nearby.
#![allow(non_snake_case)]

use fly_control::ReferencePoint;
use fly_control::governor::{Governor, GovernorLimits, Reach};
use fly_control::trajectory::{AttitudeMode, Lissajous, PathTrajectory, Sinusoid, Trajectory};
use fly_lie::{SE3, SO3};
use fly_mechanics::{State, Vehicle};
use nalgebra::{Vector3, Vector6};

use crate::common;

const REACH: Reach = Reach {
    position: 1.0,
    heading: 1.0,
    time: 0.5,
};

fn vehicle() -> Vehicle {
    common::vehicle(include_str!("../../../../configs/vehicles/quadcopter.toml"))
}

fn governor(vehicle: &Vehicle, mode: AttitudeMode) -> Governor {
    let limits = GovernorLimits::of_vehicle(vehicle).unwrap();
    Governor::new(&vehicle.body, mode, limits, REACH)
}

/// In the world: velocity and acceleration of the origin.
fn motion(point: &ReferencePoint) -> [Vector3<f64>; 2] {
    let R = &point.pose.rotation;
    let half = |vector: &Vector6<f64>, i| -> Vector3<f64> { vector.fixed_rows::<3>(i).into() };
    let (v, w) = (half(&point.twist, 0), half(&point.twist, 3));
    [
        R.act(&v),
        R.act(&(half(&point.acceleration, 0) + w.cross(&v))),
    ]
}

/// A vehicle that follows exactly, from this state to the goal; every reference and its time.
fn follow(
    governor: &mut Governor,
    start: State<f64>,
    [step, duration]: [f64; 2],
    mut goal: impl FnMut(f64) -> ReferencePoint,
    mut each: impl FnMut(f64, &ReferencePoint),
) -> ReferencePoint {
    let (mut state, mut time, mut elapsed) = (start, 0.0, f64::INFINITY);
    loop {
        let point = governor.govern(elapsed, &state, &goal(time));
        each(time, &point);
        if time >= duration {
            return point;
        }
        state = State {
            pose: point.pose,
            twist: point.twist,
        };
        time += step;
        elapsed = step;
    }
}

#[test]
fn from_anywhere_the_limits_are_kept_and_nothing_overshoots() {
    let vehicle = vehicle();
    let goal = ReferencePoint::at_rest(SE3::identity());
    for (x, y, z) in [
        (2.0, 0.0, 0.0),
        (30.0, -40.0, 0.0),
        (0.0, 3.0, 60.0),
        (-5.0, 1.0, -80.0),
    ] {
        let mut governor = governor(&vehicle, AttitudeMode::ThrustAligned);
        let limits = *governor.limits();
        let start = State::at_rest(SE3::new(SO3::identity(), Vector3::new(x, y, z)));
        let (mut nearest, mut last) = (f64::INFINITY, Vector3::zeros());
        let end = follow(
            &mut governor,
            start,
            [2e-3, 60.0],
            |_| goal,
            |time, point| {
                let [v, a] = motion(point);
                // The cascade overshoots its inner limits by a few per cent.
                let slack = 1.05;
                assert!(v.xy().norm() <= slack * limits.speed, "{v}");
                assert!(
                    v.z <= slack * limits.climb && -v.z <= slack * limits.descent,
                    "{v}"
                );
                assert!(a.xy().norm() <= slack * limits.acceleration, "{a}");
                assert!(
                    a.z <= slack * limits.lift && -a.z <= slack * limits.sink,
                    "{a}"
                );
                let tilt = point.pose.rotation.matrix()[(2, 2)].acos();
                assert!(tilt <= slack * limits.tilt, "{tilt}");
                let jerk = (a - last).norm() / 2e-3;
                // Two directions may both be at their limit.
                assert!(
                    time < 0.01 || jerk <= slack * 2.0_f64.sqrt() * limits.jerk,
                    "{jerk}"
                );
                last = a;
                // Never past the goal by more than a hundredth of the way.
                let along = point
                    .pose
                    .translation
                    .dot(&Vector3::new(x, y, z).normalize());
                assert!(along >= -0.01 * Vector3::new(x, y, z).norm(), "{along}");
                nearest = nearest.min(point.pose.translation.norm());
            },
        );
        assert_eq!(end, goal, "it ends at the goal itself");
        assert!(!governor.is_active() && nearest < 1e-5);
    }
}

/// An acceleration that the jerk never lets it reach does not slow the way down.
#[test]
fn thrust_to_spare_makes_no_way_slow() {
    let vehicle = vehicle();
    let goal = ReferencePoint::at_rest(SE3::identity());
    let below = State::at_rest(SE3::new(SO3::identity(), Vector3::z() * -5.0));
    let [some, more] = [10.0, 50.0].map(|lift| {
        let limits = GovernorLimits {
            lift,
            ..GovernorLimits::of_vehicle(&vehicle).unwrap()
        };
        let mut governor = Governor::new(&vehicle.body, AttitudeMode::ThrustAligned, limits, REACH);
        let mut away = 0.0;
        let end = follow(
            &mut governor,
            below,
            [2e-3, 60.0],
            |_| goal,
            |time, point| {
                if point.pose.translation.norm() > 0.1 {
                    away = time;
                }
            },
        );
        assert_eq!(end, goal);
        away
    });
    println!("within 0.1 m after {some:.2} s and {more:.2} s");
    assert!(more < 1.25 * some);
}

/// Turning and accelerating, with wind resistance, towards a goal that moves.
#[test]
fn the_reference_is_a_motion_that_the_vehicle_can_follow() {
    let description = include_str!("../../../../configs/vehicles/quadcopter.toml");
    let drag =
        "[bodies.airframe.drag]\nlinear = [0.3, 0.2, 0.1]\nangular = [0, 0, 0]\n\n[[rotors]]";
    let vehicle = common::vehicle(&description.replacen("[[rotors]]", drag, 1));
    let sine = |amplitude, phase| Sinusoid {
        amplitude,
        angular_frequency: 0.8,
        phase,
        ..Sinusoid::default()
    };
    let path = Lissajous {
        position: [sine(2.0, 0.0), sine(1.5, 1.2), sine(0.5, 0.3)],
        yaw: sine(0.4, 0.7),
    };
    let mode = AttitudeMode::ThrustAligned;
    let mut goal = PathTrajectory::new(path, mode, &vehicle.body).unwrap();
    let step = 2e-4;
    let mut points = Vec::new();
    let start = State::at_rest(SE3::new(
        SO3::exp(&Vector3::new(0.0, 0.0, 2.8)),
        Vector3::new(20.0, 4.0, 8.0),
    ));
    let mut governor = governor(&vehicle, mode);
    let at = |time| goal.sample(time).unwrap();
    let end = follow(&mut governor, start, [step, 30.0], at, |time, point| {
        points.push((time, *point));
    });
    assert_eq!(end, goal.sample(points.last().unwrap().0).unwrap());
    // The twist is the rate of the pose, the acceleration that of the twist, by central differences; between two steps the snap of
    // the way is constant. The first steps lack that of the goal.
    let body = &vehicle.body;
    for pair in points[5..].windows(3) {
        let [(_, before), (time, point), (_, after)] = [pair[0], pair[1], pair[2]];
        let twist = (before.pose.inverse() * after.pose).log() / (2.0 * step);
        let off = (twist - point.twist).amax();
        assert!(off < 1e-5, "{time}: {off}");
        let acceleration = (after.twist - before.twist) / (2.0 * step);
        let off = (acceleration - point.acceleration).amax();
        assert!(off < 5e-2, "{time}: {off}");
        // What it needs is thrust along body z and torque: no force across.
        let state = State {
            pose: point.pose,
            twist: point.twist,
        };
        let needed = body.mass_matrix() * point.acceleration + body.bias(&state);
        assert!(needed.fixed_rows::<2>(0).amax() < 1e-9, "{time}: {needed}");
    }
}

/// A circle at 4.7 m/s that needs 56 degrees of tilt, and a vehicle that a moment without it has left behind: the reference keeps the tilt, and is the goal again as soon as
/// jerk and law allow.
#[test]
fn who_is_left_behind_on_a_steep_path_goes_on_tilting_and_catches_up() {
    let vehicle = vehicle();
    let sine = |phase| Sinusoid {
        amplitude: 1.5,
        angular_frequency: std::f64::consts::PI,
        phase,
        ..Sinusoid::default()
    };
    let path = Lissajous {
        position: [
            sine(std::f64::consts::FRAC_PI_2),
            sine(0.0),
            Sinusoid::default(),
        ],
        yaw: Sinusoid::default(),
    };
    let mode = AttitudeMode::ThrustAligned;
    let mut circle = PathTrajectory::new(path, mode, &vehicle.body).unwrap();
    let mut goal = circle.clone();
    let mut at = |time| circle.sample(time).unwrap();
    let begin = at(0.0);
    // Slower by more than the reach leaves to the law, 1 m in 0.5 s.
    let [velocity, _] = motion(&begin);
    let behind = begin
        .pose
        .rotation
        .inverse()
        .act(&(velocity.normalize() * 2.5));
    let mut start = State {
        pose: begin.pose,
        twist: begin.twist,
    };
    let mut slower = start.twist.fixed_rows_mut::<3>(0);
    slower -= behind;
    let mut governor = governor(&vehicle, mode);
    let (mut furthest, mut away) = (0.0_f64, 0.0);
    follow(&mut governor, start, [2e-3, 5.0], at, |time, point| {
        let goal = goal.sample(time).unwrap();
        if time == 0.0 {
            let [[v, a], [goal_v, goal_a]] = [motion(point), motion(&goal)];
            assert!((v - goal_v).norm() > 0.4, "it was drawn to the vehicle");
            assert!((a - goal_a).norm() < 1e-9, "{a} {goal_a}");
        }
        let off = (point.pose.translation - goal.pose.translation).norm();
        furthest = furthest.max(off);
        if off > 2e-3 {
            away = time;
        }
    });
    println!("{furthest:.3} m off at most, within 2 mm after {away:.2} s");
    assert!(furthest < 0.25 && away < 2.0);
    assert!(!governor.is_active());
}

/// The nearer it is, the quicker: it takes as long as the law, not as the limits would have it; and neither jerk nor goal are exceeded.
#[test]
fn a_short_way_takes_no_longer_than_the_law() {
    let vehicle = vehicle();
    let goal = ReferencePoint::at_rest(SE3::identity());
    let limits = GovernorLimits::of_vehicle(&vehicle).unwrap();
    for (metres, lambda) in [(0.3, 8.0), (0.3, 4.0), (3.0, 8.0)] {
        let reach = Reach {
            position: 0.1,
            heading: 1.0,
            time: 4.0 / lambda,
        };
        let mut governor = Governor::new(&vehicle.body, AttitudeMode::ThrustAligned, limits, reach);
        let start = State::at_rest(SE3::new(SO3::identity(), Vector3::x() * metres));
        let (mut last, mut jerk, mut least, mut away) = (Vector3::zeros(), 0.0_f64, metres, 0.0);
        let mut begin = metres;
        follow(
            &mut governor,
            start,
            [1e-3, 12.0],
            |_| goal,
            |time, point| {
                let [_, a] = motion(point);
                if time > 0.0 {
                    jerk = jerk.max((a - last).norm() / 1e-3);
                } else {
                    begin = point.pose.translation.x;
                }
                last = a;
                least = least.min(point.pose.translation.x);
                if point.pose.translation.norm() > 1e-3 * begin {
                    away = time;
                }
            },
        );
        // (d/dt + lambda)^4 e = 0 leaves a thousandth after lambda t = 13.06; the long way needs its time for the limits.
        let law = 13.06 / lambda;
        println!(
            "{metres} m, {lambda} 1/s: {away:.2} s, of the law {law:.2} s, jerk {jerk:.1} m/s^3"
        );
        assert!(jerk <= 1.05 * limits.jerk, "{jerk}");
        assert!(least > -1e-3 * metres, "{least}");
        if metres < 1.0 {
            assert!((away - law).abs() < 0.02, "{away} {law}");
        }
    }
}

#[test]
fn near_the_goal_it_is_the_goal_bit_for_bit() {
    let vehicle = vehicle();
    let mut governor = governor(&vehicle, AttitudeMode::ThrustAligned);
    let goal = ReferencePoint {
        pose: SE3::exp(&Vector6::new(0.1, 2.0, 0.3, 0.1, -0.2, 2.1)),
        twist: Vector6::new(0.3, 0.1, 0.0, 0.2, 0.7, -0.4),
        acceleration: Vector6::new(-0.3, 0.2, 0.1, 0.0, 0.1, 0.2),
    };
    let beside = Vector6::new(0.5, -0.6, 0.3, 0.4, 0.9, -0.5);
    let state = State {
        pose: goal.pose * SE3::exp(&beside),
        twist: goal.twist + beside,
    };
    for elapsed in [f64::INFINITY, 2e-3, 2e-3] {
        assert_eq!(governor.govern(elapsed, &state, &goal), goal);
        assert!(!governor.is_active() && !governor.has_jumped());
    }
}

#[test]
fn a_half_turn_is_left_about_the_same_axis() {
    let vehicle = vehicle();
    let goal = ReferencePoint::at_rest(SE3::identity());
    for degrees in [149.0_f64, 170.0, 180.0] {
        let mut governor = governor(&vehicle, AttitudeMode::ThrustAligned);
        let turn = Vector3::new(1.0, 0.5, 0.0).normalize() * degrees.to_radians();
        let state = State::at_rest(SE3::new(SO3::exp(&turn), Vector3::zeros()));
        let point = governor.govern(f64::INFINITY, &state, &goal);
        let error = (state.pose.rotation.inverse() * point.pose.rotation).log();
        assert!((error.norm() - degrees.min(150.0).to_radians()).abs() < 1e-9);
        assert!(error.cross(&turn).norm() < 1e-6, "{error}");
    }
}

/// What is not finite is for the law to refuse.
#[test]
fn numbers_that_are_not_finite_pass() {
    let vehicle = vehicle();
    let mut governor = governor(&vehicle, AttitudeMode::Level);
    let lost = State::at_rest(SE3::new(SO3::identity(), Vector3::repeat(f64::NAN)));
    let goal = ReferencePoint::at_rest(SE3::identity());
    assert_eq!(governor.govern(2e-3, &lost, &goal), goal);
    let near = State::at_rest(SE3::identity());
    assert_eq!(governor.govern(2e-3, &near, &goal), goal);
    // The same while it leads the vehicle home.
    let far = State::at_rest(SE3::new(SO3::identity(), Vector3::repeat(500.0)));
    assert_ne!(governor.govern(2e-3, &far, &goal), goal);
    assert!(governor.is_active());
    for i in 0..6 {
        let mut moving = goal;
        moving.twist[i] = f64::NAN;
        assert!(governor.govern(2e-3, &far, &moving).twist[i].is_nan());
        moving.twist[i] = f64::INFINITY;
        assert_eq!(governor.govern(2e-3, &far, &moving), moving);
    }
    let point = governor.govern(2e-3, &far, &goal);
    assert!(point != goal && point.pose.translation.norm().is_finite());
}

/// As after a log that paused: the rest of the gap is skipped, in which it would have settled.
#[test]
fn a_gap_of_any_length_is_survived() {
    let vehicle = vehicle();
    let goal = ReferencePoint::at_rest(SE3::identity());
    for gap in [1.0, 100.0, 200.0, 1e6, 1e300] {
        let mut governor = governor(&vehicle, AttitudeMode::ThrustAligned);
        let start = State::at_rest(SE3::new(SO3::identity(), Vector3::new(30.0, -40.0, 5.0)));
        governor.govern(f64::INFINITY, &start, &goal);
        let mut point = governor.govern(2e-3, &start, &goal);
        for _ in 0..3 {
            let state = State {
                pose: point.pose,
                twist: point.twist,
            };
            point = governor.govern(gap, &state, &goal);
            let numbers = point.pose.translation.iter().chain(&point.twist);
            assert!(numbers.copied().all(f64::is_finite), "{gap}: {point:?}");
        }
        assert!(point.pose.translation.norm() < 64.0, "{gap}: {point:?}");
    }
}
