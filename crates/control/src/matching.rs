//! Matching force: how far the closed loop is from the desired one, Konz 5.5.2.
#![allow(non_snake_case)]

use nalgebra::allocator::Allocator;
use nalgebra::{
    Cholesky, Const, DefaultAllocator, Dim, DimDiff, DimSub, OMatrix, OVector, RealField, U1,
};

use crate::law::{LawError, rounding};
use crate::sizes::{DefaultDim, Sizes};

/// The matching force of an underactuated system with n degrees of freedom and p independent inputs, c = n - p.
///
/// For any complement `B_perp` (n x (n - p), `B^T B_perp = 0`):
///
/// ```text
/// lambda = B_perp^T (M Mbar^-1 bbar - b),   S = (B_perp^T M Mbar^-1 M B_perp)^-1               Konz (5.78), (5.86c)
/// btilde = M B_perp S lambda,   G0 = 1/2 lambda^T S lambda,   Mbar xidot + bbar = btilde
/// ```
///
/// btilde and G0 do not depend on the choice of the complement. (5.80) has the wrong sign of bbar: on the reference
/// `bbar = -Mbar xidot_R`, so `lambda = -B_perp^T (M xidot_R + b)`.
///
/// For analysis, not for the control step: it allocates if the sizes are dynamic.
#[derive(Clone, Debug, PartialEq)]
pub struct Matching<T: RealField + Copy = f64, N: Dim = DefaultDim, C: Dim = DefaultDim>
where
    DefaultAllocator: Sizes<N, C>,
{
    complement: OMatrix<T, N, C>,
    /// M Mbar^-1.
    ratio: OMatrix<T, N, N>,
    weight: OMatrix<T, C, C>,
    /// M B_perp S, n x c.
    back: OMatrix<T, N, C>,
}

/// The matching force at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchingForce<T: RealField + Copy = f64, N: Dim = DefaultDim, C: Dim = DefaultDim>
where
    DefaultAllocator: Sizes<N, C>,
{
    /// lambda, c entries: the components along the complement, which the inputs cannot produce.
    pub lambda: OVector<T, C>,
    /// btilde, n entries: the residual force on the desired closed loop.
    pub force: OVector<T, N>,
    /// G0: half the squared distance between the actual and the desired acceleration.
    pub distance: T,
}

impl<T: RealField + Copy, N: Dim, C: Dim> Matching<T, N, C>
where
    DefaultAllocator: Sizes<N, C>,
{
    /// Builds it from the mass matrix M, the desired mass matrix Mbar, and the input matrix B, whose orthonormal complement it computes.
    ///
    /// # Errors
    /// [`LawError::Inertia`] if Mbar or S^-1 is not positive definite, [`LawError::Inputs`] if n - rank B is not the number of columns fixed at compile
    /// time.
    pub fn new<P: Dim>(
        M: &OMatrix<T, N, N>,
        M_bar: &OMatrix<T, N, N>,
        B: &OMatrix<T, N, P>,
    ) -> Result<Self, LawError>
    where
        N: DimSub<U1>,
        DefaultAllocator: Allocator<N, P> + Allocator<DimDiff<N, U1>>,
    {
        let (directions, count) = null_directions(gram(B));
        if C::try_to_usize().is_some_and(|known| known != count) {
            return Err(LawError::Inputs);
        }
        let (n, _) = B.shape_generic();
        let column = |i, j| directions[(i, j)];
        let complement = OMatrix::from_fn_generic(n, C::from_usize(count), column);
        Self::with_complement(M, M_bar, complement)
    }

    /// Builds it with a given complement, n x c.
    ///
    /// # Errors
    /// [`LawError::Inertia`] if Mbar or S^-1 is not positive definite.
    pub fn with_complement(
        M: &OMatrix<T, N, N>,
        M_bar: &OMatrix<T, N, N>,
        complement: OMatrix<T, N, C>,
    ) -> Result<Self, LawError> {
        let desired = Cholesky::new(M_bar.clone()).ok_or(LawError::Inertia)?;
        let mut ratio = M.clone();
        desired.solve_mut(&mut ratio);
        ratio.transpose_mut();
        let projected = M * &complement;
        let mut solved = projected.clone();
        desired.solve_mut(&mut solved);
        let inverse = Cholesky::new(projected.tr_mul(&solved)).ok_or(LawError::Inertia)?;
        let weight = inverse.inverse();
        Ok(Self {
            back: projected * &weight,
            complement,
            ratio,
            weight,
        })
    }

    /// S, c x c.
    pub fn weight(&self) -> &OMatrix<T, C, C> {
        &self.weight
    }

    /// The matching force for the model's bias b and the template's bias bbar, n entries each.
    pub fn force(&self, b: &OVector<T, N>, b_bar: &OVector<T, N>) -> MatchingForce<T, N, C> {
        let missing = &self.ratio * b_bar - b;
        let lambda: OVector<T, C> = self.complement.tr_mul(&missing);
        let distance = nalgebra::convert::<f64, T>(0.5) * lambda.dot(&(&self.weight * &lambda));
        MatchingForce {
            force: &self.back * &lambda,
            distance,
            lambda,
        }
    }
}

