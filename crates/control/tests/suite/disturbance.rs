//! The observer of disturbances: against its closed form, and in closed loops whose plant is not the model.
#![allow(non_snake_case)]

use fly_control::disturbance::{DisturbanceObserver, HoverEstimate};
use fly_control::plant::{Plant, SystemPlant};
use fly_control::system::SystemReference;
use fly_control::{Controller, ControllerSettings, ReferencePoint};
use fly_lie::operators::{join, linear};
use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::{Integrator, RungeKutta, Scheme, SystemState};
use fly_mechanics::{ActuatedDynamics, FreeBody, PseudoInertia, State, System, Vehicle, integrate};
use nalgebra::{Const, DVector, Matrix3, Vector3, Vector6};

use super::common::{
    QUADCOPTER, QUADCOPTER_POLES, TRICOPTER, TRICOPTER_PAIR, planned, settings, vehicle,
};

const STEP: f64 = 2e-3;

/// Of the quadcopter's model, with this bandwidth.
fn observer(vehicle: &Vehicle, bandwidth: f64) -> DisturbanceObserver<Const<6>> {
    let p = vehicle.rotors.input_dim();
    DisturbanceObserver::new(Const, p, Some(0), bandwidth).expect("a bandwidth")
}

/// Shows a state to an observer.
fn show(
    observer: &mut DisturbanceObserver<Const<6>>,
    vehicle: &Vehicle,
    state: &State<f64>,
    input: &[f64],
) {
    observer.set_applied(Some(input));
    let (body, B) = (&vehicle.body, vehicle.rotors.input_matrix());
    observer.observe(
        STEP,
        body.mass_matrix(),
        B,
        &body.bias(state),
        state.twist.as_slice(),
        state.pose.rotation.matrix(),
        None,
    );
}

/// A body that tumbles in free fall under a force that is constant in the world, one that hovers under forces along and across its thrust, and one that
/// falls and is spun up: each part of the estimate is `(1 - exp(-K t)) d`.
#[test]
fn it_converges_as_exp_of_minus_bandwidth_times_time() {
    let vehicle = vehicle(QUADCOPTER);
    let (calm, bandwidth) = (Vector3::zeros(), 3.0);
    let weight = 0.9 * 9.81 / 4.0;
    let tumbling = Vector6::new(1.0, -2.0, 0.5, 1.5, -2.5, 2.0);
    // The balance is exact to h^2: 9 N that turn with w = 3.5 rad/s for h = 2 ms have a mean of mean axes that is shorter by (w h)^2/4.
    for (input, twist, force, moment, tolerance) in [
        (0.0, tumbling, Vector3::new(0.7, -0.4, 1.1), calm, 1.2e-4),
        (
            weight,
            Vector6::zeros(),
            Vector3::new(0.7, -0.4, 1.1),
            calm,
            1e-11,
        ),
        (
            0.0,
            Vector6::zeros(),
            calm,
            Vector3::new(0.0, 0.0, 0.005),
            1e-11,
        ),
    ] {
        let input = [input; 4];
        let mut observer = observer(&vehicle, bandwidth);
        let pose = SE3::identity();
        let mut state = State { pose, twist };
        let wrench = vehicle.rotors.input_matrix() * DVector::from_column_slice(&input);
        for k in 0..=500 {
            show(&mut observer, &vehicle, &state, &input);
            let part = 1.0 - (-bandwidth * STEP * f64::from(k)).exp();
            let found = observer.force();
            let in_world = state.pose.rotation.act(&linear(found));
            let off = (in_world - force * part).amax();
            assert!(off < tolerance, "{k}: {off}");
            let off = (found.fixed_rows::<3>(3) - moment * part).amax();
            assert!(off < tolerance, "{k}: {off}");
            state = integrate::rk4(&state, STEP, |state| {
                let pushed = state.pose.rotation.inverse().act(&force);
                let beside = join(&pushed, &moment);
                vehicle.body.acceleration(state, &(wrench + beside))
            });
        }
        if input[0] > 0.0 {
            let part = 1.0 - (-bandwidth).exp();
            let scale = 1.0 + part * force.z / (4.0 * weight);
            assert!((observer.thrust_scale() - scale).abs() < 1e-11);
        }
    }
}

