//! Integrators on the group: their orders, tolerances, events and conserved quantities.

#![allow(non_snake_case)]

use crate::moving;
use crate::random_tree;

use fly_mechanics::integrate::{
    Adaptive, Direction, ImplicitStepError, RungeKutta, Scheme, SystemState, Tolerance,
    Variational, forced, rk4, unforced,
};
use fly_mechanics::multibody::{Body, BodyId, EquationOfMotion, Joint, Model, Spring, Workspace};
use fly_mechanics::{FreeBody, PseudoInertia, SecondMoment, State};
use moving::system;
use nalgebra::{DVector, Matrix3, Vector3};
use random_tree::{KINDS, Random, state};

/// The dynamics of a system under a force that depends on time and velocity.
fn pushed(model: &Model<f64>) -> impl FnMut(&SystemState<f64>, &mut [f64]) {
    forced(model, add_push)
}

fn add_push(motion: &SystemState<f64>, f: &mut [f64]) {
    for (i, f) in f.iter_mut().enumerate() {
        *f += push(i, motion);
    }
}

fn push(i: usize, motion: &SystemState<f64>) -> f64 {
    (i as f64 + 2.0 * motion.time).sin() - 0.3 * motion.velocity[i]
}

fn start(model: &Model<f64>, seed: usize) -> SystemState<f64> {
    let (configuration, velocity) = state(model, &mut Random::new(seed));
    SystemState {
        time: 0.0,
        configuration,
        velocity,
    }
}

fn distance(a: &SystemState<f64>, b: &SystemState<f64>) -> f64 {
    let vector = |m: &SystemState<f64>| {
        let numbers = m.configuration.iter().chain(&m.velocity);
        DVector::from_iterator(m.configuration.len() + m.velocity.len(), numbers.copied())
    };
    (vector(a) - vector(b)).amax()
}

/// Systems of several bodies that hold all kinds of joints between them, springs and dampers. None is stiff: the dampers' rates are below
/// 20/s, so that the steps of the tests are short for them.
fn systems() -> Vec<Model<f64>> {
    let systems = (0..200).map(|seed| system(seed, 4));
    let systems: Vec<_> = systems
        .filter(|model| decay(model) < 20.0)
        .take(14)
        .collect();
    let mut kinds = std::collections::HashSet::new();
    for model in &systems {
        let joints = model.bodies().filter_map(|body| model.joint(body));
        kinds.extend(joints.map(|joint| std::mem::discriminant(joint.kind())));
    }
    assert_eq!(kinds.len(), KINDS);
    systems
}

/// The fastest decay by dampers, 1/s.
fn decay(model: &Model<f64>) -> f64 {
    let start = start(model, 5);
    let mut workspace = Workspace::new(model);
    workspace.update(model, &start.configuration, &start.velocity);
    workspace.update_jacobians(model);
    let mut equation = EquationOfMotion::new(model);
    equation.update(model, &workspace);
    let M = equation.mass_matrix.cholesky().expect("mass everywhere");
    let rates = M.solve(&equation.damping).complex_eigenvalues();
    rates.iter().fold(0.0, |most, rate| rate.re.max(most))
}

/// Where an adaptive run with the tightest tolerance arrives.
fn exact(model: &Model<f64>, start: &SystemState<f64>, until: f64) -> SystemState<f64> {
    let tolerance = Tolerance {
        absolute: 1e-14,
        relative: 1e-14,
        ..Tolerance::default()
    };
    let mut motion = start.clone();
    Adaptive::new(model, tolerance)
        .advance(model, &mut motion, until, pushed(model))
        .expect("a smooth motion");
    motion
}

