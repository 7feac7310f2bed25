//! The supervisor: a state machine that handles missing, stale and invalid frames.
//!
//! ```text
//!            good frame, command sent
//!           ┌───────────────────────┐
//!           v                       │
//! Waiting ─> Flying ── fault ──> Holding ── hold elapsed ──> Descending or HoldPosition ── time or ground ──> Ended
//!                                   │                        (failsafe, latched)
//!                                   ├── hold elapsed, terminate ──> Ended
//!                                   └── hold elapsed, shadow flight ──> Paused ── good frame ──> Flying
//! ```
//!
//! It knows neither vehicle nor backend: from the verdict on each tick it decides the action of that tick. Time is the
//! time of the frames, so that a replayed flight takes the same decisions. Only [`Pilot`](crate::pilot::Pilot) drives it, and every change
//! of mode goes through one function, `change`.

use std::fmt::{self, Display};

/// Why a tick has no new command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The tick passed without a frame.
    Missing,
    /// The frame's time did not advance.
    Time,
    /// The backend marks a group (by its index) as invalid.
    Invalid(usize),
    /// A group is older than `safety.stale_ms`.
    Stale(usize),
    /// A group is stamped later than its frame.
    Early(usize),
    /// Too much time since the last good frame, without a tick in between.
    Gap,
    /// A group holds a value that is not finite.
    NonFinite(usize),
    /// A quaternion is too far from unit length to be an attitude.
    NotUnit(usize),
    /// The controller's result is not finite; nothing was sent.
    Controller,
    /// The reference cannot be followed at this time.
    Reference,
    /// The computed command (by its index) is not finite or violates its limits, and was not sent.
    Command(usize),
    /// The backend reported an error instead of a frame.
    Backend,
    /// The backend did not send the commands.
    Unsent,
}

impl Fault {
    /// The fault in words, with the names of groups and commands. Printing it does not allocate.
    pub fn describe<'a>(self, groups: &'a [String], commands: &'a [String]) -> impl Display + 'a {
        let name = |names: &'a [String], index: usize| names.get(index).map_or("?", String::as_str);
        fmt::from_fn(move |f| match self {
            Self::Missing => f.write_str("no frame"),
            Self::Time => f.write_str("the frame's time did not advance"),
            Self::Invalid(index) => write!(f, "`{}` is marked invalid", name(groups, index)),
            Self::Stale(index) => write!(f, "`{}` is stale", name(groups, index)),
            Self::Early(index) => {
                write!(
                    f,
                    "`{}` is stamped later than its frame",
                    name(groups, index)
                )
            }
            Self::Gap => f.write_str("time jumped"),
            Self::NonFinite(index) => write!(f, "`{}` is not finite", name(groups, index)),
            Self::NotUnit(index) => {
                write!(f, "`{}` is not a unit quaternion", name(groups, index))
            }
            Self::Controller => {
                f.write_str("the controller's result is not finite and was not sent")
            }
            Self::Reference => f.write_str("the reference cannot be followed"),
            Self::Command(index) => write!(
                f,
                "the computed `{}` violates its limits and was not sent",
                name(commands, index)
            ),
            Self::Backend => f.write_str("the backend reports an error"),
            Self::Unsent => f.write_str("the backend does not send the commands"),
        })
    }
}

/// What to do when frames have been lost for longer than the hold time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnLoss {
    /// Level the attitude and descend; latched.
    Descend {
        /// The flight ends after this long, ns.
        duration: i64,
    },
    /// Stop in place and hold position; latched.
    HoldPosition {
        /// The flight ends after this long, ns.
        duration: i64,
    },
    /// End the flight at once; the backend is asked to terminate.
    Terminate,
    /// Nothing is airborne (a recording of another controller's flight): skip until frames return.
    Pause,
}

/// The supervisor's mode. Logged with every tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// No complete frame has come yet.
    Waiting,
    /// Frames are good and the controller flies.
    Flying,
    /// The last command is repeated.
    Holding,
    /// Frames of a recording are skipped.
    Paused,
    /// Level attitude and descent, latched.
    Descending,
    /// Position hold, latched.
    HoldPosition,
    /// The flight is over: its failsafe has finished, or it was terminated.
    Ended,
}

