//! Commands, from the first transmission to the acknowledgement: begun and polled, never blocking.
//!
//! A MAVLink acknowledgement identifies its command only by number. Two commands with the same number cannot be
//! distinguished. A new one therefore ends the wait for the old one, and an acknowledgement that may belong to the old
//! one is marked uncertain: the vehicle's state decides then.

use crate::dialect::{
    COMMAND_ACK_DATA, COMMAND_INT_DATA, COMMAND_LONG_DATA, MavCmd, MavFrame, MavMessage, MavResult,
};

const MS: i64 = 1_000_000;

/// Number of commands that are pending or whose outcome is kept.
const MOST: usize = 16;

/// How long (ns) an acknowledgement may still be in transit.
const LATE: i64 = 5_000 * MS;

/// An unacknowledged command is sent again after this, ns.
pub(super) const RETRY: i64 = 500 * MS;

/// A command to a vehicle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Command {
    number: MavCmd,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Long([f32; 7]),
    Int {
        frame: MavFrame,
        parameters: [f32; 4],
        x: i32,
        y: i32,
        z: f32,
    },
}

impl Command {
    /// `COMMAND_LONG` with its seven parameters; unused ones are 0 (some commands: NaN).
    pub fn long(number: MavCmd, parameters: [f32; 7]) -> Self {
        Self {
            number,
            form: Form::Long(parameters),
        }
    }

    /// `COMMAND_INT`, with exact positions: `x`, `y` in 1e-7 degrees or 0.1 mm, depending on the frame.
    pub fn int(
        number: MavCmd,
        frame: MavFrame,
        parameters: [f32; 4],
        x: i32,
        y: i32,
        z: f32,
    ) -> Self {
        Self {
            number,
            form: Form::Int {
                frame,
                parameters,
                x,
                y,
                z,
            },
        }
    }

    /// `SET_MESSAGE_INTERVAL`: the message's number and its period in µs, both as f32 (exact up to 2^24).
    #[expect(
        clippy::cast_possible_truncation,
        reason = "MAVLink's parameters are f32"
    )]
    pub fn message_interval(id: u32, hz: f64) -> Self {
        Self::long(
            MavCmd::MAV_CMD_SET_MESSAGE_INTERVAL,
            [
                id as f32,
                (1e6 / hz).round() as f32,
                0.0,
                0.0,
                0.0,
                0.0,
                0.0,
            ],
        )
    }

    /// The message to `target`; `confirmation` counts its transmissions (of `COMMAND_LONG`).
    pub(crate) fn message(&self, target: (u8, u8), confirmation: u8) -> MavMessage {
        match self.form {
            Form::Long([param1, param2, param3, param4, param5, param6, param7]) => {
                MavMessage::COMMAND_LONG(COMMAND_LONG_DATA {
                    param1,
                    param2,
                    param3,
                    param4,
                    param5,
                    param6,
                    param7,
                    command: self.number,
                    target_system: target.0,
                    target_component: target.1,
                    confirmation,
                })
            }
            Form::Int {
                frame,
                parameters: [param1, param2, param3, param4],
                x,
                y,
                z,
            } => MavMessage::COMMAND_INT(COMMAND_INT_DATA {
                param1,
                param2,
                param3,
                param4,
                x,
                y,
                z,
                command: self.number,
                target_system: target.0,
                target_component: target.1,
                frame,
                current: 0,
                autocontinue: 0,
            }),
        }
    }
}

/// Identifies an operation that was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub(super) u64);

/// The progress of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// Sent, not acknowledged yet.
    Waiting {
        /// Transmissions so far.
        sent: u32,
    },
    /// The vehicle is executing it and will acknowledge again.
    InProgress {
        /// Per cent, if the vehicle reports it.
        percent: Option<u8>,
    },
    /// The vehicle has accepted it.
    Accepted {
        /// The command's own result, if it has one.
        detail: i32,
        /// `false` if the acknowledgement may belong to an earlier command with the same number and other parameters.
        certain: bool,
    },
    /// The vehicle has refused it, for this reason.
    Refused {
        /// The reason.
        result: MavResult,
        /// The command's own reason, if it has one.
        detail: i32,
        /// As of [`Outcome::Accepted`].
        certain: bool,
    },
    /// The deadline passed without a final acknowledgement; the vehicle may or may not have executed it.
    Expired {
        /// Transmissions in all.
        sent: u32,
    },
    /// Replaced by a newer command with the same number, or no longer wanted: not sent again.
    Superseded,
    /// Never begun here, or ended so long ago that its outcome is no longer kept.
    Unknown,
}

