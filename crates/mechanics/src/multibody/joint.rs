//! Joints: kinds, coordinates and motion.

mod layout;

pub(crate) use layout::Rotation;

use fly_lie::attitude::MinimalRotation;
use fly_lie::operators::join;
use fly_lie::{SE3, SO3};
use nalgebra::{Matrix3, RealField, Vector3, Vector4, Vector6};

use super::{JointError, Subspace};

/// The coordinates of an angle in the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AngleCoordinates {
    /// The angle itself, rad.
    #[default]
    Angle,
    /// Cosine and sine: two numbers on a circle, for example for a propeller that turns for hours, Konz (4.88).
    CosSin,
}

/// The coordinates of an attitude in the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AttitudeCoordinates {
    /// The rotation matrix, column by column: nine numbers.
    #[default]
    Matrix,
    /// A unit quaternion `w, x, y, z`: four numbers.
    Quaternion,
}

impl AttitudeCoordinates {
    /// Writes the coordinates of an attitude to the first nine or four of these numbers.
    ///
    /// # Panics
    /// There are fewer numbers.
    pub fn write<T: RealField + Copy>(self, attitude: &SO3<T>, x: &mut [T]) {
        match self {
            Self::Matrix => x[..9].copy_from_slice(attitude.matrix().as_slice()),
            Self::Quaternion => x[..4].copy_from_slice(attitude.to_quaternion().as_slice()),
        }
    }
}

/// The kinds of joints. The axis of every joint is the z axis of its own frame, see [`Joint::axes`].
///
/// | joint | configuration | velocity, of the body relative to its parent, in body axes |
/// |---|---|---|
/// | fixed | | |
/// | revolute | angle | `omega_z` |
/// | prismatic | `z` | `v_z` |
/// | screw | angle | `omega_z`; `v_z = pitch omega_z` |
/// | cylindrical | `z`, angle | `v_z`, `omega_z` |
/// | universal | two angles | their rates |
/// | spherical | attitude | `omega` (3) |
/// | absolute spherical | attitude **in the world** | `omega` (3) **relative to the world** |
/// | planar | `x`, `y`, angle | `v_x`, `v_y`, `omega_z` |
/// | Schönflies | `x`, `y`, `z`, angle | `v_x`, `v_y`, `v_z`, `omega_z` |
/// | free | position (3), attitude | `v` (3), `omega` (3) |
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum JointKind<T: RealField + Copy> {
    /// No motion.
    Fixed,
    /// A rotation about the axis.
    Revolute(AngleCoordinates),
    /// A translation along the axis.
    Prismatic,
    /// A rotation about the axis with a translation along it.
    Screw {
        /// The translation per radian, m/rad.
        pitch: T,
    },
    /// A translation along the axis and a rotation about it.
    Cylindrical(AngleCoordinates),
    /// A rotation about the axis, followed by one about a second axis carried by the first.
    Universal {
        /// The second axis in the joint's own frame, a unit vector.
        second: Vector3<T>,
    },
    /// All rotations.
    Spherical(AttitudeCoordinates),
    /// All rotations, with attitude and angular velocity relative to the world instead of the parent, as for the suspended load of
    /// Konz's Example 13. The placement's rotation has no effect.
    AbsoluteSpherical(AttitudeCoordinates),
    /// Translations perpendicular to the axis and a rotation about it: SE(2).
    Planar(AngleCoordinates),
    /// All translations and a rotation about the axis: the Schönflies group.
    Schoenflies(AngleCoordinates),
    /// All motions: SE(3).
    Free(AttitudeCoordinates),
}

/// A joint: its kind, and the rotation from the joint's own axes (z is the axis) to those of the frames it connects.
///
/// ```
/// use fly_mechanics::multibody::Joint;
/// use nalgebra::Vector3;
///
/// let elbow = Joint::<f64>::revolute(Vector3::new(0.0, 2.0, 0.0))?; // any length
/// assert_eq!(elbow.dof(), 1);
/// let half_a_turn = elbow.pose(&[std::f64::consts::PI]);
/// assert!((half_a_turn.act(&Vector3::x()) + Vector3::x()).norm() < 1e-15);
///
/// let propeller = elbow.with_cos_sin();
/// assert_eq!((propeller.config_dim(), propeller.dof()), (2, 1));
/// # Ok::<(), fly_mechanics::multibody::JointError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint<T: RealField + Copy> {
    pub(super) kind: JointKind<T>,
    pub(super) axes: SO3<T>,
}

