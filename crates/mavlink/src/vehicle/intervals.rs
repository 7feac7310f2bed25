//! Requests for messages, one at a time, because an acknowledgement does not identify the message.

use mavlink::Message as _;

use super::commands::{Command, Commands, Outcome, Ticket};
use crate::dialect::{MavCmd, MavMessage, MavResult};

const MS: i64 = 1_000_000;

/// A request is repeated after this, ns …
const RETRY: i64 = 300 * MS;

/// … and given up after this, ns, in favour of the next one.
const TIMEOUT: i64 = 700 * MS;

/// Number of `AUTOPILOT_VERSION`.
const VERSION: u32 = 148;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Request {
    /// A message at this rate, Hz.
    Interval { id: u32, hz: f64 },
    /// `AUTOPILOT_VERSION`.
    Version,
}

/// Sends requests one after the other.
pub(super) struct Intervals {
    commands: Commands,
    due: Vec<Request>,
    current: Option<(Request, Ticket)>,
    refused: Vec<u32>,
}

impl Intervals {
    pub fn new(us: (u8, u8)) -> Self {
        Self {
            commands: Commands::new(us, RETRY),
            due: Vec::new(),
            current: None,
            refused: Vec::new(),
        }
    }

    /// Requests a message, unless the request is pending or was refused.
    pub fn ask(&mut self, request: Request) {
        let refused = matches!(request, Request::Interval { id, .. } if self.refused.contains(&id));
        let current = self.current.is_some_and(|(current, _)| current == request);
        if !refused && !current && !self.due.contains(&request) {
            self.due.push(request);
        }
    }

    /// The vehicle may have restarted: another firmware may grant more.
    pub fn forget(&mut self) {
        self.refused.clear();
    }

    pub fn take(&mut self, from: (u32, u8), m: &crate::dialect::COMMAND_ACK_DATA) {
        self.commands.take(from, m);
    }

    pub fn poll(
        &mut self,
        now: i64,
        target: (u8, u8),
        mut send: impl FnMut(MavMessage, i64) -> bool,
    ) {
        self.commands.poll(now, &mut send);
        if let Some((request, ticket)) = self.current {
            let outcome = self.commands.outcome(ticket);
            if !outcome.is_final() {
                return;
            }
            self.current = None;
            self.note(request, outcome);
        }
        if self.due.is_empty() {
            return;
        }
        let request = self.due.remove(0);
        let command = match request {
            Request::Interval { id, hz } => Command::message_interval(id, hz),
            Request::Version => {
                let number = VERSION as f32;
                Command::long(
                    MavCmd::MAV_CMD_REQUEST_MESSAGE,
                    [number, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                )
            }
        };
        if let Ok(ticket) = self.commands.begin(command, target, now, now + TIMEOUT) {
            self.current = Some((request, ticket));
            self.commands.poll(now, send);
        }
    }

    fn note(&mut self, request: Request, outcome: Outcome) {
        let Request::Interval { id, hz } = request else {
            return;
        };
        match outcome {
            Outcome::Refused {
                result: MavResult::MAV_RESULT_TEMPORARILY_REJECTED,
                ..
            } => tracing::debug!(id, "the vehicle cannot be asked for this message now"),
            Outcome::Refused { result, .. } => {
                tracing::info!("{}", refusal(id, hz, result));
                self.refused.push(id);
            }
            Outcome::Accepted { .. } => {}
            _ => tracing::debug!(id, "a request for a message was not acknowledged"),
        }
    }
}

/// MAVLink's name of a known message.
pub(super) fn name_of(id: u32) -> Option<&'static str> {
    Some(MavMessage::default_message_from_id(id)?.message_name())
}

/// Many autopilots lack some message that is requested because others have it.
fn refusal(id: u32, hz: f64, result: MavResult) -> String {
    let name = name_of(id).map_or_else(|| format!("message {id}"), ToOwned::to_owned);
    let result = format!("{result:?}");
    let result = result.trim_start_matches("MAV_RESULT_").to_lowercase();
    format!("the vehicle does not send {name} at {hz} Hz ({result}): it is not asked for again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::COMMAND_ACK_DATA;

    fn asked(intervals: &mut Intervals, now: i64) -> Vec<f32> {
        let mut ids = Vec::new();
        intervals.poll(now, (1, 1), |message, _| {
            if let MavMessage::COMMAND_LONG(m) = message {
                ids.push(m.param1);
            }
            true
        });
        ids
    }

    fn ack(result: MavResult) -> COMMAND_ACK_DATA {
        COMMAND_ACK_DATA {
            command: MavCmd::MAV_CMD_SET_MESSAGE_INTERVAL,
            result,
            ..COMMAND_ACK_DATA::default()
        }
    }

    #[test]
    fn a_refusal_names_its_message() {
        assert_eq!(
            refusal(230, 1.0, MavResult::MAV_RESULT_UNSUPPORTED),
            "the vehicle does not send ESTIMATOR_STATUS at 1 Hz (unsupported): it is not asked for again"
        );
        assert!(refusal(65_000, 1.0, MavResult::MAV_RESULT_DENIED).contains("message 65000"));
    }

    #[test]
    fn a_refusal_is_that_of_the_message_asked_for() {
        let mut intervals = Intervals::new((255, 190));
        let request = |id| Request::Interval { id, hz: 10.0 };
        for id in [31, 32, 33] {
            intervals.ask(request(id));
        }
        assert_eq!(asked(&mut intervals, 0), [31.0]);
        assert!(asked(&mut intervals, 100 * MS).is_empty());
        assert_eq!(asked(&mut intervals, 300 * MS), [31.0], "again");
        intervals.take((1, 1), &ack(MavResult::MAV_RESULT_ACCEPTED));
        assert_eq!(asked(&mut intervals, 310 * MS), [32.0]);
        intervals.take((1, 1), &ack(MavResult::MAV_RESULT_FAILED));
        assert_eq!(asked(&mut intervals, 320 * MS), [33.0]);
        intervals.ask(request(31));
        intervals.ask(request(32));
        // 33 is not answered: after a while the next one is requested, and 32 is not.
        assert_eq!(asked(&mut intervals, 1_100 * MS), [31.0]);
        intervals.take((1, 1), &ack(MavResult::MAV_RESULT_ACCEPTED));
        assert!(asked(&mut intervals, 1_200 * MS).is_empty());
        intervals.forget();
        intervals.ask(request(32));
        assert_eq!(asked(&mut intervals, 1_300 * MS), [32.0]);
    }
}
