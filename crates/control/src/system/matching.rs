//! What the inputs of a system cannot give of the desired closed loop, Konz (5.78).
#![allow(non_snake_case)]

use nalgebra::{DMatrix, DVector};

use super::DesiredMotion;
use crate::law::LawError;

/// The matching force of a system at one instant; see [`Matching`](crate::matching::Matching) for the formulas.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemMatching {
    /// lambda, n - p numbers: what the inputs cannot give, along the complement.
    pub lambda: DVector<f64>,
    /// S, (n - p) x (n - p).
    pub weight: DMatrix<f64>,
    /// btilde, n numbers: the force that disturbs the desired closed loop.
    pub force: DVector<f64>,
    /// G0: half the squared distance of the acceleration from the desired one.
    pub distance: f64,
}

/// For the model `M xi_dot + b = B u` and a complement of B (n x (n - p), `B^T B_perp = 0`). Allocates: a diagnosis, not part of a step.
///
/// # Errors
/// [`LawError::Inputs`] if Mbar or `B_perp^T M Mbar^-1 M B_perp` is not positive definite.
pub fn matching_force(
    M: &DMatrix<f64>,
    b: &DVector<f64>,
    complement: &DMatrix<f64>,
    desired: &DesiredMotion,
) -> Result<SystemMatching, LawError> {
    let factors = desired.mass_matrix.clone().cholesky();
    let factors = factors.ok_or(LawError::Inputs)?;
    let projected = M * complement;
    let inverse = projected.transpose() * factors.solve(&projected);
    let weight = inverse.cholesky().ok_or(LawError::Inputs)?.inverse();
    let missing = M * factors.solve(&desired.bias) - b;
    let lambda = complement.transpose() * missing;
    Ok(SystemMatching {
        force: projected * &weight * &lambda,
        distance: 0.5 * lambda.dot(&(&weight * &lambda)),
        lambda,
        weight,
    })
}
