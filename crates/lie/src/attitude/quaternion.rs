//! Products and rates of quaternions `w, x, y, z` (Konz A.5.2), which preserve their sign. The conversions are
//! [`SO3::from_quaternion`](crate::SO3::from_quaternion) and [`SO3::to_quaternion`](crate::SO3::to_quaternion).
//!
//! ```
//! use fly_lie::attitude::quaternion::{accelerations, angular_acceleration, angular_velocity, product, rates};
//! use nalgebra::{Vector3, Vector4};
//!
//! let q = Vector4::<f64>::new(0.5, -0.5, 0.5, 0.5);
//! let omega = Vector3::new(0.3, 0.1, -0.7);
//! let q_dot = rates(&q, &omega);
//! assert!(q.dot(&q_dot).abs() < 1e-16, "the norm does not change");
//! assert!((angular_velocity(&q, &q_dot) - omega).norm() < 1e-15);
//!
//! let omega_dot = Vector3::new(1.0, 0.0, 2.0);
//! let q_ddot = accelerations(&q, &omega, &omega_dot);
//! assert!((angular_acceleration(&q, &q_ddot) - omega_dot).norm() < 1e-15);
//!
//! // i j = k
//! assert_eq!(product(&Vector4::ith(1, 1.0), &Vector4::ith(2, 1.0)), Vector4::ith(3, 1.0));
//! ```

use nalgebra::{RealField, Vector3, Vector4, convert};

use crate::UnitQuaternion;

/// The Hamilton product, Konz (A.159).
pub fn product<T: RealField + Copy>(p: &Vector4<T>, q: &Vector4<T>) -> Vector4<T> {
    (UnitQuaternion::from_wxyz(p) * UnitQuaternion::from_wxyz(q)).held()
}

/// `q_dot = 1/2 q [0, omega]`, Konz (A.157).
pub fn rates<T: RealField + Copy>(q: &Vector4<T>, omega: &Vector3<T>) -> Vector4<T> {
    product(q, &pure(omega)) * convert::<f64, T>(0.5)
}

/// `[0, omega] = 2 q* q_dot` of a unit quaternion, Konz (A.155).
pub fn angular_velocity<T: RealField + Copy>(q: &Vector4<T>, q_dot: &Vector4<T>) -> Vector3<T> {
    let conjugate = UnitQuaternion::from_wxyz(q).inverse().held();
    vector(&product(&conjugate, q_dot)) * convert::<f64, T>(2.0)
}

/// `q_ddot = 1/2 (q_dot [0, omega] + q [0, omega_dot])`
pub fn accelerations<T: RealField + Copy>(
    q: &Vector4<T>,
    omega: &Vector3<T>,
    omega_dot: &Vector3<T>,
) -> Vector4<T> {
    rates(&rates(q, omega), omega) + rates(q, omega_dot)
}

/// `omega_dot`, the vector part of `2 q* q_ddot`: that of `q_dot* q_dot` is zero.
pub fn angular_acceleration<T: RealField + Copy>(
    q: &Vector4<T>,
    q_ddot: &Vector4<T>,
) -> Vector3<T> {
    angular_velocity(q, q_ddot)
}

fn pure<T: RealField + Copy>(v: &Vector3<T>) -> Vector4<T> {
    Vector4::new(T::zero(), v.x, v.y, v.z)
}

fn vector<T: RealField + Copy>(q: &Vector4<T>) -> Vector3<T> {
    Vector3::new(q[1], q[2], q[3])
}
