//! References of whole systems, as they stand in a configuration.

use crate::common;

use common::QUADCOPTER;
use fly_control::ReferenceSettings;
use fly_control::{SystemPoint, Trajectory};
use fly_mechanics::System;
use fly_mechanics::multibody::{BodyId, EquationOfMotion, Workspace};
use nalgebra::{DMatrix, DVector, Matrix6xX, Vector3};

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

fn built(system: &System, text: &str) -> Box<dyn Trajectory<SystemPoint>> {
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
        let mut workspace = Workspace::new(&system.model);
        let body = system.model.body_id("airframe").unwrap();
        for t in [0.0, 0.4, 1.3] {
            reference.at(t, &mut point).unwrap();
            let goal = flown.sample(t).unwrap();
            workspace.update(&system.model, &point.configuration, &point.velocity);
            let pose = workspace.pose(BodyId::WORLD, body);
            assert!((pose.inverse() * goal.pose).log().norm() < 1e-13);
            assert_eq!(point.velocity, goal.twist.as_slice());
            assert_eq!(point.acceleration, goal.acceleration.as_slice());
        }
    }
}

const BICOPTER: &str = include_str!("../../../../configs/vehicles/bicopter.toml");

/// A vehicle on a spring that would influence its attitude.
const SPRUNG: &str = "
name = 'sprung'
[bodies.airframe]
mass = 1
inertia = [0.01, 0.01, 0.02]
[[rotors]]
body = 'airframe'
position = [0, 0, 0]
axis = [0, 0, 1]
thrust = [0, 20]
[[springs]]
from = 'world'
to = 'airframe'
stiffness = { weight = 3 }
";

/// Two links in a plane, and a branch that does not move the tool.
const ARM: &str = "
name = 'arm'
[bodies.upper]
joint = { name = 'shoulder', type = 'revolute', axis = [0, 0, 1], limits = { position_deg = [-170, 170] } }
mass = 1
inertia = [0.1, 0.1, 0.1]
[bodies.fore]
parent = 'upper'
position = [0.35, 0, 0]
joint = { name = 'elbow', type = 'revolute', axis = [0, 0, 1] }
mass = 1
inertia = [0.1, 0.1, 0.1]
[bodies.lamp]
parent = 'upper'
joint = { type = 'revolute', axis = [1, 0, 0] }
mass = 1
inertia = [0.1, 0.1, 0.1]
";

/// A sledge in the vertical plane of x and z, whose thrusts are canted and do not meet its centre of mass.
const CANTED: &str = "
name = 'canted'
[bodies.craft]
position = [0.5, 0.2, 1]
joint = { type = 'planar', axis = [0, -1, 0], coordinates = 'cos_sin' }
mass = 0.9
center_of_mass = [0.02, 0, 0.05]
inertia = [0.012, 0.012, 0.012]
[[rotors]]
body = 'craft'
position = [0.25, 0, 0.02]
axis = [0.2, 0, 1]
thrust = [0, 10]
[[rotors]]
body = 'craft'
position = [-0.2, 0, 0]
axis = [-0.1, 0, 1]
thrust = [0, 10]
";

/// The second mass is connected to the first one, which is pushed along the vertical.
const HANGING: &str = "
name = 'hanging'
[bodies.crane]
position = [0, 0, 3]
joint = { type = 'prismatic', axis = [0, 0, 1] }
mass = 1
inertia = [1, 1, 1]
[bodies.load]
parent = 'crane'
position = [0, 0, -0.4]
joint = { type = 'prismatic', axis = [0, 0, 1] }
mass = 0.5
inertia = [1, 1, 1]
[[springs]]
from = 'crane'
to = 'load'
stiffness = { weight = 40 }
rest = { position = [0, 0, -0.5] }
[[motors]]
joint = 'crane'
";

/// The largest force on the reference that the inputs cannot give, and the largest acceleration.
fn missing(system: &System, text: &str) -> (f64, f64) {
    let model = &system.model;
    let mut reference = built(system, text);
    let mut point = SystemPoint::new(model);
    let mut workspace = Workspace::new(model);
    let mut equation = EquationOfMotion::new(model);
    let n = model.dof();
    let (mut largest, mut fastest) = (0.0_f64, 0.0_f64);
    for i in 0..60 {
        reference
            .at(0.05 * f64::from(i), &mut point)
            .expect("feasible");
        workspace.update(model, &point.configuration, &point.velocity);
        workspace.update_jacobians(model);
        equation.update(model, &workspace);
        let mut b = DVector::zeros(n);
        equation.bias(&point.velocity, b.as_mut_slice());
        let acceleration = DVector::from_column_slice(&point.acceleration);
        let needed = &equation.mass_matrix * &acceleration + b;
        let mut inputs = DMatrix::zeros(n, system.inputs.input_dim());
        system
            .inputs
            .input_matrix(&workspace, &mut Matrix6xX::zeros(n), &mut inputs);
        let given = inputs
            .clone()
            .svd(true, true)
            .solve(&needed, 1e-10)
            .expect("an input");
        largest = largest.max((inputs * given - needed).amax());
        fastest = fastest.max(acceleration.amax());
    }
    (largest, fastest)
}

