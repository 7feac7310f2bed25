//! The analysis of closed loops against independent values, finite differences and simulations.

#![allow(non_snake_case)]

use crate::common;

use common::{
    QUADCOPTER, QUADCOPTER_POLES, Random, SKEWED_PAIR, TRICOPTER, TRICOPTER_PAIR, controller,
    polynomial, vehicle,
};
use fly_control::analysis::{
    AnalysisError, Balance, ClosedLoop, HoverMargins, LyapunovMonitor, Report, UncheckedReason,
    desired, modes,
};
use fly_control::{Controller, ReferencePoint};
use fly_lie::{SE3, SO3};
use fly_mechanics::{State, integrate};
use nalgebra::{Complex, SMatrix, Vector3, Vector6};

/// Two rotors above the centre of mass, canted outward by 10 degrees, that tilt forward and backward.
const BICOPTER: &str = include_str!("../../../../configs/vehicles/bicopter.toml");

/// With its arms rounded otherwise than here.
const SHIPPED_TRICOPTER: &str = include_str!("../../../../configs/vehicles/tricopter.toml");

fn poles_at(a: f64) -> String {
    format!(
        "[poles]\nhorizontal = [{a}, {a}, {a}, {a}]\nyaw = {{ inertia = 0.02, damping = 0.16, stiffness = 0.32 }}\n"
    )
}

fn closed_loop(description: &str, tables: &str) -> ClosedLoop {
    let controller = controller(description, "", tables);
    common::closed_loop(description, &controller, &SO3::identity()).expect("an equilibrium")
}

#[test]
fn the_largest_lags_are_those_found_by_simulation() {
    // Four poles at -a: 0.57/a, published to three digits; position 3 rad/s and attitude 6 rad/s: d/k = 0.144/0.432.
    let cases = [
        (QUADCOPTER, poles_at(-5.0), 0.114),
        (QUADCOPTER, poles_at(-8.0), 0.071),
        (BICOPTER, poles_at(-4.0), 0.142),
        (TRICOPTER, TRICOPTER_PAIR.to_owned(), 1.0 / 3.0),
    ];
    for (description, tables, expected) in cases {
        let closed = closed_loop(description, &tables);
        let margin = closed.largest_lag().expect("stable").expect("a margin");
        assert!(
            (margin.factor - expected).abs() < 5e-4,
            "{margin:?}, expected {expected}"
        );
        // Just inside it is stable, just outside not.
        for (factor, stable) in [(0.999, true), (1.001, false)] {
            let lags = vec![factor * margin.factor; closed.input().len()];
            let poles = closed.poles_with_lags(&lags).expect("poles");
            assert_eq!(
                poles.iter().all(|pole| pole.re < 0.0),
                stable,
                "{description} {factor}"
            );
            assert_eq!(poles.len(), 12 + lags.len());
        }
    }
    // tau s^3 + s^2 + 12 s + 36: at tau = 1/3 it oscillates with w^2 = 12/tau.
    let margin = closed_loop(TRICOPTER, TRICOPTER_PAIR)
        .largest_lag()
        .expect("stable")
        .expect("a margin");
    assert!((margin.factor - 1.0 / 3.0).abs() < 1e-8, "{margin:?}");
    assert!((margin.frequency - 6.0).abs() < 1e-5, "{margin:?}");
}

