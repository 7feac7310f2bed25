//! Products of square matrices in register blocks, without allocation.

use nalgebra::{DMatrix, RealField};

use crate::multibody::simd::fma;

/// The number of columns multiplied at once: enough independent sums to hide the latency of an addition.
pub const COLUMNS: usize = 4;

/// Replaces `X` by `-A X`, all n x n; `copy` is scratch for [`COLUMNS`] columns.
pub fn multiply_negated<T: RealField + Copy>(A: &DMatrix<T>, X: &mut DMatrix<T>, copy: &mut [T]) {
    let (n, A) = (A.ncols(), A.as_slice());
    // A model without degrees of freedom has empty matrices.
    for x in X.as_mut_slice().chunks_mut((COLUMNS * n).max(1)) {
        for (copy, x) in copy.iter_mut().zip(&*x) {
            *copy = -*x;
        }
        if x.len() == COLUMNS * n && n >= 4 {
            // Blocks of eight rows, then of four, the last of which overlap the previous ones.
            let mut start = 0;
            while start < n {
                if n - start > 4 && n >= 8 {
                    start = start.min(n - 8);
                    block::<T, 8>(A, n, copy, start, x);
                    start += 8;
                } else {
                    start = start.min(n - 4);
                    block::<T, 4>(A, n, copy, start, x);
                    start += 4;
                }
            }
        } else {
            for (x, copy) in x.chunks_exact_mut(n).zip(copy.chunks_exact(n)) {
                combine(A, copy.iter().copied().enumerate(), x);
            }
        }
    }
}

/// Computes `ROWS` rows of the product of a matrix with four columns, from row `start` on.
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

/// The weighted sum of a matrix's columns, which have the length of `sum`.
#[inline]
fn combine<T: RealField + Copy>(
    columns: &[T],
    weights: impl Iterator<Item = (usize, T)> + Clone,
    sum: &mut [T],
) {
    let n = sum.len();
    // Blocks of rows, the last of which overlaps the previous one.
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
