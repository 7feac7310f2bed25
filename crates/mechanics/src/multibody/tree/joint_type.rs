//! The joint types of the tree: degrees of freedom, motion subspaces and forces.

use nalgebra::RealField;

use crate::multibody::simd::{Vec3, fma};
use crate::multibody::spatial::SpatialVector;
use crate::multibody::{AngleCoordinates, AttitudeCoordinates, JointKind};

/// The joint types of the tree. The passes inline revolute and free joints and call the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointType<T> {
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

impl<T: RealField + Copy> JointType<T> {
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

    #[inline]
    pub fn is_revolute(&self) -> bool {
        matches!(self, Self::Revolute(_))
    }

    /// Whether attitude and velocity are relative to the world.
    #[inline]
    pub fn is_absolute(&self) -> bool {
        matches!(self, Self::AbsoluteSpherical(_))
    }

    /// Whether all its directions are rotations about the node's origin.
    #[inline]
    pub fn is_rotation(&self) -> bool {
        matches!(
            self,
            Self::Revolute(_) | Self::Spherical(_) | Self::AbsoluteSpherical(_)
        )
    }

    /// `S ξ`: the twist of these velocities.
    #[inline]
    pub fn twist(&self, xi: &[T]) -> SpatialVector<T> {
        if let Self::Free(_) = self {
            SpatialVector::from_slice(xi)
        } else {
            self.twist_of_joint(xi)
        }
    }

    #[inline(never)]
    fn twist_of_joint(&self, xi: &[T]) -> SpatialVector<T> {
        let o = T::zero();
        let (linear, angular) = match *self {
            Self::Free(_) => return SpatialVector::from_slice(xi),
            Self::Spherical(_) | Self::AbsoluteSpherical(_) => {
                return SpatialVector::new(Vec3::zero(), Vec3::from_slice(xi));
            }
            Self::Revolute(_) => ([o, o, o], [o, o, xi[0]]),
            Self::Prismatic => ([o, o, xi[0]], [o, o, o]),
            Self::Screw { pitch } => ([o, o, pitch * xi[0]], [o, o, xi[0]]),
            Self::Cylindrical(_) => ([o, o, xi[0]], [o, o, xi[1]]),
            Self::Planar(_) => ([xi[0], xi[1], o], [o, o, xi[2]]),
            Self::Schoenflies(_) => ([xi[0], xi[1], xi[2]], [o, o, xi[3]]),
        };
        SpatialVector::new(Vec3::from_slice(&linear), Vec3::from_slice(&angular))
    }

    /// The k-th column of `S`.
    #[inline]
    pub fn direction(&self, k: usize) -> SpatialVector<T> {
        let mut unit = [T::zero(); 6];
        unit[k] = T::one();
        self.twist(&unit)
    }

    /// `S^T w`: the generalised force of a wrench.
    #[inline]
    pub fn project(&self, wrench: SpatialVector<T>, tau: &mut [T]) {
        match self {
            Self::Revolute(_) => tau[0] = wrench.angular.z(),
            Self::Free(_) => wrench.write(tau),
            _ => self.project_on_joint(wrench, tau),
        }
    }

    #[inline(never)]
    fn project_on_joint(&self, wrench: SpatialVector<T>, tau: &mut [T]) {
        let (f, n) = (wrench.linear, wrench.angular);
        match *self {
            Self::Revolute(_) => tau[0] = n.z(),
            Self::Prismatic => tau[0] = f.z(),
            Self::Screw { pitch } => tau[0] = fma(pitch, f.z(), n.z()),
            Self::Cylindrical(_) => (tau[0], tau[1]) = (f.z(), n.z()),
            Self::Spherical(_) | Self::AbsoluteSpherical(_) => n.write(tau),
            Self::Planar(_) => (tau[0], tau[1], tau[2]) = (f.x(), f.y(), n.z()),
            Self::Schoenflies(_) => {
                f.write(tau);
                tau[3] = n.z();
            }
            Self::Free(_) => wrench.write(tau),
        }
    }
}
