//! References built in code, without a configuration.

use crate::common;

use common::vehicle;
use fly_control::settings::ReferenceSettings;
use fly_control::trajectory::flat::MotionLimits;
use fly_control::trajectory::{
    AttitudeMode, HeadingAligned, InverseKinematics, JointTrajectory, Leg, MinimumSnap,
    NotDetermined, NotOneBody, PathTrajectory, Target, Transfer, Waypoint, Waypoints,
    merged_vehicle, preview,
};
use fly_control::{Reference, SystemPoint, Trajectory};
use fly_lie::SO3;
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_mechanics::{FreeBody, PseudoInertia, Rotor, Rotors, System, Vehicle};
use nalgebra::{Matrix3, Vector3};

/// The quadcopter of `common`, without its description.
fn quadcopter() -> Vehicle {
    let rotor = |i: usize, x: f64, y: f64| Rotor {
        name: format!("rotor_{i}"),
        position: Vector3::new(x, y, 0.0),
        axis: Vector3::z(),
        drag_ratio: if i.is_multiple_of(2) { -0.016 } else { 0.016 },
        thrust: [0.2, 7.0],
        time_constant: 0.0,
        tilt: None,
        propeller: fly_mechanics::Propeller::default(),
    };
    let moments = Matrix3::from_diagonal(&Vector3::new(0.006, 0.006, 0.011));
    let inertia = PseudoInertia::from_center(0.9, Vector3::zeros(), moments).unwrap();
    let places = [(0.18, 0.0), (0.0, 0.18), (-0.18, 0.0), (0.0, -0.18)];
    let rotors = places.iter().enumerate();
    Vehicle {
        name: "quadcopter".to_owned(),
        body_name: "airframe".to_owned(),
        body: FreeBody::new(inertia, Vector3::new(0.0, 0.0, -9.81)),
        rotors: Rotors::new(rotors.map(|(i, (x, y))| rotor(i, *x, *y)).collect()).unwrap(),
    }
}

/// The same bits as from a configuration.
#[test]
fn minimum_snap_is_scaled_to_the_limits() {
    let points = [
        (Vector3::new(0.0, 0.0, 1.0), 0.0),
        (Vector3::new(2.0, 1.0, 2.0), 60.0_f64.to_radians()),
        (Vector3::new(3.0, -1.0, 1.0), 0.0),
    ];
    let curve = MinimumSnap::new(&points, 2.0, 2.0).unwrap();
    let limits = MotionLimits {
        speed: 2.0,
        angular_rate: 4.0,
    };
    let mode = AttitudeMode::ThrustAligned;
    let mut built = PathTrajectory::fastest(&curve, mode, None, &quadcopter(), limits).unwrap();
    let settings: ReferenceSettings = toml::from_str(
        "kind = 'minimum_snap'\npoints = [{ position = [0, 0, 1] }, { position = [2, 1, 2], yaw_deg = 60 }, { position = [3, -1, 1] }]",
    )
    .unwrap();
    let Ok(Reference::Planned(mut read)) = settings.build(&vehicle(common::QUADCOPTER)) else {
        panic!("planned");
    };
    assert_eq!(built.duration(), read.duration());
    for i in 0..50 {
        let t = 0.1 * f64::from(i);
        assert_eq!(built.sample(t).unwrap(), read.sample(t).unwrap());
    }
    // However far the first guess is; it decides only how the legs share the time.
    for (speed, acceleration) in [(1e-3, 1e-4), (1e4, 1e6)] {
        let far = MinimumSnap::new(&points, speed, acceleration).unwrap();
        let far = PathTrajectory::fastest(&far, mode, None, &quadcopter(), limits).unwrap();
        let ratio = far.duration().unwrap() / built.duration().unwrap();
        assert!((0.7..1.3).contains(&ratio), "{ratio}");
    }
    // Half the speed takes twice as long, and more than that is not asked for.
    let slow = MotionLimits {
        speed: 1.0,
        ..limits
    };
    let slow = PathTrajectory::fastest(&curve, mode, None, &quadcopter(), slow).unwrap();
    let fastest = (0..=2000).map(|i| {
        let t = slow.duration().unwrap() * f64::from(i) / 2000.0;
        let mut flown = slow.clone();
        flown.sample(t).unwrap().twist.fixed_rows::<3>(0).norm()
    });
    let fastest = fastest.fold(0.0, f64::max);
    assert!((0.999..1.0001).contains(&fastest), "{fastest}");
}

