//! The interface between an autopilot and a simulated plant: the messages that simulators exchange with PX4 and
//! ArduPilot.
//!
//! - [`px4`]: the `HIL_…` messages, and [`Wire`], the TCP connection that carries them in lockstep;
//! - [`json`]: ArduPilot's servo frames and the JSON replies;
//! - [`Sensors`]: reads an autopilot's sensor samples from a plant's frames; [`Origin`]: position of the world's origin
//!   on the globe.

mod atmosphere;
mod geodesy;
pub mod json;
pub mod px4;
mod sensed;
mod serve;
mod wire;

pub use geodesy::Origin;
pub use sensed::{Fix, Inertial, Motion, Sensed, Sensors};
pub use serve::ServeSettings;
pub use wire::{Wire, WireCounts};
