//! How far the closed loop is from the desired one, Konz 5.5.2: the matching force.
#![allow(non_snake_case)]

use nalgebra::allocator::Allocator;
use nalgebra::{
    Cholesky, Const, DMatrix, DVector, DefaultAllocator, Dim, Dyn, OMatrix, OVector, RealField,
};

use crate::law::{LawError, rounding};

/// The matching force of an underactuated system with n degrees of freedom.
///
/// With any complement `B_perp` (n x (n - p), `B^T B_perp = 0`):
///
/// ```text
/// lambda = B_perp^T (M Mbar^-1 bbar - b),   S = (B_perp^T M Mbar^-1 M B_perp)^-1               Konz (5.78), (5.86c)
/// btilde = M B_perp S lambda,   G0 = 1/2 lambda^T S lambda,   Mbar xidot + bbar = btilde
/// ```
///
/// btilde and G0 do not depend on which complement is taken. (5.80) has the wrong sign of bbar: on the reference
/// `bbar = -Mbar xidot_R`, so `lambda = -B_perp^T (M xidot_R + b)`.
///
/// A diagnosis, not part of a step: it allocates.
#[derive(Clone, Debug, PartialEq)]
pub struct Matching<T: RealField + Copy = f64, N: Dim = Dyn>
where
    DefaultAllocator: Allocator<N> + Allocator<N, N> + Allocator<N, Dyn>,
{
    complement: OMatrix<T, N, Dyn>,
    /// M Mbar^-1.
    ratio: OMatrix<T, N, N>,
    weight: DMatrix<T>,
    /// M B_perp S, n x (n - p).
    back: OMatrix<T, N, Dyn>,
}

/// The matching force at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchingForce<T: RealField + Copy = f64, N: Dim = Dyn>
where
    DefaultAllocator: Allocator<N>,
{
    /// lambda, n - p numbers: what the inputs cannot give, along the complement.
    pub lambda: DVector<T>,
    /// btilde, n numbers: the force that disturbs the desired closed loop.
    pub force: OVector<T, N>,
    /// G0: half the squared distance of the acceleration from the desired one.
    pub distance: T,
}

impl<T: RealField + Copy, N: Dim> Matching<T, N>
where
    DefaultAllocator: Allocator<N> + Allocator<N, N> + Allocator<N, Dyn>,
{
    /// For the mass matrix M, the desired one Mbar, and the input matrix B, with its orthonormal complement.
    ///
    /// # Errors
    /// [`LawError::Inputs`] if Mbar or S^-1 is not positive definite.
    pub fn new<P: Dim>(
        M: &OMatrix<T, N, N>,
        M_bar: &OMatrix<T, N, N>,
        B: &OMatrix<T, N, P>,
    ) -> Result<Self, LawError>
    where
        DefaultAllocator: Allocator<N, P>,
    {
        Self::with_complement(M, M_bar, complement(B))
    }

    /// With a given complement, n x (n - p).
    ///
    /// # Errors
    /// As [`Matching::new`].
    pub fn with_complement(
        M: &OMatrix<T, N, N>,
        M_bar: &OMatrix<T, N, N>,
        complement: OMatrix<T, N, Dyn>,
    ) -> Result<Self, LawError> {
        let desired = Cholesky::new(M_bar.clone()).ok_or(LawError::Inputs)?;
        let mut ratio = M.clone();
        desired.solve_mut(&mut ratio);
        ratio.transpose_mut();
        let projected: OMatrix<T, N, Dyn> = M * &complement;
        let mut solved = projected.clone();
        desired.solve_mut(&mut solved);
        let inverse: DMatrix<T> = projected.tr_mul(&solved);
        let weight: DMatrix<T> = inverted(inverse).ok_or(LawError::Inputs)?;
        let back: OMatrix<T, N, Dyn> = projected * &weight;
        Ok(Self {
            complement,
            ratio,
            weight,
            back,
        })
    }

    /// S, (n - p) x (n - p).
    pub fn weight(&self) -> &DMatrix<T> {
        &self.weight
    }

    /// For the model's bias b and the template's bbar.
    pub fn force(&self, b: &OVector<T, N>, b_bar: &OVector<T, N>) -> MatchingForce<T, N> {
        let missing: OVector<T, N> = &self.ratio * b_bar - b;
        let lambda: DVector<T> = self.complement.tr_mul(&missing);
        let distance = nalgebra::convert::<f64, T>(0.5) * lambda.dot(&(&self.weight * &lambda));
        MatchingForce {
            force: &self.back * &lambda,
            distance,
            lambda,
        }
    }
}

/// The inverse of a symmetric matrix; `None` unless it is positive definite.
fn inverted<T: RealField + Copy>(matrix: DMatrix<T>) -> Option<DMatrix<T>> {
    Some(matrix.cholesky()?.inverse())
}

/// An orthonormal basis of the forces that the inputs cannot give: n x (n - rank B).
pub fn complement<T: RealField + Copy, N: Dim, P: Dim>(B: &OMatrix<T, N, P>) -> OMatrix<T, N, Dyn>
where
    DefaultAllocator: Allocator<N, P> + Allocator<N, Dyn>,
{
    let (n, _) = B.shape_generic();
    let null = null_space(DMatrix::from_fn(n.value(), n.value(), |i, j| {
        B.row(i).dot(&B.row(j))
    }));
    OMatrix::from_fn_generic(n, Dyn(null.ncols()), |i, j| null[(i, j)])
}

/// An orthonormal basis of what a symmetric, positive semidefinite matrix takes to zero.
pub(crate) fn null_space<T: RealField + Copy>(gram: DMatrix<T>) -> DMatrix<T> {
    let eigen = gram.symmetric_eigen();
    let scale = eigen.eigenvalues.amax();
    let part = nalgebra::convert::<f64, T>(1e-12).max(rounding());
    let null: Vec<_> = (0..eigen.eigenvalues.len())
        .filter(|i| eigen.eigenvalues[*i] <= nalgebra::convert::<f64, T>(1e-20) + part * scale)
        .collect();
    eigen.eigenvectors.select_columns(&null)
}

/// Whether the inputs can give every wrench.
pub fn fully_actuated<P: Dim>(B: &OMatrix<f64, Const<6>, P>) -> bool
where
    DefaultAllocator: Allocator<Const<6>, P>,
{
    complement(B).ncols() == 0
}
