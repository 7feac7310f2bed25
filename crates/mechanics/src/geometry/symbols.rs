//! Three-index symbols.

use std::ops::Index;

use nalgebra::{DMatrix, DVector, RealField};

/// Coefficients with three indices over the degrees of freedom: `n` matrices of size `n x n`, `symbols[a][(b, c)]`.
///
/// - Commutation coefficients `γ^k_ij` are `gamma[k][(i, j)]`: `gamma.contract(u, v)` is the bracket of constant `u` and `v`,
///   `gamma.with_first(u)` is `ad_u`.
/// - Connection coefficients `Γ_ijk` are `Gamma[i][(j, k)]`: `Gamma.contract(xi, xi)` is the force `c`, `Gamma.with_second(xi)` the matrix
///   `C_ij = Γ_ijk ξ^k` with `c = C ξ` and `dM/dt - 2 C` skew-symmetric.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbols<T: RealField + Copy>(Vec<DMatrix<T>>);

/// # Construction
impl<T: RealField + Copy> Symbols<T> {
    /// All zero.
    pub fn zeros(dof: usize) -> Self {
        Self(vec![DMatrix::zeros(dof, dof); dof])
    }

    /// From a function of the three indices in the order used here.
    pub fn from_fn(dof: usize, mut entry: impl FnMut(usize, usize, usize) -> T) -> Self {
        let matrix = |a| DMatrix::from_fn(dof, dof, |b, c| entry(a, b, c));
        Self((0..dof).map(matrix).collect())
    }

    /// Converts each entry.
    pub fn map<S: RealField + Copy>(&self, convert: impl Fn(T) -> S) -> Symbols<S> {
        Symbols(self.0.iter().map(|matrix| matrix.map(&convert)).collect())
    }
}

/// # Use
impl<T: RealField + Copy> Symbols<T> {
    /// The range of each index.
    pub fn dof(&self) -> usize {
        self.0.len()
    }

    /// `s_abc u^b v^c`
    pub fn contract(&self, u: &DVector<T>, v: &DVector<T>) -> DVector<T> {
        self.with_second(v) * u
    }

    /// The matrix `[s_abc u^b]_ac`
    pub fn with_first(&self, u: &DVector<T>) -> DMatrix<T> {
        DMatrix::from_rows(&self.rows(|matrix| matrix.tr_mul(u).transpose()))
    }

    /// The matrix `[s_abc v^c]_ab`
    pub fn with_second(&self, v: &DVector<T>) -> DMatrix<T> {
        DMatrix::from_rows(&self.rows(|matrix| (matrix * v).transpose()))
    }

    /// `m_as s^s_bc`: changes the basis of the first index, or raises or lowers it.
    #[must_use]
    pub fn premultiplied(&self, m: &DMatrix<T>) -> Self {
        let n = self.dof();
        Self::from_fn(n, |a, b, c| {
            (0..n).fold(T::zero(), |sum, s| sum + m[(a, s)] * self[s][(b, c)])
        })
    }

    /// The largest absolute value.
    pub fn amax(&self) -> T {
        self.0
            .iter()
            .fold(T::zero(), |most, matrix| most.max(matrix.amax()))
    }

    fn rows(
        &self,
        row: impl Fn(&DMatrix<T>) -> nalgebra::RowDVector<T>,
    ) -> Vec<nalgebra::RowDVector<T>> {
        self.0.iter().map(row).collect()
    }
}

impl<T: RealField + Copy> Index<usize> for Symbols<T> {
    type Output = DMatrix<T>;

    fn index(&self, first: usize) -> &DMatrix<T> {
        &self.0[first]
    }
}
