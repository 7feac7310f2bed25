//! Yaw and tilt: an attitude parameterisation for multicopters (Konz (A.166) to (A.171)).

use nalgebra::{Matrix3, RealField, Vector2, Vector3};

use crate::{SO3, Singularity};

/// A tilt, the smallest rotation of the z axis to the unit vector `p`, followed by a yaw about the world's z axis.
///
/// ```
/// use fly_lie::{SO3, attitude::YawTilt};
/// use nalgebra::Vector3;
///
/// // A multicopter that accelerates along its own x axis, heading north-west.
/// let attitude = YawTilt::<f64>::new(2.0, Vector3::new(0.6, 0.0, 0.8))?;
/// let read = YawTilt::from_rotation(&attitude.rotation())?;
/// assert!((read.yaw() - 2.0).abs() < 1e-15 && (read.tilt() - attitude.tilt()).norm() < 1e-15);
/// # Ok::<(), fly_lie::Singularity>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YawTilt<T: RealField + Copy> {
    yaw: T,
    tilt: Vector3<T>,
    /// `1 / (1 + p_z)`
    k: T,
}

/// # Rotation
impl<T: RealField + Copy> YawTilt<T> {
    /// From the yaw and the direction `p` of the tilted z axis before the yaw, of norm 1 to rounding.
    ///
    /// # Errors
    /// [`Singularity::UpsideDown`] if `p = -e_z`, [`Singularity::NotFinite`].
    pub fn new(yaw: T, tilt: Vector3<T>) -> Result<Self, Singularity> {
        if !(yaw.is_finite() && tilt.iter().all(nalgebra::ComplexField::is_finite)) {
            return Err(Singularity::NotFinite);
        }
        // 1 + p_z, without cancellation below the horizon.
        let one = T::one();
        let sum = if tilt.z < T::zero() {
            (tilt.x * tilt.x + tilt.y * tilt.y) / (one - tilt.z)
        } else {
            one + tilt.z
        };
        let k = one / sum;
        if k.is_finite() {
            Ok(Self { yaw, tilt, k })
        } else {
            Err(Singularity::UpsideDown)
        }
    }

    /// The yaw.
    pub fn yaw(&self) -> T {
        self.yaw
    }

    /// The direction `p` of the tilted z axis before the yaw.
    pub fn tilt(&self) -> Vector3<T> {
        self.tilt
    }

    /// The tilt alone, `R_PZ(p)`, Konz (A.166).
    #[rustfmt::skip]
    pub fn tilt_rotation(&self) -> SO3<T> {
        let (p, k, one) = (&self.tilt, self.k, T::one());
        let xy = -k * p.x * p.y;
        SO3::from_matrix(Matrix3::new(
            one - k * p.x * p.x, xy,                  p.x,
            xy,                  one - k * p.y * p.y, p.y,
            -p.x,                -p.y,                p.z,
        ))
    }

    /// `R = R_z(yaw) R_PZ(p)`, Konz (A.167).
    pub fn rotation(&self) -> SO3<T> {
        SO3::exp(&(Vector3::z() * self.yaw)) * self.tilt_rotation()
    }

    /// Yaw and tilt of a rotation, Konz (A.169).
    ///
    /// # Errors
    /// [`Singularity::UpsideDown`], [`Singularity::NotFinite`].
    pub fn from_rotation(rotation: &SO3<T>) -> Result<Self, Singularity> {
        let R = rotation.matrix();
        // (A.169) has `R_10 - R_01` and `R_00 + R_11`, which cancel near upside down; these are the same angle, and do not.
        let q = rotation.to_quaternion();
        let (w, z) = (q[0], q[3]);
        let (s, c) = ((z + z) * w, (w - z) * (w + z));
        let p = Vector3::new(-R[(2, 0)], -R[(2, 1)], R[(2, 2)]);
        Self::new(s.atan2(c), p)
    }
}