/// # Construction
///
/// An axis may have any nonzero length. The other two axes follow it cyclically: for the axis x they are y and z.
impl<T: RealField + Copy> Joint<T> {
    /// A weld: no degrees of freedom.
    pub fn fixed() -> Self {
        Self::about_z(JointKind::Fixed)
    }

    /// A revolute joint: one rotation about the axis.
    ///
    /// # Errors
    /// [`JointError::ZeroAxis`], [`JointError::NotFinite`].
    pub fn revolute(axis: Vector3<T>) -> Result<Self, JointError> {
        Self::along(JointKind::Revolute(AngleCoordinates::Angle), axis)
    }

    /// A prismatic joint: one translation along the axis.
    ///
    /// # Errors
    /// As [`Joint::revolute`].
    pub fn prismatic(axis: Vector3<T>) -> Result<Self, JointError> {
        Self::along(JointKind::Prismatic, axis)
    }

    /// A screw joint; `pitch` is the translation per radian, m/rad.
    ///
    /// # Errors
    /// As [`Joint::revolute`].
    pub fn screw(axis: Vector3<T>, pitch: T) -> Result<Self, JointError> {
        if !pitch.is_finite() {
            let found = pitch.to_string();
            return Err(JointError::NotFinite {
                what: "pitch",
                found,
            });
        }
        Self::along(JointKind::Screw { pitch }, axis)
    }

    /// A cylindrical joint: a translation along the axis and a rotation about it.
    ///
    /// # Errors
    /// As [`Joint::revolute`].
    pub fn cylindrical(axis: Vector3<T>) -> Result<Self, JointError> {
        Self::along(JointKind::Cylindrical(AngleCoordinates::Angle), axis)
    }

    /// A universal joint: a rotation about `first`, followed by one about `second`, which the first one carries.
    ///
    /// # Errors
    /// As [`Joint::revolute`]; [`JointError::ParallelAxes`].
    pub fn universal(first: Vector3<T>, second: Vector3<T>) -> Result<Self, JointError> {
        let second = unit(second)?;
        let axes = axes_along(unit(first)?);
        let second = axes.inverse().act(&second);
        // An angle below a ten-thousandth of a radian is a typing error, and badly conditioned.
        if Vector3::z().cross(&second).norm() < nalgebra::convert(1e-4) {
            return Err(JointError::ParallelAxes);
        }
        Ok(Self {
            kind: JointKind::Universal { second },
            axes,
        })
    }

    /// A spherical joint (ball joint): all rotations.
    pub fn spherical() -> Self {
        Self::about_z(JointKind::Spherical(AttitudeCoordinates::Matrix))
    }

    /// A spherical joint whose attitude and angular velocity are relative to the world.
    pub fn absolute_spherical() -> Self {
        Self::about_z(JointKind::AbsoluteSpherical(AttitudeCoordinates::Matrix))
    }

    /// A planar joint, SE(2): translations in the plane with this normal and a rotation about the normal.
    ///
    /// # Errors
    /// As [`Joint::revolute`].
    pub fn planar(normal: Vector3<T>) -> Result<Self, JointError> {
        Self::along(JointKind::Planar(AngleCoordinates::Angle), normal)
    }

    /// A Schönflies joint: all translations and a rotation about one direction.
    ///
    /// # Errors
    /// As [`Joint::revolute`].
    pub fn schoenflies(axis: Vector3<T>) -> Result<Self, JointError> {
        Self::along(JointKind::Schoenflies(AngleCoordinates::Angle), axis)
    }

    /// A free joint, SE(3): six degrees of freedom.
    pub fn free() -> Self {
        Self::about_z(JointKind::Free(AttitudeCoordinates::Matrix))
    }

