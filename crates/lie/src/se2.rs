//! The group of planar motion, SE(2).

use core::ops::Mul;

use nalgebra::{Matrix2, Matrix3, RealField, Vector2, Vector3, convert};

use crate::coefficients::{Coefficients, inverse_coefficient};
use crate::group::lie_group;
use crate::{NotInGroup, SO2};

/// A pose in the plane; twists are `[v_x, v_y, omega]`, as in From I (77).
///
/// ```
/// use fly_lie::SE2;
/// use nalgebra::Vector3;
///
/// // A car drives a quarter of a circle of radius 1 to the left.
/// let quarter = std::f64::consts::FRAC_PI_2;
/// let pose = SE2::exp(&Vector3::new(quarter, 0.0, quarter));
/// assert!((pose.translation.x - 1.0).abs() < 1e-15 && (pose.translation.y - 1.0).abs() < 1e-15);
/// assert!((pose.log() - Vector3::new(quarter, 0.0, quarter)).norm() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(bound(
        serialize = "T: serde::Serialize",
        deserialize = "T: serde::Deserialize<'de>"
    ))
)]
pub struct SE2<T: RealField + Copy> {
    /// The heading.
    pub rotation: SO2<T>,
    /// The position of the body's origin, in coordinates of the reference frame.
    pub translation: Vector2<T>,
}

/// # Parameters
impl<T: RealField + Copy> SE2<T> {
    /// The pose with this heading and position.
    #[inline]
    pub fn new(rotation: SO2<T>, translation: Vector2<T>) -> Self {
        Self {
            rotation,
            translation,
        }
    }

    /// The pose of a 3x3 matrix `[[R, r], [0, 1]]`, checked within `tolerance`.
    ///
    /// # Errors
    /// [`NotInGroup`], as [`SE3::try_from_matrix`](crate::SE3::try_from_matrix).
    ///
    /// ```
    /// use fly_lie::{NotInGroup, SE2};
    /// use nalgebra::Matrix3;
    ///
    /// let quarter = Matrix3::new(0.0, -1.0, 3.0, 1.0, 0.0, 4.0, 0.0, 0.0, 1.0);
    /// let pose = SE2::try_from_matrix(&quarter, 1e-12)?;
    /// assert_eq!((pose.rotation.cos_sin(), pose.translation.y), ((0.0, 1.0), 4.0));
    /// assert!(SE2::try_from_matrix(&(quarter * 2.0), 1e-12).is_err());
    /// # Ok::<(), NotInGroup<f64>>(())
    /// ```
    pub fn try_from_matrix(matrix: &Matrix3<T>, tolerance: T) -> Result<Self, NotInGroup<T>> {
        if !matrix.iter().all(nalgebra::ComplexField::is_finite) {
            return Err(NotInGroup::NotFinite);
        }
        let R: Matrix2<T> = matrix.fixed_view::<2, 2>(0, 0).into_owned();
        let deviation = (R.transpose() * R - Matrix2::identity()).amax();
        if deviation > tolerance {
            return Err(NotInGroup::NotOrthonormal {
                deviation,
                tolerance,
            });
        }
        if R.determinant() < T::zero() {
            return Err(NotInGroup::Reflection);
        }
        if (matrix.row(2) - Matrix3::identity().row(2)).amax() > tolerance {
            return Err(NotInGroup::BottomRow);
        }
        Ok(Self::new(
            SO2::try_from_cos_sin(R[(0, 0)] + R[(1, 1)], R[(1, 0)] - R[(0, 1)])?,
            Vector2::new(matrix[(0, 2)], matrix[(1, 2)]),
        ))
    }

    /// The 3x3 matrix `[[R, r], [0, 1]]`.
    #[inline]
    #[rustfmt::skip]
    pub fn matrix(&self) -> Matrix3<T> {
        let ((c, s), r) = (self.rotation.cos_sin(), &self.translation);
        let (o, one) = (T::zero(), T::one());
        Matrix3::new(
            c, -s, r.x,
            s,  c, r.y,
            o,  o, one,
        )
    }
}

/// # Group structure
impl<T: RealField + Copy> SE2<T> {
    /// The identity: the reference frame itself.
    #[inline]
    pub fn identity() -> Self {
        Self::new(SO2::identity(), Vector2::zeros())
    }

    /// The pose of the reference frame in the body.
    #[must_use]
    #[inline]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.inverse();
        Self::new(rotation, -rotation.act(&self.translation))
    }

    /// The point with body coordinates `point`, in coordinates of the reference frame.
    #[inline]
    pub fn act(&self, point: &Vector2<T>) -> Vector2<T> {
        self.rotation.act(point) + self.translation
    }
}

impl<T: RealField + Copy> Mul for SE2<T> {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self::new(self.rotation * other.rotation, self.act(&other.translation))
    }
}

