//! Projection onto a constraint, and stabilisation.

use nalgebra::{DMatrix, DVector};

use super::error::expect_size;
use super::kinematics::constraint_inverse;
use super::{Coordinates, CoordinatesError, Differentiable};

/// The most steps: with quadratic convergence a few suffice, and a start that needs more is hopeless.
const MOST_STEPS: usize = 50;

/// A configuration with `φ(x) = 0` near `x`, by Newton steps `-Ψ φ` along the normals of the constraint.
///
/// For small violations it is the nearest one to second order. `x` is returned unchanged if `|φ|` is mere rounding already.
///
/// ```
/// use fly_mechanics::geometry::{Quaternion, project};
/// use nalgebra::dvector;
///
/// let x = project(&Quaternion, &dvector![0.6, 0.0, 0.9, 0.0])?;
/// assert!((x.norm() - 1.0).abs() < 1e-15);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
///
/// # Errors
/// [`CoordinatesError::Size`]; [`CoordinatesError::Projection`] if the start is too far away.
pub fn project(
    coordinates: &impl Coordinates,
    x: &DVector<f64>,
) -> Result<DVector<f64>, CoordinatesError> {
    expect_size("x", (coordinates.config_dim(), 1), x)?;
    let mut x = x.clone();
    let mut violation = coordinates.constraint(&x);
    for _ in 0..MOST_STEPS {
        let step = constraint_inverse(coordinates, &x)? * &violation;
        if step.norm() <= 8.0 * f64::EPSILON * x.norm() && violation.norm() < 1e-6 {
            return Ok(x);
        }
        x -= step;
        violation = coordinates.constraint(&x);
    }
    Err(CoordinatesError::Projection {
        iterations: MOST_STEPS,
        residual: violation.norm(),
    })
}

/// `x_dot = A ξ - Ψ Λ φ`, Konz (A.176): the kinematics with a term that reduces constraint violations. `Λ` has one row and one column per
/// equation of the constraint; with a multiple of the identity all of them decay at one rate (1/s).
///
/// (A.177) `d/dt φ = -Λ φ` holds if the rows of Φ are independent and `Φ A = 0` off the constraint too, as for a circle or a quaternion. For
/// the rotation matrix neither is true: there, with `Λ = λ I`, only the norm of `RᵀR - I` decays, at this rate to first order. In matrix
/// form this is `R_dot = R (hat ω - λ/2 (RᵀR - I))`; (A.178), which has λ in place of λ/2, decays twice as fast.
///
/// ```
/// use fly_mechanics::geometry::{Quaternion, stabilized_rate};
/// use nalgebra::{dmatrix, dvector};
///
/// // A quaternion at rest whose norm is 1.1: the norm comes back.
/// let q = dvector![1.1, 0.0, 0.0, 0.0];
/// let q_dot = stabilized_rate(&Quaternion, &q, &dvector![0.0, 0.0, 0.0], &dmatrix![5.0])?;
/// assert!(q_dot[0] < 0.0 && q_dot.rows(1, 3).norm() == 0.0);
/// # Ok::<(), fly_mechanics::geometry::CoordinatesError>(())
/// ```
///
/// # Errors
/// [`CoordinatesError::Size`].
pub fn stabilized_rate<S: Differentiable>(
    coordinates: &impl Coordinates,
    x: &DVector<S>,
    xi: &DVector<S>,
    gain: &DMatrix<S>,
) -> Result<DVector<S>, CoordinatesError> {
    expect_size("x", (coordinates.config_dim(), 1), x)?;
    expect_size("xi", (coordinates.dof(), 1), xi)?;
    let violation = coordinates.constraint(x);
    let equations = violation.len();
    expect_size("the gain", (equations, equations), gain)?;
    let back = constraint_inverse(coordinates, x)? * (gain * violation);
    Ok(coordinates.kinematic_matrix(x) * xi - back)
}