#[test]
fn the_largest_lags_are_those_of_routh() {
    let mut random = Random::new(3);
    for i in 0..4 {
        // All feedback of a quadcopter goes through its rotors: T s^5 + s^4 + p3 s^3 + p2 s^2 + p1 s + p0 across,
        // T s^3 + s^2 + d/m s + k/m with d/k = p1/p0 upwards, and the same about the vertical.
        let mut pole = || 5.0 + 4.0 * random.next();
        let (a, b, c, w) = (pole(), pole(), pole(), pole());
        // (s + a)(s + b)(s^2 + c s + w^2)
        let p = [
            a * b * w * w,
            (a + b) * w * w + a * b * c,
            w * w + (a + b) * c + a * b,
            a + b + c,
        ];
        let [damping, stiffness] = [0.1 * pole(), 0.3 * pole()];
        let tables = format!(
            "[poles]\npolynomial = {p:?}\nyaw = {{ inertia = 0.02, damping = {damping}, stiffness = {stiffness} }}\n"
        );
        // Routh's last condition, a quadratic in T: (p2 b1 - b2) b2 - p0 b1^2, b1 = p3 - p2 T, b2 = p1 - p0 T.
        let [p0, p1, p2, p3] = p;
        let condition = |T: f64| {
            let (b1, b2) = (p3 - p2 * T, p1 - p0 * T);
            (p2 * b1 - b2) * b2 - p0 * b1 * b1
        };
        let [f0, f1, f2] = [0.0, 1.0, 2.0].map(condition);
        let (quadratic, linear) = (0.5 * (f2 - 2.0 * f1 + f0), 2.0 * f1 - 0.5 * f2 - 1.5 * f0);
        let root = (linear * linear - 4.0 * quadratic * f0).sqrt();
        let roots = [1.0, -1.0].map(|sign| (-linear + sign * root) / (2.0 * quadratic));
        let across = roots
            .into_iter()
            .filter(|T| *T > 0.0)
            .fold(p3 / p2, f64::min);
        let expected = across.min(p1 / p0).min(damping / stiffness);

        let closed = closed_loop(QUADCOPTER, &tables);
        let margin = closed.largest_lag().expect("stable").expect("a margin");
        assert!(
            (margin.factor / expected - 1.0).abs() < 1e-7,
            "{margin:?}, expected {expected}"
        );
        if i > 0 {
            continue;
        }
        // Of given lags the same as a factor.
        let own = closed
            .largest_factor(&[0.02; 4])
            .expect("stable")
            .expect("a margin");
        assert!((0.02 * own.factor / expected - 1.0).abs() < 1e-7, "{own:?}");
    }
    // T s^3 + s^2 + d/m s + k/m in each of six directions: T < d/k.
    for _ in 0..2 {
        let mut number = || 5.0 + 4.0 * random.next();
        let (d, k): (Vec<f64>, Vec<f64>) = (0..4).map(|_| (number(), 2.0 * number())).unzip();
        let tables = format!(
            "[[pairs]]\nto = 'airframe'\nstiffness = {{ weight = {}, moment = {:?} }}\ndamping = {{ weight = {}, moment = {:?} }}\n\
             inertia = {{ weight = 1.0, moment = [0.3, 0.4, 0.5] }}\n",
            k[0],
            &k[1..],
            d[0],
            &d[1..]
        );
        let expected = d
            .iter()
            .zip(&k)
            .map(|(d, k)| d / k)
            .fold(f64::INFINITY, f64::min);
        let margin = closed_loop(TRICOPTER, &tables).largest_lag();
        let margin = margin.expect("stable").expect("a margin");
        assert!(
            (margin.factor / expected - 1.0).abs() < 1e-7,
            "{margin:?}, expected {expected}"
        );
    }
}

#[test]
fn a_loop_without_lags_has_no_margin_to_give() {
    let closed = closed_loop(QUADCOPTER, QUADCOPTER_POLES);
    assert_eq!(closed.largest_factor(&[0.0; 4]), Ok(None));
    let lags = |found| AnalysisError::Lags { expected: 4, found };
    assert_eq!(closed.largest_factor(&[0.1]), Err(lags(1)));
    assert_eq!(closed.largest_factor(&[]), Err(lags(0)));
}

