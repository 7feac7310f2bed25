//! Attitude parameterisations, with rates and accelerations both ways (Konz A.5).
//!
//! | parameters | singular | from a rotation | rates | accelerations |
//! |---|---|---|---|---|
//! | [`AxisAngle`] | zero angle | `from_rotation` | `rates`, `angular_velocity` | `accelerations`, `angular_acceleration` |
//! | quaternion, [`quaternion`] | nowhere | [`SO3::to_quaternion`](crate::SO3::to_quaternion) | `rates`, `angular_velocity` | the same |
//! | [`Euler`], 12 sequences | two angles | `from_rotation` | the same | the same |
//! | [`YawTilt`] | upside down | `from_rotation` | the same | the same |
//! | [`MinimalRotation`] | opposite directions | - | `target_rate`, `angular_velocity` | the same |
//!
//! Angular velocities and accelerations are those of the body in its own frame: `R_dot = R hat(omega)`.

mod axis_angle;
mod euler;
mod minimal;
pub mod quaternion;
mod yaw_tilt;

pub use axis_angle::AxisAngle;
pub use euler::{Euler, EulerSequence};
pub use minimal::MinimalRotation;
pub use yaw_tilt::YawTilt;
