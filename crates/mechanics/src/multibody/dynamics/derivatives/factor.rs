//! The mass matrix's factors with the tree's zeros, and its inverse.

use std::cmp::Ordering;

use nalgebra::{DMatrix, RealField};

use crate::multibody::dynamics::spatial::fma;
use crate::multibody::dynamics::tree::Tree;

/// The coordinates as nodes of a tree of their own.
#[derive(Clone, Debug)]
pub struct Branches {
    /// From the root to the leaves.
    order: Vec<usize>,
    /// For every coordinate the one below it, if any.
    below: Vec<Option<usize>>,
}

impl Branches {
    pub fn new<T: RealField + Copy>(tree: &Tree<T>) -> Self {
        let (mut order, mut below) = (Vec::new(), Vec::new());
        for node in &tree.nodes {
            let parent = node.parent.checked_sub(1).map(|i| &tree.nodes[i]);
            // All joints of a tree move: there is a last coordinate.
            let mut last = parent.map(|parent| parent.xi + parent.motion.dof() - 1);
            for coordinate in node.xi..node.xi + node.motion.dof() {
                order.push(coordinate);
                below.push((coordinate, last));
                last = Some(coordinate);
            }
        }
        below.sort_unstable();
        Self {
            order,
            below: below.into_iter().map(|(_, below)| below).collect(),
        }
    }

    /// All coordinates below this one.
    #[inline]
    fn below(&self, coordinate: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        std::iter::successors(self.below[coordinate], |j| self.below[*j])
    }

    /// The factors `M = Lᵀ D L` in place, by Featherstone's algorithm (table 6.3): `D` on the diagonal, and in each coordinate's column the
    /// entries of its row of `L` at the coordinates below it, the only ones beside the diagonal's ones. `diagonal` is for n numbers.
    ///
    /// The error is a coordinate that moves nothing that has mass.
    pub fn factorize<T: RealField + Copy>(
        &self,
        M: &mut DMatrix<T>,
        diagonal: &mut [T],
    ) -> Result<(), usize> {
        let n = M.ncols();
        for (t, diagonal) in diagonal.iter_mut().enumerate() {
            *diagonal = M[(t, t)];
        }
        let M = M.as_mut_slice();
        for t in self.order.iter().copied().rev() {
            let pivot = M[t * n + t];
            let rounding: T = diagonal[t] * T::default_epsilon() * nalgebra::convert(16.0);
            // A number that is none is not greater.
            if pivot.partial_cmp(&rounding) != Some(Ordering::Greater) {
                return Err(t);
            }
            let inverse = T::one() / pivot;
            for j in self.below(t) {
                let entry = M[t * n + j];
                let l = entry * inverse;
                M[j * n + j] = fma(-l, entry, M[j * n + j]);
                for i in self.below(j) {
                    M[j * n + i] = fma(-l, M[t * n + i], M[j * n + i]);
                }
                M[t * n + j] = l;
            }
        }
        Ok(())
    }

    /// `M⁻¹` from the factors, row by row from the root on: `L M⁻¹ = D⁻¹ L⁻ᵀ`, whose right side has zeros between a coordinate and those
    /// that come before it. `row` is for n numbers.
    pub fn invert<T: RealField + Copy>(
        &self,
        factors: &DMatrix<T>,
        inverse: &mut DMatrix<T>,
        row: &mut [T],
    ) {
        let n = factors.ncols();
        let (factors, inverse) = (factors.as_slice(), inverse.as_mut_slice());
        inverse.fill(T::zero());
        for t in self.order.iter().copied() {
            let l = &factors[t * n..t * n + n];
            let weights = self.below(t).map(|j| (j, -l[j]));
            combine(inverse, weights.clone(), row);
            let diagonal = T::one() / l[t];
            row[t] = weights.fold(diagonal, |sum, (j, weight)| fma(weight, row[j], sum));
            inverse[t * n..t * n + n].copy_from_slice(row);
            for (column, entry) in inverse.chunks_exact_mut(n).zip(&*row) {
                column[t] = *entry;
            }
        }
    }
}

