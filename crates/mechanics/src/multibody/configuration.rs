//! Configurations on their manifold: the neutral one, rates, integration along a velocity, differences.

use fly_lie::{CoordinateVector, LieGroup, SE2, SE3, SO2, SO3, Schoenflies, UnitQuaternion};
use nalgebra::{DMatrix, RealField, Vector2, Vector3, Vector4, Vector6, convert};

use super::joint::Rotation;
use super::joint::attitude;
use super::{AngleCoordinates, AttitudeCoordinates, Joint, JointKind, Model};

/// # Configurations
///
/// These functions panic if slices have fewer than [`config_dim`](Model::config_dim) and [`dof`](Model::dof) entries; they leave further ones, as of
/// actuators behind a velocity, alone.
impl<T: RealField + Copy> Model<T> {
    /// All angles and positions zero, all attitudes those of the parents.
    pub fn neutral_configuration(&self) -> Vec<T> {
        let mut x = vec![T::zero(); self.config_dim()];
        for link in &self.links {
            link.joint.set_neutral(&mut x[link.x..]);
        }
        x
    }

    /// `x_dot = A(x) xi`.
    pub fn configuration_rate(&self, x: &[T], xi: &[T], rate: &mut [T]) {
        for link in &self.links {
            let rate = &mut rate[link.x..link.x + link.joint.config_dim()];
            link.joint.rate(link.config(x), link.velocity(xi), rate);
        }
    }

    /// `A(x)`, nu x n, Konz (3.17).
    ///
    /// # Panics
    /// If `A` is smaller.
    pub fn kinematic_matrix(&self, x: &[T], A: &mut DMatrix<T>) {
        A.fill(T::zero());
        let (mut unit, mut rate) = ([T::zero(); 6], [T::zero(); 12]);
        for link in &self.links {
            let nu = link.joint.config_dim();
            for j in 0..link.joint.dof() {
                unit[j] = T::one();
                link.joint.rate(link.config(x), &unit, &mut rate[..nu]);
                unit[j] = T::zero();
                for (i, rate) in rate[..nu].iter().enumerate() {
                    A[(link.x + i, link.xi + j)] = *rate;
                }
            }
        }
    }

    /// Integrates the constant velocity `xi` over unit time, in place: the exponential of every joint's group.
    pub fn integrate(&self, x: &mut [T], xi: &[T]) {
        for link in &self.links {
            link.joint.integrate(&mut x[link.x..], &xi[link.xi..]);
        }
    }

    /// The constant velocity that leads from `x` to `y` in unit time, by the shortest rotations: the inverse of
    /// [`integrate`](Self::integrate).
    pub fn difference(&self, x: &[T], y: &[T], xi: &mut [T]) {
        for link in &self.links {
            let xi = &mut xi[link.xi..link.xi + link.joint.dof()];
            link.joint.difference(link.config(x), link.config(y), xi);
        }
    }

    /// Projects a configuration that has drifted off its manifold by rounding, or was typed with few digits, back onto
    /// it.
    pub fn normalize(&self, x: &mut [T]) {
        for link in &self.links {
            link.joint.normalize(&mut x[link.x..]);
        }
    }
}

/// Translations precede the rotation, so their number is the rotation's offset in configuration and velocity. Slices start with the joint's
/// entries.
impl<T: RealField + Copy> Joint<T> {
    fn set_neutral(&self, x: &mut [T]) {
        let x = &mut x[self.translations()..];
        match self.rotation() {
            Rotation::None | Rotation::Universal(_) => {}
            Rotation::Angle(a) => write_angle(a, SO2::identity(), x),
            Rotation::Attitude(a) => a.write(&SO3::identity(), x),
        }
    }

    fn rate(&self, x: &[T], xi: &[T], rate: &mut [T]) {
        let k = self.translations();
        self.write_translation(&self.in_parent(x, &self.translation(xi)), rate);
        let (x, xi, rate) = (&x[k..], &xi[k..], &mut rate[k..]);
        match self.rotation() {
            Rotation::None => {}
            Rotation::Angle(a) => angle_rate(a, x, xi[0], rate),
            Rotation::Universal(_) => rate.copy_from_slice(&xi[..2]),
            Rotation::Attitude(a) => attitude_rate(a, x, &vector(xi), rate),
        }
    }

