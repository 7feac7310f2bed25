//! The rotation group as unit quaternions.

use core::ops::Mul;

use nalgebra::{Matrix3, RealField, Vector3, Vector4, convert};

use crate::coefficients::{half_angle, log_factor};
use crate::group::lie_group;
use crate::operators::{hat3, vee3};
use crate::{NotInGroup, SO3};

/// A rotation, stored as a unit quaternion `w, x, y, z`: [`SO3`] with half the memory and a cheaper product.
///
/// `q` and `-q` are the same rotation and compare equal. Either may be stored (a product need not choose);
/// [`wxyz`](Self::wxyz) returns the one with `w >= 0`.
///
/// ```
/// use fly_lie::{SO3, UnitQuaternion};
/// use nalgebra::Vector3;
///
/// let w = Vector3::new(0.3, -1.2, 0.4);
/// let q = UnitQuaternion::exp(&w);
/// assert!((q.log() - w).norm() < 1e-15);
/// assert!((SO3::from(q).matrix() - SO3::exp(&w).matrix()).norm() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(
        try_from = "[T; 4]",
        into = "[T; 4]",
        bound(
            serialize = "T: serde::Serialize",
            deserialize = "T: serde::Deserialize<'de>"
        )
    )
)]
pub struct UnitQuaternion<T: RealField + Copy> {
    w: T,
    xyz: Vector3<T>,
}

/// # Parameters
impl<T: RealField + Copy> UnitQuaternion<T> {
    /// The quaternion `[w, x, y, z]`, unchecked: the caller guarantees unit norm.
    #[inline]
    pub fn from_wxyz(wxyz: &Vector4<T>) -> Self {
        Self {
            w: wxyz[0],
            xyz: Vector3::new(wxyz[1], wxyz[2], wxyz[3]),
        }
    }

    /// The quaternion `[w, x, y, z]`, normalised from any nonzero norm.
    ///
    /// # Errors
    /// [`NotInGroup::NotFinite`], [`NotInGroup::Zero`].
    ///
    /// ```
    /// use fly_lie::{NotInGroup, UnitQuaternion};
    /// use nalgebra::Vector4;
    ///
    /// let q = UnitQuaternion::try_from_wxyz(&Vector4::new(0.0, 0.0, 3e300, 4e300))?;
    /// assert!((q.wxyz() - Vector4::new(0.0, 0.0, 0.6, 0.8)).norm() < 1e-15);
    /// assert_eq!(UnitQuaternion::try_from_wxyz(&Vector4::<f64>::zeros()), Err(NotInGroup::Zero));
    /// # Ok::<(), NotInGroup<f64>>(())
    /// ```
    pub fn try_from_wxyz(wxyz: &Vector4<T>) -> Result<Self, NotInGroup<T>> {
        if !wxyz.iter().all(nalgebra::ComplexField::is_finite) {
            return Err(NotInGroup::NotFinite);
        }
        let largest = wxyz.amax();
        if largest <= T::zero() {
            return Err(NotInGroup::Zero);
        }
        // Scaled first, so that neither huge nor denormal numbers are squared.
        let scaled = wxyz.map(|x| x / largest);
        Ok(Self::from_wxyz(&(scaled / scaled.norm())))
    }

    /// `[w, x, y, z]` with `w >= 0`; for a half turn, where `w = 0`, either sign.
    ///
    /// ```
    /// use fly_lie::UnitQuaternion;
    /// use nalgebra::Vector3;
    ///
    /// // Three quarters of a turn to the left are one to the right.
    /// let quarter = Vector3::z() * std::f64::consts::FRAC_PI_2;
    /// let (left, right) = (UnitQuaternion::exp(&(quarter * 3.0)), UnitQuaternion::exp(&-quarter));
    /// assert!((left.wxyz() - right.wxyz()).norm() < 1e-15);
    /// ```
    #[inline]
    pub fn wxyz(&self) -> Vector4<T> {
        let wxyz = self.held();
        if self.w < T::zero() { -wxyz } else { wxyz }
    }

    /// `[w, x, y, z]` with the stored sign.
    #[inline]
    pub(crate) fn held(&self) -> Vector4<T> {
        Vector4::new(self.w, self.xyz.x, self.xyz.y, self.xyz.z)
    }

    /// Renormalises the quaternion after many products.
    ///
    /// ```
    /// use fly_lie::UnitQuaternion;
    /// use nalgebra::Vector3;
    ///
    /// let step = UnitQuaternion::exp(&Vector3::new(1e-3, 2e-3, 3e-3));
    /// let mut q = UnitQuaternion::<f64>::identity();
    /// for _ in 0..1000 {
    ///     q = q * step;
    /// }
    /// assert!((q.normalized().wxyz().norm() - 1.0).abs() < 3e-16);
    /// ```
    #[must_use]
    #[inline]
    pub fn normalized(&self) -> Self {
        Self::from_wxyz(&self.wxyz().normalize())
    }
}

/// Whether two quaternions represent the same rotation, as `q` and `-q` do.
impl<T: RealField + Copy> PartialEq for UnitQuaternion<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.w == other.w && self.xyz == other.xyz)
            || (self.w == -other.w && self.xyz == -other.xyz)
    }
}

/// # Group structure
impl<T: RealField + Copy> UnitQuaternion<T> {
    /// The identity rotation.
    #[inline]
    pub fn identity() -> Self {
        Self {
            w: T::one(),
            xyz: Vector3::zeros(),
        }
    }

