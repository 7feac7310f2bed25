//! Which forces the inputs can produce.
#![allow(non_snake_case)]

use fly_mechanics::PseudoInverse;
use nalgebra::DMatrix;

/// Relative tolerance: a force missed by a larger fraction of itself is not attainable.
pub const FORCE_TOLERANCE: f64 = 1e-6;

/// Relative tolerance: a column is dependent if its part orthogonal to the others is shorter than this fraction of it.
const INDEPENDENT: f64 = 1e-9;

/// The rank of an input matrix B (n x p), with columns scaled to length 1 since rotors and motors have different units.
/// Allocates.
pub fn rank(B: &DMatrix<f64>) -> usize {
    let mut columns = B.clone();
    for mut column in columns.column_iter_mut() {
        column.try_normalize_mut(0.0);
    }
    let mut decomposition = PseudoInverse::new(columns.nrows(), columns.ncols());
    decomposition.tolerance = INDEPENDENT;
    decomposition.decompose(&columns)
}

/// A^+.
pub(crate) fn pseudo_inverse(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let mut decomposition = PseudoInverse::new(matrix.nrows(), matrix.ncols());
    decomposition.decompose(matrix);
    decomposition.matrix()
}
