//! Systems that roll under the law: a robot on two wheels.
#![allow(non_snake_case)]

use fly_control::analysis::{AnalysisError, ClosedLoop, LyapunovGuarantee};
use fly_control::plant::SystemPlant;
use fly_control::{Controller, ControllerSettings, ReferenceSettings, SystemPoint};
use fly_lie::operators::{angular, linear};
use fly_mechanics::System;
use fly_mechanics::multibody::constraints::{ConstraintWorkspace, EvaluatedState};
use fly_mechanics::multibody::{BodyId, Workspace};
use nalgebra::{DMatrix, DVector, Vector3};

use crate::common::Random;

const ROBOT: &str = include_str!("../../../../configs/systems/differential_drive.toml");
const PATH: &str = "kind = 'planar'\npath = { kind = 'lissajous', amplitude = [2, 1, 0], angular_frequency = [0.5, 1, 0], offset = [0, 0, 0.1] }";
/// Half the distance of the wheels, and their radius, m.
const HALF: f64 = 0.2;
const RADIUS: f64 = 0.1;
/// The point that is controlled, m ahead of the axle.
const AHEAD: f64 = 0.25;

fn robot() -> System {
    System::from_toml(ROBOT).expect("a robot")
}

fn controller(system: &System, keys: &str) -> Controller<SystemPlant> {
    let point = |weight: f64| format!("{{ weight = {weight}, center = [{AHEAD}, 0, 0] }}");
    let text = format!(
        "allocation = 'none'\n{keys}\n[[pairs]]\nto = 'chassis'\nstiffness = {}\ndamping = {}\ninertia = {}\n",
        point(5.0),
        point(3.0),
        point(1.0)
    );
    let settings: ControllerSettings = toml::from_str(&text).expect("settings");
    settings.build_for_system(system).expect("a controller")
}

/// A velocity with which the wheels roll: forwards at v and turning at w.
fn rolls(v: f64, w: f64) -> [f64; 5] {
    [v, 0.0, w, (v - HALF * w) / RADIUS, (v + HALF * w) / RADIUS]
}

/// Position, velocity and acceleration of the point ahead of the axle, from the motion of the chassis.
fn point(x: &[f64], xi: &[f64], xi_dot: &[f64]) -> [Vector3<f64>; 3] {
    let (s, c) = x[2].sin_cos();
    let turn = |v: [f64; 2]| Vector3::new(c * v[0] - s * v[1], s * v[0] + c * v[1], 0.0);
    let [v, u, w] = [xi[0], xi[1], xi[2]];
    let place = Vector3::new(x[0], x[1], 0.0) + turn([AHEAD, 0.0]);
    let velocity = turn([v, u + w * AHEAD]);
    let rate = turn([
        xi_dot[0] - w * u - w * w * AHEAD,
        xi_dot[1] + w * v + xi_dot[2] * AHEAD,
    ]);
    [place, velocity, rate]
}

