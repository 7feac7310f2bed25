//! The pseudo-inverse of a matrix of any rank, factored for repeated use without allocation.

use nalgebra::{DMatrix, DVector, RealField, convert};

/// The Moore-Penrose inverse `A⁺` of a matrix `A` of any rank, Konz (3.19), by a complete orthogonal decomposition.
///
/// `A P = Q [R₁ R₂]` with column pivoting reveals the rank; `[R₁ R₂]ᵀ = V L` then gives `A = Q Lᵀ Vᵀ Pᵀ` with a triangular `L`, so that
/// `A⁺ = P V L⁻ᵀ Qᵀ`. It costs a fraction of a singular value decomposition, and supports dual numbers as long as the rank is constant.
///
/// ```
/// use fly_mechanics::PseudoInverse;
/// use nalgebra::{DMatrix, DVector};
///
/// // Two equations, the second twice the first: the shortest of all solutions.
/// let A = DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 2.0, 2.0]);
/// let mut inverse = PseudoInverse::new(2, 2);
/// assert_eq!(inverse.decompose(&A), 1);
/// let mut x = DVector::zeros(2);
/// inverse.apply(&DVector::from_vec(vec![2.0, 4.0]), &mut x);
/// assert!((x - DVector::from_vec(vec![1.0, 1.0])).norm() < 1e-15);
/// ```
#[derive(Clone, Debug)]
pub struct PseudoInverse<T: RealField + Copy> {
    /// A column counts as dependent if its part outside the span of the previous columns is shorter than this times the longest column, or
    /// times the column's own scale in [`decompose_scaled`](Self::decompose_scaled). The default is 2¹⁶ units of rounding, 1.5e-11 for `f64`.
    pub tolerance: T,
    rank: usize,
    permutation: Vec<usize>,
    /// The scale of each column, permuted with the columns.
    scales: Vec<T>,
    /// Reflections on and below the diagonal, `R` strictly above it.
    left: DMatrix<T>,
    left_diagonal: Vec<T>,
    /// The same for `[R₁ R₂]ᵀ`: reflections, and the triangle `L`.
    right: DMatrix<T>,
    right_diagonal: Vec<T>,
    tall: Vec<T>,
    wide: Vec<T>,
}

/// # Construction
impl<T: RealField + Copy> PseudoInverse<T> {
    /// Allocates for matrices of this size; the matrix is zero until [`PseudoInverse::decompose`].
    pub fn new(rows: usize, columns: usize) -> Self {
        let least = rows.min(columns);
        Self {
            tolerance: rounding(),
            rank: 0,
            permutation: (0..columns).collect(),
            scales: vec![T::zero(); columns],
            left: DMatrix::zeros(rows, columns),
            left_diagonal: vec![T::zero(); least],
            right: DMatrix::zeros(columns, least),
            right_diagonal: vec![T::zero(); least],
            tall: vec![T::zero(); rows],
            wide: vec![T::zero(); columns],
        }
    }

    /// Decomposes a matrix and returns its rank. Does not allocate.
    ///
    /// # Panics
    /// If the size of the matrix is not that given to [`new`](Self::new).
    pub fn decompose(&mut self, matrix: &DMatrix<T>) -> usize {
        let columns = matrix.column_iter().map(|column| column.norm_squared());
        let longest = columns.fold(T::zero(), T::max);
        self.scales.fill(root(longest));
        self.eliminate(matrix)
    }

    /// Decomposes a matrix whose column `j` is accurate to `tolerance * scales[j]`, and returns its rank: a column far smaller than the others
    /// counts if it is large relative to its own scale. Does not allocate.
    ///
    /// # Panics
    /// If the size of the matrix is not that given to [`new`](Self::new), or if there is not one scale per column.
    pub fn decompose_scaled(&mut self, matrix: &DMatrix<T>, scales: &[T]) -> usize {
        self.scales.copy_from_slice(scales);
        self.eliminate(matrix)
    }

    fn eliminate(&mut self, matrix: &DMatrix<T>) -> usize {
        self.left.copy_from(matrix);
        let (rows, columns) = self.left.shape();
        for (i, p) in self.permutation.iter_mut().enumerate() {
            *p = i;
        }
        self.rank = 0;
        for k in 0..rows.min(columns) {
            let Some(pivot) = self.longest_column(k) else {
                break;
            };
            self.left.swap_columns(k, pivot);
            self.permutation.swap(k, pivot);
            self.scales.swap(k, pivot);
            self.left_diagonal[k] = eliminate(self.left.as_mut_slice(), rows, k, columns);
            self.rank += 1;
        }

        for k in 0..self.rank {
            for j in 0..columns {
                self.right[(j, k)] = match j.cmp(&k) {
                    std::cmp::Ordering::Less => T::zero(),
                    std::cmp::Ordering::Equal => self.left_diagonal[k],
                    std::cmp::Ordering::Greater => self.left[(k, j)],
                };
            }
        }
        for k in 0..self.rank {
            self.right_diagonal[k] = eliminate(self.right.as_mut_slice(), columns, k, self.rank);
        }
        self.rank
    }

    /// Of the columns from `k` on that are independent of the previous ones, the one that is longest from row `k` down.
    fn longest_column(&self, k: usize) -> Option<usize> {
        let (mut best, mut longest) = (None, T::zero());
        for j in k..self.left.ncols() {
            let square = self.left.column(j).rows_range(k..).norm_squared();
            let least = self.tolerance * self.scales[j];
            if square > longest && square > least * least {
                (best, longest) = (Some(j), square);
            }
        }
        best
    }
}