/// Any step: with a step of fifty time constants it estimates the disturbance of that step at once.
#[test]
fn it_is_stable_for_any_step() {
    let vehicle = vehicle(QUADCOPTER);
    let mut observer = observer(&vehicle, 50.0 / STEP);
    let push = Vector3::new(3.0, 0.0, 0.0);
    let mut state = State::at_rest(SE3::identity());
    for k in 0..20 {
        show(&mut observer, &vehicle, &state, &[0.0; 4]);
        if k > 0 {
            assert!((linear(observer.force()) - push).amax() < 1e-9);
        }
        let wrench = join(&push, &Vector3::zeros());
        state = integrate::rk4(&state, STEP, |state| {
            vehicle.body.acceleration(state, &wrench)
        });
    }
}

/// The estimate does not grow further into saturation, but does decrease the demand (anti-windup).
#[test]
fn it_does_not_grow_against_saturation() {
    let vehicle = vehicle(QUADCOPTER);
    for (unmet, learns) in [(1.0, false), (-1.0, true)] {
        let mut observer = observer(&vehicle, 5.0);
        let mut state = State::at_rest(SE3::identity());
        let (body, B) = (&vehicle.body, vehicle.rotors.input_matrix());
        let (given, asked) = (DVector::zeros(4), DVector::from_element(4, unmet));
        for _ in 0..50 {
            observer.set_applied(Some(&[0.0; 4]));
            let (b, R) = (body.bias(&state), state.pose.rotation);
            let (xi, unmet) = (state.twist, Some((&asked, &given)));
            observer.observe(
                STEP,
                body.mass_matrix(),
                B,
                &b,
                xi.as_slice(),
                R.matrix(),
                unmet,
            );
            // Pulled down: more thrust would be needed.
            let wrench = Vector6::new(0.4, 0.0, -2.0, 0.0, 0.0, 0.0);
            state = integrate::rk4(&state, STEP, |state| body.acceleration(state, &wrench));
        }
        let r = observer.force();
        assert!(r[0] > 0.1, "the force across is learnt: {r}");
        assert_eq!(r[2] < -0.1, learns, "{r}");
    }
}

/// The plant that differs from the controller's `model`: another body, wind on its drag, rotors of other effectiveness, and lag.
struct World {
    body: FreeBody<f64>,
    wind: Vector3<f64>,
    /// Of every rotor at the time t, s.
    gives: fn(usize, f64) -> f64,
}

const LAG: f64 = 0.03;

/// The same body with so much more mass and inertia, and its centre of mass moved.
fn other(model: &FreeBody<f64>, scale: f64, center: Vector3<f64>) -> FreeBody<f64> {
    let inertia = model.inertia();
    let inertia = PseudoInertia::from_center(
        inertia.mass() * scale,
        inertia.center_of_mass() + center,
        inertia.inertia_about_center() * scale,
    );
    FreeBody::new(inertia.expect("an inertia"), *model.gravity()).with_drag(model.drag().copied())
}

/// Flies a vehicle whose rotors do not tilt for so long; returns the largest distance from the reference in the last second, m.
fn fly(
    model: &Vehicle,
    controller: &mut Controller,
    world: &World,
    duration: u32,
    mut reference: impl FnMut(f64) -> ReferencePoint,
) -> f64 {
    let B = model.rotors.input_matrix();
    let p = B.ncols();
    let mut state = State {
        pose: reference(0.0).pose,
        twist: reference(0.0).twist,
    };
    let hover = model.body.inertia().mass() * 9.81 / p as f64;
    // What the model says that the rotors do.
    let (mut actual, mut mean) = (vec![hover; p], vec![hover; p]);
    let mut integrator = Integrator::new(p);
    let mut worst: f64 = 0.0;
    let steps = 500 * duration;
    for k in 0..=steps {
        let time = STEP * f64::from(k);
        let goal = reference(time);
        let off = (state.pose.translation - goal.pose.translation).norm();
        if k > steps - 500 {
            worst = worst.max(off);
        }
        controller.set_applied(Some(&mean));
        let input = controller.step_after(STEP, &state, &goal).input.clone();
        let before = actual.clone();
        integrator.step(&mut state, &mut actual, STEP, |state, actual, rates| {
            for (i, rate) in rates.iter_mut().enumerate() {
                *rate = (input[i] - actual[i]) / LAG;
            }
            let u = DVector::from_fn(p, |i, _| actual[i] * (world.gives)(i, time));
            let air = state.pose.rotation.inverse().act(&world.wind);
            let blown = world.body.drag().map_or_else(Vector6::zeros, |drag| {
                let twist = join(&air, &Vector3::zeros());
                drag.force(&twist, &world.body.inertia().center_of_mass())
            });
            world.body.acceleration(state, &(B * u + blown))
        });
        for (mean, (a, b)) in mean.iter_mut().zip(before.iter().zip(&actual)) {
            *mean = f64::midpoint(*a, *b);
        }
    }
    worst
}

