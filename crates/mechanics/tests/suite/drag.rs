//! Linear drag: its force against its power, the free body against the system, and its description.

#![allow(non_snake_case)]

use crate::random_tree;

use fly_lie::SE3;
use fly_lie::operators::linear;
use fly_mechanics::multibody::{BodyId, EquationOfMotion, Workspace};
use fly_mechanics::{Drag, FreeBody, State, System, Vehicle, integrate};
use nalgebra::{Vector3, Vector6};
use random_tree::Random;

/// With its centre of mass off the origin and different drag along every axis.
const GLIDER: &str = r#"
name = "glider"
gravity = [0.3, -0.2, -9.81]

[bodies.airframe]
mass = 1.5
center_of_mass = [0.05, -0.03, 0.08]
inertia = [[0.02, 0.001, -0.002], [0.001, 0.03, 0.003], [-0.002, 0.003, 0.04]]
drag = { linear = [0.4, 0.25, 0.1], angular = [0.002, 0.003, 0.005] }
"#;

fn states() -> Vec<State<f64>> {
    let mut random = Random::new(7);
    let states = (0..50).map(|_| State {
        pose: random.pose(),
        twist: Vector6::from_column_slice(&random.numbers(6, 5.0)),
    });
    states.collect()
}

fn wrench(state: &State<f64>) -> Vector6<f64> {
    state.twist.map(|x| (3.0 * x).sin())
}

/// As the paper writes it: the force `-R diag(d) R^T v` at the centre of mass.
#[test]
fn the_centre_of_mass_is_slowed_along_the_axes_of_the_body() {
    let body = Vehicle::from_toml(GLIDER).unwrap().body;
    let without = body.with_drag(None);
    let (mass, center) = (body.inertia().mass(), body.inertia().center_of_mass());
    let drag = *body.drag().unwrap();
    for state in states() {
        let R = state.pose.rotation;
        let v = state.velocity_in_world() + R.act(&state.twist.fixed_rows::<3>(3).cross(&center));
        let expected = R.act(&-drag.linear().component_mul(&R.inverse().act(&v)));
        // The change of the acceleration of the centre of mass, in body components.
        let change = body.acceleration(&state, &Vector6::zeros())
            - without.acceleration(&state, &Vector6::zeros());
        let change = linear(&change) + change.fixed_rows::<3>(3).cross(&center);
        assert!((R.act(&change) * mass - expected).norm() < 1e-12);
        // And the turn about it by nothing but the angular drag.
        let w = state.twist.fixed_rows::<3>(3).into_owned();
        let turn = body.acceleration(&state, &Vector6::zeros())
            - without.acceleration(&state, &Vector6::zeros());
        let torque = body.inertia().inertia_about_center() * turn.fixed_rows::<3>(3);
        assert!((torque + drag.angular().component_mul(&w)).norm() < 1e-12);
    }
}

#[test]
fn the_force_is_that_of_the_matrix_which_takes_energy_out_of_every_motion() {
    let body = Vehicle::from_toml(GLIDER).unwrap().body;
    let D = body.damping_matrix();
    assert!((D - D.transpose()).amax() < 1e-17);
    assert!(D.symmetric_eigenvalues().min() > 0.0);
    for state in states() {
        let xi = &state.twist;
        assert!((body.damping_force(xi) - D * xi).norm() < 1e-13);
        assert!((2.0 * body.dissipation(xi) - xi.dot(&(D * xi))).abs() < 1e-13);
    }
    let without = body.with_drag(None);
    assert_eq!(without.damping_matrix().amax(), 0.0);
    assert_eq!(without.dissipation(&states()[0].twist), 0.0);
}

