//! The inverse of a joint's motion: its coordinates from a pose, its velocities from a twist.

use fly_lie::operators::{angular, linear};
use fly_lie::{SE3, SO3};
use nalgebra::{RealField, Vector2, Vector3, Vector4, Vector6};

use super::joint::Rotation;
use super::joint::about;
use super::{AngleCoordinates, AttitudeCoordinates, Joint, JointKind};

/// # Coordinates from a pose or twist
///
/// Slices are as for [`pose`](Joint::pose). A joint with fewer than six degrees of freedom reaches few poses: components that it cannot follow are
/// ignored, for translation and rotation separately.
impl<T: RealField + Copy> Joint<T> {
    /// The coordinates whose [`pose`](Joint::pose) is this one, or closest to it: the inverse of [`pose`](Joint::pose).
    ///
    /// On entry `x` holds a configuration, and of all coordinates that fit equally well the nearest to it are chosen: an angle keeps
    /// counting its turns, a quaternion keeps its sign, and an angle that the rotation does not determine keeps its value.
    ///
    /// | joint | for an unreachable pose |
    /// |---|---|
    /// | angle about the axis | that of the nearest rotation about the axis, in the matrix norm |
    /// | screw | the number of turns from the translation, the angle within a turn from the rotation |
    /// | universal | the first angle from the direction of the second axis, the second one from the nearest rotation about that axis |
    /// | translations | their components along the joint's directions |
    ///
    /// ```
    /// use fly_mechanics::multibody::Joint;
    /// use nalgebra::Vector3;
    ///
    /// let joint = Joint::<f64>::cylindrical(Vector3::y())?;
    /// let pose = joint.pose(&[0.2, 7.0]);
    /// let mut x = [0.0, 6.5]; // one turn and a bit
    /// joint.coordinates(&pose, &mut x);
    /// assert!((x[0] - 0.2).abs() < 1e-15 && (x[1] - 7.0).abs() < 1e-14);
    /// # Ok::<(), fly_mechanics::multibody::JointError>(())
    /// ```
    pub fn coordinates(&self, pose: &SE3<T>, x: &mut [T]) {
        // A screw's turns before the angle within a turn.
        self.fit_translation(&pose.translation, x);
        self.fit_rotation(&pose.rotation, x);
    }

    /// The velocities whose twist `S(x) xi` is this one, or closest to it: the inverse of [`subspace`](Joint::subspace). A screw, and every
    /// joint with a single axis of rotation, takes the angular velocity about that axis; a universal joint takes the component in the plane of
    /// its axes.
    pub fn velocities(&self, x: &[T], twist: &Vector6<T>, xi: &mut [T]) {
        self.fit_linear(&linear(twist), xi);
        self.fit_angular(x, &angular(twist), xi);
    }

    /// Fits the coordinates that determine the translation.
    pub(crate) fn fit_translation(&self, translation: &Vector3<T>, x: &mut [T]) {
        let own = self.in_own_axes(translation);
        self.write_translation(&own, x);
        if let JointKind::Screw { pitch } = self.kind {
            let angle = own.z / pitch;
            // Without pitch the number of turns stays.
            if angle.is_finite() {
                x[0] = angle;
            }
        }
    }

    /// Fits the coordinates that determine the rotation.
    pub(crate) fn fit_rotation(&self, rotation: &SO3<T>, x: &mut [T]) {
        let own = if self.has_own_axes() {
            self.axes.inverse() * *rotation * self.axes
        } else {
            *rotation
        };
        let x = &mut x[self.translations()..];
        match self.rotation() {
            Rotation::None => {}
            Rotation::Angle(a) => fit_angle(a, about_z(&own), x),
            Rotation::Universal(second) => {
                // R = R_z(x_0) R_second(x_1) rotates the second axis as R_z(x_0) does.
                let (from, to) = (second.xy(), own.act(&second).xy());
                let first = Vector2::new(from.dot(&to), from.perp(&to));
                fit_angle(AngleCoordinates::Angle, first, x);
                let rest = about(&Vector3::z(), -x[0]) * own;
                let second = about_axis(&second, &rest);
                fit_angle(AngleCoordinates::Angle, second, &mut x[1..]);
            }
            Rotation::Attitude(a) => fit_attitude(a, &own, x),
        }
    }

