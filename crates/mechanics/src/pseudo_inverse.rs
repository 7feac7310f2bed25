//! The pseudo-inverse of a matrix of any rank, ready to be applied, without allocation once the workspace exists.

use nalgebra::{DMatrix, DVector, RealField, convert};

/// The Moore-Penrose inverse `A⁺` of a matrix `A` of any rank, Konz (3.19), by a complete orthogonal decomposition.
///
/// `A P = Q [R₁ R₂]` with column pivoting shows the rank; `[R₁ R₂]ᵀ = V L` then gives `A = Q Lᵀ Vᵀ Pᵀ` with a triangular `L`, so that
/// `A⁺ = P V L⁻ᵀ Qᵀ`. It costs a fraction of a singular value decomposition, and dual numbers run through it where the rank is constant.
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
    /// What counts as zero: a column whose part outside the span of the ones before it is shorter than this times the longest column. The
    /// default is 2¹⁶ units of rounding, 1.5e-11 for `f64`.
    pub tolerance: T,
    rank: usize,
    permutation: Vec<usize>,
    /// Reflections on and below the diagonal, `R` strictly above it.
    left: DMatrix<T>,
    left_diagonal: Vec<T>,
    /// The same of `[R₁ R₂]ᵀ`: reflections, and the triangle that is `L`.
    right: DMatrix<T>,
    right_diagonal: Vec<T>,
    tall: Vec<T>,
    wide: Vec<T>,
}

/// # Construction
impl<T: RealField + Copy> PseudoInverse<T> {
    /// Room for a matrix of this size; the matrix is zero until [`PseudoInverse::decompose`].
    pub fn new(rows: usize, columns: usize) -> Self {
        let least = rows.min(columns);
        Self {
            tolerance: T::default_epsilon() * convert(65536.0),
            rank: 0,
            permutation: (0..columns).collect(),
            left: DMatrix::zeros(rows, columns),
            left_diagonal: vec![T::zero(); least],
            right: DMatrix::zeros(columns, least),
            right_diagonal: vec![T::zero(); least],
            tall: vec![T::zero(); rows],
            wide: vec![T::zero(); columns],
        }
    }

    /// Takes a matrix apart and returns its rank. Does not allocate.
    ///
    /// # Panics
    /// If the size is not the one that was made room for.
    pub fn decompose(&mut self, matrix: &DMatrix<T>) -> usize {
        self.left.copy_from(matrix);
        let (rows, columns) = self.left.shape();
        for (i, p) in self.permutation.iter_mut().enumerate() {
            *p = i;
        }
        self.rank = 0;
        let mut longest = T::zero();
        for k in 0..rows.min(columns) {
            let (pivot, length) = self.longest_column(k);
            longest = longest.max(length);
            if length <= self.tolerance * longest {
                break;
            }
            self.left.swap_columns(k, pivot);
            self.permutation.swap(k, pivot);
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

    /// The column from `k` on that is longest below row `k`, and its length there.
    fn longest_column(&self, k: usize) -> (usize, T) {
        let mut best = (k, T::zero());
        for j in k..self.left.ncols() {
            let square = self.left.column(j).rows_range(k..).norm_squared();
            if square > best.1 {
                best = (j, square);
            }
        }
        // The root of zero has no derivative.
        let positive = best.1 > T::zero();
        (best.0, if positive { best.1.sqrt() } else { T::zero() })
    }
}

/// # Use
impl<T: RealField + Copy> PseudoInverse<T> {
    /// The rank of the last matrix.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// `x = A⁺ b`: the shortest of all `x` with the least `|A x - b|`. Does not allocate.
    ///
    /// # Panics
    /// If a size does not fit.
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

    /// `y = (Aᵀ)⁺ c`: the shortest of all `y` with the least `|Aᵀ y - c|`. Does not allocate.
    ///
    /// # Panics
    /// If a size does not fit.
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

/// Reflects column `k` below row `k` onto its first entry and the columns after it with it; the reflection takes its place. Returns that
/// entry.
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

fn dot<T: RealField + Copy>(a: &[T], b: &[T]) -> T {
    a.iter().zip(b).fold(T::zero(), |sum, (&a, &b)| sum + a * b)
}