#[test]
fn the_closed_loop_is_the_derivative_of_the_step() {
    // The whole step and the plant, by differences, against the matrices in closed form; also where the vehicle hovers tilted,
    // where its centre of mass is not the origin, and with drag.
    let moved = TRICOPTER.replace(
        "mass = 1.0",
        "mass = 1.0\ncenter_of_mass = [0.01, -0.02, 0.03]",
    );
    let drag =
        "[bodies.airframe]\ndrag = { linear = [0.9, 0.5, 0.2], angular = [0.01, 0.02, 0.03] }";
    let [slow, slow_moved] =
        [QUADCOPTER, &moved].map(|text| text.replace("[bodies.airframe]", drag));
    let tilted = SO3::exp(&Vector3::new(0.2, -0.1, 0.7));
    let cases = [
        (
            QUADCOPTER,
            QUADCOPTER_POLES,
            SO3::exp(&Vector3::new(0.0, 0.0, 0.8)),
        ),
        (TRICOPTER, SKEWED_PAIR, tilted),
        (&moved, SKEWED_PAIR, tilted),
        (&slow, QUADCOPTER_POLES, SO3::identity()),
        (&slow_moved, SKEWED_PAIR, tilted),
    ];
    for (description, tables, attitude) in cases {
        let vehicle = vehicle(description);
        let mut controller = controller(description, "", tables);
        let closed = common::closed_loop(description, &controller, &attitude);
        let closed = closed.expect("an equilibrium");
        let goal = ReferencePoint::at_rest(SE3::new(attitude, Vector3::new(1.0, 2.0, 3.0)));
        let mut acceleration = |delta: Vector6<f64>, twist: Vector6<f64>| {
            let state = State {
                pose: goal.pose * SE3::exp(&delta),
                twist,
            };
            let input = &controller.step(&state, &goal).unconstrained;
            vehicle
                .body
                .acceleration(&state, &(vehicle.rotors.input_matrix() * input))
        };
        let mut matrix = SMatrix::<f64, 12, 12>::zeros();
        matrix.fixed_view_mut::<6, 6>(0, 6).fill_with_identity();
        for column in 0..12 {
            let mut shift = [Vector6::zeros(); 2];
            shift[column / 6][column % 6] = 1e-4;
            let [delta, twist] = shift;
            let slope = (acceleration(delta, twist) - acceleration(-delta, -twist)) / 2e-4;
            matrix.fixed_view_mut::<6, 1>(6, column).copy_from(&slope);
        }
        let by_differences: Vec<Complex<f64>> =
            matrix.complex_eigenvalues().iter().copied().collect();
        let found = polynomial(&closed.poles().expect("poles"));
        for (found, expected) in found.iter().zip(polynomial(&by_differences)) {
            assert!(
                (found - expected).norm() < 1e-6 * expected.norm(),
                "{found} {expected}"
            );
        }
    }
}

#[test]
fn a_lag_has_the_poles_of_a_simulation_with_it() {
    // Different lags of thrust and tilt, some none: simulate commands with their lags and compare the energy of the error with
    // that of the slowest pole after a while.
    let lags = [0.05, 0.0, 0.08, 0.03, 0.0, 0.06];
    let vehicle = vehicle(TRICOPTER);
    let mut controller = controller(TRICOPTER, "allocation = 'none'", TRICOPTER_PAIR);
    let closed = common::closed_loop(TRICOPTER, &controller, &SO3::identity());
    let closed = closed.expect("an equilibrium");
    let poles = closed.poles_with_lags(&lags).expect("poles");
    assert_eq!(poles.len(), 16);
    let goal = ReferencePoint::at_rest(SE3::identity());
    let mut state = State::at_rest(SE3::exp(&Vector6::new(
        1e-4, 2e-4, -1e-4, 3e-4, -2e-4, 1e-4,
    )));
    let (mut asked, mut commands) = ([0.0; 6], [0.0; 6]);
    vehicle
        .rotors
        .commands_from_input(closed.input().as_slice(), &mut commands);
    let (mut samples, dt) = (Vec::new(), 1e-4);
    for step in 0..30_000 {
        if step % 20 == 0 {
            samples.push(state.pose.log().norm());
        }
        let u = &controller.step(&state, &goal).unconstrained;
        vehicle.rotors.commands_from_input(u.as_slice(), &mut asked);
        for ((command, asked), lag) in commands.iter_mut().zip(asked).zip(lags) {
            *command = if lag > 0.0 {
                asked + (*command - asked) * (-dt / lag).exp()
            } else {
                asked
            };
        }
        let wrench = vehicle.rotors.wrench(&commands);
        state = integrate::rk4(&state, dt, |state| {
            vehicle.body.acceleration(state, &wrench)
        });
    }
    // The envelope of the last second falls with the slowest pole (a pair: a windowed maximum takes its oscillation away).
    let slowest = modes(&poles)[0];
    let window = |from: usize| {
        samples[from..from + 300]
            .iter()
            .fold(0.0_f64, |a, b| a.max(*b))
    };
    let rate = (window(1200) / window(600)).ln() / 1.2;
    assert!(
        (rate / slowest.pole.re - 1.0).abs() < 0.05,
        "{rate} {slowest:?}"
    );
}

