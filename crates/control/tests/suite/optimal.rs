//! State feedback of least cost against independent solutions and against the cost that it has.
#![allow(non_snake_case)]
#![allow(clippy::unreadable_literal)] // as they were printed

use crate::common;

use common::Random;
use fly_control::ControllerSettings;
use fly_control::analysis::{ClosedLoop, spectral_radius};
use fly_control::design::riccati::{residual, riccati};
use fly_control::design::{PlacementError, QuadraticCost, StateFeedback};
use fly_control::linear::LinearModel;
use fly_mechanics::System;
use nalgebra::{DMatrix, DVector, dmatrix, dvector};

const CART_POLE: &str = include_str!("../../../../configs/systems/cart_pole.toml");
const ACROBOT: &str = include_str!("../../../../configs/systems/acrobot.toml");

fn upright(description: &str) -> LinearModel {
    let system = System::from_toml(description).expect("a system");
    let x = system.model.neutral_configuration();
    let linear = LinearModel::of_system(&system.model, &system.inputs, &x);
    linear.expect("rest").0
}

/// `[F_K, F_D]` in a row, of one input.
fn gain(linear: &LinearModel, errors: [f64; 2], rates: [f64; 2], input: f64) -> Vec<f64> {
    let cost = QuadraticCost {
        errors: DVector::from_column_slice(&errors),
        rates: DVector::from_column_slice(&rates),
        inputs: dvector![input],
    };
    let feedback = StateFeedback::optimal(linear, &cost).expect("gains");
    let all = feedback.stiffness.iter().chain(&feedback.damping);
    all.copied().collect()
}

#[test]
fn gains_are_those_of_scipy() {
    // scipy 1.17.1, scipy.linalg.solve_continuous_are with M, K and B of both written down by hand. Its own residual for the acrobot is 8e-11.
    let any = [f64::INFINITY; 2];
    let cart = upright(CART_POLE);
    let cases = [
        (
            gain(&cart, [0.3, 0.1], any, 5.0),
            [
                -16.666666666667,
                -101.577215442002,
                -17.563652061604,
                -22.828319388822,
            ],
        ),
        (
            gain(&cart, [0.3, 0.1], [1.0, 0.5], 5.0),
            [
                -16.666666666667,
                -116.756685052663,
                -19.622948094567,
                -29.066126165647,
            ],
        ),
        (
            gain(&upright(ACROBOT), [0.2, 0.4], any, 5.0),
            [
                -504.377361709398,
                -212.920588793546,
                -218.589454066991,
                -105.623917963145,
            ],
        ),
    ];
    for (found, expected) in cases {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-8, "{found} {expected}");
        }
    }
}

/// A matrix that makes masses and weights of any direction.
fn random(n: usize, p: usize, random: &mut Random) -> DMatrix<f64> {
    DMatrix::from_fn(n, p, |_, _| random.next())
}

#[test]
fn the_cost_is_that_of_the_motion() {
    let mut numbers = Random::new(11);
    for case in 0..60 {
        let n = 1 + case % 5;
        let p = 1 + case % 3;
        let root = random(n, n, &mut numbers);
        let model = LinearModel {
            inertia: &root * root.transpose() + DMatrix::identity(n, n) * 0.3,
            damping: random(n, n, &mut numbers),
            stiffness: random(n, n, &mut numbers) * 5.0,
            inputs: random(n, p, &mut numbers),
        };
        let mut positive = |n| DVector::from_fn(n, |_, _| 10.0_f64.powf(numbers.next()));
        let cost = QuadraticCost {
            errors: positive(n),
            rates: positive(n),
            inputs: positive(p),
        };
        let X = cost.least(&model).expect("controllable");
        let feedback = StateFeedback::optimal(&model, &cost).expect("controllable");
        let closed = model.closed(&feedback.gains());
        let (A, _) = closed.first_order().expect("masses");
        let poles = closed.poles().expect("poles");
        let slowest = poles.iter().map(|s| s.re).fold(f64::NEG_INFINITY, f64::max);
        assert!(slowest < 0.0, "{case}: {slowest}");

        // The motion from a random error, and the cost along it, by Gauss' rule of 4 points in steps of the exact motion.
        let start = DVector::from_fn(2 * n, |_, _| numbers.next());
        let fastest = poles.iter().map(|s| s.norm()).fold(0.0, f64::max);
        let (step, end) = (0.2 / fastest, -20.0 / slowest);
        let mut gain = DMatrix::zeros(p, 2 * n);
        gain.columns_mut(0, n).copy_from(&feedback.stiffness);
        gain.columns_mut(n, n).copy_from(&feedback.damping);
        let rate = |z: &DVector<f64>| -> f64 {
            let u = &gain * z;
            let errors =
                (z.iter().zip(cost.errors.iter().chain(&cost.rates))).map(|(z, e)| (z / e).powi(2));
            let inputs = u.iter().zip(&cost.inputs).map(|(u, e)| (u / e).powi(2));
            errors.sum::<f64>() + inputs.sum::<f64>()
        };
        let nodes = [
            (0.861_136_311_594_053, 0.347_854_845_137_454),
            (0.339_981_043_584_856, 0.652_145_154_862_546),
        ];
        let along = |by: f64| (&A * (by * step)).exp();
        let inside: Vec<_> = nodes
            .iter()
            .flat_map(|(x, w)| [(along(0.5 - 0.5 * x), *w), (along(0.5 + 0.5 * x), *w)])
            .collect();
        let whole = along(1.0);
        let (mut z, mut sum, mut t) = (start.clone(), 0.0, 0.0);
        while t < end {
            sum += inside
                .iter()
                .map(|(map, w)| 0.5 * step * w * rate(&(map * &z)))
                .sum::<f64>();
            z = &whole * z;
            t += step;
        }
        let expected = start.dot(&(&X * &start));
        assert!(
            (sum / expected - 1.0).abs() < 1e-6,
            "{case}: {sum} {expected}"
        );
    }
}