const CANTED_PATH: &str = "kind = 'pvtol'\npath = { kind = 'lissajous', amplitude = [1.5, 0, 0.6], angular_frequency = [1.2, 0, 0.9], phase = [0, 0, 0.5], offset = [0, 0.2, 2] }";
const HANGING_PATH: &str =
    "kind = 'two_masses'\npath = { kind = 'line', to = [0, 0, 4], start = 0.5, duration = 1.5 }";

#[test]
fn inputs_can_give_what_flat_outputs_need() {
    for (description, text) in [(CANTED, CANTED_PATH), (HANGING, HANGING_PATH)] {
        let system = system(description);
        assert!(consistent(&system, text) > 0.5);
        let (missing, fastest) = missing(&system, text);
        assert!(missing < 1e-12 * (1.0 + fastest), "{text}: {missing}");
        assert!(fastest > 1.0);
    }
}

/// What the whole equation of motion asks for, drag and all, the inputs can give.
#[test]
fn references_of_one_body_systems_know_its_drag() {
    let drag = "drag = { linear = [0.35, 0.2, 0.1], angular = [0.002, 0.001, 0.003] }\ncenter_of_mass = [0, 0, 0.02]\nmass = ";
    let joint = "joint = { type = 'free', coordinates = 'quaternion' }\nposition = [1, 2, 3]\norientation = { rpy_deg = [10, 20, 90] }\n";
    let text = "kind = 'lissajous'\namplitude = [1.5, 1, 0.4]\nangular_frequency = [1.1, 1.6, 0.8]\nyaw_rate = 0.5";
    let dragged = QUADCOPTER.replacen("mass = ", drag, 1);
    for description in [
        &dragged,
        &dragged.replacen("drag = ", &format!("{joint}drag = "), 1),
    ] {
        let system = system(description);
        let (missing, fastest) = missing(&system, text);
        assert!(missing < 1e-9 && fastest > 1.0, "{missing} {fastest}");
    }
    // Pitching, of the body whose torques come with side forces.
    let bicopter = system(BICOPTER);
    let pitching = "kind = 'lissajous'\namplitude = [1, 0, 0.3]\nangular_frequency = [1.4, 0, 0.9]";
    let (exact, fastest) = missing(&bicopter, pitching);
    assert!(exact < 1e-9 && fastest > 1.0, "{exact} {fastest}");
    let (rough, _) = missing(&bicopter, &format!("{pitching}\npoint_height = 0"));
    assert!(rough > 1e-4, "{rough}");
}

#[test]
fn tools_and_planar_bodies_are_where_their_ways_are() {
    let arm = system(ARM);
    let circle = "kind = 'tool'\nbody = 'fore'\npoint = [0.25, 0, 0]\njoints = { elbow = 1.5, lamp = 0.3 }\n\
                  path = { kind = 'circle', radius = 0.08, period = 2, center = [0.3, 0.2, 0] }";
    assert!(consistent(&arm, circle) > 0.5);
    let mut reference = built(&arm, circle);
    let mut point = SystemPoint::new(&arm.model);
    let mut workspace = Workspace::new(&arm.model);
    for i in 0..50 {
        reference.at(0.1 * f64::from(i), &mut point).unwrap();
        workspace.update(&arm.model, &point.configuration, &point.velocity);
        let fore = arm.model.body_id("fore").unwrap();
        let tool = workspace
            .pose(BodyId::WORLD, fore)
            .act(&Vector3::new(0.25, 0.0, 0.0));
        assert!(((tool - Vector3::new(0.3, 0.2, 0.0)).norm() - 0.08).abs() < 1e-10);
        // On its branch, and the lamp rests.
        assert!(point.configuration[1] > 0.1 && point.configuration[2] == 0.3);
    }

    let canted = system(CANTED);
    let text = "kind = 'planar'\nangle = { offset = 0.2, amplitude = 0.3, angular_frequency = 2 }\n\
                path = { kind = 'lissajous', amplitude = [1, 0, 0.5], angular_frequency = [1, 0, 2], offset = [0, 0.2, 0] }";
    assert!(consistent(&canted, text) > 0.5);
    let mut reference = built(&canted, text);
    let mut point = SystemPoint::new(&canted.model);
    let mut workspace = Workspace::new(&canted.model);
    reference.at(0.7, &mut point).unwrap();
    workspace.update(&canted.model, &point.configuration, &point.velocity);
    let craft = canted.model.body_id("craft").unwrap();
    let place = workspace.pose(BodyId::WORLD, craft).translation;
    assert!((place - Vector3::new(0.7_f64.sin(), 0.2, 0.5 * 1.4_f64.sin())).norm() < 1e-14);
}

