//! Commands, inputs, limits.

#![allow(non_snake_case)]

use std::f64::consts::PI;

use fly_lie::SE3;
use fly_mechanics::integrate::{Integrator, SystemState};
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_mechanics::{
    ActuatedDynamics, Propeller, Rotor, RotorError, Rotors, State, System, Tilt, Vehicle,
};
use nalgebra::{DMatrix, DVector, Matrix6xX, Vector3, Vector6};

fn rotor(name: &str, position: Vector3<f64>, tilt: Option<Tilt>) -> Rotor {
    Rotor {
        name: name.to_owned(),
        position,
        axis: Vector3::new(0.0, 0.0, 2.0),
        drag_ratio: 0.02,
        thrust: [1.0, 6.0],
        time_constant: 0.03,
        tilt,
        propeller: Propeller::default(),
    }
}

fn tilt(axis: Vector3<f64>, segments: usize) -> Tilt {
    Tilt {
        axis,
        limit: PI / 4.0,
        time_constant: 0.05,
        segments,
    }
}

/// A fixed rotor between two tilting ones.
fn mixed(segments: usize) -> Rotors {
    let rotors = vec![
        rotor(
            "a",
            Vector3::new(0.3, 0.1, 0.0),
            Some(tilt(3.0 * Vector3::x(), segments)),
        ),
        rotor("b", Vector3::new(-0.2, 0.0, 0.1), None),
        rotor(
            "c",
            Vector3::new(0.0, 0.4, -0.1),
            Some(tilt(Vector3::y(), segments)),
        ),
    ];
    Rotors::new(rotors).expect("good rotors")
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
}

#[test]
fn commands_and_inputs_are_ordered_rotor_by_rotor() {
    let rotors = mixed(4);
    let names = [
        "rotor.0.thrust",
        "rotor.0.tilt",
        "rotor.1.thrust",
        "rotor.2.thrust",
        "rotor.2.tilt",
    ];
    assert_eq!(rotors.command_names(), names);
    assert_eq!(rotors.time_constants(), [0.03, 0.05, 0.03, 0.03, 0.05]);
    assert_eq!(rotors.command_limits()[1], [-PI / 4.0, PI / 4.0]);
    assert_eq!(rotors.command_limits()[2], [1.0, 6.0]);
    assert_eq!(
        rotors.rotor_ranges().collect::<Vec<_>>(),
        [0..2, 2..3, 3..5]
    );

    let commands = [2.0, 0.3, 4.0, 5.0, -0.7];
    let mut u = [0.0; 5];
    rotors.input_from_commands(&commands, &mut u);
    let expected = [
        2.0 * 0.3_f64.sin(),
        2.0 * 0.3_f64.cos(),
        4.0,
        -5.0 * 0.7_f64.sin(),
        5.0 * 0.7_f64.cos(),
    ];
    assert!(close(&u, &expected, 1e-15));
    let mut back = [0.0; 5];
    rotors.commands_from_input(&u, &mut back);
    assert!(close(&back, &commands, 1e-15));
    // No thrust has no direction.
    rotors.commands_from_input(&[0.0, -0.0, 4.0, -0.0, -0.0], &mut back);
    assert_eq!(back, [0.0, 0.0, 4.0, 0.0, 0.0]);
}

/// The wrench from first principles: force, lever and drag torque of every rotor.
#[test]
fn wrench_is_that_of_the_thrusts() {
    let rotors = mixed(4);
    let commands = [2.0, 0.3, 4.0, 5.0, -0.7];
    let mut expected = Vector6::zeros();
    // Tilting about x by +0.3 swings the thrust from z towards x × z = -y; about y by -0.7, away from y × z = x.
    let a = Vector3::new(0.0, -0.3_f64.sin(), 0.3_f64.cos()) * 2.0;
    let c = Vector3::new(-0.7_f64.sin(), 0.0, 0.7_f64.cos()) * 5.0;
    let forces = [a, Vector3::z() * 4.0, c];
    for (rotor, force) in rotors.as_slice().iter().zip(forces) {
        let torque = rotor.position.cross(&force) + force * 0.02;
        expected += Vector6::from_iterator(force.iter().chain(&torque).copied());
    }
    assert!((rotors.wrench(&commands) - expected).amax() < 1e-15);
    let mut u = [0.0; 5];
    rotors.input_from_commands(&commands, &mut u);
    assert!(
        (rotors.input_matrix() * nalgebra::DVector::from_row_slice(&u) - expected).amax() < 1e-15
    );
}