#[test]
fn energy_changes_by_the_power_of_the_wrench_less_that_of_the_drag() {
    let body = Vehicle::from_toml(GLIDER).unwrap().body;
    for state in states() {
        let f = wrench(&state);
        let at = |h: f64| {
            let state = integrate::rk4(&state, h, |state| body.acceleration(state, &f));
            body.energy(&state)
        };
        // Central differences with two step sizes, extrapolated.
        let slope = |h: f64| (at(h) - at(-h)) / (2.0 * h);
        let rate = (4.0 * slope(1e-3) - slope(2e-3)) / 3.0;
        let expected = f.dot(&state.twist) - 2.0 * body.dissipation(&state.twist);
        assert!((rate - expected).abs() < 1e-7, "{rate} {expected}");
    }
}

#[test]
fn the_system_moves_as_the_free_body() {
    let (system, vehicle) = (System::from_toml(GLIDER), Vehicle::from_toml(GLIDER));
    let (model, body) = (system.unwrap().model, vehicle.unwrap().body);
    assert_eq!(model.drag(model.bodies().next().unwrap()), body.drag());
    assert_eq!(model.drag(BodyId::WORLD), None);
    assert_eq!(model.dampers().len(), 0);
    let mut workspace = Workspace::new(&model);
    let mut equation = EquationOfMotion::new(&model);
    for state in states() {
        let id = model.bodies().next().unwrap();
        let mut x = model.neutral_configuration();
        model.integrate(&mut x, state.pose.log().as_slice());
        let xi = state.twist.as_slice();
        let f = wrench(&state);
        let expected = body.acceleration(&state, &f);
        let (mut tau, mut bias, mut found) = ([0.0; 6], [0.0; 6], [0.0; 6]);

        model.bias(&mut workspace, &x, xi, &mut bias);
        let b = body.bias(&state);
        assert!((Vector6::from(bias) - b).norm() < 1e-12);
        workspace.update(&model, &x, xi);
        workspace.update_jacobians(&model);
        workspace.add_wrench(id, &f, &mut tau);
        (model.forward_dynamics(&mut workspace, &x, xi, &tau, &mut found)).expect("mass");
        assert!((Vector6::from(found) - expected).norm() < 1e-12);

        equation.update(&model, &workspace);
        let D = body.damping_matrix();
        assert!((&equation.damping - D).amax() < 1e-14);
        let power = workspace.dissipated_power(&model) - 2.0 * body.dissipation(&state.twist);
        assert!(power.abs() < 1e-12);
    }
}

/// A body that falls head first comes to the speed at which drag carries the weight.
#[test]
fn a_falling_body_has_a_terminal_velocity() {
    let vehicle = Vehicle::from_toml(
        "name = 'ball'\n[bodies.ball]\nmass = 0.5\nshape = { sphere = { radius = 0.1 } }\ndrag = { linear = [1, 1, 2] }",
    );
    let body: FreeBody<f64> = vehicle.unwrap().body;
    let mut state = State::at_rest(SE3::identity());
    for _ in 0..1000 {
        state = integrate::rk4(&state, 0.01, |state| {
            body.acceleration(state, &Vector6::zeros())
        });
    }
    let speed = state.velocity_in_world();
    assert!((speed - Vector3::new(0.0, 0.0, -0.5 * 9.81 / 2.0)).norm() < 1e-9);
}

#[test]
fn a_description_keeps_it() {
    let system = System::from_toml(GLIDER).unwrap();
    let again = System::from_toml(&system.to_toml()).unwrap();
    assert_eq!(again.model, system.model);
    let without = System::from_toml(&GLIDER.replace("drag", "# drag")).unwrap();
    assert!(without.model != system.model);
    assert!(!without.to_toml().contains("drag"));
}

