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
}

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
        }
    }
}

impl<T: RealField> core::error::Error for NotInGroup<T> {}