/// The action of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// None: there has been no complete frame yet.
    Wait,
    /// Run the controller on the measured state with the flight's reference.
    Control,
    /// Send the last command again.
    Hold,
    /// Skip this tick of a recording.
    Pause,
    /// Run the controller on the measured or predicted state with the failsafe's reference: descent, or position hold.
    Failsafe,
    /// End the flight.
    Stop,
}

impl Action {
    /// Whether commands are sent in this tick.
    pub fn commands(self) -> bool {
        matches!(self, Self::Control | Self::Hold | Self::Failsafe)
    }
}

/// A change of mode that is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The last command is held because of this fault.
    HoldStarted(Fault),
    /// Frames returned after this long (ns).
    Resumed(i64),
    /// The descent began because of this fault.
    DescentStarted(Fault),
    /// The position hold began because of this fault.
    PositionHoldStarted(Fault),
    /// The flight is terminated because of this fault.
    Terminated(Fault),
    /// The ticks of the recording are skipped because of this fault.
    PauseStarted(Fault),
    /// The descent reached the ground, or its time has passed.
    DescentFinished,
    /// The time of the position hold has passed, or its height is at the ground.
    PositionHoldFinished,
}

/// Counts of what the supervisor did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Dropouts that ended within the hold time.
    pub dropouts: u64,
    /// The longest of them, ns.
    pub longest_dropout: i64,
    /// Pauses of a recording.
    pub pauses: u64,
    /// When (frame time, ns) and why the flight was given up: a failsafe began, or it was terminated.
    pub given_up: Option<(i64, Fault)>,
}

/// The state machine; see the module's diagram.
#[derive(Debug, Clone)]
pub struct Supervisor {
    hold: i64,
    on_loss: OnLoss,
    mode: Mode,
    /// Frame time of the last command that came from a good frame.
    last_good: i64,
    /// Longest time between two good frames, ns; see [`with_longest_gap`](Self::with_longest_gap).
    longest_gap: i64,
    /// Frame time of the first command that was rejected before there was a good one.
    refused_since: Option<i64>,
    /// Frame time of the first command that the backend did not send, until it sends one.
    unsent_since: Option<i64>,
    report: Report,
    event: Option<Event>,
}

impl Supervisor {
    /// A supervisor that holds the last command for less than `hold` ns after the last good frame and then does `on_loss`.
    pub fn new(hold: i64, on_loss: OnLoss) -> Self {
        Self {
            hold,
            on_loss,
            mode: Mode::Waiting,
            last_good: 0,
            longest_gap: i64::MAX,
            refused_since: None,
            unsent_since: None,
            report: Report::default(),
            event: None,
        }
    }

    /// Two good frames further apart than this (ns) count as a loss, even without a tick in between: the backend was
    /// blocked, or its clock is wrong. Not for recordings of another controller's flight, which may have gaps.
    #[must_use]
    pub fn with_longest_gap(mut self, longest_gap: i64) -> Self {
        self.longest_gap = longest_gap;
        self
    }

    /// The present mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Its interventions so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The change of mode since the last call, if there was one.
    pub fn take_event(&mut self) -> Option<Event> {
        self.event.take()
    }

    /// A tick at `time` (ns) brought a usable frame, or a fault.
    pub fn frame(&mut self, time: i64, frame: Result<(), Fault>) -> Action {
        match (self.mode, frame) {
            (Mode::Ended, _) => Action::Stop,
            (Mode::Descending | Mode::HoldPosition, _) => self.failsafe(time),
            (Mode::Flying | Mode::Holding, Ok(()))
                if self.on_loss != OnLoss::Pause
                    && time.saturating_sub(self.last_good) > self.longest_gap.max(self.hold) =>
            {
                self.lost(time, Fault::Gap)
            }
            (_, Ok(())) => Action::Control,
            (_, Err(fault)) => self.lost(time, fault),
        }
    }

    /// The command computed at `time` failed the host's check, or there was none.
    pub fn rejected(&mut self, time: i64, fault: Fault) -> Action {
        match self.mode {
            // The last good command is the best one available.
            Mode::Descending | Mode::HoldPosition => Action::Hold,
            // There are frames, but there has never been a command that could be held.
            Mode::Waiting if self.on_loss != OnLoss::Pause => {
                let since = *self.refused_since.get_or_insert(time);
                if time.saturating_sub(since) < self.hold {
                    return Action::Wait;
                }
                self.terminate(time, fault)
            }
            Mode::Waiting | Mode::Flying | Mode::Holding | Mode::Paused | Mode::Ended => {
                self.lost(time, fault)
            }
        }
    }

