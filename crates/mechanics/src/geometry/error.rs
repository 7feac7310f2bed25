//! Errors of coordinates.

use nalgebra::{DVector, Dim, Matrix, RawStorage, RealField};

/// Why a computation in coordinates fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CoordinatesError {
    /// The size of a vector or matrix does not match the coordinates.
    #[error("{what} must be {} x {}, found {} x {}", expected.0, expected.1, found.0, found.1)]
    Size {
        /// The vector or matrix.
        what: &'static str,
        /// Expected rows and columns.
        expected: (usize, usize),
        /// Actual rows and columns.
        found: (usize, usize),
    },
    /// The columns of the kinematic matrix are dependent: these coordinates cannot express every motion from here.
    #[error(
        "the kinematic matrix has rank {rank} instead of {dof} at x = {configuration}: the coordinates are singular there. Use redundant \
         ones, such as the entries of a rotation matrix or a unit quaternion instead of three angles"
    )]
    Singular {
        /// The rank of `A(x)`.
        rank: usize,
        /// The required rank.
        dof: usize,
        /// The configuration.
        configuration: String,
    },
    /// A number is not finite.
    #[error("{what} is not finite at x = {configuration}")]
    NotFinite {
        /// The quantity.
        what: &'static str,
        /// The configuration.
        configuration: String,
    },
    /// A metric, such as a mass matrix, is not positive definite.
    #[error("the metric must be symmetric and positive definite; at x = {configuration} it is not")]
    Metric {
        /// The configuration.
        configuration: String,
    },
    /// A parameter of a particle, or of a force on it, is invalid.
    #[error("particle {particle} has {what}")]
    Particle {
        /// The particle, from 0.
        particle: usize,
        /// The error.
        what: String,
    },
    /// The velocity of a momentum was not found.
    #[error(
        "no velocity with dL/dxi = p found in {iterations} steps: the residual is {residual:e}. The Lagrangian may have no Legendre transform there"
    )]
    Legendre {
        /// The number of steps.
        iterations: usize,
        /// The residual of p.
        residual: f64,
    },
    /// The projection onto the constraint did not converge.
    #[error(
        "no configuration with phi(x) = 0 found in {iterations} steps: |phi| is {residual:e}. Start closer to the constraint"
    )]
    Projection {
        /// The number of steps.
        iterations: usize,
        /// The residual of the constraint.
        residual: f64,
    },
}

pub(super) fn expect_size<T, R: Dim, C: Dim, M: RawStorage<T, R, C>>(
    what: &'static str,
    expected: (usize, usize),
    matrix: &Matrix<T, R, C, M>,
) -> Result<(), CoordinatesError> {
    let found = matrix.shape();
    if found == expected {
        return Ok(());
    }
    Err(CoordinatesError::Size {
        what,
        expected,
        found,
    })
}

pub(super) fn expect_finite<T: RealField + Copy, R: Dim, C: Dim, M: RawStorage<T, R, C>>(
    what: &'static str,
    matrix: &Matrix<T, R, C, M>,
    x: &DVector<T>,
) -> Result<(), CoordinatesError> {
    if matrix.iter().all(T::is_finite) {
        return Ok(());
    }
    Err(CoordinatesError::NotFinite {
        what,
        configuration: list(x),
    })
}

/// Formats as `[1, 2.5]`, for messages.
pub(super) fn list<T: RealField + Copy>(x: &DVector<T>) -> String {
    let entries: Vec<_> = x.iter().map(ToString::to_string).collect();
    format!("[{}]", entries.join(", "))
}
