//! The layout of a joint's coordinates: translations along its own axes, followed by a rotation.

use nalgebra::{RealField, Vector3};

use super::{AngleCoordinates, AttitudeCoordinates, Joint, JointKind};

/// The rotational part of a joint's configuration and velocity, which follows the translations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rotation<T: RealField + Copy> {
    None,
    /// About z; its velocity has one entry.
    Angle(AngleCoordinates),
    /// About z, then about this unit vector: two angles and their rates.
    Universal(Vector3<T>),
    /// An arbitrary rotation; its velocity has three entries.
    Attitude(AttitudeCoordinates),
}

impl<T: RealField + Copy> Rotation<T> {
    fn config_dim(self) -> usize {
        match self {
            Self::None => 0,
            Self::Angle(AngleCoordinates::Angle) => 1,
            Self::Angle(AngleCoordinates::CosSin) | Self::Universal(_) => 2,
            Self::Attitude(AttitudeCoordinates::Quaternion) => 4,
            Self::Attitude(AttitudeCoordinates::Matrix) => 9,
        }
    }

    fn dof(self) -> usize {
        match self {
            Self::None => 0,
            Self::Angle(_) => 1,
            Self::Universal(_) => 2,
            Self::Attitude(_) => 3,
        }
    }
}

impl<T: RealField + Copy> Joint<T> {
    /// The number of its leading velocities that are translations, m/s: one along z, two along x and y, or all three. The others, and
    /// that of a screw, are rotations, rad/s.
    #[inline]
    pub fn translations(&self) -> usize {
        match self.kind {
            JointKind::Prismatic | JointKind::Cylindrical(_) => 1,
            JointKind::Planar(_) => 2,
            JointKind::Schoenflies(_) | JointKind::Free(_) => 3,
            _ => 0,
        }
    }

    /// The rotation that follows them.
    #[inline]
    pub(crate) fn rotation(&self) -> Rotation<T> {
        match self.kind {
            JointKind::Fixed | JointKind::Prismatic => Rotation::None,
            JointKind::Screw { .. } => Rotation::Angle(AngleCoordinates::Angle),
            JointKind::Revolute(a)
            | JointKind::Cylindrical(a)
            | JointKind::Planar(a)
            | JointKind::Schoenflies(a) => Rotation::Angle(a),
            JointKind::Universal { second } => Rotation::Universal(second),
            JointKind::Spherical(a) | JointKind::AbsoluteSpherical(a) | JointKind::Free(a) => {
                Rotation::Attitude(a)
            }
        }
    }

    /// The number of its coordinates in the configuration.
    pub fn config_dim(&self) -> usize {
        self.translations() + self.rotation().config_dim()
    }

    /// Its degrees of freedom: the number of its velocities.
    pub fn dof(&self) -> usize {
        self.translations() + self.rotation().dof()
    }

    /// The x, y and z components of the translations at the start of the slice.
    #[inline]
    pub(in crate::multibody) fn translation(&self, numbers: &[T]) -> Vector3<T> {
        let o = T::zero();
        match self.translations() {
            0 => Vector3::zeros(),
            1 => Vector3::new(o, o, numbers[0]),
            2 => Vector3::new(numbers[0], numbers[1], o),
            _ => Vector3::new(numbers[0], numbers[1], numbers[2]),
        }
    }

    /// Writes the components of a vector along the joint's translations.
    #[inline]
    pub(in crate::multibody) fn write_translation(&self, v: &Vector3<T>, numbers: &mut [T]) {
        match self.translations() {
            0 => {}
            1 => numbers[0] = v.z,
            2 => numbers[..2].copy_from_slice(&[v.x, v.y]),
            _ => numbers[..3].copy_from_slice(&[v.x, v.y, v.z]),
        }
    }
}
