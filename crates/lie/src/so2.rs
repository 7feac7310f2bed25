//! The group of planar rotations, SO(2).

use core::ops::Mul;

use nalgebra::{Matrix1, Matrix2, RealField, Vector1, Vector2, convert};

use crate::NotInGroup;
use crate::group::lie_group;

/// A planar rotation, stored as the cosine and sine of its angle: a revolute joint.
///
/// ```
/// use fly_lie::SO2;
///
/// let quarter = SO2::from_angle(std::f64::consts::FRAC_PI_2);
/// let three = quarter * quarter * quarter;
/// // The angle is the principal one.
/// assert!((three.angle() + std::f64::consts::FRAC_PI_2).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(
        try_from = "[T; 2]",
        into = "[T; 2]",
        bound(
            serialize = "T: serde::Serialize",
            deserialize = "T: serde::Deserialize<'de>"
        )
    )
)]
pub struct SO2<T: RealField + Copy> {
    cos: T,
    sin: T,
}

/// # Parameters
impl<T: RealField + Copy> SO2<T> {
    /// The rotation by an angle.
    #[inline]
    pub fn from_angle(angle: T) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self { cos, sin }
    }

    /// The rotation of the x axis to the direction `[cos, sin]`, which is normalised.
    ///
    /// # Errors
    /// [`NotInGroup::NotFinite`], [`NotInGroup::Zero`].
    ///
    /// ```
    /// use fly_lie::{NotInGroup, SO2};
    ///
    /// let heading = SO2::try_from_cos_sin(0.0, -7.0)?;
    /// assert_eq!(heading.cos_sin(), (0.0, -1.0));
    /// assert_eq!(SO2::try_from_cos_sin(0.0, 0.0), Err(NotInGroup::Zero));
    /// # Ok::<(), NotInGroup<f64>>(())
    /// ```
    pub fn try_from_cos_sin(cos: T, sin: T) -> Result<Self, NotInGroup<T>> {
        let largest = cos.abs().max(sin.abs());
        if !(cos.is_finite() && sin.is_finite()) {
            return Err(NotInGroup::NotFinite);
        }
        if largest <= T::zero() {
            return Err(NotInGroup::Zero);
        }
        let (c, s) = (cos / largest, sin / largest);
        let norm = (c * c + s * s).sqrt();
        Ok(Self {
            cos: c / norm,
            sin: s / norm,
        })
    }

    /// The rotation nearest to a matrix, `[a₁₁ + a₂₂, a₂₁ - a₁₂]` normalised: the planar case of [`SpecialPolar`](crate::SpecialPolar).
    ///
    /// # Errors
    /// [`NotInGroup::NotFinite`]; [`NotInGroup::Zero`] if all rotations are equally near, as for a mirror image.
    ///
    /// ```
    /// use fly_lie::{NotInGroup, SO2};
    /// use nalgebra::Matrix2;
    ///
    /// let R = SO2::nearest(&Matrix2::new(0.1, -2.0, 2.0, 0.1))?;
    /// assert!((R.angle() - 20.0_f64.atan()).abs() < 1e-15);
    /// let mirrored = SO2::nearest(&Matrix2::new(1.0, 0.0, 0.0, -1.0));
    /// assert_eq!(mirrored, Err(NotInGroup::Zero));
    /// # Ok::<(), NotInGroup<f64>>(())
    /// ```
    pub fn nearest(matrix: &Matrix2<T>) -> Result<Self, NotInGroup<T>> {
        // Halved, so that the sums do not overflow.
        let half = matrix * convert::<f64, T>(0.5);
        Self::try_from_cos_sin(half.m11 + half.m22, half.m21 - half.m12)
    }

    /// The principal angle, from `-pi` to `pi`.
    #[inline]
    pub fn angle(&self) -> T {
        self.sin.atan2(self.cos)
    }

    /// Cosine and sine of the angle.
    #[inline]
    pub fn cos_sin(&self) -> (T, T) {
        (self.cos, self.sin)
    }

    /// The 2x2 matrix `[[cos, -sin], [sin, cos]]`.
    #[inline]
    pub fn matrix(&self) -> Matrix2<T> {
        Matrix2::new(self.cos, -self.sin, self.sin, self.cos)
    }
}

