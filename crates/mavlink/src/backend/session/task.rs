//! The requests to a vehicle, step by step.

use fly_hal::{Error, ErrorKind};

use super::{Hold, SECOND, Session, Stream, TWO, left_alone};
use crate::backend::autopilot::{Autopilot, Mode};
use crate::backend::setpoint::Setpoint;
use crate::dialect::MavResult;
use crate::frames::Vector;
use crate::telemetry::Telemetry;
use crate::{Command, Outcome, Ticket, Vehicle};

/// How long each step may take, ns, and all of arming: the host gives 10 s for it.
const ALL: i64 = 19 * SECOND / 2;
const CHECKS: i64 = 3 * SECOND;
const UNKNOWN: i64 = 3 * SECOND / 2;
const STREAM_BEFORE: i64 = SECOND;
const MODE: i64 = 5 * SECOND / 2;
/// Heartbeats may come once a second, and some of them be lost.
const ARMING: i64 = 9 * SECOND / 2;
const LANDING: i64 = 5 * SECOND;
const DISARMING: i64 = 60 * SECOND;

/// After this long without a written command a vehicle that is asked to change its mode is held, ns.
const UNWRITTEN: i64 = SECOND / 5;

/// A refused request is repeated after this, ns.
const AGAIN: i64 = SECOND / 2;

/// Reasons arrive within this time after the refusal, ns.
const REASONS: i64 = 7 * SECOND / 10;

/// A heartbeat this long after the order to disarm knows of an order to arm before it, ns.
const SETTLED: i64 = SECOND;

/// A take-off that is refused, but not for good, is asked for again for so long, ns.
const TAKE_OFF_REFUSED: i64 = 4 * SECOND;

/// How near to its height a vehicle has taken off, m and a part of the height …
const NEAR: f64 = 0.3;
const NEAR_PART: f64 = 0.1;
/// … no farther than this from where it came there, m …
const STILL: f64 = 0.45;
/// … for so long, ns.
const STEADY: i64 = 3 * SECOND / 2;
/// How much longer it waits for the thrust of its hover, ns.
const MEASURING: i64 = 3 * SECOND;

/// The slowest climb, m/s, and what comes before it, ns.
const CLIMB: f64 = 0.3;
const SPOOL: i64 = 10 * SECOND;

/// How long it is asked how high it stands above its home, ns.
const HOME: i64 = 3 * SECOND / 2;

/// A climb that has begun, m.
const CLIMBED: f64 = 0.2;

/// The request in progress.
pub(super) enum Task {
    Arm(Arm),
    TakeOff(TakeOff),
    Change { mode: Mode, sent: Sent },
    Disarm(Disarm),
}

pub(super) struct Disarm {
    force: bool,
    /// Whether it has been told to arm and may do so after the newest heartbeat.
    may_arm: bool,
    sent: Sent,
}

pub(super) struct Arm {
    begun: i64,
    step: ArmStep,
    since: i64,
    sent: Sent,
    /// Whether it was armed when this began.
    was_armed: Option<bool>,
    /// Whether it has been asked, after a refusal, which of its checks fail.
    is_asked_why: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum ArmStep {
    Check,
    Stream,
    Mode,
    Arm,
}

pub(super) struct TakeOff {
    from: Vector,
    yaw: f64,
    height: f64,
    begun: i64,
    sent: Sent,
    /// Whether it climbs, or has said that it will.
    is_under_way: bool,
    /// Since when it has been within tolerance, and where it got there.
    steady: Option<(i64, Vector)>,
}

/// A command that is repeated until the vehicle complies.
pub(super) struct Sent {
    begun: i64,
    until: i64,
    ticket: Option<Ticket>,
    next: i64,
    /// Since when it is refused, and the last result.
    refused: Option<(i64, MavResult)>,
    acknowledged: bool,
}

/// The next step.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Step {
    Wait,
    Next,
    Done,
}

impl Sent {
    fn new(now: i64, timeout: i64) -> Self {
        Self {
            begun: now,
            until: now.saturating_add(timeout),
            ticket: None,
            next: now,
            refused: None,
            acknowledged: false,
        }
    }

