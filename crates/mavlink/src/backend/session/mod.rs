//! A commanded vehicle: checked, switched to its mode, armed, lifted, given setpoints, landed; and released at once
//! when another pilot takes control.
//!
//! [`Session::run`] begins and advances everything; every call of the backend calls it, and nothing blocks. The
//! vehicle's behaviour is judged by its heartbeats, never by an acknowledgement alone.

mod hover;
mod reasons;
mod task;

use fly_hal::{CommandSet, Error, ErrorKind, Progress, Request};

use super::autopilot::{Autopilot, Mode};
use super::preflight::{Health, LEAST_CHARGE};
use super::setpoint::{Scaling, Setpoint};
use crate::dialect::MavMessage;
use crate::link::UrgentLine;
use crate::telemetry::{Heartbeat, Sample, Telemetry};
use crate::{Ticket, Vehicle, VehicleError};

use hover::Hover;
use reasons::Unexplained;
use task::{Step, Task};

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MS;

/// Period at which the autopilot's stream continues while the host writes nothing, ns; PX4 needs 2 Hz.
const STREAM: i64 = 50 * MS;

/// A setpoint that has not been sent after this time is obsolete, ns.
const SETPOINT: i64 = 100 * MS;

/// How far below the vehicle a setpoint on the ground is, m: PX4 takes off to one that is above.
const BELOW: f64 = 1.0;

/// Heartbeats that have not come for this long are missing, ns.
const SILENCE: i64 = 3 * SECOND;

/// The message about two vehicles with the same numbers.
const TWO: &str = "has a jumping clock: do two vehicles use the same system id?";

/// Control of the vehicle.
#[derive(Clone, Debug, PartialEq)]
enum Hold {
    /// Not under our control yet.
    NotYet,
    /// In our mode.
    Ours,
    /// Asked to land or to hold; it flies by itself.
    Delegated(Mode),
    /// Stopped, landed or disarmed, as it was asked to.
    Over,
    /// Another pilot or the autopilot itself took control.
    Lost(String),
}

/// The current source of setpoints.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stream {
    /// Nothing is sent.
    None,
    /// Hold this position.
    HoldPosition(Setpoint),
    /// The written commands.
    Written,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Setpoints that were written and handed to the link.
    pub written: u64,
    /// Setpoints of the session itself, between the written ones.
    pub kept: u64,
    /// Written commands that were not sent: too frequent for the link, or the vehicle is not under our control.
    pub dropped: u64,
}

/// A commanded vehicle, between start and stop.
#[allow(clippy::struct_excessive_bools)] // each is a fact of its own
pub(crate) struct Session {
    autopilot: Autopilot,
    set: CommandSet,
    pub scaling: Scaling,
    /// The least time between two setpoints, ns.
    spacing: i64,
    stale: i64,
    pub health: Health,
    urgent: UrgentLine,
    hold: Hold,
    stream: Stream,
    task: Option<Task>,
    /// The command of that task, which ends with it.
    under_way: Option<Ticket>,
    /// The result of the last task, for the next poll.
    ended: Option<Result<(), Error>>,
    next_stream: i64,
    next_setpoint: i64,
    hover: Hover,
    hover_is_given: bool,
    restarts: u64,
    /// Whether heartbeats are missing.
    is_silent: bool,
    /// Whether its estimator has lost its position.
    is_lost: bool,
    /// Since when what is sent does not seem to reach it, ns.
    unheard_since: Option<i64>,
    /// The charge, 0 to 1, below which its battery is told of next.
    charge_told: f64,
    /// Whether it has been asked to change to our mode.
    is_asked: bool,
    /// Whether it was found to be under the command of somebody else.
    is_of_another: bool,
    /// Whether it has been told to arm, and has not said since that it is armed or disarmed.
    may_arm: bool,
    /// Whether it was told to land past a call that did not return.
    is_landing_past_a_call: bool,
    pub counts: Counts,
    /// What happened, for the report.
    pub events: Vec<String>,
    /// What became of the vehicle, as long as it may still say why.
    unexplained: Option<Unexplained>,
}

/// The parameters of a session.
pub(crate) struct Setup {
    pub autopilot: Autopilot,
    pub set: CommandSet,
    pub scaling: Scaling,
    pub setpoint_rate: f64,
    pub stale: i64,
    /// Whether the user sets the hover thrust; then it is not replaced by the measured one.
    pub hover_is_given: bool,
}

/// Numbers of the urgent messages.
pub const LAND: u8 = 0;
pub const TERMINATE: u8 = 1;

