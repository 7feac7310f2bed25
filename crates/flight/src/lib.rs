//! Flights from configurations, without a terminal: frames in, commands out, and what happens when frames fail.

pub mod backend;
pub mod binding;
pub mod config;
pub mod craft;
pub mod descent;
pub mod difference;
mod energy;
mod error;
mod finish;
pub mod guidance;
mod histogram;
pub mod limits;
mod messages;
pub mod observation;
pub mod pilot;
mod prepare;
mod recorder;
pub mod reference;
pub mod replay;
mod session;
mod statistics;
mod summary;
pub mod supervisor;

use std::path::PathBuf;

pub use config::Configuration;
pub use error::FlightError;
pub use histogram::Histogram;
pub use replay::Comparison;
pub use session::Flight;
pub use statistics::{FlightStatistics, Magnitude};
pub use summary::{LogSummary, Summary};

/// What is said of a flight beside its configuration.
#[derive(Debug, Clone, Default)]
pub struct FlightOptions {
    /// The log file; a file that is there is replaced. Without it the configuration decides, and else a name is made
    /// from the configuration's and the time.
    pub log: Option<PathBuf>,
    /// Commands go to a backend that keeps its own clock, that is to something that may move.
    pub arm: bool,
    /// Folders that are searched for plugins first.
    pub plugin_dirs: Vec<PathBuf>,
}

/// Seconds as nanoseconds.
#[allow(clippy::cast_possible_truncation)] // saturates
fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

/// How a flight ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The configured duration has passed.
    Completed,
    /// The backend had no more frames: a recording is over.
    OutOfFrames,
    /// The user ended it.
    Interrupted,
    /// The supervisor ended it.
    SafetyStop,
    /// The backend failed; the message is its own.
    Backend(String),
}

impl End {
    /// How it ended, in a few words.
    pub fn describe(&self) -> String {
        match self {
            Self::Completed => "flown".to_owned(),
            Self::OutOfFrames => "flown to the last frame".to_owned(),
            Self::Interrupted => "interrupted".to_owned(),
            Self::SafetyStop => "SAFETY STOP".to_owned(),
            Self::Backend(message) => format!("BACKEND FAILED ({message})"),
        }
    }
}

/// A flight that took place.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// How it went.
    pub summary: Summary,
}
