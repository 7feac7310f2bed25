//! The controllers that people fly multirotors with: against another simulator, and for small errors against their poles.
#![allow(non_snake_case)]

use fly_control::analysis::ClosedLoop;
use fly_control::baselines::{Multirotor, MultirotorGains, MultirotorLaw};
use fly_control::{ControllerSettings, ReferencePoint, SystemReference};
use fly_lie::operators::join;
use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::Integrator;
use fly_mechanics::{State, System, Vehicle};
use nalgebra::{DVector, Vector3, Vector6};

use super::common::{QUADCOPTER, vehicle};

/// Thrust and drag torque by the square of a rotor's speed.
const THRUST: f64 = 5.57e-6;
const TORQUE: f64 = 1.36e-7;

/// The hummingbird of RotorPy.
fn hummingbird() -> Vehicle {
    let arm = 0.17 * std::f64::consts::FRAC_1_SQRT_2;
    let rotor = |(x, y, turn): (f64, f64, f64)| {
        format!(
            "[[rotors]]
            body = 'frame'
            position = [{}, {}, 0]
            axis = [0, 0, 1]
            drag_ratio = {}
            thrust = [0, {}]
            ",
            x * arm,
            y * arm,
            turn * TORQUE / THRUST,
            THRUST * 1500.0 * 1500.0,
        )
    };
    let rotors = [
        (1.0, 1.0, 1.0),
        (1.0, -1.0, -1.0),
        (-1.0, -1.0, 1.0),
        (-1.0, 1.0, -1.0),
    ];
    let frame = "name = 'hummingbird'
        [bodies.frame]
        mass = 0.5
        inertia = [0.00365, 0.00368, 0.00703]
        ";
    vehicle(&[frame, &rotors.map(rotor).concat()].concat())
}

/// Position, velocity and acceleration at a time.
type Path = fn(f64) -> [Vector3<f64>; 3];

fn circle(radius: f64, w: f64, climb: f64, t: f64) -> [Vector3<f64>; 3] {
    let (s, c) = (w * t).sin_cos();
    [
        Vector3::new(radius * c, radius * s, climb * t),
        Vector3::new(-radius * w * s, radius * w * c, climb),
        Vector3::new(-radius * w * w * c, -radius * w * w * s, 0.0),
    ]
}

fn lemniscate(a: f64, b: f64, t: f64) -> [Vector3<f64>; 3] {
    let ((s, c), (z, d)) = ((a * t).sin_cos(), (b * t).sin_cos());
    [
        Vector3::new(2.0 * s, z, 0.0),
        Vector3::new(2.0 * a * c, b * d, 0.0),
        Vector3::new(-2.0 * a * a * s, -b * b * z, 0.0),
    ]
}

/// RotorPy 3.0.0 itself, with this vehicle, law and these gains at 100 Hz, without aerodynamics: rms of the position's error in mm over 10 s, as RotorPy flew it, with its own integrator.
#[test]
fn the_law_of_rotorpy_errs_as_rotorpy_does() {
    use std::f64::consts::TAU;
    let flights: [(&str, Path, f64); 5] = [
        ("circle", |t| circle(1.0, 0.2 * TAU, 0.0, t), 24.0),
        ("circle_fast", |t| circle(1.5, 0.5 * TAU, 0.0, t), 411.0),
        ("lemniscate", |t| lemniscate(0.2 * TAU, 0.4 * TAU, t), 103.0),
        (
            "lemniscate_fast",
            |t| lemniscate(0.4 * TAU, 0.8 * TAU, t),
            436.0,
        ),
        ("helix", |t| circle(1.0, 0.3 * TAU, 0.3, t), 73.1),
    ];
    let (vehicle, h) = (hummingbird(), 0.01);
    for (name, path, expected) in flights {
        let mut law = Multirotor::new(
            &vehicle,
            MultirotorLaw::RotorpySe3,
            MultirotorGains::ROTORPY,
            None,
        );
        let [position, velocity, _] = path(0.0);
        let mut state = State {
            pose: SE3::new(SO3::identity(), position),
            twist: join(&velocity, &Vector3::zeros()),
        };
        let mut speeds = vec![(0.5 * 9.81 / 4.0 / THRUST).sqrt(); 4];
        let mut integrator = Integrator::new(4);
        let (mut square, mut u) = (0.0, DVector::zeros(4));
        for k in 0..=1000 {
            let [position, velocity, acceleration] = path(h * f64::from(k));
            square += (state.pose.translation - position).norm_squared();
            let goal = ReferencePoint {
                pose: SE3::new(SO3::identity(), position),
                twist: join(&velocity, &Vector3::zeros()),
                acceleration: join(&acceleration, &Vector3::zeros()),
            };
            law.input(h, &state, &goal, &Vector3::zeros(), &mut u);
            let command: Vec<f64> = u
                .iter()
                .map(|u| (u.max(0.0) / THRUST).sqrt().min(1500.0))
                .collect();
            for _ in 0..5 {
                integrator.step(&mut state, &mut speeds, h / 5.0, |state, speeds, rates| {
                    for (i, rate) in rates.iter_mut().enumerate() {
                        *rate = (command[i] - speeds[i]) / 0.005;
                    }
                    let thrusts = DVector::from_fn(4, |i, _| THRUST * speeds[i] * speeds[i]);
                    vehicle
                        .body
                        .acceleration(state, &(vehicle.rotors.input_matrix() * thrusts))
                });
            }
        }
        let rms = 1e3 * (square / 1001.0_f64).sqrt();
        println!("{name}: {rms:.1} mm, RotorPy {expected}");
        assert!(
            (rms / expected - 1.0).abs() < 0.02,
            "{name}: {rms} {expected}"
        );
    }
}