/// Under the law the point moves as a mass on spring and damper, and the system without slipping: the motion is that of the constraints with multipliers.
#[test]
fn a_point_ahead_of_the_axle_is_free() {
    let system = robot();
    let model = &system.model;
    let constraints = system.constraints().build(model).expect("constraints");
    let mut constrained = ConstraintWorkspace::new(&constraints);
    let mut workspace = Workspace::new(model);
    let mut random = Random::new(55);
    for approach in ["particle", "body"] {
        let mut law = controller(&system, &format!("approach = '{approach}'"));
        for _ in 0..50 {
            let mut numbers = |size: f64| random.next() * size;
            let x: Vec<f64> = [2.0, 2.0, 3.0, 9.0, 9.0].map(&mut numbers).to_vec();
            let mut point_R = SystemPoint::new(model);
            point_R.configuration = [2.0, 2.0, 3.0, 9.0, 9.0].map(&mut numbers).to_vec();
            let xi = rolls(numbers(2.0), numbers(2.0));
            point_R.velocity = rolls(numbers(2.0), numbers(2.0)).to_vec();
            let forwards = rolls(numbers(3.0), numbers(3.0));
            // Rolling along a curve: no acceleration of the slip.
            point_R.acceleration = forwards.to_vec();
            let goal = point_R.as_reference();
            let input = law.step(&x, &xi, &goal).expect("a step").input.clone();

            let motion = EvaluatedState::new(model, &mut workspace, &x, &xi, 0.0);
            constrained.update(&constraints, &motion);
            assert!(constrained.rate().amax() < 1e-12, "it rolls");
            // M and b of the description, not those of the law.
            let force = [0.0, 0.0, 0.0, input[0], input[1]];
            constrained
                .forward_dynamics(&constraints, model, &mut workspace, &x, &xi, 0.0, &force)
                .expect("a motion");
            let xi_dot = constrained.acceleration();
            let [r, r_1, r_2] = point(&x, &xi, xi_dot.as_slice());
            let [p, p_1, p_2] = point(goal.configuration, goal.velocity, goal.acceleration);
            let (e, e_1, e_2) = (r - p, r_1 - p_1, r_2 - p_2);
            let missing = if approach == "particle" {
                e_2 + e_1 * 3.0 + e * 5.0
            } else {
                // The same of the components in the axes of the reference, which turn.
                let back = |v: Vector3<f64>| {
                    let (s, c) = goal.configuration[2].sin_cos();
                    Vector3::new(c * v.x + s * v.y, c * v.y - s * v.x, 0.0)
                };
                let (w, w_dot) = (
                    Vector3::z() * goal.velocity[2],
                    Vector3::z() * goal.acceleration[2],
                );
                let (q, q_1, q_2) = (back(e), back(e_1), back(e_2));
                let rate = q_1 - w.cross(&q);
                let second = q_2 - w.cross(&rate) * 2.0 - w.cross(&w.cross(&q)) - w_dot.cross(&q);
                second + rate * 3.0 + q * 5.0
            };
            assert!(
                missing.amax() < 1e-9 * (1.0 + e_2.amax()),
                "{approach} {missing}"
            );

            // The law's own model moves the same way.
            let push = law.input_matrix() * &input - law.bias();
            let own = law
                .mass_matrix()
                .clone()
                .cholesky()
                .expect("masses")
                .solve(&push);
            assert!((own - xi_dot).amax() < 1e-9 * (1.0 + xi_dot.amax()));
        }
    }
}

/// The wheels of the reference roll, and turn as far as the robot goes: distance and heading in closed form.
#[test]
fn wheels_of_the_reference_turn_with_it() {
    let system = robot();
    let settings: ReferenceSettings = toml::from_str(PATH).expect("settings");
    let mut reference = settings.build_for_system(&system).expect("a reference");
    let constraints = system
        .constraints()
        .build(&system.model)
        .expect("constraints");
    let mut constrained = ConstraintWorkspace::new(&constraints);
    let mut workspace = Workspace::new(&system.model);
    let mut at = SystemPoint::new(&system.model);
    let speed = |t: f64| (0.5 * t).cos().hypot(t.cos());
    let (mut way, mut heading, mut last) = (0.0, 0.0, f64::NAN);
    let step = 1e-3;
    for i in 0..8000 {
        let t = f64::from(i) * step;
        reference.at(t, &mut at).expect("a motion");
        if i == 0 {
            last = at.configuration[2];
        } else {
            // Simpson; angles wrap.
            way += step / 6.0 * (speed(t - step) + 4.0 * speed(t - 0.5 * step) + speed(t));
            let turn = at.configuration[2] - last;
            heading += turn.sin().atan2(turn.cos());
            last = at.configuration[2];
        }
        let [left, right] = [at.configuration[3], at.configuration[4]];
        assert!((left - (way - HALF * heading) / RADIUS).abs() < 1e-9, "{t}");
        assert!(
            (right - (way + HALF * heading) / RADIUS).abs() < 1e-9,
            "{t}"
        );

        let motion = EvaluatedState::new(
            &system.model,
            &mut workspace,
            &at.configuration,
            &at.velocity,
            t,
        );
        constrained.update(&constraints, &motion);
        assert!(constrained.rate().amax() < 1e-12);
        let xi_dot = DVector::from_column_slice(&at.acceleration);
        let missing = constrained.jacobian() * xi_dot - constrained.bias();
        assert!(missing.amax() < 1e-11, "{t} {missing}");
    }
    // Elsewhere in time after a restart, with longer steps.
    let before = at.clone();
    reference.restart();
    let mut first = SystemPoint::new(&system.model);
    reference.at(0.0, &mut first).expect("a motion");
    reference.at(7.999, &mut at).expect("a motion");
    for (a, b) in before.configuration.iter().zip(&at.configuration) {
        assert!((a - b).abs() < 1e-7, "{a} {b}");
    }
}

