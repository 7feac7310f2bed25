//! Flight logs: written while flying, read for replay and analysis.
//!
//! [`Writer`] records a flight as MCAP with protobuf messages.

mod error;
pub mod schema;
mod signal;
mod writer;

pub use error::LogError;
pub use signal::{Class, GroupStatus, Signal, Status};
pub use writer::{
    Control, Energies, Header, Level, Pace, Pushed, Reference, Row, RunMetadata, State, Stats,
    Writer,
};