/// Half the step divides the error by 2 to the power of the order.
#[test]
fn orders_are_as_stated() {
    const UNTIL: f64 = 0.2;
    let order = |steps: usize, name: &str, run: &dyn Fn(usize) -> f64, range: [f64; 2]| {
        let (coarse, fine) = (run(steps), run(2 * steps));
        let order = (coarse / fine).log2();
        println!(
            "{name}: {coarse:.1e} with {steps} steps, {fine:.1e} with twice as many, order {order:.2}"
        );
        assert!(
            (range[0]..range[1]).contains(&order),
            "{name}: order {order}"
        );
    };
    for model in systems() {
        let start = start(&model, 5);
        let exact = exact(&model, &start, UNTIL);
        let fixed = |scheme: Scheme, steps: usize| {
            let mut motion = start.clone();
            let mut integrator = RungeKutta::new(&model, scheme);
            let mut dynamics = pushed(&model);
            for _ in 0..steps {
                integrator.step(&model, &mut motion, UNTIL / steps as f64, &mut dynamics);
            }
            distance(&motion, &exact)
        };
        let variational = |steps: usize| {
            let mut motion = start.clone();
            let mut integrator = Variational::new(&model);
            for _ in 0..steps {
                let h = UNTIL / steps as f64;
                let stepped = integrator.step(&model, &mut motion, h, add_push);
                stepped.expect("short steps");
            }
            distance(&motion, &exact)
        };
        order(
            32,
            "RungeKutta4",
            &|n| fixed(Scheme::RungeKutta4, n),
            [3.6, 4.5],
        );
        order(
            4,
            "DormandPrince8",
            &|n| fixed(Scheme::DormandPrince8, n),
            [7.0, 9.5],
        );
        order(64, "Variational", &variational, [1.9, 2.1]);
    }
}

/// One free body integrated by the scheme for systems and by that of the flight path.
#[test]
fn a_free_body_is_a_system_of_one_body() {
    let mut random = Random::new(7);
    let inertia = random.inertia();
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    let model = Model::builder()
        .gravity(gravity)
        .body(Body::new("body", Joint::free()).inertia(inertia))
        .build()
        .unwrap();
    let body = FreeBody::new(inertia, gravity);
    let mut motion = start(&model, 7);
    let mut workspace = Workspace::new(&model);
    workspace.update(&model, &motion.configuration, &motion.velocity);
    let id = model.body_id("body").unwrap();
    let mut state = State {
        pose: workspace.pose(BodyId::WORLD, id),
        twist: workspace.twist(BodyId::WORLD, id),
    };
    let mut integrator = RungeKutta::new(&model, Scheme::RungeKutta4);
    for _ in 0..100 {
        state = rk4(&state, 1e-3, |s| {
            body.acceleration(s, &nalgebra::Vector6::zeros())
        });
        integrator.step(&model, &mut motion, 1e-3, unforced(&model));
    }
    workspace.update(&model, &motion.configuration, &motion.velocity);
    let pose = workspace.pose(BodyId::WORLD, id).matrix() - state.pose.matrix();
    assert!(pose.amax() < 1e-12);
    assert!((workspace.twist(BodyId::WORLD, id) - state.twist).amax() < 1e-12);
}

/// Other states behind the velocity: a lag that follows a velocity.
#[test]
fn other_states_are_integrated_too() {
    let model = Model::builder()
        .body(Body::new("ball", Joint::prismatic(Vector3::z()).unwrap()))
        .build()
        .unwrap();
    let mut motion = SystemState::at_rest(&model);
    motion.velocity.push(1.0);
    let mut integrator = Adaptive::new(&model, Tolerance::default());
    let decay = |motion: &SystemState<f64>, rates: &mut [f64]| {
        rates[0] = motion.velocity[1];
        rates[1] = -motion.velocity[1];
    };
    integrator.advance(&model, &mut motion, 2.0, decay).unwrap();
    let e = (-2.0_f64).exp();
    assert_eq!(motion.time, 2.0);
    assert!((motion.velocity[1] - e).abs() < 1e-9);
    assert!((motion.velocity[0] - (1.0 - e)).abs() < 1e-9);
    assert!((motion.configuration[0] - (1.0 + e)).abs() < 1e-9);
}

/// A hundredth of the tolerance is about a hundredth of the error, and a time that has passed changes nothing.
#[test]
fn tolerances_are_kept() {
    for model in systems() {
        let start = start(&model, 11);
        let exact = exact(&model, &start, 1.0);
        for tolerance in [1e-6, 1e-8, 1e-10] {
            let mut motion = start.clone();
            let tolerance = Tolerance {
                absolute: tolerance,
                relative: tolerance,
                ..Tolerance::default()
            };
            let mut integrator = Adaptive::new(&model, tolerance);
            for until in [0.3, 0.1, 1.0] {
                integrator
                    .advance(&model, &mut motion, until, pushed(&model))
                    .unwrap();
                assert!(motion.time == until || until == 0.1);
            }
            let error = distance(&motion, &exact);
            println!("tolerance {:.0e}: error {error:.1e}", tolerance.absolute);
            assert!(error < 300.0 * tolerance.absolute, "{error}");
        }
    }
}