/// While driving, the robot converges to its path from a lateral offset, and its heading aligns.
#[test]
fn the_robot_follows_its_path() {
    let system = robot();
    let model = &system.model;
    let settings: ReferenceSettings = toml::from_str(PATH).expect("settings");
    let mut reference = settings.build_for_system(&system).expect("a reference");
    let mut law = controller(&system, "approach = 'particle'");
    let constraints = system.constraints().build(model).expect("constraints");
    let mut constrained = ConstraintWorkspace::new(&constraints);
    let mut workspace = Workspace::new(model);
    let mut x = vec![-0.3, -0.4, 1.2, 0.0, 0.0];
    let mut xi = rolls(0.0, 0.0).to_vec();
    let mut at = SystemPoint::new(model);
    let h = 2e-3;
    for i in 0..6000 {
        reference.at(f64::from(i) * h, &mut at).expect("a motion");
        let input = law
            .step(&x, &xi, &at.as_reference())
            .expect("a step")
            .input
            .clone();
        let force = [0.0, 0.0, 0.0, input[0], input[1]];
        constrained
            .forward_dynamics(&constraints, model, &mut workspace, &x, &xi, 0.0, &force)
            .expect("a motion");
        let rate = constrained.acceleration();
        let along: Vec<f64> = xi
            .iter()
            .zip(rate.iter())
            .map(|(v, a)| h * (v + 0.5 * h * a))
            .collect();
        for (v, a) in xi.iter_mut().zip(rate.iter()) {
            *v += h * a;
        }
        model.integrate(&mut x, &along);
    }
    reference.at(12.0, &mut at).expect("a motion");
    let away = (x[0] - at.configuration[0]).hypot(x[1] - at.configuration[1]);
    let turned = (x[2] - at.configuration[2]).sin();
    // Euler's steps and held inputs leave something.
    assert!(away < 0.02 && turned.abs() < 0.05, "{away} {turned}");
}

#[test]
fn what_rolling_does_not_allow_is_told() {
    let system = robot();
    let mut law = controller(&system, "approach = 'particle'");
    let rest = system.model.neutral_configuration();
    let closed = ClosedLoop::new(&system, &law, &rest);
    assert!(matches!(closed, Err(AnalysisError::Rolls(name)) if name == "differential drive"));
    assert_eq!(
        law.lyapunov_guarantee(),
        LyapunovGuarantee::Underactuated { rank: 2, dof: 5 }
    );
    let refused = |text: &str| {
        let settings: ControllerSettings = toml::from_str(text).expect("settings");
        let built = settings.build_for_system(&system);
        built.err().expect("an error").to_string()
    };
    assert_eq!(
        refused("approach = 'state_feedback'\npoles = [-1, -1, -1, -1, -1, -1, -1, -1, -1, -1]"),
        "approach: expected particle, body or energy for a system that rolls, found state_feedback"
    );
    // A mass on the axle does not resist turning.
    assert!(
        refused("approach = 'particle'\npairs = [{ to = 'chassis', stiffness = { weight = 1 }, damping = { weight = 1 }, inertia = { weight = 1 } }]")
            .contains("expected pairs that give every degree of freedom a desired inertia"),
    );
    let told = |text: &str| {
        let settings: ReferenceSettings = toml::from_str(text).expect("settings");
        let built = settings.build_for_system(&system);
        built.err().expect("an error").to_string()
    };
    assert!(
        told("kind = 'planar'\npath = { kind = 'line', to = [1, 0, 0.1], duration = 3 }")
            .contains("the path moves at")
    );
    // An independent heading means slip; it is accepted without a check.
    let M: &DMatrix<f64> = law.mass_matrix();
    assert_eq!(M.shape(), (5, 5));
}

/// The twist of a wheel at its contact is zero: described as in the text of the constraint.
#[test]
fn the_contact_of_a_wheel_stands_still() {
    let system = robot();
    let mut workspace = Workspace::new(&system.model);
    let xi = rolls(0.7, -1.3);
    workspace.update(&system.model, &[0.4, -0.2, 0.9, 2.0, -1.0], &xi);
    for wheel in ["left wheel", "right wheel"] {
        let body = system.model.body_id(wheel).expect("a wheel");
        let (pose, twist) = (
            workspace.pose(BodyId::WORLD, body),
            workspace.twist(BodyId::WORLD, body),
        );
        let below = pose.rotation.inverse().act(&(Vector3::z() * -RADIUS));
        let velocity = linear(&twist) + angular(&twist).cross(&below);
        assert!(velocity.amax() < 1e-14, "{wheel} {velocity}");
    }
}
