//! The control law on whole vehicles.

use crate::common;

use common::{
    Flight, QUADCOPTER, QUADCOPTER_POLES, Random, TRICOPTER, TRICOPTER_PAIR, controller, planned,
    settings, vehicle,
};
use fly_control::allocation::{ActiveSet, Allocator, InputBounds, Limits, Outcome};
use fly_control::law::{Law, LawError};
use fly_control::matching::{complement, fully_actuated};
use fly_control::settings::{EnergySettings, Moment};
use fly_control::{ControllerSettings, ReferencePoint};
use fly_lie::SE3;
use fly_mechanics::State;
use nalgebra::{Matrix6, Matrix6xX};

#[test]
fn a_fully_actuated_vehicle_realises_its_template() {
    let vehicle = vehicle(TRICOPTER);
    let mut random = Random::new(21);
    for approach in ["particle", "body", "energy"] {
        let keys = format!("approach = '{approach}'\nallocation = 'none'");
        let mut controller = controller(TRICOPTER, &keys, TRICOPTER_PAIR);
        for _ in 0..20 {
            let (state, reference) = (random.state(), random.reference());
            let forces = controller.desired(&state, &reference);
            let input = controller.step(&state, &reference).input.clone();
            let wrench = vehicle.rotors.input_matrix() * input;
            let acceleration = vehicle.body.acceleration(&state, &wrench);
            let residual = controller.template().mass_matrix() * acceleration + forces.bias;
            assert!(
                residual.amax() < 1e-12 * (1.0 + forces.bias.amax()),
                "{residual}"
            );
        }
    }
}

#[test]
fn an_underactuated_vehicle_realises_it_up_to_the_matching_force() {
    let vehicle = vehicle(QUADCOPTER);
    let mut controller = controller(QUADCOPTER, "allocation = 'none'", QUADCOPTER_POLES);
    let mut random = Random::new(23);
    for step in 0..20 {
        if step == 10 {
            // The same with an input that is stuck.
            let (mut lower, mut upper) = ([f64::NEG_INFINITY; 4], [f64::INFINITY; 4]);
            (lower[1], upper[1]) = (2.5, 2.5);
            controller
                .set_input_bounds(&InputBounds::between(&lower, &upper))
                .expect("a law");
        }
        let (state, reference) = (random.state(), random.reference());
        let forces = controller.desired(&state, &reference);
        let matching = controller.matching_force(&state, &reference).unwrap();
        assert!(
            matching.force.norm() > 1e-3,
            "a random reference cannot be followed exactly"
        );
        let input = controller.step(&state, &reference).input.clone();
        let wrench = vehicle.rotors.input_matrix() * input;
        let acceleration = vehicle.body.acceleration(&state, &wrench);
        let residual =
            controller.template().mass_matrix() * acceleration + forces.bias - matching.force;
        assert!(
            residual.amax() < 1e-10 * (1.0 + forces.bias.amax()),
            "{residual}"
        );
    }
}

#[test]
fn the_input_does_not_know_a_common_factor() {
    // Only ratios of stiffness, damping and inertia matter, limited or not.
    let scaled = |factor: f64| {
        let mut settings = settings("allocation = 'active_set'", TRICOPTER_PAIR);
        let pair = &mut settings.pairs[0];
        for part in [&mut pair.stiffness, &mut pair.damping, &mut pair.inertia] {
            let EnergySettings::Moments(moments) = part else {
                panic!("a table");
            };
            let Some(Moment::Matrix(moment)) = &mut moments.moment else {
                panic!("a matrix");
            };
            *moment *= factor;
            *moments.weight.as_mut().unwrap() *= factor;
        }
        settings.build(&vehicle(TRICOPTER)).unwrap()
    };
    let (mut one, mut many) = (scaled(1.0), scaled(37.0));
    let mut random = Random::new(25);
    let mut saturated = 0;
    for _ in 0..100 {
        let (state, reference) = (random.state(), random.reference());
        let (a, b) = (one.step(&state, &reference), many.step(&state, &reference));
        saturated += usize::from(a.saturated());
        assert!(
            (&a.unconstrained - &b.unconstrained).amax() < 1e-11 * (1.0 + a.unconstrained.amax())
        );
        assert!(
            (&a.input - &b.input).amax() < 1e-10,
            "{} {}",
            a.input,
            b.input
        );
    }
    assert!(saturated > 20 && saturated < 101, "{saturated}");
}

