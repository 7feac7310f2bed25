#![doc = include_str!("../README.md")]

pub mod backend;
pub mod binding;
pub mod config;
mod descent;
mod difference;
mod energy;
pub mod envelope;
mod error;
mod flight;
pub mod guidance;
mod histogram;
pub mod limits;
mod link;
mod messages;
pub mod observation;
pub mod pilot;
mod prepare;
mod recorder;
pub mod reference;
mod replay;
mod sink;
mod statistics;
mod summary;
pub mod supervisor;
mod timeline;
mod watchdog;

pub use config::Configuration;
pub use error::FlightError;
pub use flight::Flight;
pub use histogram::Histogram;
pub use messages::Message;
pub use replay::{CommandDifference, Comparison};
pub use sink::{Discard, McapFile, Memory, MemoryControl, MemoryRow, Sink};
pub use statistics::{FlightStatistics, Magnitude};
pub use summary::{End, Failsafe, Interventions, LogSummary, Summary};
pub use watchdog::{Call, Hang};