#[test]
fn a_matched_vehicle_has_the_poles_of_its_template() {
    for (description, tables) in [
        (QUADCOPTER, poles_at(-5.0)),
        (BICOPTER, poles_at(-4.0)),
        (TRICOPTER, TRICOPTER_PAIR.to_owned()),
    ] {
        let controller = controller(description, "", &tables);
        let closed = common::closed_loop(description, &controller, &SO3::identity());
        let closed = closed.expect("an equilibrium");
        let template = desired(controller.template().pair())
            .poles()
            .expect("poles");
        let found = polynomial(&closed.poles().expect("poles"));
        for (found, expected) in found.iter().zip(polynomial(&template)) {
            assert!(
                (found - expected).norm() < 1e-9 * expected.norm(),
                "{found} {expected}"
            );
        }
    }
}

#[test]
fn what_cannot_be_analysed_is_said() {
    let controller = controller(QUADCOPTER, "", QUADCOPTER_POLES);
    let tilted = SO3::exp(&Vector3::new(0.3, 0.0, 0.0));
    let error = common::closed_loop(QUADCOPTER, &controller, &tilted).unwrap_err();
    // The thrust gives m g cos 0.3; the side force m g sin 0.3 = 2.6 N is missing.
    assert!(
        matches!(error, AnalysisError::NotAtRest(at) if (at.missing - 0.9 * 9.81 * 0.3_f64.sin()).abs() < 1e-9),
        "{error}"
    );
    let swinging = QUADCOPTER_POLES.replace("damping = 0.16", "damping = 0");
    let error = closed_loop(QUADCOPTER, &swinging)
        .largest_lag()
        .unwrap_err();
    assert!(
        matches!(error, AnalysisError::Unstable(re) if re.abs() < 1e-9),
        "{error}"
    );
    let closed = closed_loop(QUADCOPTER, QUADCOPTER_POLES);
    let (expected, found) = (4, 1);
    assert_eq!(
        closed.poles_with_lags(&[0.1]),
        Err(AnalysisError::Lags { expected, found })
    );
}

#[test]
fn margins_of_a_quadcopter_are_those_of_its_thrusts() {
    let margins = HoverMargins::new(&vehicle(QUADCOPTER)).expect("it hovers");
    let (weight, most) = (0.9 * 9.81, 4.0 * 7.0);
    assert!((margins.climb_acceleration - (most - weight) / 0.9).abs() < 1e-12);
    assert!((margins.sink_acceleration - (weight - 0.8) / 0.9).abs() < 1e-12);
    assert!((margins.tilt - (weight / most).acos()).abs() < 1e-12);
    assert_eq!(margins.lateral_acceleration, None);
    // Rotors on the x axis differ by at most twice what the hover thrust is above the least.
    let spare = 0.25 * weight - 0.2;
    assert!((margins.input_margin - spare).abs() < 1e-12);
    assert!(
        (margins.angular_acceleration.y - 2.0 * 0.18 * spare / 0.006).abs() < 1e-9,
        "{margins:?}"
    );
    assert!(
        (margins.angular_acceleration.z - 4.0 * 0.016 * spare / 0.011).abs() < 1e-9,
        "{margins:?}"
    );
    assert_eq!(margins.commands.len(), 4);
    assert!(
        margins
            .commands
            .iter()
            .all(|c| (c.hover - 0.25 * weight).abs() < 1e-12 && c.limits == [0.2, 7.0])
    );
}