/// `A x`; A is as wide and as high as the vectors are long.
pub fn multiply<T: RealField + Copy>(A: &DMatrix<T>, x: &[T], product: &mut [T]) {
    combine(A.as_slice(), x.iter().copied().enumerate(), product);
}

/// How many columns are multiplied at once: as many sums are under way while each waits for its last addition.
pub const COLUMNS: usize = 4;

/// `X` becomes `-A X`, all n x n; `copy` is for [`COLUMNS`] of them.
pub fn multiply_negated<T: RealField + Copy>(A: &DMatrix<T>, X: &mut DMatrix<T>, copy: &mut [T]) {
    let (n, A) = (A.ncols(), A.as_slice());
    // Where nothing moves there is nothing to multiply.
    for x in X.as_mut_slice().chunks_mut((COLUMNS * n).max(1)) {
        for (copy, x) in copy.iter_mut().zip(&*x) {
            *copy = -*x;
        }
        if x.len() == COLUMNS * n && n >= 4 {
            let kernel = if n >= 8 { block::<T, 8> } else { block::<T, 4> };
            let rows = if n >= 8 { 8 } else { 4 };
            for start in (0..n - rows).step_by(rows).chain([n - rows]) {
                kernel(A, n, copy, start, x);
            }
        } else {
            for (x, copy) in x.chunks_exact_mut(n).zip(copy.chunks_exact(n)) {
                combine(A, copy.iter().copied().enumerate(), x);
            }
        }
    }
}

/// `ROWS` rows of the product of a matrix with four columns, from `start` on.
#[inline]
fn block<T: RealField + Copy, const ROWS: usize>(
    A: &[T],
    n: usize,
    x: &[T],
    start: usize,
    product: &mut [T],
) {
    let mut sums = [[T::zero(); ROWS]; COLUMNS];
    for (j, column) in A.chunks_exact(n).enumerate() {
        let entries = &column[start..start + ROWS];
        for (k, sums) in sums.iter_mut().enumerate() {
            let weight = x[k * n + j];
            for (sum, entry) in sums.iter_mut().zip(entries) {
                *sum = fma(*entry, weight, *sum);
            }
        }
    }
    for (k, sums) in sums.iter().enumerate() {
        product[k * n + start..k * n + start + ROWS].copy_from_slice(sums);
    }
}

/// The sum of columns of a matrix with weights; it has as many rows as `sum`.
#[inline]
fn combine<T: RealField + Copy>(
    columns: &[T],
    weights: impl Iterator<Item = (usize, T)> + Clone,
    sum: &mut [T],
) {
    let n = sum.len();
    // Blocks of rows, the last of which overlaps the one before.
    if n >= 8 {
        for start in (0..n - 8).step_by(8).chain([n - 8]) {
            rows::<T, 8>(columns, weights.clone(), start, sum);
        }
    } else if n >= 4 {
        rows::<T, 4>(columns, weights.clone(), 0, sum);
        rows::<T, 4>(columns, weights, n - 4, sum);
    } else {
        for start in 0..n {
            rows::<T, 1>(columns, weights.clone(), start, sum);
        }
    }
}

#[inline]
fn rows<T: RealField + Copy, const ROWS: usize>(
    columns: &[T],
    weights: impl Iterator<Item = (usize, T)>,
    start: usize,
    sum: &mut [T],
) {
    let mut sums = [T::zero(); ROWS];
    for (column, weight) in weights {
        let from = column * sum.len() + start;
        for (sum, entry) in sums.iter_mut().zip(&columns[from..from + ROWS]) {
            *sum = fma(*entry, weight, *sum);
        }
    }
    sum[start..start + ROWS].copy_from_slice(&sums);
}
