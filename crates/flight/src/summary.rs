//! The summary of a flight.

use std::path::PathBuf;

use fly_control::analysis::Report;
use fly_control::predictor::StatePredictor;
use fly_lie::operators::{angular, linear};
use fly_log::{Histogram, Timing};

use crate::disturbance::DisturbanceReport;
use crate::envelope::Told;
use crate::estimation::EstimatorReport;
use crate::health::ActuatorEvent;
use crate::replay::Comparison;
use crate::statistics::FlightStatistics;
use crate::tracking::TrackingError;
use crate::verdict::{End, Verdict};

/// The state from which a summary's errors are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ErrorSource {
    /// The measured state.
    #[default]
    Measured,
    /// The true state, which a simulation provides.
    True,
}

impl ErrorSource {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::True => "true",
        }
    }
}

/// The summary of a flight.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Name of the configuration.
    pub name: String,
    /// The verdict on the flight.
    pub verdict: Verdict,
    /// How the flight ended.
    pub end: End,
    /// Flight time, s: from the first complete frame to the last tick.
    pub flight_time: f64,
    /// Wall-clock time of the flight, s.
    pub wall_time: f64,
    /// Mean rate of the ticks, Hz.
    pub rate: f64,
    /// Whether the backend has a real-time clock, which makes a real-time factor meaningless.
    pub real_time: bool,
    /// Names of the distance and angle errors; `None` for an error that the system cannot have.
    pub error_names: [Option<&'static str>; 2],
    /// Errors of distance (m) and angle (rad).
    pub errors: [TrackingError; 2],
    /// The state that the errors are computed from.
    pub error_source: ErrorSource,
    /// Saturation, allocation and energies.
    pub statistics: FlightStatistics,
    /// Whether the total error energy W fell as predicted; `None` for a shadow flight.
    pub energy: Option<Report>,
    /// The result of the disturbance observer at the end; `None` without one.
    pub disturbance: Option<DisturbanceReport>,
    /// Statistics of the estimate and its sensors; `None` without an estimator.
    pub estimator: Option<EstimatorReport>,
    /// Times of the control steps.
    pub step_times: Histogram,
    /// Timing of the loop; wake-up and latency only for a real vehicle's backend.
    pub timing: Timing,
    /// The reference, in words.
    pub reference: String,
    /// Interventions of the supervisor.
    pub interventions: Interventions,
    /// The backend's name and version.
    pub backend: String,
    /// The backend's report: label and text.
    pub backend_report: Vec<(String, String)>,
    /// Comparison of recorded and recomputed commands.
    pub comparison: Option<Comparison>,
    /// The log file, if any.
    pub log: Option<LogSummary>,
    /// Further notes for the reader.
    pub notes: Vec<String>,
}

/// Interventions of the supervisor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Interventions {
    /// Dropouts that ended within the hold time.
    pub dropouts: u64,
    /// The longest of them, s.
    pub longest_dropout: f64,
    /// Gaps of a recording that were skipped.
    pub pauses: u64,
    /// Failsafes that ended because frames returned.
    pub resumed: u64,
    /// How long they took together, s.
    pub failsafe_time: f64,
    /// When and why the flight was given up.
    pub failsafe: Option<Failsafe>,
    /// Actuator events and their times (s after the first tick). The first ones, if there are many.
    pub actuators: Vec<(f64, ActuatorEvent)>,
    /// Exceeded limits and their times (s after the first tick). The first ones, if there are many.
    pub exceeded: Vec<(f64, Told)>,
}

/// When and why a flight was given up.
#[derive(Debug, Clone, PartialEq)]
pub struct Failsafe {
    /// Time after the first tick, s.
    pub time: f64,
    /// The fault, in words.
    pub reason: String,
}

/// Where the flight was logged.
#[derive(Debug, Clone, Default)]
pub struct LogSummary {
    /// The finished file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Steps that were not logged because the queue was full (real time only).
    pub dropped: u64,
    /// Why the log is missing or incomplete.
    pub failure: Option<String>,
}

/// Names of the [errors](StatePredictor::errors): position and attitude for a vehicle of one body; for a system, those
/// of its prismatic and of its revolute joints, if it has any.
pub(crate) fn error_names(predictor: &StatePredictor) -> [Option<&'static str>; 2] {
    let model = &predictor.system().model;
    if predictor.tracked().is_some() && model.body_count() == 1 {
        return [Some("position error"), Some("attitude error")];
    }
    let mut moves = [false; 2];
    for body in model.bodies() {
        let Some(joint) = model.joint(body) else {
            continue;
        };
        let own = &predictor.configuration()[model.config_range(body)];
        for direction in joint.subspace(own).columns() {
            moves[0] |= linear(direction).norm() > 0.0;
            moves[1] |= angular(direction).norm() > 0.0;
        }
    }
    [
        moves[0].then_some("sliding error"),
        moves[1].then_some("turning error"),
    ]
}
