//! How far the closed loop is from the desired one, Konz 5.5.2: the matching force.
#![allow(non_snake_case)]

use nalgebra::{Cholesky, DMatrix, DVector, SMatrix, SVector};

use crate::law::{InputMatrix, LawError};

/// The matching force of an underactuated system of N degrees of freedom with constant M, Mbar and B.
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
#[derive(Clone, Debug, PartialEq)]
pub struct Matching<const N: usize = 6> {
    complement: InputMatrix<N>,
    /// M Mbar^-1.
    ratio: SMatrix<f64, N, N>,
    weight: DMatrix<f64>,
    /// M B_perp S, n x (n - p).
    back: InputMatrix<N>,
}

/// The matching force at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchingForce<const N: usize = 6> {
    /// lambda, n - p numbers: what the inputs cannot give, along the complement.
    pub lambda: DVector<f64>,
    /// btilde, [N; Nm]: the force that disturbs the desired closed loop.
    pub force: SVector<f64, N>,
    /// G0: half the squared distance of the acceleration from the desired one.
    pub distance: f64,
}

impl<const N: usize> Matching<N> {
    /// With the orthonormal complement of B.
    ///
    /// # Errors
    /// [`LawError::Inputs`] if Mbar or S^-1 is not positive definite.
    pub fn new(
        M: &SMatrix<f64, N, N>,
        M_bar: &SMatrix<f64, N, N>,
        B: &InputMatrix<N>,
    ) -> Result<Self, LawError> {
        Self::with_complement(M, M_bar, complement(B))
    }

    /// With a given complement, n x (n - p).
    ///
    /// # Errors
    /// As [`Matching::new`].
    pub fn with_complement(
        M: &SMatrix<f64, N, N>,
        M_bar: &SMatrix<f64, N, N>,
        complement: InputMatrix<N>,
    ) -> Result<Self, LawError> {
        let desired = Cholesky::new(*M_bar).ok_or(LawError::Inputs)?;
        let ratio = desired.solve(M).transpose();
        let projected = M * &complement;
        let inverse = projected.transpose() * desired.solve(&projected);
        let weight = Cholesky::new(inverse).ok_or(LawError::Inputs)?.inverse();
        let back = projected * &weight;
        Ok(Self {
            complement,
            ratio,
            weight,
            back,
        })
    }

    /// S, (n - p) x (n - p).
    pub fn weight(&self) -> &DMatrix<f64> {
        &self.weight
    }

    /// For the model's bias b and the template's bbar. Allocates: a diagnosis, not part of a step.
    pub fn force(&self, b: &SVector<f64, N>, b_bar: &SVector<f64, N>) -> MatchingForce<N> {
        let missing = self.ratio * b_bar - b;
        let lambda = self.complement.transpose() * missing;
        let tilde = &self.back * &lambda;
        let distance = 0.5 * lambda.dot(&(&self.weight * &lambda));
        MatchingForce {
            force: tilde,
            distance,
            lambda,
        }
    }
}

/// An orthonormal basis of the wrenches that the inputs cannot give: n x (n - rank B).
pub fn complement<const N: usize>(B: &InputMatrix<N>) -> InputMatrix<N> {
    let null = null_space(DMatrix::from_fn(N, N, |i, j| B.row(i).dot(&B.row(j))));
    InputMatrix::from_fn(null.ncols(), |i, j| null[(i, j)])
}

/// An orthonormal basis of what a symmetric, positive semidefinite matrix takes to zero.
pub(crate) fn null_space(gram: DMatrix<f64>) -> DMatrix<f64> {
    let eigen = gram.symmetric_eigen();
    let scale = eigen.eigenvalues.amax();
    let null: Vec<_> = (0..eigen.eigenvalues.len())
        .filter(|i| eigen.eigenvalues[*i] <= 1e-20 + 1e-12 * scale)
        .collect();
    eigen.eigenvectors.select_columns(&null)
}

/// Whether the inputs can give every wrench.
pub fn fully_actuated(B: &InputMatrix) -> bool {
    complement(B).ncols() == 0
}
