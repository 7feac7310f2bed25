//! The lower pairs: the subgroups of SE(3) of joint motions (From I, Tables 1 and 2), and their placement in space.
//!
//! | joint | group | velocity | selection matrix `H` |
//! |---|---|---|---|
//! | prismatic (along z) | [`Prismatic`], R | `[v_z]` | e₃ |
//! | revolute (about z) | [`Revolute`], SO(2) | `[omega_z]` | e₆ |
//! | screw (about z) | [`Screw`], H | `[omega_z]` | e₆ + pitch e₃ |
//! | cylindrical (about z) | [`Cylindrical`], SO(2) x R | `[omega_z; v_z]` | e₆, e₃ |
//! | planar (in x, y) | [`Planar`], SE(2) | `[v_x, v_y, omega_z]` | From I (77) |
//! | spherical | [`Spherical`], SO(3) | `[omega]` | e₄, e₅, e₆ |
//! | Schönflies (about z) | [`Schoenflies`](crate::Schoenflies), X | `[v_x, v_y, v_z, omega_z]` | From I (88) |
//! | in space | [`Rn<T, 3>`], R³ | `[v]` | e₁, e₂, e₃ |
//! | free | [`SE3`](crate::SE3) | `[v; omega]` | I |
//!
//! Another axis is a conjugation: `A g A^-1`, whose twist is `Ad(A) H v`.

use core::fmt::Debug;
use core::marker::PhantomData;
use core::ops::Mul;

use nalgebra::{Matrix1, RealField, SMatrix, Vector1, Vector3, Vector6, convert};

use crate::operators::{angular, join};
use crate::{
    CoordinateVector, LieGroup, Pair, Product, Rn, SE2, SE3, SO2, SO3, Schoenflies, UnitQuaternion,
};

/// A prismatic joint along z.
pub type Prismatic<T> = Rn<T, 1>;
/// A revolute joint about z.
pub type Revolute<T> = SO2<T>;
/// A cylindrical joint along z, `[omega_z; v_z]`.
pub type Cylindrical<T> = Product<SO2<T>, Rn<T, 1>>;
/// A planar joint: translations in the x-y plane and rotation about z.
pub type Planar<T> = SE2<T>;
/// A ball joint.
pub type Spherical<T> = SO3<T>;

/// A group of rigid-body motions: a subgroup of SE(3), with the selection matrix `H` of From I, `xi = H v`.
///
/// ```
/// use fly_lie::{Planar, Subgroup, SE3};
/// use nalgebra::Vector3;
///
/// let v = Vector3::new(0.4, 0.1, 0.9);
/// let pose = Planar::exp(&v).pose();
/// let same = SE3::exp(&Planar::twist(&v));
/// assert!((pose.matrix() - same.matrix()).norm() < 1e-15);
/// ```
pub trait Subgroup<T: RealField + Copy>: LieGroup<T> {
    /// The element as a pose.
    fn pose(&self) -> SE3<T>;

    /// The twist `H v` of a velocity.
    ///
    /// ```
    /// use fly_lie::{Revolute, Subgroup};
    /// use nalgebra::{Vector1, Vector6};
    ///
    /// let turning = Revolute::<f64>::twist(&Vector1::new(2.0));
    /// assert_eq!(turning, Vector6::new(0.0, 0.0, 0.0, 0.0, 0.0, 2.0));
    /// ```
    fn twist(v: &Self::Tangent) -> Vector6<T>;

    /// The generalised force `H^T f` of a wrench `[f; tau]`.
    ///
    /// ```
    /// use fly_lie::{Prismatic, Revolute, Subgroup};
    /// use nalgebra::{Vector1, Vector6};
    ///
    /// let wrench = Vector6::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);
    /// assert_eq!(Revolute::force(&wrench), Vector1::new(6.0), "the torque about z");
    /// assert_eq!(Prismatic::force(&wrench), Vector1::new(3.0), "the force along z");
    /// ```
    fn force(wrench: &Vector6<T>) -> Self::Tangent;