/// B B^T.
fn gram<T: RealField + Copy, N: Dim, P: Dim>(B: &OMatrix<T, N, P>) -> OMatrix<T, N, N>
where
    DefaultAllocator: Allocator<N, P> + Allocator<N, N>,
{
    let (n, _) = B.shape_generic();
    OMatrix::from_fn_generic(n, n, |i, j| B.row(i).dot(&B.row(j)))
}

/// Orthonormal null space of a symmetric, positive semidefinite matrix, in the first columns; and its dimension.
fn null_directions<T: RealField + Copy, N: DimSub<U1>>(
    gram: OMatrix<T, N, N>,
) -> (OMatrix<T, N, N>, usize)
where
    DefaultAllocator: Allocator<N> + Allocator<N, N> + Allocator<DimDiff<N, U1>>,
{
    let eigen = gram.symmetric_eigen();
    let scale = eigen.eigenvalues.amax();
    let part = nalgebra::convert::<f64, T>(1e-12).max(rounding());
    let least = nalgebra::convert::<f64, T>(1e-20) + part * scale;
    let (mut directions, mut count) = (eigen.eigenvectors, 0);
    for (i, value) in eigen.eigenvalues.iter().enumerate() {
        if *value <= least {
            directions.swap_columns(i, count);
            count += 1;
        }
    }
    (directions, count)
}

/// An orthonormal basis of the forces that the inputs cannot produce: n x (n - rank B).
#[cfg(feature = "std")]
pub fn complement<T: RealField + Copy, N: DimSub<U1>, P: Dim>(
    B: &OMatrix<T, N, P>,
) -> OMatrix<T, N, nalgebra::Dyn>
where
    DefaultAllocator: Allocator<N>
        + Allocator<N, N>
        + Allocator<N, P>
        + Allocator<N, nalgebra::Dyn>
        + Allocator<DimDiff<N, U1>>,
{
    let (directions, count) = null_directions(gram(B));
    directions.columns(0, count).into_owned()
}

/// An orthonormal basis of the null space of a symmetric, positive semidefinite matrix.
#[cfg(feature = "systems")]
pub(crate) fn null_space(gram: nalgebra::DMatrix<f64>) -> nalgebra::DMatrix<f64> {
    let (directions, count) = null_directions(gram);
    directions.columns(0, count).into_owned()
}

/// Returns whether the inputs can produce every wrench.
pub fn fully_actuated<P: Dim>(B: &OMatrix<f64, Const<6>, P>) -> bool
where
    DefaultAllocator: Allocator<Const<6>, P>,
{
    null_directions(gram(B)).1 == 0
}
