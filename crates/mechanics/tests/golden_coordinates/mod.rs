//! Quadratic programs with equality constraints, and linearisations.

mod tree;

use fly_mechanics::EqualityQp;
use fly_mechanics::coordinates::Linearization;
use fly_testing::golden::{File, array, count, numbers};
use nalgebra::{DMatrix, DVector};
use serde_json::Value;

fn dynamic(value: &Value) -> DMatrix<f64> {
    let rows = array(value).len();
    let entries = numbers(value);
    DMatrix::from_row_slice(rows, entries.len() / rows.max(1), &entries)
}

/// `kind: qp`, the cases with equality constraints, of full rank and not. They give the multipliers the sign of Konz (A.118).
pub fn quadratic_programs(file: &mut File, data: &Value) {
    for case in array(&data["equality"]) {
        let (M, Z) = (dynamic(&case["M"]), dynamic(&case["Z"]));
        let (c, b) = (numbers(&case["c"]), numbers(&case["b"]));
        let (c, b) = (DVector::from_vec(c), DVector::from_vec(b));
        let mut qp = EqualityQp::new(Z.ncols(), Z.nrows());
        qp.solve(&M, &c, &Z, &b).expect("a solution");
        assert_eq!(qp.rank(), count(&case["rank"]));
        let rank_is_full = !case["lambda_A118"].is_null();
        let mut expected = file.case(case, 1e-10);
        expected.is("v", qp.point());
        expected.is("constraint_force", qp.force());
        if rank_is_full {
            expected.is("lambda_A118", &-qp.multipliers());
        }
    }
}

/// `kind: linearization`: F0, F1, F2 of (3.40), which were found by perturbing a path.
pub fn linearizations(file: &mut File, data: &Value) {
    for case in array(&data["cases"]) {
        let tree = tree::Tree::read(&case["system"]);
        let x = tree.configuration(&case["state"]);
        let xi = DVector::from_vec(numbers(&case["xi"]));
        let xi_dot = DVector::from_vec(numbers(&case["xidot"]));
        let forces =
            |x: &DVector<_>, xi: &DVector<_>, xi_dot: &DVector<_>| tree.forces(x, xi, xi_dot);
        let found = Linearization::new(tree.coordinates(), forces, &x, &xi, &xi_dot);
        let found = found.expect("a linearisation");
        let expected = &case["expected"];
        let largest = |name: &str| {
            numbers(&expected[name])
                .into_iter()
                .fold(0.0, |a: f64, b| a.max(b.abs()))
        };
        let mut is = file.case(expected, 0.0);
        is.within(1e-9 * largest("f")).is("f", &found.value);
        is.within(1e-9 * largest("F0")).is("F0", &found.stiffness);
        is.within(1e-9 * largest("F1")).is("F1", &found.damping);
        is.within(1e-9 * largest("F2")).is("F2", &found.inertia);
    }
}
