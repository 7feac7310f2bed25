//! References of whole systems, as they stand in a configuration.

mod common;

use common::QUADCOPTER;
use fly_control::ReferenceSettings;
use fly_control::system::reference::{SystemPoint, SystemTrajectory};
use fly_mechanics::System;

/// Every kind of joint that moves, in both coordinates of those that have two.
const JOINTS: &str = "
name = 'joints'
[bodies.base]
joint = { name = 'root', type = 'free', coordinates = 'quaternion' }
mass = 1
inertia = [1, 1, 1]
[bodies.hinge]
parent = 'base'
joint = { type = 'revolute', axis = [0, 1, 0], coordinates = 'cos_sin' }
[bodies.ball]
parent = 'hinge'
joint = { type = 'spherical', coordinates = 'quaternion' }
[bodies.hanging]
parent = 'ball'
joint = { type = 'spherical', velocity = 'absolute' }
[bodies.shaft]
parent = 'base'
joint = { type = 'cylindrical', axis = [1, 0, 1] }
[bodies.cross]
parent = 'shaft'
joint = { type = 'universal', axis = [1, 0, 0], second_axis = [0, 1, 0] }
[bodies.sledge]
parent = 'base'
joint = { type = 'planar', axis = [0, 1, 0], coordinates = 'cos_sin' }
[bodies.crane]
parent = 'sledge'
joint = { type = 'schoenflies', axis = [0, 0, 1] }
[bodies.slider]
parent = 'base'
joint = { type = 'prismatic', axis = [0, 0, 1] }
[bodies.thread]
parent = 'base'
joint = { type = 'screw', axis = [0, 0, 1], pitch = 0.01 }
";

fn system(text: &str) -> System {
    System::from_toml(text).expect("a system")
}

fn settings(text: &str) -> ReferenceSettings {
    toml::from_str(text).expect("valid settings")
}

fn built(system: &System, text: &str) -> Box<dyn SystemTrajectory> {
    match settings(text).build_for_system(system) {
        Ok(reference) => reference,
        Err(error) => panic!("{text}: {error}"),
    }
}

/// The largest errors of velocity and acceleration against differences, and the largest velocity.
fn consistent(system: &System, text: &str) -> f64 {
    let model = &system.model;
    let mut reference = built(system, text);
    let h = 1e-4;
    let mut moves = 0.0_f64;
    let [mut before, mut now, mut after] = [(); 3].map(|()| SystemPoint::new(model));
    for i in 0..40 {
        // Off the instants where a way starts or ends: there the fifth derivative jumps.
        let t = 0.0137 + 0.09 * f64::from(i);
        reference
            .at(t - h, &mut before)
            .expect("a feasible reference");
        reference.at(t, &mut now).expect("a feasible reference");
        reference
            .at(t + h, &mut after)
            .expect("a feasible reference");
        let mut way = vec![0.0; model.dof()];
        model.difference(&before.configuration, &after.configuration, &mut way);
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let scale = 1.0 + largest(&now.velocity).powi(3) + largest(&now.acceleration);
        for (k, way) in way.iter().enumerate() {
            let velocity = way / (2.0 * h);
            let acceleration = (after.velocity[k] - before.velocity[k]) / (2.0 * h);
            // Error of the difference: h^2/6 times the third derivative.
            assert!(
                (velocity - now.velocity[k]).abs() < 1e-5 * scale,
                "{text} at {t}, velocity {k}: {velocity} {}",
                now.velocity[k]
            );
            assert!(
                (acceleration - now.acceleration[k]).abs() < 1e-5 * scale,
                "{text} at {t}, acceleration {k}"
            );
        }
        let mut normal = now.configuration.clone();
        model.normalize(&mut normal);
        for (x, normal) in now.configuration.iter().zip(&normal) {
            assert!(
                (x - normal).abs() < 1e-13,
                "{text} at {t} leaves the manifold"
            );
        }
        moves = moves.max(largest(&now.velocity));
    }
    moves
}

const SINES: &str = "
kind = 'joints'
[joints.root]
offset = [1, 2, 3, 0.1, -0.2, 0.3]
rate = [0.1, 0, 0.2, 0, 0, 1.5]
amplitude = [0.5, 1, 0.7, 0.4, 0.5, 1.2]
angular_frequency = [1.1, 0.9, 0.7, 1.2, 1.3, 1]
phase = [0, 1, 2, 3, 4, 5]
[joints.hinge]
amplitude = 0.8
angular_frequency = 2
[joints.ball]
amplitude = [0.4, 0.5, 1.2]
angular_frequency = [1.1, 0.9, 0.7]
phase = [0, 0.5, -0.3]
[joints.hanging]
amplitude = [0.4, 0.5, 1.2]
angular_frequency = [1.2, 1.9, 0.7]
[joints.shaft]
amplitude = [0.4, 0.5]
angular_frequency = [1.2, 0.8]
[joints.cross]
amplitude = [0.4, 0.5]
angular_frequency = [1, 2]
[joints.sledge]
offset = [0, 1, 2]
rate = [0, 0, 1]
amplitude = [0.4, 0.5, 1.2]
angular_frequency = [1.1, 0.9, 0.7]
[joints.crane]
amplitude = [0.4, 0.5, 1.2, 0.8]
angular_frequency = [1.1, 0.9, 0.7, 1.3]
[joints.slider]
amplitude = 0.2
angular_frequency = 3
[joints.thread]
rate = 5
";

