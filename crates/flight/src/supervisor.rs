//! The supervisor: a state machine that handles missing, stale and invalid frames, exceeded limits and the end of the
//! flight.
//!
//! One [table](TABLE) holds all transitions; this module turns the events of a tick into its [triggers](Trigger).
//!
//! It knows neither vehicle nor backend: the verdict on each tick determines the tick's action. Time is frame time,
//! so a replayed flight takes the same decisions. Only [`Pilot`](crate::pilot::Pilot) drives it, and every mode
//! change goes through one function, `go`.

use serde::Deserialize;

mod fault;
mod limit;
mod table;

pub use fault::{Fault, Uncertain};
pub use limit::Limit;
pub use table::{Action, Mode, TABLE, Transition, Trigger, markdown, next};

/// What follows when frames have been lost for longer than the hold time, or when a limit is exceeded; each is stronger
/// than the one before.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// It is reported, and the flight goes on.
    Warn,
    /// Stop and hold the position, or the nearest configuration that the inputs can hold (a multicopter level).
    #[serde(alias = "rest")]
    Hold,
    /// Level the attitude and descend to the ground.
    Descend,
    /// Ask the backend to land by itself; if it cannot, descend to the ground.
    Land,
    /// Ask the backend to stop the motors at once, whatever follows.
    Terminate,
}

impl Response {
    fn trigger(self) -> Option<Trigger> {
        match self {
            Self::Warn => None,
            Self::Hold => Some(Trigger::Hold),
            Self::Descend => Some(Trigger::Descend),
            Self::Land => Some(Trigger::Land),
            Self::Terminate => Some(Trigger::Terminate),
        }
    }
}

/// What to do when frames have been lost for longer than the hold time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnLoss {
    /// A vehicle flies: respond like this.
    Respond(Response),
    /// Nothing is airborne (a recording of another controller's flight): skip until frames return.
    Skip,
}

/// The times and responses of a supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Time between two ticks, ns.
    pub step: i64,
    /// The last command is held for less than this after the last good frame, ns.
    pub hold: i64,
    /// The response after the hold time.
    pub on_loss: OnLoss,
    /// Two good frames further apart than this (ns) count as a loss even without a tick in between: the backend was
    /// blocked, or its clock is wrong. Not applied to recordings of another controller's flight, which may have gaps.
    pub longest_gap: i64,
    /// A failsafe that lasts this long (ns) becomes a landing.
    pub longest_failsafe: i64,
    /// A failsafe that flies on the model for this long (ns), without a good frame, becomes a landing.
    pub longest_blind: i64,
    /// Whether returning frames end a failsafe that their loss began.
    pub resume: bool,
    /// Whether there is a vehicle that must be armed.
    pub must_arm: bool,
    /// For how long it must have sent good frames before, ns; 0: what falls until it is commanded cannot wait.
    pub steady_for: i64,
    /// Whether frames come more seldom than ticks, as the telemetry of a real vehicle does, or a recording of it.
    pub slow_frames: bool,
    /// Frame time (ns) before which nothing is controlled: when control of a recorded flight began, else `i64::MIN`.
    pub begins: i64,
}

/// A change of mode, or a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The mode before.
    pub from: Mode,
    /// The mode after; the same for a warning.
    pub to: Mode,
    /// The trigger of the change; `None` for a warning.
    pub trigger: Option<Trigger>,
    /// The fault that caused it.
    pub fault: Option<Fault>,
    /// Time since the last command from a good frame, ns.
    pub gap: i64,
}

/// Counts of the supervisor's interventions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Dropouts that ended within the hold time.
    pub dropouts: u64,
    /// The longest of them, ns.
    pub longest_dropout: i64,
    /// Pauses of a recording.
    pub pauses: u64,
    /// Failsafes that ended because frames returned.
    pub resumed: u64,
    /// How long they took together, ns.
    pub failsafe_time: i64,
    /// When (frame time, ns) and why the flight was given up: a failsafe began that did not end with returning
    /// frames, or the flight was terminated.
    pub given_up: Option<(i64, Fault)>,
    /// Whether the motors must be stopped, whatever the consequences.
    pub terminated: bool,
    /// Whether the vehicle stands on the ground.
    pub touched_down: bool,
}

/// The most mode changes in one tick.
const MOST_EVENTS: usize = 4;

