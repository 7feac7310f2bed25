//! The group SE(3) of rigid-body poses.

use core::ops::Mul;

use nalgebra::{ComplexField, Matrix3, Matrix4, Matrix6, RealField, Vector3, Vector6, convert};

use crate::coefficients::{Coefficients, Derivatives, inverse_coefficient, inverse_derivative};
use crate::group::lie_group;
use crate::operators::{ad, angular, hat6, join, linear, vee6};
use crate::so3::second_order;
use crate::{NotInGroup, SO3};

/// A pose: that of body b in frame a maps body coordinates to those of a, `p_a = R p_b + r`.
///
/// ```
/// use fly_lie::{SE3, SO3};
/// use nalgebra::{ComplexField, Vector3, Vector6};
///
/// // A body that drives forward (x) while it turns left (about z) by half a turn ends on its left, facing back.
/// let xi = Vector6::new(1.0, 0.0, 0.0, 0.0, 0.0, std::f64::consts::PI);
/// let G = SE3::exp(&xi);
/// assert!((G.translation - Vector3::new(0.0, 2.0 / std::f64::consts::PI, 0.0)).norm() < 1e-15);
/// assert!((G.log() - xi).norm() < 1e-14);
/// assert!(((G * G.inverse()).matrix() - SE3::identity().matrix()).norm() < 1e-14);
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
pub struct SE3<T: RealField + Copy> {
    /// The orientation `R`.
    pub rotation: SO3<T>,
    /// The position `r` of the body's origin, in coordinates of the reference frame.
    pub translation: Vector3<T>,
}

/// # Parameters
impl<T: RealField + Copy> SE3<T> {
    /// The pose with this orientation and position.
    #[inline]
    pub fn new(rotation: SO3<T>, translation: Vector3<T>) -> Self {
        Self {
            rotation,
            translation,
        }
    }

    /// The pose of a 4x4 matrix `[[R, r], [0, 1]]`, unchecked.
    #[inline]
    pub fn from_matrix(matrix: &Matrix4<T>) -> Self {
        Self::new(
            SO3::from_matrix(matrix.fixed_view::<3, 3>(0, 0).into_owned()),
            matrix.fixed_view::<3, 1>(0, 3).into_owned(),
        )
    }

    /// The pose of a 4x4 matrix `[[R, r], [0, 1]]`, checked within `tolerance`.
    ///
    /// # Errors
    /// Those of [`SO3::try_from_matrix`], and [`NotInGroup::BottomRow`].
    ///
    /// ```
    /// use fly_lie::{NotInGroup, SE3};
    /// use nalgebra::{Matrix4, Vector3};
    ///
    /// let pose = SE3::try_from_matrix(&Matrix4::new_translation(&Vector3::new(1.0, 2.0, 3.0)), 1e-12)?;
    /// assert_eq!(pose.translation, Vector3::new(1.0, 2.0, 3.0));
    /// assert_eq!(SE3::from_matrix(&pose.matrix()), pose);
    /// let transposed = SE3::try_from_matrix(&pose.matrix().transpose(), 1e-12);
    /// assert_eq!(transposed, Err(NotInGroup::BottomRow));
    /// # Ok::<(), NotInGroup<f64>>(())
    /// ```
    pub fn try_from_matrix(matrix: &Matrix4<T>, tolerance: T) -> Result<Self, NotInGroup<T>> {
        if !matrix.iter().all(ComplexField::is_finite) {
            return Err(NotInGroup::NotFinite);
        }
        let bottom = matrix.row(3) - Matrix4::identity().row(3);
        if bottom.amax() > tolerance {
            return Err(NotInGroup::BottomRow);
        }
        let rotation = matrix.fixed_view::<3, 3>(0, 0).into_owned();
        Ok(Self {
            rotation: SO3::try_from_matrix(rotation, tolerance)?,
            ..Self::from_matrix(matrix)
        })
    }

    /// The 4x4 matrix `[[R, r], [0, 1]]`.
    #[inline]
    pub fn matrix(&self) -> Matrix4<T> {
        let mut G = Matrix4::identity();
        G.fixed_view_mut::<3, 3>(0, 0)
            .copy_from(self.rotation.matrix());
        G.fixed_view_mut::<3, 1>(0, 3).copy_from(&self.translation);
        G
    }
}

/// # Group structure
impl<T: RealField + Copy> SE3<T> {
    /// The identity: the reference frame itself.
    #[inline]
    pub fn identity() -> Self {
        Self::new(SO3::identity(), Vector3::zeros())
    }

    /// The pose of the reference frame in the body: `[[R^T, -R^T r], [0, 1]]`.
    #[must_use]
    #[inline]
    pub fn inverse(&self) -> Self {
        let mut R = *self.rotation.matrix();
        R.transpose_mut();
        let r = R * -self.translation;
        Self::new(SO3::from_matrix(R), r)
    }

    /// The point with body coordinates `point`, in coordinates of the reference frame.
    #[inline]
    pub fn act(&self, point: &Vector3<T>) -> Vector3<T> {
        self.rotation.act(point) + self.translation
    }
}

