//! The group `SE_2(3)` of extended poses: attitude, velocity and position.

use core::ops::Mul;

use nalgebra::{
    ComplexField, Matrix3, Matrix5, RealField, SMatrix, SVector, Vector3, Vector4, convert,
};

use crate::coefficients::{Coefficients, Derivatives, inverse_coefficient, inverse_derivative};
use crate::group::lie_group;
use crate::operators::{hat3, vee3};
use crate::se3::{crossed, dual_part};
use crate::so3::second_order;
use crate::{NotInGroup, SO3};

/// An extended pose, `[[R, v, p], [0, 1, 0], [0, 0, 1]]`: the state of inertial navigation (Barrau and Bonnabel 2017).
///
/// Its tangent vectors are `[omega; v; p]`, nine entries. It maps an event `[x; t]`, a point of the body at a time, to
/// `[R x + v t + p; t]`: the position of the point at that time if the body moves force-free without rotating. Kinematics (`p_dot = v`)
/// is not part of the group.
///
/// ```
/// use fly_lie::{SE23, SO3};
/// use nalgebra::{Vector3, Vector4};
///
/// let X = SE23::new(SO3::<f64>::identity(), Vector3::new(2.0, 0.0, 0.0), Vector3::z());
/// assert_eq!(X.act(&Vector4::new(0.0, 0.0, 0.0, 3.0)), Vector4::new(6.0, 0.0, 1.0, 3.0));
/// assert!((SE23::exp(&X.log()).matrix() - X.matrix()).norm() < 1e-15);
/// assert!(((X * X.inverse()).matrix() - SE23::identity().matrix()).norm() < 1e-15);
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
pub struct SE23<T: RealField + Copy> {
    /// The orientation `R`, world from body.
    pub rotation: SO3<T>,
    /// The velocity `v` of the body's origin, in the world frame.
    pub velocity: Vector3<T>,
    /// The position `p` of the body's origin, in the world frame.
    pub position: Vector3<T>,
}

/// # Parameters
impl<T: RealField + Copy> SE23<T> {
    /// The extended pose with this orientation, velocity and position.
    #[inline]
    pub fn new(rotation: SO3<T>, velocity: Vector3<T>, position: Vector3<T>) -> Self {
        Self {
            rotation,
            velocity,
            position,
        }
    }

    /// The extended pose of a 5x5 matrix, unchecked.
    #[inline]
    pub fn from_matrix(matrix: &Matrix5<T>) -> Self {
        Self::new(
            SO3::from_matrix(matrix.fixed_view::<3, 3>(0, 0).into_owned()),
            matrix.fixed_view::<3, 1>(0, 3).into_owned(),
            matrix.fixed_view::<3, 1>(0, 4).into_owned(),
        )
    }

    /// The extended pose of a 5x5 matrix, checked within `tolerance`.
    ///
    /// # Errors
    /// Those of [`SO3::try_from_matrix`], and [`NotInGroup::BottomRow`].
    ///
    /// ```
    /// use fly_lie::{NotInGroup, SE23};
    /// use nalgebra::Matrix5;
    ///
    /// let mut matrix = Matrix5::<f64>::identity();
    /// assert_eq!(SE23::try_from_matrix(&matrix, 1e-12), Ok(SE23::identity()));
    /// matrix[(3, 4)] = 1.0;
    /// assert_eq!(SE23::try_from_matrix(&matrix, 1e-12), Err(NotInGroup::BottomRow));
    /// ```
    pub fn try_from_matrix(matrix: &Matrix5<T>, tolerance: T) -> Result<Self, NotInGroup<T>> {
        if !matrix.iter().all(ComplexField::is_finite) {
            return Err(NotInGroup::NotFinite);
        }
        let bottom = matrix.fixed_rows::<2>(3) - Matrix5::identity().fixed_rows::<2>(3);
        if bottom.amax() > tolerance {
            return Err(NotInGroup::BottomRow);
        }
        let rotation = matrix.fixed_view::<3, 3>(0, 0).into_owned();
        Ok(Self {
            rotation: SO3::try_from_matrix(rotation, tolerance)?,
            ..Self::from_matrix(matrix)
        })
    }

