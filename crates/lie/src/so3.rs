//! The rotation group SO(3).

use core::ops::Mul;

use nalgebra::{ComplexField, Matrix3, RealField, Vector3, Vector4, convert};

use crate::NotInGroup;
use crate::coefficients::{
    Coefficients, LOG_FROM_TRACE, exponential, inverse_coefficient, log_factor_beyond,
    log_factor_of_trace,
};
use crate::group::lie_group;
use crate::operators::{double_vee3, hat3, vee3};

/// A rotation, stored as its 3x3 matrix. For `R` of body b in the world, `R p_b` are the world components of the body
/// vector `p_b`.
///
/// ```
/// use fly_lie::SO3;
/// use nalgebra::Vector3;
///
/// // A quarter turn about z takes x to y.
/// let R = SO3::exp(&Vector3::new(0.0, 0.0, std::f64::consts::FRAC_PI_2));
/// assert!((R.act(&Vector3::x()) - Vector3::y()).norm() < 1e-15);
/// assert!((R.log().z - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(
        try_from = "[[T; 3]; 3]",
        into = "[[T; 3]; 3]",
        bound(
            serialize = "T: serde::Serialize",
            deserialize = "T: serde::Deserialize<'de>"
        )
    )
)]
pub struct SO3<T: RealField + Copy>(Matrix3<T>);

/// # Parameters
impl<T: RealField + Copy> SO3<T> {
    /// The rotation with this matrix, unchecked: the caller guarantees that it is orthonormal with determinant 1.
    ///
    /// For an external matrix use [`SO3::try_from_matrix`].
    #[inline]
    pub fn from_matrix(matrix: Matrix3<T>) -> Self {
        Self(matrix)
    }

    /// The rotation with this matrix, if `R^T R = I` entry by entry within `tolerance` and `det R > 0`.
    ///
    /// # Errors
    /// [`NotInGroup::NotFinite`], [`NotInGroup::NotOrthonormal`] with the largest deviation, [`NotInGroup::Reflection`].
    #[inline]
    pub fn try_from_matrix(matrix: Matrix3<T>, tolerance: T) -> Result<Self, NotInGroup<T>> {
        if !matrix.iter().all(ComplexField::is_finite) {
            return Err(NotInGroup::NotFinite);
        }
        let deviation = (matrix.transpose() * matrix - Matrix3::identity()).amax();
        if deviation > tolerance {
            return Err(NotInGroup::NotOrthonormal {
                deviation,
                tolerance,
            });
        }
        if matrix.determinant() < T::zero() {
            return Err(NotInGroup::Reflection);
        }
        Ok(Self(matrix))
    }

    /// The rotation matrix.
    #[inline]
    pub fn matrix(&self) -> &Matrix3<T> {
        &self.0
    }

    /// The rotation of a quaternion `[w, x, y, z]`, Konz (A.154). The quaternion is normalised; it must not be zero.
    ///
    /// ```
    /// use fly_lie::SO3;
    /// use nalgebra::{Vector3, Vector4};
    ///
    /// // Half a turn about x; the numbers need not be normalised.
    /// let R = SO3::from_quaternion(&Vector4::new(0.0, 5.0, 0.0, 0.0));
    /// assert_eq!(R.act(&Vector3::y()), -Vector3::y());
    /// ```
    #[rustfmt::skip]
    #[inline]
    pub fn from_quaternion(wxyz: &Vector4<T>) -> Self {
        let s = convert::<f64, T>(2.0) / wxyz.norm_squared();
        let (w, x, y, z) = (wxyz[0], wxyz[1], wxyz[2], wxyz[3]);
        let one = T::one();
        Self(Matrix3::new(
            one - s * (y * y + z * z), s * (x * y - w * z),       s * (x * z + w * y),
            s * (x * y + w * z),       one - s * (x * x + z * z), s * (y * z - w * x),
            s * (x * z - w * y),       s * (y * z + w * x),       one - s * (x * x + y * y),
        ))
    }

    /// The unit quaternion `[w, x, y, z]` with `w >= 0`.
    ///
    /// Shepperd's method: uses the column of `4 q q^T` with the largest diagonal entry, so that no digits are lost at
    /// any angle. (Konz (A.158) prints a form that fails at `theta = pi` and at small angles.)
    ///
    /// ```
    /// use fly_lie::SO3;
    /// use nalgebra::{Vector3, Vector4};
    ///
    /// let q = SO3::exp(&(Vector3::y() * std::f64::consts::PI)).to_quaternion();
    /// assert!((q - Vector4::new(0.0, 0.0, 1.0, 0.0)).norm() < 1e-15);
    /// ```
    #[inline]
    pub fn to_quaternion(&self) -> Vector4<T> {
        let trace = self.0.trace();
        let (w, xyz) = if trace > T::zero() {
            (T::one() + trace, double_vee3(&self.0))
        } else {
            let (w, xyz, _) = self.axis_column();
            (w, xyz)
        };
        Vector4::new(w, xyz.x, xyz.y, xyz.z).normalize()
    }