#[test]
fn riccati_residuals_are_rounding() {
    let mut numbers = Random::new(12);
    for case in 0..200 {
        let m = 1 + case % 6;
        let A = random(m, m, &mut numbers) * 10.0_f64.powf(2.0 * numbers.next());
        let B = random(m, 1 + case % 3, &mut numbers) * 10.0_f64.powf(numbers.next());
        let C = random(m, m, &mut numbers);
        let (G, Q) = (&B * B.transpose(), C.transpose() * C);
        let X = riccati(&A, &G, &Q).expect("controllable");
        let size = (&X * &A).norm().max(Q.norm()).max((&X * &G * &X).norm());
        let left = residual(&A, &G, &Q, &X).norm();
        // With one input for six random states scipy leaves as much.
        assert!(left < 1e-8 * size, "{case}: {left} of {size}");
        assert!((&X - X.transpose()).norm() <= 1e-12 * X.norm());
        assert!(X.symmetric_eigenvalues().min() > 0.0, "{case}");
    }
    // A state that grows and that no input moves.
    let A = dmatrix![1.0, 0.0; 0.0, -1.0];
    let G = dmatrix![0.0, 0.0; 0.0, 1.0];
    assert_eq!(riccati(&A, &G, &DMatrix::identity(2, 2)), None);
}

#[test]
fn what_has_no_optimal_gains_is_told() {
    // The second mass is not connected to the first, which is driven.
    let model = LinearModel {
        inertia: DMatrix::identity(2, 2),
        damping: DMatrix::zeros(2, 2),
        stiffness: DMatrix::zeros(2, 2),
        inputs: dmatrix![1.0; 0.0],
    };
    let cost = |rates: f64, inputs: DVector<f64>| QuadraticCost {
        errors: dvector![1.0, 1.0],
        rates: dvector![rates, rates],
        inputs,
    };
    let place = |cost: QuadraticCost| StateFeedback::optimal(&model, &cost).unwrap_err();
    assert_eq!(
        place(cost(1.0, dvector![1.0])),
        PlacementError::Unstabilisable
    );
    let sizes = place(cost(1.0, dvector![1.0, 2.0]));
    assert_eq!(
        sizes.to_string(),
        "found 2 errors, 2 rates and 2 inputs; expected 2, 2 and 1"
    );
}

#[test]
fn settings_say_what_is_missing() {
    let system = System::from_toml(CART_POLE).expect("a system");
    let settings = |lqr: &str| {
        let text = format!("approach = 'state_feedback'\n[lqr]\n{lqr}\n");
        toml::from_str::<ControllerSettings>(&text).expect("readable")
    };
    let build = |lqr: &str| settings(lqr).build_for_system(&system);
    let controller = build("errors = { cart = 0.3, pole = 0.1 }").expect("a controller");
    // The input's limits are 10 N: half as dear in the root as 5 N.
    let x = system.model.neutral_configuration();
    let closed = ClosedLoop::new(&system, &controller, &x).expect("rest");
    let sampled = closed.sampled(2e-3, system.inputs.time_constants());
    assert!(spectral_radius(&sampled.expect("a loop").poles().expect("poles")) < 1.0);
    for (lqr, expected) in [
        (
            "errors = { cart = 0.3 }",
            "lqr.errors: expected the largest acceptable error of every joint: `cart`, `pole`; that of `pole` is missing (`inf`: no cost)",
        ),
        (
            "errors = { cart = 0.3, pol = 0.1 }",
            "lqr.errors.pol: expected joints that move: `cart`, `pole`; found `pol`",
        ),
        (
            "errors = { cart = 0.3, pole = -0.1 }",
            "lqr.errors.pole: expected a positive number, or inf, found -0.1",
        ),
        (
            "errors = { cart = inf, pole = inf }",
            "lqr.errors: expected the largest acceptable error of every joint, such as { cart = 0.1, pole = 0.05 }, found only infinite ones",
        ),
        (
            "errors = { cart = 0.3, pole = [0.1, 0.1] }",
            "lqr.errors.pole: expected one number, or one for each of the joint's 1 degrees of freedom, found 2",
        ),
        (
            "errors = { cart = 0.3, pole = 0.1 }\ninputs = [1, 2]",
            "lqr.inputs: expected one number, or one for each of 1 inputs, found 2",
        ),
        (
            "errors = { cart = 0.3, pole = 0.1 }\ninputs = 0",
            "lqr.inputs: expected a positive number, found 0",
        ),
    ] {
        let Err(error) = build(lqr) else {
            panic!("{lqr}")
        };
        assert_eq!(error.to_string(), expected);
    }
    // Cheap errors of the cart alone: the pole must not fall for that.
    assert!(build("errors = { cart = 0.3, pole = inf }").is_ok());
}