    /// The 5x5 matrix `[[R, v, p], [0, 1, 0], [0, 0, 1]]`.
    #[inline]
    pub fn matrix(&self) -> Matrix5<T> {
        let mut X = Matrix5::identity();
        X.fixed_view_mut::<3, 3>(0, 0)
            .copy_from(self.rotation.matrix());
        X.fixed_view_mut::<3, 1>(0, 3).copy_from(&self.velocity);
        X.fixed_view_mut::<3, 1>(0, 4).copy_from(&self.position);
        X
    }
}

/// # Group structure
impl<T: RealField + Copy> SE23<T> {
    /// At rest at the origin, aligned with the world.
    #[inline]
    pub fn identity() -> Self {
        Self::new(SO3::identity(), Vector3::zeros(), Vector3::zeros())
    }

    /// `[[R^T, -R^T v, -R^T p], [0, 1, 0], [0, 0, 1]]`.
    #[must_use]
    #[inline]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.inverse();
        Self::new(
            rotation,
            rotation.act(&-self.velocity),
            rotation.act(&-self.position),
        )
    }

    /// The event `[x; t]` in the world: `[R x + v t + p; t]`.
    #[inline]
    pub fn act(&self, event: &Vector4<T>) -> Vector4<T> {
        let point = self.rotation.act(&event.xyz()) + self.velocity * event.w + self.position;
        Vector4::new(point.x, point.y, point.z, event.w)
    }
}

impl<T: RealField + Copy> Mul for SE23<T> {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self::new(
            self.rotation * other.rotation,
            self.rotation.act(&other.velocity) + self.velocity,
            self.rotation.act(&other.position) + self.position,
        )
    }
}

/// # Hat and vee
impl<T: RealField + Copy> SE23<T> {
    /// From `[omega; v; p]` to the algebra: `[[hat(omega), v, p], [0, 0, 0], [0, 0, 0]]`.
    #[inline]
    pub fn hat(x: &SVector<T, 9>) -> Matrix5<T> {
        let (w, v, p) = split(x);
        let mut X = Matrix5::zeros();
        X.fixed_view_mut::<3, 3>(0, 0).copy_from(&hat3(&w));
        X.fixed_view_mut::<3, 1>(0, 3).copy_from(&v);
        X.fixed_view_mut::<3, 1>(0, 4).copy_from(&p);
        X
    }

    /// From the algebra to `[omega; v; p]`.
    #[inline]
    pub fn vee(X: &Matrix5<T>) -> SVector<T, 9> {
        stack(
            &vee3(&X.fixed_view::<3, 3>(0, 0).into_owned()),
            &X.fixed_view::<3, 1>(0, 3).into_owned(),
            &X.fixed_view::<3, 1>(0, 4).into_owned(),
        )
    }
}

/// # Exponential and logarithm
impl<T: RealField + Copy> SE23<T> {
    /// `[exp omega, J_l(omega) v, J_l(omega) p]`.
    #[inline]
    pub fn exp(x: &SVector<T, 9>) -> Self {
        let (w, v, p) = split(x);
        let k = Coefficients::new(w.norm_squared());
        let J = second_order(&w, T::one(), k.b, k.c);
        let R = second_order(&w, T::one(), k.a, k.b);
        Self::new(SO3::from_matrix(R), J * v, J * p)
    }

    /// The principal `x` with `exp(x) = self` and a rotation angle of at most `pi`:
    /// `[omega; J_l(omega)^-1 v; J_l(omega)^-1 p]`.
    #[inline]
    pub fn log(&self) -> SVector<T, 9> {
        let w = self.rotation.log();
        let J = SO3::left_jacobian_inverse(&w);
        stack(&w, &(J * self.velocity), &(J * self.position))
    }
}