    /// `4 q_j q` of the unit quaternion `q`, as `w >= 0` and the vector part, and `4 q_j`: `j` is the index of the largest
    /// entry of the vector part.
    #[inline]
    fn axis_column(&self) -> (T, Vector3<T>, T) {
        let R = &self.0;
        // By names rather than variable indices into an array, which would have to be stored in memory.
        let column = |j, k, l| {
            let w = R[(l, k)] - R[(k, l)];
            let own = T::one() + R[(j, j)] - R[(k, k)] - R[(l, l)];
            (w, own, R[(k, j)] + R[(j, k)], R[(l, j)] + R[(j, l)])
        };
        let (xx, yy, zz) = (R[(0, 0)], R[(1, 1)], R[(2, 2)]);
        let (w, xyz, own) = if xx >= yy && xx >= zz {
            let (w, x, y, z) = column(0, 1, 2);
            (w, Vector3::new(x, y, z), x)
        } else if yy >= zz {
            let (w, y, z, x) = column(1, 2, 0);
            (w, Vector3::new(x, y, z), y)
        } else {
            let (w, z, x, y) = column(2, 0, 1);
            (w, Vector3::new(x, y, z), z)
        };
        if w < T::zero() {
            (-w, -xyz, own)
        } else {
            (w, xyz, own)
        }
    }

    /// The nearest rotation after a small drift off the group: one Newton step of the polar decomposition.
    ///
    /// An error `R^T R - I` of size `e` becomes one of size `3/4 e^2`. For a matrix far from a rotation use [`SpecialSvd`](crate::SpecialSvd).
    ///
    /// ```
    /// use fly_lie::SO3;
    /// use nalgebra::{Matrix3, Vector3};
    ///
    /// let R = SO3::exp(&Vector3::new(0.3, -1.0, 0.2));
    /// let drifted = R.matrix() * 1.000_01;
    /// assert!(SO3::try_from_matrix(drifted, 1e-6).is_err());
    /// let back = SO3::from_matrix(drifted).orthonormalized();
    /// assert!((back.matrix() - R.matrix()).amax() < 1e-9);
    /// ```
    #[must_use]
    #[inline]
    pub fn orthonormalized(&self) -> Self {
        let R = &self.0;
        let three = Matrix3::from_diagonal_element(convert(3.0));
        Self(R * (three - R.transpose() * R) * convert::<f64, T>(0.5))
    }
}

/// # Group structure
impl<T: RealField + Copy> SO3<T> {
    /// The identity rotation.
    #[inline]
    pub fn identity() -> Self {
        Self(Matrix3::identity())
    }

    /// The inverse rotation, the transposed matrix.
    #[must_use]
    #[inline]
    pub fn inverse(&self) -> Self {
        Self(self.0.transpose())
    }

    /// The rotated vector.
    #[inline]
    pub fn act(&self, vector: &Vector3<T>) -> Vector3<T> {
        self.0 * vector
    }
}

impl<T: RealField + Copy> Mul for SO3<T> {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        // The matrix product, with its sums ordered for the fewest instructions.
        let (A, B) = (&self.0, &other.0);
        let column = |j| A.column(j).into_owned();
        let (x, y, z) = (column(0), column(1), column(2));
        let column = |j: usize| z * B[(2, j)] + y * B[(1, j)] + x * B[(0, j)];
        Self(Matrix3::from_columns(&[column(0), column(1), column(2)]))
    }
}

/// # Hat and vee
impl<T: RealField + Copy> SO3<T> {
    /// From coordinates to the algebra so(3): [`hat3`].
    #[inline]
    pub fn hat(w: &Vector3<T>) -> Matrix3<T> {
        hat3(w)
    }

    /// From the algebra so(3) to coordinates: [`vee3`].
    #[inline]
    pub fn vee(W: &Matrix3<T>) -> Vector3<T> {
        vee3(W)
    }
}

/// # Exponential and logarithm
impl<T: RealField + Copy> SO3<T> {
    /// The rotation by `|w|` about `w`, Konz (A.147): `I + sin θ/θ W + (1 - cos θ)/θ² W²`.
    #[inline]
    pub fn exp(w: &Vector3<T>) -> Self {
        let (a, b) = exponential(w.norm_squared());
        Self(second_order(w, T::one(), a, b))
    }

