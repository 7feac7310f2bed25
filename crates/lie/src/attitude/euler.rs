//! Euler angles in all twelve sequences (Konz A.5.3 and its relatives).

use nalgebra::{Matrix3, RealField, Vector3, convert};

use crate::{SO3, Singularity, UnitQuaternion};

/// The rotation axes in order, each as moved by the previous rotations: `R = R_1 R_2 R_3`.
///
/// Yaw, pitch and roll are [`EulerSequence::ZYX`]. Sequences about fixed axes are the same in reverse order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(missing_docs, reason = "the name says it all")]
pub enum EulerSequence {
    XYZ,
    XZY,
    YXZ,
    YZX,
    ZXY,
    ZYX,
    XYX,
    XZX,
    YXY,
    YZY,
    ZXZ,
    ZYZ,
}

impl EulerSequence {
    /// All twelve.
    pub const ALL: [Self; 12] = [
        Self::XYZ,
        Self::XZY,
        Self::YXZ,
        Self::YZX,
        Self::ZXY,
        Self::ZYX,
        Self::XYX,
        Self::XZX,
        Self::YXY,
        Self::YZY,
        Self::ZXZ,
        Self::ZYZ,
    ];

    /// The three axes: 0, 1, 2 for x, y, z.
    pub const fn axes(self) -> [usize; 3] {
        match self {
            Self::XYZ => [0, 1, 2],
            Self::XZY => [0, 2, 1],
            Self::YXZ => [1, 0, 2],
            Self::YZX => [1, 2, 0],
            Self::ZXY => [2, 0, 1],
            Self::ZYX => [2, 1, 0],
            Self::XYX => [0, 1, 0],
            Self::XZX => [0, 2, 0],
            Self::YXY => [1, 0, 1],
            Self::YZY => [1, 2, 1],
            Self::ZXZ => [2, 0, 2],
            Self::ZYZ => [2, 1, 2],
        }
    }

    /// Returns whether the first axis is repeated, as in ZXZ; the singularity is then at 0 and π, otherwise at ±π/2.
    pub const fn is_symmetric(self) -> bool {
        let [first, _, third] = self.axes();
        first == third
    }
}

/// Three Euler angles of a sequence.
///
/// ```
/// use fly_lie::attitude::{Euler, EulerSequence};
///
/// let yaw_pitch_roll = Euler::<f64>::new(EulerSequence::ZYX, [1.0, 0.4, -0.2]);
/// let read = Euler::from_rotation(&yaw_pitch_roll.rotation(), EulerSequence::ZYX);
/// assert!(!read.singular && (read.angles[0] - 1.0).abs() < 1e-15);
///
/// // At pitch π/2 only the difference of yaw and roll is defined: the first angle takes it, the third is zero.
/// let up = Euler::<f64>::new(EulerSequence::ZYX, [1.0, std::f64::consts::FRAC_PI_2, 0.3]);
/// let read = Euler::from_rotation(&up.rotation(), EulerSequence::ZYX);
/// assert!(read.singular && (read.angles[0] - 0.7).abs() < 1e-15 && read.angles[2] == 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Euler<T: RealField + Copy> {
    /// The axes.
    pub sequence: EulerSequence,
    /// The angles, in the order of the sequence.
    pub angles: [T; 3],
    /// Whether first and third axis coincide to rounding, so that only the sum or difference of their angles is defined.
    pub singular: bool,
}

/// # Rotation
impl<T: RealField + Copy> Euler<T> {
    /// From these angles.
    pub fn new(sequence: EulerSequence, angles: [T; 3]) -> Self {
        let (s, k) = angles[1].sin_cos();
        let distance = if sequence.is_symmetric() { s } else { k };
        Self {
            sequence,
            angles,
            singular: distance.abs() <= threshold(),
        }
    }

    /// The rotation `R_1 R_2 R_3`; for ZYX that is Konz (A.162).
    pub fn rotation(&self) -> SO3<T> {
        let mut product = UnitQuaternion::identity();
        for (axis, angle) in self.sequence.axes().into_iter().zip(self.angles) {
            let mut w = Vector3::zeros();
            w[axis] = angle;
            product = product * UnitQuaternion::exp(&w);
        }
        product.into()
    }

    /// The angles of a rotation: the first and third in `[-pi, pi]`, the second in `[-pi/2, pi/2]`, for symmetric sequences in `[0, pi]`.
    ///
    /// They are computed from the half sum and half difference of the outer angles, which are exact at every angle.[^1] Konz (A.164)
    /// uses an arc sine, which loses half the digits near the singularity. At the singularity the third angle is zero.
    ///
    /// [^1]: E. Bernardes, S. Viollet, *Quaternion to Euler angles conversion: a direct, general and computationally efficient method* (2022).
    pub fn from_rotation(rotation: &SO3<T>, sequence: EulerSequence) -> Self {
        let q = rotation.to_quaternion();
        let [first, j, third] = sequence.axes();
        let symmetric = sequence.is_symmetric();
        let (i, k) = (third, if symmetric { 3 - third - j } else { first });
        // Even permutations of the axes keep the orientation.
        let even = (j + 3 - i) % 3 == 1;
        let (qw, qi, qj) = (q[0], q[i + 1], q[j + 1]);
        let qk = if even { q[k + 1] } else { -q[k + 1] };
        let (a, b, c, d) = if symmetric {
            (qw, qi, qj, qk)
        } else {
            (qw - qj, qi + qk, qj + qw, qk - qi)
        };
        let (along, across) = (a.hypot(b), c.hypot(d));
        let small = threshold::<T>() * (along + across);
        let mut half_sum = b.atan2(a);
        let mut half_difference = d.atan2(c);
        let singular = across <= small || along <= small;
        if across <= small {
            half_difference = half_sum;
        } else if along <= small {
            half_sum = half_difference;
        }
        let two: T = convert(2.0);
        let mut middle = two * across.atan2(along);
        let (last, mut begin) = (half_sum - half_difference, half_sum + half_difference);
        if !symmetric {
            middle -= T::frac_pi_2();
            if !even {
                begin = -begin;
            }
        }
        Self {
            sequence,
            angles: [principal(begin), middle, principal(last)],
            singular,
        }
    }
}