/// # Construction
impl Session {
    pub fn new(vehicle: &Vehicle, setup: &Setup, health: Health) -> Result<Self, Error> {
        let io = |error: crate::SendError| Error::new(ErrorKind::Io, error.to_string());
        let urgent = vehicle.urgent().map_err(io)?;
        let target = vehicle
            .target()
            .ok_or_else(|| io(crate::SendError::NoVehicle))?;
        urgent.prepare([
            setup.autopilot.set_mode(Mode::Land).message(target, 0),
            Autopilot::arm(false, true).message(target, 0),
        ]);
        #[expect(clippy::cast_possible_truncation, reason = "at most some seconds")]
        let spacing = (0.9e9 / setup.setpoint_rate) as i64;
        Ok(Self {
            autopilot: setup.autopilot,
            set: setup.set,
            scaling: setup.scaling.clone(),
            spacing,
            stale: setup.stale,
            health,
            urgent,
            hold: Hold::NotYet,
            stream: Stream::None,
            task: None,
            under_way: None,
            ended: None,
            next_stream: i64::MIN,
            next_setpoint: i64::MIN,
            hover: Hover::default(),
            hover_is_given: setup.hover_is_given,
            restarts: vehicle.telemetry().restarts(),
            is_silent: false,
            is_lost: false,
            unheard_since: None,
            charge_told: LEAST_CHARGE,
            is_asked: false,
            is_of_another: false,
            may_arm: false,
            is_landing_past_a_call: false,
            counts: Counts::default(),
            events: Vec::new(),
            unexplained: None,
        })
    }

    /// Returns a line that reaches the vehicle from any thread: number 0 lands, number 1 stops the motors.
    pub fn urgent(&self) -> UrgentLine {
        self.urgent.clone()
    }
}

/// # Running
impl Session {
    /// Processes incoming messages and does what is due at `now` (ns of `CLOCK_MONOTONIC`).
    pub fn run(&mut self, vehicle: &mut Vehicle, state: &Telemetry, now: i64) {
        // News first: what the vehicle has done, or its pilot undone, is not sent again.
        vehicle.take_answers();
        while let Some(received) = vehicle.next_status() {
            let before = self.health.heartbeat;
            self.health.take(&received);
            if let MavMessage::HEARTBEAT(m) = &received.message {
                self.observe(before, &Heartbeat::from(m), received.arrival);
            }
        }
        self.watch_heartbeats(now);
        self.watch_estimator();
        self.watch_uplink(vehicle.unheard_since(), now);
        self.watch_battery(state);
        self.watch_restarts(state, now);
        if let Some((at, thrust)) = self.health.thrust.take()
            && matches!(self.stream, Stream::HoldPosition(_) | Stream::None)
            && self.health.is_airborne(now)
        {
            self.hover.take(at, thrust, state);
        }
        self.advance(vehicle, state, now);
        vehicle.poll(now);
        self.keep_streaming(vehicle, state, now);
    }

    /// Ends the command of a task, or of a step of it, that has ended.
    fn end_unwanted(&mut self, vehicle: &mut Vehicle) {
        let wanted = self.task.as_ref().and_then(Task::ticket);
        if let Some(old) = self.under_way.filter(|_| self.under_way != wanted) {
            vehicle.cancel(old);
        }
        self.under_way = wanted;
    }

    /// Sends a setpoint of the session itself if the autopilot needs one and the host writes none.
    fn keep_streaming(&mut self, vehicle: &mut Vehicle, state: &Telemetry, now: i64) {
        let Stream::HoldPosition(setpoint) = self.stream else {
            return;
        };
        if !self.autopilot.needs_stream() || now < self.next_stream || self.urgent.is_begun() {
            return;
        }
        self.next_stream = now.saturating_add(STREAM);
        let attitude = state.attitude().map(|sample| sample.value);
        let message = setpoint.message(&self.scaling, attitude, boot_ms(now));
        if vehicle
            .send_setpoint(message, now.saturating_add(SETPOINT))
            .is_ok()
        {
            self.counts.kept += 1;
        }
    }