    /// Sends the command, and again after a refusal or without an answer. One that was accepted is sent again only if it `insists`: without, a pilot who has
    /// undone it between two heartbeats is not overruled.
    fn poll(&mut self, vehicle: &mut Vehicle, command: Command, insists: bool, now: i64) {
        if let Some(ticket) = self.ticket {
            let outcome = vehicle.outcome(ticket);
            if !outcome.is_final() {
                return;
            }
            self.ticket = None;
            self.next = now.saturating_add(AGAIN);
            match outcome {
                Outcome::Refused { result, .. } => {
                    let since = self.refused.map_or(now, |(since, _)| since);
                    self.refused = Some((since, result));
                }
                Outcome::Accepted { certain, .. } => {
                    self.acknowledged = true;
                    self.refused = None;
                    // Its heartbeat may arrive only once a second.
                    self.next = if insists || !certain {
                        now.saturating_add(3 * AGAIN)
                    } else {
                        i64::MAX
                    };
                }
                _ => {}
            }
        }
        if now >= self.next && now < self.until {
            // Too many in progress: retry at the next poll.
            self.ticket = vehicle.begin(command, self.until).ok();
        }
    }

    /// Whether a refusal is final at `now`: one for good when its reasons have arrived; any other after so long (ns), since
    /// what it is for may pass.
    fn is_refused(&self, now: i64, timeout: i64) -> bool {
        self.refused.is_some_and(|(since, result)| {
            let for_good = !matches!(
                result,
                MavResult::MAV_RESULT_TEMPORARILY_REJECTED
                    | MavResult::MAV_RESULT_FAILED
                    | MavResult::MAV_RESULT_CANCELLED
            );
            now >= since.saturating_add(if for_good { REASONS } else { timeout })
        })
    }

    /// The error for a command that the vehicle did not carry out.
    fn failure(&self, what: &str, reasons: &str) -> Error {
        let why = match (self.refused, self.acknowledged) {
            (Some((_, result)), _) => {
                let result = format!("{result:?}");
                let result = result.trim_start_matches("MAV_RESULT_").to_lowercase();
                format!(
                    "the vehicle refused to {what} ({})",
                    result.replace('_', " ")
                )
            }
            (None, true) => {
                format!("the vehicle acknowledged the request to {what}, but did not comply")
            }
            (None, false) => format!("the vehicle did not acknowledge the request to {what}"),
        };
        let kind = if self.refused.is_some() {
            ErrorKind::Refused
        } else {
            ErrorKind::Timeout
        };
        Error::new(kind, said(why, reasons))
    }
}

fn said(mut why: String, reasons: &str) -> String {
    if !reasons.is_empty() {
        why.push_str(": ");
        why.push_str(reasons);
    }
    why
}

impl Task {
    pub fn arm(now: i64) -> Self {
        Self::Arm(Arm {
            begun: now,
            step: ArmStep::Check,
            since: now,
            sent: Sent::new(now, CHECKS),
            was_armed: None,
            is_asked_why: false,
        })
    }

    #[expect(clippy::cast_possible_truncation, reason = "some minutes at most")]
    pub fn take_off((from, yaw): (Vector, f64), height: f64, now: i64) -> Self {
        let timeout = SPOOL.saturating_add((height / CLIMB * 1e9) as i64);
        Self::TakeOff(TakeOff {
            from,
            yaw,
            height,
            begun: now,
            sent: Sent::new(now, timeout),
            is_under_way: false,
            steady: None,
        })
    }

    pub fn change(mode: Mode, now: i64) -> Self {
        let sent = Sent::new(now, LANDING);
        Self::Change { mode, sent }
    }

    pub fn disarm(force: bool, may_arm: bool, now: i64) -> Self {
        let timeout = if force { LANDING } else { DISARMING };
        Self::Disarm(Disarm {
            force,
            may_arm,
            sent: Sent::new(now, timeout),
        })
    }

    /// The requested mode.
    pub fn mode(&self) -> Option<Mode> {
        match self {
            Self::Change { mode, .. } => Some(*mode),
            _ => None,
        }
    }

    /// Whether nothing may be written before it is complete.
    pub fn prepares(&self) -> bool {
        matches!(self, Self::Arm(_) | Self::TakeOff(_))
    }

    /// Its command that is under way.
    pub fn ticket(&self) -> Option<Ticket> {
        match self {
            Self::Arm(Arm { sent, .. })
            | Self::TakeOff(TakeOff { sent, .. })
            | Self::Change { sent, .. }
            | Self::Disarm(Disarm { sent, .. }) => sent.ticket,
        }
    }

    /// Whether it stops the motors.
    pub fn disarms(&self) -> bool {
        matches!(self, Self::Disarm(_))
    }
}

impl Session {
    pub(super) fn step(
        &mut self,
        task: &mut Task,
        vehicle: &mut Vehicle,
        state: &Telemetry,
        now: i64,
    ) -> Result<Step, Error> {
        match task {
            Task::Arm(arm) => self.step_arm(arm, vehicle, state, now),
            Task::TakeOff(take_off) => self.step_take_off(take_off, vehicle, state, now),
            Task::Change { mode, sent } => self.step_change(*mode, sent, vehicle, state, now),
            Task::Disarm(disarm) => self.step_disarm(disarm, vehicle, now),
        }
    }

