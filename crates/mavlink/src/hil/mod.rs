//! Between an autopilot and a simulated plant: what simulators of PX4 and ArduPilot exchange with them.
//!
//! - [`px4`]: the `HIL_…` messages, and [`Wire`], the TCP connection that carries them in lockstep;
//! - [`json`]: ArduPilot's servo frames and the JSON that answers them;
//! - [`Sensors`]: what a plant's frames tell an autopilot; [`Origin`]: where its world is on the globe.

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