    #[inline]
    fn integrate(&self, x: &mut [T], xi: &[T]) {
        if let JointKind::Free(a @ AttitudeCoordinates::Matrix) = self.kind() {
            let pose = SE3::new(attitude(*a, &x[3..]), vector(x));
            let moved = pose * SE3::exp(&Vector6::from_column_slice(&xi[..6]));
            x[..3].copy_from_slice(moved.translation.as_slice());
            x[3..12].copy_from_slice(moved.rotation.matrix().as_slice());
            return;
        }
        let k = self.translations();
        let step = match self.kind() {
            JointKind::Planar(_) => SE2::exp(&vector(xi)).translation.push(T::zero()),
            JointKind::Schoenflies(_) => {
                Schoenflies::exp(&Vector4::from_column_slice(&xi[..4])).translation
            }
            // The translation of the exponential.
            JointKind::Free(_) => SO3::left_jacobian_times(&vector(&xi[3..]), &vector(xi)),
            _ => self.translation(xi),
        };
        let moved = self.translation(x) + self.in_parent(x, &step);
        self.write_translation(&moved, x);
        let (x, xi) = (&mut x[k..], &xi[k..]);
        match self.rotation() {
            Rotation::None => {}
            Rotation::Angle(a) => turn(a, x, xi[0]),
            Rotation::Universal(_) => {
                x[0] += xi[0];
                x[1] += xi[1];
            }
            Rotation::Attitude(a) => rotate(a, x, &vector(xi)),
        }
    }

    /// The constant velocity that leads from `x` to `y` in unit time: of angles their difference, turns included; of attitudes, and of planar and
    /// Schönflies joints, the shortest way.
    pub(crate) fn difference(&self, x: &[T], y: &[T], xi: &mut [T]) {
        let k = self.translations();
        match (k, self.rotation()) {
            (2, Rotation::Angle(a)) => write_difference(x, y, xi, |x| {
                SE2::new(read_angle(a, &x[2..]), Vector2::new(x[0], x[1]))
            }),
            (3, Rotation::Angle(a)) => write_difference(x, y, xi, |x| {
                Schoenflies::new(read_angle(a, &x[3..]), vector(x))
            }),
            (3, Rotation::Attitude(a)) => {
                write_difference(x, y, xi, |x| SE3::new(attitude(a, &x[3..]), vector(x)));
            }
            (_, rotation) => {
                // Translation and rotation commute.
                self.write_translation(&(self.translation(y) - self.translation(x)), xi);
                let (x, y, xi) = (&x[k..], &y[k..], &mut xi[k..]);
                match rotation {
                    Rotation::None => {}
                    Rotation::Angle(a) => xi[0] = angle_between(a, x, y),
                    Rotation::Universal(_) => {
                        xi[0] = y[0] - x[0];
                        xi[1] = y[1] - x[1];
                    }
                    Rotation::Attitude(a) => write_difference(x, y, xi, |x| attitude(a, x)),
                }
            }
        }
    }

    fn normalize(&self, x: &mut [T]) {
        let x = &mut x[self.translations()..];
        match self.rotation() {
            Rotation::None | Rotation::Universal(_) => {}
            Rotation::Angle(a) => normalize_angle(a, x),
            Rotation::Attitude(a) => normalize_attitude(a, x),
        }
    }

    /// Rotates a vector from the moved frame to the fixed one, both in the joint's own axes.
    fn in_parent(&self, x: &[T], v: &Vector3<T>) -> Vector3<T> {
        match (self.translations(), self.rotation()) {
            (2 | 3, Rotation::Angle(a)) => {
                let turned = read_angle(a, &x[self.translations()..]).act(&v.xy());
                Vector3::new(turned.x, turned.y, v.z)
            }
            (3, Rotation::Attitude(a)) => rotated(a, &x[3..], v),
            // A rotation about z preserves the component along z.
            _ => *v,
        }
    }
}

/// The velocity that leads from `x` to `y` on a group.
fn write_difference<T: RealField + Copy, G: LieGroup<T>>(
    x: &[T],
    y: &[T],
    xi: &mut [T],
    element: impl Fn(&[T]) -> G,
) {
    let difference = element(x).difference(&element(y));
    for (i, xi) in xi.iter_mut().enumerate() {
        *xi = difference.entry(i);
    }
}

fn vector<T: RealField + Copy>(x: &[T]) -> Vector3<T> {
    Vector3::new(x[0], x[1], x[2])
}

fn read_angle<T: RealField + Copy>(coordinates: AngleCoordinates, x: &[T]) -> SO2<T> {
    match coordinates {
        AngleCoordinates::Angle => SO2::from_angle(x[0]),
        AngleCoordinates::CosSin => SO2::from_angle(x[1].atan2(x[0])),
    }
}

fn write_angle<T: RealField + Copy>(coordinates: AngleCoordinates, angle: SO2<T>, x: &mut [T]) {
    match coordinates {
        AngleCoordinates::Angle => x[0] = angle.angle(),
        AngleCoordinates::CosSin => (x[0], x[1]) = angle.cos_sin(),
    }
}

