//! The summary of several flights.

use crate::summary::{LogSummary, Summary};
use crate::verdict::Verdict;

/// The summary of a [`Fleet`](super::Fleet).
#[derive(Debug, Clone, Default)]
pub struct FleetSummary {
    /// Name of the configuration.
    pub name: String,
    /// Of each vehicle, with its name.
    pub vehicles: Vec<(String, Summary)>,
    /// The longest flight time, s.
    pub flight_time: f64,
    /// Wall-clock time of all, s.
    pub wall_time: f64,
    /// The backend that holds the world: name and version.
    pub backend: String,
    /// What it reports: label and text.
    pub backend_report: Vec<(String, String)>,
    /// The log of the world, if there is one.
    pub log: Option<LogSummary>,
}

impl FleetSummary {
    /// The worst verdict of all vehicles.
    pub fn verdict(&self) -> Verdict {
        self.worst()
            .map_or(Verdict::Flown, |(_, worst)| worst.verdict)
    }

    /// The vehicle with the worst verdict, the first one of several; `None` if there are none.
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