    /// The same joint with cosine and sine of its angle in the configuration; no effect on joints without an angle, and on screw and
    /// universal joints.
    #[must_use]
    pub fn with_cos_sin(mut self) -> Self {
        if let JointKind::Revolute(angle)
        | JointKind::Cylindrical(angle)
        | JointKind::Planar(angle)
        | JointKind::Schoenflies(angle) = &mut self.kind
        {
            *angle = AngleCoordinates::CosSin;
        }
        self
    }

    /// The same joint with a unit quaternion in the configuration instead of a rotation matrix; no effect on joints
    /// without an attitude.
    #[must_use]
    pub fn with_quaternion(mut self) -> Self {
        if let JointKind::Spherical(attitude)
        | JointKind::AbsoluteSpherical(attitude)
        | JointKind::Free(attitude) = &mut self.kind
        {
            *attitude = AttitudeCoordinates::Quaternion;
        }
        self
    }

    fn about_z(kind: JointKind<T>) -> Self {
        Self {
            kind,
            axes: SO3::identity(),
        }
    }

    fn along(kind: JointKind<T>, axis: Vector3<T>) -> Result<Self, JointError> {
        Ok(Self {
            kind,
            axes: axes_along(unit(axis)?),
        })
    }
}

/// # Access
impl<T: RealField + Copy> Joint<T> {
    /// The kind of joint.
    pub fn kind(&self) -> &JointKind<T> {
        &self.kind
    }

    /// The rotation from the joint's own axes to those of the frames it connects; its third column is the joint's axis.
    pub fn axes(&self) -> &SO3<T> {
        &self.axes
    }

    /// Returns whether it has a single coordinate, a position whose rate is its velocity.
    pub fn is_position(&self) -> bool {
        matches!(
            self.kind,
            JointKind::Prismatic
                | JointKind::Screw { .. }
                | JointKind::Revolute(AngleCoordinates::Angle)
        )
    }

    /// Returns whether its attitude and velocity are relative to the world instead of the parent.
    pub fn is_absolute(&self) -> bool {
        matches!(self.kind, JointKind::AbsoluteSpherical(_))
    }
}

/// # Motion
///
/// `x` and `xi` are this joint's own coordinates, with [`config_dim`](Joint::config_dim) and [`dof`](Joint::dof) entries.
impl<T: RealField + Copy> Joint<T> {
    /// The pose of the moved frame in the fixed one; for an absolute joint, its attitude in the world.
    pub fn pose(&self, x: &[T]) -> SE3<T> {
        let own = self.own_pose(x);
        if self.has_own_axes() {
            let A = self.axes;
            SE3::new(A * own.rotation * A.inverse(), A.act(&own.translation))
        } else {
            own
        }
    }

    /// The motion subspace `S` with `twist = S(x) xi`: the twist of the moved frame per unit of each velocity.
    pub fn subspace(&self, x: &[T]) -> Subspace<T> {
        let unit = |k: usize| Vector6::from_fn(|i, _| if i == k { T::one() } else { T::zero() });
        let mut own = Subspace::empty();
        let along: &[usize] = match self.translations() {
            1 => &[2],
            count => &[0, 1, 2][..count],
        };
        for k in along {
            own.push(unit(*k));
        }
        match self.rotation() {
            Rotation::None => {}
            Rotation::Angle(_) => {
                let mut twist = unit(5);
                if let JointKind::Screw { pitch } = self.kind {
                    twist[2] = pitch;
                }
                own.push(twist);
            }
            Rotation::Universal(second) => {
                let first = about(&second, x[1]).inverse().act(&Vector3::z());
                own.push(angular_twist(&first));
                own.push(angular_twist(&second));
            }
            Rotation::Attitude(_) => (3..6).for_each(|k| own.push(unit(k))),
        }
        if self.has_own_axes() {
            own.map(|column| self.turned(column))
        } else {
            own
        }
    }

    /// The twist of the moved frame, `S(x) xi`.
    pub fn twist(&self, x: &[T], xi: &[T]) -> Vector6<T> {
        match self.kind {
            JointKind::Free(_) if !self.has_own_axes() => Vector6::from_column_slice(&xi[..6]),
            _ => self.subspace(x).twist(xi),
        }
    }