fn angle_rate<T: RealField + Copy>(
    coordinates: AngleCoordinates,
    x: &[T],
    omega: T,
    rate: &mut [T],
) {
    match coordinates {
        AngleCoordinates::Angle => rate[0] = omega,
        // Konz (4.88), whose first row prints the speed in place of the cosine.
        AngleCoordinates::CosSin => (rate[0], rate[1]) = (-x[1] * omega, x[0] * omega),
    }
}

/// An angle counts its turns; cosine and sine do not.
fn turn<T: RealField + Copy>(coordinates: AngleCoordinates, x: &mut [T], angle: T) {
    match coordinates {
        AngleCoordinates::Angle => x[0] += angle,
        AngleCoordinates::CosSin => {
            let (s, c) = angle.sin_cos();
            (x[0], x[1]) = (x[0] * c - x[1] * s, x[1] * c + x[0] * s);
        }
    }
}

fn angle_between<T: RealField + Copy>(coordinates: AngleCoordinates, x: &[T], y: &[T]) -> T {
    match coordinates {
        AngleCoordinates::Angle => y[0] - x[0],
        AngleCoordinates::CosSin => (x[0] * y[1] - x[1] * y[0]).atan2(x[0] * y[0] + x[1] * y[1]),
    }
}

fn normalize_angle<T: RealField + Copy>(coordinates: AngleCoordinates, x: &mut [T]) {
    if coordinates == AngleCoordinates::CosSin {
        let norm = (x[0] * x[0] + x[1] * x[1]).sqrt();
        x[0] /= norm;
        x[1] /= norm;
    }
}

/// `R_dot = R hat(omega)`, `q_dot = 1/2 q [0, omega]`.
fn attitude_rate<T: RealField + Copy>(
    coordinates: AttitudeCoordinates,
    x: &[T],
    omega: &Vector3<T>,
    rate: &mut [T],
) {
    match coordinates {
        AttitudeCoordinates::Matrix => {
            let R = attitude(coordinates, x);
            let R_dot = R.matrix() * SO3::hat(omega);
            rate[..9].copy_from_slice(R_dot.as_slice());
        }
        AttitudeCoordinates::Quaternion => {
            let q = Vector4::from_column_slice(&x[..4]);
            let q_dot = fly_lie::attitude::quaternion::rates(&q, omega);
            rate[..4].copy_from_slice(q_dot.as_slice());
        }
    }
}

/// Rotates a vector by this attitude.
#[inline]
fn rotated<T: RealField + Copy>(
    coordinates: AttitudeCoordinates,
    x: &[T],
    v: &Vector3<T>,
) -> Vector3<T> {
    match coordinates {
        AttitudeCoordinates::Matrix => attitude(coordinates, x).act(v),
        AttitudeCoordinates::Quaternion => {
            // v + 2/|q|² (w u × v + u × (u × v))
            let (w, u) = (x[0], vector(&x[1..]));
            let scale = convert::<f64, T>(2.0) / (w * w + u.norm_squared());
            let across = u.cross(v);
            v + (across * w + u.cross(&across)) * scale
        }
    }
}

#[inline]
fn rotate<T: RealField + Copy>(coordinates: AttitudeCoordinates, x: &mut [T], w: &Vector3<T>) {
    match coordinates {
        AttitudeCoordinates::Matrix => {
            let R = attitude(coordinates, x) * SO3::exp(w);
            x[..9].copy_from_slice(R.matrix().as_slice());
        }
        AttitudeCoordinates::Quaternion => {
            let q = Vector4::from_column_slice(&x[..4]);
            let step = UnitQuaternion::exp(w).wxyz();
            let q = fly_lie::attitude::quaternion::product(&q, &step);
            x[..4].copy_from_slice(q.as_slice());
        }
    }
}

fn normalize_attitude<T: RealField + Copy>(coordinates: AttitudeCoordinates, x: &mut [T]) {
    match coordinates {
        AttitudeCoordinates::Matrix => {
            // From a few digits to sixteen: the error of a step is three quarters of the square of the one before, so that the step after one of this size
            // would change nothing.
            let small: T = convert(1e-8);
            for _ in 0..5 {
                let before = attitude(coordinates, x);
                let after = before.orthonormalized();
                x[..9].copy_from_slice(after.matrix().as_slice());
                if (after.matrix() - before.matrix()).amax() <= small {
                    break;
                }
            }
        }
        AttitudeCoordinates::Quaternion => {
            let q = Vector4::from_column_slice(&x[..4]).normalize();
            x[..4].copy_from_slice(q.as_slice());
        }
    }
}
