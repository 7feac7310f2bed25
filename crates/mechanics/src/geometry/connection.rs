//! A metric on the configurations, such as the mass matrix, and its connection.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn, convert};
use num_dual::{Dual64, HyperDual64};

use super::derivative::{MatrixFunction, matrices_along};
use super::error::{expect_finite, expect_size, list};
use super::{
    Coordinates, CoordinatesError, Differentiable, Symbols, commutation_coefficients,
    derivative_along, directional_derivatives, second_directional_derivatives,
};

/// The coefficients `Γ_ijk`, stored as `Gamma[i][(j, k)]`, of the Levi-Civita connection of the metric `M(x)`, n x n:
///
/// ```text
/// Γ_ijk = 1/2 (∂_k M_ij + ∂_j M_ik - ∂_i M_jk + γ^s_ij M_sk + γ^s_ik M_sj - γ^s_jk M_si)     (3.63) = (4.92) = (A.57)
/// ```
///
/// With the mass matrix as the metric, `M ξ_dot + Γ_ijk ξ^j ξ^k` is the inertia force (A.70): `Gamma.contract(xi, xi)` is `c` and
/// `Gamma.with_second(xi)` the matrix `C` with `c = C ξ` and `dM/dt - 2 C` skew-symmetric.
///
/// ```
/// use fly_mechanics::geometry::{Minimal, connection_coefficients};
/// use nalgebra::{DMatrix, DVector, RealField, convert, dmatrix, dvector};
///
/// // A particle of unit mass in the polar coordinates r, phi: T = 1/2 (r_dot² + r² phi_dot²).
/// fn mass<T: RealField + Copy>(x: &DVector<T>) -> DMatrix<T> {
///     DMatrix::from_diagonal(&dvector![T::one(), x[0] * x[0]])
/// }
/// let (x, xi) = (dvector![2.0, 0.3], dvector![0.5, 3.0]);
/// let connection = connection_coefficients(&Minimal(2), mass, &x)?;
/// // The centrifugal force -r phi_dot² and the Coriolis force 2 r r_dot phi_dot.
/// assert_eq!(connection.contract(&xi, &xi), dvector![-2.0 * 9.0, 2.0 * 2.0 * 0.5 * 3.0]);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
///
/// # Errors
/// [`CoordinatesError::Size`], [`CoordinatesError::NotFinite`], and what [`Coordinates::kinematic_inverse`] reports.
pub fn connection_coefficients<S: Differentiable>(
    coordinates: &impl Coordinates,
    metric: impl Fn(&DVector<S::Dual>) -> DMatrix<S::Dual>,
    x: &DVector<S>,
) -> Result<Symbols<S>, CoordinatesError> {
    let gamma = commutation_coefficients(coordinates, x)?;
    let (M, dM) = metric_with_derivatives(coordinates, &metric, x)?;
    Ok(levi_civita(&gamma, &M, &dM))
}

/// (3.63)
pub(super) fn levi_civita<S: Differentiable>(
    gamma: &Symbols<S>,
    M: &DMatrix<S>,
    dM: &[DMatrix<S>],
) -> Symbols<S> {
    // γ_ijk = γ^s_ij M_sk, stored by the lowered index.
    let lowered = gamma.premultiplied(M);
    let half: S = convert(0.5);
    Symbols::from_fn(gamma.dof(), |i, j, k| {
        let metric = dM[k][(i, j)] + dM[j][(i, k)] - dM[i][(j, k)];
        let brackets = lowered[k][(i, j)] + lowered[j][(i, k)] - lowered[i][(j, k)];
        half * (metric + brackets)
    })
}

/// `Γ^i_jk = M^il Γ_ljk`, stored as `raised[i][(j, k)]`: `∇_(∂_k) ∂_j = Γ^i_jk ∂_i`, Konz (A.50).
///
/// # Errors
/// As [`connection_coefficients`], and [`CoordinatesError::Metric`].
pub fn raised_connection_coefficients<S: Differentiable>(
    coordinates: &impl Coordinates,
    metric: impl Fn(&DVector<S::Dual>) -> DMatrix<S::Dual>,
    x: &DVector<S>,
) -> Result<Symbols<S>, CoordinatesError> {
    let Gamma = connection_coefficients(coordinates, &metric, x)?;
    let M = derivative_along(metric, x, &DVector::zeros(x.len())).0;
    Ok(Gamma.premultiplied(&factor(M, x)?.inverse()))
}

