//! Direct products of groups.

use core::ops::{Add, Mul, Neg, Sub};

use nalgebra::RealField;

use crate::{CoordinateVector, LieGroup, Operator};

/// The direct product of two groups: a vehicle and its arm, a cylindrical joint.
///
/// Nested products give any number of factors. The adjoint and the Jacobians of a product are block diagonal and stored as
/// their blocks, a [`Pair`].
///
/// ```
/// use fly_lie::{LieGroup, Pair, Product, Rn, SO3};
/// use nalgebra::{Vector1, Vector3};
///
/// type Arm = Product<SO3<f64>, Rn<f64, 1>>;
/// let x = Pair(Vector3::new(0.1, 0.2, 0.3), Vector1::new(0.5));
/// assert_eq!(<Arm as LieGroup<f64>>::DOF, 4);
/// assert!((Arm::exp(&x).log().0 - x.0).norm() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Product<A, B>(
    /// The first factor.
    pub A,
    /// The second factor.
    pub B,
);

/// A pair: the coordinates, points or block-diagonal operators of a [`Product`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pair<A, B>(
    /// The part of the first factor.
    pub A,
    /// The part of the second factor.
    pub B,
);

impl<A: Add<Output = A>, B: Add<Output = B>> Add for Pair<A, B> {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }
}

impl<A: Sub<Output = A>, B: Sub<Output = B>> Sub for Pair<A, B> {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0, self.1 - other.1)
    }
}

impl<A: Neg<Output = A>, B: Neg<Output = B>> Neg for Pair<A, B> {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}

/// Multiplies by a number.
impl<T: RealField + Copy, A: Mul<T, Output = A>, B: Mul<T, Output = B>> Mul<T> for Pair<A, B> {
    type Output = Self;

    #[inline]
    fn mul(self, factor: T) -> Self {
        Self(self.0 * factor, self.1 * factor)
    }
}

/// Block by block.
impl<A: Mul<Output = A>, B: Mul<Output = B>> Mul<Pair<A, B>> for Pair<A, B> {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0, self.1 * other.1)
    }
}

impl<T: RealField + Copy, A: CoordinateVector<T>, B: CoordinateVector<T>> CoordinateVector<T>
    for Pair<A, B>
{
    const DIM: usize = A::DIM + B::DIM;

    #[inline]
    fn from_fn(mut entry: impl FnMut(usize) -> T) -> Self {
        let first = A::from_fn(&mut entry);
        Self(first, B::from_fn(|i| entry(A::DIM + i)))
    }

    #[inline]
    fn entry(&self, i: usize) -> T {
        if i < A::DIM {
            self.0.entry(i)
        } else {
            self.1.entry(i - A::DIM)
        }
    }
}

impl<T: RealField + Copy, A: Operator<T>, B: Operator<T>> Operator<T> for Pair<A, B> {
    type Coordinates = Pair<A::Coordinates, B::Coordinates>;

    #[inline]
    fn identity() -> Self {
        Self(A::identity(), B::identity())
    }

    fn from_columns(mut column: impl FnMut(usize) -> Self::Coordinates) -> Self {
        let first = A::from_columns(|j| column(j).0);
        Self(
            first,
            B::from_columns(|j| column(A::Coordinates::DIM + j).1),
        )
    }

    #[inline]
    fn apply(&self, x: &Self::Coordinates) -> Self::Coordinates {
        Pair(self.0.apply(&x.0), self.1.apply(&x.1))
    }

    #[inline]
    fn transpose(&self) -> Self {
        Self(self.0.transpose(), self.1.transpose())
    }

    fn entry(&self, i: usize, j: usize) -> T {
        let n = A::Coordinates::DIM;
        match (i < n, j < n) {
            (true, true) => self.0.entry(i, j),
            (false, false) => self.1.entry(i - n, j - n),
            _ => T::zero(),
        }
    }
}

impl<A: Mul<Output = A>, B: Mul<Output = B>> Mul for Product<A, B> {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0, self.1 * other.1)
    }
}

impl<T: RealField + Copy, A: LieGroup<T>, B: LieGroup<T>> LieGroup<T> for Product<A, B> {
    type Tangent = Pair<A::Tangent, B::Tangent>;
    type Operator = Pair<A::Operator, B::Operator>;
    type Algebra = Pair<A::Algebra, B::Algebra>;
    type Point = Pair<A::Point, B::Point>;

    #[inline]
    fn identity() -> Self {
        Self(A::identity(), B::identity())
    }

    #[inline]
    fn inverse(&self) -> Self {
        Self(self.0.inverse(), self.1.inverse())
    }

    #[inline]
    fn act(&self, point: &Self::Point) -> Self::Point {
        Pair(self.0.act(&point.0), self.1.act(&point.1))
    }

    #[inline]
    fn hat(x: &Self::Tangent) -> Self::Algebra {
        Pair(A::hat(&x.0), B::hat(&x.1))
    }

    #[inline]
    fn vee(X: &Self::Algebra) -> Self::Tangent {
        Pair(A::vee(&X.0), B::vee(&X.1))
    }

    #[inline]
    fn exp(x: &Self::Tangent) -> Self {
        Self(A::exp(&x.0), B::exp(&x.1))
    }

    #[inline]
    fn log(&self) -> Self::Tangent {
        Pair(self.0.log(), self.1.log())
    }

    #[inline]
    fn left_jacobian(x: &Self::Tangent) -> Self::Operator {
        Pair(A::left_jacobian(&x.0), B::left_jacobian(&x.1))
    }

    #[inline]
    fn left_jacobian_inverse(x: &Self::Tangent) -> Self::Operator {
        Pair(
            A::left_jacobian_inverse(&x.0),
            B::left_jacobian_inverse(&x.1),
        )
    }

    #[inline]
    fn adjoint(&self) -> Self::Operator {
        Pair(self.0.adjoint(), self.1.adjoint())
    }

    #[inline]
    fn ad(x: &Self::Tangent) -> Self::Operator {
        Pair(A::ad(&x.0), B::ad(&x.1))
    }
}
