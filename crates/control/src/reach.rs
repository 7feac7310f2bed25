//! What inputs can make of a force.
#![allow(non_snake_case)]

use fly_mechanics::PseudoInverse;
use nalgebra::DMatrix;

/// A force that is missed by more than this part of it is out of reach, not rounded.
pub const REACH: f64 = 1e-6;

/// A column whose part beside the others is shorter than this part of it depends on them.
const INDEPENDENT: f64 = 1e-9;

/// The rank of an input matrix B (n x p), its columns scaled to length 1: rotors and motors have different units. Allocates.
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