#[test]
fn a_whole_pose_is_followed_by_six_joints() {
    let six = System::from_toml(include_str!("../../../../configs/systems/arm6.toml")).unwrap();
    let last = six
        .model
        .name(six.model.bodies().last().unwrap())
        .to_owned();
    let names: Vec<_> = six.joints.iter().map(|joint| joint.name.clone()).collect();
    let start = format!(
        "joints = {{ {:?} = 0.4, {:?} = 0.5, {:?} = 0.3, {:?} = 0.7 }}",
        names[1], names[2], names[3], names[4]
    );
    let mut workspace = Workspace::new(&six.model);
    let mut point = SystemPoint::new(&six.model);
    built(&six, &format!("kind = 'rest'\n{start}"))
        .at(0.0, &mut point)
        .unwrap();
    workspace.update(&six.model, &point.configuration, &point.velocity);
    let body = six.model.bodies().last().unwrap();
    let p = workspace.pose(BodyId::WORLD, body).translation;
    let to = [p.x + 0.05, p.y - 0.04, p.z + 0.03];
    let text = format!(
        "kind = 'tool'\nbody = '{last}'\n{start}\npath = {{ kind = 'line', to = {to:?}, duration = 2, yaw_deg = 30 }}"
    );
    assert!(consistent(&six, &text) > 0.02);
    let mut reference = built(&six, &text);
    let first = workspace.pose(BodyId::WORLD, body).rotation;
    reference.at(2.0, &mut point).unwrap();
    workspace.update(&six.model, &point.configuration, &point.velocity);
    let end = workspace.pose(BodyId::WORLD, body);
    assert!((end.translation - Vector3::from(to)).norm() < 1e-9);
    // The attitude is kept: the way's yaw does not change.
    assert!((first.inverse() * end.rotation).log().norm() < 1e-9);
}

/// System, settings, and part of the message.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        ARM,
        "kind = 'hover'",
        "kind: expected rest, joints, transfer, tool, two_masses, pvtol, planar; found hover, which needs one free body and no other moving bodies: the joints that move are `shoulder`, `elbow`, `lamp`",
    ),
    (
        ARM,
        "kind = 'rest'\njoints = { sholder = 1 }",
        "joints.sholder: expected a joint of the system: `shoulder`, `elbow`, `lamp`; found `sholder`",
    ),
    (
        ARM,
        "kind = 'rest'\njoints = { elbow = [1, 2] }",
        "joints.elbow: expected one number (angle), found 2",
    ),
    (
        ARM,
        "kind = 'rest'\njoints = { shoulder = 3.1 }",
        "joints: at 0 s joint `shoulder` would be at 3.100000: expected within its limits",
    ),
    (
        JOINTS,
        "kind = 'joints'\njoints.ball = { amplitude = 1 }",
        "joints.ball.amplitude: expected 3 numbers (roll, pitch, yaw), found 1",
    ),
    (
        ARM,
        "kind = 'transfer'",
        "to: expected `to` and `duration`, or `legs`, found neither",
    ),
    (
        ARM,
        "kind = 'transfer'\nto = { elbow = inf }\nduration = 1",
        "to.elbow: expected finite numbers, found inf",
    ),
    (
        ARM,
        "kind = 'tool'\nbody = 'fore'\npoint = [0.25, 0, 0]\njoints = { elbow = 1.5 }\npath = { kind = 'line', to = [0.8, 0, 0], duration = 2 }",
        "no configuration was found in which `fore` is at its target: the nearest leaves",
    ),
    (
        ARM,
        "kind = 'tool'\nbody = 'fore'\npoint = [0.25, 0, 0]\npath = { kind = 'line', to = [0.3, 0, 0], duration = 2 }",
        "path: at 0 s the Jacobian of `fore` is singular",
    ),
    (
        ARM,
        "kind = 'tool'\nbody = 'for'\npath = { kind = 'line', to = [0.3, 0, 0], duration = 2 }",
        "body: ",
    ),
    (
        JOINTS,
        "kind = 'tool'\nbody = 'ball'\npath = { kind = 'line', to = [0.3, 0, 0], duration = 2 }",
        "held: expected at most 6 degrees of freedom between the world and `ball`, found 10",
    ),
    (
        ARM,
        "kind = 'two_masses'\npath = { kind = 'line', to = [0, 0, 0], duration = 2 }",
        "kind: expected two bodies that slide along one line, inputs at the first only, and nothing but a spring from it and gravity at the second, found 3 bodies that move",
    ),
    (
        HANGING,
        "kind = 'two_masses'\npath = { kind = 'line', to = [0, 1, 4], duration = 2 }",
        "path: at 0.02 s it leaves the line",
    ),
    (
        ARM,
        "kind = 'pvtol'\npath = { kind = 'line', to = [0, 0, 0], duration = 2 }",
        "kind: expected one body on a planar joint, driven by two independent thrusts in its plane, found 3 bodies that move",
    ),
    (
        CANTED,
        "kind = 'planar'\npath = { kind = 'line', to = [0, 0.2, 0], duration = 2 }",
        "angle: expected `angle`, found a plane that is not horizontal",
    ),
    (
        CANTED,
        "kind = 'planar'\npath = { kind = 'lissajous', posture = 'level', amplitude = [0, 0, 0], angular_frequency = [0, 0, 0] }",
        "path.posture: expected none",
    ),
    (
        CANTED,
        "kind = 'planar'\npath = { kind = 'circle', radius = 1, period = 3, point_height = 0.1 }",
        "path.point_height: expected none",
    ),
    (
        SPRUNG,
        "kind = 'circle'\nradius = 1\nperiod = 3",
        "kind: expected a kind of reference that prescribes every joint, found circle, whose attitudes",
    ),
    (
        ARM,
        "kind = 'sampled'\nfile = 'none.csv'",
        "file: none.csv: No such file",
    ),
    (
        ARM,
        "kind = 'recorded'",
        "kind: expected a kind that is known in advance, found recorded",
    ),
];