impl<T: RealField + Copy> Mul for SE3<T> {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        // The matrix product, with its sums ordered for the fewest instructions.
        let (A, B, r) = (
            self.rotation.matrix(),
            other.rotation.matrix(),
            &other.translation,
        );
        let column = |j| A.column(j).into_owned();
        let (x, y, z) = (column(0), column(1), column(2));
        let column = |j: usize| z * B[(2, j)] + y * B[(1, j)] + x * B[(0, j)];
        let R = Matrix3::from_columns(&[column(0), column(1), column(2)]);
        let translation = z * r.z + y * r.y + (x * r.x + self.translation);
        Self::new(SO3::from_matrix(R), translation)
    }
}

/// # Hat and vee
impl<T: RealField + Copy> SE3<T> {
    /// From a twist `[v; omega]` to the algebra se(3): [`hat6`].
    #[inline]
    pub fn hat(xi: &Vector6<T>) -> Matrix4<T> {
        hat6(xi)
    }

    /// From the algebra se(3) to a twist `[v; omega]`: [`vee6`].
    #[inline]
    pub fn vee(X: &Matrix4<T>) -> Vector6<T> {
        vee6(X)
    }
}

/// # Exponential and logarithm
impl<T: RealField + Copy> SE3<T> {
    /// The pose reached in unit time with the constant body twist `xi = [v; omega]`: `[[exp omega, J_l(omega) v], [0, 1]]`.
    #[inline]
    pub fn exp(xi: &Vector6<T>) -> Self {
        let (v, w) = (linear(xi), angular(xi));
        let k = Coefficients::new(w.norm_squared());
        Self::new(
            SO3::from_matrix(second_order(&w, T::one(), k.a, k.b)),
            second_order(&w, T::one(), k.b, k.c) * v,
        )
    }

    /// The principal twist with `exp(xi) = self` and a rotation angle of at most `pi`: `[J_l(omega)^-1 r; omega]`.
    #[inline]
    pub fn log(&self) -> Vector6<T> {
        let w = self.rotation.log();
        join(&(SO3::left_jacobian_inverse(&w) * self.translation), &w)
    }
}

/// # Jacobians
impl<T: RealField + Copy> SE3<T> {
    /// `J_l`: `d/dt exp(xi) = hat(J_l xi_dot) exp(xi)`, `[[J, Q], [0, J]]`.
    ///
    /// `Q` is the derivative of `J = I + b W + c W²` in the direction `v`, because a twist is a rotation vector with a
    /// dual part; with `s = omega . v` that is `b V + c (V W + W V) + s (b' W + c' W²)`, where `b'`, `c'` are twice the
    /// derivatives with respect to `theta^2`. It equals the usual sum of seven products, without their cancellation.
    #[inline]
    pub fn left_jacobian(xi: &Vector6<T>) -> Matrix6<T> {
        let (v, w) = (linear(xi), angular(xi));
        let t2 = w.norm_squared();
        let k = Coefficients::new(t2);
        let dk = Derivatives::new(t2, &k);
        let J = second_order(&w, T::one(), k.b, k.c);
        upper_triangular(&J, &dual_part(&v, &w, k.b, k.c, dk.db, dk.dc))
    }

    /// `J_r = J_l(-xi)`: `d/dt exp(xi) = exp(xi) hat(J_r xi_dot)`.
    #[inline]
    pub fn right_jacobian(xi: &Vector6<T>) -> Matrix6<T> {
        Self::left_jacobian(&-xi)
    }

    /// The inverse of the left Jacobian; it exists for `|omega| < 2 pi`.
    #[inline]
    pub fn left_jacobian_inverse(xi: &Vector6<T>) -> Matrix6<T> {
        let (v, w) = (linear(xi), angular(xi));
        let t2 = w.norm_squared();
        let d = inverse_coefficient(t2);
        let dd = inverse_derivative(t2, d);
        let minus_half: T = convert(-0.5);
        let J = second_order(&w, T::one(), minus_half, d);
        upper_triangular(&J, &dual_part(&v, &w, minus_half, d, T::zero(), dd))
    }

    /// The inverse of the right Jacobian; it exists for `|omega| < 2 pi`.
    #[inline]
    pub fn right_jacobian_inverse(xi: &Vector6<T>) -> Matrix6<T> {
        Self::left_jacobian_inverse(&-xi)
    }