    /// `H` itself, 6 x [`DOF`](LieGroup::DOF): `xi = H v`, and for a body with the inertia I `M = Hᵀ I H`, From I (58), (60). A wrong number of
    /// columns does not compile.
    ///
    /// ```
    /// use fly_lie::{Planar, Subgroup};
    /// use nalgebra::{Matrix6, Matrix6x3, Vector3};
    ///
    /// // A disc of 2 kg and 0.5 kg m² that slides on a table.
    /// let inertia = Matrix6::from_diagonal(&[2.0, 2.0, 2.0, 0.3, 0.3, 0.5].into());
    /// let H: Matrix6x3<f64> = Planar::<f64>::selection_matrix();
    /// assert_eq!((H.transpose() * inertia * H).diagonal(), Vector3::new(2.0, 2.0, 0.5));
    /// ```
    fn selection_matrix<const DOF: usize>() -> SMatrix<T, 6, DOF> {
        const { assert!(DOF == Self::DOF, "one column for each velocity") };
        let mut H = SMatrix::<T, 6, DOF>::zeros();
        for (j, mut column) in H.column_iter_mut().enumerate() {
            let unit = |i| if i == j { T::one() } else { T::zero() };
            column.copy_from(&Self::twist(&Self::Tangent::from_fn(unit)));
        }
        H
    }
}

/// The pitch of a [`Screw`]: its advance along z per radian.
pub trait Pitch: Copy + Debug + PartialEq {
    /// Metres per radian.
    const PITCH: f64;
}

/// A screw joint about z: the helical group H, whose element is its unbounded angle.
///
/// ```
/// use fly_lie::{Pitch, Screw, Subgroup};
///
/// /// A trapezoidal spindle: 4 mm per turn.
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Tr20x4;
/// impl Pitch for Tr20x4 {
///     const PITCH: f64 = 0.004 / std::f64::consts::TAU;
/// }
///
/// let five_turns = Screw::<f64, Tr20x4>::from_angle(5.0 * std::f64::consts::TAU);
/// assert!((five_turns.pose().translation.z - 0.020).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(
        transparent,
        bound(
            serialize = "T: serde::Serialize",
            deserialize = "T: serde::Deserialize<'de>"
        )
    )
)]
pub struct Screw<T, P> {
    angle: T,
    #[cfg_attr(feature = "serde", serde(skip))]
    pitch: PhantomData<P>,
}

impl<T: RealField + Copy, P: Pitch> Screw<T, P> {
    /// The screw rotated by an angle, over any number of turns.
    #[inline]
    pub fn from_angle(angle: T) -> Self {
        Self {
            angle,
            pitch: PhantomData,
        }
    }

    /// The angle, over any number of turns.
    #[inline]
    pub fn angle(&self) -> T {
        self.angle
    }
}

impl<T: RealField + Copy, P: Pitch> Mul for Screw<T, P> {
    type Output = Self;

    #[expect(
        clippy::suspicious_arithmetic_impl,
        reason = "the group's product is the sum"
    )]
    #[inline]
    fn mul(self, other: Self) -> Self {
        Self::from_angle(self.angle + other.angle)
    }
}

impl<T: RealField + Copy, P: Pitch> LieGroup<T> for Screw<T, P> {
    type Tangent = Vector1<T>;
    type Operator = Matrix1<T>;
    type Algebra = Vector1<T>;
    type Point = Vector3<T>;

    #[inline]
    fn identity() -> Self {
        Self::from_angle(T::zero())
    }

    #[inline]
    fn inverse(&self) -> Self {
        Self::from_angle(-self.angle)
    }

    #[inline]
    fn act(&self, point: &Vector3<T>) -> Vector3<T> {
        let turned = SO2::from_angle(self.angle).act(&point.xy());
        Vector3::new(turned.x, turned.y, point.z + self.angle * convert(P::PITCH))
    }

    #[inline]
    fn hat(x: &Vector1<T>) -> Vector1<T> {
        *x
    }

    #[inline]
    fn vee(X: &Vector1<T>) -> Vector1<T> {
        *X
    }

    #[inline]
    fn exp(x: &Vector1<T>) -> Self {
        Self::from_angle(x[0])
    }

    #[inline]
    fn log(&self) -> Vector1<T> {
        Vector1::new(self.angle)
    }

    #[inline]
    fn left_jacobian(_: &Vector1<T>) -> Matrix1<T> {
        Matrix1::identity()
    }

    #[inline]
    fn left_jacobian_inverse(_: &Vector1<T>) -> Matrix1<T> {
        Matrix1::identity()
    }

    #[inline]
    fn adjoint(&self) -> Matrix1<T> {
        Matrix1::identity()
    }

    #[inline]
    fn ad(_: &Vector1<T>) -> Matrix1<T> {
        Matrix1::zeros()
    }
}

/// A rotation about z and a translation as a pose.
fn about_z<T: RealField + Copy>(rotation: &SO2<T>, translation: Vector3<T>) -> SE3<T> {
    let pose = Schoenflies::new(*rotation, translation);
    SE3::from_matrix(&pose.matrix())
}

impl<T: RealField + Copy> Subgroup<T> for Rn<T, 1> {
    fn pose(&self) -> SE3<T> {
        SE3::new(SO3::identity(), Vector3::z() * self.0[0])
    }