    /// Sends the written commands.
    ///
    /// # Errors
    /// The commands are not a setpoint, or the link accepts nothing.
    pub fn write(
        &mut self,
        vehicle: &mut Vehicle,
        commands: &[f64],
        now: i64,
    ) -> Result<(), Error> {
        let setpoint = Setpoint::new(self.set, commands)?;
        // The caller must not believe that the vehicle flies on, even if the landing began later than was waited for.
        if self.urgent.is_begun() || self.is_landing_past_a_call {
            self.counts.dropped += 1;
            return Err(Error::new(
                ErrorKind::Refused,
                "the vehicle was told to land past a call that did not return in time",
            ));
        }
        if self.hold != Hold::Ours || now < self.next_setpoint {
            self.counts.dropped += 1;
            return Ok(());
        }
        if self.task.as_ref().is_some_and(Task::prepares) {
            return Err(Error::usage(
                "commands were written before the vehicle was ready",
            ));
        }
        self.stream = Stream::Written;
        // From the last time on, so that a rate is kept and not fallen short of.
        self.next_setpoint = self
            .next_setpoint
            .saturating_add(self.spacing)
            .max(now.saturating_add(self.spacing / 2));
        let attitude = vehicle.telemetry().attitude().map(|sample| sample.value);
        let message = setpoint.message(&self.scaling, attitude, boot_ms(now));
        vehicle
            .send_setpoint(message, now.saturating_add(SETPOINT))
            .map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        self.counts.written += 1;
        Ok(())
    }

    /// 1 while the vehicle takes our commands or has not been given to us yet, else 0.
    pub fn control(&self) -> f64 {
        f64::from(u8::from(!matches!(self.hold, Hold::Lost(_))))
    }

    /// 1 while the vehicle answers or never has, else 0.
    pub fn uplink(&self) -> f64 {
        f64::from(u8::from(self.unheard_since.is_none()))
    }

    /// Whether thrust is commanded.
    pub fn sends_thrust(&self) -> bool {
        self.set != CommandSet::Trajectory
    }

    /// Why the vehicle is no longer under our control.
    pub fn lost(&self) -> Option<&str> {
        match &self.hold {
            Hold::Lost(why) => Some(why),
            _ => None,
        }
    }
}

/// # Watching who has control
impl Session {
    fn observe(&mut self, old: Option<Sample<Heartbeat>>, new: &Heartbeat, now: i64) {
        if self.urgent.is_begun() && !self.complies(new) {
            // In which mode it still is says nothing.
            return;
        }
        let mode = match &self.hold {
            Hold::Ours => Mode::Commanded,
            Hold::Delegated(mode) => *mode,
            Hold::NotYet | Hold::Over | Hold::Lost(_) => return,
        };
        let wanted = self.task.as_ref().and_then(Task::mode);
        let is_in = |mode| self.autopilot.is_in(mode, new.custom_mode);
        let armed = old.filter(|old| old.value.armed());
        if let Some(armed) = armed.filter(|_| !new.armed()) {
            // Heartbeats that were lost may have told of the landing before.
            let lands = mode == Mode::Land || wanted == Some(Mode::Land);
            let asked = lands || self.task.as_ref().is_some_and(Task::disarms);
            if asked {
                // It may have been stopped by its check for crashes.
                let what = self.with_reasons("landed and disarmed".to_owned(), false, now);
                self.over(&what);
            } else if self.health.stood(armed.arrival, now) {
                // The flight knows whether it was to land here.
                self.over("stands and was disarmed, by its pilot or by itself");
            } else {
                self.lose("was disarmed, by its pilot or by itself", now);
            }
        } else if !is_in(mode) && !wanted.is_some_and(is_in) {
            let name = self.autopilot.mode_name(mode);
            let what = format!(
                "changed from {name} to {}, by its pilot or by itself",
                new.mode()
            );
            self.lose(&what, now);
        }
    }

    /// Whether a vehicle that was told to land past a call does so, or has by now.
    fn complies(&mut self, new: &Heartbeat) -> bool {
        if matches!(
            self.hold,
            Hold::Ours | Hold::Delegated(Mode::Commanded | Mode::Hold)
        ) {
            self.hold = Hold::Delegated(Mode::Land);
            self.is_landing_past_a_call = true;
            self.stream = Stream::None;
            self.say("told to land past a call that did not return".to_owned());
        }
        let lands = self.urgent.wants(LAND) && self.autopilot.is_in(Mode::Land, new.custom_mode);
        if lands || !new.armed() {
            self.urgent.done();
        }
        self.urgent.is_done()
    }

    /// Says once that heartbeats are missing: without them a pilot's change of mode is not seen.
    fn watch_heartbeats(&mut self, now: i64) {
        let last = self
            .health
            .heartbeat
            .map_or(now, |heartbeat| heartbeat.arrival);
        let is_silent = now.saturating_sub(last) > SILENCE;
        let is_ours = matches!(self.hold, Hold::Ours | Hold::Delegated(_));
        if is_silent && is_ours && !self.is_silent {
            let what = "no heartbeats: whether the vehicle is still in our mode is not known";
            tracing::error!("{what}");
            self.told_once(what);
        }
        self.is_silent = is_silent;
    }