#[test]
fn what_a_system_cannot_follow_is_refused_with_its_key() {
    // Drag of a planar aircraft.
    let dragged = CANTED.replace("mass = 0.9", "mass = 0.9\ndrag = { linear = [0.2, 0, 0] }");
    let Err(error) = settings(CANTED_PATH).build_for_system(&system(&dragged)) else {
        panic!("accepted with drag");
    };
    assert_eq!(
        error.to_string(),
        "kind: expected one body on a planar joint, driven by two independent thrusts in its plane, found drag, with which no point of it is free"
    );
    for (description, text, expected) in REFUSED {
        match settings(text).build_for_system(&system(description)) {
            Ok(_) => panic!("accepted: {text}"),
            Err(error) => assert!(error.to_string().contains(expected), "{text}\n{error}"),
        }
    }
    let Err(error) = settings("kind = 'rest'").build(&common::vehicle(QUADCOPTER)) else {
        panic!("accepted");
    };
    assert_eq!(
        error.to_string(),
        "kind: expected a kind for vehicles, found rest, which is for systems"
    );
}

#[test]
fn samples_of_joints_are_followed() {
    let joints = system(JOINTS);
    let row = |i: i32| {
        let t = 0.1 * f64::from(i);
        format!("{t},{},{}\n", (2.0 * t).sin(), t.cos())
    };
    let text = "time,slider,ball.yaw\n".to_owned() + &(0..60).map(row).collect::<String>();
    let file = std::env::temp_dir().join(format!("fly-samples-{}.csv", std::process::id()));
    std::fs::write(&file, text).unwrap();
    let text = format!("kind = 'sampled'\nfile = {:?}", file.to_str().unwrap());
    assert!(consistent(&joints, &text) > 1.0);
    let mut reference = built(&joints, &text);
    std::fs::remove_file(&file).unwrap();
    let mut point = SystemPoint::new(&joints.model);
    reference.at(1.0, &mut point).unwrap();
    let slider = joints
        .model
        .config_range(joints.joint_named("slider").unwrap())
        .start;
    assert!((point.configuration[slider] - 2.0_f64.sin()).abs() < 1e-15);
    assert_eq!(reference.duration(), Some(0.1 * 59.0));
}

#[test]
fn no_reference_allocates() {
    for (description, text) in [
        (JOINTS, SINES),
        (JOINTS, TRANSFER),
        (CANTED, CANTED_PATH),
        (HANGING, HANGING_PATH),
        (QUADCOPTER, "kind = 'hover'"),
        (
            ARM,
            "kind = 'tool'\nbody = 'fore'\npoint = [0.25, 0, 0]\njoints = { elbow = 1.5 }\npath = { kind = 'circle', radius = 0.08, period = 2, center = [0.3, 0.2, 0] }",
        ),
    ] {
        let system = system(description);
        let mut reference = built(&system, text);
        let mut point = SystemPoint::new(&system.model);
        let count = fly_testing::allocations(|| {
            for i in 0..50 {
                reference
                    .at(0.05 * f64::from(i), &mut point)
                    .expect("feasible");
            }
        });
        assert_eq!(count, 0, "{text}");
    }
}