    /// The principal rotation vector, `|w| <= pi`, exact to rounding at every angle.
    ///
    /// At exactly `pi` both vectors `±pi axis` are valid; returns the one whose entry of largest magnitude is positive.
    #[inline]
    pub fn log(&self) -> Vector3<T> {
        let trace = self.0.trace();
        if trace >= convert(LOG_FROM_TRACE) {
            return double_vee3(&self.0) * log_factor_of_trace(trace);
        }
        let (w, xyz, own) = self.axis_column();
        // (4 |q_j|)² = 4 (4 q_j²)
        let four: T = convert(4.0);
        xyz * log_factor_beyond(trace, xyz.norm_squared(), w, four * own)
    }
}

/// # Jacobians
impl<T: RealField + Copy> SO3<T> {
    /// `J_l`: `d/dt exp(w) = hat(J_l w_dot) exp(w)`, `I + (1 - cos θ)/θ² W + (θ - sin θ)/θ³ W²`.
    #[inline]
    pub fn left_jacobian(w: &Vector3<T>) -> Matrix3<T> {
        let (b, c) = Coefficients::of_left_jacobian(w.norm_squared());
        second_order(w, T::one(), b, c)
    }

    /// The left Jacobian times `v`, without forming the matrix:
    ///
    /// ```
    /// use fly_lie::SO3;
    /// use nalgebra::Vector3;
    ///
    /// let (w, v) = (Vector3::new(0.4, 0.5, 0.6), Vector3::new(0.3, 0.1, -0.5));
    /// let product = SO3::<f64>::left_jacobian(&w) * v;
    /// assert!((SO3::left_jacobian_times(&w, &v) - product).norm() < 1e-15);
    /// ```
    #[inline]
    pub fn left_jacobian_times(w: &Vector3<T>, v: &Vector3<T>) -> Vector3<T> {
        let (b, c) = Coefficients::of_left_jacobian(w.norm_squared());
        let across = w.cross(v);
        v + across * b + w.cross(&across) * c
    }

    /// `J_r = J_l(-w)`: `d/dt exp(w) = exp(w) hat(J_r w_dot)`; the matrix S of From I (29).
    #[inline]
    pub fn right_jacobian(w: &Vector3<T>) -> Matrix3<T> {
        Self::left_jacobian(&-w)
    }

    /// The inverse of the left Jacobian; it exists for `|w| < 2 pi`.
    #[inline]
    pub fn left_jacobian_inverse(w: &Vector3<T>) -> Matrix3<T> {
        let d = inverse_coefficient(w.norm_squared());
        second_order(w, T::one(), convert(-0.5), d)
    }

    /// The inverse of the right Jacobian; it exists for `|w| < 2 pi`.
    #[inline]
    pub fn right_jacobian_inverse(w: &Vector3<T>) -> Matrix3<T> {
        Self::left_jacobian_inverse(&-w)
    }
}

/// # Adjoint
impl<T: RealField + Copy> SO3<T> {
    /// The adjoint representation, which for rotations is the matrix itself: `R hat(w) R^T = hat(R w)`.
    #[inline]
    pub fn adjoint(&self) -> Matrix3<T> {
        self.0
    }

    /// `ad(w) = hat3(w)`, Konz (4.52a).
    #[inline]
    pub fn ad(w: &Vector3<T>) -> Matrix3<T> {
        hat3(w)
    }
}

lie_group!(SO3, 3, Matrix3<T>, 3);

/// The rows of the matrix.
impl<T: RealField + Copy> From<SO3<T>> for [[T; 3]; 3] {
    fn from(rotation: SO3<T>) -> Self {
        rotation.0.transpose().into()
    }
}

/// The rows of the matrix, which must be orthonormal within the square root of the machine precision: half the digits.
impl<T: RealField + Copy> TryFrom<[[T; 3]; 3]> for SO3<T> {
    type Error = NotInGroup<T>;

    fn try_from(rows: [[T; 3]; 3]) -> Result<Self, NotInGroup<T>> {
        Self::try_from_matrix(Matrix3::from(rows).transpose(), T::default_epsilon().sqrt())
    }
}

/// `p I + q W + r W²` with `W² = w w^T - |w|² I`.
#[inline]
pub(crate) fn second_order<T: RealField + Copy>(w: &Vector3<T>, p: T, q: T, r: T) -> Matrix3<T> {
    let (x, y, z) = (w.x, w.y, w.z);
    let (qx, qy, qz) = (q * x, q * y, q * z);
    let (rxy, rxz, ryz) = (r * x * y, r * x * z, r * y * z);
    Matrix3::new(
        p - r * (y * y + z * z),
        rxy - qz,
        rxz + qy,
        rxy + qz,
        p - r * (x * x + z * z),
        ryz - qx,
        rxz - qy,
        ryz + qx,
        p - r * (x * x + y * y),
    )
}