/// The state machine; see its [table](TABLE).
#[derive(Debug, Clone)]
pub struct Supervisor {
    policy: Policy,
    mode: Mode,
    /// Frame time of the last command computed from a good frame; before the first command, of the first good frame.
    last_good: i64,
    /// What was wrong with the last frame that was not good, since there was a good one.
    seen: Option<Fault>,
    /// Frame time of the first unsent command, until the backend sends one again.
    unsent_since: Option<i64>,
    /// When (frame time, ns) and why the current failsafe began.
    failsafe: Option<(i64, Fault)>,
    /// Whether a failsafe has brought the vehicle down to the ground.
    stays_down: bool,
    /// Frame time of the last good frame.
    last_frame: i64,
    /// Frame time since which good frames have followed each other within the hold time, and the gap before it, ns: 0 before the first one.
    steady: Option<(i64, i64)>,
    /// Frame time since which frames have been good again in a failsafe.
    good_since: Option<i64>,
    /// Frame time since which the law has failed in a failsafe.
    lawless_since: Option<i64>,
    report: Report,
    events: [Option<Event>; MOST_EVENTS],
}

/// # Construction and state
impl Supervisor {
    /// A supervisor before the first frame.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy,
            mode: Mode::Disarmed,
            last_good: 0,
            seen: None,
            unsent_since: None,
            failsafe: None,
            stays_down: false,
            last_frame: 0,
            steady: None,
            good_since: None,
            lawless_since: None,
            report: Report::default(),
            events: [None; MOST_EVENTS],
        }
    }

    /// The present mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Its interventions so far.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Takes the oldest mode change that has not been taken yet.
    pub fn take_event(&mut self) -> Option<Event> {
        let first = self.events[0].take()?;
        self.events.rotate_left(1);
        Some(first)
    }
}

/// # Triggers
impl Supervisor {
    /// A tick at `time` (ns) brought a usable frame, or a fault.
    pub fn frame(&mut self, time: i64, frame: Result<(), Fault>) -> Action {
        match frame {
            Ok(()) => {
                let gap = time.saturating_sub(self.last_frame);
                if self.steady.is_none() || gap >= self.longest_steady() {
                    self.steady = Some((time, self.steady.map_or(0, |_| gap)));
                }
                (self.last_frame, self.seen) = (time, None);
            }
            Err(Fault::Missing) => {}
            Err(fault) => self.seen = Some(fault),
        }
        if self.mode.is_failsafe() {
            return self.failsafe(time, frame);
        }
        match frame {
            Ok(()) if self.is_ready(time) => {
                self.last_good = time;
                self.go(time, Trigger::Ready, None)
            }
            Ok(()) if self.was_blocked(time) => self.lost(time, Fault::Gap),
            Ok(()) => self.go(time, Trigger::GoodFrame, None),
            // Between two frames that are not good, what is wrong with them counts.
            Err(Fault::Missing) => self.lost(time, self.seen.unwrap_or(Fault::Missing)),
            Err(fault) => self.lost(time, fault),
        }
    }

    /// Whether the vehicle must be armed before it is commanded.
    pub fn must_arm(&self) -> bool {
        self.policy.must_arm
    }

    /// Whether frames have been good for long enough to fly on them, without a gap that would end in a failsafe, if they must.
    pub fn is_steady(&self, time: i64) -> bool {
        let Policy { steady_for, .. } = self.policy;
        let has_been = |(since, _)| !self.is_late(time) && time.saturating_sub(since) >= steady_for;
        steady_for == 0 || self.steady.is_some_and(has_been)
    }

    /// Whether frames have come without such a gap, if not for long enough yet.
    pub fn may_become_steady(&self, time: i64) -> bool {
        self.steady.is_some() && !self.is_late(time)
    }

    /// Whether no good frame has come for so long that frames are not steady.
    fn is_late(&self, time: i64) -> bool {
        time.saturating_sub(self.last_frame) >= self.longest_steady()
    }

    /// Good frames in every tick are steady, however long a tick is.
    fn longest_steady(&self) -> i64 {
        let step = self.policy.step;
        self.policy.hold.max(step.saturating_add(step / 2))
    }

    /// The last gap between two good frames that was longer than the hold time, ns; 0 if there was none.
    pub fn last_gap(&self) -> i64 {
        self.steady.map_or(0, |(_, gap)| gap)
    }

    /// Whether a vehicle waits to be armed, or a recorded one for its control to begin.
    pub fn waits(&self) -> bool {
        self.mode == Mode::Disarmed
    }

    /// Whether control begins with a complete frame at `time` (ns).
    fn is_ready(&self, time: i64) -> bool {
        self.mode == Mode::Disarmed && !self.must_arm() && time >= self.policy.begins
    }