    /// Whether a heartbeat after `since` says so.
    fn heard(&self, since: i64, says: impl Fn(&crate::Heartbeat) -> bool) -> bool {
        self.health
            .heartbeat
            .is_some_and(|h| h.arrival > since && says(&h.value))
    }

    /// The error for a vehicle with these faults; it may have said since then (ns) why.
    fn not_ready(&self, faults: &[String], since: i64) -> Error {
        let why = format!("the vehicle is not ready: {}", faults.join("; "));
        Error::new(ErrorKind::Refused, said(why, &self.health.reasons(since)))
    }

    fn step_arm(
        &mut self,
        arm: &mut Arm,
        vehicle: &mut Vehicle,
        state: &Telemetry,
        now: i64,
    ) -> Result<Step, Error> {
        if state.are_two(now) {
            self.stream = Stream::None;
            let why = format!("the vehicle is not ready: it {TWO}");
            return Err(Error::new(ErrorKind::Refused, why));
        }
        // One that was silent when the flight began.
        vehicle.expect_alone(now)?;
        if let Some(why) = self.of_another(arm) {
            self.stream = Stream::None;
            self.urgent.allow(false);
            (self.hold, self.is_of_another) = (Hold::NotYet, true);
            let mode = self.autopilot.mode_name(Mode::Commanded);
            return Err(Error::new(ErrorKind::Refused, why).with_help(format!(
                "end the other program; or disarm the vehicle, or switch it to another mode than {mode}, and start again"
            )));
        }
        match arm.step {
            ArmStep::Check => {
                let faults = self.health.faults(state, now, self.stale);
                if !faults.is_empty() {
                    if now < arm.since.saturating_add(CHECKS) {
                        return Ok(Step::Wait);
                    }
                    return Err(self.not_ready(&faults, arm.since));
                }
                let unknown = self.health.unknown(state);
                if !unknown.is_empty() {
                    // What is told once a second may still come.
                    if now < arm.since.saturating_add(UNKNOWN) {
                        return Ok(Step::Wait);
                    }
                    self.say(format!(
                        "the vehicle does not report its {}",
                        unknown.join(", ")
                    ));
                }
                self.stream = Stream::HoldPosition(self.neutral(state, now)?);
                arm.step = ArmStep::Stream;
                arm.since = now;
                Ok(Step::Next)
            }
            ArmStep::Stream => {
                // Whether or not it needs a stream: a second vehicle is noticed meanwhile.
                if now < arm.since.saturating_add(STREAM_BEFORE) {
                    return Ok(Step::Wait);
                }
                arm.step = ArmStep::Mode;
                arm.sent = Sent::new(now, MODE);
                Ok(Step::Next)
            }
            ArmStep::Mode => self.step_mode(arm, vehicle, state, now),
            ArmStep::Arm => {
                if self.health.is_armed() {
                    self.may_arm = false;
                    self.say("the vehicle is armed".to_owned());
                    return Ok(Step::Done);
                }
                let final_refusal = arm.sent.is_refused(now, ARMING);
                if final_refusal || now >= arm.sent.until {
                    self.stream = Stream::None;
                    self.urgent.allow(false);
                    self.hold = Hold::NotYet;
                    if !final_refusal {
                        // It may be armed all the same: what says so can be lost.
                        let until = now.saturating_add(LANDING);
                        let _ = vehicle.begin(Autopilot::arm(false, false), until);
                    }
                    let reasons = self.health.reasons(arm.sent.begun);
                    return Err(arm.sent.failure("arm", &reasons));
                }
                self.may_arm = true;
                arm.sent
                    .poll(vehicle, Autopilot::arm(true, false), false, now);
                if arm.sent.refused.is_some()
                    && !std::mem::replace(&mut arm.is_asked_why, true)
                    && let Some(checks) = self.autopilot.run_checks()
                {
                    // What it answers are texts.
                    let _ = vehicle.begin(checks, arm.sent.until);
                }
                Ok(Step::Wait)
            }
        }
    }