/// # Rates and accelerations
///
/// ```
/// use fly_lie::attitude::YawTilt;
/// use nalgebra::Vector3;
///
/// let attitude = YawTilt::<f64>::new(2.0, Vector3::new(0.6, 0.0, 0.8))?;
/// let (omega, omega_dot) = (Vector3::new(0.1, 0.2, -0.3), Vector3::new(1.0, 0.0, 2.0));
/// let (yaw_rate, p_dot) = attitude.rates(&omega);
/// assert!((attitude.angular_velocity(yaw_rate, &p_dot) - omega).norm() < 1e-15);
/// let (yaw_acceleration, p_ddot) = attitude.accelerations(&omega, &omega_dot);
/// let back = attitude.angular_acceleration((yaw_rate, &p_dot), (yaw_acceleration, &p_ddot));
/// assert!((back - omega_dot).norm() < 1e-15);
/// # Ok::<(), fly_lie::Singularity>(())
/// ```
impl<T: RealField + Copy> YawTilt<T> {
    /// The body's angular velocity, Konz (A.168).
    pub fn angular_velocity(&self, yaw_rate: T, p_dot: &Vector3<T>) -> Vector3<T> {
        let (p, k) = (&self.tilt, self.k);
        Vector3::new(
            p.y * k * p_dot.z - p_dot.y - p.x * yaw_rate,
            p_dot.x - p.x * k * p_dot.z - p.y * yaw_rate,
            k * (p.y * p_dot.x - p.x * p_dot.y) + p.z * yaw_rate,
        )
    }

    /// The rates of yaw and tilt, Konz (A.170).
    pub fn rates(&self, omega: &Vector3<T>) -> (T, Vector3<T>) {
        let p = &self.tilt;
        let yaw_rate = omega.z - self.k * (p.x * omega.x + p.y * omega.y);
        (yaw_rate, tilt_rate(p, omega))
    }

    /// The body's angular acceleration, the derivative of (A.168).
    pub fn angular_acceleration(
        &self,
        (yaw_rate, p_dot): (T, &Vector3<T>),
        (yaw_acceleration, p_ddot): (T, &Vector3<T>),
    ) -> Vector3<T> {
        let (p, k) = (&self.tilt, self.k);
        let k_dot = -k * k * p_dot.z;
        let side = Vector2::new(p_dot.y * k + p.y * k_dot, -(p_dot.x * k + p.x * k_dot));
        let bias = Vector3::new(
            side.x * p_dot.z - p_dot.x * yaw_rate,
            side.y * p_dot.z - p_dot.y * yaw_rate,
            k_dot * (p.y * p_dot.x - p.x * p_dot.y) + p_dot.z * yaw_rate,
        );
        self.angular_velocity(yaw_acceleration, p_ddot) + bias
    }

    /// The second derivatives of yaw and tilt, the derivative of (A.170).
    pub fn accelerations(&self, omega: &Vector3<T>, omega_dot: &Vector3<T>) -> (T, Vector3<T>) {
        let (p, k) = (&self.tilt, self.k);
        let p_dot = tilt_rate(p, omega);
        let k_dot = -k * k * p_dot.z;
        let (yaw, p_ddot) = self.rates(omega_dot);
        let moved =
            k_dot * (p.x * omega.x + p.y * omega.y) + k * (p_dot.x * omega.x + p_dot.y * omega.y);
        (yaw - moved, p_ddot + tilt_rate(&p_dot, omega))
    }
}

/// The tilt's part of (A.170), linear in the tilt: minus the third row of `R` rotates with the body.
fn tilt_rate<T: RealField + Copy>(p: &Vector3<T>, omega: &Vector3<T>) -> Vector3<T> {
    Vector3::new(
        p.z * omega.y + p.y * omega.z,
        -p.z * omega.x - p.x * omega.z,
        p.y * omega.x - p.x * omega.y,
    )
}
