//! The Sylvester equation.
#![allow(non_snake_case)]

use nalgebra::{DMatrix, DVector};

/// Solves `F X - X L = C` for X; `None` if F and L share an eigenvalue.
pub(super) fn sylvester(
    F: &DMatrix<f64>,
    L: &DMatrix<f64>,
    C: &DMatrix<f64>,
) -> Option<DMatrix<f64>> {
    let m = F.nrows();
    let identity = DMatrix::identity(m, m);
    let matrix = identity.kronecker(F) - L.transpose().kronecker(&identity);
    let columns = DVector::from_column_slice(C.as_slice());
    let solved = matrix.lu().solve(&columns)?;
    Some(DMatrix::from_column_slice(m, m, solved.as_slice()))
}
