//! Timing of a flight of a real vehicle.

use std::collections::BTreeMap;

use crate::Histogram;

/// Timing of a real-time loop, ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Whole cycles: from one frame until the loop waits for the next one.
    pub cycles: Histogram,
    /// Cycles that took longer than the time between two frames, and reads that returned too late for their tick.
    pub deadline_misses: u64,
    /// Lateness of reads that waited until their deadline: the wake-up jitter.
    pub wake_up: Histogram,
    /// From the stamp of the frame's newest measurement until the backend has taken the commands computed from it.
    pub latency: Histogram,
}

impl Timing {
    /// Its histograms, by their names.
    pub fn histograms(&self) -> [(&'static str, &Histogram); 3] {
        [
            ("cycle", &self.cycles),
            ("wake_up", &self.wake_up),
            ("latency", &self.latency),
        ]
    }

    /// As the pairs of a metadata record.
    pub(crate) fn pairs(&self) -> [(&'static str, String); 4] {
        let [cycles, wake_up, latency] = self.histograms().map(|(_, it)| it.to_text());
        [
            ("cycle_ns", cycles),
            ("wake_up_ns", wake_up),
            ("latency_ns", latency),
            ("deadline_misses", self.deadline_misses.to_string()),
        ]
    }

    /// The inverse of [`pairs`](Self::pairs); missing or damaged entries are empty.
    pub(crate) fn from_map(map: &BTreeMap<String, String>) -> Self {
        let histogram = |key: &str| map.get(key).and_then(|text| Histogram::from_text(text));
        let misses = map.get("deadline_misses").map(|text| text.trim().parse());
        Self {
            cycles: histogram("cycle_ns").unwrap_or_default(),
            wake_up: histogram("wake_up_ns").unwrap_or_default(),
            latency: histogram("latency_ns").unwrap_or_default(),
            deadline_misses: misses.and_then(Result::ok).unwrap_or_default(),
        }
    }
}