impl Outcome {
    /// Whether the outcome is final.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Waiting { .. } | Self::InProgress { .. })
    }
}

/// Why a command cannot be begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// Too many are pending.
    #[error("{MOST} commands are under way; wait for one to end")]
    TooMany,
    /// No vehicle has been heard yet.
    #[error("no vehicle has been heard yet; wait for its heartbeat")]
    NoVehicle,
    /// The link only listens.
    #[error("the link only listens (`listen_only`)")]
    ListenOnly,
}

/// Acknowledgements that matched no command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnmatchedAcks {
    /// Of a command that is not pending: late, duplicate, or another sender's.
    pub unexpected: u64,
    /// Addressed to another system or component.
    pub to_others: u64,
    /// From another component than the one that was commanded.
    pub from_others: u64,
}

struct Entry {
    ticket: Ticket,
    command: Command,
    target: (u8, u8),
    deadline: i64,
    /// When it is sent next.
    due: i64,
    last_sent: i64,
    sent: u32,
    answers: u32,
    outcome: Outcome,
    certain: bool,
}

/// The commands of one sender.
pub(super) struct Commands {
    us: (u8, u8),
    retry: i64,
    entries: Vec<Entry>,
    next_ticket: u64,
    unmatched: UnmatchedAcks,
}

impl Commands {
    pub fn new(us: (u8, u8), retry: i64) -> Self {
        Self {
            us,
            retry,
            entries: Vec::with_capacity(MOST),
            next_ticket: 1,
            unmatched: UnmatchedAcks::default(),
        }
    }

    /// Begins a command; [`Commands::poll`] sends it. A target component of 0 means any.
    pub fn begin(
        &mut self,
        command: Command,
        target: (u8, u8),
        now: i64,
        deadline: i64,
    ) -> Result<Ticket, CommandError> {
        // An answer to an earlier transmission may still arrive.
        let certain = !self.entries.iter().any(|old| {
            old.command.number == command.number
                && old.target == target
                && old.command != command
                && old.answers < old.sent
                && now.saturating_sub(old.last_sent) < LATE
        });
        let same = |old: &&mut Entry| {
            old.command.number == command.number && old.target == target && !old.outcome.is_final()
        };
        if let Some(old) = self.entries.iter_mut().find(same) {
            old.outcome = Outcome::Superseded;
        }
        if self.entries.len() >= MOST {
            let oldest = self.entries.iter().position(|e| e.outcome.is_final());
            self.entries.remove(oldest.ok_or(CommandError::TooMany)?);
        }
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.entries.push(Entry {
            ticket,
            command,
            target,
            deadline,
            due: now,
            last_sent: i64::MIN,
            sent: 0,
            answers: 0,
            outcome: Outcome::Waiting { sent: 0 },
            certain,
        });
        Ok(ticket)
    }

    /// Ends a command that is no longer wanted; it is not sent again.
    pub fn cancel(&mut self, ticket: Ticket) {
        let pending = |entry: &&mut Entry| entry.ticket == ticket && !entry.outcome.is_final();
        if let Some(entry) = self.entries.iter_mut().find(pending) {
            entry.outcome = Outcome::Superseded;
        }
    }

    /// Processes an acknowledgement from `sender`.
    pub fn take(&mut self, sender: (u32, u8), m: &COMMAND_ACK_DATA) {
        let to_us = (m.target_system == 0 || m.target_system == self.us.0)
            && (m.target_component == 0 || m.target_component == self.us.1);
        if !to_us {
            self.unmatched.to_others += 1;
            return;
        }
        let mut number_known = false;
        let found = self.entries.iter_mut().rev().find(|entry| {
            let same = entry.command.number == m.command && !entry.outcome.is_final();
            number_known |= same;
            same && u32::from(entry.target.0) == sender.0
                && (entry.target.1 == 0 || entry.target.1 == sender.1)
        });
        let Some(entry) = found else {
            if number_known {
                self.unmatched.from_others += 1;
            } else {
                self.unmatched.unexpected += 1;
                // A command that ended was acknowledged once more.
                let ended = self
                    .entries
                    .iter_mut()
                    .rev()
                    .find(|e| e.command.number == m.command && e.answers < e.sent);
                if let Some(ended) = ended {
                    ended.answers += 1;
                }
            }
            return;
        };
        if entry.sent == 0 {
            self.unmatched.unexpected += 1;
            return;
        }
        entry.answers += 1;
        let (detail, certain) = (m.result_param2, entry.certain);
        entry.outcome = match m.result {
            MavResult::MAV_RESULT_IN_PROGRESS => {
                // A command in progress has not been acknowledged finally.
                entry.answers -= 1;
                Outcome::InProgress {
                    percent: (m.progress <= 100).then_some(m.progress),
                }
            }
            MavResult::MAV_RESULT_ACCEPTED => Outcome::Accepted { detail, certain },
            result => Outcome::Refused {
                result,
                detail,
                certain,
            },
        };
    }