/// The acceleration `ξ_dot = -Γ^i_jk ξ^j ξ^k` of the geodesic: the force-free motion if the metric is the mass matrix.
///
/// # Errors
/// As [`raised_connection_coefficients`].
pub fn geodesic_acceleration(
    coordinates: &impl Coordinates,
    metric: impl Fn(&DVector<Dual64>) -> DMatrix<Dual64>,
    x: &DVector<f64>,
    xi: &DVector<f64>,
) -> Result<DVector<f64>, CoordinatesError> {
    expect_size("xi", (coordinates.dof(), 1), xi)?;
    let Gamma = raised_connection_coefficients(coordinates, metric, x)?;
    Ok(-Gamma.contract(xi, xi))
}

/// `∇_k v^i = ∂_k v^i + Γ^i_jk v^j`, row i and column k, Konz (A.50): the covariant derivative of a vector field in
/// every direction.
///
/// # Errors
/// As [`raised_connection_coefficients`].
pub fn covariant_derivative(
    coordinates: &impl Coordinates,
    metric: impl Fn(&DVector<Dual64>) -> DMatrix<Dual64>,
    field: impl Fn(&DVector<Dual64>) -> DVector<Dual64>,
    x: &DVector<f64>,
) -> Result<DMatrix<f64>, CoordinatesError> {
    let Gamma = raised_connection_coefficients(coordinates, metric, x)?;
    let v = derivative_along(&field, x, &DVector::zeros(x.len())).0;
    Ok(super::directional_jacobian(coordinates, field, x)? + Gamma.with_first(&v))
}

/// The gradient `M^ij ∂_j f`, a vector, Konz (A.61), which prints only its entries: the direction of steepest ascent of `f`.
///
/// # Errors
/// [`CoordinatesError::Size`], [`CoordinatesError::NotFinite`], [`CoordinatesError::Metric`].
pub fn gradient(
    coordinates: &impl Coordinates,
    metric: impl Fn(&DVector<f64>) -> DMatrix<f64>,
    f: impl Fn(&DVector<Dual64>) -> Dual64,
    x: &DVector<f64>,
) -> Result<DVector<f64>, CoordinatesError> {
    let derivatives = directional_derivatives(coordinates, f, x)?;
    let M = metric(x);
    check_metric(coordinates, &M, x)?;
    Ok(factor(M, x)?.solve(&derivatives))
}

/// The Hessian tensor `H_ij = ∂_j (∂_i f) - Γ^k_ij ∂_k f`, symmetric everywhere, Konz (A.63). (3.26) prints `∂_i ∂_j`, which is not.
///
/// It describes `f` along geodesics. At critical points it does not depend on the metric, and
/// [`second_directional_derivatives`] suffices.
///
/// # Errors
/// As [`raised_connection_coefficients`].
pub fn hessian(
    coordinates: &impl Coordinates,
    metric: impl Fn(&DVector<Dual64>) -> DMatrix<Dual64>,
    f: impl Fn(&DVector<HyperDual64>) -> HyperDual64,
    x: &DVector<f64>,
) -> Result<DMatrix<f64>, CoordinatesError> {
    let Gamma = raised_connection_coefficients(coordinates, metric, x)?;
    let mut H = second_directional_derivatives(coordinates, &f, x)?;
    let first = |x: &DVector<Dual64>| {
        // The parts without ε₂ are f and its derivative along ε₁.
        let there = f(&x.map(|x| HyperDual64::new(x.re, x.eps, 0.0, 0.0)));
        Dual64::new(there.re, there.eps1)
    };
    for (k, slope) in directional_derivatives(coordinates, first, x)?
        .iter()
        .enumerate()
    {
        H -= &Gamma[k] * *slope;
    }
    Ok(H)
}

/// `M`, and `∂_k M` for every k.
pub(super) fn metric_with_derivatives<S: Differentiable>(
    coordinates: &impl Coordinates,
    metric: &MatrixFunction<S>,
    x: &DVector<S>,
) -> Result<(DMatrix<S>, Vec<DMatrix<S>>), CoordinatesError> {
    let M = derivative_along(metric, x, &DVector::zeros(x.len())).0;
    check_metric(coordinates, &M, x)?;
    let dM = matrices_along(metric, x, &coordinates.kinematic_matrix(x));
    Ok((M, dM))
}

fn check_metric<S: Differentiable>(
    coordinates: &impl Coordinates,
    M: &DMatrix<S>,
    x: &DVector<S>,
) -> Result<(), CoordinatesError> {
    let n = coordinates.dof();
    expect_size("the metric", (n, n), M)?;
    expect_finite("the metric", M, x)
}

/// The Cholesky factor of the metric.
pub(super) fn factor<S: Differentiable>(
    M: DMatrix<S>,
    x: &DVector<S>,
) -> Result<Cholesky<S, Dyn>, CoordinatesError> {
    Cholesky::new(M).ok_or_else(|| CoordinatesError::Metric {
        configuration: list(x),
    })
}