    /// A complete frame at `time` (ns) shows that the reference begins near the vehicle, which may now be armed.
    pub fn arm(&mut self, time: i64) -> Action {
        self.go(time, Trigger::Arm, None)
    }

    /// The vehicle is armed, and must take off by itself.
    pub fn take_off(&mut self, time: i64) -> Action {
        self.go(time, Trigger::TakeOff, None)
    }

    /// Another pilot or program took control of a vehicle that was commanded or about to be.
    pub fn taken_over(&mut self, time: i64) -> Action {
        self.go(time, Trigger::TakenOver, Some(Fault::TakenOver))
    }

    /// The vehicle is armed and at its start.
    pub fn armed(&mut self, time: i64) -> Action {
        self.last_good = time;
        self.go(time, Trigger::Armed, None)
    }

    /// The command computed at `time` failed the host's check, or no command was computed.
    pub fn rejected(&mut self, time: i64, fault: Fault) -> Action {
        if !self.mode.is_failsafe() {
            return self.lost(time, fault);
        }
        // Without its law the failsafe only falls: a vehicle that can land by itself should.
        let since = *self.lawless_since.get_or_insert(time);
        let trigger = if time.saturating_sub(since) < self.policy.hold {
            Trigger::Fault
        } else {
            Trigger::Land
        };
        self.go(time, trigger, Some(fault))
    }

    /// The command computed at `time` passed the host's check: from a good frame, or in a failsafe.
    pub fn commanded(&mut self, time: i64) {
        if self.mode.is_failsafe() {
            self.lawless_since = None;
            return;
        }
        if self.mode == Mode::Holding {
            let gap = time.saturating_sub(self.last_good);
            self.report.dropouts += 1;
            self.report.longest_dropout = self.report.longest_dropout.max(gap);
        }
        self.go(time, Trigger::Commanded, None);
        self.last_good = time;
    }

    /// Reports whether the backend sent the commands of the tick at `time`. If not, the vehicle keeps the last ones
    /// that it received for at most the hold time, as when frames are lost.
    pub fn passed_on(&mut self, time: i64, passed_on: bool) {
        if passed_on {
            self.unsent_since = None;
            return;
        }
        let since = *self.unsent_since.get_or_insert(time);
        if matches!(self.mode, Mode::Flying | Mode::Holding)
            && time.saturating_sub(since) >= self.policy.hold
        {
            // The loss began with the first unsent command. A vehicle that commands do not reach must land by itself.
            self.last_good = since;
            if let OnLoss::Respond(response) = self.policy.on_loss {
                self.respond(time, Fault::Unsent, response.max(Response::Land));
            }
        }
    }

    /// A limit is exceeded at `time` (ns). A response weaker than the one in progress changes nothing.
    pub fn exceeded(&mut self, time: i64, limit: Limit, response: Response) -> Action {
        self.respond(time, Fault::Limit(limit), response)
    }

    /// A landing is requested at `time` (ns): by the user, or because the flight is over.
    pub fn land(&mut self, time: i64) -> Action {
        self.go(time, Trigger::Land, Some(Fault::Requested))
    }

    /// A backend call has not returned until `time` (ns), much too late: the vehicle may have been told to land
    /// meanwhile.
    pub fn hung(&mut self, time: i64) -> Action {
        self.go(time, Trigger::Land, Some(Fault::Hung))
    }

    /// The vehicle stands on the ground.
    pub fn touched_down(&mut self, time: i64) -> Action {
        self.go(time, Trigger::TouchedDown, None)
    }

    /// From now on the backend lands by itself, or nothing real is in the air.
    pub fn landed(&mut self, time: i64) -> Action {
        self.go(time, Trigger::Landed, None)
    }
}

impl Supervisor {
    fn was_blocked(&self, time: i64) -> bool {
        matches!(self.mode, Mode::Flying | Mode::Holding)
            && self.policy.on_loss != OnLoss::Skip
            && time.saturating_sub(self.last_good) > self.policy.longest_gap.max(self.policy.hold)
    }

    fn lost(&mut self, time: i64, fault: Fault) -> Action {
        let held = time.saturating_sub(self.last_good) < self.policy.hold;
        match self.policy.on_loss {
            _ if held || self.mode.is_before_flight() => self.go(time, Trigger::Fault, Some(fault)),
            OnLoss::Skip => self.go(time, Trigger::Skip, Some(fault)),
            OnLoss::Respond(response) => self.respond(time, fault, response),
        }
    }