#[test]
fn a_flat_reference_needs_no_matching_force() {
    // (5.80): on the reference the quadcopter realises the demand exactly, upside-down in a loop too.
    let references = [
        "kind = 'lissajous'\namplitude = [1.5, 1, 0.4]\nangular_frequency = [1.1, 1.6, 0.8]\nyaw_rate = 0.5",
        "kind = 'loop'\nradius = 0.5\nduration = 1.6",
        "kind = 'waypoints'\npoints = [{ position = [0, 0, 1] }, { position = [2, 1, 3], yaw_deg = 90 }]",
    ];
    let mut controller = controller(QUADCOPTER, "allocation = 'none'", QUADCOPTER_POLES);
    let mut lowest = 1.0_f64;
    for text in references {
        let mut reference = planned(&vehicle(QUADCOPTER), text);
        for i in 0..100 {
            let point = reference.sample(f64::from(i) * 0.05).unwrap();
            let state = State {
                pose: point.pose,
                twist: point.twist,
            };
            let matching = controller.matching_force(&state, &point).unwrap();
            assert!(
                matching.lambda.amax() < 1e-12,
                "{text}: {}",
                matching.lambda
            );
            let step = controller.step(&state, &point);
            assert!(step.energies.expect("energies").total < 1e-20);
            lowest = lowest.min(point.pose.rotation.matrix()[(2, 2)]);
        }
    }
    assert!(lowest < -0.99, "the loop turns over: {lowest}");
}

#[test]
fn a_centre_of_mass_off_the_origin_changes_nothing() {
    // The same vehicle described from a point 5 cm below and 2 cm sideways of its centre of mass needs the same thrusts.
    let shifted = QUADCOPTER
        .replace(
            "inertia =",
            "center_of_mass = [0.02, -0.01, 0.05]\ninertia =",
        )
        .replace(
            "position = [0.18, 0.0, 0.0]",
            "position = [0.2, -0.01, 0.05]",
        )
        .replace(
            "position = [0.0, 0.18, 0.0]",
            "position = [0.02, 0.17, 0.05]",
        )
        .replace(
            "position = [-0.18, 0.0, 0.0]",
            "position = [-0.16, -0.01, 0.05]",
        )
        .replace(
            "position = [0.0, -0.18, 0.0]",
            "position = [0.02, -0.19, 0.05]",
        );
    let text = "kind = 'lissajous'\namplitude = [1.5, 1, 0.4]\nangular_frequency = [1.1, 1.6, 0.8]\nyaw_rate = 0.5";
    let (mut r_a, mut r_b) = (
        planned(&vehicle(QUADCOPTER), text),
        planned(&vehicle(&shifted), text),
    );
    let mut a = controller(QUADCOPTER, "allocation = 'active_set'", QUADCOPTER_POLES);
    let mut b = controller(&shifted, "allocation = 'active_set'", QUADCOPTER_POLES);
    let center = fly_lie::SE3::new(
        fly_lie::SO3::identity(),
        nalgebra::Vector3::new(0.02, -0.01, 0.05),
    );
    let mut random = Random::new(27);
    for i in 0..40 {
        let t = f64::from(i) * 0.1;
        // The state near the reference, of the centre of mass and of the shifted origin.
        let point = r_a.sample(t).unwrap();
        let state = State {
            pose: point.pose * SE3::exp(&random.vector6(0.2)),
            twist: point.twist + random.vector6(0.3),
        };
        let moved = State {
            pose: state.pose * center.inverse(),
            twist: center.adjoint() * state.twist,
        };
        let (u_a, u_b) = (
            a.step(&state, &point).clone(),
            b.step(&moved, &r_b.sample(t).unwrap()),
        );
        assert!(
            (&u_a.unconstrained - &u_b.unconstrained).amax() < 1e-9,
            "{} {}",
            u_a.unconstrained,
            u_b.unconstrained
        );
        let total = |step: &fly_control::Step| step.energies.expect("energies").total;
        assert!((total(&u_a) - total(u_b)).abs() < 1e-10);
    }
}

#[test]
fn rank_and_complement() {
    let (quad, tri) = (vehicle(QUADCOPTER), vehicle(TRICOPTER));
    assert!(fully_actuated(tri.rotors.input_matrix()));
    let inputs = quad.rotors.input_matrix();
    assert!(!fully_actuated(inputs));
    let missing = complement(inputs);
    assert_eq!(missing.shape(), (6, 2));
    assert!((missing.transpose() * inputs).amax() < 1e-14);
}

#[test]
fn a_mass_that_is_not_positive_has_no_law() {
    let identity = Matrix6::<f64>::identity();
    let inputs = Matrix6xX::from_columns(&[identity.column(2).into_owned()]);
    assert_eq!(
        Law::constant(&-identity, &identity, &inputs).unwrap_err(),
        LawError::Mass
    );
}

