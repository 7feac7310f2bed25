//! Why there is no vehicle, or not the expected one.

use std::fmt::Write;
use std::time::Duration;

use super::Found;
use super::senders::{Other, listed};
use crate::address::Address;
use crate::dialect::MavType;
use crate::statistics::Statistics;
use crate::telemetry::type_name;

/// Why a vehicle cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VehicleError {
    /// No heartbeat of an autopilot came in time.
    #[error("no vehicle was heard on `{address}` within {} s: {instead}", hundredths(*.waited))]
    NotHeard {
        /// The link.
        address: Address,
        /// How long it waited.
        waited: Duration,
        /// What was heard instead, and what may help.
        instead: String,
    },
    /// The link carries several autopilots, and nothing says which one is meant.
    #[error(
        "several autopilots are heard on `{address}`: {first}, which was first, and {others}; expected one: set `system` to the \
         system id of the one that is meant"
    )]
    Several {
        /// The link.
        address: Address,
        /// System and component id of the one that was heard first.
        first: String,
        /// The others, with their kinds.
        others: String,
    },
    /// Several senders to the address use the vehicle's system id.
    #[error(
        "several autopilots with system id {system} send to `{address}`; beside the one that was first, {others}; expected one: \
         give each vehicle a system id and a port of its own, or let only one way lead here from a vehicle"
    )]
    SameSystemId {
        /// The link.
        address: Address,
        /// Their system id.
        system: u32,
        /// The others, with their kinds and addresses.
        others: String,
    },
    /// The vehicle is of another kind than expected.
    #[error(
        "expected a {expected}, but the vehicle with system id {system} reports that it is a {found}"
    )]
    WrongType {
        /// The kinds that were expected.
        expected: String,
        /// The kind that the vehicle's heartbeat names.
        found: String,
        /// The vehicle's system id.
        system: u32,
    },
}

impl Found {
    /// Checks that the vehicle is of one of the expected kinds.
    ///
    /// # Errors
    /// [`VehicleError::WrongType`], which names both.
    pub fn expect_type(&self, expected: &[MavType]) -> Result<(), VehicleError> {
        if expected.contains(&self.heartbeat.vehicle_type) {
            return Ok(());
        }
        let names: Vec<_> = expected.iter().copied().map(type_name).collect();
        Err(VehicleError::WrongType {
            expected: names.join(" or "),
            found: type_name(self.heartbeat.vehicle_type),
            system: self.system,
        })
    }
}

/// Seconds to two decimal places, without trailing zeros.
fn hundredths(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 100.0).round() / 100.0
}

/// The messages that a signed link has rejected; `None` if there were none.
fn rejected(statistics: &Statistics) -> Option<String> {
    let kinds: Vec<_> = [
        (statistics.unsigned, "not signed"),
        (statistics.bad_signatures, "signed with another key"),
        (statistics.replayed, "older than the last signed ones"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    if kinds.is_empty() {
        return None;
    }
    let advice = if statistics.unsigned + statistics.bad_signatures > 0 {
        "is `signing_key` the vehicle's?"
    } else {
        "are the clocks right?"
    };
    Some(format!(
        "messages were rejected: {}; {advice}",
        kinds.join(", ")
    ))
}

/// Describes what a link received instead of the vehicle's heartbeat.
pub(super) fn heard_instead(
    wanted: Option<u8>,
    others: &[Other],
    statistics: &Statistics,
    link_error: Option<String>,
) -> String {
    if !others.is_empty() {
        let mut text = format!("heartbeats came only from {}", listed(others));
        if let Some(wanted) = wanted {
            let _ = write!(text, ", and system id {wanted} is configured");
        }
        return text;
    }
    if let Some(error) = link_error {
        return format!("the link is down: {error}");
    }
    if let Some(rejected) = rejected(statistics) {
        return rejected;
    }
    match statistics.messages {
        0 if statistics.bytes == 0 => {
            "nothing was received; does the vehicle send to this address?".to_owned()
        }
        0 => format!(
            "{} bytes were received, but no MAVLink message ({} bad checksums); is the baud rate right?",
            statistics.bytes, statistics.bad_checksums
        ),
        messages => format!("{messages} messages were received, but no heartbeat"),
    }
}