    /// What says that another program commands the vehicle: it is armed in our mode before we have asked for that, or becomes armed before we have told
    /// it to arm.
    fn of_another(&self, arm: &mut Arm) -> Option<String> {
        let heartbeat = self.health.heartbeat?.value;
        let was_armed = *arm.was_armed.get_or_insert(heartbeat.armed());
        let mode = self.autopilot.mode_name(Mode::Commanded);
        let is_in_mode = self.autopilot.is_in(Mode::Commanded, heartbeat.custom_mode);
        if !heartbeat.armed() {
            None
        } else if is_in_mode && !self.is_asked && !self.may_arm && self.hold == Hold::NotYet {
            Some(format!(
                "the vehicle is armed and in {mode} already: another program may command it"
            ))
        } else if !was_armed && !self.may_arm {
            Some("the vehicle was armed while it was prepared, and not by this program: its pilot or another program may command it".to_owned())
        } else {
            None
        }
    }

    /// Changes the mode of a vehicle that is about to be armed.
    fn step_mode(
        &mut self,
        arm: &mut Arm,
        vehicle: &mut Vehicle,
        state: &Telemetry,
        now: i64,
    ) -> Result<Step, Error> {
        let autopilot = self.autopilot;
        let is_commanded = |h: &crate::Heartbeat| autopilot.is_in(Mode::Commanded, h.custom_mode);
        // An ArduCopter may be in GUIDED already; PX4 enters only with the stream.
        let since = if autopilot.needs_stream() {
            arm.sent.begun
        } else {
            i64::MIN
        };
        let faults = self.health.faults(state, now, self.stale);
        let is_in_mode = self.heard(since, is_commanded);
        // Again: they may have come since the check, and some go.
        if is_in_mode && faults.is_empty() {
            self.hold = Hold::Ours;
            self.urgent.allow(true);
            let mode = autopilot.mode_name(Mode::Commanded);
            self.say(format!("the vehicle is in {mode}"));
            arm.step = ArmStep::Arm;
            let left = arm.begun.saturating_add(ALL).saturating_sub(now);
            arm.sent = Sent::new(now, ARMING.min(left));
            return Ok(Step::Next);
        }
        let command = autopilot.set_mode(Mode::Commanded);
        self.is_asked = true;
        arm.sent.poll(vehicle, command, false, now);
        if now < arm.sent.until {
            return Ok(Step::Wait);
        }
        self.stream = Stream::None;
        if is_in_mode {
            return Err(self.not_ready(&faults, arm.sent.begun));
        }
        let what = format!("change to {}", autopilot.mode_name(Mode::Commanded));
        let reasons = self.health.reasons(arm.sent.begun);
        Err(arm.sent.failure(&what, &reasons))
    }

    fn step_take_off(
        &mut self,
        task: &mut TakeOff,
        vehicle: &mut Vehicle,
        state: &Telemetry,
        now: i64,
    ) -> Result<Step, Error> {
        let climbed = state.position().map_or(0.0, |p| p.value[2] - task.from[2]);
        let above_home = self.health.above_home(task.begun);
        match (self.autopilot).take_off(task.height + above_home.unwrap_or(0.0)) {
            // Where it is above a home that somebody has set is told soon.
            Some(_) if above_home.is_none() && now < task.begun.saturating_add(HOME) => {
                return Ok(Step::Wait);
            }
            None => {
                let mut position = task.from;
                position[2] += task.height;
                let yaw = task.yaw;
                self.stream = Stream::HoldPosition(Setpoint::Position { position, yaw });
            }
            Some(command) => {
                self.stream = Stream::None;
                task.is_under_way |= climbed > CLIMBED || task.sent.acknowledged;
                if task.is_under_way {
                    // Whether or not it was acknowledged.
                    task.sent.ticket = None;
                } else {
                    task.sent.poll(vehicle, command, true, now);
                    let refused = task.sent.is_refused(now, TAKE_OFF_REFUSED);
                    if refused && !self.health.is_airborne(now) {
                        let reasons = self.health.reasons(task.sent.begun);
                        return Err(task.sent.failure("take off", &reasons));
                    }
                }
            }
        }
        let near = NEAR.max(NEAR_PART * task.height);
        let fresh = state
            .position()
            .is_some_and(|p| p.is_fresh(now, self.stale));
        let there = (state.position())
            .filter(|_| fresh && (climbed - task.height).abs() < near)
            .map(|p| p.value);
        // Positions are more reliable than velocities, which err by 0.2 m/s in PX4's SIH.
        task.steady = there.map(|place| match task.steady {
            Some((since, from)) if distance(place, from) < STILL => (since, from),
            _ => (now, place),
        });
        let waits = self.wants_hover() && self.hover.value().is_none();
        let long = STEADY + if waits { MEASURING } else { 0 };
        if (task.steady).is_some_and(|(since, _)| now >= since.saturating_add(long)) {
            let took = (now - task.begun) as f64 * 1e-9;
            self.say(format!("took off to {climbed:.2} m in {took:.1} s"));
            self.measure_hover();
            return Ok(Step::Done);
        }
        if now >= task.sent.until {
            let reasons = self.health.reasons(task.begun);
            let seconds = |since: i64| now.saturating_sub(since) as f64 * 1e-9;
            // Where it was when it was last heard of says nothing.
            let place = match state.position().filter(|_| !fresh) {
                Some(last) => format!(
                    "the vehicle's position is {:.1} s old and its height not known",
                    seconds(last.stamp)
                ),
                None => format!("the vehicle is {climbed:.2} m above where it stood"),
            };
            let why = format!(
                "{place}, {:.0} s after it was told to take off to {} m",
                seconds(task.begun),
                task.height
            );
            return Err(Error::new(ErrorKind::Timeout, said(why, &reasons)));
        }
        Ok(Step::Wait)
    }

