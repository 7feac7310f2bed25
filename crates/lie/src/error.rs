//! Errors of matrices that are not in a group, and singularities.

use core::fmt;

use nalgebra::RealField;

/// Why a matrix is not a rotation or a pose.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum NotInGroup<T> {
    /// An entry is not finite.
    NotFinite,
    /// The columns are not orthonormal: the largest entry of `R^T R - I`, and its tolerance.
    NotOrthonormal {
        /// The largest absolute entry of `R^T R - I`.
        deviation: T,
        /// The tolerance.
        tolerance: T,
    },
    /// The determinant is -1: a reflection, not a rotation.
    Reflection,
    /// The last row of a pose's matrix is not `0 0 0 1`.
    BottomRow,
    /// All entries are zero, so there is no direction to normalise.
    Zero,
}

/// A singularity of an attitude parameterisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Singularity {
    /// The identity rotation has no axis.
    NoAngle,
    /// The first and the third axis of an Euler sequence coincide.
    GimbalLock,
    /// Two opposite directions: the smallest rotation between them is not unique.
    Opposite,
    /// The body is upside down: its yaw is undefined.
    UpsideDown,
    /// A number is not finite.
    NotFinite,
}

impl fmt::Display for Singularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAngle => "the identity rotation has no axis",
            Self::GimbalLock => {
                "the first and the third axis of the Euler angles coincide: their rates are undefined"
            }
            Self::Opposite => {
                "the two directions are opposite: the smallest rotation between them is undefined"
            }
            Self::UpsideDown => "the body is upside down: its yaw is undefined",
            Self::NotFinite => "a number is not finite",
        })
    }
}

impl core::error::Error for Singularity {}

impl<T: RealField> fmt::Display for NotInGroup<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => f.write_str("the matrix has an entry that is not a finite number"),
            Self::NotOrthonormal {
                deviation,
                tolerance,
            } => write!(
                f,
                "the rotation's columns are not orthonormal: an entry of R^T R differs from the identity's by {deviation}, at most {tolerance} is allowed"
            ),
            Self::Reflection => {
                f.write_str("the matrix is a reflection: its determinant is -1, a rotation's is +1")
            }
            Self::BottomRow => f.write_str("the last row of a pose's matrix must be 0 0 0 1"),
            Self::Zero => f.write_str("all numbers are zero: there is no direction to normalise"),
        }
    }
}

impl<T: RealField> core::error::Error for NotInGroup<T> {}
