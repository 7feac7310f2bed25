//! Inputs that cause no acceleration: the null space of B.
#![allow(non_snake_case)]

use nalgebra::{DefaultAllocator, Dim, OMatrix, OVector, RealField, U1};

use crate::allocation::{inverse_factor, tolerance};
use crate::sizes::Sizes;

/// A basis Y of null(B), p x k, orthonormal in the input weight R: `B Y = 0`, `Y^T R Y = 1`.
///
/// `Z (Z^T R Z)^-1 Z^T = Y Y^T` for any other basis Z, so that `N = R Y Y^T R` is that of [`Law`](super::Law).
///
/// A QR decomposition with column pivoting of `L^-1 B`, `M = L L^T`, finds the rank of B: in the metric of the kinetic energy all rows have the same
/// unit. Columns are scaled to length 1, so that inputs may have any units. A column is dependent if its part orthogonal to the others is shorter than
/// 1e-6 (1e-3 in single precision): H, which squares the columns, has no digits left beyond that.
#[derive(Clone, Debug)]
pub(crate) struct NullSpace<T: RealField + Copy, N: Dim, P: Dim>
where
    DefaultAllocator: Sizes<N, P>,
{
    rank: usize,
    /// The inputs, those with independent columns first.
    order: OVector<usize, P>,
    /// The matrix to decompose, n x p.
    columns: OMatrix<T, N, P>,
    /// 1 / length of each column.
    scales: OVector<T, P>,
    /// Y in its first k columns.
    basis: OMatrix<T, P, P>,
}

