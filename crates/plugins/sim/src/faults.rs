//! Simulated faults of sensors and actuators.

use serde::Deserialize;

/// How a sensor or an actuator fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// No new data.
    Missing,
    /// The last data again.
    Stale,
    /// NaN.
    NonFinite,
    /// An actuator gives nothing, whatever is commanded.
    Dead,
}

/// An actuator that gives nothing in an interval of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure {
    /// The index of its command.
    pub(crate) command: usize,
    /// First moment, ns.
    pub(crate) from: i64,
    /// First moment after it, ns.
    pub(crate) until: i64,
    /// Whether the frames tell.
    pub(crate) reported: bool,
}

impl Failure {
    pub(crate) fn lasts_at(&self, time: i64) -> bool {
        (self.from..self.until).contains(&time)
    }
}

/// A fault in an interval of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// First moment, ns.
    pub(crate) from: i64,
    /// First moment after it, ns.
    pub(crate) until: i64,
    /// Which group; `None` for all.
    pub(crate) group: Option<usize>,
}

/// The fault of a group at this time: the first one in the list.
pub(crate) fn of_group(faults: &[Fault], time: i64, group: usize) -> Option<Kind> {
    faults
        .iter()
        .find(|fault| {
            (fault.from..fault.until).contains(&time)
                && fault.group.is_none_or(|only| only == group)
        })
        .map(|fault| fault.kind)
}