    /// Says when the estimator has lost what it flies by, and when it has it again.
    fn watch_estimator(&mut self) {
        let is_lost = self.health.is_lost();
        if std::mem::replace(&mut self.is_lost, is_lost) == is_lost || self.hold != Hold::Ours {
            return;
        }
        if is_lost {
            let what = "the vehicle's estimator has lost its position or velocity";
            tracing::error!("{what}");
            self.events.push(what.to_owned());
        } else {
            self.say("the vehicle's estimator knows its position again".to_owned());
        }
    }

    /// Says when a vehicle that goes on sending has stopped answering, and when it answers again.
    fn watch_uplink(&mut self, unheard_since: Option<i64>, now: i64) {
        let before = std::mem::replace(&mut self.unheard_since, unheard_since);
        let seconds = |since: i64| now.saturating_sub(since) as f64 * 1e-9;
        match (before, unheard_since) {
            (None, Some(since)) if self.hold == Hold::Ours => {
                let what = "the vehicle sends, but does not answer: commands may not reach it";
                tracing::error!("{what}, since {:.1} s", seconds(since));
                self.told_once(what);
            }
            (Some(since), None) if self.hold == Hold::Ours => {
                tracing::warn!("the vehicle answers again, after {:.1} s", seconds(since));
            }
            _ => {}
        }
    }

    /// Says when its battery is low, and at each half of that.
    fn watch_battery(&mut self, state: &Telemetry) {
        let charge = state.battery().and_then(|battery| battery.value.remaining);
        let Some(charge) = charge.filter(|charge| *charge < self.charge_told) else {
            return;
        };
        if !matches!(self.hold, Hold::Ours | Hold::Delegated(_)) {
            return;
        }
        while charge < self.charge_told {
            let next = self.charge_told / 2.0;
            self.charge_told = if next < 0.01 { 0.0 } else { next };
        }
        let what = format!("the vehicle's battery has {:.0} % left", 100.0 * charge);
        tracing::warn!("{what}");
        self.events.push(what);
    }

    fn watch_restarts(&mut self, state: &Telemetry, now: i64) {
        let restarts = state.restarts();
        let has_restarted = std::mem::replace(&mut self.restarts, restarts) != restarts;
        if has_restarted {
            self.health.forget_estimator();
        }
        let why = if state.are_two(now) {
            TWO
        } else if has_restarted {
            "has restarted"
        } else {
            return;
        };
        match self.hold {
            Hold::Ours | Hold::Delegated(_) => self.lose(why, now),
            _ => {
                let what = format!("the vehicle {why}");
                if !self.events.contains(&what) {
                    self.say(what);
                }
            }
        }
    }

    /// From now on nothing is sent.
    fn lose(&mut self, what: &str, now: i64) {
        let why = self.with_reasons(format!("the vehicle {what}"), true, now);
        tracing::error!("{why}; it is no longer commanded");
        self.events.push(why.clone());
        self.stream = Stream::None;
        self.urgent.allow(false);
        if self.task.take().is_some() {
            self.ended = Some(Err(Error::new(ErrorKind::Refused, why.clone())));
        }
        self.hold = Hold::Lost(why);
    }

    fn over(&mut self, what: &str) {
        self.say(what.to_owned());
        self.stream = Stream::None;
        self.urgent.allow(false);
        self.hold = Hold::Over;
    }

    /// Keeps an event for the report, unless it is there already.
    fn told_once(&mut self, what: &str) {
        if !self.events.iter().any(|event| event == what) {
            self.events.push(what.to_owned());
        }
    }

    fn say(&mut self, what: String) {
        tracing::info!("{what}");
        self.events.push(what);
    }
}