const LOADED: &str = "
name = 'loaded'
[bodies.frame]
joint = { type = 'free' }
mass = 1
inertia = [0.01, 0.01, 0.02]
[bodies.load]
parent = 'frame'
joint = 'fixed'
position = [0, 0, -0.5]
mass = 3
inertia = [0.03, 0.03, 0.03]
[[rotors]]
body = 'load'
position = [0.1, 0, 0.5]
axis = [0, 0, 1]
thrust = [0, 20]
";

#[test]
fn what_is_fixed_to_a_body_is_merged_into_it() {
    let (_, merged) = merged_vehicle(&System::from_toml(LOADED).unwrap()).unwrap();
    let inertia = merged.body.inertia();
    assert_eq!(inertia.mass(), 4.0);
    let center = inertia.center_of_mass();
    assert!((center - Vector3::new(0.0, 0.0, -0.375)).amax() < 1e-15);
    // About the common centre: 0.01 + 0.03 + 1 * 0.375^2 + 3 * 0.125^2.
    let about = inertia.inertia_about_center();
    assert!((about[(0, 0)] - (0.04 + 0.140_625 + 0.046_875)).abs() < 1e-14);
    assert!((about[(2, 2)] - 0.05).abs() < 1e-14);
    let rotor = merged.rotors.as_slice()[0].position;
    assert!((rotor - Vector3::new(0.1, 0.0, 0.0)).amax() < 1e-15);

    let hinged = LOADED.replace(
        "joint = 'fixed'",
        "joint = { type = 'revolute', axis = [0, 1, 0] }",
    );
    let error = merged_vehicle(&System::from_toml(&hinged).unwrap()).unwrap_err();
    assert!(matches!(error, NotOneBody::Joints(names) if names.len() == 2));
}

/// Three revolute joints in a plane, the last one limited.
const ARM: &str = "
name = 'arm'
[bodies.upper]
joint = { type = 'revolute', axis = [0, 0, 1] }
mass = 1
inertia = [0.1, 0.1, 0.1]
[bodies.lower]
parent = 'upper'
position = [0.5, 0, 0]
joint = { name = 'elbow', type = 'revolute', axis = [0, 0, 1], limits = { position = [-2, 2] } }
mass = 1
inertia = [0.1, 0.1, 0.1]
";

#[test]
fn joints_are_checked_against_their_limits_in_advance() {
    let system = System::from_toml(ARM).unwrap();
    let bend = |to: f64| {
        let legs = vec![Leg {
            to: vec![0.3, to],
            start: 0.5,
            duration: 2.0,
        }];
        let transfer = Transfer {
            from: vec![0.0, 0.5],
            legs,
            hold: 1.0,
        };
        JointTrajectory::new(&system.model, transfer)
    };
    preview::check(&mut bend(2.0), &system).unwrap();
    match preview::check(&mut bend(2.2), &system) {
        Err(preview::Violation::JointLimit {
            joint,
            limits,
            position,
            ..
        }) => {
            assert_eq!((joint.as_str(), limits), ("elbow", [-2.0, 2.0]));
            assert!(position > 2.0);
        }
        other => panic!("{other:?}"),
    }
}

/// A transfer is fastest in its middle: at 630/256 of its mean speed, as its position is a polynomial of degree 9.
#[test]
fn joints_are_checked_against_their_speeds_in_advance() {
    let fast = |limit: &str| {
        let text = ARM.replace("position = [-2, 2] }", &format!("velocity = {limit} }}"));
        let system = System::from_toml(&text).unwrap();
        let transfer = Transfer {
            from: vec![0.0, 0.5],
            legs: vec![Leg {
                to: vec![0.3, -1.5],
                start: 0.5,
                duration: 2.0,
            }],
            hold: 1.0,
        };
        let mut trajectory = JointTrajectory::new(&system.model, transfer);
        preview::too_fast(&mut trajectory, &system).unwrap()
    };
    let found = fast("2.4");
    let [found] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((found.joint.as_str(), found.limit), ("elbow", 2.4));
    assert!((found.speed - 630.0 / 256.0).abs() < 1e-9 && (found.time - 1.5).abs() < 1e-9);
    assert_eq!(
        found.to_string(),
        "joint `elbow` would move at 2.461 rad/s at 1.50 s, faster than its limit of 2.400 rad/s"
    );
    assert_eq!(fast("2.4609375"), []);
}