const TRANSFER: &str = "
kind = 'transfer'
from = { root = [0, 0, 1, 0, 0.2, 0], slider = 0.5 }
start = 0.3
legs = [
    { to = { root = [1, 2, 0, 0.5, 0, 1], ball = [0, 0.3, 1], crane = [1, 0, 0, 1] }, duration = 1.2, hold = 0.2 },
    { to = { slider = -0.5, hinge = 2, sledge = [0.3, 0.2, -1] }, duration = 1.5 },
]
";

#[test]
fn velocity_and_acceleration_are_derivatives_in_joints_of_all_kinds() {
    let joints = system(JOINTS);
    assert!(consistent(&joints, SINES) > 1.0);
    assert!(consistent(&joints, TRANSFER) > 1.0);
    assert_eq!(
        consistent(&joints, "kind = 'rest'\njoints = { hinge = 0.5 }"),
        0.0
    );
}

#[test]
fn transfers_begin_and_end_where_they_should() {
    let joints = system(JOINTS);
    let model = &joints.model;
    let mut transfer = built(&joints, TRANSFER);
    let end = transfer.duration().expect("an end");
    assert!((end - 3.2).abs() < 1e-15);
    let mut point = SystemPoint::new(model);
    let place = |name: &str| model.config_range(joints.joint_named(name).unwrap()).start;
    for (t, slider, x) in [
        (-1.0, 0.5, 0.0),
        (0.3, 0.5, 0.0),
        (1.6, 0.5, 1.0),
        (end, -0.5, 1.0),
        (99.0, -0.5, 1.0),
    ] {
        transfer.at(t, &mut point).unwrap();
        assert_eq!(point.configuration[place("slider")], slider, "{t}");
        assert_eq!(point.configuration[place("root")], x, "{t}");
        assert!(point.velocity.iter().all(|v| *v == 0.0), "{t}");
    }
    let one = "kind = 'transfer'\nto = { slider = 1 }\nstart = 1\nduration = 2";
    assert_eq!(built(&joints, one).duration(), Some(3.0));
    assert_eq!(built(&joints, "kind = 'rest'").duration(), None);
}

#[test]
fn kinds_of_vehicles_fly_systems_that_are_one_free_body() {
    let vehicle = common::vehicle(QUADCOPTER);
    let joint = "joint = { type = 'free', coordinates = 'quaternion' }\nposition = [1, 2, 3]\norientation = { rpy_deg = [10, 20, 90] }";
    let placed = QUADCOPTER.replace("inertia =", &format!("{joint}\ninertia ="));
    for (text, description) in [
        (
            "kind = 'hover'\nposition = [1, 2, 3]\nyaw_deg = 30",
            QUADCOPTER,
        ),
        (
            "kind = 'lissajous'\namplitude = [1.5, 1, 0.4]\nangular_frequency = [1.1, 1.6, 0.8]\nyaw_rate = 0.5",
            placed.as_str(),
        ),
        (
            "kind = 'minimum_snap'\npoints = [{ position = [0, 0, 1] }, { position = [2, 1, 2], yaw_deg = 60 }]",
            placed.as_str(),
        ),
    ] {
        let system = system(description);
        consistent(&system, text);
        let Ok(fly_control::Reference::Planned(mut flown)) = settings(text).build(&vehicle) else {
            panic!("not planned");
        };
        let mut reference = built(&system, text);
        assert_eq!(reference.duration(), flown.duration());
        let mut point = SystemPoint::new(&system.model);
        let mut workspace = fly_mechanics::multibody::Workspace::new(&system.model);
        let body = system.model.body_id("airframe").unwrap();
        for t in [0.0, 0.4, 1.3] {
            reference.at(t, &mut point).unwrap();
            let goal = flown.at(t);
            workspace.update(&system.model, &point.configuration, &point.velocity);
            let pose = workspace.pose(fly_mechanics::multibody::BodyId::WORLD, body);
            assert!((pose.inverse() * goal.pose).log().norm() < 1e-13);
            assert_eq!(point.velocity, goal.twist.as_slice());
            assert_eq!(point.acceleration, goal.acceleration.as_slice());
        }
    }
}
