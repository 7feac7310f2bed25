//! What can be wrong with coordinates.

use nalgebra::{DVector, Dim, Matrix, RawStorage, RealField};

/// Why something cannot be computed in coordinates.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CoordinatesError {
    /// A vector or matrix does not have the size that the coordinates ask for.
    #[error("{what} must be {} x {}, found {} x {}", expected.0, expected.1, found.0, found.1)]
    Size {
        /// Which one.
        what: &'static str,
        /// Rows and columns.
        expected: (usize, usize),
        /// Rows and columns.
        found: (usize, usize),
    },
    /// The columns of the kinematic matrix depend on each other: these coordinates cannot express every motion from here.
    #[error(
        "the kinematic matrix has rank {rank} instead of {dof} at x = {configuration}: the coordinates are singular there. Use redundant \
         ones, such as the entries of a rotation matrix or a unit quaternion instead of three angles"
    )]
    Singular {
        /// The rank of `A(x)`.
        rank: usize,
        /// What it must be.
        dof: usize,
        /// Where.
        configuration: String,
    },
    /// A number is infinite or none.
    #[error("{what} is not finite at x = {configuration}")]
    NotFinite {
        /// Of what.
        what: &'static str,
        /// Where.
        configuration: String,
    },
    /// A metric, such as a mass matrix, is not positive definite.
    #[error("the metric must be symmetric and positive definite; at x = {configuration} it is not")]
    Metric {
        /// Where.
        configuration: String,
    },
    /// A number of a particle, or of what acts on it, makes no sense.
    #[error("particle {particle} has {what}")]
    Particle {
        /// Which one, from 0.
        particle: usize,
        /// What is wrong.
        what: String,
    },
    /// The velocity of a momentum was not found.
    #[error(
        "no velocity with dL/dxi = p found in {iterations} steps: {residual:e} is left. The Lagrangian may have no Legendre transform there"
    )]
    Legendre {
        /// How many steps were made.
        iterations: usize,
        /// What is left of p.
        residual: f64,
    },
    /// The search for a configuration that satisfies the constraint did not end.
    #[error(
        "no configuration with phi(x) = 0 found in {iterations} steps: |phi| is {residual:e}. Start closer to the constraint"
    )]
    Projection {
        /// How many steps were made.
        iterations: usize,
        /// What is left of the constraint.
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

/// `[1, 2.5]`, for messages.
pub(super) fn list<T: RealField + Copy>(x: &DVector<T>) -> String {
    let entries: Vec<_> = x.iter().map(ToString::to_string).collect();
    format!("[{}]", entries.join(", "))
}
