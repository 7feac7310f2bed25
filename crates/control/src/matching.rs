//! How far the closed loop is from the desired one, Konz 5.5.2: the matching force.
#![allow(non_snake_case)]

use nalgebra::{Cholesky, DMatrix, DVector, Matrix6, Vector6};

use crate::law::{InputMatrix, LawError};

/// The matching force of an underactuated system with constant M, Mbar and B.
///
/// With any complement `B_perp` (6 x (6 - p), `B^T B_perp = 0`):
///
/// ```text
/// lambda = B_perp^T (M Mbar^-1 bbar - b),   S = (B_perp^T M Mbar^-1 M B_perp)^-1               Konz (5.78), (5.86c)
/// btilde = M B_perp S lambda,   G0 = 1/2 lambda^T S lambda,   Mbar xidot + bbar = btilde
/// ```
///
/// btilde and G0 do not depend on which complement is taken. (5.80) has the wrong sign of bbar: on the reference
/// `bbar = -Mbar xidot_R`, so `lambda = -B_perp^T (M xidot_R + b)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Matching {
    complement: InputMatrix,
    /// M Mbar^-1.
    ratio: Matrix6<f64>,
    weight: DMatrix<f64>,
    /// M B_perp S, 6 x (6 - p).
    back: InputMatrix,
}

/// The matching force at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchingForce {
    /// lambda, 6 - p numbers: what the inputs cannot give, along the complement.
    pub lambda: DVector<f64>,
    /// btilde, [N; Nm]: the force that disturbs the desired closed loop.
    pub force: Vector6<f64>,
    /// G0: half the squared distance of the acceleration from the desired one.
    pub distance: f64,
}

impl Matching {
    /// With the orthonormal complement of B.
    ///
    /// # Errors
    /// [`LawError::Inputs`] if Mbar or S^-1 is not positive definite.
    pub fn new(M: &Matrix6<f64>, M_bar: &Matrix6<f64>, B: &InputMatrix) -> Result<Self, LawError> {
        Self::with_complement(M, M_bar, complement(B))
    }

    /// With a given complement, 6 x (6 - p).
    ///
    /// # Errors
    /// As [`Matching::new`].
    pub fn with_complement(
        M: &Matrix6<f64>,
        M_bar: &Matrix6<f64>,
        complement: InputMatrix,
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

    /// S, (6 - p) x (6 - p).
    pub fn weight(&self) -> &DMatrix<f64> {
        &self.weight
    }

    /// For the model's bias b and the template's bbar. Allocates: a diagnosis, not part of a step.
    pub fn force(&self, b: &Vector6<f64>, b_bar: &Vector6<f64>) -> MatchingForce {
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

/// An orthonormal basis of the wrenches that the inputs cannot give: 6 x (6 - rank B).
pub fn complement(B: &InputMatrix) -> InputMatrix {
    // Eigenvectors of B B^T: 6x6 whatever p is.
    let gram = B * B.transpose();
    let eigen = gram.symmetric_eigen();
    let scale = eigen.eigenvalues.amax();
    let null: Vec<_> = (0..6)
        .filter(|i| eigen.eigenvalues[*i] <= 1e-20 + 1e-12 * scale)
        .collect();
    InputMatrix::from_fn(null.len(), |i, j| eigen.eigenvectors[(i, null[j])])
}

/// Whether the inputs can give every wrench.
pub fn fully_actuated(B: &InputMatrix) -> bool {
    complement(B).ncols() == 0
}
