//! A MAVLink vehicle as a backend, for the plugins that define a kind of vehicle.
//!
//! A plugin is an [`Airframe`] and one line, `fly_hal::export_backend!(MavlinkVehicle<MyAirframe>)`: see `crates/plugins/quadcopter`.
//!
//! # Signals
//!
//! | signal | from | stale after `stale_after` |
//! |---|---|---|
//! | `pose.position.*`, `pose.quaternion.*`, `twist.*` | [`crate::Telemetry`], in the world NWU and the body FLU | yes |
//! | `battery.*` | valid if the vehicle knows both voltage and charge | after 5 s |
//! | `vehicle.armed` | heartbeat | after 5 s |
//!
//! The commands are those of the rotors in the vehicle's description, and **none is sent**: this version only reads. Arming is refused
//! when the backend is configured, and again by [`arm`](fly_hal::Backend::arm).
//! [`write`](fly_hal::Backend::write) takes commands, so that they can be computed and shown, and drops them. Only
//! our heartbeat and requests for messages are sent to the vehicle; with `listen_only = true` not even those.
//!
//! # Time
//!
//! A frame's time and its stamps are ns of `CLOCK_MONOTONIC` since the start. A stamp is the time of measurement, as
//! far as the vehicle's clock can be mapped to ours ([`crate::SenderClock`]).

mod airframe;
mod frame;
mod settings;
mod vehicle;

pub use airframe::Airframe;
pub use vehicle::MavlinkVehicle;

/// The kinds of vehicle that a heartbeat may name.
pub use crate::dialect::MavType;