/// What the polytope allows, the rotors can do; and it is not much smaller than what they can do.
#[test]
fn limits_are_inside_what_the_rotors_can_do() {
    for segments in 1..=9 {
        let rotors = mixed(segments);
        let limits = rotors.limits();
        assert_eq!(limits.rows(), 2 + 2 * (3 + segments));
        assert_eq!(limits.dim(), 5);
        assert!(limits.violation(rotors.interior()) < -0.1);

        let (mut inside, mut possible) = (0, 0);
        let mut u = rotors.interior().to_vec();
        let mut commands = [0.0; 5];
        for i in 0..200 {
            for j in 0..200 {
                u[0] = -5.0 + 0.05 * f64::from(i);
                u[1] = -0.5 + 0.035 * f64::from(j);
                rotors.commands_from_input(&u, &mut commands);
                let within = |range: [f64; 2], x: f64| range[0] <= x && x <= range[1];
                let limits_of = rotors.command_limits();
                let can = within(limits_of[0], commands[0]) && within(limits_of[1], commands[1]);
                let allowed = limits.contains(&u, 0.0);
                assert!(can || !allowed, "{segments}: {u:?}");
                inside += i32::from(allowed);
                possible += i32::from(can);
            }
        }
        if segments == 8 {
            assert!(
                f64::from(inside) > 0.96 * f64::from(possible),
                "{inside} of {possible}"
            );
        }
    }
}

#[test]
fn a_number_that_is_none_is_outside() {
    let rotors = mixed(2);
    let mut u = rotors.interior().to_vec();
    u[0] = f64::NAN;
    assert!(!rotors.limits().contains(&u, 1e9));
}

#[test]
fn rotors_are_checked() {
    let good = rotor("a", Vector3::zeros(), None);
    let not_finite = Rotor {
        position: Vector3::new(f64::NAN, 0.0, 0.0),
        ..good.clone()
    };
    let error = not_finite.check().expect_err("a NaN");
    assert_eq!(
        error.to_string(),
        "rotor `a`: `position` must be finite, found NaN"
    );
    let error = Rotors::new(vec![good.clone(), good]).expect_err("twice the same");
    assert!(matches!(error, RotorError::DuplicateName { index: 1, .. }));
}

/// From command to motion, nothing on the flight path allocates.
#[test]
fn the_flight_path_does_not_allocate() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../configs/vehicles/tricopter.toml"
    );
    let text = std::fs::read_to_string(path).expect("the tricopter");
    let vehicle = Vehicle::from_toml(&text).expect("no mistake");
    let (rotors, body) = (&vehicle.rotors, &vehicle.body);
    let mut integrator = Integrator::new(6);
    let mut state = State::at_rest(SE3::identity());
    let mut actual = [3.0, 0.0, 3.0, 0.0, 3.0, 0.0];
    let (mut u, mut commands) = ([0.0; 6], [0.0; 6]);
    let allocations = fly_testing::allocations(|| {
        for _ in 0..10 {
            rotors.input_from_commands(&actual, &mut u);
            rotors.commands_from_input(&u, &mut commands);
            assert!(rotors.limits().contains(&u, 1e-9));
            integrator.step(&mut state, &mut actual, 0.001, |state, actual, rate| {
                for i in 0..6 {
                    rate[i] = (commands[i] - actual[i]) / rotors.time_constants()[i];
                }
                body.acceleration(state, &rotors.wrench(actual))
            });
        }
    });
    assert_eq!(allocations, 0);
    assert!(state.twist[2] < 0.0, "9 N do not hold a kilogram");
}

/// A motor without lag and one behind a lag: the first follows its command at once, whatever its entry in the state.
#[test]
fn commands_without_lag_act_at_once() {
    let system = System::from_toml(
        r#"
        name = "sliders"
        gravity = [0, 0, 0]
        [bodies.quick]
        joint = { type = "prismatic", axis = [1, 0, 0] }
        mass = 2
        inertia = [1, 1, 1]
        [bodies.slow]
        joint = { type = "prismatic", axis = [1, 0, 0] }
        mass = 2
        inertia = [1, 1, 1]
        [[motors]]
        joint = "quick"
        effort = 10
        [[motors]]
        joint = "slow"
        effort = 10
        time_constant = 0.1
        "#,
    )
    .expect("a system");
    let mut dynamics = ActuatedDynamics::new(&system, 1e-3).expect("dynamics");
    let mut state = SystemState::at_rest(&system.model);
    state.velocity.extend_from_slice(&[1.0, 1.0]);
    let mut rates = [0.0; 4];
    dynamics.rates(&system, &[6.0, 6.0], &state, &mut rates);
    assert_eq!(rates, [3.0, 0.5, 0.0, 50.0]);
}

