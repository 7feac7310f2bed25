//! Configurations on their manifold: the neutral one, rates, motion along a velocity, differences.

use fly_lie::{SE2, SE3, SO2, SO3, Schoenflies, UnitQuaternion};
use nalgebra::{DMatrix, RealField, Vector2, Vector3, Vector4, Vector6, convert};

use super::joint::attitude;
use super::{AngleCoordinates, AttitudeCoordinates, Joint, JointKind, Model};

/// # Configurations
///
/// Slices must have [`config_dim`](Model::config_dim) and [`dof`](Model::dof) numbers, else these functions panic.
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
    /// If `A` has another shape.
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

    /// Moves `x` for a unit of time along the constant velocity `xi`: the exponential of every joint's group.
    pub fn integrate(&self, x: &mut [T], xi: &[T]) {
        for link in &self.links {
            let x = &mut x[link.x..link.x + link.joint.config_dim()];
            link.joint.integrate(x, link.velocity(xi));
        }
    }

    /// The constant velocity that leads from `x` to `y` in a unit of time, by the shortest rotations: the inverse of
    /// [`integrate`](Self::integrate).
    pub fn difference(&self, x: &[T], y: &[T], xi: &mut [T]) {
        for link in &self.links {
            let xi = &mut xi[link.xi..link.xi + link.joint.dof()];
            link.joint.difference(link.config(x), link.config(y), xi);
        }
    }

    /// Brings a configuration that has drifted off its manifold by rounding, or was typed with few digits, back to it.
    pub fn normalize(&self, x: &mut [T]) {
        for link in &self.links {
            link.joint
                .normalize(&mut x[link.x..link.x + link.joint.config_dim()]);
        }
    }
}

impl<T: RealField + Copy> Joint<T> {
    fn set_neutral(&self, x: &mut [T]) {
        match *self.kind() {
            JointKind::Fixed
            | JointKind::Prismatic
            | JointKind::Screw { .. }
            | JointKind::Universal { .. } => {}
            JointKind::Revolute(a) => write_angle(a, SO2::identity(), x),
            JointKind::Cylindrical(a) => write_angle(a, SO2::identity(), &mut x[1..]),
            JointKind::Planar(a) => write_angle(a, SO2::identity(), &mut x[2..]),
            JointKind::Schoenflies(a) => write_angle(a, SO2::identity(), &mut x[3..]),
            JointKind::Spherical(a) | JointKind::AbsoluteSpherical(a) => {
                write_attitude(a, &SO3::identity(), x);
            }
            JointKind::Free(a) => write_attitude(a, &SO3::identity(), &mut x[3..]),
        }
    }

    fn rate(&self, x: &[T], xi: &[T], rate: &mut [T]) {
        match *self.kind() {
            JointKind::Fixed => {}
            JointKind::Prismatic | JointKind::Screw { .. } => rate[0] = xi[0],
            JointKind::Universal { .. } => rate.copy_from_slice(&xi[..2]),
            JointKind::Revolute(a) => angle_rate(a, x, xi[0], rate),
            JointKind::Cylindrical(a) => {
                rate[0] = xi[0];
                angle_rate(a, &x[1..], xi[1], &mut rate[1..]);
            }
            JointKind::Planar(a) => {
                let v = read_angle(a, &x[2..]).act(&Vector2::new(xi[0], xi[1]));
                rate[..2].copy_from_slice(v.as_slice());
                angle_rate(a, &x[2..], xi[2], &mut rate[2..]);
            }
            JointKind::Schoenflies(a) => {
                let v = read_angle(a, &x[3..]).act(&Vector2::new(xi[0], xi[1]));
                rate[..2].copy_from_slice(v.as_slice());
                rate[2] = xi[2];
                angle_rate(a, &x[3..], xi[3], &mut rate[3..]);
            }
            JointKind::Spherical(a) | JointKind::AbsoluteSpherical(a) => {
                attitude_rate(a, x, &vector(xi), rate);
            }
            JointKind::Free(a) => {
                let v = attitude(a, &x[3..]).act(&vector(xi));
                rate[..3].copy_from_slice(v.as_slice());
                attitude_rate(a, &x[3..], &vector(&xi[3..]), &mut rate[3..]);
            }
        }
    }

