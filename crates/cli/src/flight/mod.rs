//! The flight: frames in, commands out, and what happens when frames fail.

pub mod binding;
pub mod craft;
pub mod descent;
pub mod difference;
mod energy;
mod error;
mod finish;
pub mod guidance;
pub mod limits;
pub mod observation;
pub mod pilot;
mod prepare;
mod recorder;
pub mod reference;
pub mod replay;
mod session;
pub mod supervisor;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};

pub use error::FlightError;
pub use session::Flight;

use crate::config::Configuration;
use crate::exit::Exit;
use crate::telemetry::{Summary, Telemetry};

/// What the command line adds to a configuration.
#[derive(Debug, Clone, Default)]
pub struct FlightOptions {
    /// `--log`: the log file; a file that is there is replaced. Without it the configuration decides, and else a name is made
    /// from the configuration's and the time.
    pub log: Option<PathBuf>,
    /// `--arm`: commands go to a backend that keeps its own clock, that is to something that may move.
    pub arm: bool,
    /// `--plugin-dir`: folders that are searched for plugins first.
    pub plugin_dirs: Vec<PathBuf>,
    /// Draw a progress bar when standard error is a terminal.
    pub progress: bool,
    /// Where events go.
    pub telemetry: Telemetry,
}

/// Flies a configuration until its end, or until the user interrupts it (Ctrl-C, SIGTERM): then the log is finished and the
/// backend stopped all the same. A vehicle that was commanded is asked to land. A second interruption ends the process at once.
///
/// # Errors
/// What kept the flight from beginning. Whatever happens later is part of the [`Outcome`].
pub fn fly(configuration: &Configuration, options: &FlightOptions) -> Result<Outcome, FlightError> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let hooks = interruptions(&interrupt);
    let outcome = Flight::prepare(configuration, options, interrupt).and_then(|mut flight| {
        loop {
            if let Some(end) = flight.tick() {
                break Ok(flight.finish(end));
            }
        }
    });
    options.telemetry.record(false);
    for hook in hooks {
        signal_hook::low_level::unregister(hook);
    }
    outcome
}

/// The exit code of a process that a second interruption ended: 128 + SIGINT, as shells have it.
const INTERRUPTED: i32 = 130;

/// Makes Ctrl-C and SIGTERM set the flag, and a second one end the process.
fn interruptions(flag: &Arc<AtomicBool>) -> Vec<signal_hook::SigId> {
    let mut hooks = Vec::new();
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset, sets it, and the second one finds it set.
        let hook =
            signal_hook::flag::register_conditional_shutdown(signal, INTERRUPTED, Arc::clone(flag))
                .and_then(|shutdown| {
                    hooks.push(shutdown);
                    signal_hook::flag::register(signal, Arc::clone(flag))
                });
        match hook {
            Ok(hook) => hooks.push(hook),
            Err(error) => tracing::warn!("Ctrl-C will not end the flight in order: {error}"),
        }
    }
    hooks
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
    /// What is printed.
    pub summary: Summary,
}

impl Outcome {
    /// The process's exit code. A flight that the user ended was flown; one whose log was lost was not recorded, which is an
    /// error of output.
    pub fn exit(&self) -> Exit {
        match self.end {
            End::Completed | End::OutOfFrames | End::Interrupted
                if self.summary.log.failure.is_some() =>
            {
                Exit::Internal
            }
            End::Completed | End::OutOfFrames | End::Interrupted => Exit::Flown,
            End::Backend(_) => Exit::Backend,
            End::SafetyStop => Exit::SafetyStop,
        }
    }
}
