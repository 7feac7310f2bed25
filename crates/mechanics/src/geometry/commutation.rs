//! Commutation coefficients of directional derivatives.

use nalgebra::{DMatrix, DVector, convert};

use super::derivative::matrices_along;
use super::error::{expect_finite, expect_size};
use super::{Coordinates, CoordinatesError, Differentiable, Symbols, derivative_along};

/// The commutation coefficients `γ^k_ij`, stored as `gamma[k][(i, j)]`, of the velocity coordinates:
///
/// ```text
/// ∂_i ∂_j - ∂_j ∂_i = γ^k_ij ∂_k     γ^k_ij = Y^k_α (∂_i A_j^α - ∂_j A_i^α)     (3.34)
/// ```
///
/// Hamel's or Boltzmann's three-index symbols. They do not depend on the configuration coordinates, only on the choice of velocities: zero
/// for the rates of minimal coordinates, the cross product for the angular velocity of a body, whatever its attitude coordinates. If
/// [`Coordinates::constant_commutation_coefficients`] provides them, they are exact.
///
/// ```
/// use fly_mechanics::geometry::{Quaternion, commutation_coefficients};
/// use nalgebra::dvector;
///
/// let gamma = commutation_coefficients(&Quaternion, &dvector![0.5, -0.5, 0.5, 0.5])?;
/// let (a, b) = (dvector![1.0, 2.0, 3.0], dvector![0.5, -1.0, 2.0]);
/// assert_eq!(gamma.contract(&a, &b), a.cross(&b));
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
///
/// # Errors
/// [`CoordinatesError::Size`], and what [`Coordinates::kinematic_inverse`] reports.
pub fn commutation_coefficients<S: Differentiable>(
    coordinates: &impl Coordinates,
    x: &DVector<S>,
) -> Result<Symbols<S>, CoordinatesError> {
    expect_size("x", (coordinates.config_dim(), 1), x)?;
    if let Some(constant) = coordinates.constant_commutation_coefficients() {
        return Ok(constant.map(convert));
    }
    let A = coordinates.kinematic_matrix(x);
    expect_finite("the kinematic matrix", &A, x)?;
    let Y = coordinates.kinematic_inverse(x)?;
    let dA = matrices_along(&|x| coordinates.kinematic_matrix(x), x, &A);
    Ok(difference(&Y, &dA))
}

/// `Y^k (∂_i A_j - ∂_j A_i)`
fn difference<S: Differentiable>(Y: &DMatrix<S>, dA: &[DMatrix<S>]) -> Symbols<S> {
    // Column j is Y ∂_i A_j.
    let along: Vec<DMatrix<S>> = dA.iter().map(|dA| Y * dA).collect();
    Symbols::from_fn(dA.len(), |k, i, j| along[i][(k, j)] - along[j][(k, i)])
}

/// `∂_v γ`: the derivative of the commutation coefficients along the motion with the velocity `ξ`.
///
/// # Errors
/// As [`commutation_coefficients`].
pub fn commutation_derivative(
    coordinates: &impl Coordinates,
    x: &DVector<f64>,
    xi: &DVector<f64>,
) -> Result<Symbols<f64>, CoordinatesError> {
    expect_size("xi", (coordinates.dof(), 1), xi)?;
    let x_dot = coordinates.kinematic_matrix(x) * xi;
    let there = x.zip_map(&x_dot, f64::with_derivative);
    Ok(commutation_coefficients(coordinates, &there)?.map(|gamma| gamma.eps))
}

/// The Lie bracket of two vector fields given by their velocity coordinates `u(x)`, `v(x)`, Konz (A.45):
/// `[u, v]^k = u^i ∂_i v^k - v^i ∂_i u^k + γ^k_ij u^i v^j`.
///
/// # Errors
/// As [`commutation_coefficients`].
pub fn lie_bracket<S: Differentiable>(
    coordinates: &impl Coordinates,
    u: impl Fn(&DVector<S::Dual>) -> DVector<S::Dual>,
    v: impl Fn(&DVector<S::Dual>) -> DVector<S::Dual>,
    x: &DVector<S>,
) -> Result<DVector<S>, CoordinatesError> {
    let gamma = commutation_coefficients(coordinates, x)?;
    let A = coordinates.kinematic_matrix(x);
    let still = DVector::zeros(x.len());
    let (at_u, at_v) = (
        derivative_along(&u, x, &still).0,
        derivative_along(&v, x, &still).0,
    );
    let along_u = derivative_along(v, x, &(&A * &at_u)).1;
    let along_v = derivative_along(u, x, &(&A * &at_v)).1;
    Ok(along_u - along_v + gamma.contract(&at_u, &at_v))
}