/// The quadcopter with drag, N s/m.
fn with_drag() -> String {
    QUADCOPTER.replace(
        "mass = 0.9",
        "mass = 0.9\ndrag = { linear = [0.25, 0.25, 0.1] }",
    )
}

fn quadcopter(bandwidth: Option<f64>) -> (Vehicle, Controller) {
    let observer = bandwidth.map(|bandwidth| format!("[disturbance]\nbandwidth = {bandwidth}\n"));
    let tables = [QUADCOPTER_POLES, &observer.unwrap_or_default()].concat();
    let vehicle = vehicle(&with_drag());
    let settings: ControllerSettings = settings("allocation = 'active_set'", &tables);
    let controller = settings.build(&vehicle).expect("a controller");
    (vehicle, controller)
}

fn whole(_: usize, _: f64) -> f64 {
    1.0
}

fn worlds(model: &FreeBody<f64>) -> Vec<(&'static str, World)> {
    let calm = Vector3::zeros();
    let still = |body, gives| World {
        body,
        wind: calm,
        gives,
    };
    vec![
        ("mass +30 %", still(other(model, 1.3, calm), whole)),
        ("mass -20 %", still(other(model, 0.8, calm), whole)),
        (
            "centre of mass",
            still(other(model, 1.0, Vector3::new(0.015, -0.0132, 0.0)), whole),
        ),
        (
            "wind",
            World {
                body: *model,
                wind: Vector3::new(6.0, -5.0, 1.0),
                gives: whole,
            },
        ),
        (
            "weak rotor",
            still(*model, |i, _| if i == 1 { 0.8 } else { 1.0 }),
        ),
        ("battery", still(*model, |_, t| 1.0 - 0.2 * t / 60.0)),
    ]
}

#[test]
fn no_error_of_the_model_leaves_a_steady_error_of_position() {
    let goal = ReferencePoint::at_rest(SE3::new(
        SO3::exp(&Vector3::new(0.0, 0.0, 0.7)),
        Vector3::new(0.3, 0.2, 1.0),
    ));
    for (name, world) in worlds(&quadcopter(None).0.body) {
        let (vehicle, mut with) = quadcopter(Some(4.0));
        let off = fly(&vehicle, &mut with, &world, 10, |_| goal);
        let (_, mut without) = quadcopter(None);
        let before = fly(&vehicle, &mut without, &world, 10, |_| goal);
        println!("{name}: {off:.2e} m with, {before:.2e} m without the observer");
        assert!(off < 5e-3, "{name}: {off}");
        assert!(before > 4.0 * off, "{name}: {before}");
    }
}

/// Turning about the vertical in wind, and along curves: the estimate is constant where the world is.
#[test]
fn errors_of_the_model_hardly_show_on_curves() {
    let lemniscate = "kind = 'lissajous'\namplitude = [2, 1, 0.3]\nangular_frequency = [1, 2, 1]\nyaw_rate = 0.5";
    let circle = "kind = 'circle'\nradius = 2\nperiod = 5";
    for (path, text) in [("lemniscate", lemniscate), ("circle", circle)] {
        for (name, world) in worlds(&quadcopter(None).0.body) {
            let (vehicle, mut with) = quadcopter(Some(4.0));
            let mut reference = planned(&vehicle, text);
            let off = fly(&vehicle, &mut with, &world, 12, |t| {
                reference.sample(t).expect("feasible")
            });
            let (_, mut without) = quadcopter(None);
            let before = fly(&vehicle, &mut without, &world, 12, |t| {
                reference.sample(t).expect("feasible")
            });
            println!("{path}, {name}: {off:.2e} m with, {before:.2e} m without the observer");
            assert!(off < 0.1 * before, "{path}, {name}: {off} {before}");
        }
    }
}

