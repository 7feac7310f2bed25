//! What is known of a flight when it has ended.

use std::path::PathBuf;

use crate::histogram::Histogram;
use crate::replay::Comparison;
use crate::statistics::FlightStatistics;

/// Where the flight was logged.
#[derive(Debug, Clone, Default)]
pub struct LogSummary {
    /// The finished file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Steps that were not logged because the queue was full (real time only).
    pub dropped: u64,
    /// Why there is no log, if it could not be written to the end.
    pub failure: Option<String>,
}

/// How a flight went.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// The flight's name (the configuration's stem).
    pub name: String,
    /// How it ended, in words.
    pub end: String,
    /// Flight time in s.
    pub flight_time: f64,
    /// Wall-clock time of the flight in s.
    pub wall_time: f64,
    /// Ticks per second as they came, Hz.
    pub rate: f64,
    /// Whether the backend keeps its own clock, so that a real-time factor tells nothing.
    pub real_time: bool,
    /// What the errors in distance and in angle are called; those that there cannot be have no name.
    pub errors: [Option<&'static str>; 2],
    /// Errors, saturation and energies.
    pub statistics: FlightStatistics,
    /// Whether the energy of the errors fell as the theory says, in words; none in a recording of another controller's flight.
    pub energy: Option<String>,
    /// Times of the control steps.
    pub step_times: Histogram,
    /// How many steps a solver other than the chosen one answered.
    pub solver_fallbacks: u64,
    /// What the flight followed, in words.
    pub reference: String,
    /// What the supervisor did, in words; empty when it had nothing to do.
    pub supervisor: Vec<String>,
    /// The backend: name and version.
    pub backend: String,
    /// What the backend reports: label and text.
    pub backend_report: Vec<(String, String)>,
    /// Recorded against recomputed commands.
    pub comparison: Option<Comparison>,
    /// The log.
    pub log: LogSummary,
    /// Anything else that the reader must know.
    pub notes: Vec<String>,
}
