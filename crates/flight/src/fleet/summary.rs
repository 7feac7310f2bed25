//! The summary of several flights.

use crate::summary::{LogSummary, Summary};
use crate::verdict::Verdict;

/// The summary of a [`Fleet`](super::Fleet).
#[derive(Debug, Clone, Default)]
pub struct FleetSummary {
    /// Name of the configuration.
    pub name: String,
    /// The name and summary of each vehicle.
    pub vehicles: Vec<(String, Summary)>,
    /// The longest flight time, s.
    pub flight_time: f64,
    /// Wall-clock time of the whole run, s.
    pub wall_time: f64,
    /// The world's backend: name and version.
    pub backend: String,
    /// The backend's report: label and text.
    pub backend_report: Vec<(String, String)>,
    /// The world's log, if any.
    pub log: Option<LogSummary>,
}

impl FleetSummary {
    /// The worst verdict over all vehicles.
    pub fn verdict(&self) -> Verdict {
        self.worst()
            .map_or(Verdict::Flown, |(_, worst)| worst.verdict)
    }

    /// The vehicle with the worst verdict, the first one if there are several; `None` if there are no vehicles.
    pub fn worst(&self) -> Option<&(String, Summary)> {
        let rank = |verdict: Verdict| Verdict::ALL.iter().position(|other| *other == verdict);
        let mut vehicles = self.vehicles.iter();
        let first = vehicles.next()?;
        Some(vehicles.fold(first, |worst, other| {
            if rank(other.1.verdict) > rank(worst.1.verdict) {
                other
            } else {
                worst
            }
        }))
    }
}