/// # Jacobians
impl<T: RealField + Copy> SE23<T> {
    /// `J_l`: `d/dt exp(x) = hat(J_l x_dot) exp(x)`, `[[J, 0, 0], [Q(v), J, 0], [Q(p), 0, J]]` with the `Q` of
    /// [`SE3::left_jacobian`](crate::SE3::left_jacobian) for each of the two.
    #[inline]
    pub fn left_jacobian(x: &SVector<T, 9>) -> SMatrix<T, 9, 9> {
        let (w, v, p) = split(x);
        let t2 = w.norm_squared();
        let k = Coefficients::new(t2);
        let dk = Derivatives::new(t2, &k);
        let Q = |u| dual_part(u, &w, k.b, k.c, dk.db, dk.dc);
        lower_triangular(&second_order(&w, T::one(), k.b, k.c), &Q(&v), &Q(&p))
    }

    /// `J_r = J_l(-x)`: `d/dt exp(x) = exp(x) hat(J_r x_dot)`.
    #[inline]
    pub fn right_jacobian(x: &SVector<T, 9>) -> SMatrix<T, 9, 9> {
        Self::left_jacobian(&-x)
    }

    /// The inverse of the left Jacobian; it exists for `|omega| < 2 pi`.
    #[inline]
    pub fn left_jacobian_inverse(x: &SVector<T, 9>) -> SMatrix<T, 9, 9> {
        let (w, v, p) = split(x);
        let t2 = w.norm_squared();
        let d = inverse_coefficient(t2);
        let dd = inverse_derivative(t2, d);
        let minus_half: T = convert(-0.5);
        let Q = |u| dual_part(u, &w, minus_half, d, T::zero(), dd);
        lower_triangular(&second_order(&w, T::one(), minus_half, d), &Q(&v), &Q(&p))
    }

    /// The inverse of the right Jacobian; it exists for `|omega| < 2 pi`.
    #[inline]
    pub fn right_jacobian_inverse(x: &SVector<T, 9>) -> SMatrix<T, 9, 9> {
        Self::left_jacobian_inverse(&-x)
    }
}

/// # Adjoint
impl<T: RealField + Copy> SE23<T> {
    /// `Ad(X) = [[R, 0, 0], [hat(v) R, R, 0], [hat(p) R, 0, R]]`.
    #[inline]
    pub fn adjoint(&self) -> SMatrix<T, 9, 9> {
        let R = self.rotation.matrix();
        lower_triangular(R, &crossed(&self.velocity, R), &crossed(&self.position, R))
    }

    /// `ad(x) = [[hat(omega), 0, 0], [hat(v), hat(omega), 0], [hat(p), 0, hat(omega)]]`.
    #[inline]
    pub fn ad(x: &SVector<T, 9>) -> SMatrix<T, 9, 9> {
        let (w, v, p) = split(x);
        lower_triangular(&hat3(&w), &hat3(&v), &hat3(&p))
    }
}

lie_group!(SE23, 9, Matrix5<T>, 4);

/// `(omega, v, p)`
#[inline]
fn split<T: RealField + Copy>(x: &SVector<T, 9>) -> (Vector3<T>, Vector3<T>, Vector3<T>) {
    let part = |i| x.fixed_rows::<3>(i).into_owned();
    (part(0), part(3), part(6))
}

/// `[omega; v; p]`
#[inline]
fn stack<T: RealField + Copy>(w: &Vector3<T>, v: &Vector3<T>, p: &Vector3<T>) -> SVector<T, 9> {
    SVector::from_fn(|i, _| [w, v, p][i / 3][i % 3])
}

/// `[[D, 0, 0], [V, D, 0], [P, 0, D]]`
#[inline]
fn lower_triangular<T: RealField + Copy>(
    D: &Matrix3<T>,
    V: &Matrix3<T>,
    P: &Matrix3<T>,
) -> SMatrix<T, 9, 9> {
    let mut A = SMatrix::<T, 9, 9>::zeros();
    for i in [0, 3, 6] {
        A.fixed_view_mut::<3, 3>(i, i).copy_from(D);
    }
    A.fixed_view_mut::<3, 3>(3, 0).copy_from(V);
    A.fixed_view_mut::<3, 3>(6, 0).copy_from(P);
    A
}
