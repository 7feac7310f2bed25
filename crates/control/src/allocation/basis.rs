//! Triangular factors of independent rows in a metric, for the dual method.

use nalgebra::allocator::Allocator as Memory;
use nalgebra::{DefaultAllocator, Dim, OMatrix, OVector, RealField, U1};

use super::limits::dot;
use super::tolerance;

/// The factors of rows `A` (k x n) in a metric `H`: `J^T A^T = [R; 0]` with `J J^T = H^-1` and R upper triangular.
///
/// Goldfarb and Idnani's pair (see [`super::dual`]). A reflection of J's columns adds a row, and rotations remove one, so
/// that the condition number of the rows is never squared and errors do not grow: J stays `H^-1/2` times an orthogonal
/// matrix.
#[derive(Clone, Debug)]
pub(super) struct Basis<T: RealField + Copy, P: Dim>
where
    DefaultAllocator: Memory<P> + Memory<P, P>,
{
    count: usize,
    /// J.
    columns: OMatrix<T, P, P>,
    /// R, in the first rows and columns.
    triangle: OMatrix<T, P, P>,
    /// 1 / R_jj.
    reciprocals: OVector<T, P>,
}

/// # Construction
impl<T: RealField + Copy, P: Dim> Basis<T, P>
where
    DefaultAllocator: Memory<P> + Memory<P, P>,
{
    /// For n coordinates in the identity metric.
    pub fn new(n: P) -> Self {
        Self {
            count: 0,
            columns: OMatrix::identity_generic(n, n),
            triangle: OMatrix::zeros_generic(n, n),
            reciprocals: OVector::zeros_generic(n, U1),
        }
    }

    /// No rows, with any J of the metric.
    pub fn reset(&mut self, columns: &OMatrix<T, P, P>) {
        self.count = 0;
        self.columns.copy_from(columns);
    }

    /// Adds a row, given as `parts = J^T a`, which is overwritten. Returns false, and changes nothing, if the row depends on
    /// the others.
    pub fn add(&mut self, parts: &mut [T]) -> bool {
        let (n, k) = (self.n(), self.count);
        let Some(rest) = self.rest(parts) else {
            return false;
        };
        let outside = &mut parts[k..];
        // The reflection that maps the independent part to a multiple of the first free column.
        let pivot = if outside[0] > T::zero() { -rest } else { rest };
        if outside.len() > 1 {
            outside[0] -= pivot;
            let scale = -(pivot * outside[0]).recip();
            let free = &mut self.columns.as_mut_slice()[k * n..];
            for i in 0..n {
                let along =
                    (0..outside.len()).fold(T::zero(), |sum, j| sum + outside[j] * free[j * n + i]);
                for (j, part) in outside.iter().enumerate() {
                    free[j * n + i] -= scale * along * *part;
                }
            }
            outside[0] = pivot;
        }
        let diagonal = outside[0];
        let triangle = self.triangle.as_mut_slice();
        triangle[k * n..k * n + k].copy_from_slice(&parts[..k]);
        triangle[k * n + k] = diagonal;
        self.reciprocals[k] = diagonal.recip();
        self.count = k + 1;
        true
    }

    /// Removes the row at this position.
    pub fn remove(&mut self, position: usize) {
        let n = self.n();
        self.count -= 1;
        let k = self.count;
        let triangle = self.triangle.as_mut_slice();
        triangle.copy_within((position + 1) * n..(k + 1) * n, position * n);
        for j in position..k {
            let (a, b) = (triangle[j * n + j], triangle[j * n + j + 1]);
            let length = (a * a + b * b).sqrt();
            let reciprocal = length.recip();
            let (c, s) = (a * reciprocal, b * reciprocal);
            triangle[j * n + j] = length;
            self.reciprocals[j] = reciprocal;
            for column in triangle[(j + 1) * n..k * n].chunks_exact_mut(n) {
                let (x, y) = (column[j], column[j + 1]);
                column[j] = c * x + s * y;
                column[j + 1] = c * y - s * x;
            }
            let (left, right) = self.columns.as_mut_slice()[j * n..(j + 2) * n].split_at_mut(n);
            for (x, y) in left.iter_mut().zip(right) {
                (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
            }
        }
    }
}

/// # Use
impl<T: RealField + Copy, P: Dim> Basis<T, P>
where
    DefaultAllocator: Memory<P> + Memory<P, P>,
{
    fn n(&self) -> usize {
        self.columns.nrows()
    }

    /// The columns of J, in order.
    fn columns(&self) -> impl Iterator<Item = &[T]> {
        self.columns.as_slice().chunks_exact(self.n().max(1))
    }

    /// Column j of R and the columns after it.
    fn triangle(&self, j: usize) -> &[T] {
        &self.triangle.as_slice()[j * self.n()..]
    }

    /// `parts = J^T a` of a row.
    pub fn parts(&self, row: &[T], parts: &mut [T]) {
        for (part, column) in parts.iter_mut().zip(self.columns()) {
            *part = dot(row, column);
        }
    }

    /// Length of the independent part of a row, from `parts = J^T a`; `None` if the row depends on the others, that is, if this part is shorter
    /// than 1e-10 (1e-4 in single precision) of the row.
    pub fn rest(&self, parts: &[T]) -> Option<T> {
        let outside = &parts[self.count..];
        let outside = dot(outside, outside);
        let dependent = tolerance::<T>(1e-10, 1e-4);
        (outside > dependent * dependent * dot(parts, parts)).then(|| outside.sqrt())
    }

    /// Length of the row at this position in the metric.
    pub fn length(&self, position: usize) -> T {
        let column = &self.triangle(position)[..=position];
        dot(column, column).sqrt()
    }

    /// `x <- R^-T x`.
    pub fn solve_transposed(&self, x: &mut [T]) {
        for i in 0..self.count {
            let mut rest = x[i];
            for (known, r) in x[..i].iter().zip(self.triangle(i)) {
                rest -= *known * *r;
            }
            x[i] = rest * self.reciprocals[i];
        }
    }

    /// `x <- R^-1 x`.
    pub fn solve(&self, x: &mut [T]) {
        for j in (0..self.count).rev() {
            let solved = x[j] * self.reciprocals[j];
            x[j] = solved;
            for (rest, r) in x[..j].iter_mut().zip(self.triangle(j)) {
                *rest -= solved * *r;
            }
        }
    }

    /// `point <- point - J_1 x`, with the first k columns of J.
    pub fn subtract(&self, x: &[T], point: &mut [T]) {
        for (x, column) in x[..self.count].iter().zip(self.columns()) {
            for (u, j) in point.iter_mut().zip(column) {
                *u -= *x * *j;
            }
        }
    }
}
