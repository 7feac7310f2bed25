//! What a joint of a [`Tree`](super::tree::Tree) lets move, in axes of which the third is the joint's.

use nalgebra::{Matrix3, RealField, Vector3};

use super::lanes::{LanePair, Lanes};
use super::spatial::{Wrench, fma, product, turn};
use crate::multibody::joint::attitude;
use crate::multibody::{AngleCoordinates, AttitudeCoordinates, JointKind};

/// The kinds of joints of a tree. There is no fixed one, and a universal joint is two revolute ones: so a joint's directions are always
/// constant in its body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion<T: RealField + Copy> {
    Revolute(AngleCoordinates),
    Prismatic,
    Screw { pitch: T },
    Cylindrical(AngleCoordinates),
    Spherical(AttitudeCoordinates),
    AbsoluteSpherical(AttitudeCoordinates),
    Planar(AngleCoordinates),
    Schoenflies(AngleCoordinates),
    Free(AttitudeCoordinates),
}

/// A twist `[v; omega]` in a body's axes.
#[derive(Clone, Copy, Debug)]
pub struct Twist<T: RealField + Copy> {
    pub linear: Vector3<T>,
    pub angular: Vector3<T>,
}

impl<T: RealField + Copy> Twist<T> {
    #[inline]
    pub fn zero() -> Self {
        Self {
            linear: Vector3::zeros(),
            angular: Vector3::zeros(),
        }
    }
}

impl<T: RealField + Copy> Motion<T> {
    /// `None` for fixed and universal joints.
    pub fn of(kind: &JointKind<T>) -> Option<Self> {
        Some(match *kind {
            JointKind::Fixed | JointKind::Universal { .. } => return None,
            JointKind::Revolute(a) => Self::Revolute(a),
            JointKind::Prismatic => Self::Prismatic,
            JointKind::Screw { pitch } => Self::Screw { pitch },
            JointKind::Cylindrical(a) => Self::Cylindrical(a),
            JointKind::Spherical(a) => Self::Spherical(a),
            JointKind::AbsoluteSpherical(a) => Self::AbsoluteSpherical(a),
            JointKind::Planar(a) => Self::Planar(a),
            JointKind::Schoenflies(a) => Self::Schoenflies(a),
            JointKind::Free(a) => Self::Free(a),
        })
    }

    #[inline]
    pub fn dof(&self) -> usize {
        match self {
            Self::Revolute(_) | Self::Prismatic | Self::Screw { .. } => 1,
            Self::Cylindrical(_) => 2,
            Self::Spherical(_) | Self::AbsoluteSpherical(_) | Self::Planar(_) => 3,
            Self::Schoenflies(_) => 4,
            Self::Free(_) => 6,
        }
    }

    /// Whether attitude and velocity are relative to the world.
    #[inline]
    pub fn is_absolute(&self) -> bool {
        matches!(self, Self::AbsoluteSpherical(_))
    }

    /// Rotation and translation of the body in its parent, of an absolute joint the rotation in the world. `x` starts with the joint's
    /// coordinates; `R` and `p` are those of the joint's place.
    #[inline]
    pub fn place(&self, x: &[T], R: &Matrix3<T>, p: &Vector3<T>) -> (Matrix3<T>, Vector3<T>) {
        let along = |x: T| Vector3::new(fma(R.m13, x, p.x), fma(R.m23, x, p.y), fma(R.m33, x, p.z));
        let moved = |x: &[T]| p + turn(R, &Vector3::new(x[0], x[1], x[2]));
        match *self {
            Self::Revolute(a) => (about_z(R, a, x), *p),
            Self::Prismatic => (*R, along(x[0])),
            Self::Screw { pitch } => (about_z(R, AngleCoordinates::Angle, x), along(pitch * x[0])),
            Self::Cylindrical(a) => (about_z(R, a, &x[1..]), along(x[0])),
            Self::Spherical(a) => (product(R, attitude(a, x).matrix()), *p),
            Self::AbsoluteSpherical(a) => (*attitude(a, x).matrix(), *p),
            Self::Planar(a) => {
                let xy = Vector3::new(x[0], x[1], T::zero());
                (about_z(R, a, &x[2..]), p + turn(R, &xy))
            }
            Self::Schoenflies(a) => (about_z(R, a, &x[3..]), moved(x)),
            Self::Free(a) => (product(R, attitude(a, &x[3..]).matrix()), moved(x)),
        }
    }

