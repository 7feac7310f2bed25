//! The templates against their energies: forces against gradients, powers against rates.
#![allow(non_snake_case)]

use crate::common;

use common::{Random, SKEWED_PAIR, TRICOPTER, TRICOPTER_PAIR, controller, derivative};
use fly_control::kinematics::OneBody;
use fly_control::template::energy::connection;
use fly_control::template::{DesiredMotion, Template, Tracking, Transport};
use fly_control::transport::Map;
use fly_control::{Controller, ReferencePoint};
use fly_lie::SE3;
use fly_mechanics::{State, integrate};
use nalgebra::{Const, Vector3, Vector6};

const APPROACHES: [&str; 4] = [
    "approach = 'particle'\nallocation = 'none'",
    "approach = 'body'\nallocation = 'none'",
    "approach = 'energy'\ntransport = 'adjoint'\nallocation = 'none'",
    "approach = 'energy'\ntransport = 'centred'\nallocation = 'none'",
];

/// A reference moves by its twist and acceleration, to the order that matters for a derivative.
fn moved(reference: &ReferencePoint, t: f64) -> ReferencePoint {
    let state = State {
        pose: reference.pose,
        twist: reference.twist,
    };
    let next = integrate::rk4(&state, t, |_| reference.acceleration);
    ReferencePoint {
        pose: next.pose,
        twist: next.twist,
        acceleration: reference.acceleration,
    }
}

type Vehicle = Template<OneBody>;

fn desired(
    template: &Vehicle,
    state: &State<f64>,
    reference: &ReferencePoint,
) -> DesiredMotion<f64, Const<6>> {
    let mut desired = DesiredMotion::of_dof(Const);
    template.clone().evaluate(state, reference, &mut desired);
    desired
}

fn transport_map(
    template: &Vehicle,
    state: &State<f64>,
    reference: &ReferencePoint,
) -> Map<f64, Const<6>> {
    let mut map = Map::new(Const);
    let Ok(()) = template
        .clone()
        .transport_map(&Tracking::new(&state.into(), reference), &mut map);
    map
}

fn potential(template: &Vehicle, pose: &SE3<f64>, reference: &SE3<f64>) -> f64 {
    let state = State::at_rest(*pose);
    let reference = ReferencePoint::at_rest(*reference);
    desired(template, &state, &reference).energies.potential
}

/// The closed loop's acceleration: B is invertible, so the template is realised.
fn acceleration(
    controller: &Controller,
    state: &State<f64>,
    reference: &ReferencePoint,
) -> Vector6<f64> {
    let bias = controller.desired(state, reference).bias;
    -controller
        .template()
        .mass_matrix()
        .try_inverse()
        .expect("positive definite")
        * bias
}

/// dW/dt of the closed loop.
fn energy_rate(controller: &Controller, state: &State<f64>, reference: &ReferencePoint) -> f64 {
    derivative(|t| {
        let mut time = [0.0];
        let mut now = *state;
        let mut integrator = integrate::Integrator::new(1);
        integrator.step(&mut now, &mut time, t, |state, time, rate| {
            rate[0] = 1.0;
            acceleration(controller, state, &moved(reference, time[0]))
        });
        controller
            .desired(&now, &moved(reference, t))
            .energies
            .total
    })
}

#[test]
fn the_stiffness_force_is_the_gradient_of_the_potential() {
    let template = controller(TRICOPTER, APPROACHES[0], SKEWED_PAIR)
        .template()
        .clone();
    let mut random = Random::new(3);
    for _ in 0..20 {
        let (pose, reference) = (random.pose(), random.pose());
        let at_rest = (State::at_rest(pose), ReferencePoint::at_rest(reference));
        let force = desired(&template, &at_rest.0, &at_rest.1).stiffness;
        for i in 0..6 {
            let along = |t: f64| SE3::exp(&(Vector6::ith(i, 1.0) * t));
            let gradient = derivative(|t| potential(&template, &(pose * along(t)), &reference));
            assert!(
                (gradient - force[i]).abs() < 1e-9,
                "{i}: {gradient} {}",
                force[i]
            );
        }
    }
}

#[test]
fn both_transport_maps_carry_the_gradient() {
    // (5.43): the gradient by the reference is -Q^T times that by the configuration.
    for keys in &APPROACHES[2..] {
        let template = controller(TRICOPTER, keys, SKEWED_PAIR).template().clone();
        let mut random = Random::new(5);
        for _ in 0..20 {
            let (state, reference) = (random.state(), random.reference());
            let map = transport_map(&template, &state, &reference);
            let expected = -map.Q.transpose() * desired(&template, &state, &reference).stiffness;
            for i in 0..6 {
                let along = |t: f64| SE3::exp(&(Vector6::ith(i, 1.0) * t));
                let by_reference =
                    derivative(|t| potential(&template, &state.pose, &(reference.pose * along(t))));
                assert!((by_reference - expected[i]).abs() < 1e-9, "{i}");
            }
        }
    }
}