impl<T: RealField + Copy, N: Dim, P: Dim> NullSpace<T, N, P>
where
    DefaultAllocator: Sizes<N, P>,
{
    /// Allocates; all inputs count as independent.
    pub fn new(n: N, p: P) -> Self {
        Self {
            rank: p.value(),
            order: OVector::zeros_generic(p, U1),
            columns: OMatrix::zeros_generic(n, p),
            scales: OVector::zeros_generic(p, U1),
            basis: OMatrix::zeros_generic(p, p),
        }
    }

    /// Marks all inputs as independent.
    pub fn clear(&mut self) {
        self.rank = self.order.len();
    }

    /// The rank of B.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// k, the dimension of the null space.
    pub fn dim(&self) -> usize {
        self.order.len() - self.rank
    }

    /// Y, column by column.
    pub fn basis(&self) -> impl Iterator<Item = &[T]> {
        let p = self.order.len();
        self.basis
            .as_slice()
            .chunks_exact(p.max(1))
            .take(self.dim())
    }

    /// Finds the null space of the columns that `fill` writes (n x p), for the weights R (p).
    pub fn find(&mut self, weights: &OVector<T, P>, fill: impl FnOnce(&mut OMatrix<T, N, P>)) {
        fill(&mut self.columns);
        self.decompose();
        self.dependences();
        self.orthonormalise(weights);
    }

    /// `[R1 R2] = Q^T C P` of the scaled columns C.
    fn decompose(&mut self) {
        let (n, p) = self.columns.shape();
        let columns = self.columns.as_mut_slice();
        for (j, column) in columns.chunks_exact_mut(n.max(1)).enumerate() {
            let length = dot(column, column).sqrt();
            self.scales[j] = if length > T::zero() {
                length.recip()
            } else {
                T::one()
            };
            for entry in column {
                *entry *= self.scales[j];
            }
            self.order[j] = j;
        }
        self.rank = 0;
        let least = tolerance::<T>(1e-6, 1e-3);
        for k in 0..n.min(p) {
            let (mut pivot, mut longest) = (None, least * least);
            for (j, column) in columns.chunks_exact(n).enumerate().skip(k) {
                let square = dot(&column[k..], &column[k..]);
                if square > longest {
                    (pivot, longest) = (Some(j), square);
                }
            }
            let Some(pivot) = pivot else { break };
            if pivot != k {
                let (left, right) = columns.split_at_mut(pivot * n);
                left[k * n..(k + 1) * n].swap_with_slice(&mut right[..n]);
                self.order.swap_rows(k, pivot);
            }
            let (done, rest) = columns.split_at_mut((k + 1) * n);
            let v = &mut done[k * n + k..];
            let length = longest.sqrt();
            let entry = if v[0] > T::zero() { -length } else { length };
            v[0] -= entry;
            let square = dot(v, v);
            for column in rest.chunks_exact_mut(n) {
                let y = &mut column[k..];
                let twice = dot(v, y) * nalgebra::convert(2.0) / square;
                for (y, v) in y.iter_mut().zip(&*v) {
                    *y -= twice * *v;
                }
            }
            v[0] = entry;
            self.rank += 1;
        }
    }

    /// Expresses each dependent column by the independent ones: `C_2 = C_1 R1^-1 R2`.
    fn dependences(&mut self) {
        let r = self.rank;
        for j in r..self.order.len() {
            let mut z = self.basis.column_mut(j - r);
            z.fill(T::zero());
            for i in (0..r).rev() {
                let known = (i + 1..r).fold(T::zero(), |sum, l| {
                    sum + self.columns[(i, l)] * z[self.order[l]]
                });
                z[self.order[i]] = -(self.columns[(i, j)] + known) / self.columns[(i, i)];
            }
            z[self.order[j]] = T::one();
            z.component_mul_assign(&self.scales);
        }
    }

    /// Gram-Schmidt, twice.
    fn orthonormalise(&mut self, weights: &OVector<T, P>) {
        let p = self.order.len();
        for k in 0..self.dim() {
            let (done, rest) = self.basis.as_mut_slice().split_at_mut(k * p);
            let z = &mut rest[..p];
            for _ in 0..2 {
                for y in done.chunks_exact(p) {
                    let part = weighted_dot(weights.as_slice(), y, z);
                    for (z, y) in z.iter_mut().zip(y) {
                        *z -= part * *y;
                    }
                }
                let length = weighted_dot(weights.as_slice(), z, z).sqrt();
                for z in z.iter_mut() {
                    *z /= length;
                }
            }
        }
    }

    /// `to = Y Y^T R u`: the null-space input nearest to u in R.
    pub fn part(&self, weights: &[T], u: &[T], to: &mut [T]) {
        to.fill(T::zero());
        for y in self.basis() {
            let part = weighted_dot(weights, y, u);
            for (to, y) in to.iter_mut().zip(y) {
                *to += part * *y;
            }
        }
    }

    /// Writes J (p x p) with `J J^T = (H + eps N)^-1` for an H with the null space of B, given by its entries. Returns false if H is not positive
    /// definite outside the null space. `scratch` is p x p.
    ///
    /// With the independent inputs E (p x r) and `E^T H E = (X X^T)^-1`, J is `[(1 - Y Y^T R) E X, Y / sqrt(eps)]`, so that eps costs no digits.
    pub fn inverse_factor(
        &self,
        H: impl Fn(usize, usize) -> T,
        eps: T,
        weights: &OVector<T, P>,
        scratch: &mut OMatrix<T, P, P>,
        factor: &mut OMatrix<T, P, P>,
    ) -> bool {
        let (p, r) = (self.order.len(), self.rank);
        scratch.fill_with_identity();
        for i in 0..r {
            for j in 0..r {
                scratch[(i, j)] = H(self.order[i], self.order[j]);
            }
        }
        if inverse_factor(scratch, factor.as_mut_slice()).is_err() {
            return false;
        }
        let least = tolerance::<T>(1e-12, 1e-6);
        // Column j of `scratch` is free by now and stores column j of the result until its rows are in order.
        for j in 0..r {
            let pivot = factor[(j, j)].recip();
            if pivot * pivot <= least * scratch[(j, j)] {
                return false;
            }
            scratch.column_mut(j).fill(T::zero());
            for i in 0..r {
                scratch[(self.order[i], j)] = factor[(i, j)];
            }
            let column = &mut scratch.as_mut_slice()[j * p..(j + 1) * p];
            for y in self.basis() {
                let part = weighted_dot(weights.as_slice(), y, column);
                for (entry, y) in column.iter_mut().zip(y) {
                    *entry -= part * *y;
                }
            }
        }
        factor.copy_from(scratch);
        let scale = eps.sqrt().recip();
        let columns = factor.as_mut_slice()[r * p..].chunks_exact_mut(p);
        for (column, y) in columns.zip(self.basis()) {
            for (entry, y) in column.iter_mut().zip(y) {
                *entry = scale * *y;
            }
        }
        true
    }
}

impl<N: Dim, P: Dim> NullSpace<f64, N, P>
where
    DefaultAllocator: Sizes<N, P>,
{
    /// The same in another scalar.
    pub fn cast<T: RealField + Copy>(&self) -> NullSpace<T, N, P> {
        NullSpace {
            rank: self.rank,
            order: self.order.clone(),
            columns: self.columns.map(nalgebra::convert),
            scales: self.scales.map(nalgebra::convert),
            basis: self.basis.map(nalgebra::convert),
        }
    }
}

fn dot<T: RealField + Copy>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::zero(), |sum, (a, b)| sum + *a * *b)
}

/// `a^T R b`.
pub(super) fn weighted_dot<T: RealField + Copy>(weights: &[T], a: &[T], b: &[T]) -> T {
    let terms = weights.iter().zip(a).zip(b);
    terms.fold(T::zero(), |sum, ((w, a), b)| sum + *w * *a * *b)
}