/// Steps that do not advance the time: too short for it, none, or backwards.
#[test]
fn steps_that_lead_nowhere_are_an_error() {
    let model = &systems()[0];
    for (time, longest_step) in [(1.7e9, 1e-7), (0.0, 0.0), (0.0, -1.0)] {
        let tolerance = Tolerance {
            longest_step,
            ..Tolerance::default()
        };
        let mut motion = start(model, 3);
        motion.time = time;
        let mut integrator = Adaptive::new(model, tolerance);
        let error = integrator
            .advance(model, &mut motion, time + 0.01, pushed(model))
            .unwrap_err();
        assert_eq!((motion.time, error.time), (time, time));
    }
}

#[test]
fn what_cannot_be_followed_is_an_error() {
    let model = Model::builder()
        .body(Body::new("ball", Joint::prismatic(Vector3::z()).unwrap()))
        .build()
        .unwrap();
    let mut motion = SystemState::at_rest(&model);
    motion.velocity[0] = 1.0;
    let mut integrator = Adaptive::new(&model, Tolerance::default());
    // v' = v²: infinite after a second.
    let burst = |motion: &SystemState<f64>, rate: &mut [f64]| rate[0] = motion.velocity[0].powi(2);
    let error = integrator
        .advance(&model, &mut motion, 2.0, burst)
        .unwrap_err();
    assert!((error.time - 1.0).abs() < 1e-6 && motion.time == error.time);
    let error = integrator.advance(&model, &mut motion, 2.0, |_, rate| rate[0] = f64::NAN);
    assert!(error.is_err());
}

/// A pendulum that swings through: joint limits in both directions, found to rounding.
#[test]
fn events_are_found_in_order() {
    let model = pendulum();
    let mut motion = SystemState::at_rest(&model);
    motion.configuration[0] = 0.5;
    let mut seen = Vec::new();
    let events = [Direction::Falling, Direction::Rising, Direction::Any];
    let mut integrator = Adaptive::new(&model, Tolerance::default()).with_events(&events);
    loop {
        let model = &model;
        let values = |motion: &SystemState<f64>, values: &mut [f64]| {
            let q = motion.configuration[0];
            values.copy_from_slice(&[q - 0.3, q + 0.1, motion.velocity[0]]);
        };
        match integrator
            .advance_to_event(model, &mut motion, 2.0, unforced(model), values)
            .unwrap()
        {
            Some(event) => {
                let value = [
                    motion.configuration[0] - 0.3,
                    motion.configuration[0] + 0.1,
                    motion.velocity[0],
                ][event];
                assert!(value.abs() < 1e-11, "{event} {value}");
                seen.push(event);
            }
            None => break,
        }
    }
    // A period is 2.04 s: down through 0.3, the turn on the other side, up through -0.1, and not yet the turn at the start.
    assert_eq!(seen, [0, 2, 1]);
    assert_eq!(motion.time, 2.0);
}

fn pendulum() -> Model<f64> {
    let bob = PseudoInertia::from_center(1.0, -Vector3::z(), Matrix3::identity() * 1e-9);
    let joint = Joint::revolute(Vector3::y()).unwrap();
    Model::builder()
        .body(Body::new("pendulum", joint).inertia(bob.unwrap()))
        .build()
        .unwrap()
}

/// A top that nutates, precesses and spins: not symmetric, about its tip.
fn top() -> (Model<f64>, SystemState<f64>) {
    let moments = Matrix3::from_diagonal(&Vector3::new(0.04, 0.05, 0.02));
    let body = PseudoInertia::from_origin(1.2, Vector3::new(0.0, 0.0, 0.15), moments);
    let body = Body::new("top", Joint::spherical()).inertia(body.unwrap());
    let model = Model::builder().body(body).build().unwrap();
    let mut motion = SystemState::at_rest(&model);
    model.integrate(&mut motion.configuration, &[0.4, 0.1, 0.0]);
    motion.velocity = vec![1.0, -0.5, 20.0];
    (model, motion)
}