    fn twist(v: &Self::Tangent) -> Vector6<T> {
        join(&(Vector3::z() * v[0]), &Vector3::zeros())
    }

    fn force(wrench: &Vector6<T>) -> Self::Tangent {
        Vector1::new(wrench[2])
    }
}

impl<T: RealField + Copy> Subgroup<T> for Rn<T, 3> {
    fn pose(&self) -> SE3<T> {
        SE3::new(SO3::identity(), self.0)
    }

    fn twist(v: &Self::Tangent) -> Vector6<T> {
        join(v, &Vector3::zeros())
    }

    fn force(wrench: &Vector6<T>) -> Self::Tangent {
        crate::operators::linear(wrench)
    }
}

impl<T: RealField + Copy> Subgroup<T> for SO2<T> {
    fn pose(&self) -> SE3<T> {
        about_z(self, Vector3::zeros())
    }

    fn twist(v: &Self::Tangent) -> Vector6<T> {
        join(&Vector3::zeros(), &(Vector3::z() * v[0]))
    }

    fn force(wrench: &Vector6<T>) -> Self::Tangent {
        Vector1::new(wrench[5])
    }
}

impl<T: RealField + Copy, P: Pitch> Subgroup<T> for Screw<T, P> {
    fn pose(&self) -> SE3<T> {
        let rise: T = self.angle * convert(P::PITCH);
        about_z(&SO2::from_angle(self.angle), Vector3::z() * rise)
    }

    fn twist(v: &Self::Tangent) -> Vector6<T> {
        let rise: T = v[0] * convert(P::PITCH);
        join(&(Vector3::z() * rise), &(Vector3::z() * v[0]))
    }

    fn force(wrench: &Vector6<T>) -> Self::Tangent {
        Vector1::new(wrench[5] + wrench[2] * convert(P::PITCH))
    }
}

impl<T: RealField + Copy> Subgroup<T> for Cylindrical<T> {
    fn pose(&self) -> SE3<T> {
        about_z(&self.0, Vector3::z() * self.1.0[0])
    }

    fn twist(v: &Self::Tangent) -> Vector6<T> {
        SO2::twist(&v.0) + Rn::<T, 1>::twist(&v.1)
    }

    fn force(wrench: &Vector6<T>) -> Self::Tangent {
        Pair(SO2::force(wrench), Rn::<T, 1>::force(wrench))
    }
}

impl<T: RealField + Copy> Subgroup<T> for SE2<T> {
    fn pose(&self) -> SE3<T> {
        let r = &self.translation;
        about_z(&self.rotation, Vector3::new(r.x, r.y, T::zero()))
    }

    fn twist(v: &Self::Tangent) -> Vector6<T> {
        let o = T::zero();
        Vector6::new(v.x, v.y, o, o, o, v.z)
    }

    fn force(wrench: &Vector6<T>) -> Self::Tangent {
        Vector3::new(wrench[0], wrench[1], wrench[5])
    }
}

impl<T: RealField + Copy> Subgroup<T> for Schoenflies<T> {
    fn pose(&self) -> SE3<T> {
        about_z(&self.rotation, self.translation)
    }

    fn twist(v: &Self::Tangent) -> Vector6<T> {
        let o = T::zero();
        Vector6::new(v.x, v.y, v.z, o, o, v.w)
    }

    fn force(wrench: &Vector6<T>) -> Self::Tangent {
        Self::Tangent::new(wrench[0], wrench[1], wrench[2], wrench[5])
    }
}

impl<T: RealField + Copy> Subgroup<T> for SO3<T> {
    fn pose(&self) -> SE3<T> {
        SE3::new(*self, Vector3::zeros())
    }

    fn twist(v: &Self::Tangent) -> Vector6<T> {
        join(&Vector3::zeros(), v)
    }

    fn force(wrench: &Vector6<T>) -> Self::Tangent {
        angular(wrench)
    }
}

impl<T: RealField + Copy> Subgroup<T> for UnitQuaternion<T> {
    fn pose(&self) -> SE3<T> {
        SE3::new((*self).into(), Vector3::zeros())
    }

    fn twist(v: &Self::Tangent) -> Vector6<T> {
        SO3::twist(v)
    }

    fn force(wrench: &Vector6<T>) -> Self::Tangent {
        angular(wrench)
    }
}

impl<T: RealField + Copy> Subgroup<T> for SE3<T> {
    fn pose(&self) -> SE3<T> {
        *self
    }

    fn twist(v: &Self::Tangent) -> Vector6<T> {
        *v
    }

    fn force(wrench: &Vector6<T>) -> Self::Tangent {
        *wrench
    }
}
