//! Convex polytopes.

use nalgebra::{DMatrix, DVector};

/// The inputs `u` with `W u <= l`.
#[derive(Clone, Debug, PartialEq)]
pub struct Polytope {
    /// `W`, m x p: the outward normals, one per row.
    pub matrix: DMatrix<f64>,
    /// `l`, m entries: the offset of each plane.
    pub bound: DVector<f64>,
}

impl Polytope {
    /// The number of inequalities m.
    pub fn rows(&self) -> usize {
        self.matrix.nrows()
    }

    /// The dimension p of the space.
    pub fn dim(&self) -> usize {
        self.matrix.ncols()
    }

    /// The largest entry of `W u - l`: negative inside, zero on the boundary. Minus infinity without any inequality.
    ///
    /// # Panics
    /// If the length of `u` is not p.
    pub fn violation(&self, u: &[f64]) -> f64 {
        assert_eq!(u.len(), self.dim(), "dimension of the input");
        let mut worst = f64::NEG_INFINITY;
        // The matrix is stored by columns; a row is every m-th entry.
        let entries = self.matrix.as_slice();
        for (i, bound) in self.bound.iter().enumerate() {
            let row = entries[i..].iter().step_by(self.rows());
            let value: f64 = row.zip(u).map(|(w, u)| w * u).sum();
            let excess = value - bound;
            // A NaN counts as outside.
            worst = worst.max(if excess.is_nan() {
                f64::INFINITY
            } else {
                excess
            });
        }
        worst
    }

    /// Returns whether `u` is inside or at most `tolerance` outside.
    pub fn contains(&self, u: &[f64], tolerance: f64) -> bool {
        self.violation(u) <= tolerance
    }
}
