//! The summary of a flight.

use std::path::PathBuf;

use fly_control::analysis::Report;
use fly_control::predictor::StatePredictor;
use fly_lie::operators::{angular, linear};
use fly_log::{Histogram, Timing};

use crate::disturbance::DisturbanceReport;
use crate::envelope::Exceeded;
use crate::estimation::EstimatorReport;
use crate::health::ActuatorEvent;
use crate::replay::Comparison;
use crate::statistics::FlightStatistics;
use crate::tracking::TrackingError;
use crate::verdict::{End, Verdict};

/// Which state the errors of a summary are measured with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ErrorSource {
    /// The state that was measured.
    #[default]
    Measured,
    /// The true one, which a simulation tells.
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
    /// How it went.
    pub verdict: Verdict,
    /// How it ended.
    pub end: End,
    /// Flight time, s: from the first complete frame to the last tick.
    pub flight_time: f64,
    /// Wall-clock time of the flight, s.
    pub wall_time: f64,
    /// Mean rate of the ticks, Hz.
    pub rate: f64,
    /// Whether the backend has a real-time clock, so that a real-time factor means nothing.
    pub real_time: bool,
    /// Names of the errors in distance and in angle; `None` for one that the system cannot have.
    pub error_names: [Option<&'static str>; 2],
    /// Errors of distance (m) and angle (rad).
    pub errors: [TrackingError; 2],
    /// Which state they are measured with.
    pub error_source: ErrorSource,
    /// Saturation, allocation and energies.
    pub statistics: FlightStatistics,
    /// Whether the total error energy W fell as predicted; `None` for a shadow flight.
    pub energy: Option<Report>,
    /// What the observer of disturbances has found at the end; `None` without one.
    pub disturbance: Option<DisturbanceReport>,
    /// What became of the estimate and of its sensors; `None` without an estimator.
    pub estimator: Option<EstimatorReport>,
    /// Times of the control steps.
    pub step_times: Histogram,
    /// How punctual it was; wake-up and latency of a real vehicle's backend alone.
    pub timing: Timing,
    /// The reference, in words.
    pub reference: String,
    /// Interventions of the supervisor.
    pub interventions: Interventions,
    /// The backend: name and version.
    pub backend: String,
    /// What the backend reports: label and text.
    pub backend_report: Vec<(String, String)>,
    /// Recorded against recomputed commands.
    pub comparison: Option<Comparison>,
    /// The log file, if there is one.
    pub log: Option<LogSummary>,
    /// Anything else that the reader must know.
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
    /// Failsafes that ended because frames came back.
    pub resumed: u64,
    /// When and why the flight was given up.
    pub failsafe: Option<Failsafe>,
    /// What became known of the actuators, and when (s after the first tick). The first ones, if there are many.
    pub actuators: Vec<(f64, ActuatorEvent)>,
    /// Limits that were exceeded: when (s after the first tick), and how. The first ones, if there are many.
    pub exceeded: Vec<(f64, Exceeded)>,
}

/// When and why a flight was given up.
#[derive(Debug, Clone, PartialEq)]
pub struct Failsafe {
    /// s after the first tick.
    pub time: f64,
    /// The fault.
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
    /// Why there is no log, if it could not be written to the end.
    pub failure: Option<String>,
}

/// Names of the [errors](StatePredictor::errors): of a vehicle of one body those of position and attitude; of a system those of the
/// joints that slide and of those that turn, if there are any.
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
