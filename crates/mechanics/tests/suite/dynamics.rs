//! Every force against an energy, every energy rate against a power, and the integrator's order.

#![allow(non_snake_case)]

use fly_lie::{SE3, SO3};
use fly_mechanics::integrate::{Integrator, rk4};
use fly_mechanics::{FreeBody, PseudoInertia, State, velocity_of_point, wrench_of_force};
use nalgebra::{Matrix3, RealField, SVector, Vector3, Vector6, convert};
use num_dual::Dual64;

/// A body with its centre of mass off the origin and all products of inertia.
fn body<T: RealField + Copy>() -> FreeBody<T> {
    let number = convert::<f64, T>;
    let inertia = Matrix3::new(0.02, 0.001, -0.002, 0.001, 0.03, 0.003, -0.002, 0.003, 0.04);
    let center = Vector3::new(0.05, -0.03, 0.08);
    let inertia = PseudoInertia::from_center(number(1.5), center.map(number), inertia.map(number));
    FreeBody::new(
        inertia.expect("an inertia"),
        Vector3::new(0.3, -0.2, -9.81).map(number),
    )
}

fn states() -> Vec<State<f64>> {
    let wave = |i: usize, k: usize| (1.3 * i as f64 + 2.1 * k as f64 + 0.4).sin();
    let states = (0..20).map(|i| State {
        pose: SE3::exp(&(Vector6::from_fn(|k, _| wave(i, k)) * 2.0)),
        twist: Vector6::from_fn(|k, _| 3.0 * wave(i, k + 6)),
    });
    states.collect()
}

fn constant<const N: usize>(x: &SVector<f64, N>) -> SVector<Dual64, N> {
    x.map(Dual64::from_re)
}

/// The state a moment `eps` later along these rates.
fn moved(state: &State<f64>, twist: &Vector6<f64>, acceleration: &Vector6<f64>) -> State<Dual64> {
    let pose = SE3::new(
        SO3::from_matrix(state.pose.rotation.matrix().map(Dual64::from_re)),
        constant(&state.pose.translation),
    );
    State {
        pose: pose * SE3::exp(&twist.map(|x| Dual64::new(0.0, x))),
        twist: state.twist.zip_map(acceleration, Dual64::new),
    }
}

#[test]
fn potential_force_is_the_gradient_of_the_potential() {
    let (body, dual) = (body::<f64>(), body::<Dual64>());
    for state in states() {
        let force = body.potential_force(&state.pose);
        for k in 0..6 {
            let direction = Vector6::from_fn(|i, _| f64::from(u8::from(i == k)));
            let moved = moved(&state, &direction, &Vector6::zeros());
            let slope = dual.potential_energy(&moved.pose).eps;
            assert!(
                (slope - force[k]).abs() < 1e-13,
                "{k}: {slope} {}",
                force[k]
            );
        }
    }
}

/// `M xi` is the gradient of the kinetic energy, and a change of the momentum in the world needs a force.
#[test]
fn inertial_force_is_the_rate_of_momentum() {
    let (body, dual) = (body::<f64>(), body::<Dual64>());
    for (state, other) in states().iter().zip(states().iter().rev()) {
        let acceleration = other.twist;
        let moved = moved(state, &state.twist, &acceleration);
        let rate = dual.momentum_in_world(&moved).map(|x| x.eps);
        let force = body.mass_matrix() * acceleration + body.coriolis_force(&state.twist);
        let in_world = state.pose.adjoint_inverse().transpose() * force;
        assert!((rate - in_world).amax() < 1e-12);

        let gradient = body.mass_matrix() * state.twist;
        let change = dual.kinetic_energy(&moved.twist).eps;
        assert!((change - gradient.dot(&acceleration)).abs() < 1e-12);
        // The Coriolis force does no work.
        assert!(body.coriolis_force(&state.twist).dot(&state.twist).abs() < 1e-13);
    }
}

#[test]
fn energy_changes_by_the_power_of_the_wrench() {
    let (body, dual) = (body::<f64>(), body::<Dual64>());
    for (state, other) in states().iter().zip(states().iter().rev()) {
        let wrench = other.twist;
        let acceleration = body.acceleration(state, &wrench);
        let rate = dual.energy(&moved(state, &state.twist, &acceleration)).eps;
        let power = wrench.dot(&state.twist);
        assert!((rate - power).abs() < 1e-12, "{rate} {power}");
    }
}

#[test]
fn mass_matrix_is_inverted() {
    let body = body::<f64>();
    let error = body.mass_matrix() * body.inverse_mass_matrix() - nalgebra::Matrix6::identity();
    // The inverse's entries reach 50.
    assert!(error.amax() < 1e-14);
}

