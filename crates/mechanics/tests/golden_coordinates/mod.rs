//! Quadratic programs with equality constraints.

use fly_mechanics::EqualityQp;
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
