//! Plants of several bodies: against an integrator of higher order, and with loops against one body.

#![allow(non_snake_case)]

use fly_hal::{Backend, Configuration, Deadline};
use fly_lie::SE3;
use fly_mechanics::System;
use fly_mechanics::integrate::{Adaptive, SystemState, Tolerance};
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_plugin_sim::Simulation;
use nalgebra::{DMatrix, DVector, Matrix6xX};

/// A body with three rotors, of which one tilts, an arm with a motor, and a load on a ball joint below.
const CRANE: &str = r#"
name = "crane"

[bodies.frame]
mass = 2.0
inertia = [0.02, 0.03, 0.04]

[bodies.load]
parent = "frame"
position = [0.0, 0.0, -0.1]
mass = 0.4
center_of_mass = [0.0, 0.0, -0.5]
inertia = [0.002, 0.002, 0.001]
joint = { type = "spherical", damping = 0.01 }

[bodies.arm]
parent = "frame"
position = [0.1, 0.0, 0.0]
mass = 0.2
center_of_mass = [0.1, 0.0, 0.0]
inertia = [0.001, 0.002, 0.002]
joint = { name = "shoulder", type = "revolute", axis = [0, 1, 0] }

[[springs]]
from = "frame"
to = "arm"
stiffness = { weight = 0.0, moment = [1.0, 1.0, 1.0] }
rest = { position = [0.1, 0.0, 0.0] }

[[rotors]]
body = "frame"
position = [0.2, 0.1, 0.0]
axis = [0.0, 0.0, 1.0]
thrust = [0.0, 20.0]
time_constant = 0.05

[[rotors]]
body = "frame"
position = [-0.2, 0.1, 0.0]
axis = [0.0, 0.0, 1.0]
thrust = [0.0, 20.0]

[[rotors]]
body = "frame"
position = [0.0, -0.2, 0.0]
axis = [0.0, 0.0, 1.0]
thrust = [0.0, 20.0]
tilt = { axis = [0.0, 1.0, 0.0], limit_deg = 45.0, time_constant = 0.1 }

[[motors]]
joint = "shoulder"
effort = [-2.0, 2.0]
"#;

fn simulation(text: &str, vehicle: &str) -> Simulation {
    let configuration = Configuration {
        rate_hz: 500.0,
        ..Configuration::new(text, vehicle)
    };
    let mut simulation = Simulation::configure(&configuration).unwrap();
    simulation.start().unwrap();
    simulation
}

/// Frames with constant commands: the values of the last.
fn last(text: &str, vehicle: &str, frames: usize, commands: &[f64]) -> Vec<f64> {
    let mut simulation = simulation(text, vehicle);
    let mut frame = simulation.description().frame();
    for _ in 0..frames {
        simulation.read(Deadline::NOW, &mut frame.as_mut()).unwrap();
        simulation.write(frame.time, commands).unwrap();
    }
    frame.values.clone()
}

#[test]
fn a_system_moves_as_mechanics_says() {
    let commands = [9.0, 8.5, 9.5, 0.1, 0.3];
    let text = "initial = { position = [1, 2, 3], velocity = [0.5, 0, 0], attitude = { rotation_vector = [0.1, 0.2, 0.3] }, \
                angular_velocity = [0.2, -0.1, 0.3], joints = { shoulder = 0.4, load = [0.3, -0.2, 0.1] }, commands = 'first' }";
    let found = last(text, CRANE, 501, &commands);

    // The same by a step of order eight that is as short as it has to be, with forces by the input matrix.
    let system = System::from_toml(CRANE).unwrap();
    let (model, inputs) = (&system.model, &system.inputs);
    let pose = SE3::new(
        fly_lie::SO3::exp(&nalgebra::Vector3::new(0.1, 0.2, 0.3)),
        nalgebra::Vector3::new(1.0, 2.0, 3.0),
    );
    let velocity = pose
        .rotation
        .inverse()
        .act(&nalgebra::Vector3::new(0.5, 0.0, 0.0));
    let mut motion = SystemState::at_rest(model);
    let mut step = vec![0.0; model.dof()];
    let range = |name: &str| model.velocity_range(model.body_id(name).unwrap());
    step[range("frame")].copy_from_slice(pose.log().as_slice());
    step[range("arm")].copy_from_slice(&[0.4]);
    step[range("load")].copy_from_slice(&[0.3, -0.2, 0.1]);
    model.integrate(&mut motion.configuration, &step);
    let twist = [velocity.x, velocity.y, velocity.z, 0.2, -0.1, 0.3];
    motion.velocity[range("frame")].copy_from_slice(&twist);

    let mut u = vec![0.0; inputs.input_dim()];
    inputs.input_from_commands(&commands, &mut u);
    let u = DVector::from_vec(u);
    let mut workspace = Workspace::new(model);
    let mut integrator = Adaptive::new(model, Tolerance::default());
    let dynamics = |motion: &SystemState<f64>, rates: &mut [f64]| {
        let (x, xi) = (&motion.configuration, &motion.velocity);
        workspace.update(model, x, xi);
        workspace.update_jacobians(model);
        let mut B = DMatrix::zeros(model.dof(), inputs.input_dim());
        inputs.input_matrix(&workspace, &mut Matrix6xX::zeros(model.dof()), &mut B);
        let force = B * &u;
        model
            .forward_dynamics(&mut workspace, x, xi, force.as_slice(), rates)
            .unwrap();
    };
    integrator
        .advance(model, &mut motion, 1.0, dynamics)
        .unwrap();
    workspace.update(model, &motion.configuration, &motion.velocity);
    let frame = model.body_id("frame").unwrap();
    let (pose, twist) = (
        workspace.pose(BodyId::WORLD, frame),
        workspace.twist(BodyId::WORLD, frame),
    );

    let quaternion = pose.rotation.to_quaternion();
    let expected: Vec<f64> = (pose.translation.iter().chain(&quaternion).chain(&twist))
        .copied()
        .collect();
    let sign = (quaternion[0] * found[3]).signum();
    for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let expected = if (3..7).contains(&i) {
            expected * sign
        } else {
            *expected
        };
        assert!((found - expected).abs() < 1e-8, "{i}: {found} {expected}");
    }
    // It does move.
    assert!(twist.norm() > 1.0);
}

