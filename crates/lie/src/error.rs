//! What a matrix from outside can lack to be in a group.

use core::fmt;

use nalgebra::RealField;

/// Why a matrix is not a rotation or a pose.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum NotInGroup<T> {
    /// An entry is infinite or not a number.
    NotFinite,
    /// The columns are not orthonormal: the largest entry of `R^T R - I`, and what was allowed.
    NotOrthonormal {
        /// The largest absolute entry of `R^T R - I`.
        deviation: T,
        /// The largest that was allowed.
        tolerance: T,
    },
    /// The determinant is -1: a mirror image, no rotation.
    Reflection,
    /// The last row of a pose's matrix is not `0 0 0 1`.
    BottomRow,
    /// All numbers are zero, so that there is no direction to normalise.
    Zero,
}

/// Where a parameterisation of attitudes has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Singularity {
    /// A rotation by no angle has no axis.
    NoAngle,
    /// The first and the third axis of an Euler sequence coincide.
    GimbalLock,
    /// Two opposite directions: infinitely many smallest rotations lead from one to the other.
    Opposite,
    /// The body is upside down: its yaw is undefined.
    UpsideDown,
    /// A number is infinite or not a number.
    NotFinite,
}

impl fmt::Display for Singularity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoAngle => "a rotation by no angle has no axis",
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