/// All have the poles that they were asked for, across and about the vertical; `energy` is one of them.
#[test]
fn for_small_errors_all_have_the_same_poles() {
    let system = System::from_toml(QUADCOPTER).expect("a system");
    let start = system.model.neutral_configuration();
    for approach in ["lee", "cascade", "indi", "rotorpy_se3"] {
        let settings: ControllerSettings = toml::from_str(&format!(
            "approach = '{approach}'
             allocation = 'active_set'
             [poles]
             horizontal = [-3, -4, -6, -8]
             yaw = {{ inertia = 0.011, damping = 0.11, stiffness = 0.275 }}"
        ))
        .expect("settings");
        let controller = settings.build_for_system(&system).expect("a controller");
        let closed = ClosedLoop::new(&system, &controller, &start).expect("a loop");
        let mut poles = closed.poles().expect("poles");
        // Across twice, about the vertical (l + 5)^2, and up l^2 + v l + x.
        let [x, v] = [576.0 / 158.0, 504.0 / 158.0];
        let up = nalgebra::Complex::new(v * v / 4.0 - x, 0.0).sqrt();
        let up = [up, -up].map(|root| root - v / 2.0);
        let mut expected: Vec<_> = [-3.0, -4.0, -6.0, -8.0, -3.0, -4.0, -6.0, -8.0]
            .map(|pole| nalgebra::Complex::new(pole, 0.0))
            .to_vec();
        expected.extend(up);
        // A double pole is as exact as the root of what it is computed with.
        for pole in expected {
            let near = |a: &nalgebra::Complex<f64>| (a - pole).norm();
            let (i, _) = (poles.iter().enumerate())
                .min_by(|a, b| near(a.1).total_cmp(&near(b.1)))
                .expect("poles are left");
            assert!(
                near(&poles.swap_remove(i)) < 1e-3,
                "{approach}: {pole} {poles:?}"
            );
        }
        assert!(
            poles.iter().all(|pole| (pole + 5.0).norm() < 1e-2),
            "{approach}: {poles:?}"
        );
    }
}

/// The mixer of the cascade stays inside the limits, and gives up yaw first, then the sum of the thrusts, and roll and pitch last.
#[test]
fn the_mixer_gives_up_yaw_first_and_roll_last() {
    let system = System::from_toml(QUADCOPTER).expect("a system");
    let vehicle = vehicle(QUADCOPTER);
    let settings: ControllerSettings = toml::from_str(
        "approach = 'cascade'
         allocation = 'active_set'
         [poles]
         horizontal = [-5, -5, -5, -5]
         yaw = { inertia = 0.011, damping = 0.11, stiffness = 0.275 }",
    )
    .expect("settings");
    let pose =
        |turn: Vector3<f64>, height: f64| SE3::new(SO3::exp(&turn), Vector3::new(0.0, 0.0, height));
    let model = &system.model;
    let body = model
        .bodies()
        .next()
        .and_then(|body| model.joint(body))
        .expect("a joint");
    let step = |turn: Vector3<f64>, height: f64| {
        let mut controller = settings.build_for_system(&system).expect("a controller");
        let mut x = model.neutral_configuration();
        body.coordinates(&pose(turn, height), &mut x);
        let start = model.neutral_configuration();
        let goal = SystemReference {
            configuration: &start,
            velocity: &[0.0; 6],
            acceleration: &[0.0; 6],
        };
        let step = controller
            .step_after(0.002, &x, &[0.0; 6], &goal)
            .expect("a law");
        let u = step.unconstrained.clone();
        assert!(
            u.iter().all(|u| (0.2 - 1e-9..=7.0 + 1e-9).contains(u)),
            "{u}"
        );
        let wrench: Vector6<f64> = vehicle.rotors.input_matrix() * u;
        wrench
    };
    // A small roll and a large yaw: the roll is given in full, yaw is not.
    let free = step(Vector3::new(0.1, 0.0, 0.0), 0.0);
    let turned = step(Vector3::new(0.1, 0.0, 3.0), 0.0);
    let small = step(Vector3::new(0.0, 0.0, 0.1), 0.0);
    assert!(turned[3] / free[3] > 0.5 && turned[5] < 0.0);
    assert!(turned[5] / small[5] < 29.0, "{} {}", turned[5], small[5]);
    // A climb of 40 m/s^2 with a large roll: the sum is shifted, not the roll.
    let rolled = step(Vector3::new(0.6, 0.0, 0.0), 0.0);
    let climbing = step(Vector3::new(0.6, 0.0, 0.0), -8.0);
    assert!(
        (climbing[3] / rolled[3] - 1.0).abs() < 1e-2,
        "{} {}",
        climbing[3],
        rolled[3]
    );
}