/// # Use
impl<T: RealField + Copy> PseudoInverse<T> {
    /// The rank of the last matrix.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// `x = A⁺ b`: the least-squares solution of `A x = b`, least `|A x - b|`, of least norm. Does not allocate.
    ///
    /// # Panics
    /// If a size does not match.
    pub fn apply(&mut self, b: &DVector<T>, x: &mut DVector<T>) {
        let (rows, columns) = self.left.shape();
        self.tall.copy_from_slice(b.as_slice());
        for k in 0..self.rank {
            reflect(
                &self.left.as_slice()[k * rows + k..(k + 1) * rows],
                &mut self.tall[k..],
            );
        }
        self.wide.fill(T::zero());
        for k in 0..self.rank {
            let column = &self.right.as_slice()[k * columns..][..k];
            let known: T = dot(column, &self.wide[..k]);
            self.wide[k] = (self.tall[k] - known) / self.right_diagonal[k];
        }
        for k in (0..self.rank).rev() {
            let v = &self.right.as_slice()[k * columns + k..(k + 1) * columns];
            reflect(v, &mut self.wide[k..]);
        }
        for (value, &p) in self.wide.iter().zip(&self.permutation) {
            x[p] = *value;
        }
    }

    /// `y = (Aᵀ)⁺ c`: the least-squares solution of `Aᵀ y = c`, least `|Aᵀ y - c|`, of least norm. Does not allocate.
    ///
    /// # Panics
    /// If a size does not match.
    pub fn apply_transposed(&mut self, c: &DVector<T>, y: &mut DVector<T>) {
        let (rows, columns) = self.left.shape();
        for (value, &p) in self.wide.iter_mut().zip(&self.permutation) {
            *value = c[p];
        }
        for k in 0..self.rank {
            let v = &self.right.as_slice()[k * columns + k..(k + 1) * columns];
            reflect(v, &mut self.wide[k..]);
        }
        self.tall.fill(T::zero());
        for k in (0..self.rank).rev() {
            let mut rest = self.wide[k];
            for j in k + 1..self.rank {
                rest -= self.right[(k, j)] * self.tall[j];
            }
            self.tall[k] = rest / self.right_diagonal[k];
        }
        for k in (0..self.rank).rev() {
            reflect(
                &self.left.as_slice()[k * rows + k..(k + 1) * rows],
                &mut self.tall[k..],
            );
        }
        y.as_mut_slice().copy_from_slice(&self.tall);
    }

    /// `A⁺` itself.
    pub fn matrix(&mut self) -> DMatrix<T> {
        let (rows, columns) = self.left.shape();
        let mut inverse = DMatrix::zeros(columns, rows);
        let (mut unit, mut column) = (DVector::zeros(rows), DVector::zeros(columns));
        for j in 0..rows {
            unit[j] = T::one();
            self.apply(&unit, &mut column);
            inverse.set_column(j, &column);
            unit[j] = T::zero();
        }
        inverse
    }
}

/// Reflects column `k` below row `k` onto its first entry, along with the columns after it; the reflection vector takes its place.
/// Returns that entry.
fn eliminate<T: RealField + Copy>(matrix: &mut [T], rows: usize, k: usize, columns: usize) -> T {
    let (done, rest) = matrix.split_at_mut((k + 1) * rows);
    let v = &mut done[k * rows + k..];
    let length = dot(v, v).sqrt();
    let entry = if v[0] > T::zero() { -length } else { length };
    v[0] -= entry;
    let scale = dot(v, v).sqrt();
    for value in v.iter_mut() {
        *value /= scale;
    }
    for column in rest.chunks_exact_mut(rows).take(columns - k - 1) {
        reflect(v, &mut column[k..]);
    }
    entry
}

/// `y -= 2 v (v . y)` with `|v| = 1`.
fn reflect<T: RealField + Copy>(v: &[T], y: &mut [T]) {
    let along = dot(v, y);
    let twice = along + along;
    for (y, &v) in y.iter_mut().zip(v) {
        *y -= twice * v;
    }
}

/// The rounding error relative to one: 2¹⁶ units.
fn rounding<T: RealField + Copy>() -> T {
    T::default_epsilon() * convert(65536.0)
}

/// The square root; at zero it has no derivative, so dual numbers need a special case.
fn root<T: RealField + Copy>(square: T) -> T {
    if square > T::zero() {
        square.sqrt()
    } else {
        T::zero()
    }
}

/// Fills in the scales of the rows of `Z`: the row's norm where none is given (zero), but at least such that rounding of the longest row counts
/// as zero under this tolerance.
pub(crate) fn fill_row_scales<T: RealField + Copy>(Z: &DMatrix<T>, tolerance: T, scales: &mut [T]) {
    let lengths = || Z.row_iter().map(|row| root(row.norm_squared()));
    let longest = lengths().fold(T::zero(), T::max);
    let least = if tolerance > rounding() {
        longest * rounding() / tolerance
    } else {
        longest
    };
    for (scale, length) in scales.iter_mut().zip(lengths()) {
        let given = *scale > T::zero();
        *scale = (if given { *scale } else { length }).max(least);
    }
}

fn dot<T: RealField + Copy>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::zero(), |sum, (&a, &b)| sum + a * b)
}
