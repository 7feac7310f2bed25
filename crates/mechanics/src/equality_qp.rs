//! Quadratic programs with equality constraints: Gauss' principle, constraint forces, nearest points.

use nalgebra::{DMatrix, DVector, RealField};

use crate::PseudoInverse;
use crate::pseudo_inverse::fill_row_scales;

/// The minimum of a positive definite quadratic function under linear equations of any rank, Konz (A.117-A.129).
///
/// ```text
/// minimise  1/2 vᵀ M v + cᵀ v    subject to  Z v = b                    (A.117)
///
/// M v + c = Zᵀ λ     v = v₀ + M^(-1/2) (Z M^(-1/2))⁺ (b - Z v₀)     v₀ = -M⁻¹ c
/// ```
///
/// This is Gauss' principle with `v` the acceleration, and `Zᵀ λ` is then the force of the constraints on the system (3.83). `λ` has the
/// opposite sign of (A.118). If rows of `Z` are dependent, `v` and `Zᵀ λ` are still unique and `λ` has least norm (A.122). If `Z v = b` has
/// no solution, `v` is a least-squares solution and [`EqualityQp::residual`] returns what it misses.
///
/// The solution is that of Udwadia and Kalaba (A.125) with the Cholesky factor as the root of `M`, which is equivalent, and an orthogonal
/// decomposition instead of `S = Z M⁻¹ Zᵀ` (A.120), which squares the condition number.
///
/// ```
/// use fly_mechanics::EqualityQp;
/// use nalgebra::{dmatrix, dvector};
///
/// // A particle of 2 kg on an incline of 45 degrees, at rest: which acceleration, and how hard does the incline push?
/// let M = dmatrix![2.0, 0.0; 0.0, 2.0];
/// let weight = dvector![0.0, 2.0 * 9.81];
/// let Z = dmatrix![1.0, 1.0] / 2.0_f64.sqrt();
/// let mut qp = EqualityQp::new(2, 1);
/// qp.solve(&M, &weight, &Z, &dvector![0.0])?;
/// assert!((qp.point() - dvector![9.81 / 2.0, -9.81 / 2.0]).norm() < 1e-13);
/// assert!((qp.multipliers()[0] - 2.0 * 9.81 / 2.0_f64.sqrt()).abs() < 1e-13);
/// # Ok::<(), fly_mechanics::EqualityQpError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EqualityQp<T: RealField + Copy> {
    /// `L` of `M = L Lᵀ`; the entries above the diagonal are undefined.
    factor: DMatrix<T>,
    /// `L⁻¹ Zᵀ`
    scaled: DMatrix<T>,
    inverse: PseudoInverse<T>,
    /// Scales of the rows of `Z`, as given; zero if not given.
    row_scales: Vec<T>,
    /// The scales of the columns of `L⁻¹ Zᵀ`.
    scales: Vec<T>,
    point: DVector<T>,
    step: DVector<T>,
    force: DVector<T>,
    multipliers: DVector<T>,
    residual: DVector<T>,
}

/// Why a quadratic program has no solution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EqualityQpError {
    /// A matrix or vector does not have the size given to [`EqualityQp::new`].
    #[error("{what} must be {} x {}, found {} x {}", expected.0, expected.1, found.0, found.1)]
    Size {
        /// The matrix or vector.
        what: &'static str,
        /// Expected rows and columns.
        expected: (usize, usize),
        /// Actual rows and columns.
        found: (usize, usize),
    },
    /// The quadratic form is not positive definite.
    #[error(
        "the matrix M of the quadratic form must be symmetric and positive definite; it is not, or not finite"
    )]
    NotPositiveDefinite,
    /// An entry of the linear term or of the constraints is not finite.
    #[error("c, Z and b must be finite")]
    NotFinite,
}

/// # Construction
impl<T: RealField + Copy> EqualityQp<T> {
    /// Allocates for `unknowns` entries of `v` and `equations` rows of `Z`.
    pub fn new(unknowns: usize, equations: usize) -> Self {
        Self {
            factor: DMatrix::identity(unknowns, unknowns),
            scaled: DMatrix::zeros(unknowns, equations),
            inverse: PseudoInverse::new(unknowns, equations),
            row_scales: vec![T::zero(); equations],
            scales: vec![T::zero(); equations],
            point: DVector::zeros(unknowns),
            step: DVector::zeros(unknowns),
            force: DVector::zeros(unknowns),
            multipliers: DVector::zeros(equations),
            residual: DVector::zeros(equations),
        }
    }

    /// Sets another [`tolerance`](Self::set_tolerance).
    #[must_use]
    pub fn with_tolerance(mut self, tolerance: T) -> Self {
        self.set_tolerance(tolerance);
        self
    }

    /// Sets the tolerance: a row of `Z` counts as dependent if its part outside the span of the others, in the metric `M⁻¹`, is smaller than this
    /// fraction of the row. Factors of the rows do not matter. The default is that of [`PseudoInverse::tolerance`].
    pub fn set_tolerance(&mut self, tolerance: T) {
        self.inverse.tolerance = tolerance;
    }

    /// Declares row `i` of `Z` as accurate to `tolerance * scales[i]`: the magnitude of the terms that are summed in it, if they may cancel.
    /// Zero stands for the norm of the row.
    ///
    /// # Panics
    /// If there is not one scale per row.
    pub fn set_row_scales(&mut self, scales: &[T]) {
        self.row_scales.copy_from_slice(scales);
    }
}

