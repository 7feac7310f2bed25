//! Translations, R^n.

use core::ops::Mul;

use nalgebra::{RealField, SMatrix, SVector};

use crate::LieGroup;

/// A translation in `N` dimensions, or any additive group of `N` numbers: R, R² and R³ of From I, Table 1, and
/// prismatic joints.
///
/// The group is its own algebra: exponential, logarithm, hat and vee are identities. (From I, Table 1, prints a rotation
/// `r` in the algebra of R³; it is zero there, and `ad` is the 3x3 zero.)
///
/// ```
/// use fly_lie::{LieGroup, Rn};
/// use nalgebra::Vector2;
///
/// let (a, b) = (Rn(Vector2::new(1.0, 2.0)), Rn(Vector2::new(3.0, 2.0)));
/// assert_eq!(a.interpolate(&b, 0.5), Rn(Vector2::new(2.0, 2.0)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(
        transparent,
        bound(
            serialize = "T: serde::Serialize",
            deserialize = "T: serde::Deserialize<'de>"
        )
    )
)]
pub struct Rn<T: RealField + Copy, const N: usize>(
    /// The translation.
    pub SVector<T, N>,
);

impl<T: RealField + Copy, const N: usize> Mul for Rn<T, N> {
    type Output = Self;

    #[expect(
        clippy::suspicious_arithmetic_impl,
        reason = "the group's product is the sum"
    )]
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl<T: RealField + Copy, const N: usize> LieGroup<T> for Rn<T, N> {
    type Tangent = SVector<T, N>;
    type Operator = SMatrix<T, N, N>;
    type Algebra = SVector<T, N>;
    type Point = SVector<T, N>;

    #[inline]
    fn identity() -> Self {
        Self(SVector::zeros())
    }

    #[inline]
    fn inverse(&self) -> Self {
        Self(-self.0)
    }

    #[inline]
    fn act(&self, point: &Self::Point) -> Self::Point {
        self.0 + point
    }

    #[inline]
    fn hat(x: &Self::Tangent) -> Self::Algebra {
        *x
    }

    #[inline]
    fn vee(X: &Self::Algebra) -> Self::Tangent {
        *X
    }

    #[inline]
    fn exp(x: &Self::Tangent) -> Self {
        Self(*x)
    }

    #[inline]
    fn log(&self) -> Self::Tangent {
        self.0
    }

    #[inline]
    fn left_jacobian(_: &Self::Tangent) -> Self::Operator {
        SMatrix::identity()
    }

    #[inline]
    fn left_jacobian_inverse(_: &Self::Tangent) -> Self::Operator {
        SMatrix::identity()
    }

    #[inline]
    fn adjoint(&self) -> Self::Operator {
        SMatrix::identity()
    }

    #[inline]
    fn ad(_: &Self::Tangent) -> Self::Operator {
        SMatrix::zeros()
    }
}
