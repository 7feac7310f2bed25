//! The supervisor's transition table: for each mode and trigger, the next mode and the tick's action.
//!
//! `docs/safety.md` shows it; [`markdown`] writes it there.

use std::fmt::Write as _;

/// The supervisor's mode. Logged with every tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// No complete frame has arrived yet, the reference begins too far from the vehicle to be armed, or control of the
    /// recorded flight has not begun yet. Nothing is sent.
    Disarmed,
    /// The vehicle is being armed. Nothing is sent.
    Arming,
    /// The armed vehicle takes off by itself. Nothing is sent.
    TakingOff,
    /// The first complete frame has arrived and nothing is left to arm. The first command is still to come.
    Armed,
    /// Frames are good and the controller flies.
    Flying,
    /// The last command is repeated, for less than the hold time.
    Holding,
    /// Frames of a recording are skipped.
    Paused,
    /// Failsafe: the position is held.
    HoldPosition,
    /// Failsafe: level attitude and descent.
    Descending,
    /// The backend is asked to land by itself; the failsafe continues until it does.
    Landing,
    /// The flight is over.
    Ended,
}

/// What may change the mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// The first complete frame, and no vehicle has to be armed.
    Ready,
    /// A complete frame of a vehicle that must be armed, with the reference beginning near it.
    Arm,
    /// The vehicle is armed, and must take off by itself.
    TakeOff,
    /// The vehicle is armed and at its start.
    Armed,
    /// A complete frame.
    GoodFrame,
    /// A tick without a complete frame, or whose command could not be computed or sent, within the hold time.
    Fault,
    /// A command that was computed from a complete frame passed the host's check.
    Commanded,
    /// Faults for longer than the hold time in a shadow flight.
    Skip,
    /// Response to faults beyond the hold time, or to an exceeded limit: hold the position.
    Hold,
    /// The same causes; response: level and descend.
    Descend,
    /// The same causes, or the user's request; response: land.
    Land,
    /// The same causes as for `Hold`; response: stop the motors.
    Terminate,
    /// The frames whose loss began the failsafe have been back for the hold time, and `safety.resume` is set.
    Resume,
    /// The failsafe has lasted for `safety.max_descent_time`.
    Expired,
    /// No complete frame for `safety.max_blind_time`: the failsafe has flown on the model alone.
    Blind,
    /// The vehicle stands on the ground.
    TouchedDown,
    /// From now on the backend lands by itself, or nothing real is in the air.
    Landed,
    /// Another pilot or program took control of the vehicle, for example by changing its mode.
    TakenOver,
}

/// The action of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Nothing: no command is due yet.
    Wait,
    /// Begin to arm the vehicle, or poll the progress.
    Arm,
    /// Begin the take-off, or poll the progress.
    TakeOff,
    /// Run the controller on the measured state with the flight's reference.
    Control,
    /// Send the last command again.
    Hold,
    /// Skip this tick of a recording.
    Pause,
    /// Run the controller on the measured or predicted state with the failsafe's reference: descent or position hold.
    Failsafe,
    /// End the flight.
    Stop,
}

/// One row: in mode `from`, `trigger` leads to mode `to`, and the tick does `action`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// The mode before.
    pub from: Mode,
    /// The trigger.
    pub trigger: Trigger,
    /// The mode after.
    pub to: Mode,
    /// The tick's action.
    pub action: Action,
}

const fn row(from: Mode, trigger: Trigger, to: Mode, action: Action) -> Transition {
    Transition {
        from,
        trigger,
        to,
        action,
    }
}

