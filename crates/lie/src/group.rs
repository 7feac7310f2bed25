//! The trait that every group of this crate implements, and what follows from it.

use core::fmt::Debug;
use core::ops::Mul;

use nalgebra::RealField;

use crate::{CoordinateVector, Operator};

/// A Lie group with its algebra, in coordinates.
///
/// The conventions are those at the top of the crate: `x` are coordinates of the algebra, and velocities are body
/// velocities, `d/dt g = g hat(x)`, which is the meaning of "right".
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
    type Tangent: CoordinateVector<T>;
    /// Linear maps of tangent vectors: adjoints and Jacobians.
    type Operator: Operator<T, Coordinates = Self::Tangent>;
    /// Elements of the algebra: a matrix, or the coordinates if there is no better form.
    type Algebra: Copy + Debug + PartialEq;
    /// The points on which the group acts.
    type Point: CoordinateVector<T>;

    /// The dimension of the group.
    const DOF: usize = <Self::Tangent as CoordinateVector<T>>::DIM;

    /// The neutral element.
    ///
    /// ```
    /// use fly_lie::SE2;
    /// use nalgebra::Vector3;
    ///
    /// let pose = SE2::exp(&Vector3::new(1.0, 2.0, 0.3));
    /// assert_eq!(pose * SE2::identity(), pose);
    /// ```
    fn identity() -> Self;

    /// The product `self other`: first `other`, then `self`.
    ///
    /// ```
    /// use fly_lie::{LieGroup, SE2};
    /// use nalgebra::{Vector2, Vector3};
    ///
    /// // Turned left, then ahead as the body sees it: along the reference's y.
    /// let left = SE2::exp(&Vector3::new(0.0, 0.0, std::f64::consts::FRAC_PI_2));
    /// let ahead = SE2::exp(&Vector3::new(1.0, 0.0, 0.0));
    /// assert!((left.compose(&ahead).translation - Vector2::y()).norm() < 1e-15);
    /// assert_eq!(left.compose(&ahead), left * ahead);
    /// ```
    #[must_use]
    #[inline]
    fn compose(&self, other: &Self) -> Self {
        *self * *other
    }

    /// The inverse element.
    ///
    /// ```
    /// use fly_lie::SE3;
    /// use nalgebra::{Matrix4, Vector6};
    ///
    /// let pose = SE3::exp(&Vector6::new(1.0, 2.0, 3.0, 0.4, 0.5, 0.6));
    /// assert!(((pose * pose.inverse()).matrix() - Matrix4::identity()).norm() < 1e-14);
    /// ```
    #[must_use]
    fn inverse(&self) -> Self;

    /// The image of `point`.
    ///
    /// ```
    /// use fly_lie::{SE3, SO3};
    /// use nalgebra::Vector3;
    ///
    /// // From body coordinates to those of the reference frame.
    /// let pose = SE3::new(SO3::exp(&(Vector3::z() * std::f64::consts::PI)), Vector3::z());
    /// assert!((pose.act(&Vector3::x()) - Vector3::new(-1.0, 0.0, 1.0)).norm() < 1e-15);
    /// ```
    fn act(&self, point: &Self::Point) -> Self::Point;

    /// From coordinates to the algebra.
    ///
    /// ```
    /// use fly_lie::SE2;
    /// use nalgebra::{Matrix3, Vector3};
    ///
    /// let twist = Vector3::new(1.0, 2.0, 3.0);
    /// let matrix = Matrix3::new(0.0, -3.0, 1.0, 3.0, 0.0, 2.0, 0.0, 0.0, 0.0);
    /// assert_eq!(SE2::hat(&twist), matrix);
    /// assert_eq!(SE2::vee(&matrix), twist);
    /// ```
    fn hat(x: &Self::Tangent) -> Self::Algebra;

    /// From the algebra to coordinates.
    ///
    /// ```
    /// use fly_lie::SO3;
    /// use nalgebra::Vector3;
    ///
    /// let w = Vector3::new(0.1, 0.2, 0.3);
    /// assert_eq!(SO3::vee(&SO3::hat(&w)), w);
    /// ```
    fn vee(X: &Self::Algebra) -> Self::Tangent;

    /// The element reached in unit time from the identity at the constant velocity `x`.
    ///
    /// ```
    /// use fly_lie::SO3;
    /// use nalgebra::Vector3;
    ///
    /// // A third of a turn about the diagonal exchanges the axes.
    /// let turn = SO3::exp(&(Vector3::repeat(1.0_f64).normalize() * std::f64::consts::TAU / 3.0));
    /// assert!((turn.act(&Vector3::x()) - Vector3::y()).norm() < 1e-15);
    /// ```
    fn exp(x: &Self::Tangent) -> Self;

    /// The principal coordinates with `exp(x) = self`, with rotation angles of at most `pi`.
    ///
    /// ```
    /// use fly_lie::UnitQuaternion;
    /// use nalgebra::Vector3;
    ///
    /// // The shortest way: three quarters of a turn to the left are one to the right.
    /// let quarter = std::f64::consts::FRAC_PI_2;
    /// let turn = UnitQuaternion::exp(&(Vector3::z() * 3.0 * quarter));
    /// assert!((turn.log() + Vector3::z() * quarter).norm() < 1e-15);
    /// ```
    fn log(&self) -> Self::Tangent;

    /// `J_l`: `d/dt exp(x) = hat(J_l x_dot) exp(x)`.
    ///
    /// ```
    /// use fly_lie::SO3;
    /// use nalgebra::Vector3;
    ///
    /// let (x, dx) = (Vector3::new(0.3, -1.0, 2.0), Vector3::new(1e-7, 2e-7, 0.0));
    /// let moved = SO3::exp(&(SO3::left_jacobian(&x) * dx)) * SO3::exp(&x);
    /// assert!((moved.matrix() - SO3::exp(&(x + dx)).matrix()).norm() < 1e-13);
    /// ```
    fn left_jacobian(x: &Self::Tangent) -> Self::Operator;

    /// `J_r = J_l(-x)`: `d/dt exp(x) = exp(x) hat(J_r x_dot)`.
    ///
    /// ```
    /// use fly_lie::SE3;
    /// use nalgebra::Vector6;
    ///
    /// let x = Vector6::new(1.0, 2.0, 3.0, 0.3, -1.0, 2.0);
    /// let dx = Vector6::new(1e-7, 0.0, -1e-7, 0.0, 1e-7, 2e-7);
    /// let moved = SE3::exp(&x) * SE3::exp(&(SE3::right_jacobian(&x) * dx));
    /// assert!((moved.matrix() - SE3::exp(&(x + dx)).matrix()).norm() < 1e-12);
    /// ```
    #[inline]
    fn right_jacobian(x: &Self::Tangent) -> Self::Operator {
        Self::left_jacobian(&-*x)
    }

    /// The inverse of the left Jacobian, for angles below `2 pi`.
    ///
    /// ```
    /// use fly_lie::SE2;
    /// use nalgebra::{Matrix3, Vector3};
    ///
    /// let x = Vector3::new(1.0, 2.0, 3.0);
    /// let product = SE2::left_jacobian(&x) * SE2::left_jacobian_inverse(&x);
    /// assert!((product - Matrix3::identity()).norm() < 1e-15);
    /// ```
    fn left_jacobian_inverse(x: &Self::Tangent) -> Self::Operator;

    /// The inverse of the right Jacobian, for angles below `2 pi`.
    ///
    /// ```
    /// use fly_lie::SO3;
    /// use nalgebra::{Matrix3, Vector3};
    ///
    /// let x = Vector3::new(1.0, 2.0, 2.0);
    /// let product = SO3::right_jacobian(&x) * SO3::right_jacobian_inverse(&x);
    /// assert!((product - Matrix3::identity()).norm() < 1e-15);
    /// ```
    #[inline]
    fn right_jacobian_inverse(x: &Self::Tangent) -> Self::Operator {
        Self::left_jacobian_inverse(&-*x)
    }

    /// `Ad`: `hat(Ad x) = self hat(x) self^-1`, Konz (4.51).
    ///
    /// ```
    /// use fly_lie::SE3;
    /// use nalgebra::Vector6;
    ///
    /// // A step as the body sees it, and the same step as the reference frame does.
    /// let pose = SE3::exp(&Vector6::new(1.0, 2.0, 3.0, 0.3, -1.0, 2.0));
    /// let x = Vector6::new(0.1, 0.0, 0.0, 0.0, 0.0, 0.2);
    /// let same = SE3::exp(&(pose.adjoint() * x)) * pose;
    /// assert!(((pose * SE3::exp(&x)).matrix() - same.matrix()).norm() < 1e-14);
    /// ```
    fn adjoint(&self) -> Self::Operator;

    /// `ad`: `hat(ad(x) y) = hat(x) hat(y) - hat(y) hat(x)`, Konz (4.51), whose second product is misprinted as the first.
    ///
    /// ```
    /// use fly_lie::SE2;
    /// use nalgebra::Vector3;
    ///
    /// let (x, y) = (Vector3::new(1.0, 2.0, 3.0), Vector3::new(-1.0, 0.5, 2.0));
    /// let (X, Y) = (SE2::hat(&x), SE2::hat(&y));
    /// assert_eq!(SE2::hat(&(SE2::ad(&x) * y)), X * Y - Y * X);
    /// ```
    fn ad(x: &Self::Tangent) -> Self::Operator;

    /// `self exp(x)`: the element reached from this one in unit time at the constant body velocity `x`.
    ///
    /// ```
    /// use fly_lie::{LieGroup, SE2};
    /// use nalgebra::Vector3;
    ///
    /// // Four sides of a square, turning left by a quarter at the end of each.
    /// let (side, left) = (Vector3::x(), Vector3::z() * std::f64::consts::FRAC_PI_2);
    /// let mut pose = SE2::<f64>::identity();
    /// for _ in 0..4 {
    ///     pose = pose.integrate(&side).integrate(&left);
    /// }
    /// assert!((pose.matrix() - SE2::identity().matrix()).norm() < 1e-15);
    /// ```
    #[must_use]
    #[inline]
    fn integrate(&self, x: &Self::Tangent) -> Self {
        *self * Self::exp(x)
    }

    /// `log(self^-1 other)`: the constant body velocity that leads from this element to `other` in unit time.
    ///
    /// ```
    /// use fly_lie::{LieGroup, SO2};
    ///
    /// let (a, b) = (SO2::from_angle(3.0), SO2::from_angle(-3.0));
    /// assert!((a.difference(&b)[0] - (std::f64::consts::TAU - 6.0)).abs() < 1e-15, "across the half turn");
    /// ```
    #[inline]
    fn difference(&self, other: &Self) -> Self::Tangent {
        (self.inverse() * *other).log()
    }

    /// The element at the fraction `t` from this one (0) to `other` (1), at constant body velocity.
    ///
    /// ```
    /// use fly_lie::{LieGroup, SO3};
    /// use nalgebra::Vector3;
    ///
    /// let (a, b) = (SO3::exp(&Vector3::z()), SO3::exp(&(Vector3::z() * 2.0)));
    /// assert!((a.interpolate(&b, 0.25_f64).log().z - 1.25).abs() < 1e-15);
    /// ```
    #[must_use]
    #[inline]
    fn interpolate(&self, other: &Self, t: T) -> Self {
        self.integrate(&(self.difference(other) * t))
    }

    /// The derivatives of [`integrate`](Self::integrate) with respect to `self` and to `x`: `(Ad(exp(-x)), J_r(x))`.
    ///
    /// Variations of group elements are body-fixed here and below: `g` changes to `g exp(dg)`.
    ///
    /// ```
    /// use fly_lie::{LieGroup, SO3};
    /// use nalgebra::Vector3;
    ///
    /// let (R, x) = (SO3::exp(&Vector3::new(0.2, 0.1, -0.4)), Vector3::new(0.3, -1.0, 2.0));
    /// let (by_self, by_x) = SO3::integrate_jacobians(&x);
    /// let (d, dx) = (Vector3::new(1e-7, 0.0, 2e-7), Vector3::new(0.0, 3e-7, 1e-7));
    /// let moved = R.integrate(&d).integrate(&(x + dx));
    /// let change = R.integrate(&x).difference(&moved);
    /// assert!((change - (by_self * d + by_x * dx)).norm() < 1e-12);
    /// ```
    #[inline]
    fn integrate_jacobians(x: &Self::Tangent) -> (Self::Operator, Self::Operator) {
        (Self::exp(&-*x).adjoint(), Self::right_jacobian(x))
    }

    /// The derivatives of the [`difference`](Self::difference) `d` with respect to `self` and to `other`:
    /// `(-J_l(d)^-1, J_r(d)^-1)`.
    ///
    /// ```
    /// use fly_lie::{LieGroup, SO3};
    /// use nalgebra::Vector3;
    ///
    /// let (a, b) = (SO3::exp(&Vector3::new(0.2, 0.1, -0.4)), SO3::exp(&Vector3::new(1.0, 0.0, 1.0)));
    /// let (by_a, by_b) = a.difference_jacobians(&b);
    /// let (da, db) = (Vector3::new(1e-7, 0.0, 2e-7), Vector3::new(0.0, 3e-7, 1e-7));
    /// let change = a.integrate(&da).difference(&b.integrate(&db)) - a.difference(&b);
    /// assert!((change - (by_a * da + by_b * db)).norm() < 1e-12);
    /// ```
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
    ///
    /// ```
    /// use fly_lie::{LieGroup, SO3};
    /// use nalgebra::Vector3;
    ///
    /// let (a, b) = (SO3::exp(&Vector3::new(0.2, 0.1, -0.4)), SO3::exp(&Vector3::new(1.0, 0.0, 1.0)));
    /// let (by_a, by_b) = a.interpolate_jacobians(&b, 0.3);
    /// let (da, db) = (Vector3::new(1e-7, 0.0, 2e-7), Vector3::new(0.0, 3e-7, 1e-7));
    /// let moved = a.integrate(&da).interpolate(&b.integrate(&db), 0.3);
    /// let change = a.interpolate(&b, 0.3).difference(&moved);
    /// assert!((change - (by_a * da + by_b * db)).norm() < 1e-12);
    /// ```
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

/// Implements the trait for a group whose inherent methods have the same names: `$d` coordinates, points of `$p`.
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
            fn right_jacobian(x: &Self::Tangent) -> Self::Operator {
                $group::<T>::right_jacobian(x)
            }
            #[inline]
            fn left_jacobian_inverse(x: &Self::Tangent) -> Self::Operator {
                $group::<T>::left_jacobian_inverse(x)
            }
            #[inline]
            fn right_jacobian_inverse(x: &Self::Tangent) -> Self::Operator {
                $group::<T>::right_jacobian_inverse(x)
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