/// Two halves of a body that a loop holds together move as the whole.
#[test]
fn a_loop_holds_two_halves_together() {
    let rotor = "[[rotors]]\nbody = 'half'\nposition = [0.3, 0, 0.1]\naxis = [0, 0, 1]\ndrag_ratio = 0.02\nthrust = [0, 20]\n";
    let inertia = "mass = 1.0\ninertia = [0.01, 0.02, 0.03]\n";
    let halves = format!(
        "name = 'halves'\n[bodies.half]\n{inertia}[bodies.other]\n{inertia}[[loops]]\ntype = 'fixed'\nfrom = 'half'\nfrom_frame.position = [0.2, 0, 0]\nto = 'other'\n{rotor}"
    );
    let whole = format!(
        "name = 'whole'\n[bodies.half]\nparts = [{{ mass = 1, inertia = [0.01, 0.02, 0.03] }}, \
         {{ mass = 1, inertia = [0.01, 0.02, 0.03], position = [0.2, 0, 0] }}]\n{rotor}"
    );
    // At rest to begin with, so that both begin alike; the halves where they belong, or nearly.
    for start in [0.2, 0.21] {
        let apart = format!("body = 'half'\ninitial.joints.other = [{start}, 0, 0, 0, 0, 0]");
        let mut found = last(&apart, &halves, 501, &[15.0]);
        let expected = last("", &whole, 501, &[15.0]);
        // Where they begin only nearly right, both are moved.
        let moved = last(&apart, &halves, 1, &[15.0])[0];
        found[0] -= moved;
        assert!((moved.abs() < 1e-12) == (start == 0.2), "{moved}");
        // What is measured of the tracked body.
        for (found, expected) in found[..13].iter().zip(&expected) {
            assert!((found - expected).abs() < 1e-7, "{found} {expected}");
        }
        assert!(expected[2].abs() > 0.5);
    }
}

/// What is given of the start stays, and the rest adapts to it; where nothing can adapt, all of it does.
#[test]
fn loops_are_closed_around_what_is_given() {
    const FOUR_BAR: &str = include_str!("../../../../../configs/systems/four_bar.toml");
    let start = |joints: &str| {
        let given = format!("initial = {{ joints = {{ {joints} }}, joint_velocities.crank = 3 }}");
        let found = last(&given, FOUR_BAR, 1, &[0.0]);
        // Position and velocity of crank, coupler and rocker.
        <[f64; 6]>::try_from(&found[..6]).expect("three joints")
    };
    for crank in [0.5, -2.0] {
        let [q, rate, coupler, _, rocker, _] = start(&format!("crank = {crank}"));
        assert!((q - crank).abs() < 1e-12 && (rate - 3.0).abs() < 1e-12);
        assert!(coupler.abs() > 0.01 && rocker.abs() > 0.01);
    }
    let [crank, rate, _, _, rocker, _] = start("crank = 0.5, rocker = 0.5");
    assert!((crank - 0.5).abs() > 0.01 && (rocker - 0.5).abs() > 0.01);
    assert!((rate - 3.0).abs() < 1e-12);
}