    /// The failsafe has brought the vehicle down to the ground: it is not resumed, since the vehicle may lie there.
    pub fn stay_down(&mut self) {
        self.stays_down |= self.failsafe.is_some();
    }

    /// Whether frames come more seldom than ticks.
    pub fn has_slow_frames(&self) -> bool {
        self.policy.slow_frames
    }

    /// Whether good frames have returned at `time` (ns) in a failsafe that their loss began.
    pub fn are_back(&self, time: i64) -> bool {
        let is_of_frames = self.failsafe.is_some_and(|(_, cause)| cause.is_of_frames());
        is_of_frames && self.good_since == Some(time)
    }

    /// Whether a tick at `time` (ns) without a frame may be one between two slow frames.
    pub fn is_between_frames(&self, time: i64) -> bool {
        self.policy.slow_frames && time.saturating_sub(self.last_frame) < self.policy.hold
    }

    fn failsafe(&mut self, time: i64, frame: Result<(), Fault>) -> Action {
        let Some((began, cause)) = self.failsafe else {
            return self.go(time, Trigger::Fault, frame.err());
        };
        if self.mode != Mode::Landing {
            if time.saturating_sub(began) >= self.policy.longest_failsafe {
                return self.go(time, Trigger::Expired, None);
            }
            if time.saturating_sub(self.last_frame) >= self.policy.longest_blind {
                return self.go(time, Trigger::Blind, frame.err());
            }
        }
        if let Err(fault) = frame {
            if fault != Fault::Missing || !self.is_between_frames(time) {
                self.good_since = None;
            }
            return self.go(time, Trigger::Fault, Some(fault));
        }
        let since = *self.good_since.get_or_insert(time);
        let back = time.saturating_sub(since) >= self.policy.hold;
        let has_returned = back && cause.is_of_frames() && self.mode != Mode::Landing;
        let trigger = match (has_returned, self.stays_down) {
            // It may lie far from where the descent leads, and must not be flown there over the ground.
            (true, true) => Trigger::Expired,
            (true, false) if self.policy.resume => Trigger::Resume,
            _ => Trigger::GoodFrame,
        };
        self.go(time, trigger, None)
    }

    fn respond(&mut self, time: i64, fault: Fault, response: Response) -> Action {
        if let Some(trigger) = response.trigger() {
            // Returning frames do not end a failsafe that something else has requested meanwhile.
            if let Some((_, cause)) = &mut self.failsafe
                && !fault.is_of_frames()
            {
                *cause = fault;
            }
            return self.go(time, trigger, Some(fault));
        }
        let mode = self.mode;
        self.tell(Event {
            from: mode,
            to: mode,
            trigger: None,
            fault: Some(fault),
            gap: time.saturating_sub(self.last_good),
        });
        mode.usual_action()
    }

    /// The one place where the mode changes.
    fn go(&mut self, time: i64, trigger: Trigger, fault: Option<Fault>) -> Action {
        let from = self.mode;
        let Some((to, action)) = table::next(from, trigger) else {
            return from.usual_action();
        };
        if from == to {
            return action;
        }
        let gap = time.saturating_sub(self.last_good);
        self.mode = to;
        if let (None, Some(fault), true) = (self.failsafe, fault, to.is_failsafe()) {
            self.failsafe = Some((time, fault));
        }
        let given_up = to.is_failsafe() || to == Mode::Ended;
        if let (true, Some(fault)) = (given_up, fault.filter(|fault| *fault != Fault::Requested)) {
            self.report.given_up.get_or_insert((time, fault));
        }
        self.report.terminated |= trigger == Trigger::Terminate;
        self.report.touched_down |= trigger == Trigger::TouchedDown;
        match trigger {
            Trigger::Skip => self.report.pauses += 1,
            Trigger::Resume => {
                self.report.resumed += 1;
                let began = self.failsafe.map_or(time, |(began, _)| began);
                self.report.failsafe_time += time.saturating_sub(began);
                self.report.given_up = None;
                (self.failsafe, self.good_since, self.lawless_since) = (None, None, None);
                self.last_good = time;
            }
            _ => {}
        }
        self.tell(Event {
            from,
            to,
            trigger: Some(trigger),
            fault,
            gap,
        });
        action
    }

    fn tell(&mut self, event: Event) {
        if let Some(free) = self.events.iter_mut().find(|event| event.is_none()) {
            *free = Some(event);
        }
    }
}

#[cfg(test)]
mod tests;
