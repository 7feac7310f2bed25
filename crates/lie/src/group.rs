//! What every group of this crate has: one small trait, and what follows from it.

use core::fmt::Debug;
use core::ops::{Add, Mul, Neg, Sub};

use nalgebra::{RealField, SMatrix, SVector};

/// A fixed number of coordinates: of a tangent vector, or of a point that a group acts on.
///
/// Implemented by [`SVector`] and, for direct products, by [`Pair`](crate::Pair).
pub trait Coordinates<T>:
    Copy
    + Debug
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Neg<Output = Self>
    + Mul<T, Output = Self>
{
    /// How many there are.
    const DIM: usize;

    /// The vector whose entry `i` is `entry(i)`, called in order.
    fn from_fn(entry: impl FnMut(usize) -> T) -> Self;

    /// Entry `i`.
    ///
    /// # Panics
    /// If `i >= DIM`.
    fn entry(&self, i: usize) -> T;
}

impl<T: RealField + Copy, const N: usize> Coordinates<T> for SVector<T, N> {
    const DIM: usize = N;

    #[inline]
    fn from_fn(mut entry: impl FnMut(usize) -> T) -> Self {
        Self::from_fn(|i, _| entry(i))
    }

    #[inline]
    fn entry(&self, i: usize) -> T {
        self[i]
    }
}

/// A linear map of the tangent vectors to themselves: an adjoint or a Jacobian.
///
/// Implemented by [`SMatrix`] and, for direct products, whose maps are block diagonal, by [`Pair`](crate::Pair).
pub trait Operator<T>:
    Copy
    + Debug
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Neg<Output = Self>
    + Mul<T, Output = Self>
    + Mul<Self, Output = Self>
{
    /// What it maps.
    type Coordinates: Coordinates<T>;

    /// The map that changes nothing.
    fn identity() -> Self;

    /// The map applied to a vector.
    fn apply(&self, x: &Self::Coordinates) -> Self::Coordinates;

    /// The transposed map.
    #[must_use]
    fn transpose(&self) -> Self;

    /// The entry in row `i` and column `j`.
    ///
    /// # Panics
    /// If `i` or `j` is not below the dimension.
    fn entry(&self, i: usize, j: usize) -> T;
}

impl<T: RealField + Copy, const N: usize> Operator<T> for SMatrix<T, N, N> {
    type Coordinates = SVector<T, N>;

    #[inline]
    fn identity() -> Self {
        Self::identity()
    }

    #[inline]
    fn apply(&self, x: &SVector<T, N>) -> SVector<T, N> {
        self * x
    }

    #[inline]
    fn transpose(&self) -> Self {
        self.transpose()
    }

    #[inline]
    fn entry(&self, i: usize, j: usize) -> T {
        self[(i, j)]
    }
}

/// A Lie group with its algebra, in coordinates.
///
/// The conventions are those at the top of the crate: `x` are coordinates of the algebra; velocities are of the body,
/// `d/dt g = g hat(x)`, and "right" means just that.
///
/// ```
/// use fly_lie::{LieGroup, SE3, SO3};
/// use nalgebra::RealField;
///
/// /// Half way between two elements of any group.
/// fn middle<T: RealField + Copy, G: LieGroup<T>>(a: &G, b: &G) -> G {
///     a.interpolate(b, nalgebra::convert(0.5))
/// }
///
/// let a = SO3::<f64>::identity();
/// let b = SO3::exp(&nalgebra::Vector3::new(0.0, 0.0, 1.0));
/// assert!((middle(&a, &b).log().z - 0.5).abs() < 1e-15);
/// ```
pub trait LieGroup<T: RealField + Copy>: Copy + Debug + PartialEq + Mul<Output = Self> {
    /// Coordinates of the algebra, such as a twist.
    type Tangent: Coordinates<T>;
    /// Linear maps of them: adjoints and Jacobians.
    type Operator: Operator<T, Coordinates = Self::Tangent>;
    /// Elements of the algebra themselves: a matrix, or the coordinates where there is no better form.
    type Algebra: Copy + Debug + PartialEq;
    /// What the group acts on.
    type Point: Coordinates<T>;

    /// The dimension of the group.
    const DOF: usize = <Self::Tangent as Coordinates<T>>::DIM;

    /// The neutral element.
    fn identity() -> Self;

    /// The product `self other`: first `other`, then `self`.
    #[must_use]
    #[inline]
    fn compose(&self, other: &Self) -> Self {
        *self * *other
    }

    /// The inverse element.
    #[must_use]
    fn inverse(&self) -> Self;

    /// The point where `point` is taken.
    fn act(&self, point: &Self::Point) -> Self::Point;

    /// From coordinates to the algebra.
    fn hat(x: &Self::Tangent) -> Self::Algebra;

    /// From the algebra to coordinates.
    fn vee(X: &Self::Algebra) -> Self::Tangent;

    /// The element reached in unit time with constant velocity `x`.
    fn exp(x: &Self::Tangent) -> Self;

    /// The principal coordinates with `exp(x) = self`, rotation angles at most `pi`.
    fn log(&self) -> Self::Tangent;

    /// `J_l`: `d/dt exp(x) = hat(J_l x_dot) exp(x)`.
    fn left_jacobian(x: &Self::Tangent) -> Self::Operator;