    /// Ends expired commands and sends those that are due; `send` takes a message and its latest time of sending.
    pub fn poll(&mut self, now: i64, mut send: impl FnMut(MavMessage, i64) -> bool) {
        for entry in self.entries.iter_mut().filter(|e| !e.outcome.is_final()) {
            if now > entry.deadline {
                entry.outcome = Outcome::Expired { sent: entry.sent };
                continue;
            }
            let waits = matches!(entry.outcome, Outcome::Waiting { .. });
            if !waits || now < entry.due {
                continue;
            }
            let confirmation = u8::try_from(entry.sent).unwrap_or(u8::MAX);
            let again = now.saturating_add(self.retry);
            let message = entry.command.message(entry.target, confirmation);
            if send(message, entry.deadline.min(again)) {
                entry.sent += 1;
                entry.last_sent = now;
                entry.due = again;
                entry.outcome = Outcome::Waiting { sent: entry.sent };
            }
        }
    }

    pub fn outcome(&self, ticket: Ticket) -> Outcome {
        self.entries
            .iter()
            .find(|entry| entry.ticket == ticket)
            .map_or(Outcome::Unknown, |entry| entry.outcome)
    }

    pub fn unmatched_acks(&self) -> UnmatchedAcks {
        self.unmatched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARM: MavCmd = MavCmd::MAV_CMD_COMPONENT_ARM_DISARM;
    const VEHICLE: (u8, u8) = (1, 1);
    const FROM: (u32, u8) = (1, 1);
    const SECOND: i64 = 1_000 * MS;

    fn arm(armed: f32) -> Command {
        Command::long(ARM, [armed, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    }

    fn ack(command: MavCmd, result: MavResult) -> COMMAND_ACK_DATA {
        COMMAND_ACK_DATA {
            command,
            result,
            progress: 255,
            ..COMMAND_ACK_DATA::default()
        }
    }

    struct Setup {
        commands: Commands,
        sent: Vec<(u8, i64)>,
    }

    impl Setup {
        fn new() -> Self {
            Self {
                commands: Commands::new((255, 190), RETRY),
                sent: Vec::new(),
            }
        }

        fn poll(&mut self, now: i64) {
            self.commands.poll(now, |message, deadline| {
                let MavMessage::COMMAND_LONG(m) = message else {
                    panic!("{message:?}")
                };
                self.sent.push((m.confirmation, deadline));
                true
            });
        }
    }

    #[test]
    fn it_is_sent_again_with_a_count_until_its_deadline() {
        let mut s = Setup::new();
        let ticket = s.commands.begin(arm(1.0), VEHICLE, 0, 1_200 * MS).unwrap();
        for now in (0..2_000).step_by(10) {
            s.poll(now * MS);
        }
        // Nothing is worth sending after the next transmission or the deadline.
        assert_eq!(s.sent, [(0, 500 * MS), (1, 1_000 * MS), (2, 1_200 * MS)]);
        assert_eq!(s.commands.outcome(ticket), Outcome::Expired { sent: 3 });
        // Late: useless, but harmless.
        s.commands
            .take(FROM, &ack(ARM, MavResult::MAV_RESULT_ACCEPTED));
        assert_eq!(s.commands.outcome(ticket), Outcome::Expired { sent: 3 });
        assert_eq!(s.commands.unmatched_acks().unexpected, 1);
    }

    #[test]
    fn only_its_own_acknowledgement_ends_it() {
        let mut s = Setup::new();
        let ticket = s.commands.begin(arm(1.0), VEHICLE, 0, 9 * SECOND).unwrap();
        let accepted = ack(ARM, MavResult::MAV_RESULT_ACCEPTED);
        s.commands.take(FROM, &accepted);
        assert_eq!(
            s.commands.outcome(ticket),
            Outcome::Waiting { sent: 0 },
            "nothing was sent yet"
        );
        s.poll(0);
        s.commands.take((2, 1), &accepted);
        s.commands.take((1, 154), &accepted);
        s.commands.take(
            FROM,
            &ack(MavCmd::MAV_CMD_NAV_LAND, MavResult::MAV_RESULT_ACCEPTED),
        );
        for (target_system, target_component) in [(254, 190), (255, 1), (254, 0)] {
            let m = COMMAND_ACK_DATA {
                target_system,
                target_component,
                ..accepted.clone()
            };
            s.commands.take(FROM, &m);
        }
        assert_eq!(s.commands.outcome(ticket), Outcome::Waiting { sent: 1 });
        let m = COMMAND_ACK_DATA {
            target_system: 255,
            target_component: 190,
            result_param2: 7,
            ..accepted.clone()
        };
        s.commands.take(FROM, &m);
        let done = Outcome::Accepted {
            detail: 7,
            certain: true,
        };
        assert_eq!(s.commands.outcome(ticket), done);
        s.commands
            .take(FROM, &ack(ARM, MavResult::MAV_RESULT_DENIED));
        assert_eq!(s.commands.outcome(ticket), done, "the first one counts");
        let unmatched = s.commands.unmatched_acks();
        assert_eq!((unmatched.to_others, unmatched.from_others), (3, 2));
    }

    #[test]
    fn progress_stops_the_repetition_but_not_the_deadline() {
        let mut s = Setup::new();
        let ticket = s.commands.begin(arm(1.0), VEHICLE, 0, 3 * SECOND).unwrap();
        s.poll(0);
        for (progress, percent) in [(255, None), (40, Some(40)), (100, Some(100))] {
            let m = COMMAND_ACK_DATA {
                progress,
                ..ack(ARM, MavResult::MAV_RESULT_IN_PROGRESS)
            };
            s.commands.take(FROM, &m);
            assert_eq!(s.commands.outcome(ticket), Outcome::InProgress { percent });
        }
        s.poll(2 * SECOND);
        assert_eq!(s.sent.len(), 1);
        s.poll(3 * SECOND + 1);
        assert_eq!(s.commands.outcome(ticket), Outcome::Expired { sent: 1 });
    }

    /// Arming is acknowledged late; meanwhile disarming was begun, which must not count as acknowledged.
    #[test]
    fn an_acknowledgement_that_may_be_an_older_ones_is_uncertain() {
        let mut s = Setup::new();
        let arming = s.commands.begin(arm(1.0), VEHICLE, 0, 9 * SECOND).unwrap();
        s.poll(0);
        let disarming = s
            .commands
            .begin(arm(0.0), VEHICLE, SECOND, 9 * SECOND)
            .unwrap();
        assert_eq!(s.commands.outcome(arming), Outcome::Superseded);
        s.poll(SECOND);
        let accepted = ack(ARM, MavResult::MAV_RESULT_ACCEPTED);
        s.commands.take(FROM, &accepted);
        let Outcome::Accepted { certain, .. } = s.commands.outcome(disarming) else {
            panic!()
        };
        assert!(!certain);
        // The same again asks for the same; long after, no old answer is under way.
        let ticket = s
            .commands
            .begin(arm(0.0), VEHICLE, 20 * SECOND, 30 * SECOND)
            .unwrap();
        s.poll(20 * SECOND);
        s.commands.take(FROM, &accepted);
        assert_eq!(
            s.commands.outcome(ticket),
            Outcome::Accepted {
                detail: 0,
                certain: true
            }
        );
    }

    #[test]
    fn a_full_queue_is_no_transmission_and_refusals_are_final() {
        let mut commands = Commands::new((255, 190), RETRY);
        let ticket = commands.begin(arm(1.0), VEHICLE, 0, SECOND).unwrap();
        commands.poll(0, |_, _| false);
        assert_eq!(commands.outcome(ticket), Outcome::Waiting { sent: 0 });
        commands.poll(1, |_, _| true);
        commands.take(FROM, &ack(ARM, MavResult::MAV_RESULT_TEMPORARILY_REJECTED));
        assert!(matches!(
            commands.outcome(ticket),
            Outcome::Refused {
                result: MavResult::MAV_RESULT_TEMPORARILY_REJECTED,
                ..
            }
        ));
        assert_eq!(commands.outcome(Ticket(99)), Outcome::Unknown);
    }

    #[test]
    fn finished_commands_make_room_and_running_ones_do_not() {
        let mut commands = Commands::new((255, 190), RETRY);
        for component in 0..16 {
            commands.begin(arm(1.0), (1, component), 0, SECOND).unwrap();
        }
        assert_eq!(
            commands.begin(arm(1.0), (1, 100), 0, SECOND),
            Err(CommandError::TooMany)
        );
        commands.poll(2 * SECOND, |_, _| true);
        assert!(commands.begin(arm(1.0), (1, 100), 0, SECOND).is_ok());
    }
}
