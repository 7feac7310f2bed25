//! The matrices `A`, `Y`, `Φ`, `Ψ` and the projectors.

use nalgebra::{DMatrix, DVector, RealField};

use super::derivative::derivatives_along;
use super::error::{expect_finite, expect_size, list};
use super::{Coordinates, CoordinatesError, Differentiable, derivative_along};
use crate::PseudoInverse;

/// `Φ = ∂φ/∂x`, c x ν, Konz (A.34).
///
/// # Errors
/// [`CoordinatesError::Size`].
pub fn constraint_jacobian<S: Differentiable>(
    coordinates: &impl Coordinates,
    x: &DVector<S>,
) -> Result<DMatrix<S>, CoordinatesError> {
    let nu = coordinates.config_dim();
    expect_size("x", (nu, 1), x)?;
    let constraint = |x: &DVector<S::Dual>| coordinates.constraint(x);
    Ok(derivatives_along(
        &constraint,
        x,
        &DMatrix::identity(nu, nu),
    ))
}

/// `Ψ = Φ⁺`, ν x c, for any rank: its columns span the orthogonal complement of the tangent space. `A A⁺ + Ψ Φ = I`,
/// Konz (3.20).
///
/// The text after (3.19) prints `Yᵀ Φ = 0`; correct are `Φ A = 0`, `Φ Yᵀ = 0` and `Y Ψ = 0`.
///
/// # Errors
/// [`CoordinatesError::Size`].
pub fn constraint_inverse<S: Differentiable>(
    coordinates: &impl Coordinates,
    x: &DVector<S>,
) -> Result<DMatrix<S>, CoordinatesError> {
    Ok(pseudo_inverse(&constraint_jacobian(coordinates, x)?).0)
}

/// `P = A A⁺`, ν x ν: the orthogonal projector onto the admissible velocities `x_dot`, Konz (3.20).
///
/// # Errors
/// [`CoordinatesError::Size`], [`CoordinatesError::Singular`], [`CoordinatesError::NotFinite`].
pub fn tangent_projector<S: Differentiable>(
    coordinates: &impl Coordinates,
    x: &DVector<S>,
) -> Result<DMatrix<S>, CoordinatesError> {
    expect_size("x", (coordinates.config_dim(), 1), x)?;
    let A = coordinates.kinematic_matrix(x);
    Ok(&A * kinematic_pseudo_inverse(&A, x)?)
}

/// `I - P = Ψ Φ`, ν x ν: the orthogonal projector onto the constraint normals, Konz (3.20).
///
/// # Errors
/// As [`tangent_projector`].
pub fn normal_projector<S: Differentiable>(
    coordinates: &impl Coordinates,
    x: &DVector<S>,
) -> Result<DMatrix<S>, CoordinatesError> {
    let nu = coordinates.config_dim();
    Ok(DMatrix::identity(nu, nu) - tangent_projector(coordinates, x)?)
}

/// The velocity `ξ = Y x_dot`, Konz (A.73).
///
/// # Errors
/// [`CoordinatesError::Size`], and what [`Coordinates::kinematic_inverse`] reports.
pub fn velocity<T: RealField + Copy>(
    coordinates: &impl Coordinates,
    x: &DVector<T>,
    x_dot: &DVector<T>,
) -> Result<DVector<T>, CoordinatesError> {
    let nu = coordinates.config_dim();
    expect_size("x", (nu, 1), x)?;
    expect_size("x_dot", (nu, 1), x_dot)?;
    Ok(coordinates.kinematic_inverse(x)? * x_dot)
}

/// `x_ddot = A ξ_dot + (∂_k A) ξ^k ξ`, Konz (A.68), whose middle line is garbled.
///
/// # Errors
/// [`CoordinatesError::Size`].
pub fn acceleration<S: Differentiable>(
    coordinates: &impl Coordinates,
    x: &DVector<S>,
    xi: &DVector<S>,
    xi_dot: &DVector<S>,
) -> Result<DVector<S>, CoordinatesError> {
    let n = coordinates.dof();
    expect_size("x", (coordinates.config_dim(), 1), x)?;
    expect_size("xi", (n, 1), xi)?;
    expect_size("xi_dot", (n, 1), xi_dot)?;
    let x_dot = coordinates.kinematic_matrix(x) * xi;
    let (A, A_dot) = derivative_along(|x| coordinates.kinematic_matrix(x), x, &x_dot);
    Ok(A * xi_dot + A_dot * xi)
}

/// The condition number of `A(x)`, the ratio of its largest to its smallest singular value: 1 at best, infinite where the coordinates are
/// singular; elsewhere the factor by which errors grow from `x_dot` to `ξ`.
///
/// # Errors
/// [`CoordinatesError::Size`], [`CoordinatesError::NotFinite`].
pub fn condition_number(
    coordinates: &impl Coordinates,
    x: &DVector<f64>,
) -> Result<f64, CoordinatesError> {
    expect_size("x", (coordinates.config_dim(), 1), x)?;
    let A = coordinates.kinematic_matrix(x);
    expect_finite("the kinematic matrix", &A, x)?;
    if A.is_empty() {
        return Ok(1.0);
    }
    let values = A.singular_values();
    Ok(values.max() / values.min())
}

/// `A⁺` of a kinematic matrix; errors state the configuration.
pub(super) fn kinematic_pseudo_inverse<T: RealField + Copy>(
    A: &DMatrix<T>,
    x: &DVector<T>,
) -> Result<DMatrix<T>, CoordinatesError> {
    expect_finite("the kinematic matrix", A, x)?;
    let (inverse, rank) = pseudo_inverse(A);
    if rank < A.ncols() {
        return Err(CoordinatesError::Singular {
            rank,
            dof: A.ncols(),
            configuration: list(x),
        });
    }
    Ok(inverse)
}

pub(super) fn pseudo_inverse<T: RealField + Copy>(matrix: &DMatrix<T>) -> (DMatrix<T>, usize) {
    let mut workspace = PseudoInverse::new(matrix.nrows(), matrix.ncols());
    let rank = workspace.decompose(matrix);
    (workspace.matrix(), rank)
}