/// # Requests of the host
impl Session {
    /// Rejects requests to a vehicle that is not under our control.
    fn is_ours(&self) -> Result<(), Error> {
        match &self.hold {
            Hold::Lost(why) => Err(Error::new(
                ErrorKind::Refused,
                format!("{why}; it is no longer commanded"),
            )),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, task: Task) {
        self.ended = None;
        self.task = Some(task);
    }

    /// Begins to check, to change the mode and to arm.
    pub fn arm(&mut self, now: i64) -> Result<(), Error> {
        self.is_ours()?;
        self.is_of_another = false;
        self.begin(Task::arm(now));
        Ok(())
    }

    /// Begins to climb to `height` m above its position on the ground.
    pub fn take_off(&mut self, state: &Telemetry, height: f64, now: i64) -> Result<(), Error> {
        self.is_ours()?;
        if self.hold != Hold::Ours {
            return Err(Error::usage("take-off before arming"));
        }
        if !(height.is_finite() && height > 0.0) {
            return Err(Error::usage(format!(
                "a take-off to {height} m; expected a height above 0"
            )));
        }
        let place = Self::place(state)?;
        self.begin(Task::take_off(place, height, now));
        Ok(())
    }

    /// Begins to stop the motors of a vehicle on the ground.
    pub fn disarm(&mut self, now: i64) -> Result<(), Error> {
        self.is_ours()?;
        if self.is_of_another {
            return Err(left_alone());
        }
        self.begin(Task::disarm(false, self.may_arm, now));
        Ok(())
    }

    /// Begins a request that the vehicle carries out by itself.
    pub fn request(&mut self, request: Request, now: i64) -> Result<(), Error> {
        self.is_ours()?;
        let is_asked = self.is_asked && !self.is_of_another;
        let is_ours = is_asked || self.hold != Hold::NotYet;
        if !is_ours && matches!(request, Request::Land | Request::Hold) {
            // Whoever has it keeps it.
            (self.task, self.stream) = (None, Stream::None);
            return Err(left_alone());
        }
        self.begin(match request {
            Request::Land => Task::change(Mode::Land, now),
            Request::Hold => Task::change(Mode::Hold, now),
            Request::Terminate => Task::disarm(true, self.may_arm, now),
            other => {
                return Err(Error::unsupported(format!(
                    "the vehicle cannot {} by itself",
                    other.name()
                )));
            }
        });
        Ok(())
    }

    /// Progress of the last request.
    pub fn poll(&mut self) -> Result<Progress, Error> {
        match &self.ended {
            Some(Err(error)) => Err(error.clone()),
            None if self.task.is_some() => Ok(Progress::Underway),
            Some(Ok(())) | None => Ok(Progress::Done),
        }
    }

    /// Its position and heading.
    fn place(state: &Telemetry) -> Result<([f64; 3], f64), Error> {
        match (state.position(), state.attitude()) {
            (Some(position), Some(attitude)) => {
                Ok((position.value, crate::frames::heading(attitude.value)))
            }
            _ => Err(Error::new(
                ErrorKind::Refused,
                "the vehicle does not report its position",
            )),
        }
    }

    /// The setpoint that keeps a vehicle where it is: on the ground a position below it, so that it does not take off.
    fn neutral(&self, state: &Telemetry, now: i64) -> Result<Setpoint, Error> {
        let (mut position, yaw) = Self::place(state)?;
        if !self.health.is_airborne(now) {
            position[2] -= BELOW;
        }
        Ok(Setpoint::Position { position, yaw })
    }
}

/// The refusal of a vehicle that never was ours.
fn left_alone() -> Error {
    Error::new(
        ErrorKind::Refused,
        "the vehicle is not in our mode: left to whoever flies it",
    )
}

/// Our clock in ms, as MAVLink counts it.
fn boot_ms(now: i64) -> u32 {
    u32::try_from((now / MS).rem_euclid(i64::from(u32::MAX))).unwrap_or(0)
}

impl From<VehicleError> for Error {
    fn from(error: VehicleError) -> Self {
        let kind = match error {
            VehicleError::Several { .. } | VehicleError::SameSystemId { .. } => ErrorKind::Refused,
            _ => ErrorKind::Timeout,
        };
        Self::new(kind, error.to_string())
    }
}

impl Session {
    /// Advances what is under way by as many steps as are due.
    fn advance(&mut self, vehicle: &mut Vehicle, state: &Telemetry, now: i64) {
        loop {
            self.end_unwanted(vehicle);
            let Some(mut task) = self.task.take() else {
                return;
            };
            match self.step(&mut task, vehicle, state, now) {
                Ok(Step::Wait) => {
                    self.task = Some(task);
                    self.end_unwanted(vehicle);
                    return;
                }
                Ok(Step::Next) => self.task = Some(task),
                Ok(Step::Done) => self.ended = Some(Ok(())),
                Err(error) => {
                    if !matches!(self.hold, Hold::Lost(_)) {
                        self.events.push(error.message.clone());
                    }
                    self.ended = Some(Err(error));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