/// A joint that slides goes to its target in one step, however far it is.
#[test]
fn a_slider_reaches_what_is_far_away() {
    let system = System::from_toml(
        "name = 'cart'\n[bodies.cart]\nmass = 1\ninertia = [1, 1, 1]\njoint = { type = 'prismatic', axis = [0.6, 0, 0.8] }\n",
    )
    .unwrap();
    let model = &system.model;
    let cart = model.body_id("cart").unwrap();
    let goal = Vector3::new(0.6, 0.0, 0.8) * 1e3;
    let line = Box::new(Waypoints::line(goal, goal * 2.0, 0.0, 0.0, 1.0));
    let target = Target::Point(Vector3::zeros(), line);
    let mut moved = InverseKinematics::new(model.clone(), cart, target, &[0.0]).unwrap();
    let mut point = SystemPoint::new(model);
    for (t, expected) in [(0.0, 1e3), (1.0, 2e3)] {
        moved.at(t, &mut point).unwrap();
        assert!(
            (point.configuration[0] - expected).abs() < 1e-9,
            "{point:?}"
        );
    }
}

#[test]
fn a_body_starts_with_the_attitude_that_it_has() {
    let start = SO3::exp(&Vector3::new(0.3, -0.2, 0.9));
    let point = |position: Vector3<f64>, yaw: f64| Waypoint {
        position,
        yaw,
        hold: 0.0,
    };
    let points = [point(Vector3::zeros(), 0.4), point(Vector3::x(), 1.4)];
    let path = Waypoints::new(&points, 1.0, 1.0, 1.0);
    let mut tool = HeadingAligned::starting_at(Box::new(path), start);
    let [first, last] = [0.0, tool.duration().unwrap()].map(|t| tool.sample(t).unwrap());
    assert!((first.pose.rotation.matrix() - start.matrix()).amax() < 1e-15);
    let turned = SO3::exp(&Vector3::z()) * start;
    assert!((last.pose.rotation.matrix() - turned.matrix()).amax() < 1e-14);

    // Two joints follow a point, but no pose; a point on a body that nothing moves follows nothing.
    let system = System::from_toml(ARM).unwrap();
    let (model, start) = (&system.model, [0.2, 0.7]);
    let lower = model.body_id("lower").unwrap();
    let tip = Vector3::new(0.4, 0.0, 0.0);
    let mut workspace = Workspace::new(model);
    workspace.update(model, &start, &[0.0; 2]);
    let from = workspace.pose(BodyId::WORLD, lower).act(&tip);
    let line = || Box::new(Waypoints::line(from, from * 0.9, 0.0, 0.0, 1.0));
    let target = Target::Point(tip, line());
    let mut moved = InverseKinematics::new(model.clone(), lower, target, &start).unwrap();
    let mut point = SystemPoint::new(model);
    moved.at(1.0, &mut point).unwrap();
    workspace.update(model, &point.configuration, &point.velocity);
    let reached = workspace.pose(BodyId::WORLD, lower).act(&tip);
    assert!((reached - from * 0.9).amax() < 1e-12);
    // What it cannot reach leaves it on its branch.
    let (elbow, mut again) = (point.configuration[1], SystemPoint::new(model));
    let away = Box::new(Waypoints::line(from, from * 5.0, 0.0, 0.0, 1.0));
    let mut lost = InverseKinematics::new(model.clone(), lower, Target::Point(tip, away), &start);
    let lost = lost.as_mut().unwrap();
    lost.at(0.0, &mut again).unwrap();
    for t in [1.0, 0.9] {
        assert!(lost.at(t, &mut again).is_err(), "{t}");
    }
    lost.at(0.0, &mut again).unwrap();
    let off = |i: usize| (again.configuration[i] - start[i]).abs();
    assert!(elbow > 0.0 && off(0) < 1e-9 && off(1) < 1e-9, "{again:?}");
    let held: Vec<BodyId> = model.bodies().collect();
    let target = Target::Point(tip, line());
    let none = InverseKinematics::holding(model.clone(), lower, target, &start, &held);
    assert_eq!(none.err(), Some(NotDetermined::Fixed));
}