/// # Group structure
impl<T: RealField + Copy> SO2<T> {
    /// The identity rotation.
    #[inline]
    pub fn identity() -> Self {
        Self {
            cos: T::one(),
            sin: T::zero(),
        }
    }

    /// The rotation by the opposite angle.
    #[must_use]
    #[inline]
    pub fn inverse(&self) -> Self {
        Self {
            cos: self.cos,
            sin: -self.sin,
        }
    }

    /// The rotated planar vector.
    #[inline]
    pub fn act(&self, vector: &Vector2<T>) -> Vector2<T> {
        let (c, s) = (self.cos, self.sin);
        Vector2::new(c * vector.x - s * vector.y, s * vector.x + c * vector.y)
    }
}

impl<T: RealField + Copy> Mul for SO2<T> {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self {
            cos: self.cos * other.cos - self.sin * other.sin,
            sin: self.sin * other.cos + self.cos * other.sin,
        }
    }
}

/// # Hat and vee
impl<T: RealField + Copy> SO2<T> {
    /// From the angular velocity to the algebra: `[[0, -w], [w, 0]]`.
    #[inline]
    pub fn hat(w: &Vector1<T>) -> Matrix2<T> {
        Matrix2::new(T::zero(), -w[0], w[0], T::zero())
    }

    /// From the algebra to the angular velocity; for a matrix that is not skew-symmetric it uses the skew-symmetric
    /// part.
    #[inline]
    pub fn vee(W: &Matrix2<T>) -> Vector1<T> {
        Vector1::new((W[(1, 0)] - W[(0, 1)]) * nalgebra::convert(0.5))
    }
}

/// # Exponential and logarithm
impl<T: RealField + Copy> SO2<T> {
    /// The rotation by the angle `w[0]`.
    #[inline]
    pub fn exp(w: &Vector1<T>) -> Self {
        Self::from_angle(w[0])
    }

    /// The principal angle, [`SO2::angle`].
    #[inline]
    pub fn log(&self) -> Vector1<T> {
        Vector1::new(self.angle())
    }
}

/// # Jacobians and adjoint: all are trivial, because the group is commutative (From I, Table 1)
impl<T: RealField + Copy> SO2<T> {
    /// `1`
    #[inline]
    pub fn left_jacobian(_: &Vector1<T>) -> Matrix1<T> {
        Matrix1::identity()
    }

    /// `1`
    #[inline]
    pub fn right_jacobian(_: &Vector1<T>) -> Matrix1<T> {
        Matrix1::identity()
    }

    /// `1`
    #[inline]
    pub fn left_jacobian_inverse(_: &Vector1<T>) -> Matrix1<T> {
        Matrix1::identity()
    }

    /// `1`
    #[inline]
    pub fn right_jacobian_inverse(_: &Vector1<T>) -> Matrix1<T> {
        Matrix1::identity()
    }

    /// `1`
    #[inline]
    pub fn adjoint(&self) -> Matrix1<T> {
        Matrix1::identity()
    }

    /// `0`
    #[inline]
    pub fn ad(_: &Vector1<T>) -> Matrix1<T> {
        Matrix1::zeros()
    }
}

lie_group!(SO2, 1, Matrix2<T>, 2);

impl<T: RealField + Copy> From<SO2<T>> for [T; 2] {
    fn from(rotation: SO2<T>) -> Self {
        [rotation.cos, rotation.sin]
    }
}

/// As [`SO2::try_from_cos_sin`].
impl<T: RealField + Copy> TryFrom<[T; 2]> for SO2<T> {
    type Error = NotInGroup<T>;

    fn try_from([cos, sin]: [T; 2]) -> Result<Self, NotInGroup<T>> {
        Self::try_from_cos_sin(cos, sin)
    }
}
