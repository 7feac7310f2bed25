//! The smallest rotation between two directions (Konz A.5.4).

use nalgebra::{Matrix3, RealField, Vector3, convert};

use crate::operators::hat3;
use crate::{SO3, Singularity};

/// The smallest rotation of the unit vector `a` to the unit vector `b`, with its rates.
///
/// ```
/// use fly_lie::attitude::MinimalRotation;
/// use nalgebra::Vector3;
///
/// let up = MinimalRotation::<f64>::new(Vector3::x(), Vector3::z())?;
/// assert!((up.rotation().act(&Vector3::x()) - Vector3::z()).norm() < 1e-15);
/// assert!(MinimalRotation::<f64>::new(Vector3::x(), -Vector3::x()).is_err());
/// # Ok::<(), fly_lie::Singularity>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MinimalRotation<T: RealField + Copy> {
    a: Vector3<T>,
    b: Vector3<T>,
    /// `s = 1 / (1 + a . b)`
    s: T,
}

/// # Rotation
impl<T: RealField + Copy> MinimalRotation<T> {
    /// From `a` to `b`, both of norm 1 to rounding.
    ///
    /// # Errors
    /// [`Singularity::Opposite`] if `a + b = 0`, [`Singularity::NotFinite`].
    pub fn new(a: Vector3<T>, b: Vector3<T>) -> Result<Self, Singularity> {
        // 1 + a . b = |a + b|²/2, without cancellation near opposite directions.
        let two: T = convert(2.0);
        let s = two / (a + b).norm_squared();
        if !(a.iter().chain(b.iter())).all(nalgebra::ComplexField::is_finite) {
            Err(Singularity::NotFinite)
        } else if s.is_finite() {
            Ok(Self { a, b, s })
        } else {
            Err(Singularity::Opposite)
        }
    }

    /// `I + hat c + s (hat c)²`, `c = a x b`, Konz (A.173).
    pub fn rotation(&self) -> SO3<T> {
        let C = hat3(&self.a.cross(&self.b));
        SO3::from_matrix(Matrix3::identity() + C + C * C * self.s)
    }
}

/// # Rates and accelerations
///
/// ```
/// use fly_lie::attitude::MinimalRotation;
/// use nalgebra::Vector3;
///
/// // b turns about z at 2 rad/s, and so does the rotation that follows it.
/// let minimal = MinimalRotation::<f64>::new(Vector3::x(), Vector3::x())?;
/// let (still, b_dot, b_ddot) = (Vector3::zeros(), Vector3::y() * 2.0, Vector3::x() * -4.0);
/// let omega = minimal.angular_velocity(&still, &b_dot);
/// assert!((omega - Vector3::z() * 2.0).norm() < 1e-15);
/// let omega_dot = minimal.angular_acceleration((&still, &still), (&b_dot, &b_ddot));
/// assert!(omega_dot.norm() < 1e-15);
/// assert!((minimal.target_rate(&omega, &still) - b_dot).norm() < 1e-15);
/// let back = minimal.target_acceleration((&omega, &omega_dot), (&still, &still));
/// assert!((back - b_ddot).norm() < 1e-15);
/// # Ok::<(), fly_lie::Singularity>(())
/// ```
impl<T: RealField + Copy> MinimalRotation<T> {
    /// The angular velocity `vee(Rᵀ R_dot)`, Konz (A.174), for these derivatives of the directions.
    pub fn angular_velocity(&self, a_dot: &Vector3<T>, b_dot: &Vector3<T>) -> Vector3<T> {
        let (a, b) = (&self.a, &self.b);
        let two: T = convert(2.0);
        let along = a.cross(b).dot(b_dot) * two;
        ((a + b).cross(&(b_dot - a_dot)) - a * along) * self.s
    }

    /// The angular acceleration, Konz (A.175), with first and second derivatives of `a` and of `b`.
    pub fn angular_acceleration(
        &self,
        (a_dot, a_ddot): (&Vector3<T>, &Vector3<T>),
        (b_dot, b_ddot): (&Vector3<T>, &Vector3<T>),
    ) -> Vector3<T> {
        let (a, b) = (&self.a, &self.b);
        let two: T = convert(2.0);
        let c = a.cross(b);
        let rates = a_dot.cross(b_dot);
        let twice = rates + a * rates.dot(b) - a * c.dot(b_ddot) - a_dot * c.dot(b_dot);
        let omega = self.angular_velocity(a_dot, b_dot);
        let drift = a_dot.dot(b) + a.dot(b_dot);
        ((a + b).cross(&(b_ddot - a_ddot)) + twice * two - omega * drift) * self.s
    }

    /// The inverse problem: the derivative of `b = R a` when the rotation has the angular velocity `omega` and `a` this
    /// derivative.
    pub fn target_rate(&self, omega: &Vector3<T>, a_dot: &Vector3<T>) -> Vector3<T> {
        self.rotation().act(&(omega.cross(&self.a) + a_dot))
    }

    /// The second derivative of `b = R a`.
    pub fn target_acceleration(
        &self,
        (omega, omega_dot): (&Vector3<T>, &Vector3<T>),
        (a_dot, a_ddot): (&Vector3<T>, &Vector3<T>),
    ) -> Vector3<T> {
        let turned = omega.cross(&self.a) + a_dot;
        let inner = omega_dot.cross(&self.a) + omega.cross(&(turned + a_dot)) + a_ddot;
        self.rotation().act(&inner)
    }
}