    /// Whether the joint's axes are others than those of the frames that it connects.
    #[inline]
    pub(super) fn has_own_axes(&self) -> bool {
        // What turns about every axis has none of its own.
        !matches!(self.rotation(), Rotation::Attitude(_)) && self.axes != SO3::identity()
    }

    /// Rotates a twist from the joint's own axes to those of the frames it connects.
    fn turned(&self, own: &Vector6<T>) -> Vector6<T> {
        let v = Vector3::new(own[0], own[1], own[2]);
        let w = Vector3::new(own[3], own[4], own[5]);
        join(&self.axes.act(&v), &self.axes.act(&w))
    }

    /// The pose in the joint's own axes.
    fn own_pose(&self, x: &[T]) -> SE3<T> {
        let mut translation = self.translation(x);
        if let JointKind::Screw { pitch } = self.kind {
            translation.z = pitch * x[0];
        }
        SE3::new(self.own_rotation(x), translation)
    }

    /// The rotation in the joint's own axes.
    pub(super) fn own_rotation(&self, x: &[T]) -> SO3<T> {
        let x = &x[self.translations()..];
        match self.rotation() {
            Rotation::None => SO3::identity(),
            Rotation::Angle(a) => about_z(a, x),
            Rotation::Universal(second) => {
                about_z(AngleCoordinates::Angle, x) * about(&second, x[1])
            }
            Rotation::Attitude(a) => attitude(a, x),
        }
    }
}

/// The rotation about z by an angle with these coordinates.
fn about_z<T: RealField + Copy>(coordinates: AngleCoordinates, x: &[T]) -> SO3<T> {
    let (s, c) = match coordinates {
        AngleCoordinates::Angle => x[0].sin_cos(),
        AngleCoordinates::CosSin => (x[1], x[0]),
    };
    let (o, one) = (T::zero(), T::one());
    SO3::from_matrix(Matrix3::new(c, -s, o, s, c, o, o, o, one))
}

/// The rotation about a unit vector.
pub(super) fn about<T: RealField + Copy>(axis: &Vector3<T>, angle: T) -> SO3<T> {
    SO3::exp(&(axis * angle))
}

/// The attitude with these coordinates.
pub(super) fn attitude<T: RealField + Copy>(coordinates: AttitudeCoordinates, x: &[T]) -> SO3<T> {
    match coordinates {
        AttitudeCoordinates::Matrix => SO3::from_matrix(Matrix3::from_column_slice(&x[..9])),
        AttitudeCoordinates::Quaternion => {
            SO3::from_quaternion(&Vector4::new(x[0], x[1], x[2], x[3]))
        }
    }
}

fn angular_twist<T: RealField + Copy>(w: &Vector3<T>) -> Vector6<T> {
    join(&Vector3::zeros(), w)
}

/// Normalises a direction.
fn unit<T: RealField + Copy>(axis: Vector3<T>) -> Result<Vector3<T>, JointError> {
    if let Some(wrong) = axis.iter().find(|entry| !entry.is_finite()) {
        let found = wrong.to_string();
        return Err(JointError::NotFinite {
            what: "axis",
            found,
        });
    }
    let largest = axis.amax();
    if largest.is_zero() {
        return Err(JointError::ZeroAxis);
    }
    // Scaled first, so that the norm neither overflows nor underflows.
    Ok((axis / largest).normalize())
}

/// Right-handed axes with this unit vector as the third; for a coordinate axis a cyclic permutation of the coordinate
/// axes.
pub(super) fn axes_along<T: RealField + Copy>(axis: Vector3<T>) -> SO3<T> {
    let k = axis.iamax();
    let positive = axis[k] > T::zero();
    let e = |i: usize| Vector3::from_fn(|j, _| if j == i % 3 { T::one() } else { T::zero() });
    // For -e_k the two other axes are swapped.
    let (nearest, columns) = if positive {
        (e(k), [e(k + 1), e(k + 2), e(k)])
    } else {
        (-e(k), [e(k + 2), e(k + 1), -e(k)])
    };
    let cyclic = SO3::from_matrix(Matrix3::from_columns(&columns));
    // The two directions are less than a right angle apart, so the smallest rotation between them exists.
    MinimalRotation::new(nearest, axis).map_or(cyclic, |minimal| minimal.rotation() * cyclic)
}
