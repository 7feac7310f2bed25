//! A MAVLink vehicle as a backend, for the plugins that define a kind of vehicle.
//!
//! A plugin is an [`Airframe`] and one line, `fly_hal::export_backend!(AnyVehicle<MyAirframe>)`: see `crates/plugins/quadcopter`.
//!
//! # Signals
//!
//! | signal | from | stale after `stale_after` |
//! |---|---|---|
//! | `pose.position.*`, `pose.quaternion.*`, `twist.*` | [`crate::Telemetry`], in the world NWU and the body FLU | yes |
//! | `battery.*` | valid if the vehicle knows both voltage and charge | after 5 s |
//! | `vehicle.armed` | heartbeat | after 5 s |
//! | `vehicle.control` | 0 once the mode of a commanded vehicle was changed by somebody else | after 5 s |
//! | `vehicle.uplink` | 0 while a commanded vehicle sends, but no longer answers TIMESYNC | after 5 s |
//! | `inner.*` | the parameters of a commanded vehicle that tell them | never |
//!
//! # Commands
//!
//! With `command = "hil"` we are the autopilot: see [`HilVehicle`]. [`mod@bench`] moves one actuator at a time.
//!
//! The key `command` says which [set](fly_hal::CommandSet) is taken: attitude and thrust, angular velocity and thrust, or points of a trajectory.
//! Without [`armed`](fly_hal::Configuration::armed) they are dropped, and only our heartbeat and requests for messages are sent to the vehicle; with
//! `listen_only = true` not even those.
//!
//! A commanded PX4 flies in OFFBOARD, an ArduCopter in GUIDED. `start` reads the parameters that matter, `arm` checks the vehicle's health, begins the
//! stream of setpoints, changes the mode and arms. What it does is believed when its heartbeats say so. A mode that somebody else has changed
//! ends the commanding at once.
//!
//! # Time
//!
//! A frame's time and its stamps are ns of `CLOCK_MONOTONIC` since the start. A stamp is the time of measurement, as
//! far as the vehicle's clock can be mapped to ours ([`crate::SenderClock`]).

mod airframe;
mod any;
mod autopilot;
pub mod bench;
mod capacity;
mod curve;
mod frame;
mod hil;
mod preflight;
mod rates;
mod session;
mod setpoint;
mod settings;
mod thrust;
mod vehicle;

pub use airframe::Airframe;
pub use any::AnyVehicle;
pub use hil::HilVehicle;
#[cfg(feature = "schema")]
pub use settings::schema;
pub use vehicle::MavlinkVehicle;

/// The kinds of vehicle that a heartbeat may name.
pub use crate::dialect::MavType;
