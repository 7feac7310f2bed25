//! Axis and angle (Konz A.5.1).

use nalgebra::{RealField, Vector3, convert};

use crate::{SO3, Singularity};

/// A unit axis and an angle about it, Konz (A.147).
///
/// ```
/// use fly_lie::{SO3, attitude::AxisAngle};
/// use nalgebra::Vector3;
///
/// let turn = AxisAngle::from_rotation(&SO3::<f64>::exp(&Vector3::new(0.0, 0.6, 0.8)))?;
/// assert!((turn.angle - 1.0).abs() < 1e-15);
///
/// // How axis and angle move while the body turns, and back.
/// let omega = Vector3::new(0.1, 0.2, -0.3);
/// let (axis_rate, angle_rate) = turn.rates(&omega)?;
/// assert!((turn.angular_velocity(&axis_rate, angle_rate) - omega).norm() < 1e-15);
/// # Ok::<(), fly_lie::Singularity>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisAngle<T: RealField + Copy> {
    /// The axis, of norm 1.
    pub axis: Vector3<T>,
    /// The angle.
    pub angle: T,
}

/// # Rotation
impl<T: RealField + Copy> AxisAngle<T> {
    /// The rotation, Konz (A.147).
    pub fn rotation(&self) -> SO3<T> {
        SO3::exp(&(self.axis * self.angle))
    }

    /// Axis and angle of a rotation, `0 < angle <= pi`.
    ///
    /// Computed from the logarithm, which is exact at every angle; Konz (A.150) loses the axis near a half turn.
    ///
    /// # Errors
    /// [`Singularity::NoAngle`] for the identity, [`Singularity::NotFinite`].
    pub fn from_rotation(rotation: &SO3<T>) -> Result<Self, Singularity> {
        let w = rotation.log();
        let largest = w.amax();
        if !w.iter().all(nalgebra::ComplexField::is_finite) {
            return Err(Singularity::NotFinite);
        }
        if largest <= T::zero() {
            return Err(Singularity::NoAngle);
        }
        // Scaled, so that squares of tiny angles do not underflow.
        let scaled = w.map(|x| x / largest);
        let norm = scaled.norm();
        Ok(Self {
            axis: scaled / norm,
            angle: norm * largest,
        })
    }
}

/// # Rates and accelerations
///
/// ```
/// use fly_lie::attitude::AxisAngle;
/// use nalgebra::Vector3;
///
/// // Two descriptions of one motion, there and back.
/// let turn = AxisAngle { axis: Vector3::new(0.0, 0.6, 0.8), angle: 2.0 };
/// let (omega, omega_dot) = (Vector3::new(0.1, 0.2, -0.3), Vector3::new(1.0, 0.0, 2.0));
/// let (axis_rate, angle_rate) = turn.rates(&omega)?;
/// let (axis_acceleration, angle_acceleration) = turn.accelerations(&omega, &omega_dot)?;
/// let back = turn.angular_acceleration((&axis_rate, angle_rate), (&axis_acceleration, angle_acceleration));
/// assert!((back - omega_dot).norm() < 1e-14);
/// # Ok::<(), fly_lie::Singularity>(())
/// ```
impl<T: RealField + Copy> AxisAngle<T> {
    /// The body's angular velocity, Konz (A.148): `a θ' + (sin θ - (1 - cos θ) hat a) a'`.
    pub fn angular_velocity(&self, axis_rate: &Vector3<T>, angle_rate: T) -> Vector3<T> {
        let (s, k) = self.sines();
        self.axis * angle_rate + axis_rate * s - self.axis.cross(axis_rate) * k
    }

    /// The rates of axis and angle, Konz (A.151): `a' = 1/2 (cot(θ/2) ω⊥ + a x ω)`, `θ' = a . ω`.
    ///
    /// # Errors
    /// [`Singularity::NoAngle`].
    pub fn rates(&self, omega: &Vector3<T>) -> Result<(Vector3<T>, T), Singularity> {
        let cot = self.cot_half()?;
        let a = &self.axis;
        let along = a.dot(omega);
        let half: T = convert(0.5);
        let rate = (omega - a * along) * cot + a.cross(omega);
        Ok((rate * half, along))
    }

    /// The body's angular acceleration, the derivative of (A.148).
    pub fn angular_acceleration(
        &self,
        (axis_rate, angle_rate): (&Vector3<T>, T),
        (axis_acceleration, angle_acceleration): (&Vector3<T>, T),
    ) -> Vector3<T> {
        let (s, k) = self.sines();
        let a = &self.axis;
        let moved = a * angle_acceleration + axis_acceleration * s - a.cross(axis_acceleration) * k;
        let (sin, cos) = self.angle.sin_cos();
        let turning = axis_rate * cos - a.cross(axis_rate) * sin;
        moved + axis_rate * angle_rate + turning * angle_rate
    }

    /// The second derivatives of axis and angle, the derivative of (A.151).
    ///
    /// # Errors
    /// [`Singularity::NoAngle`].
    pub fn accelerations(
        &self,
        omega: &Vector3<T>,
        omega_dot: &Vector3<T>,
    ) -> Result<(Vector3<T>, T), Singularity> {
        let cot = self.cot_half()?;
        let (a_dot, angle_rate) = self.rates(omega)?;
        let a = &self.axis;
        let half: T = convert(0.5);
        let angle_acceleration = a_dot.dot(omega) + a.dot(omega_dot);
        let across = omega - a * angle_rate;
        let across_dot = omega_dot - a_dot * angle_rate - a * angle_acceleration;
        // d cot(θ/2)/dt = -1/2 (1 + cot²) θ'
        let cot_dot = -half * (T::one() + cot * cot) * angle_rate;
        let a_ddot = across * cot_dot + across_dot * cot + a_dot.cross(omega) + a.cross(omega_dot);
        Ok((a_ddot * half, angle_acceleration))
    }

    /// `sin θ` and `1 - cos θ`, the latter without cancellation.
    fn sines(&self) -> (T, T) {
        let s = (self.angle * convert(0.5)).sin();
        (self.angle.sin(), (s + s) * s)
    }

    fn cot_half(&self) -> Result<T, Singularity> {
        let (s, k) = (self.angle * convert(0.5)).sin_cos();
        let cot = k / s;
        if cot.is_finite() {
            Ok(cot)
        } else {
            Err(Singularity::NoAngle)
        }
    }
}
