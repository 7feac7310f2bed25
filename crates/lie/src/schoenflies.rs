//! The Schönflies group X: spatial translations and rotations about the z axis.

use core::ops::Mul;

use nalgebra::{Matrix3, Matrix4, RealField, Vector2, Vector3, Vector4, Vector6};

use crate::group::lie_group;
use crate::{SE2, SO2};

/// A position and a rotation about z, as of a pick-and-place robot; twists are `[v_x, v_y, v_z, omega_z]`, From I (88).
///
/// ```
/// use fly_lie::Schoenflies;
/// use nalgebra::{Vector3, Vector4, Vector6};
///
/// let up_and_round = Schoenflies::exp(&Vector4::new(0.0, 0.0, 2.0, std::f64::consts::PI));
/// assert!((up_and_round.act(&Vector3::x()) - Vector3::new(-1.0, 0.0, 2.0)).norm() < 1e-15);
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
pub struct Schoenflies<T: RealField + Copy> {
    /// The rotation about z.
    pub rotation: SO2<T>,
    /// The position of the body's origin, in coordinates of the reference frame.
    pub translation: Vector3<T>,
}

/// # Parameters
impl<T: RealField + Copy> Schoenflies<T> {
    /// The pose with this rotation about z and this position.
    #[inline]
    pub fn new(rotation: SO2<T>, translation: Vector3<T>) -> Self {
        Self {
            rotation,
            translation,
        }
    }

    /// Combines a planar motion and one along z.
    #[inline]
    fn from_planar(planar: &SE2<T>, z: T) -> Self {
        let r = &planar.translation;
        Self::new(planar.rotation, Vector3::new(r.x, r.y, z))
    }

    /// The planar part.
    #[inline]
    fn planar(&self) -> SE2<T> {
        SE2::new(self.rotation, self.translation.xy())
    }

    /// The 4x4 matrix `[[R_z, r], [0, 1]]`.
    pub fn matrix(&self) -> Matrix4<T> {
        let mut G = Matrix4::identity();
        G.fixed_view_mut::<2, 2>(0, 0)
            .copy_from(&self.rotation.matrix());
        G.fixed_view_mut::<3, 1>(0, 3).copy_from(&self.translation);
        G
    }
}

/// # Group structure
impl<T: RealField + Copy> Schoenflies<T> {
    /// The identity: the reference frame itself.
    #[inline]
    pub fn identity() -> Self {
        Self::new(SO2::identity(), Vector3::zeros())
    }

    /// The pose of the reference frame in the body.
    #[must_use]
    #[inline]
    pub fn inverse(&self) -> Self {
        Self::from_planar(&self.planar().inverse(), -self.translation.z)
    }

    /// The point with body coordinates `point`, in coordinates of the reference frame.
    #[inline]
    pub fn act(&self, point: &Vector3<T>) -> Vector3<T> {
        let p = self.rotation.act(&Vector2::new(point.x, point.y));
        self.translation + Vector3::new(p.x, p.y, point.z)
    }
}

impl<T: RealField + Copy> Mul for Schoenflies<T> {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self::new(self.rotation * other.rotation, self.act(&other.translation))
    }
}

/// # Hat and vee
impl<T: RealField + Copy> Schoenflies<T> {
    /// From a twist `[v_x, v_y, v_z, omega_z]` to the 4x4 matrices of the algebra, From I (Table 1).
    #[inline]
    pub fn hat(x: &Vector4<T>) -> Matrix4<T> {
        crate::operators::hat6(&Vector6::new(x.x, x.y, x.z, T::zero(), T::zero(), x.w))
    }

    /// From the algebra to a twist.
    #[inline]
    pub fn vee(X: &Matrix4<T>) -> Vector4<T> {
        let xi = crate::operators::vee6(X);
        Vector4::new(xi[0], xi[1], xi[2], xi[5])
    }
}

/// # Exponential and logarithm
impl<T: RealField + Copy> Schoenflies<T> {
    /// The pose reached in unit time with the constant body twist `[v_x, v_y, v_z, omega_z]`.
    #[inline]
    pub fn exp(x: &Vector4<T>) -> Self {
        Self::from_planar(&SE2::exp(&planar_twist(x)), x.z)
    }

    /// The principal twist with `exp(x) = self` and a rotation angle of at most `pi`.
    #[inline]
    pub fn log(&self) -> Vector4<T> {
        let x = self.planar().log();
        Vector4::new(x.x, x.y, self.translation.z, x.z)
    }
}

/// # Jacobians
impl<T: RealField + Copy> Schoenflies<T> {
    /// `J_l`: that of SE(2), and 1 along z.
    #[inline]
    pub fn left_jacobian(x: &Vector4<T>) -> Matrix4<T> {
        with_z(&SE2::left_jacobian(&planar_twist(x)), T::one())
    }

    /// `J_r = J_l(-x)`, the matrix S of From I, Table 2.
    #[inline]
    pub fn right_jacobian(x: &Vector4<T>) -> Matrix4<T> {
        Self::left_jacobian(&-x)
    }

    /// The inverse of the left Jacobian; it exists for `|omega_z| < 2 pi`.
    #[inline]
    pub fn left_jacobian_inverse(x: &Vector4<T>) -> Matrix4<T> {
        with_z(&SE2::left_jacobian_inverse(&planar_twist(x)), T::one())
    }

    /// The inverse of the right Jacobian; it exists for `|omega_z| < 2 pi`.
    #[inline]
    pub fn right_jacobian_inverse(x: &Vector4<T>) -> Matrix4<T> {
        Self::left_jacobian_inverse(&-x)
    }
}

/// # Adjoint
impl<T: RealField + Copy> Schoenflies<T> {
    /// `Ad`: that of SE(2), and 1 along z.
    #[inline]
    pub fn adjoint(&self) -> Matrix4<T> {
        with_z(&self.planar().adjoint(), T::one())
    }

    /// `ad`, From I (89).
    #[inline]
    pub fn ad(x: &Vector4<T>) -> Matrix4<T> {
        with_z(&SE2::ad(&planar_twist(x)), T::zero())
    }
}

/// `[v_x, v_y, omega_z]`
#[inline]
fn planar_twist<T: RealField + Copy>(x: &Vector4<T>) -> Vector3<T> {
    Vector3::new(x.x, x.y, x.w)
}

/// Inserts a third row and column for z into a matrix of SE(2).
#[inline]
#[rustfmt::skip]
fn with_z<T: RealField + Copy>(A: &Matrix3<T>, z: T) -> Matrix4<T> {
    let o = T::zero();
    Matrix4::new(
        A[(0, 0)], A[(0, 1)], o, A[(0, 2)],
        A[(1, 0)], A[(1, 1)], o, A[(1, 2)],
        o,         o,         z, o,
        A[(2, 0)], A[(2, 1)], o, A[(2, 2)],
    )
}

lie_group!(Schoenflies, 4, Matrix4<T>, 3);