    /// Fits the translational velocities.
    pub(crate) fn fit_linear(&self, v: &Vector3<T>, xi: &mut [T]) {
        self.write_translation(&self.in_own_axes(v), xi);
    }

    /// Fits the rotational velocities.
    pub(crate) fn fit_angular(&self, x: &[T], w: &Vector3<T>, xi: &mut [T]) {
        let own = self.in_own_axes(w);
        let xi = &mut xi[self.translations()..];
        match self.rotation() {
            Rotation::None => {}
            Rotation::Angle(_) => xi[0] = own.z,
            Rotation::Universal(second) => {
                // w = a xi_0 + b xi_1: each crossed with the other axis.
                let (a, b) = (about(&second, -x[1]).act(&Vector3::z()), second);
                let normal = a.cross(&b);
                let scale = normal.norm_squared().recip();
                xi[0] = own.cross(&b).dot(&normal) * scale;
                xi[1] = a.cross(&own).dot(&normal) * scale;
            }
            Rotation::Attitude(_) => xi[..3].copy_from_slice(own.as_slice()),
        }
    }

    fn in_own_axes(&self, vector: &Vector3<T>) -> Vector3<T> {
        if self.has_own_axes() {
            self.axes.inverse().act(vector)
        } else {
            *vector
        }
    }
}

/// Cosine and sine, up to a common factor, of the rotation about z nearest to this one.
fn about_z<T: RealField + Copy>(rotation: &SO3<T>) -> Vector2<T> {
    let R = rotation.matrix();
    Vector2::new(R[(0, 0)] + R[(1, 1)], R[(1, 0)] - R[(0, 1)])
}

/// The same about any axis of length 1: `tr(R^T exp(a hat(axis)))` is largest there.
fn about_axis<T: RealField + Copy>(axis: &Vector3<T>, rotation: &SO3<T>) -> Vector2<T> {
    let R = rotation.matrix();
    let odd = Vector3::new(
        R[(2, 1)] - R[(1, 2)],
        R[(0, 2)] - R[(2, 0)],
        R[(1, 0)] - R[(0, 1)],
    );
    Vector2::new(R.trace() - axis.dot(&(R * axis)), axis.dot(&odd))
}

/// Writes an angle from its cosine and sine, given up to a common factor: of all such angles the nearest to the previous
/// value.
fn fit_angle<T: RealField + Copy>(coordinates: AngleCoordinates, cos_sin: Vector2<T>, x: &mut [T]) {
    // Half a turn about a perpendicular axis: all angles are equally near.
    if cos_sin.x.is_zero() && cos_sin.y.is_zero() {
        return;
    }
    let angle = cos_sin.y.atan2(cos_sin.x);
    match coordinates {
        AngleCoordinates::Angle => {
            let turns = ((x[0] - angle) / T::two_pi()).round();
            let nearest = angle + turns * T::two_pi();
            x[0] = if nearest.is_finite() { nearest } else { angle };
        }
        AngleCoordinates::CosSin => (x[1], x[0]) = angle.sin_cos(),
    }
}

/// Writes an attitude; of the two quaternions the nearest to the previous value.
fn fit_attitude<T: RealField + Copy>(
    coordinates: AttitudeCoordinates,
    rotation: &SO3<T>,
    x: &mut [T],
) {
    match coordinates {
        AttitudeCoordinates::Matrix => x[..9].copy_from_slice(rotation.matrix().as_slice()),
        AttitudeCoordinates::Quaternion => {
            let q = rotation.to_quaternion();
            let before = Vector4::from_column_slice(&x[..4]);
            let nearest = if q.dot(&before) < T::zero() { -q } else { q };
            x[..4].copy_from_slice(nearest.as_slice());
        }
    }
}