/// The reference leans as the matching condition asks, (5.80) with b - r, and its derivatives are those of its attitude.
#[test]
fn a_leaning_reference_meets_the_matching_condition() {
    let vehicle = vehicle(&with_drag());
    let (_, controller) = quadcopter(None);
    assert!(controller.plant().lean_law().is_some());
    let lean =
        fly_control::disturbance::Lean::of_vehicle(&vehicle.body, vehicle.rotors.input_matrix());
    let lean = lean.expect("it is underactuated");
    let (force, calm) = (Vector3::new(1.5, -1.0, 0.8), Vector3::zeros());
    for text in [
        "kind = 'circle'\nradius = 2\nperiod = 5",
        "kind = 'lissajous'\namplitude = [1.5, 1, 0.4]\nangular_frequency = [1.1, 1.6, 0.8]\nyaw_rate = 0.5",
    ] {
        let mut reference = planned(&vehicle, text);
        for k in 0..20 {
            let t = 1.0 + 0.31 * f64::from(k);
            let mut at = |t| lean.against(&reference.sample(t).expect("feasible"), &force, &calm);
            let h = 1e-4;
            let (before, point, after) = (at(t - h), at(t), at(t + h));
            // B u must give all of M xi_dot + b - r.
            let state = State {
                pose: point.pose,
                twist: point.twist,
            };
            let mut pushed = Vector6::zeros();
            pushed
                .fixed_rows_mut::<3>(0)
                .copy_from(&point.pose.rotation.inverse().act(&force));
            let needed = vehicle.body.mass_matrix() * point.acceleration
                + vehicle.body.bias(&state)
                - pushed;
            assert!(
                needed.fixed_rows::<2>(0).amax() < 1e-12,
                "{text} {t}: {needed}"
            );
            // Position, velocity and acceleration stay those of the path.
            let given = reference.sample(t).expect("feasible");
            assert!((point.pose.translation - given.pose.translation).norm() < 1e-15);
            let velocity = point.pose.rotation.act(&linear(&point.twist))
                - given.pose.rotation.act(&linear(&given.twist));
            assert!(velocity.norm() < 1e-13);
            // The rate of the thrust, which no reference tells, is missing: it turns the sum of thrust and force by |f| T'/T^2 at most.
            let turn = (before.pose.rotation.inverse() * after.pose.rotation).log() / (2.0 * h);
            let missing = (turn - point.twist.fixed_rows::<3>(3)).norm();
            let mut thrust = |t| {
                let point = reference.sample(t).expect("feasible");
                let state = State {
                    pose: point.pose,
                    twist: point.twist,
                };
                (vehicle.body.mass_matrix() * point.acceleration + vehicle.body.bias(&state)).z
            };
            let (rate, now) = ((thrust(t + h) - thrust(t - h)) / (2.0 * h), thrust(t));
            let bound = 2.0 * force.norm() * rate.abs() / (now * now);
            assert!(missing < bound + 1e-3, "{text} {t}: {missing} {bound}");
        }
    }
}

/// Mass and centre of mass follow from the converged estimate in hover.
#[test]
fn mass_and_centre_of_mass_are_told_in_hover() {
    let (vehicle, mut controller) = quadcopter(Some(4.0));
    let center = Vector3::new(0.015, -0.01, 0.0);
    let world = World {
        body: other(&vehicle.body, 1.3, center),
        wind: Vector3::zeros(),
        gives: whole,
    };
    let goal = ReferencePoint::at_rest(SE3::identity());
    fly(&vehicle, &mut controller, &world, 10, |_| goal);
    let r = *controller.disturbance().expect("an observer").force();
    let told = HoverEstimate::new(&vehicle.body, &Matrix3::identity(), &r).expect("a mass");
    assert!((told.mass - 1.17).abs() < 1e-4, "{told:?}");
    assert!((told.center_of_mass - center).amax() < 1e-5, "{told:?}");
}

