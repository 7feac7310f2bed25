//! The control law with random matrices, and quadratic programs with their active sets and multipliers.

use fly_control::allocation::{ActiveSet, Allocator, Limits, Outcome};
use fly_control::law::Law;
use fly_control::matching::Matching;
use fly_testing::golden::{File, numbers, only};
use nalgebra::{Const, DMatrix, DVector, Dyn, OMatrix, SMatrix, SVector};
use serde_json::Value;

use crate::data::{absolute, matrix, relative, rows};

const TOLERANCE: f64 = 1e-10;

pub fn compare(file: &Value, report: &mut File) {
    for given in file["control_law"].as_array().into_iter().flatten() {
        match numbers(&given["b"]).len() {
            1 => law::<1>(given, report),
            2 => law::<2>(given, report),
            3 => law::<3>(given, report),
            4 => law::<4>(given, report),
            5 => law::<5>(given, report),
            6 => law::<6>(given, report),
            n => panic!("a law with {n} degrees of freedom"),
        }
    }
    for given in file["qp"].as_array().into_iter().flatten() {
        program(given, report);
    }
}

/// Quadratic programs with inequalities: minimise `x G x / 2 + g x` within `A x <= b`, Konz A.4.3.
pub fn inequalities(file: &Value, report: &mut File) {
    only(&file["inequality"], "G g A b x active mu objective");
    for given in file["inequality"].as_array().into_iter().flatten() {
        let (metric, normals) = (matrix(&given["G"]), matrix(&given["A"]));
        let vector = |key: &str| DVector::from_vec(numbers(&given[key]));
        let (slope, bound, expected) = (vector("g"), vector("b"), vector("x"));
        let limits = Limits::new(
            normals.clone(),
            bound.clone(),
            inside(&normals, &bound, &expected),
        )
        .expect("a point inside");
        let desired = -metric.clone().cholesky().expect("definite").solve(&slope);

        let mut exact = ActiveSet::new(&limits, &metric).expect("definite");
        let mut found = DVector::zeros(desired.len());
        let answer = exact.solve(desired.as_slice(), found.as_mut_slice());
        assert_eq!(answer.outcome, Outcome::Optimal);
        let objective = 0.5 * found.dot(&(&metric * &found)) + slope.dot(&found);
        let mut active: Vec<f64> = exact.active_rows().iter().map(|i| *i as f64).collect();
        active.sort_by(f64::total_cmp);
        for (name, found, key) in [
            ("active_set: x", found.as_slice(), "x"),
            ("active_set: mu", exact.multipliers().as_slice(), "mu"),
            ("active_set: rows", &active, "active"),
            ("active_set: objective", &[objective], "objective"),
        ] {
            absolute(report, name, found, &numbers(&given[key]), TOLERANCE);
        }
    }
}

/// A point other than `x` within all limits.
fn inside(normals: &DMatrix<f64>, bound: &DVector<f64>, x: &DVector<f64>) -> DVector<f64> {
    let room = |x: &DVector<f64>| (bound - normals * x).min();
    let binding: Vec<usize> = (0..bound.len())
        .filter(|i| (bound - normals * x)[*i] < 1e-6)
        .collect();
    if binding.is_empty() {
        return x.clone();
    }
    let rows = normals.select_rows(&binding);
    let inwards = DVector::repeat(binding.len(), -1.0);
    let back = rows.pseudo_inverse(1e-12).expect("finite") * inwards;
    let mut step = 1.0;
    while room(&(x + &back * step)) <= 0.0 {
        step *= 0.5;
        assert!(step > 1e-9, "the limits leave no room");
    }
    x + back * step
}

fn law<const N: usize>(given: &Value, report: &mut File) {
    let square = |key: &str| SMatrix::<f64, N, N>::from_row_slice(&numbers(&given[key]));
    let (mass, desired) = (square("M"), square("Mbar"));
    let inputs = OMatrix::<f64, Const<N>, Dyn>::from_row_slice(&numbers(&given["B"]));
    let column = |key: &str| SVector::<f64, N>::from_column_slice(&numbers(&given[key]));
    let (b, b_bar) = (column("b"), column("bbar"));
    let mut law = Law::constant(&mass, &desired, &inputs).unwrap();
    let mut u = DVector::zeros(inputs.ncols());
    law.unconstrained(&b, &b_bar, &mut u);
    relative(
        report,
        "law: u",
        u.as_slice(),
        &numbers(&given["u"]),
        TOLERANCE,
    );
    relative(
        report,
        "law: H",
        &rows(law.metric()),
        &numbers(&given["H"]),
        TOLERANCE,
    );
    if given
        .get("Bperp")
        .is_none_or(|complement| numbers(complement).is_empty())
    {
        return;
    }
    let complement = OMatrix::<f64, Const<N>, Dyn>::from_row_slice(&numbers(&given["Bperp"]));
    let matching = Matching::with_complement(&mass, &desired, complement).unwrap();
    let force = matching.force(&b, &b_bar);
    relative(
        report,
        "law: lambda",
        force.lambda.as_slice(),
        &numbers(&given["lam"]),
        TOLERANCE,
    );
    relative(
        report,
        "law: S",
        &rows(matching.weight()),
        &numbers(&given["S"]),
        TOLERANCE,
    );
    relative(
        report,
        "law: btilde",
        force.force.as_slice(),
        &numbers(&given["btilde"]),
        TOLERANCE,
    );
    relative(
        report,
        "law: G0",
        &[force.distance],
        &numbers(&given["G0"]),
        TOLERANCE,
    );
}

fn program(given: &Value, report: &mut File) {
    let metric = matrix(&given["H"]);
    let vector = |key: &str| DVector::from_vec(numbers(&given[key]));
    let limits = Limits::new(matrix(&given["W"]), vector("l"), vector("x_feasible")).unwrap();
    let (desired, expected) = (vector("u0"), vector("u"));
    let mut input = DVector::zeros(desired.len());

    let mut exact = ActiveSet::new(&limits, &metric).unwrap();
    let answer = exact.solve(desired.as_slice(), input.as_mut_slice());
    assert_eq!(answer.outcome, Outcome::Optimal);
    relative(
        report,
        "active_set: u",
        input.as_slice(),
        expected.as_slice(),
        TOLERANCE,
    );
    relative(
        report,
        "active_set: multipliers",
        exact.multipliers().as_slice(),
        &numbers(&given["multipliers"]),
        1e-9,
    );
    let mut active: Vec<f64> = exact.active_rows().iter().map(|i| *i as f64).collect();
    active.sort_by(f64::total_cmp);
    absolute(
        report,
        "active_set: active rows",
        &active,
        &numbers(&given["active"]),
        0.0,
    );
    let off = &input - &desired;
    let cost = 0.5 * off.dot(&(&metric * &off));
    relative(
        report,
        "active_set: cost",
        &[cost],
        &numbers(&given["cost"]),
        TOLERANCE,
    );

    #[cfg(feature = "osqp")]
    {
        let mut splitting = fly_control::allocation::Osqp::new(&limits, &metric).unwrap();
        splitting.solve(desired.as_slice(), input.as_mut_slice());
        relative(
            report,
            "osqp: u",
            input.as_slice(),
            expected.as_slice(),
            2e-7,
        );
    }
}