/// A bob under a body that flies, with three motors in the ball joint between them.
fn bob(velocity: &str) -> System {
    let text = format!(
        r#"
        name = "bob"
        gravity = [0, 0, 0]
        [bodies.base]
        joint = {{ type = "free" }}
        mass = 2
        inertia = [0.05, 0.06, 0.07]
        [bodies.bob]
        parent = "base"
        position = [0.3, 0.1, 0]
        joint = {{ type = "spherical", velocity = "{velocity}" }}
        mass = 1
        center_of_mass = [0.05, 0, -0.4]
        inertia = [0.02, 0.03, 0.04]
        [[motors]]
        joint = "bob"
        component = 0
        [[motors]]
        joint = "bob"
        component = 1
        [[motors]]
        joint = "bob"
        component = 2
        "#
    );
    System::from_toml(&text).expect("a system")
}

/// A motor turns the two bodies of its joint against each other, also where the velocities of the joint are relative to the world: the
/// motion is the same, and the momentum of both does not change.
#[test]
fn motors_push_on_both_bodies() {
    let (relative, absolute) = (bob("relative"), bob("absolute"));
    let efforts = [0.4, -0.3, 0.2];
    let mut x = relative.model.neutral_configuration();
    (relative.model).integrate(&mut x, &[0.1, 0.2, 0.3, 0.4, -0.5, 0.6, 0.7, 0.8, -0.9]);
    let xi = [0.3, -0.2, 0.1, 0.5, 0.7, -0.4, 0.9, -0.6, 0.8];
    let accelerate = |system: &System, x: &[f64], xi: &[f64]| {
        let mut dynamics = ActuatedDynamics::new(system, 1e-3).expect("dynamics");
        let mut state = SystemState::at_rest(&system.model);
        state.configuration.copy_from_slice(x);
        state.velocity[..9].copy_from_slice(xi);
        state.velocity.resize(12, 0.0);
        let mut rates = [0.0; 12];
        dynamics.rates(system, &efforts, &state, &mut rates);
        Vector6::from_column_slice(&rates[..6])
    };
    let expected = accelerate(&relative, &x, &xi);

    let model = &absolute.model;
    let bob = model.body_id("bob").expect("it is there");
    let mut workspace = Workspace::new(&relative.model);
    workspace.update(&relative.model, &x, &xi);
    let rotation = workspace.pose(BodyId::WORLD, bob).rotation;
    let (mut x, mut xi) = (x, xi);
    x[12..].copy_from_slice(rotation.matrix().as_slice());
    xi[6..].copy_from_slice(&workspace.twist(BodyId::WORLD, bob).as_slice()[3..]);
    let found = accelerate(&absolute, &x, &xi);
    assert!((found - expected).norm() < 1e-12, "{found} {expected}");

    let mut workspace = Workspace::new(model);
    workspace.update(model, &x, &xi);
    workspace.update_jacobians(model);
    let mut B = DMatrix::zeros(9, 3);
    (absolute.inputs).input_matrix(&workspace, &mut Matrix6xX::zeros(9), &mut B);
    let mut force = [0.0; 9];
    (absolute.inputs).add_force(&workspace, &efforts, &mut force);
    let sum = B * DVector::from_row_slice(&efforts);
    assert!(close(sum.as_slice(), &force, 1e-15), "{sum} {force:?}");
    // In a state of rest the momentum changes as the force does: neither linearly nor angularly.
    workspace.update(model, &x, &[0.0; 9]);
    let mut rates = DVector::zeros(9);
    (model.forward_dynamics(&mut workspace, &x, &[0.0; 9], &force, rates.as_mut_slice()))
        .expect("it moves");
    workspace.update(model, &x, rates.as_slice());
    let change = workspace.momentum(model).norm();
    assert!(rates.norm() > 1.0 && change < 1e-13, "{rates} {change:e}");
}
