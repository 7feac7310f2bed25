//! Bodies about a fixed point: balances, integrals of motion, stability.

#![allow(non_snake_case)]

use fly_lie::operators::{angular, linear};
use fly_lie::{SE3, SO3};
use fly_mechanics::{PseudoInertia, State, velocity_of_point};
use nalgebra::{Matrix3, RealField, Vector3, Vector6, convert};
use num_dual::Dual64;

use crate::special_bodies::FixedPointBody;

const PIVOT: Vector3<f64> = Vector3::new(-0.1, 0.2, 0.05);
const GRAVITY: Vector3<f64> = Vector3::new(0.3, -0.2, -9.81);

fn body<T: RealField + Copy>() -> FixedPointBody<T> {
    let number = convert::<f64, T>;
    let inertia = Matrix3::new(0.02, 0.001, -0.002, 0.001, 0.03, 0.003, -0.002, 0.003, 0.04);
    let center = Vector3::new(0.05, -0.03, 0.08);
    let inertia = PseudoInertia::from_center(number(1.5), center.map(number), inertia.map(number));
    FixedPointBody::new(
        inertia.expect("an inertia"),
        PIVOT.map(number),
        GRAVITY.map(number),
    )
}

fn wave(i: usize, k: usize) -> f64 {
    (1.3 * i as f64 + 2.1 * k as f64 + 0.4).sin()
}

fn states(body: &FixedPointBody<f64>) -> Vec<(State<f64>, Vector6<f64>)> {
    let states = (0..20).map(|i| {
        let rotation = SO3::exp(&Vector3::from_fn(|k, _| 3.0 * wave(i, k)));
        let omega = Vector3::from_fn(|k, _| 4.0 * wave(i, k + 6));
        let wrench = Vector6::from_fn(|k, _| 2.0 * wave(i, k + 9));
        (body.state(rotation, omega), wrench)
    });
    states.collect()
}

/// The state a moment `eps` later.
fn moved(state: &State<f64>, acceleration: &Vector6<f64>) -> State<Dual64> {
    let pose = SE3::from_matrix(&state.pose.matrix().map(Dual64::from_re));
    State {
        pose: pose * SE3::exp(&state.twist.map(|x| Dual64::new(0.0, x))),
        twist: state.twist.zip_map(acceleration, Dual64::new),
    }
}

fn rates(vector: &Vector3<Dual64>) -> Vector3<f64> {
    vector.map(|x| x.eps)
}

/// Angular momentum about the point changes by the torques about it, energy by the power, and the point stays.
#[test]
fn motion_obeys_the_balances() {
    let (body, dual) = (body::<f64>(), body::<Dual64>());
    let center = body.free.inertia().center_of_mass();
    let mass = body.free.inertia().mass();
    for (state, wrench) in states(&body) {
        let R = state.pose.rotation;
        let acceleration = body.acceleration(&state, &wrench);
        let next = moved(&state, &acceleration);

        let (force, torque) = (linear(&wrench), angular(&wrench));
        let weight = GRAVITY * mass;
        let about =
            R.act(&(torque - PIVOT.cross(&force))) + R.act(&(center - PIVOT)).cross(&weight);
        let rate = rates(&dual.angular_momentum_in_world(&next));
        assert!((rate - about).amax() < 1e-12, "{rate} {about}");

        let velocity = |h: &Vector3<f64>| {
            let h = h.map(Dual64::from_re);
            next.pose.rotation.act(&velocity_of_point(&next.twist, &h))
        };
        let fixed = velocity(&PIVOT);
        assert!(fixed.map(|x| x.re).amax() < 1e-14 && rates(&fixed).amax() < 1e-12);

        let power = wrench.dot(&state.twist);
        assert!((dual.energy(&next).eps - power).abs() < 1e-11);
    }
}

/// The same body, its frame in the fixed point.
#[test]
fn the_frame_does_not_matter() {
    let body = body::<f64>();
    let there = SE3::new(SO3::identity(), PIVOT);
    let other = FixedPointBody::new(
        body.free.inertia().in_frame(&there),
        Vector3::zeros(),
        GRAVITY,
    );
    for (state, _) in states(&body) {
        let omega = angular(&state.twist);
        let same = other.state(state.pose.rotation, omega);
        let none = Vector6::zeros();
        let (a, b) = (
            body.acceleration(&state, &none),
            other.acceleration(&same, &none),
        );
        assert!((angular(&a) - angular(&b)).amax() < 1e-12);
        assert!(linear(&b).amax() < 1e-15, "the frame's origin rests");
        let momentum = body.angular_momentum_in_world(&state);
        assert!((momentum - other.angular_momentum_in_world(&same)).amax() < 1e-14);
    }
}