#[test]
fn the_same_frames_give_the_same_bits() {
    for allocation in [
        "active_set",
        if cfg!(feature = "osqp") {
            "osqp"
        } else {
            "active_set"
        },
    ] {
        let run = || {
            let keys = format!("allocation = '{allocation}'");
            let mut controller = controller(TRICOPTER, &keys, TRICOPTER_PAIR);
            let mut random = Random::new(29);
            let mut bits = Vec::new();
            for _ in 0..200 {
                let step = controller.step(&random.state(), &random.reference());
                bits.extend(step.input.iter().map(|u| u.to_bits()));
            }
            bits
        };
        assert_eq!(run(), run());
    }
}

#[test]
fn a_state_that_is_not_finite_keeps_the_last_input() {
    let mut controller = controller(TRICOPTER, "allocation = 'active_set'", TRICOPTER_PAIR);
    let mut random = Random::new(31);
    let (mut state, reference) = (random.state(), random.reference());
    let before = controller.step(&state, &reference).clone();
    assert!(before.saturated());
    state.twist[4] = f64::NAN;
    let after = controller.step(&state, &reference);
    assert!((&after.input - &before.input).amax() < 1e-14);
    assert!(after.unconstrained.iter().any(|u| u.is_nan()));

    // The last one, not the last that met the limits.
    let hover = ReferencePoint::at_rest(SE3::identity());
    let before = controller.step(&State::at_rest(hover.pose), &hover).clone();
    assert!(!before.saturated());
    assert_eq!(controller.step(&state, &reference).input, before.input);
}

#[test]
fn rho_changes_only_limited_inputs() {
    let with = |rho: f64| ControllerSettings {
        tilt_priority: Some(rho),
        ..settings("allocation = 'active_set'", QUADCOPTER_POLES)
    };
    let mut plain = with(0.0).build(&vehicle(QUADCOPTER)).unwrap();
    let mut weighted = with(3.0).build(&vehicle(QUADCOPTER)).unwrap();
    // Set after the limits it does the same.
    let later = with(0.0).build(&vehicle(QUADCOPTER)).unwrap();
    let mut later = later.with_tilt_priority(3.0).unwrap();
    let upside_down = State::at_rest(SE3::exp(&nalgebra::Vector6::new(
        0.0, 0.0, 0.0, 3.11, 0.0, 0.0,
    )));
    let near = State::at_rest(SE3::exp(&nalgebra::Vector6::new(
        0.01, 0.0, 0.0, 0.02, 0.0, 0.0,
    )));
    let reference = ReferencePoint::at_rest(SE3::identity());
    let (a, b) = (
        plain.step(&near, &reference),
        weighted.step(&near, &reference),
    );
    assert!(!a.saturated() && a.input == b.input);
    let (a, b) = (
        plain.step(&upside_down, &reference),
        weighted.step(&upside_down, &reference),
    );
    assert_eq!(a.unconstrained, b.unconstrained);
    // Literally all rotors idle; with rho one pushes and turns the vehicle.
    assert!(a.input.amax() < 0.2 + 1e-9, "{}", a.input);
    assert!(b.input.amax() > 0.3, "{}", b.input);
    assert_eq!(later.step(&upside_down, &reference).input, b.input);
}

#[test]
fn inputs_change_no_faster_than_their_rate() {
    let vehicle = vehicle(QUADCOPTER);
    let metric = controller(QUADCOPTER, "allocation = 'active_set'", QUADCOPTER_POLES)
        .allocation_metric()
        .clone();
    for allocation in ["active_set", "osqp"] {
        if allocation == "osqp" && cfg!(not(feature = "osqp")) {
            continue;
        }
        let keys = format!("allocation = '{allocation}'\ninput_rate_limit = 40");
        let mut limited = controller(QUADCOPTER, &keys, QUADCOPTER_POLES);
        let mut random = Random::new(33);
        let (mut before, mut held, mut free) = (None, 0, 0);
        for i in 0..400 {
            // The time between frames changes, the states jump.
            let elapsed = [0.002, 0.01, 0.004, 0.0, 0.05][i % 5];
            let state = State {
                pose: SE3::exp(&random.vector6(0.3)),
                twist: random.vector6(0.3),
            };
            let reference = ReferencePoint::at_rest(SE3::identity());
            let step = limited.step_after(elapsed, &state, &reference).clone();
            if let Some(before) = before {
                // The same problem put differently: both limits of a thrust as one pair of bounds.
                let before: &nalgebra::DVector<f64> = &before;
                let reach = 40.0 * elapsed;
                let lower = before.map(|u| (u - reach).max(0.2));
                let upper = before.map(|u| (u + reach).min(7.0));
                let rows = nalgebra::DMatrix::identity(4, 4);
                let limits = Limits::between(rows, &lower, &upper, before.clone()).unwrap();
                let mut expected = nalgebra::DVector::zeros(4);
                ActiveSet::new(&limits, &metric)
                    .unwrap()
                    .solve(step.unconstrained.as_slice(), expected.as_mut_slice());
                let tolerance = if allocation == "osqp" { 1e-5 } else { 1e-11 };
                assert!(
                    (&step.input - &expected).amax() < tolerance,
                    "{step:?} {expected}"
                );
                assert!(limits.violation(step.input.as_slice()) < tolerance);
                held += usize::from(limits.violation(step.unconstrained.as_slice()) > 0.0);
                free += usize::from(!step.saturated());
            } else {
                // Nothing comes before the first input.
                assert!(
                    vehicle
                        .rotors
                        .limits()
                        .contains(step.input.as_slice(), 1e-12)
                );
            }
            before = Some(step.input);
        }
        assert!(held > 100 && free > 10, "{held} {free}");
        // Without a time the rate does not count.
        let far = State::at_rest(SE3::exp(&nalgebra::Vector6::new(
            0.0, 0.0, -9.0, 0.0, 0.0, 0.0,
        )));
        let step = limited.step(&far, &ReferencePoint::at_rest(SE3::identity()));
        assert!((step.input.min() - 7.0).abs() < 1e-5, "{}", step.input);
    }
}