/// A vehicle whose inputs give every wrench does not lean.
#[test]
fn a_fully_actuated_vehicle_does_not_lean() {
    let vehicle = vehicle(TRICOPTER);
    let settings = settings(
        "allocation = 'active_set'",
        &format!("{TRICOPTER_PAIR}\n[disturbance]"),
    );
    let controller = settings.build(&vehicle).expect("a controller");
    assert!(controller.plant().lean_law().is_none());
    assert_eq!(
        controller.disturbance().map(DisturbanceObserver::bandwidth),
        Some(4.0)
    );
    assert_eq!(controller.plant().input_dim(), 6);
}

const ARM: &str = r#"
name = "arm"
[bodies.upper]
joint = { type = "revolute", axis = [0, 1, 0] }
shape = { box = [0.6, 0.05, 0.05] }
mass = 2
center_of_mass = [0.3, 0, 0]
[bodies.lower]
parent = "upper"
position = [0.6, 0, 0]
joint = { type = "revolute", axis = [0, 1, 0] }
shape = { box = [0.5, 0.05, 0.05] }
mass = MASS
center_of_mass = [CENTER, 0, 0]
[[motors]]
joint = "upper"
[[motors]]
joint = "lower"
"#;

fn arm(mass: f64, center: f64) -> System {
    let text = ARM
        .replace("MASS", &mass.to_string())
        .replace("CENTER", &center.to_string());
    System::from_toml(&text).expect("an arm")
}

/// An arm takes up a load that its model does not have: the joints return to where they should be, also while they move.
#[test]
fn an_arm_carries_an_unknown_load() {
    let (model, plant) = (arm(1.5, 0.25), arm(2.7, 0.38));
    let pairs = "pairs = [{ to = 'upper', stiffness = 30, damping = 12, inertia = 1 }, { from = 'upper', to = 'lower', stiffness = 30, damping = 12, inertia = 1 }]";
    let mut errors = Vec::new();
    for table in ["", "[disturbance]\nbandwidth = 6"] {
        let settings = settings(&format!("allocation = 'none'\n{pairs}"), table);
        let mut controller = settings.build_for_system(&model).expect("a controller");
        let mut dynamics = ActuatedDynamics::new(&plant, STEP).expect("dynamics");
        let mut integrator = RungeKutta::new(&plant.model, Scheme::RungeKutta4);
        let mut motion = SystemState::at_rest(&plant.model);
        motion.velocity.resize(4, 0.0);
        let goal = SystemReference {
            configuration: &[0.4, -0.9],
            velocity: &[0.0; 2],
            acceleration: &[0.0; 2],
        };
        for _ in 0..10_000 {
            let (x, xi) = (&motion.configuration, &motion.velocity[..2]);
            let step = controller.step_after(STEP, x, xi, &goal).expect("a law");
            let input = step.input.clone();
            integrator.step(&plant.model, &mut motion, STEP, |motion, rates| {
                dynamics.rates(&plant, input.as_slice(), motion, rates);
            });
        }
        let x = &motion.configuration;
        errors.push((x[0] - 0.4).hypot(x[1] + 0.9));
        if let Some(observer) = controller.disturbance() {
            // The weight of the extra load: 1.2 kg in all, further out.
            let mut b = [[0.0; 2]; 2];
            for (b, system) in b.iter_mut().zip([&model, &plant]) {
                let mut workspace = fly_mechanics::multibody::Workspace::new(&system.model);
                workspace.update(&system.model, x, &[0.0; 2]);
                system.model.bias(&mut workspace, x, &[0.0; 2], b);
            }
            let load = DVector::from_fn(2, |i, _| b[0][i] - b[1][i]);
            assert!(
                (observer.force() - &load).amax() < 1e-6,
                "{} {load}",
                observer.force()
            );
        }
    }
    // After 20 s; it decays further with the slowest pole of the arm, whose load is nearly twice the modelled one.
    assert!(errors[0] > 1.0 && errors[1] < 1e-6, "{errors:?}");
}

