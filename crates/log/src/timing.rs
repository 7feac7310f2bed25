//! How punctual a flight over a real vehicle was.

use std::collections::BTreeMap;

use crate::Histogram;

/// Times of a loop in real time, ns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Whole cycles: from one frame until the loop waits for the next one.
    pub cycles: Histogram,
    /// Cycles that took longer than the time between two frames, and reads that came back too late for their tick.
    pub deadline_misses: u64,
    /// How long after their deadline reads came back that waited for it: the jitter of the wake-up.
    pub wake_up: Histogram,
    /// From the newest measurement of a frame, by its stamp, until the backend had taken the commands that answer it.
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

    /// The inverse of [`pairs`](Self::pairs); what is missing or damaged is empty.
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
