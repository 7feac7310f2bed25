//! The flight: frames in, commands out, and what happens when frames fail.

pub mod binding;
pub mod descent;
pub mod difference;
pub mod limits;
pub mod observation;
pub mod pilot;
pub mod prediction;
pub mod reference;
pub mod replay;
pub mod supervisor;

use std::path::PathBuf;

use crate::telemetry::Summary;

/// What the command line adds to a configuration.
#[derive(Debug, Clone, Default)]
pub struct FlightOptions {
    /// `--log`: the log file; a file that is there is replaced. Without it a name is made from the configuration's and the time.
    pub log: Option<PathBuf>,
    /// `--arm`: commands go to a backend that keeps its own clock, that is to something that may move.
    pub arm: bool,
    /// `--plugin-dir`: folders that are searched for plugins first.
    pub plugin_dirs: Vec<PathBuf>,
    /// Draw a progress bar when standard error is a terminal.
    pub progress: bool,
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

/// A flight that took place.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// What is printed.
    pub summary: Summary,
}

impl Outcome {
    /// The process's exit code: 0 flown (to its end or until the user ended it), 3 backend, 4 safety stop.
    pub fn exit_code(&self) -> u8 {
        match self.end {
            End::Completed | End::OutOfFrames | End::Interrupted => 0,
            End::Backend(_) => 3,
            End::SafetyStop => 4,
        }
    }
}