/// # Rates and accelerations
///
/// ```
/// use fly_lie::attitude::{Euler, EulerSequence};
/// use nalgebra::Vector3;
///
/// let yaw_pitch_roll = Euler::<f64>::new(EulerSequence::ZYX, [1.0, 0.4, -0.2]);
/// let (omega, omega_dot) = (Vector3::new(0.1, 0.2, -0.3), Vector3::new(1.0, 0.0, 2.0));
/// let rates = yaw_pitch_roll.rates(&omega)?;
/// let accelerations = yaw_pitch_roll.accelerations(&omega, &omega_dot)?;
/// assert!((yaw_pitch_roll.rate_matrix() * rates - omega).norm() < 1e-15);
/// let back = yaw_pitch_roll.angular_acceleration(&rates, &accelerations);
/// assert!((back - omega_dot).norm() < 1e-14);
/// # Ok::<(), fly_lie::Singularity>(())
/// ```
impl<T: RealField + Copy> Euler<T> {
    /// The matrix `E` of `omega = E rates`; for ZYX its columns are those of Konz (A.163) in reverse.
    ///
    /// Its columns are the three axes in the body frame.
    pub fn rate_matrix(&self) -> Matrix3<T> {
        let [first, second, third] = self.sequence.axes();
        let axis = |k: usize, angle: T| {
            let mut w = Vector3::zeros();
            w[k] = angle;
            w
        };
        let R3 = UnitQuaternion::exp(&axis(third, -self.angles[2]));
        let R2 = UnitQuaternion::exp(&axis(second, -self.angles[1]));
        let one = T::one();
        Matrix3::from_columns(&[
            (R3 * R2).act(&axis(first, one)),
            R3.act(&axis(second, one)),
            axis(third, one),
        ])
    }

    /// The body's angular velocity.
    pub fn angular_velocity(&self, rates: &Vector3<T>) -> Vector3<T> {
        self.rate_matrix() * rates
    }

    /// The rates of the angles; for ZYX Konz (A.165) in reverse order.
    ///
    /// # Errors
    /// [`Singularity::GimbalLock`] where first and third axis coincide to rounding.
    pub fn rates(&self, omega: &Vector3<T>) -> Result<Vector3<T>, Singularity> {
        let E = self.rate_matrix();
        let (x, y, z) = (E.column(0), E.column(1), E.column(2));
        let normal = y.cross(&z);
        let volume = x.dot(&normal);
        if self.singular || volume == T::zero() {
            return Err(Singularity::GimbalLock);
        }
        let rates = Vector3::new(
            normal.dot(omega),
            z.cross(&x).dot(omega),
            x.cross(&y).dot(omega),
        );
        Ok(rates / volume)
    }

    /// The body's angular acceleration.
    pub fn angular_acceleration(
        &self,
        rates: &Vector3<T>,
        accelerations: &Vector3<T>,
    ) -> Vector3<T> {
        self.rate_matrix() * accelerations + self.bias(rates)
    }

    /// The second derivatives of the angles.
    ///
    /// # Errors
    /// [`Singularity::GimbalLock`] where first and third axis coincide to rounding.
    pub fn accelerations(
        &self,
        omega: &Vector3<T>,
        omega_dot: &Vector3<T>,
    ) -> Result<Vector3<T>, Singularity> {
        let rates = self.rates(omega)?;
        self.rates(&(omega_dot - self.bias(&rates)))
    }

    /// `E_dot rates`: each axis is fixed in the frame before its rotation, and the following rotations move the body
    /// relative to it.
    fn bias(&self, rates: &Vector3<T>) -> Vector3<T> {
        let E = self.rate_matrix();
        let after_second = E.column(2) * rates.z;
        let after_first = E.column(1) * rates.y + after_second;
        let first = E.column(0).cross(&after_first) * rates.x;
        first + E.column(1).cross(&after_second) * rates.y
    }
}

/// Distances from the singularity below this are rounding.
fn threshold<T: RealField + Copy>() -> T {
    T::default_epsilon() * convert(8.0)
}

/// Wraps an angle within a turn of `[-pi, pi]` to that interval.
fn principal<T: RealField + Copy>(angle: T) -> T {
    if angle > T::pi() {
        angle - T::two_pi()
    } else if angle < -T::pi() {
        angle + T::two_pi()
    } else {
        angle
    }
}