/// With moments in the ratio 2 : 2 : 1 and the centre of mass on a long axis a fourth integral exists, Kovalevskaya's: as a function of
/// the state its rate is zero. With other moments it is not one.
#[test]
fn kovalevskaya_top_keeps_its_integral() {
    let (mass, length, gravity) = (1.2, 0.25, 9.81);
    let rate = |third: f64, state: usize| {
        let moments = Matrix3::from_diagonal(&Vector3::new(2.0, 2.0, third));
        let center = Vector3::new(length, 0.0, 0.0);
        let inertia = PseudoInertia::from_origin(mass, center, moments).expect("an inertia");
        let down = Vector3::new(0.0, 0.0, -gravity);
        let top = FixedPointBody::new(inertia, Vector3::zeros(), down);
        let (state, _) = states(&top)[state];
        let next = moved(&state, &top.acceleration(&state, &Vector6::zeros()));
        let (up, w) = (next.pose.rotation.matrix().row(2), angular(&next.twist));
        let c = Dual64::from_re(mass * gravity * length);
        let real = w.x * w.x - w.y * w.y - c * up[0];
        let imaginary = w.x * w.y * 2.0 - c * up[1];
        (real * real + imaginary * imaginary).eps
    };
    for i in 0..20 {
        assert!(rate(1.0, i).abs() < 1e-11, "{}", rate(1.0, i));
    }
    assert!(rate(1.2, 3).abs() > 0.1, "{}", rate(1.2, 3));
}

fn lagrange_top() -> FixedPointBody<f64> {
    let moments = Matrix3::from_diagonal(&Vector3::new(0.05, 0.05, 0.02));
    let center = Vector3::new(0.0, 0.0, 0.15);
    let inertia = PseudoInertia::from_origin(1.2, center, moments).expect("an inertia");
    FixedPointBody::new(inertia, Vector3::zeros(), Vector3::new(0.0, 0.0, -9.81))
}

/// Energy, vertical and axial angular momentum of Lagrange's top stay over a hundred thousand steps, and the fixed point stays where it is.
#[test]
fn lagrange_top_keeps_its_integrals() {
    let top = lagrange_top();
    let start = top.state(
        SO3::exp(&Vector3::new(0.4, 0.2, 0.0)),
        Vector3::new(0.3, -0.2, 20.0),
    );
    let integrals = |state: &State<f64>| {
        let momentum = top.angular_momentum_in_world(state);
        let axis = state.pose.rotation.act(&Vector3::z());
        [top.energy(state), momentum.z, momentum.dot(&axis)]
    };
    let mut state = start;
    for _ in 0..100_000 {
        state = top.step(&state, 2e-4);
    }
    for (now, then) in integrals(&state).into_iter().zip(integrals(&start)) {
        // The scheme's own error after 400 rad of spin, (spin h)^4 / 120 per radian at most.
        assert!((now / then - 1.0).abs() < 1e-9, "{now} {then}");
    }
    assert!(state.pose.translation.norm() < 1e-12);
    let R = state.pose.rotation.matrix();
    assert!((R.transpose() * R - Matrix3::identity()).amax() < 1e-14);
}

/// A top sleeps upright if `(C spin)² > 4 A m g s`, and falls if it turns more slowly.
#[test]
fn a_fast_top_sleeps() {
    let top = lagrange_top();
    let critical = (4.0 * 0.05 * 1.2 * 9.81 * 0.15_f64).sqrt() / 0.02;
    let lowest = |spin: f64| {
        let nearly_upright = SO3::exp(&Vector3::new(1e-3, 0.0, 0.0));
        let mut state = top.state(nearly_upright, Vector3::new(0.0, 0.0, spin));
        let mut lowest: f64 = 1.0;
        for _ in 0..8_000 {
            state = top.step(&state, 5e-4);
            lowest = lowest.min(state.pose.rotation.matrix()[(2, 2)]);
        }
        lowest
    };
    assert!(lowest(1.05 * critical) > 0.9999);
    assert!(lowest(0.95 * critical) < 0.99);
}