#[test]
fn a_tricopter_hovers_tilted_as_far_as_its_rotors_tilt() {
    // Published to whole degrees for tilt limits of 45, 60 and 75 degrees.
    for (limit, expected) in [(45.0, 25.0), (60.0, 38.0), (75.0, 57.0)] {
        let text = TRICOPTER.replace("limit_deg = 60.0", &format!("limit_deg = {limit}"));
        let margins = HoverMargins::new(&vehicle(&text)).expect("it hovers");
        let tilt = margins.tilt.to_degrees();
        assert!((tilt - expected).abs() < 1.0, "{tilt} with {limit}");
    }
    let margins = HoverMargins::new(&vehicle(TRICOPTER)).expect("it hovers");
    // Hover needs 1.4 degrees of tilt: three drag torques cannot cancel.
    let tilts = margins.commands.iter().filter(|c| c.name.ends_with("tilt"));
    let largest = tilts
        .map(|c| c.hover.abs().to_degrees())
        .fold(0.0, f64::max);
    assert!((largest - 1.4).abs() < 0.05, "{largest}");
    assert!(
        margins.lateral_acceleration.is_some_and(|a| a > 1.0),
        "{margins:?}"
    );

    // The shipped tricopter differs from the other by the rounding of its arms.
    let same = HoverMargins::new(&vehicle(SHIPPED_TRICOPTER)).expect("it hovers");
    assert!(
        (same.angular_acceleration - margins.angular_acceleration).amax() < 1e-6,
        "{same:?}"
    );
    assert!(
        (same.climb_acceleration - margins.climb_acceleration).abs() < 1e-6,
        "{same:?}"
    );

    // A bicopter rolls by one rotor's thrust against the other's, canted and above its centre of mass.
    let margins = HoverMargins::new(&vehicle(BICOPTER)).expect("it hovers");
    let (sin, cos) = 10.0_f64.to_radians().sin_cos();
    let spare = 0.5 * 9.81 / cos - 2.0;
    let expected = 2.0 * (0.2 * cos - 0.06 * sin) * spare / 0.01;
    assert!(
        (margins.angular_acceleration.x - expected).abs() < 1e-6,
        "{margins:?}"
    );

    let heavy = QUADCOPTER.replace("mass = 0.9", "mass = 4");
    let margins = HoverMargins::new(&vehicle(&heavy)).expect("an input exists");
    assert!(
        (margins.input_margin - (7.0 - 9.81)).abs() < 1e-12 && margins.climb_acceleration == 0.0,
        "{margins:?}"
    );
}