    /// Whether the hover thrust must be measured.
    fn wants_hover(&self) -> bool {
        !self.hover_is_given && self.sends_thrust()
    }

    /// Measures the hover thrust from the autopilot's own hover.
    fn measure_hover(&mut self) {
        if !self.wants_hover() {
            return;
        }
        let old = self.scaling.map.hover;
        if let Some(hover) = self.hover.value() {
            // What ArduPilot tells is before its boost, of a level vehicle the same.
            self.scaling.map.hover = hover;
            self.say(format!("hovers with thrust {hover:.3} (before: {old:.3})"));
        } else {
            tracing::warn!(
                "the vehicle does not report its thrust: a hover thrust of {old:.3} is assumed"
            );
        }
    }

    fn step_change(
        &mut self,
        mode: Mode,
        sent: &mut Sent,
        vehicle: &mut Vehicle,
        state: &Telemetry,
        now: i64,
    ) -> Result<Step, Error> {
        // It stands and is disarmed: nothing is left to land.
        if mode == Mode::Land && self.hold == Hold::Over {
            return Ok(Step::Done);
        }
        let autopilot = self.autopilot;
        if self.heard(sent.begun, |h| autopilot.is_in(mode, h.custom_mode)) {
            self.stream = Stream::None;
            self.hold = Hold::Delegated(mode);
            self.say(format!("the vehicle is in {}", autopilot.mode_name(mode)));
            return Ok(Step::Done);
        }
        let is_commanded = |h: &crate::Heartbeat| autopilot.is_in(Mode::Commanded, h.custom_mode);
        if self.hold == Hold::NotYet && !self.heard(i64::MIN, is_commanded) {
            // It was asked to change to our mode, and may still do so.
            if self.heard(sent.begun.saturating_add(SETTLED), |_| true) {
                return Err(left_alone());
            }
            if now < sent.until {
                return Ok(Step::Wait);
            }
        }
        // Nobody may write any more: it stays where it is, and in its mode, until it has changed.
        if self.stream == Stream::Written && now > self.next_setpoint.saturating_add(UNWRITTEN) {
            self.stream = Stream::HoldPosition(self.neutral(state, now)?);
        }
        sent.poll(vehicle, autopilot.set_mode(mode), true, now);
        if now < sent.until {
            return Ok(Step::Wait);
        }
        let what = format!("change to {}", autopilot.mode_name(mode));
        Err(sent.failure(&what, &self.health.reasons(sent.begun)))
    }

    fn step_disarm(
        &mut self,
        disarm: &mut Disarm,
        vehicle: &mut Vehicle,
        now: i64,
    ) -> Result<Step, Error> {
        let Disarm {
            force,
            may_arm,
            sent,
        } = disarm;
        let (force, since) = (*force, sent.begun.saturating_add(SETTLED));
        if force {
            self.stream = Stream::None;
        }
        if *may_arm && self.heard(since, |h| !h.armed()) {
            *may_arm = false;
        }
        if !self.health.is_armed() && !*may_arm {
            self.may_arm = false;
            self.over("the vehicle is disarmed");
            return Ok(Step::Done);
        }
        // A landing vehicle disarms by itself; it refuses to disarm before it is on the ground.
        if force || self.health.stands(now) || !self.health.is_airborne(now) {
            sent.poll(vehicle, Autopilot::arm(false, force), true, now);
        }
        if now < sent.until {
            return Ok(Step::Wait);
        }
        Err(sent.failure("disarm", &self.health.reasons(sent.begun)))
    }
}

fn distance(a: Vector, b: Vector) -> f64 {
    let square = |i: usize| (a[i] - b[i]).powi(2);
    (square(0) + square(1) + square(2)).sqrt()
}