    /// The command computed from a good frame at `time` passed the host's check.
    pub fn commanded(&mut self, time: i64) {
        if self.mode.is_failsafe() {
            return;
        }
        let gap = time.saturating_sub(self.last_good);
        if self.mode == Mode::Holding {
            self.report.dropouts += 1;
            self.report.longest_dropout = self.report.longest_dropout.max(gap);
        }
        let resumed = matches!(self.mode, Mode::Holding | Mode::Paused);
        self.change(Mode::Flying, resumed.then_some(Event::Resumed(gap)));
        self.last_good = time;
    }

    /// Whether the backend sent the commands of the tick at `time`. If not, the vehicle keeps the last ones that it received, for no
    /// longer than the hold time, as when frames are lost.
    pub fn passed_on(&mut self, time: i64, passed_on: bool) {
        if passed_on {
            self.unsent_since = None;
            return;
        }
        let since = *self.unsent_since.get_or_insert(time);
        if matches!(self.mode, Mode::Flying | Mode::Holding)
            && time.saturating_sub(since) >= self.hold
        {
            // The loss began with the first of them.
            self.last_good = since;
            self.lost(time, Fault::Unsent);
        }
    }

    /// The failsafe has finished: the vehicle is on the ground, or the time is up.
    pub fn finished(&mut self) -> Action {
        let event = if self.mode == Mode::HoldPosition {
            Event::PositionHoldFinished
        } else {
            Event::DescentFinished
        };
        self.change(Mode::Ended, Some(event));
        Action::Stop
    }

    fn lost(&mut self, time: i64, fault: Fault) -> Action {
        match self.mode {
            Mode::Waiting => Action::Wait,
            Mode::Ended => Action::Stop,
            Mode::Paused => Action::Pause,
            Mode::Descending | Mode::HoldPosition => self.failsafe(time),
            Mode::Flying | Mode::Holding if time.saturating_sub(self.last_good) < self.hold => {
                if self.mode == Mode::Flying {
                    self.change(Mode::Holding, Some(Event::HoldStarted(fault)));
                }
                Action::Hold
            }
            Mode::Flying | Mode::Holding => match self.on_loss {
                OnLoss::Pause => {
                    self.report.pauses += 1;
                    self.change(Mode::Paused, Some(Event::PauseStarted(fault)));
                    Action::Pause
                }
                OnLoss::Terminate => self.terminate(time, fault),
                OnLoss::Descend { .. } => {
                    self.report.given_up = Some((time, fault));
                    self.change(Mode::Descending, Some(Event::DescentStarted(fault)));
                    Action::Failsafe
                }
                OnLoss::HoldPosition { .. } => {
                    self.report.given_up = Some((time, fault));
                    self.change(Mode::HoldPosition, Some(Event::PositionHoldStarted(fault)));
                    Action::Failsafe
                }
            },
        }
    }

    fn terminate(&mut self, time: i64, fault: Fault) -> Action {
        self.report.given_up = Some((time, fault));
        self.change(Mode::Ended, Some(Event::Terminated(fault)));
        Action::Stop
    }

    fn failsafe(&mut self, time: i64) -> Action {
        let (OnLoss::Descend { duration } | OnLoss::HoldPosition { duration }, Some((since, _))) =
            (self.on_loss, self.report.given_up)
        else {
            return Action::Stop;
        };
        if time.saturating_sub(since) < duration {
            return Action::Failsafe;
        }
        self.finished()
    }

    /// The one place where the mode changes.
    fn change(&mut self, mode: Mode, event: Option<Event>) {
        self.mode = mode;
        self.event = event.or(self.event);
    }
}

impl Mode {
    /// All modes, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Waiting,
        Self::Flying,
        Self::Holding,
        Self::Paused,
        Self::Descending,
        Self::HoldPosition,
        Self::Ended,
    ];

    /// Whether a failsafe flies the vehicle.
    pub fn is_failsafe(self) -> bool {
        matches!(self, Self::Descending | Self::HoldPosition)
    }

    /// Its name in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Flying => "flying",
            Self::Holding => "holding",
            Self::Paused => "paused",
            Self::Descending => "descending",
            Self::HoldPosition => "hold_position",
            Self::Ended => "ended",
        }
    }
}

#[cfg(test)]
mod tests;