/// Two bodies one below the other in three dimensions: a chaotic motion.
fn double_pendulum() -> (Model<f64>, SystemState<f64>) {
    let rod = |spring: f64| {
        let moments = Matrix3::from_diagonal(&Vector3::new(0.09, 0.08, 0.01));
        PseudoInertia::from_center(1.0 + spring, -Vector3::z() * 0.5, moments).unwrap()
    };
    let at = fly_lie::SE3::new(fly_lie::SO3::identity(), -Vector3::z());
    let lower = Body::new("lower", Joint::spherical().with_quaternion());
    let model = Model::builder()
        .body(Body::new("upper", Joint::spherical()).inertia(rod(0.0)))
        .body(lower.parent("upper").placed(at).inertia(rod(0.5)))
        .spring(Spring {
            a: "world".to_owned(),
            b: "lower".to_owned(),
            rest: at,
            stiffness: SecondMoment::from_points([(3.0, -Vector3::z())]),
        })
        .build()
        .unwrap();
    let mut motion = SystemState::at_rest(&model);
    model.integrate(&mut motion.configuration, &[1.2, 0.4, 0.0, -0.3, 1.0, 0.5]);
    motion.velocity = vec![0.5, 0.0, 1.0, 0.0, -1.0, 2.0];
    (model, motion)
}

/// What a long run keeps, relative to the largest kinetic energy and to the momentum.
struct Kept {
    /// The largest deviation of the energy.
    energy: f64,
    /// The slope of a line through the energy, times the length of the run.
    drift: f64,
    vertical_momentum: f64,
    orthogonality: f64,
}

/// A run with the variational integrator.
fn run(model: &Model<f64>, motion: &mut SystemState<f64>, h: f64, steps: usize) -> Kept {
    let mut workspace = Workspace::new(model);
    let mut integrator = Variational::new(model);
    let mut look = |motion: &SystemState<f64>| {
        workspace.update(model, &motion.configuration, &motion.velocity);
        let vertical = workspace.momentum(model)[5];
        let kinetic = workspace.kinetic_energy(model);
        (workspace.energy(model), kinetic, vertical)
    };
    let (energy, mut scale, momentum) = look(motion);
    let (mut line, mut worst) = (Line::default(), [0.0; 3]);
    for i in 1..=steps {
        let stepped = integrator.step(model, motion, h, |_, _| {});
        stepped.expect("short steps");
        let R = Matrix3::from_column_slice(&motion.configuration[..9]);
        let off = (R.transpose() * R - Matrix3::identity()).amax();
        worst[2] = f64::max(worst[2], off);
        // Not at a multiple of any period.
        if i % 7 == 0 {
            let (now, kinetic, vertical) = look(motion);
            scale = f64::max(scale, kinetic);
            line.add(i as f64 / steps as f64, now - energy);
            worst[0] = f64::max(worst[0], (now - energy).abs());
            worst[1] = f64::max(worst[1], (vertical - momentum).abs());
        }
    }
    let kept = Kept {
        energy: worst[0] / scale,
        drift: line.slope() / scale,
        vertical_momentum: worst[1] / momentum.abs(),
        orthogonality: worst[2],
    };
    println!(
        "{steps} steps of {h} s: energy within {:.2e}, drift {:.1e}; vertical momentum within {:.1e}; R'R - I {:.1e}",
        kept.energy, kept.drift, kept.vertical_momentum, kept.orthogonality
    );
    kept
}

/// The line of least squares.
#[derive(Default)]
struct Line {
    sums: [f64; 5],
}

impl Line {
    fn add(&mut self, x: f64, y: f64) {
        let terms = [1.0, x, y, x * x, x * y];
        for (sum, term) in self.sums.iter_mut().zip(terms) {
            *sum += term;
        }
    }

    fn slope(&self) -> f64 {
        let [n, x, y, xx, xy] = self.sums;
        (n * xy - x * y) / (n * xx - x * x)
    }
}

/// The top turns 3200 times. Its energy oscillates by 1e-5 of the kinetic energy, and a line through it rises by less than a hundredth of that.
#[test]
fn energy_does_not_drift_in_a_million_steps() {
    let (model, mut motion) = top();
    let kept = run(&model, &mut motion, 1e-3, 1_000_000);
    assert!(kept.energy < 1e-5);
    assert!(kept.drift.abs() < 0.01 * kept.energy);
    assert!(kept.vertical_momentum < 1e-12);
    assert!(kept.orthogonality < 1e-13);
}

/// A chaotic motion finds faster passages (45 rad/s here) the longer it lasts, so its energy wanders, within a bound that does not depend on
/// the length of the run.
fn chaos(steps: usize) {
    let (model, mut motion) = double_pendulum();
    let kept = run(&model, &mut motion, 5e-4, steps);
    assert!(kept.energy < 1e-4);
    assert!(kept.drift.abs() < 2e-5);
    assert!(kept.vertical_momentum < 1e-11);
    assert!(kept.orthogonality < 1e-13);
}