    /// The inverse of the right Jacobian times `eta`, without forming the matrix:
    ///
    /// ```
    /// use fly_lie::SE3;
    /// use nalgebra::Vector6;
    ///
    /// let (xi, eta) = (Vector6::new(1.0, 2.0, 3.0, 0.4, 0.5, 0.6), Vector6::new(0.3, 0.1, -0.5, 0.7, 0.2, 0.9));
    /// let product = SE3::<f64>::right_jacobian_inverse(&xi) * eta;
    /// assert!((SE3::right_jacobian_inverse_times(&xi, &eta) - product).norm() < 1e-14);
    /// ```
    #[inline]
    pub fn right_jacobian_inverse_times(xi: &Vector6<T>, eta: &Vector6<T>) -> Vector6<T> {
        let (v, w) = (linear(xi), angular(xi));
        let (x, y) = (linear(eta), angular(eta));
        let t2 = w.norm_squared();
        let d = inverse_coefficient(t2);
        let dd = inverse_derivative(t2, d);
        let half: T = convert(0.5);
        // J_r^-1 = I + W/2 + d W²; for its upper right block see `dual_part`.
        let (wx, wy) = (w.cross(&x), w.cross(&y));
        let (wwx, wwy) = (w.cross(&wx), w.cross(&wy));
        let vy = v.cross(&y);
        let mixed = v.cross(&wy) + w.cross(&vy);
        join(
            &(x + (wx + vy) * half + (wwx + mixed) * d + wwy * (w.dot(&v) * dd)),
            &(y + wy * half + wwy * d),
        )
    }
}

/// # Adjoint
impl<T: RealField + Copy> SE3<T> {
    /// `Ad(G)`, Konz (4.52b): `[[R, hat(r) R], [0, R]]` maps a body twist to the same twist in the reference frame.
    #[inline]
    pub fn adjoint(&self) -> Matrix6<T> {
        let R = self.rotation.matrix();
        upper_triangular(R, &crossed(&self.translation, R))
    }

    /// `Ad(G^-1)`: `[[R^T, -R^T hat(r)], [0, R^T]]`.
    ///
    /// ```
    /// use fly_lie::SE3;
    /// use nalgebra::Vector6;
    ///
    /// let pose = SE3::<f64>::exp(&Vector6::new(1.0, 2.0, 3.0, 0.4, 0.5, 0.6));
    /// assert!((pose.adjoint_inverse() - pose.inverse().adjoint()).norm() < 1e-14);
    /// ```
    #[inline]
    pub fn adjoint_inverse(&self) -> Matrix6<T> {
        let R = self.rotation.matrix();
        upper_triangular(&R.transpose(), &crossed(&self.translation, R).transpose())
    }

    /// `ad(xi)`, Konz (4.52b): [`operators::ad`](crate::operators::ad).
    #[inline]
    pub fn ad(xi: &Vector6<T>) -> Matrix6<T> {
        ad(xi)
    }
}

lie_group!(SE3, 6, Matrix4<T>, 3);

/// `hat(r) A`: the cross products of `r` with the columns.
#[inline]
#[rustfmt::skip]
pub(crate) fn crossed<T: RealField + Copy>(r: &Vector3<T>, A: &Matrix3<T>) -> Matrix3<T> {
    let x = |j: usize| r.y * A[(2, j)] - r.z * A[(1, j)];
    let y = |j: usize| r.z * A[(0, j)] - r.x * A[(2, j)];
    let z = |j: usize| r.x * A[(1, j)] - r.y * A[(0, j)];
    Matrix3::new(
        x(0), x(1), x(2),
        y(0), y(1), y(2),
        z(0), z(1), z(2),
    )
}

/// `[[D, U], [0, D]]`
#[inline]
#[rustfmt::skip]
fn upper_triangular<T: RealField + Copy>(D: &Matrix3<T>, U: &Matrix3<T>) -> Matrix6<T> {
    let (d, u) = (|i, j| D[(i, j)], |i, j| U[(i, j)]);
    let o = T::zero();
    Matrix6::new(
        d(0, 0), d(0, 1), d(0, 2), u(0, 0), u(0, 1), u(0, 2),
        d(1, 0), d(1, 1), d(1, 2), u(1, 0), u(1, 1), u(1, 2),
        d(2, 0), d(2, 1), d(2, 2), u(2, 0), u(2, 1), u(2, 2),
        o,       o,       o,       d(0, 0), d(0, 1), d(0, 2),
        o,       o,       o,       d(1, 0), d(1, 1), d(1, 2),
        o,       o,       o,       d(2, 0), d(2, 1), d(2, 2),
    )
}

/// The derivative of `q(θ²) W + r(θ²) W²` in the direction `v`, where `dq`, `dr` are twice the derivatives of `q`, `r`:
/// `q V + r (V W + W V) + s (dq W + dr W²)`.
#[inline]
pub(crate) fn dual_part<T: RealField + Copy>(
    v: &Vector3<T>,
    w: &Vector3<T>,
    q: T,
    r: T,
    dq: T,
    dr: T,
) -> Matrix3<T> {
    let s = w.dot(v);
    let (cx, cy, cz) = (r * w.x, r * w.y, r * w.z);
    let two_s = (s + s) * r;
    let (xy, xz, yz) = (
        cx * v.y + cy * v.x,
        cx * v.z + cz * v.x,
        cy * v.z + cz * v.y,
    );
    let (qx, qy, qz) = (q * v.x, q * v.y, q * v.z);
    let symmetric = Matrix3::new(
        (cx + cx) * v.x - two_s,
        xy - qz,
        xz + qy,
        xy + qz,
        (cy + cy) * v.y - two_s,
        yz - qx,
        xz - qy,
        yz + qx,
        (cz + cz) * v.z - two_s,
    );
    symmetric + second_order(w, T::zero(), s * dq, s * dr)
}