#[test]
fn mistakes_are_named() {
    let check = |drag: &str, message: &str, place: &str| {
        let text = GLIDER.replace(
            "{ linear = [0.4, 0.25, 0.1], angular = [0.002, 0.003, 0.005] }",
            drag,
        );
        let error = System::from_toml(&text).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(&text[error.span.clone()], place);
    };
    check(
        "{ linear = [0.4, -0.25, 0.1] }",
        "bodies.airframe.drag.linear: the linear drag must be three finite numbers that are not negative, found -0.25: negative drag would add energy",
        "[0.4, -0.25, 0.1]",
    );
    check(
        "{ angular = [0, 0, -1] }",
        "bodies.airframe.drag.angular: the angular drag must be three finite numbers that are not negative, found -1: negative drag would add energy",
        "[0, 0, -1]",
    );
    check(
        "0.3",
        "bodies.airframe.drag: expected a table, found a number",
        "0.3",
    );
    check(
        "{ linear = [0.4, 0.1] }",
        "bodies.airframe.drag.linear: expected an array of 3 numbers, found one of 2",
        "[0.4, 0.1]",
    );
    let text = GLIDER.replace("angular", "anguler");
    let error = System::from_toml(&text).unwrap_err();
    assert_eq!(error.help.as_deref(), Some("did you mean `angular`?"));
    assert!(Drag::new(Vector3::new(0.0, f64::NAN, 0.0), Vector3::zeros()).is_err());
    assert!(Drag::new(Vector3::zeros(), Vector3::new(0.0, f64::INFINITY, 0.0)).is_err());
}

/// In a tree of joints, energy goes where the drag of each body takes it and nowhere else: force times velocity of each centre of mass.
#[test]
fn bodies_in_joints_lose_the_energy_that_their_drag_takes() {
    let text = format!(
        "{GLIDER}
[bodies.tow]
parent = 'airframe'
position = [-0.3, 0.1, 0.05]
joint = {{ type = 'universal', axis = [0, 0, 1], second_axis = [0, 1, 0] }}
center_of_mass = [-0.6, 0.02, -0.1]
mass = 0.3
inertia = [0.004, 0.005, 0.006]
drag = {{ linear = [0.05, 0.3, 0.2], angular = [0.001, 0.004, 0.002] }}
[bodies.sock]
parent = 'tow'
position = [-1, 0, 0]
joint = {{ type = 'spherical', velocity = 'absolute' }}
center_of_mass = [-0.2, 0, 0]
mass = 0.1
inertia = [0.001, 0.002, 0.003]
drag = {{ linear = [0.1, 0.4, 0.4] }}
"
    );
    let model = System::from_toml(&text).unwrap().model;
    let mut workspace = Workspace::new(&model);
    let mut random = Random::new(11);
    let n = model.dof();
    for _ in 0..20 {
        let mut x = model.neutral_configuration();
        model.integrate(&mut x, &random.numbers(n, 1.0));
        let xi = random.numbers(n, 2.0);
        workspace.update(&model, &x, &xi);
        let power: f64 = model
            .bodies()
            .map(|body| {
                let twist = workspace.twist(BodyId::WORLD, body);
                let (v, w) = (linear(&twist), twist.fixed_rows::<3>(3).into_owned());
                let center = model.inertia(body).unwrap().center_of_mass();
                let slid = v + w.cross(&center);
                let drag = model.drag(body).unwrap();
                slid.dot(&drag.linear().component_mul(&slid))
                    + w.dot(&drag.angular().component_mul(&w))
            })
            .sum();
        assert!((workspace.dissipated_power(&model) - power).abs() < 1e-12 * power);

        let mut acceleration = vec![0.0; n];
        let still = vec![0.0; n];
        (model.forward_dynamics(&mut workspace, &x, &xi, &still, &mut acceleration)).expect("mass");
        let mut energy = |h: f64| {
            // To second order along the motion.
            let (mut beside, mut along) = (x.clone(), vec![0.0; n]);
            for (along, (xi, rate)) in along.iter_mut().zip(xi.iter().zip(&acceleration)) {
                *along = h * xi + 0.5 * h * h * rate;
            }
            model.integrate(&mut beside, &along);
            let faster = xi.iter().zip(&acceleration).map(|(xi, rate)| xi + h * rate);
            let faster: Vec<f64> = faster.collect();
            workspace.update(&model, &beside, &faster);
            workspace.energy(&model)
        };
        let h = 1e-5;
        let rate = (energy(h) - energy(-h)) / (2.0 * h);
        assert!(
            (rate + power).abs() < 1e-6 * (1.0 + power),
            "{rate} {power}"
        );
    }
}