#[test]
fn the_rate_of_a_transport_map_is_its_derivative() {
    for keys in &APPROACHES[2..] {
        let template = controller(TRICOPTER, keys, SKEWED_PAIR).template().clone();
        let mut random = Random::new(7);
        for _ in 0..10 {
            let (state, reference) = (random.state(), random.reference());
            let map_at = |t: f64| {
                let now = State {
                    pose: state.pose * SE3::exp(&(state.twist * t)),
                    ..state
                };
                transport_map(&template, &now, &moved(&reference, t))
            };
            let rate = map_at(0.0).Q_dot;
            for at in (0..6).flat_map(|i| (0..6).map(move |j| (i, j))) {
                let found = derivative(|t| map_at(t).Q[at]);
                assert!(
                    (found - rate[at]).abs() < 1e-9,
                    "{at:?}: {found} {}",
                    rate[at]
                );
            }
        }
    }
}

#[test]
fn the_connection_takes_no_power() {
    let template = controller(TRICOPTER, APPROACHES[2], SKEWED_PAIR)
        .template()
        .clone();
    let mut random = Random::new(9);
    for _ in 0..20 {
        let C = connection(template.pair(), &random.vector6(3.0));
        assert!((C + C.transpose()).amax() < 1e-14);
    }
}

#[test]
fn the_total_energy_falls_by_twice_the_dissipation() {
    // Body- and energy-based, any moving reference, (5.23) and (5.55) with the actual velocity in the connection.
    for keys in &APPROACHES[1..] {
        for pair in [SKEWED_PAIR, TRICOPTER_PAIR] {
            let controller = controller(TRICOPTER, keys, pair);
            let mut random = Random::new(11);
            for _ in 0..20 {
                let (state, reference) = (random.state(), random.reference());
                let rate = energy_rate(&controller, &state, &reference);
                let dissipation = controller.desired(&state, &reference).energies.dissipation;
                let scale = 1.0 + dissipation;
                assert!(
                    (rate + 2.0 * dissipation).abs() < 1e-7 * scale,
                    "{keys}: {rate} {dissipation}"
                );
            }
        }
    }
}

#[test]
fn the_particle_based_energy_need_not_fall_while_the_reference_moves() {
    let controller = controller(TRICOPTER, APPROACHES[0], SKEWED_PAIR);
    let mut random = Random::new(13);
    let mut worst = 0.0_f64;
    for _ in 0..20 {
        let (state, mut reference) = (random.state(), random.reference());
        let gap = |reference: &ReferencePoint| {
            let dissipation = controller.desired(&state, reference).energies.dissipation;
            energy_rate(&controller, &state, reference) + 2.0 * dissipation
        };
        worst = worst.max(gap(&reference).abs());
        // With the reference at rest it does.
        reference.twist = Vector6::zeros();
        reference.acceleration = Vector6::zeros();
        assert!(gap(&reference).abs() < 1e-7);
    }
    assert!(worst > 0.1, "{worst}");
}

#[test]
fn all_templates_agree_for_a_reference_at_rest() {
    // (5.70), with the centred map about the centre of stiffness of equal centres.
    let mut random = Random::new(15);
    for _ in 0..20 {
        let state = random.state();
        let reference = ReferencePoint::at_rest(random.pose());
        let forces = APPROACHES.map(|keys| {
            controller(TRICOPTER, keys, SKEWED_PAIR)
                .desired(&state, &reference)
                .bias
        });
        for other in &forces[1..] {
            assert!((forces[0] - other).amax() < 1e-12 * (1.0 + forces[0].amax()));
        }
    }
}

#[test]
fn coinciding_centres_and_the_centred_map_decouple_the_position() {
    // m e'' + d e' + k e = 0 in the world, as for the particle-based approach.
    for keys in [APPROACHES[0], APPROACHES[3]] {
        let controller = controller(TRICOPTER, keys, TRICOPTER_PAIR);
        let mut random = Random::new(17);
        for _ in 0..20 {
            let (state, reference) = (random.state(), random.reference());
            let world = |pose: &SE3<f64>, twist: &Vector6<f64>, rate: &Vector6<f64>| {
                let part = |x: &Vector6<f64>, i: usize| Vector3::new(x[i], x[i + 1], x[i + 2]);
                let (v, w) = (part(twist, 0), part(twist, 3));
                let velocity = pose.rotation.act(&v);
                (velocity, pose.rotation.act(&(part(rate, 0) + w.cross(&v))))
            };
            let xi_dot = acceleration(&controller, &state, &reference);
            let (v, a) = world(&state.pose, &state.twist, &xi_dot);
            let (v_R, a_R) = world(&reference.pose, &reference.twist, &reference.acceleration);
            let e = state.pose.translation - reference.pose.translation;
            let residual = (a - a_R) + (v - v_R) * 6.0 + e * 9.0;
            assert!(
                residual.amax() < 1e-12 * (1.0 + a.amax()),
                "{keys}: {residual}"
            );
        }
    }
}

#[test]
fn the_default_map_is_the_centred_one() {
    assert_eq!(Transport::default(), Transport::Centred);
}