#[test]
fn a_force_has_the_power_of_the_point_it_acts_at() {
    for state in states() {
        let (force, point) = (state.pose.translation, state.velocity_in_world());
        let power = wrench_of_force(&force, &point).dot(&state.twist);
        let velocity = velocity_of_point(&state.twist, &point);
        assert!((power - force.dot(&velocity)).abs() < 1e-12);
    }
}

/// A moment in which a body with a lagging actuator turns and falls: halving the step divides the error by 16.
#[test]
fn integration_is_of_fourth_order() {
    let body = body::<f64>();
    let run = |steps: u32| {
        let mut state = states()[3];
        let mut actuator = [0.5, -1.0];
        let mut integrator = Integrator::new(2);
        let step = 0.4 / f64::from(steps);
        for _ in 0..steps {
            integrator.step(&mut state, &mut actuator, step, |state, actual, rate| {
                rate[0] = (2.0 - actual[0]) / 0.1;
                rate[1] = (state.twist[3] - actual[1]) / 0.2;
                let wrench = Vector6::new(actual[0], 0.0, 3.0, 0.0, 0.2 * actual[1], 0.05);
                body.acceleration(state, &wrench)
            });
        }
        (state, actuator)
    };
    let (exact, exact_actuator) = run(1280);
    let error = |steps| {
        let (state, actuator) = run(steps);
        let pose = (state.pose.matrix() - exact.pose.matrix()).norm();
        let twist = (state.twist - exact.twist).norm();
        let lag = (actuator[0] - exact_actuator[0]).hypot(actuator[1] - exact_actuator[1]);
        [pose, twist, lag]
    };
    for steps in [20, 40, 80] {
        for (coarse, fine) in error(steps).into_iter().zip(error(2 * steps)) {
            let order = (coarse / fine).log2();
            assert!(
                (3.7..4.4).contains(&order),
                "order {order} at {steps} steps"
            );
        }
    }
}

/// The flight without actuators is the same as with none.
#[test]
fn both_integrators_agree() {
    let body = body::<f64>();
    let state = states()[5];
    let next = rk4(&state, 0.01, |s| body.acceleration(s, &Vector6::zeros()));
    let mut other = state;
    Integrator::new(0).step(&mut other, &mut [], 0.01, |s, _, _| {
        body.acceleration(s, &Vector6::zeros())
    });
    assert_eq!(next, other);
}

/// A minute of tumbling without forces: energy and momentum stay, and so does the rotation on its group.
#[test]
fn tumbling_keeps_energy_and_momentum() {
    let body = FreeBody::new(*body::<f64>().inertia(), Vector3::zeros());
    let mut state = states()[1];
    let (energy, momentum) = (body.energy(&state), body.momentum_in_world(&state));
    for _ in 0..60_000 {
        state = rk4(&state, 0.001, |s| body.acceleration(s, &Vector6::zeros()));
    }
    // The scheme's own error, (|omega| h)^4 per radian; the drift of the momentum's torque part grows with the way flown.
    let drift = body.momentum_in_world(&state) - momentum;
    assert!((body.energy(&state) / energy - 1.0).abs() < 1e-8);
    assert!(drift.fixed_rows::<3>(0).norm() / momentum.norm() < 1e-8);
    assert!(drift.norm() / (momentum.norm() * state.pose.translation.norm()) < 1e-8);
    let R = state.pose.rotation.matrix();
    assert!((R.transpose() * R - Matrix3::identity()).amax() < 1e-12);
}

/// The centre of mass of a thrown body flies a parabola, however the body turns.
#[test]
fn a_thrown_body_falls() {
    let body = body::<f64>();
    let center = body.inertia().center_of_mass();
    let mut state = states()[2];
    let start = state.pose.act(&center);
    let velocity = state
        .pose
        .rotation
        .act(&velocity_of_point(&state.twist, &center));
    for _ in 0..1000 {
        state = rk4(&state, 0.001, |s| body.acceleration(s, &Vector6::zeros()));
    }
    let expected = start + velocity + body.gravity() * 0.5;
    assert!((state.pose.act(&center) - expected).norm() < 1e-9);
}

#[test]
fn single_precision_runs_through_the_same_code() {
    let body = body::<f32>();
    let state = State::at_rest(SE3::<f32>::identity());
    let next = rk4(&state, 0.1, |s| body.acceleration(s, &Vector6::zeros()));
    assert!((next.pose.translation.z + 0.5 * 9.81 * 0.01).abs() < 1e-5);
}
