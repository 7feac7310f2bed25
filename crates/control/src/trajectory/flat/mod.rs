//! Flat outputs: references of whole bodies and systems from the path of a point, Konz 5.5.3, 5.8.
//!
//! | system | flat output | type |
//! |---|---|---|
//! | vehicle with thrust along body z | centre of mass and heading | [`PathTrajectory`], [`attitude`] |
//! | vehicle whose torques come with side forces | a point above the centre of mass | [`PathTrajectory::exact_for`] |
//! | planar vertical take-off and landing aircraft | a point above the centre of mass, (5.152)-(5.154) | [`Pvtol`] |
//! | two masses and a spring | the second mass, (5.143) | [`TwoMasses`] |
//!
//! [`PathTrajectory::fastest`] scales a minimum-snap curve in time until the vehicle's limits are reached.

mod exact_height;
mod path_trajectory;
mod plant;
mod pvtol;
mod time_scaling;
mod two_masses;

pub(crate) use crate::thrust::SINGULAR_THRUST;
pub use crate::thrust::{
    Attitude, ExternalForces, SpecificThrust, attitude, attitude_forward, constant_attitude,
    least_thrust, level, rigid_body,
};
pub use path_trajectory::{AttitudeMode, PathTrajectory};
pub use plant::{NotFlat, joint_frame};
#[cfg(feature = "settings")]
pub(crate) use plant::{is_planar, moving};
pub use pvtol::{PlanarAircraft, Pvtol};
pub use time_scaling::{MotionLimits, NotFlyable};
pub use two_masses::{MassesOnLine, TwoMasses};