#[test]
fn energy_of_a_chaotic_motion_does_not_drift() {
    chaos(100_000);
}

/// `cargo test -p fly-mechanics --test suite integrators -- --ignored --nocapture`
#[test]
#[ignore = "ten seconds"]
fn energy_of_a_chaotic_motion_does_not_drift_in_a_million_steps() {
    chaos(1_000_000);
}

/// The error of the energy is of second order in the step.
#[test]
fn energy_error_shrinks_with_the_square_of_the_step() {
    let (model, motion) = top();
    let error = |h: f64| run(&model, &mut motion.clone(), h, 4000).energy;
    let order = (error(2e-3) / error(1e-3)).log2();
    assert!((1.8..2.2).contains(&order), "{order}");
}

/// There and back again: the rule is symmetric.
#[test]
fn variational_steps_can_be_taken_back() {
    for model in systems() {
        let start = start(&model, 3);
        // Without dampers a motion with the opposite velocity goes back; with a negative step this one does, whatever there is.
        let mut motion = start.clone();
        let mut integrator = Variational::new(&model);
        for h in [1e-3, -1e-3] {
            for _ in 0..50 {
                integrator.step(&model, &mut motion, h, |_, _| {}).unwrap();
            }
        }
        let distance = distance(&motion, &start);
        println!("there and back again: {distance:.1e}");
        assert!(distance < 1e-11, "{distance}");
    }
}

/// A ball on a spring that oscillates with this angular frequency.
fn oscillator(frequency: f64) -> (Model<f64>, SystemState<f64>) {
    let ball = PseudoInertia::from_center(1.0, Vector3::zeros(), Matrix3::identity()).unwrap();
    let model = Model::builder()
        .body(Body::new("ball", Joint::prismatic(Vector3::x()).unwrap()).inertia(ball))
        .spring(Spring {
            a: "world".to_owned(),
            b: "ball".to_owned(),
            rest: fly_lie::SE3::identity(),
            stiffness: SecondMoment::from_points([(frequency.powi(2), Vector3::zeros())]),
        })
        .build()
        .unwrap();
    let mut motion = SystemState::at_rest(&model);
    motion.velocity[0] = 1.0;
    (model, motion)
}

/// Steps of half a period to many periods: a linear system stays stable, as the midpoint rule promises, and keeps its energy.
#[test]
fn stiff_springs_are_stable_in_long_steps() {
    for radians in [1.0, 3.0, 100.0] {
        let (model, mut motion) = oscillator(100.0);
        let (mut integrator, mut most) = (Variational::new(&model), 0.0);
        for _ in 0..1000 {
            let stepped = integrator.step(&model, &mut motion, radians / 100.0, |_, _| {});
            stepped.unwrap();
            most = f64::max(most, motion.velocity[0].abs());
        }
        // Of the modified energy, v² + w² x² (1 + (h w / 2)²) in this sense, nothing is lost.
        assert!(most < 1.0 + 1e-9, "{radians}: {most}");
    }
}

#[test]
fn a_force_that_is_no_number_is_an_error() {
    let (model, mut motion) = oscillator(1.0);
    let before = motion.clone();
    let mut integrator = Variational::new(&model);
    let error = integrator.step(&model, &mut motion, 0.01, |_, f| f[0] = f64::NAN);
    assert!(
        matches!(error, Err(ImplicitStepError::NotConverged { .. })),
        "{error:?}"
    );
    assert_eq!(motion, before);
    integrator
        .step(&model, &mut motion, 0.01, |_, _| {})
        .unwrap();
}

#[test]
fn nothing_is_allocated() {
    let model = system(24, 4);
    let mut motion = start(&model, 5);
    let mut fixed = RungeKutta::new(&model, Scheme::DormandPrince8);
    let mut adaptive = Adaptive::new(&model, Tolerance::default()).with_events(&[Direction::Any]);
    let mut variational = Variational::new(&model);
    let mut dynamics = pushed(&model);
    let allocations = fly_testing::allocations(|| {
        fixed.step(&model, &mut motion, 1e-3, &mut dynamics);
        let event = |motion: &SystemState<f64>, value: &mut [f64]| value[0] = motion.time - 0.05;
        let found = adaptive.advance_to_event(&model, &mut motion, 0.1, &mut dynamics, event);
        assert_eq!(found.unwrap(), Some(0));
        variational
            .step(&model, &mut motion, 1e-3, |_, _| {})
            .unwrap();
    });
    assert_eq!(allocations, 0);
}
