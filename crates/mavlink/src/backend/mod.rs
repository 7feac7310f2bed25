//! A MAVLink vehicle as a backend, for the plugins that name the kind of vehicle.
//!
//! A plugin is an [`Airframe`] and one line, `fly_hal::export_backend!(MavlinkVehicle<MyAirframe>)`: see `crates/plugins/quadcopter`.
//!
//! # What crosses
//!
//! | signal | from | stale after `stale_after` |
//! |---|---|---|
//! | `pose.position.*`, `pose.quaternion.*`, `twist.*` | [`crate::Telemetry`], in the world NWU and the body FLU | yes |
//! | `battery.*` | valid where the vehicle knows both voltage and charge | after 5 s |
//! | `vehicle.armed` | heartbeat | after 5 s |
//!
//! The commands are those of the rotors in the vehicle's description, and **none is sent**: this version reads. A host that
//! wants to arm is refused when the backend is configured, and again by [`arm`](fly_hal::Backend::arm).
//! [`write`](fly_hal::Backend::write) takes commands, so that they can be computed and shown, and drops them. What is
//! sent to the vehicle is our heartbeat and requests for messages; with `listen_only = true` not even those.
//!
//! # Time
//!
//! A frame's time and its stamps are ns of `CLOCK_MONOTONIC` since the start. A stamp is when the vehicle measured, as
//! far as its clock can be mapped to ours ([`crate::SenderClock`]).

mod airframe;
mod frame;
mod settings;
mod vehicle;

pub use airframe::Airframe;
pub use vehicle::MavlinkVehicle;

/// The kinds of vehicle that a heartbeat may name.
pub use crate::dialect::MavType;