#[test]
fn a_limited_rate_still_flies_home() {
    let vehicle = vehicle(QUADCOPTER);
    let keys = "allocation = 'active_set'\ninput_rate_limit = 15";
    let mut controller = controller(QUADCOPTER, keys, QUADCOPTER_POLES);
    let goal = ReferencePoint::at_rest(SE3::identity());
    let start = SE3::exp(&nalgebra::Vector6::new(1.0, -0.5, 0.3, 0.6, -0.4, 0.8));
    let mut flight = Flight::new(&vehicle, State::at_rest(start));
    let mut before: Option<nalgebra::DVector<f64>> = None;
    let mut rates = 0;
    for _ in 0..2500 {
        let step = controller.step_after(2e-3, &flight.state, &goal);
        if let Some(before) = before {
            let change = (&step.input - before).amax();
            assert!(change <= 15.0 * 2e-3 + 1e-12, "{change}");
            rates += usize::from(change > 15.0 * 2e-3 - 1e-12);
        }
        before = Some(step.input.clone());
        flight.advance(step.input.as_slice(), 2e-3);
    }
    assert!(rates > 10, "{rates}");
    assert!(flight.state.pose.log().norm() < 1e-2, "{:?}", flight.state);
}

#[test]
fn limits_that_leave_nothing_are_reported_with_every_step() {
    // Two rows that contradict each other by 2 N about a thrust of 4 N; the rest is free.
    let vehicle = vehicle(QUADCOPTER);
    let rows = nalgebra::DMatrix::from_fn(2, 4, |i, j| [1.0, -1.0][i] * f64::from(j == 0));
    let bounds = nalgebra::DVector::from_vec(vec![3.0, -5.0]);
    let limits = Limits::new(rows, bounds, nalgebra::DVector::zeros(4)).unwrap();
    let mut controller = settings("allocation = 'active_set'", QUADCOPTER_POLES)
        .build_for_body(
            &vehicle.body,
            &vehicle.body_name,
            vehicle.rotors.input_matrix(),
            Some(&limits),
        )
        .unwrap();
    let goal = ReferencePoint::at_rest(SE3::identity());
    let step = controller.step(&State::at_rest(SE3::identity()), &goal);
    assert_eq!(step.allocation.outcome, Outcome::Infeasible);
    assert!((step.input[0] - 4.0).abs() < 1e-9, "{}", step.input);
}

#[test]
fn a_vehicle_with_a_rotor_twice_shares_its_thrust() {
    let fifth = "
        [[rotors]]
        body = 'airframe'
        position = [0.18, 0, 0]
        axis = [0, 0, 1]
        drag_ratio = -0.016
        thrust = [0.2, 7]";
    let [quadcopter, twice] = ["", fifth].map(|more| {
        let settings = settings("allocation = 'none'", QUADCOPTER_POLES);
        let description = QUADCOPTER.to_owned() + more;
        settings.build(&vehicle(&description)).unwrap()
    });
    let mut random = Random::new(1);
    let (mut one, mut two) = (quadcopter, twice);
    for _ in 0..100 {
        let (state, goal) = (random.state(), random.reference());
        let (alone, shared) = (one.step(&state, &goal), two.step(&state, &goal));
        let (alone, shared) = (&alone.input, &shared.input);
        let tolerance = 1e-12 * alone.amax();
        for rotor in 1..4 {
            assert!((alone[rotor] - shared[rotor]).abs() < tolerance, "{shared}");
        }
        assert!((alone[0] - shared[0] - shared[4]).abs() < tolerance);
    }
}