/// All transitions. Any combination that is not in the table should not occur; if it does, the mode stays and the
/// tick does its [usual action](Mode::usual_action).
#[rustfmt::skip]
pub const TABLE: &[Transition] = {
    use Mode as M;
    use Trigger as T;
    use Action::{Arm, Control, Failsafe, Hold, Pause, Stop, TakeOff, Wait};
    &[
        row(M::Disarmed, T::Ready, M::Armed, Control),
        row(M::Disarmed, T::GoodFrame, M::Disarmed, Wait),
        row(M::Disarmed, T::Fault, M::Disarmed, Wait),
        row(M::Disarmed, T::Arm, M::Arming, Arm),
        row(M::Disarmed, T::Land, M::Ended, Stop),

        row(M::Arming, T::GoodFrame, M::Arming, Arm),
        row(M::Arming, T::Fault, M::Arming, Arm),
        row(M::Arming, T::Armed, M::Armed, Wait),
        row(M::Arming, T::TakeOff, M::TakingOff, TakeOff),
        row(M::Arming, T::Land, M::Ended, Stop),
        row(M::Arming, T::TakenOver, M::Ended, Stop),

        row(M::TakingOff, T::GoodFrame, M::TakingOff, TakeOff),
        row(M::TakingOff, T::Fault, M::TakingOff, TakeOff),
        row(M::TakingOff, T::Armed, M::Armed, Wait),
        row(M::TakingOff, T::Land, M::Landing, Failsafe),
        row(M::TakingOff, T::TakenOver, M::Ended, Stop),

        row(M::Armed, T::GoodFrame, M::Armed, Control),
        row(M::Armed, T::Fault, M::Armed, Wait),
        row(M::Armed, T::Commanded, M::Flying, Control),
        row(M::Armed, T::Skip, M::Armed, Wait),
        row(M::Armed, T::Hold, M::Ended, Stop),
        row(M::Armed, T::Descend, M::Ended, Stop),
        row(M::Armed, T::Land, M::Ended, Stop),
        row(M::Armed, T::Terminate, M::Ended, Stop),
        row(M::Armed, T::TakenOver, M::Ended, Stop),

        row(M::Flying, T::GoodFrame, M::Flying, Control),
        row(M::Flying, T::Fault, M::Holding, Hold),
        row(M::Flying, T::Commanded, M::Flying, Control),
        row(M::Flying, T::Skip, M::Paused, Pause),
        row(M::Flying, T::Hold, M::HoldPosition, Failsafe),
        row(M::Flying, T::Descend, M::Descending, Failsafe),
        row(M::Flying, T::Land, M::Landing, Failsafe),
        row(M::Flying, T::Terminate, M::Ended, Stop),
        row(M::Flying, T::TakenOver, M::Ended, Stop),

        row(M::Holding, T::GoodFrame, M::Holding, Control),
        row(M::Holding, T::Fault, M::Holding, Hold),
        row(M::Holding, T::Commanded, M::Flying, Control),
        row(M::Holding, T::Skip, M::Paused, Pause),
        row(M::Holding, T::Hold, M::HoldPosition, Failsafe),
        row(M::Holding, T::Descend, M::Descending, Failsafe),
        row(M::Holding, T::Land, M::Landing, Failsafe),
        row(M::Holding, T::Terminate, M::Ended, Stop),
        row(M::Holding, T::TakenOver, M::Ended, Stop),

        row(M::Paused, T::GoodFrame, M::Paused, Control),
        row(M::Paused, T::Fault, M::Paused, Pause),
        row(M::Paused, T::Commanded, M::Flying, Control),
        row(M::Paused, T::Skip, M::Paused, Pause),
        row(M::Paused, T::Land, M::Ended, Stop),

        row(M::HoldPosition, T::GoodFrame, M::HoldPosition, Failsafe),
        row(M::HoldPosition, T::Fault, M::HoldPosition, Failsafe),
        row(M::HoldPosition, T::Resume, M::Flying, Control),
        row(M::HoldPosition, T::Hold, M::HoldPosition, Failsafe),
        row(M::HoldPosition, T::Descend, M::Descending, Failsafe),
        row(M::HoldPosition, T::Land, M::Landing, Failsafe),
        row(M::HoldPosition, T::Terminate, M::Ended, Stop),
        row(M::HoldPosition, T::Expired, M::Landing, Failsafe),
        row(M::HoldPosition, T::Blind, M::Landing, Failsafe),
        row(M::HoldPosition, T::TouchedDown, M::Ended, Stop),
        row(M::HoldPosition, T::TakenOver, M::Ended, Stop),

        row(M::Descending, T::GoodFrame, M::Descending, Failsafe),
        row(M::Descending, T::Fault, M::Descending, Failsafe),
        row(M::Descending, T::Resume, M::Flying, Control),
        row(M::Descending, T::Hold, M::Descending, Failsafe),
        row(M::Descending, T::Descend, M::Descending, Failsafe),
        row(M::Descending, T::Land, M::Landing, Failsafe),
        row(M::Descending, T::Terminate, M::Ended, Stop),
        row(M::Descending, T::Expired, M::Landing, Failsafe),
        row(M::Descending, T::Blind, M::Landing, Failsafe),
        row(M::Descending, T::TouchedDown, M::Ended, Stop),
        row(M::Descending, T::TakenOver, M::Ended, Stop),

        row(M::Landing, T::GoodFrame, M::Landing, Failsafe),
        row(M::Landing, T::Fault, M::Landing, Failsafe),
        row(M::Landing, T::Hold, M::Landing, Failsafe),
        row(M::Landing, T::Descend, M::Landing, Failsafe),
        row(M::Landing, T::Land, M::Landing, Failsafe),
        row(M::Landing, T::Terminate, M::Ended, Stop),
        row(M::Landing, T::TouchedDown, M::Ended, Stop),
        row(M::Landing, T::Landed, M::Ended, Stop),
        row(M::Landing, T::TakenOver, M::Ended, Stop),
    ]
};

/// The table indexed by mode and trigger.
static NEXT: [[Option<(Mode, Action)>; Trigger::ALL.len()]; Mode::ALL.len()] = {
    let mut next = [[None; Trigger::ALL.len()]; Mode::ALL.len()];
    let mut index = 0;
    while index < TABLE.len() {
        let row = TABLE[index];
        let cell = &mut next[row.from as usize][row.trigger as usize];
        assert!(cell.is_none(), "two rows for one mode and trigger");
        *cell = Some((row.to, row.action));
        index += 1;
    }
    next
};