/// A moving arm of which the model is right but for joint torques: first order there, too, though M changes, but for the error of the balance, which falls
/// with the square of the step.
#[test]
fn in_joints_it_is_first_order_while_the_mass_matrix_changes() {
    let errors = [500, 1000].map(error_in_joints);
    assert!(errors[0] < 5e-3, "{errors:?}");
    let ratio = errors[0] / errors[1];
    assert!((ratio - 4.0).abs() < 0.1, "{errors:?}");
}

/// The largest difference (N m) from `(1 - exp(-K t)) d` in a second in which the arm swings with about 10 rad/s.
fn error_in_joints(count: u32) -> f64 {
    let step = f64::from(count).recip();
    let system = arm(1.5, 0.25);
    let (torque, bandwidth) = ([0.8, -0.5], 5.0);
    let settings = settings(
        "allocation = 'none'",
        &format!(
            "pairs = [{{ to = 'upper', stiffness = 1, damping = 1, inertia = 1 }}, {{ to = 'lower', stiffness = 1, damping = 1, inertia = 1 }}]\n[disturbance]\nbandwidth = {bandwidth}"
        ),
    );
    let mut controller = settings.build_for_system(&system).expect("a controller");
    let mut dynamics = ActuatedDynamics::new(&system, step).expect("dynamics");
    let mut integrator = RungeKutta::new(&system.model, Scheme::RungeKutta4);
    let mut motion = SystemState::at_rest(&system.model);
    motion.velocity = vec![2.0, -5.0, 0.0, 0.0];
    let goal = SystemReference {
        configuration: &[0.4, -0.9],
        velocity: &[0.0; 2],
        acceleration: &[0.0; 2],
    };
    let mut worst: f64 = 0.0;
    for k in 0..count {
        let (x, xi) = (&motion.configuration, &motion.velocity[..2]);
        controller.set_applied(Some(&[0.0; 2]));
        controller.step_after(step, x, xi, &goal).expect("a law");
        let part = 1.0 - (-bandwidth * step * f64::from(k)).exp();
        let r = controller.disturbance().expect("an observer").force();
        for (r, torque) in r.iter().zip(torque) {
            worst = worst.max((r - torque * part).abs());
        }
        integrator.step(&system.model, &mut motion, step, |motion, rates| {
            dynamics.rates(&system, &torque, motion, rates);
        });
    }
    worst
}

/// A system that reports nothing finite for half a second has moved meanwhile: what its velocity has changed by is no disturbance.
#[test]
fn a_gap_in_the_states_of_a_system_is_no_disturbance() {
    let system = arm(1.5, 0.25);
    let pairs = "pairs = [{ to = 'upper', stiffness = 30, damping = 12, inertia = 1 }, { to = 'lower', stiffness = 30, damping = 12, inertia = 1 }]";
    let settings = settings(
        &format!("allocation = 'active_set'\ninput_rate_limit = 1e6\n{pairs}"),
        "[disturbance]\nbandwidth = 10",
    );
    let goal = SystemReference {
        configuration: &[0.4, -0.9],
        velocity: &[0.0; 2],
        acceleration: &[0.0; 2],
    };
    for delay in [0.0, 0.01] {
        let controller = settings.build_for_system(&system).expect("a controller");
        let mut controller = controller.with_delay(delay);
        let observe = |controller: &mut Controller<SystemPlant>, x: [f64; 2], xi: [f64; 2]| {
            if delay > 0.0 {
                controller.observe_measured(STEP, &x, &xi);
            }
            controller.step_after(STEP, &x, &xi, &goal).expect("a law");
        };
        for _ in 0..3 {
            observe(&mut controller, [0.4, -0.9], [0.0; 2]);
        }
        let before = controller
            .disturbance()
            .expect("an observer")
            .force()
            .clone();
        for _ in 0..250 {
            observe(&mut controller, [f64::NAN, 0.0], [0.0; 2]);
        }
        observe(&mut controller, [0.4, -0.9], [2.5, -1.0]);
        let after = controller.disturbance().expect("an observer").force();
        assert_eq!(*after, before, "with a delay of {delay} s");
        // From then on it observes again.
        observe(&mut controller, [0.4, -0.9], [2.5, -1.0]);
        assert_ne!(
            *controller.disturbance().expect("an observer").force(),
            before
        );
    }
}
