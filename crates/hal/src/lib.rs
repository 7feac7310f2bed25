//! The boundary between `fly` and the vehicle: signals, backends, plugin ABI and loader.
//!
//! A *backend* is a named set of [signals](signal) with a [clock](Clock): a simulator, a recording, or a vehicle behind
//! a radio link. It is compiled separately into a shared library, the *plugin*, and loaded at run time through a small
//! versioned C ABI. It can therefore be written in Rust (implement [`Backend`], then [`export_backend!`]) or in C
//! (include `fly_plugin.h`).
//!
//! ```text
//!   plugin (cdylib)                                        host (fly, tests, your program)
//!   impl Backend ── export_backend! ── abi::Plugin table ── loader::Plugin ── loader::Instance
//! ```
//!
//! # Conventions of every signal
//!
//! - Time is `i64` nanoseconds. A [`Stepped`](Clock::Stepped) backend starts at its own zero; a
//!   [`RealTime`](Clock::RealTime) one counts from its start. Only differences mean something.
//! - SI units and radians. The world is z-up, bodies are x-forward, y-left, z-up. Quaternions are w, x, y, z and turn
//!   body coordinates into world coordinates. Twists and their parts are in the body frame.
//! - The names, units and groups that hosts understand stand in one table: [`signal::TABLE`].
//!
//! # Lifecycle
//!
//! ```text
//!   configure ── start ── { read, write }* ── stop ── drop
//! ```
//!
//! [`conformance::run`] tests any plugin for all of this and reports every violation.

pub mod abi;
mod backend;
mod clock;
mod command_set;
mod configuration;
pub mod conformance;
mod description;
mod error;
mod frame;
mod group_status;
pub mod loader;
pub mod real_time;
#[cfg(feature = "toml")]
mod settings;
pub mod signal;
#[cfg(feature = "toml")]
mod spanned;
mod suggest;

pub use backend::{Backend, Emergency, Info, Progress, Request};
pub use clock::{Clock, Deadline, Ticks, monotonic_now};
pub use command_set::CommandSet;
pub use configuration::{Configuration, ResolvePath};
pub use description::{Description, ReferenceSource};
pub use error::{Error, ErrorKind, Location, Text};
pub use frame::{Frame, FrameMut, ReadOutcome};
pub use group_status::GroupStatus;
pub use loader::{CrashGuard, EmergencyLine, Instance, LoadError, Plugin, PluginInfo, SearchPath};
pub use signal::{Class, Signal};
#[cfg(feature = "toml")]
pub use spanned::Spanned;
pub use suggest::nearest;

/// The examples of the README are compiled.
#[cfg(all(doctest, feature = "toml"))]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