/// The next mode and the tick's action for `trigger` in mode `from`; `None` if the table has no such transition.
pub fn next(from: Mode, trigger: Trigger) -> Option<(Mode, Action)> {
    NEXT[from as usize][trigger as usize]
}

impl Mode {
    /// All modes, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Disarmed,
        Self::Arming,
        Self::TakingOff,
        Self::Armed,
        Self::Flying,
        Self::Holding,
        Self::Paused,
        Self::HoldPosition,
        Self::Descending,
        Self::Landing,
        Self::Ended,
    ];

    /// Whether all goes as it should: the flight begins, or the controller flies.
    pub fn is_usual(self) -> bool {
        self.is_before_flight() || matches!(self, Self::Armed | Self::Flying)
    }

    /// Whether a failsafe flies the vehicle.
    pub fn is_failsafe(self) -> bool {
        matches!(self, Self::HoldPosition | Self::Descending | Self::Landing)
    }

    /// Whether the flight does not command the vehicle yet: it is not armed, or takes off by itself.
    pub fn is_before_flight(self) -> bool {
        matches!(self, Self::Disarmed | Self::Arming | Self::TakingOff)
    }

    /// Whether the vehicle lands by itself, or the flight has ended.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Landing | Self::Ended)
    }

    /// The action of a tick without a trigger.
    pub fn usual_action(self) -> Action {
        match self {
            Self::Disarmed | Self::Armed => Action::Wait,
            Self::Arming => Action::Arm,
            Self::TakingOff => Action::TakeOff,
            Self::Flying => Action::Control,
            Self::Holding => Action::Hold,
            Self::Paused => Action::Pause,
            Self::HoldPosition | Self::Descending | Self::Landing => Action::Failsafe,
            Self::Ended => Action::Stop,
        }
    }

    /// Its name in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disarmed => "disarmed",
            Self::Arming => "arming",
            Self::TakingOff => "taking_off",
            Self::Armed => "armed",
            Self::Flying => "flying",
            Self::Holding => "holding",
            Self::Paused => "paused",
            Self::HoldPosition => "hold_position",
            Self::Descending => "descending",
            Self::Landing => "landing",
            Self::Ended => "ended",
        }
    }
}

impl Trigger {
    /// All triggers, in the order of their numbers.
    pub const ALL: [Self; 18] = [
        Self::Ready,
        Self::Arm,
        Self::TakeOff,
        Self::Armed,
        Self::GoodFrame,
        Self::Fault,
        Self::Commanded,
        Self::Skip,
        Self::Hold,
        Self::Descend,
        Self::Land,
        Self::Terminate,
        Self::Resume,
        Self::Expired,
        Self::Blind,
        Self::TouchedDown,
        Self::Landed,
        Self::TakenOver,
    ];

    /// Its name in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Arm => "arm",
            Self::TakeOff => "take off",
            Self::Armed => "armed",
            Self::GoodFrame => "good frame",
            Self::Fault => "fault",
            Self::Commanded => "commanded",
            Self::Skip => "skip",
            Self::Hold => "hold",
            Self::Descend => "descend",
            Self::Land => "land",
            Self::Terminate => "terminate",
            Self::Resume => "resume",
            Self::Expired => "expired",
            Self::Blind => "blind",
            Self::TouchedDown => "touched down",
            Self::Landed => "landed",
            Self::TakenOver => "taken over",
        }
    }
}

impl Action {
    /// Whether commands are sent in this tick.
    pub fn commands(self) -> bool {
        matches!(self, Self::Control | Self::Hold | Self::Failsafe)
    }

    /// Its name in the documentation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Arm => "arm",
            Self::TakeOff => "take off",
            Self::Control => "control",
            Self::Hold => "repeat the last command",
            Self::Pause => "skip the tick",
            Self::Failsafe => "failsafe",
            Self::Stop => "end the flight",
        }
    }
}

/// The table in Markdown: a row for each mode but the last, which has no successor, and a column for each trigger. A
/// cell holds the next mode and, in brackets, the action.
pub fn markdown() -> String {
    let mut text = String::from("| trigger |");
    let modes = || Mode::ALL.into_iter().filter(|mode| *mode != Mode::Ended);
    // Writing to a string cannot fail.
    for mode in modes() {
        let _ = write!(text, " {} |", mode.name());
    }
    text.push_str("\n|---|");
    modes().for_each(|_| text.push_str("---|"));
    for trigger in Trigger::ALL {
        let _ = write!(text, "\n| **{}** |", trigger.name());
        for mode in modes() {
            let _ = match next(mode, trigger) {
                None => write!(text, " |"),
                Some((to, action)) if to == mode => write!(text, " *{}* |", action.name()),
                Some((to, action)) => write!(text, " {}: *{}* |", to.name(), action.name()),
            };
        }
    }
    text.push('\n');
    text
}