/// # Hat and vee
impl<T: RealField + Copy> SE2<T> {
    /// From a twist `[v_x, v_y, omega]` to the algebra se(2), From I (78).
    #[inline]
    #[rustfmt::skip]
    pub fn hat(x: &Vector3<T>) -> Matrix3<T> {
        let o = T::zero();
        Matrix3::new(
            o,   -x.z, x.x,
            x.z,  o,   x.y,
            o,    o,   o,
        )
    }

    /// From the algebra se(2) to a twist.
    #[inline]
    pub fn vee(X: &Matrix3<T>) -> Vector3<T> {
        let half: T = convert(0.5);
        Vector3::new(X[(0, 2)], X[(1, 2)], (X[(1, 0)] - X[(0, 1)]) * half)
    }
}

/// # Exponential and logarithm
impl<T: RealField + Copy> SE2<T> {
    /// The pose reached in unit time with the constant body twist `[v_x, v_y, omega]`.
    #[inline]
    pub fn exp(x: &Vector3<T>) -> Self {
        let w = x.z;
        let k = Coefficients::new(w * w);
        let bw = k.b * w;
        // The left Jacobian of a planar rotation, (sin w / w) I + ((1 - cos w) / w) E, applied to the velocity.
        let rotation = SO2::from_angle(w);
        let translation = Vector2::new(k.a * x.x - bw * x.y, bw * x.x + k.a * x.y);
        Self::new(rotation, translation)
    }

    /// The principal twist with `exp(x) = self` and a rotation angle of at most `pi`.
    #[inline]
    pub fn log(&self) -> Vector3<T> {
        let w = self.rotation.angle();
        let p = T::one() - inverse_coefficient(w * w) * w * w;
        let h = w * convert(0.5);
        let r = &self.translation;
        Vector3::new(p * r.x + h * r.y, p * r.y - h * r.x, w)
    }
}

/// # Jacobians
impl<T: RealField + Copy> SE2<T> {
    /// `J_l = I + b ad + c ad²`: `d/dt exp(x) = hat(J_l x_dot) exp(x)`, with the same `b`, `c` as for SO(3).
    #[inline]
    pub fn left_jacobian(x: &Vector3<T>) -> Matrix3<T> {
        let k = Coefficients::new(x.z * x.z);
        polynomial_of_ad(x, k.a, k.b, k.c)
    }

    /// `J_r = J_l(-x)`: `d/dt exp(x) = exp(x) hat(J_r x_dot)`.
    ///
    /// This is the matrix S of From I, Table 2; its first order in (79) and (90) is misprinted with a plus: it is `I - ad/2`.
    #[inline]
    pub fn right_jacobian(x: &Vector3<T>) -> Matrix3<T> {
        Self::left_jacobian(&-x)
    }

    /// The inverse of the left Jacobian, `I - ad/2 + d ad²`; it exists for `|omega| < 2 pi`.
    #[inline]
    pub fn left_jacobian_inverse(x: &Vector3<T>) -> Matrix3<T> {
        let d = inverse_coefficient(x.z * x.z);
        polynomial_of_ad(x, T::one() - d * x.z * x.z, convert(-0.5), d)
    }

    /// The inverse of the right Jacobian; it exists for `|omega| < 2 pi`.
    #[inline]
    pub fn right_jacobian_inverse(x: &Vector3<T>) -> Matrix3<T> {
        Self::left_jacobian_inverse(&-x)
    }
}

/// # Adjoint
impl<T: RealField + Copy> SE2<T> {
    /// `Ad`: `[[R, [r_y, -r_x]], [0, 1]]`.
    #[inline]
    #[rustfmt::skip]
    pub fn adjoint(&self) -> Matrix3<T> {
        let ((c, s), r) = (self.rotation.cos_sin(), &self.translation);
        let (o, one) = (T::zero(), T::one());
        Matrix3::new(
            c, -s,  r.y,
            s,  c, -r.x,
            o,  o,  one,
        )
    }

    /// `ad`, From I (78).
    #[inline]
    #[rustfmt::skip]
    pub fn ad(x: &Vector3<T>) -> Matrix3<T> {
        let o = T::zero();
        Matrix3::new(
            o,   -x.z,  x.y,
            x.z,  o,   -x.x,
            o,    o,    o,
        )
    }
}

/// `I + q ad + r ad²`, where `p = 1 - r omega²`.
#[inline]
#[rustfmt::skip]
fn polynomial_of_ad<T: RealField + Copy>(x: &Vector3<T>, p: T, q: T, r: T) -> Matrix3<T> {
    let (qw, rw, o) = (q * x.z, r * x.z, T::zero());
    Matrix3::new(
        p, -qw, q * x.y + rw * x.x,
        qw, p, rw * x.y - q * x.x,
        o,  o,  T::one(),
    )
}

lie_group!(SE2, 3, Matrix3<T>, 2);