    /// `S xi`: the twist of these velocities.
    #[inline]
    pub fn twist(&self, xi: &[T]) -> Twist<T> {
        let o = T::zero();
        let (linear, angular) = match *self {
            Self::Revolute(_) => ([o, o, o], [o, o, xi[0]]),
            Self::Prismatic => ([o, o, xi[0]], [o, o, o]),
            Self::Screw { pitch } => ([o, o, pitch * xi[0]], [o, o, xi[0]]),
            Self::Cylindrical(_) => ([o, o, xi[0]], [o, o, xi[1]]),
            Self::Spherical(_) | Self::AbsoluteSpherical(_) => ([o, o, o], [xi[0], xi[1], xi[2]]),
            Self::Planar(_) => ([xi[0], xi[1], o], [o, o, xi[2]]),
            Self::Schoenflies(_) => ([xi[0], xi[1], xi[2]], [o, o, xi[3]]),
            Self::Free(_) => ([xi[0], xi[1], xi[2]], [xi[3], xi[4], xi[5]]),
        };
        Twist {
            linear: linear.into(),
            angular: angular.into(),
        }
    }

    /// `S^T w`: the generalised force of a wrench.
    #[inline]
    pub fn force(&self, w: &Wrench<T>, tau: &mut [T]) {
        let (f, n) = (&w.force, &w.torque);
        match *self {
            Self::Revolute(_) => tau[0] = n.z,
            Self::Prismatic => tau[0] = f.z,
            Self::Screw { pitch } => tau[0] = fma(pitch, f.z, n.z),
            Self::Cylindrical(_) => (tau[0], tau[1]) = (f.z, n.z),
            Self::Spherical(_) | Self::AbsoluteSpherical(_) => {
                tau[..3].copy_from_slice(n.as_slice());
            }
            Self::Planar(_) => (tau[0], tau[1], tau[2]) = (f.x, f.y, n.z),
            Self::Schoenflies(_) => (tau[0], tau[1], tau[2], tau[3]) = (f.x, f.y, f.z, n.z),
            Self::Free(_) => {
                tau[..3].copy_from_slice(f.as_slice());
                tau[3..6].copy_from_slice(n.as_slice());
            }
        }
    }
}

/// # In vector registers
///
/// Hinges are inlined into the passes, other joints called.
impl<T: RealField + Copy> Motion<T> {
    #[inline]
    pub fn is_hinge(&self) -> bool {
        matches!(self, Self::Revolute(_))
    }

    /// [`twist`](Self::twist).
    pub fn rates(&self, xi: &[T]) -> LanePair<T> {
        match self {
            Self::Free(_) => LanePair::of(xi),
            Self::Spherical(_) | Self::AbsoluteSpherical(_) => LanePair {
                linear: Lanes::zero(),
                angular: Lanes::of(xi),
            },
            _ => {
                let Twist { linear, angular } = self.twist(xi);
                LanePair {
                    linear: linear.into(),
                    angular: angular.into(),
                }
            }
        }
    }

    /// [`force`](Self::force).
    #[inline]
    pub fn project(&self, w: LanePair<T>, tau: &mut [T]) {
        if self.is_hinge() {
            tau[0] = w.angular.z();
        } else {
            self.project_on_any(w, tau);
        }
    }

    #[inline(never)]
    fn project_on_any(&self, w: LanePair<T>, tau: &mut [T]) {
        match self {
            Self::Spherical(_) | Self::AbsoluteSpherical(_) => w.angular.write(tau),
            Self::Free(_) => w.write(tau),
            _ => {
                let (force, torque) = (w.linear.vector(), w.angular.vector());
                self.force(&Wrench { force, torque }, tau);
            }
        }
    }
}

/// `R` times a rotation about z: it mixes two columns.
#[inline]
fn about_z<T: RealField + Copy>(R: &Matrix3<T>, a: AngleCoordinates, x: &[T]) -> Matrix3<T> {
    let (s, c) = match a {
        AngleCoordinates::Angle => x[0].sin_cos(),
        AngleCoordinates::CosSin => (x[1], x[0]),
    };
    let mixed = |a: T, b: T| (fma(a, c, b * s), fma(b, c, -(a * s)));
    let ((m11, m12), (m21, m22), (m31, m32)) = (
        mixed(R.m11, R.m12),
        mixed(R.m21, R.m22),
        mixed(R.m31, R.m32),
    );
    Matrix3::new(m11, m12, R.m13, m21, m22, R.m23, m31, m32, R.m33)
}