/// # Solution
impl<T: RealField + Copy> EqualityQp<T> {
    /// Solves (A.117). Only the lower triangle of `M` is read. Does not allocate.
    ///
    /// # Errors
    /// See [`EqualityQpError`].
    pub fn solve(
        &mut self,
        M: &DMatrix<T>,
        c: &DVector<T>,
        Z: &DMatrix<T>,
        b: &DVector<T>,
    ) -> Result<(), EqualityQpError> {
        self.start(M, ("c", c), Z, b)?;
        self.point.copy_from(c);
        self.point.neg_mut();
        self.factor
            .solve_lower_triangular_unchecked_mut(&mut self.point);
        self.factor
            .tr_solve_lower_triangular_unchecked_mut(&mut self.point);
        self.constrain(Z, b)
    }

    /// The point with `Z v = b` that is nearest to a target `v₀`: minimises `1/2 (v - v₀)ᵀ M (v - v₀)`. Otherwise as
    /// [`EqualityQp::solve`], with `Zᵀ λ = M (v - v₀)`.
    ///
    /// # Errors
    /// See [`EqualityQpError`].
    pub fn nearest(
        &mut self,
        M: &DMatrix<T>,
        target: &DVector<T>,
        Z: &DMatrix<T>,
        b: &DVector<T>,
    ) -> Result<(), EqualityQpError> {
        self.start(M, ("the target", target), Z, b)?;
        self.point.copy_from(target);
        self.constrain(Z, b)
    }

    /// Checks the sizes and factorises `M`.
    fn start(
        &mut self,
        M: &DMatrix<T>,
        (name, vector): (&'static str, &DVector<T>),
        Z: &DMatrix<T>,
        b: &DVector<T>,
    ) -> Result<(), EqualityQpError> {
        let (unknowns, equations) = self.scaled.shape();
        let sizes = [
            ("M", (unknowns, unknowns), M.shape()),
            (name, (unknowns, 1), vector.shape()),
            ("Z", (equations, unknowns), Z.shape()),
            ("b", (equations, 1), b.shape()),
        ];
        for (what, expected, found) in sizes {
            if expected != found {
                return Err(EqualityQpError::Size {
                    what,
                    expected,
                    found,
                });
            }
        }
        self.factor.copy_from(M);
        if cholesky(&mut self.factor) {
            Ok(())
        } else {
            Err(EqualityQpError::NotPositiveDefinite)
        }
    }

    /// From the unconstrained minimum in `point` to the constrained one, (A.125).
    fn constrain(&mut self, Z: &DMatrix<T>, b: &DVector<T>) -> Result<(), EqualityQpError> {
        Z.transpose_to(&mut self.scaled);
        self.factor
            .solve_lower_triangular_unchecked_mut(&mut self.scaled);
        self.scales.copy_from_slice(&self.row_scales);
        fill_row_scales(Z, self.inverse.tolerance, &mut self.scales);
        let columns = self.scaled.column_iter().zip(Z.row_iter());
        for (scale, (column, row)) in self.scales.iter_mut().zip(columns) {
            let squares = (column.norm_squared(), row.norm_squared());
            if squares.1 > T::zero() {
                *scale *= (squares.0 / squares.1).sqrt();
            }
        }
        self.inverse.decompose_scaled(&self.scaled, &self.scales);

        self.residual.copy_from(b);
        self.residual.gemv(-T::one(), Z, &self.point, T::one());
        self.inverse
            .apply_transposed(&self.residual, &mut self.step);
        self.inverse.apply(&self.step, &mut self.multipliers);
        self.force
            .gemv_tr(T::one(), Z, &self.multipliers, T::zero());
        self.factor
            .tr_solve_lower_triangular_unchecked_mut(&mut self.step);
        self.point += &self.step;
        self.residual.copy_from(b);
        self.residual.gemv(T::one(), Z, &self.point, -T::one());
        let mut numbers = self.point.iter().chain(self.residual.iter());
        if numbers.all(T::is_finite) {
            Ok(())
        } else {
            Err(EqualityQpError::NotFinite)
        }
    }
}

/// # Results
impl<T: RealField + Copy> EqualityQp<T> {
    /// `v`, unique whatever the rank of `Z`.
    pub fn point(&self) -> &DVector<T> {
        &self.point
    }

    /// `λ` with `M v + c = Zᵀ λ`; the one of least norm if the rows of `Z` are dependent.
    pub fn multipliers(&self) -> &DVector<T> {
        &self.multipliers
    }

    /// `Zᵀ λ`, unique whatever the rank of `Z`: in mechanics the force of the constraints.
    pub fn force(&self) -> &DVector<T> {
        &self.force
    }

    /// The rank of `Z`.
    pub fn rank(&self) -> usize {
        self.inverse.rank()
    }

    /// `Z v - b`: rounding errors, unless the equations are inconsistent (A.121).
    pub fn residual(&self) -> &DVector<T> {
        &self.residual
    }
}

/// Replaces the lower triangle of a symmetric matrix by its Cholesky factor; false if it is not positive definite.
fn cholesky<T: RealField + Copy>(matrix: &mut DMatrix<T>) -> bool {
    for j in 0..matrix.ncols() {
        let (done, mut rest) = matrix.columns_range_pair_mut(..j, j..);
        let mut column = rest.column_mut(0);
        for k in 0..j {
            let factor = -done[(j, k)];
            column
                .rows_range_mut(j..)
                .axpy(factor, &done.column(k).rows_range(j..), T::one());
        }
        let pivot = column[j];
        // Written so that NaN fails too.
        if !(pivot > T::zero() && pivot.is_finite()) {
            return false;
        }
        column.rows_range_mut(j..).unscale_mut(pivot.sqrt());
    }
    true
}
