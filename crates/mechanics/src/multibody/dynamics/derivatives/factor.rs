//! The mass matrix's factors with the tree's zeros, and its inverse.

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
    fn below(&self, coordinate: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.below[coordinate], |j| self.below[*j])
    }

    /// The factors `M = Lᵀ D L`, in place: `D` on the diagonal, and the ones off the diagonal of `L`, which are in rows of coordinates and
    /// columns of those below them. Featherstone's algorithm (table 6.3).
    pub fn factorize<T: RealField + Copy>(&self, M: &mut DMatrix<T>) {
        for t in self.order.iter().copied().rev() {
            let inverse = T::one() / M[(t, t)];
            for j in self.below(t) {
                let l = M[(t, j)] * inverse;
                M[(j, j)] = fma(-l, M[(t, j)], M[(j, j)]);
                for i in self.below(j) {
                    M[(j, i)] = fma(-l, M[(t, i)], M[(j, i)]);
                }
                M[(t, j)] = l;
            }
        }
    }

    /// `M⁻¹` from the factors, row by row from the root on: `L M⁻¹ = D⁻¹ L⁻ᵀ`, whose right side has zeros between a coordinate and those
    /// that come before it.
    pub fn invert<T: RealField + Copy>(&self, factors: &DMatrix<T>, inverse: &mut DMatrix<T>) {
        inverse.fill(T::zero());
        let n = factors.ncols();
        let entries = inverse.as_mut_slice();
        for t in self.order.iter().copied() {
            for j in self.below(t) {
                let l = factors[(t, j)];
                let (row, column) = two_columns(entries, n, t, j);
                for (sum, entry) in row.iter_mut().zip(column) {
                    *sum = fma(-l, *entry, *sum);
                }
            }
            let mut diagonal = T::one() / factors[(t, t)];
            for j in self.below(t) {
                diagonal = fma(-factors[(t, j)], entries[t * n + j], diagonal);
            }
            for k in 0..n {
                entries[k * n + t] = entries[t * n + k];
            }
            entries[t * n + t] = diagonal;
        }
    }
}

/// Two different columns of a matrix of `n` rows.
#[inline]
fn two_columns<T>(entries: &mut [T], n: usize, a: usize, b: usize) -> (&mut [T], &[T]) {
    if a < b {
        let (left, right) = entries.split_at_mut(b * n);
        (&mut left[a * n..a * n + n], &right[..n])
    } else {
        let (left, right) = entries.split_at_mut(a * n);
        (&mut right[..n], &left[b * n..b * n + n])
    }
}

/// `X` becomes `-A X`, all n x n; `column` is for n numbers.
pub fn multiply_negated<T: RealField + Copy>(A: &DMatrix<T>, X: &mut DMatrix<T>, column: &mut [T]) {
    let n = A.ncols();
    let A = A.as_slice();
    for x in X.as_mut_slice().chunks_exact_mut(n) {
        for (copy, x) in column.iter_mut().zip(&*x) {
            *copy = -*x;
        }
        let mut start = 0;
        while start + 8 <= n {
            rows::<T, 8>(A, column, start, &mut x[start..]);
            start += 8;
        }
        if start + 4 <= n {
            rows::<T, 4>(A, column, start, &mut x[start..]);
            start += 4;
        }
        while start < n {
            rows::<T, 1>(A, column, start, &mut x[start..]);
            start += 1;
        }
    }
}

/// `ROWS` rows of `A x` from `start` on.
#[inline]
fn rows<T: RealField + Copy, const ROWS: usize>(A: &[T], x: &[T], start: usize, out: &mut [T]) {
    let mut sums = [T::zero(); ROWS];
    for (column, x) in A.chunks_exact(x.len()).zip(x) {
        for (sum, entry) in sums.iter_mut().zip(&column[start..start + ROWS]) {
            *sum = fma(*entry, *x, *sum);
        }
    }
    out[..ROWS].copy_from_slice(&sums);
}