    /// `J_r = J_l(-x)`: `d/dt exp(x) = exp(x) hat(J_r x_dot)`.
    #[inline]
    fn right_jacobian(x: &Self::Tangent) -> Self::Operator {
        Self::left_jacobian(&-*x)
    }

    /// The inverse of the left Jacobian, for angles below `2 pi`.
    fn left_jacobian_inverse(x: &Self::Tangent) -> Self::Operator;

    /// The inverse of the right Jacobian, for angles below `2 pi`.
    #[inline]
    fn right_jacobian_inverse(x: &Self::Tangent) -> Self::Operator {
        Self::left_jacobian_inverse(&-*x)
    }

    /// `Ad`: `hat(Ad x) = self hat(x) self^-1`, Konz (4.51).
    fn adjoint(&self) -> Self::Operator;

    /// `ad`: `hat(ad(x) y) = hat(x) hat(y) - hat(y) hat(x)`, Konz (4.51), whose second product is misprinted as the first.
    fn ad(x: &Self::Tangent) -> Self::Operator;

    /// `self exp(x)`: the element reached from here in unit time with the constant body velocity `x`.
    #[must_use]
    #[inline]
    fn integrate(&self, x: &Self::Tangent) -> Self {
        *self * Self::exp(x)
    }

    /// `log(self^-1 other)`: the body velocity that leads from here to `other` in unit time.
    #[inline]
    fn difference(&self, other: &Self) -> Self::Tangent {
        (self.inverse() * *other).log()
    }

    /// The element at `t` of the way from here (0) to `other` (1), with constant body velocity.
    #[must_use]
    #[inline]
    fn interpolate(&self, other: &Self, t: T) -> Self {
        self.integrate(&(self.difference(other) * t))
    }

    /// The derivatives of [`integrate`](Self::integrate) with respect to `self` and to `x`: `(Ad(exp(-x)), J_r(x))`.
    ///
    /// Changes of group elements are body-fixed here and below: `g` moves to `g exp(dg)`.
    #[inline]
    fn integrate_jacobians(x: &Self::Tangent) -> (Self::Operator, Self::Operator) {
        (Self::exp(&-*x).adjoint(), Self::right_jacobian(x))
    }

    /// The derivatives of [`difference`](Self::difference) `d` with respect to `self` and to `other`:
    /// `(-J_l(d)^-1, J_r(d)^-1)`.
    #[inline]
    fn difference_jacobians(&self, other: &Self) -> (Self::Operator, Self::Operator) {
        let d = self.difference(other);
        (
            -Self::left_jacobian_inverse(&d),
            Self::right_jacobian_inverse(&d),
        )
    }

    /// The derivatives of [`interpolate`](Self::interpolate) with respect to `self` and to `other`.
    ///
    /// With `d` the difference: `(Ad(exp(-t d)) - t J_r(t d) J_l(d)^-1, t J_r(t d) J_r(d)^-1)`.
    #[inline]
    fn interpolate_jacobians(&self, other: &Self, t: T) -> (Self::Operator, Self::Operator) {
        let d = self.difference(other);
        let (by_start, by_step) = Self::integrate_jacobians(&(d * t));
        let by_step = by_step * t;
        (
            by_start - by_step * Self::left_jacobian_inverse(&d),
            by_step * Self::right_jacobian_inverse(&d),
        )
    }
}

/// The trait for a group whose own methods have the same names: `$d` coordinates, points of `$p`.
macro_rules! lie_group {
    ($group:ident, $d:literal, $algebra:ty, $p:literal) => {
        impl<T: nalgebra::RealField + Copy> $crate::LieGroup<T> for $group<T> {
            type Tangent = nalgebra::SVector<T, $d>;
            type Operator = nalgebra::SMatrix<T, $d, $d>;
            type Algebra = $algebra;
            type Point = nalgebra::SVector<T, $p>;

            #[inline]
            fn identity() -> Self {
                $group::identity()
            }
            #[inline]
            fn inverse(&self) -> Self {
                $group::inverse(self)
            }
            #[inline]
            fn act(&self, point: &Self::Point) -> Self::Point {
                $group::act(self, point)
            }
            #[inline]
            fn hat(x: &Self::Tangent) -> Self::Algebra {
                $group::hat(x)
            }
            #[inline]
            fn vee(X: &Self::Algebra) -> Self::Tangent {
                $group::vee(X)
            }
            #[inline]
            fn exp(x: &Self::Tangent) -> Self {
                $group::exp(x)
            }
            #[inline]
            fn log(&self) -> Self::Tangent {
                $group::log(self)
            }
            #[inline]
            fn left_jacobian(x: &Self::Tangent) -> Self::Operator {
                $group::<T>::left_jacobian(x)
            }
            #[inline]
            fn left_jacobian_inverse(x: &Self::Tangent) -> Self::Operator {
                $group::<T>::left_jacobian_inverse(x)
            }
            #[inline]
            fn adjoint(&self) -> Self::Operator {
                $group::adjoint(self)
            }
            #[inline]
            fn ad(x: &Self::Tangent) -> Self::Operator {
                $group::<T>::ad(x)
            }
        }
    };
}
pub(crate) use lie_group;
