//! Derivatives of functions of the configuration.

use nalgebra::{DMatrix, DVector};
use num_dual::HyperDual64;

use super::error::expect_size;
use super::{Coordinates, CoordinatesError, Differentiable, derivative_along};

/// `∂_i f = A_i^α ∂f/∂x^α`, n entries, Konz (3.23): `df/dt = ∂_i f ξ^i`. For a potential, its generalised force.
///
/// # Errors
/// [`CoordinatesError::Size`].
pub fn directional_derivatives<S: Differentiable>(
    coordinates: &impl Coordinates,
    f: impl Fn(&DVector<S::Dual>) -> S::Dual,
    x: &DVector<S>,
) -> Result<DVector<S>, CoordinatesError> {
    let row = directional_jacobian(coordinates, |x| DVector::from_element(1, f(x)), x)?;
    Ok(row.row(0).transpose())
}

/// `[∂_i f^k]_ki`, the same for a vector-valued function: `df/dt = F ξ`.
///
/// # Errors
/// [`CoordinatesError::Size`].
pub fn directional_jacobian<S: Differentiable>(
    coordinates: &impl Coordinates,
    f: impl Fn(&DVector<S::Dual>) -> DVector<S::Dual>,
    x: &DVector<S>,
) -> Result<DMatrix<S>, CoordinatesError> {
    expect_size("x", (coordinates.config_dim(), 1), x)?;
    Ok(derivatives_along(&f, x, &coordinates.kinematic_matrix(x)))
}

/// A function of the configuration. `dyn`, so that code independent of its type is compiled once.
pub(super) type VectorFunction<'a, S> =
    dyn Fn(&DVector<<S as Differentiable>::Dual>) -> DVector<<S as Differentiable>::Dual> + 'a;

/// The same for matrix-valued functions.
pub(super) type MatrixFunction<'a, S> =
    dyn Fn(&DVector<<S as Differentiable>::Dual>) -> DMatrix<<S as Differentiable>::Dual> + 'a;

/// The derivative of `f` at `x` along every column of `directions`.
pub(super) fn derivatives_along<S: Differentiable>(
    f: &VectorFunction<S>,
    x: &DVector<S>,
    directions: &DMatrix<S>,
) -> DMatrix<S> {
    let still = DVector::zeros(x.len());
    let values = derivative_along(f, x, &still).0.len();
    let mut jacobian = DMatrix::zeros(values, directions.ncols());
    for (mut column, v) in jacobian.column_iter_mut().zip(directions.column_iter()) {
        column.copy_from(&derivative_along(f, x, &v.into_owned()).1);
    }
    jacobian
}

/// The same for a matrix: one derivative per direction.
pub(super) fn matrices_along<S: Differentiable>(
    f: &MatrixFunction<S>,
    x: &DVector<S>,
    directions: &DMatrix<S>,
) -> Vec<DMatrix<S>> {
    (directions.column_iter())
        .map(|v| derivative_along(f, x, &v.into_owned()).1)
        .collect()
}

/// `[∂_j ∂_i f]_ij`: first along `i`, then along `j`.
///
/// At a critical point of `f`, where all `∂_i f = 0`, this is the Hessian for any metric, Konz (3.25): symmetric, and positive definite at a
/// strict minimum. Elsewhere its skew part is `-1/2 γ^k_ij ∂_k f`, and [`hessian`](super::hessian) is the tensor.
///
/// ```
/// use fly_mechanics::geometry::{RotationMatrix, second_directional_derivatives};
/// use nalgebra::{DVector, RealField, dmatrix, dvector};
///
/// // V(R) = tr(P (I - R)) with P = diag(3, 2, 1) is smallest at R = I; its Hessian there is tr(P) I - P, Konz (3.28).
/// fn potential<T: RealField + Copy>(x: &DVector<T>) -> T {
///     nalgebra::convert::<f64, T>(6.0) - x[0] * nalgebra::convert(3.0) - x[4] * nalgebra::convert(2.0) - x[8]
/// }
/// let identity = dvector![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// let hessian = second_directional_derivatives(&RotationMatrix, potential, &identity)?;
/// assert_eq!(hessian, dmatrix![3.0, 0.0, 0.0; 0.0, 4.0, 0.0; 0.0, 0.0, 5.0]);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
///
/// # Errors
/// [`CoordinatesError::Size`].
pub fn second_directional_derivatives(
    coordinates: &impl Coordinates,
    f: impl Fn(&DVector<HyperDual64>) -> HyperDual64,
    x: &DVector<f64>,
) -> Result<DMatrix<f64>, CoordinatesError> {
    expect_size("x", (coordinates.config_dim(), 1), x)?;
    let A = coordinates.kinematic_matrix(x);
    let dA = matrices_along(&|x| coordinates.kinematic_matrix(x), x, &A);
    Ok(second_derivatives(&f, x, &A, &dA))
}

fn second_derivatives(
    f: &dyn Fn(&DVector<HyperDual64>) -> HyperDual64,
    x: &DVector<f64>,
    A: &DMatrix<f64>,
    dA: &[DMatrix<f64>],
) -> DMatrix<f64> {
    DMatrix::from_fn(dA.len(), dA.len(), |i, j| {
        // f(x + ε₁ a_i + ε₂ (a_j + ε₁ ∂_j a_i)): the part with both is f'' a_i a_j + f' ∂_j a_i.
        let there = DVector::from_fn(x.len(), |a, _| {
            HyperDual64::new(x[a], A[(a, i)], A[(a, j)], dA[j][(a, i)])
        });
        f(&there).eps1eps2
    })
}
