//! The input that a law computes.

#![allow(non_snake_case)]

use fly_control::law::Law;
use fly_control::template::DesiredMotion;
use nalgebra::{DMatrix, DVector};

/// u0 for matrices of the moment.
pub fn solve(
    law: &mut Law,
    M: &DMatrix<f64>,
    b: &DVector<f64>,
    B: &DMatrix<f64>,
    desired: &DesiredMotion,
) -> DVector<f64> {
    let mut u0 = DVector::zeros(B.ncols());
    law.update(M, &desired.mass_matrix, B).expect("a law");
    law.unconstrained(b, &desired.bias, &mut u0);
    u0
}