/// The largest difference of both rates along a flight, the largest expected rate, and the report.
fn balance(
    description: &str,
    keys: &str,
    tables: &str,
    plant_mass: f64,
    dt: f64,
) -> (f64, f64, Report) {
    let plant = vehicle(&description.replace("mass = 1.0", &format!("mass = {plant_mass}")));
    let mut controller: Controller = controller(description, keys, tables);
    let guarantee = controller.lyapunov_guarantee();
    let mut monitor = LyapunovMonitor::new(guarantee, controller.input_dim());
    let mut random = Random::new(7);
    let mut state = State {
        pose: SE3::exp(&random.vector6(0.2)),
        twist: random.vector6(0.2),
    };
    let (mut worst, mut scale) = (0.0_f64, 0.0_f64);
    let steps = (1.0 / dt).round();
    let mut step = 0.0;
    while step < steps {
        let t = step * dt;
        step += 1.0;
        // A reference that turns about z and moves along x: pose, twist and rate belong together.
        let w = 0.7;
        let pose = SE3::new(
            SO3::exp(&Vector3::new(0.0, 0.0, w * t)),
            Vector3::new(t.sin(), 0.0, 0.0),
        );
        let (s, c) = (w * t).sin_cos();
        let v = Vector3::new(c * t.cos(), -s * t.cos(), 0.0);
        let v_dot = Vector3::new(
            -c * t.sin() - w * s * t.cos(),
            s * t.sin() - w * c * t.cos(),
            0.0,
        );
        let goal = ReferencePoint {
            pose,
            twist: Vector6::new(v.x, v.y, v.z, 0.0, 0.0, w),
            acceleration: Vector6::new(v_dot.x, v_dot.y, v_dot.z, 0.0, 0.0, 0.0),
        };
        controller.step(&state, &goal);
        let metric = controller.law().metric();
        if let Balance::Rate {
            predicted,
            measured,
            ..
        } = monitor.observe(t, controller.last(), metric, true)
        {
            worst = worst.max((measured - predicted).abs());
            scale = scale.max(predicted.abs());
        }
        let wrench = plant.rotors.input_matrix() * &controller.last().input;
        state = integrate::rk4(&state, dt, |state| plant.body.acceleration(state, &wrench));
    }
    (worst, scale, monitor.report().clone())
}

#[test]
fn the_energy_falls_as_expected_where_the_theory_says_so() {
    for keys in [
        "approach = 'particle'",
        "approach = 'body'",
        "approach = 'energy'\ntransport = 'adjoint'",
        "approach = 'energy'\ntransport = 'centred'",
    ] {
        for tables in [TRICOPTER_PAIR, SKEWED_PAIR] {
            let free = format!("allocation = 'none'\n{keys}");
            let (coarse, scale, report) = balance(TRICOPTER, &free, tables, 1.0, 1e-3);
            let (fine, ..) = balance(TRICOPTER, &free, tables, 1.0, 1e-4);
            // Held inputs: the difference vanishes with the time between steps.
            assert!(
                fine < 0.002 * scale && fine < 0.15 * coarse,
                "{keys}: {coarse} {fine} of {scale}"
            );
            assert_eq!(
                report.to_string(),
                "W fell as expected in 999 of 999 steps",
                "{keys}"
            );
            // A vehicle that is heavier than its model does not.
            let (wrong, _, report) = balance(TRICOPTER, &free, tables, 1.2, 1e-4);
            assert!(wrong > 20.0 * fine, "{keys}: {wrong} {fine}");
            assert!(report.as_expected < report.checked / 2, "{report}");
        }
    }
}

#[test]
fn the_monitor_says_where_the_theory_gives_no_rate() {
    let fly = |description, keys, tables| balance(description, keys, tables, 1.0, 1e-2).2;
    assert_eq!(
        fly(QUADCOPTER, "", QUADCOPTER_POLES).to_string(),
        "not checked: 4 independent inputs cannot produce the desired motion of 6 degrees of freedom"
    );
    // The body is far too low for its rotors.
    let mut controller = controller(TRICOPTER, "allocation = 'active_set'", TRICOPTER_PAIR);
    let guarantee = controller.lyapunov_guarantee();
    let mut monitor = LyapunovMonitor::new(guarantee, 6);
    let goal = ReferencePoint::at_rest(SE3::identity());
    let state = State::at_rest(SE3::exp(&Vector6::new(0.0, 0.0, -9.0, 0.0, 0.0, 0.0)));
    controller.step(&state, &goal);
    // Without time in between there is no rate.
    for (time, reason) in [
        (0.0, UncheckedReason::First),
        (0.1, UncheckedReason::Saturated),
        (0.1, UncheckedReason::First),
    ] {
        let balance = monitor.observe(time, controller.last(), controller.law().metric(), false);
        assert_eq!(balance, Balance::Unchecked(reason));
    }
    assert_eq!(
        monitor.report().to_string(),
        "not checked: limits were active"
    );
}