    fn integrate(&self, x: &mut [T], xi: &[T]) {
        match *self.kind() {
            JointKind::Fixed => {}
            JointKind::Prismatic | JointKind::Screw { .. } => x[0] += xi[0],
            JointKind::Universal { .. } => {
                x[0] += xi[0];
                x[1] += xi[1];
            }
            JointKind::Revolute(a) => turn(a, x, xi[0]),
            JointKind::Cylindrical(a) => {
                x[0] += xi[0];
                turn(a, &mut x[1..], xi[1]);
            }
            JointKind::Planar(a) => {
                let step = SE2::exp(&vector(xi)).translation;
                let v = read_angle(a, &x[2..]).act(&step);
                x[0] += v.x;
                x[1] += v.y;
                turn(a, &mut x[2..], xi[2]);
            }
            JointKind::Schoenflies(a) => {
                let step = Schoenflies::exp(&Vector4::from_column_slice(&xi[..4])).translation;
                let v = read_angle(a, &x[3..]).act(&step.xy());
                x[0] += v.x;
                x[1] += v.y;
                x[2] += step.z;
                turn(a, &mut x[3..], xi[3]);
            }
            JointKind::Spherical(a) | JointKind::AbsoluteSpherical(a) => {
                rotate(a, x, &vector(xi));
            }
            JointKind::Free(a) => {
                let step = SE3::exp(&Vector6::from_column_slice(&xi[..6])).translation;
                let v = attitude(a, &x[3..]).act(&step);
                for i in 0..3 {
                    x[i] += v[i];
                }
                rotate(a, &mut x[3..], &vector(&xi[3..]));
            }
        }
    }

    fn difference(&self, x: &[T], y: &[T], xi: &mut [T]) {
        match *self.kind() {
            JointKind::Fixed => {}
            JointKind::Prismatic | JointKind::Screw { .. } => xi[0] = y[0] - x[0],
            JointKind::Universal { .. } => {
                xi[0] = y[0] - x[0];
                xi[1] = y[1] - x[1];
            }
            JointKind::Revolute(a) => xi[0] = angle_between(a, x, y),
            JointKind::Cylindrical(a) => {
                xi[0] = y[0] - x[0];
                xi[1] = angle_between(a, &x[1..], &y[1..]);
            }
            JointKind::Planar(a) => {
                let pose = |x: &[T]| SE2::new(read_angle(a, &x[2..]), Vector2::new(x[0], x[1]));
                let xi_log = (pose(x).inverse() * pose(y)).log();
                xi.copy_from_slice(xi_log.as_slice());
            }
            JointKind::Schoenflies(a) => {
                let pose = |x: &[T]| Schoenflies::new(read_angle(a, &x[3..]), vector(x));
                let xi_log = (pose(x).inverse() * pose(y)).log();
                xi.copy_from_slice(xi_log.as_slice());
            }
            JointKind::Spherical(a) | JointKind::AbsoluteSpherical(a) => {
                let w = (attitude(a, x).inverse() * attitude(a, y)).log();
                xi.copy_from_slice(w.as_slice());
            }
            JointKind::Free(a) => {
                let pose = |x: &[T]| SE3::new(attitude(a, &x[3..]), vector(x));
                let xi_log = (pose(x).inverse() * pose(y)).log();
                xi.copy_from_slice(xi_log.as_slice());
            }
        }
    }

    fn normalize(&self, x: &mut [T]) {
        match *self.kind() {
            JointKind::Fixed
            | JointKind::Prismatic
            | JointKind::Screw { .. }
            | JointKind::Universal { .. } => {}
            JointKind::Revolute(a) => normalize_angle(a, x),
            JointKind::Cylindrical(a) => normalize_angle(a, &mut x[1..]),
            JointKind::Planar(a) => normalize_angle(a, &mut x[2..]),
            JointKind::Schoenflies(a) => normalize_angle(a, &mut x[3..]),
            JointKind::Spherical(a) | JointKind::AbsoluteSpherical(a) => normalize_attitude(a, x),
            JointKind::Free(a) => normalize_attitude(a, &mut x[3..]),
        }
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
        // Konz (4.88), whose first row prints the speed where the cosine stands.
        AngleCoordinates::CosSin => (rate[0], rate[1]) = (-x[1] * omega, x[0] * omega),
    }
}

/// An angle counts its turns, cosine and sine do not.
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

fn write_attitude<T: RealField + Copy>(
    coordinates: AttitudeCoordinates,
    rotation: &SO3<T>,
    x: &mut [T],
) {
    match coordinates {
        AttitudeCoordinates::Matrix => x[..9].copy_from_slice(rotation.matrix().as_slice()),
        AttitudeCoordinates::Quaternion => {
            x[..4].copy_from_slice(rotation.to_quaternion().as_slice());
        }
    }
}

/// `R_dot = R wed(omega)`, `q_dot = 1/2 q [0, omega]`.
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
            // From a few digits to sixteen: the error of a step is three quarters of the square of the one before.
            let small: T = convert(1e-15);
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