    /// The inverse rotation, the conjugated quaternion, Konz (A.160).
    #[must_use]
    #[inline]
    pub fn inverse(&self) -> Self {
        Self {
            w: self.w,
            xyz: -self.xyz,
        }
    }

    /// The rotated vector.
    #[inline]
    pub fn act(&self, vector: &Vector3<T>) -> Vector3<T> {
        let t = self.xyz.cross(vector);
        let t = t + t;
        vector + t * self.w + self.xyz.cross(&t)
    }
}

/// The Hamilton product, Konz (A.159).
impl<T: RealField + Copy> Mul for UnitQuaternion<T> {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        let (a, p, b, q) = (self.w, &self.xyz, other.w, &other.xyz);
        // Two sums each, in pairs of rows, which the compiler vectorises.
        Self {
            w: (a * b - p.y * q.y) - (p.x * q.x + p.z * q.z),
            xyz: Vector3::new(
                (a * q.x + p.y * q.z) + (p.x * b - p.z * q.y),
                (a * q.y + p.y * b) - (p.x * q.z - p.z * q.x),
                (a * q.z - p.y * q.x) + (p.x * q.y + p.z * b),
            ),
        }
    }
}

/// # Hat and vee: the algebra is that of [`SO3`]
impl<T: RealField + Copy> UnitQuaternion<T> {
    /// From a rotation vector to the algebra so(3): [`hat3`].
    #[inline]
    pub fn hat(w: &Vector3<T>) -> Matrix3<T> {
        hat3(w)
    }

    /// From the algebra so(3) to a rotation vector: [`vee3`].
    #[inline]
    pub fn vee(W: &Matrix3<T>) -> Vector3<T> {
        vee3(W)
    }
}

/// # Exponential and logarithm
impl<T: RealField + Copy> UnitQuaternion<T> {
    /// The rotation by `|w|` about `w`, Konz (A.153): `[cos(θ/2), sin(θ/2)/θ w]`.
    #[inline]
    pub fn exp(w: &Vector3<T>) -> Self {
        let (s, k) = half_angle(w.norm_squared());
        Self { w: k, xyz: w * s }
    }

    /// The principal rotation vector, `|w| <= pi`; at exactly `pi` the one along the stored vector part.
    #[inline]
    pub fn log(&self) -> Vector3<T> {
        let factor = log_factor(self.xyz.norm_squared(), self.w.abs());
        self.xyz * if self.w < T::zero() { -factor } else { factor }
    }
}

/// # Jacobians: those of [`SO3`]
impl<T: RealField + Copy> UnitQuaternion<T> {
    /// [`SO3::left_jacobian`]
    #[inline]
    pub fn left_jacobian(w: &Vector3<T>) -> Matrix3<T> {
        SO3::left_jacobian(w)
    }

    /// [`SO3::right_jacobian`]
    #[inline]
    pub fn right_jacobian(w: &Vector3<T>) -> Matrix3<T> {
        SO3::right_jacobian(w)
    }

    /// [`SO3::left_jacobian_inverse`]
    #[inline]
    pub fn left_jacobian_inverse(w: &Vector3<T>) -> Matrix3<T> {
        SO3::left_jacobian_inverse(w)
    }

    /// [`SO3::right_jacobian_inverse`]
    #[inline]
    pub fn right_jacobian_inverse(w: &Vector3<T>) -> Matrix3<T> {
        SO3::right_jacobian_inverse(w)
    }
}

/// # Adjoint
impl<T: RealField + Copy> UnitQuaternion<T> {
    /// The rotation matrix, Konz (A.154).
    #[inline]
    pub fn matrix(&self) -> Matrix3<T> {
        let two: T = convert(2.0);
        crate::so3::second_order(&self.xyz, T::one(), two * self.w, two)
    }

    /// The adjoint representation, the rotation matrix.
    #[inline]
    pub fn adjoint(&self) -> Matrix3<T> {
        self.matrix()
    }

    /// `ad(w) = hat3(w)`, Konz (4.52a).
    #[inline]
    pub fn ad(w: &Vector3<T>) -> Matrix3<T> {
        hat3(w)
    }
}

lie_group!(UnitQuaternion, 3, Matrix3<T>, 3);

impl<T: RealField + Copy> From<UnitQuaternion<T>> for SO3<T> {
    fn from(q: UnitQuaternion<T>) -> Self {
        Self::from_matrix(q.matrix())
    }
}

/// [`SO3::to_quaternion`]
impl<T: RealField + Copy> From<SO3<T>> for UnitQuaternion<T> {
    fn from(rotation: SO3<T>) -> Self {
        Self::from_wxyz(&rotation.to_quaternion())
    }
}

/// [`UnitQuaternion::wxyz`]
impl<T: RealField + Copy> From<UnitQuaternion<T>> for [T; 4] {
    fn from(q: UnitQuaternion<T>) -> Self {
        q.wxyz().into()
    }
}

/// As [`UnitQuaternion::try_from_wxyz`].
impl<T: RealField + Copy> TryFrom<[T; 4]> for UnitQuaternion<T> {
    type Error = NotInGroup<T>;

    fn try_from(wxyz: [T; 4]) -> Result<Self, NotInGroup<T>> {
        Self::try_from_wxyz(&wxyz.into())
    }
}
