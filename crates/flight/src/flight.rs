//! The flight loop: read, decide, act and record, once per tick; then the end of the flight.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use fly_hal::EmergencyLine;
use fly_log::{RunMetadata, Timing};

use crate::envelope::Told;
use crate::estimation::Estimation;
use crate::health::ActuatorEvent;
use crate::link::{Landing, Link, Written};
use crate::messages::{Messages, panic_message};
use crate::pilot::Pilot;
use crate::recorder::{Done, Punctuality, Recorder};
use crate::sink::run_metadata;
use crate::summary::{Failsafe, Interventions, Summary, error_names};
use crate::supervisor::{Action, Fault, Mode};
use crate::time::seconds;
use crate::verdict::{End, Evidence, Verdict};
use crate::watchdog::Hang;

mod report;

/// A flight that is ready to begin, or under way.
///
/// [`tick`](Self::tick) does not allocate after its first call, apart from what the backend and the solver do.
pub struct Flight<'a> {
    /// Name of the configuration.
    pub(crate) name: String,
    /// Name of the reference's kind.
    pub(crate) reference: String,
    /// Flight time at which the flight ends, ns.
    pub(crate) duration: Option<i64>,
    /// How long to wait for the first complete frame, ns, …
    pub(crate) first_frame_timeout: Option<i64>,
    /// … counted from when the vehicle was armed and at its start, or control of the recorded flight began, ns; before that, from the first
    /// tick.
    pub(crate) ready_since: Option<i64>,
    pub(crate) link: Link,
    /// Estimates the state from raw sensors, if configured.
    pub(crate) estimation: Option<Estimation>,
    /// Groups of the frames that the pilot sees.
    pub(crate) groups: Vec<String>,
    pub(crate) pilot: Pilot,
    pub(crate) recorder: Recorder<'a>,
    pub(crate) messages: Messages,
    pub(crate) notes: Vec<String>,
    /// The end to report once the vehicle has landed.
    pub(crate) ending: Option<End>,
    /// Whether its user has ended it.
    pub(crate) ended_by_user: bool,
    /// When the last frame arrived.
    pub(crate) cycle: Option<Instant>,
    /// The first exceeded limits, with the time (ns) of each.
    pub(crate) exceeded: Vec<(i64, Told)>,
    /// The first actuator events, with the time (ns) of each.
    pub(crate) actuators: Vec<(i64, ActuatorEvent)>,
    pub(crate) began: Instant,
    pub(crate) wall_start: jiff::Timestamp,
}

/// # The loop
impl Flight<'_> {
    /// Flies to the end.
    pub fn run(mut self) -> Summary {
        let messages = self.messages.enter();
        loop {
            if let Some(end) = self.guarded_tick() {
                drop(messages);
                return self.finish(end);
            }
        }
    }

    /// Runs one tick. Returns how the flight ended once it has; then call [`finish`](Self::finish). A panic of this
    /// program or of the sink also ends the flight.
    pub fn tick(&mut self) -> Option<End> {
        let _messages = self.messages.enter();
        self.guarded_tick()
    }

    /// Runs ticks until the controller takes over. Returns the flight time at which it does, s.
    ///
    /// # Errors
    /// How the flight ended before; then call [`finish`](Self::finish).
    pub fn begin(&mut self) -> Result<f64, End> {
        while self.mode().is_before_flight() {
            if let Some(end) = self.tick() {
                return Err(end);
            }
        }
        let began = self.pilot.start().or(self.link.last());
        Ok(began.map_or(0.0, |time| self.link.since_first(time)))
    }

    /// A tick whose messages are this flight's already.
    fn guarded_tick(&mut self) -> Option<End> {
        let ticked = catch_unwind(AssertUnwindSafe(|| self.tick_unguarded()));
        ticked.unwrap_or_else(|payload| Some(End::Panicked(panic_message(&*payload))))
    }

    fn tick_unguarded(&mut self) -> Option<End> {
        if let Some(cycle) = self.cycle.take() {
            self.recorder.cycle(cycle.elapsed());
        }
        // Read.
        let Some(tick) = self.link.read() else {
            return Some(self.out_of_frames());
        };
        if self.link.is_landing_past_a_call() && !self.mode().is_over() {
            self.pilot.hung(tick.time);
        }
        if self.link.is_taken_over() {
            self.pilot.taken_over(tick.time);
        }
        if let Some(fault) = self.link.clock_fault() {
            return Some(End::Backend(fault));
        }
        if self.link.was_disarmed()
            && let Some(end) = self.disarmed(tick.time)
        {
            return Some(end);
        }
        // Decide. The wall clock only measures times; nothing on the control path reads it.
        let before = Instant::now();
        self.cycle = Some(before);
        let (reading, frame) = match &mut self.estimation {
            Some(estimation) => estimation.take(tick.time, tick.reading, self.link.frame()),
            None => (tick.reading, self.link.frame()),
        };
        let decision = (self.pilot).decide(tick.time, reading, frame);
        let step_time = before.elapsed();
        // Act.
        let (sent, end) = self.act(tick.time, decision.action);
        // Report.
        self.link.tell();
        self.report_actuators(tick.time);
        self.report_exceeded(tick.time);
        self.report_events(tick.time);
        // Record.
        (self.messages).drain(|message| self.recorder.message(tick.time, message));
        (self.recorder).tick(Done {
            tick,
            frame: self.link.frame(),
            pilot: &mut self.pilot,
            estimation: self.estimation.as_mut(),
            decision,
            step_time,
            sent,
        });
        if end.is_some() {
            return end;
        }
        if self.is_over(tick.time) {
            return self.end(End::Completed);
        }
        None
    }

    /// Sets the action to run, on another thread, when a call to a real vehicle's backend hangs for so long that it
    /// is given up. The flight thread is blocked in that call, so the only action left is to end the process; the
    /// vehicle's own failsafe then takes over.
    pub fn on_hang(&self, give_up: impl FnOnce(Hang) + Send + 'static) {
        self.link.on_hang(Box::new(give_up));
    }

    /// Returns a line that commands the real vehicle from any thread, whatever the flight does. `None` if the flight
    /// does not command a real vehicle, or if its plugin has no such line. Use it where the process may have to end
    /// at once.
    pub fn emergency(&self) -> Option<EmergencyLine> {
        self.link.emergency()
    }

    /// Ends the flight for a reason that comes from the caller or the user. A real vehicle in the air lands first:
    /// keep calling [`tick`](Self::tick), which returns this end after the landing. Any other flight ends at once.
    pub fn end(&mut self, end: End) -> Option<End> {
        self.ended_by_user |= end == End::Interrupted;
        if !self.link.is_commanding_a_vehicle() || !self.link.has_commanded() {
            return Some(end);
        }
        if self.ending.is_none() {
            self.ending = Some(end);
            self.pilot.land(self.link.last().unwrap_or(0));
        }
        None
    }

    /// The end of a flight whose backend has no more frames: the usual one of a recording, not of a vehicle.
    fn out_of_frames(&self) -> End {
        if !self.link.timeline().has_frames() {
            return End::Backend("its frames end before the first one".to_owned());
        }
        if self.link.is_commanding_a_vehicle() && self.link.has_commanded() {
            return End::Backend("its frames end while the vehicle is commanded".to_owned());
        }
        let left = self
            .duration
            .map(|duration| seconds(duration) - self.flight_time());
        let is_early = !self.link.timeline().is_recording() && !self.mode().is_failsafe();
        if let Some(left) = left.filter(|left| *left > 0.0 && is_early) {
            return End::Backend(format!("its frames end {left:.3} s before the flight"));
        }
        End::OutOfFrames
    }

    /// Carries out the decision. Returns whether commands were sent and, if the flight has ended, how.
    fn act(&mut self, time: i64, action: Action) -> (bool, Option<End>) {
        match action {
            // A vehicle that takes off by itself takes no commands yet, unless it has to be flown to the ground.
            Action::Control | Action::Hold | Action::Failsafe
                if self.mode() == Mode::Landing && self.link.takes_off() =>
            {
                (false, self.land(time))
            }
            Action::Control | Action::Hold | Action::Failsafe => {
                let (sent, end) = self.write(time);
                (sent, end.or_else(|| self.land(time)))
            }
            Action::Wait => (false, self.waited_too_long(time)),
            Action::Arm => (false, self.arm(time)),
            Action::TakeOff => (false, self.take_off(time)),
            Action::Pause => (false, None),
            Action::Stop => (false, Some(self.stopped())),
        }
    }

    /// The vehicle says that it is disarmed. In a failsafe, or where its reference lands, it has noticed the ground by itself; otherwise somebody has
    /// taken it.
    fn disarmed(&mut self, time: i64) -> Option<End> {
        let at = self.link.since_first(time);
        if self.mode().is_failsafe() {
            self.link.has_landed(time);
            self.pilot.touched_down(time);
            return None;
        }
        if self.pilot.has_landed() {
            self.link.has_landed(time);
            tracing::info!("{at:.3} s: the vehicle has landed and disarmed itself");
            return Some(End::Completed);
        }
        let note = format!(
            "{at:.3} s: the vehicle says that it is disarmed, and nobody has asked it to land"
        );
        tracing::error!("{note}");
        self.notes.push(note);
        self.link.give_up_control();
        self.pilot.taken_over(time);
        None
    }

    fn write(&mut self, time: i64) -> (bool, Option<End>) {
        let Some(commands) = self.pilot.backend_commands() else {
            return (false, None);
        };
        match self.link.write(time, commands, self.pilot.binding()) {
            Ok(Written::Withheld) => (false, None),
            Ok(written) => {
                let passed_on = written == Written::PassedOn;
                self.pilot.passed_on(time, passed_on);
                (passed_on, None)
            }
            // The supervisor has no further options.
            Err(message) => (false, Some(End::Backend(message))),
        }
    }

    /// Asks the backend to land by itself, in the mode of that name. If it cannot, the descent continues.
    fn land(&mut self, time: i64) -> Option<End> {
        if self.mode() != Mode::Landing {
            return None;
        }
        let landing = self.link.land(time);
        self.pilot.lands_by_itself(landing == Landing::Asked);
        if landing != Landing::Begun {
            let gone = self.link.gone(self.ended_by_user)?;
            let advice = "it may still be flying, or landing by a failsafe of its own";
            return Some(End::Backend(format!(
                "nothing was heard of the vehicle for {gone:.0} s: {advice}"
            )));
        }
        self.pilot.landed(time);
        Some(self.stopped())
    }

    /// How the flight ended, after the supervisor has ended it.
    fn stopped(&mut self) -> End {
        if self.link.is_taken_over() {
            return End::TakenOver;
        }
        let error = self.link.take_error().map(End::Backend);
        (self.ending.take()).unwrap_or_else(|| error.unwrap_or(End::SafetyStop))
    }

    fn arm(&mut self, time: i64) -> Option<End> {
        let armed = self.link.arm();
        if armed == Ok(true) && !self.link.was_armed() {
            self.pilot.stands();
        }
        match armed {
            Ok(true) if self.pilot.climb().is_some() => {
                self.pilot.take_off(time);
                None
            }
            Ok(true) => {
                self.ready(time);
                None
            }
            Ok(false) => None,
            Err(message) => Some(End::Backend(message)),
        }
    }

    /// The vehicle is armed and at its start.
    fn ready(&mut self, time: i64) {
        self.ready_since = Some(time);
        self.pilot.armed(time);
    }

    fn take_off(&mut self, time: i64) -> Option<End> {
        match self.link.take_off(self.pilot.climb().unwrap_or(0.0)) {
            Ok(true) => {
                if self.pilot.has_climbed() {
                    self.ready(time);
                }
                None
            }
            Ok(false) => None,
            Err(message) => Some(End::Backend(message)),
        }
    }

    fn waited_too_long(&mut self, time: i64) -> Option<End> {
        if let Some(message) = self.link.take_read_error() {
            return Some(End::Backend(message));
        }
        let since_ready = self.ready_since.map(|ready| time.saturating_sub(ready));
        let waited = (self.link.since_first(time)).min(since_ready.map_or(f64::INFINITY, seconds));
        let timeout = self.first_frame_timeout.map(seconds);
        timeout.filter(|timeout| waited > *timeout)?;
        let supervisor = self.pilot.supervisor();
        let is_unsteady = supervisor.waits() && !supervisor.is_steady(time);
        let is_fault = (self.pilot.fault()).is_some_and(|fault| fault != Fault::Missing);
        if is_unsteady && !is_fault && self.pilot.state().is_some() {
            if supervisor.may_become_steady(time) {
                return None;
            }
            let gap = seconds(supervisor.last_gap()) * 1e3;
            if gap > 0.0 {
                return Some(End::NotFlown(format!(
                    "not armed: complete frames come too seldom, with gaps of {gap:.0} ms: expected one at least every `safety.hold_ms` for a second, with \
                     all measurements newer than `safety.stale_ms`; let the autopilot send more often, or over a faster link, or raise `safety.stale_ms`"
                )));
            }
        }
        if self.pilot.state().is_some() && self.pilot.fault().is_none() {
            let [distance, angle] = self.pilot.start_errors();
            return Some(End::NotFlown(format!(
                "not armed: the reference begins {distance:.2} m and {:.0} deg away from the vehicle after {waited:.1} s \
                 (`safety.start_distance`, `safety.start_angle_deg`)",
                angle.to_degrees()
            )));
        }
        let message = format!("no complete frame came within {waited:.1} s");
        if !self.link.timeline().has_frames() {
            return Some(End::Backend(message));
        }
        let fault = self.pilot.fault();
        let message = match fault {
            Some(fault) => format!("{message}: {}", self.describe(fault)),
            None => message,
        };
        let obstacle = (self.estimation.as_ref())
            .filter(|_| fault == Some(Fault::Unconverged))
            .and_then(Estimation::obstacle);
        Some(End::NotFlown(match obstacle {
            Some(obstacle) => format!("{message}, as {obstacle}"),
            None => message,
        }))
    }

    /// Whether the configured duration has passed. It ends neither a failsafe nor a flight without a complete frame.
    fn is_over(&self, time: i64) -> bool {
        let mode = self.mode();
        if mode.is_failsafe() || mode.is_before_flight() {
            return false;
        }
        let Some((start, duration)) = self.pilot.start().zip(self.duration) else {
            return false;
        };
        // Half a step of tolerance: ticks are rounded to whole nanoseconds.
        time.saturating_sub(start)
            .saturating_add(self.link.timeline().half_step())
            >= duration
    }
}

/// # Progress
impl Flight<'_> {
    /// Seconds since the first complete frame.
    pub fn flight_time(&self) -> f64 {
        self.pilot
            .start()
            .zip(self.link.last())
            .map_or(0.0, |(start, last)| seconds(last.saturating_sub(start)))
    }

    /// Distance (m) and angle (rad) between state and reference; 0 before the first complete frame.
    pub fn errors(&self) -> [f64; 2] {
        self.pilot.errors()
    }

    /// The shortest time in which the governor leads the vehicle over the distance to its reference, at its largest speed, s; `None` without a
    /// governor.
    pub fn shortest_way(&self) -> Option<f64> {
        let limits = self.pilot.guidance().governor()?.limits();
        let [distance, _] = self.errors();
        Some(distance / limits.speed.hypot(limits.climb.max(limits.descent)))
    }

    /// The supervisor's mode.
    pub fn mode(&self) -> Mode {
        self.pilot.supervisor().mode()
    }

    /// How punctual it has been so far. Does not allocate.
    pub fn punctuality(&self) -> Punctuality {
        Punctuality {
            is_real_time: self.link.is_real_time(),
            ..self.recorder.punctuality()
        }
    }

    /// Flight time at which it ends by itself, s; `None` if only its backend or its user ends it.
    pub fn duration(&self) -> Option<f64> {
        self.duration.map(seconds)
    }
}

/// # The end
impl Flight<'_> {
    /// Hands the vehicle back, stops the backend and finishes the log. Errors in these steps are listed in the
    /// summary.
    pub fn finish(mut self, end: End) -> Summary {
        let _messages = self.messages.enter();
        let wall_time = self.began.elapsed().as_secs_f64();
        let flight_time = self.flight_time();
        match &end {
            End::Backend(message) => {
                let name = self.link.name();
                tracing::error!("the backend `{name}` ended the flight: {message}");
            }
            End::NotFlown(message) => tracing::error!("the flight has not begun: {message}"),
            _ => {}
        }
        let (end, has_crashed) = self.hand_back(end);
        self.recorder.handed_back(self.link.is_still_armed());
        let verdict = Verdict::of(
            &end,
            Evidence {
                crashed: self.pilot.has_crashed() || has_crashed,
                diverged: self.pilot.has_diverged() || self.recorder.has_diverged(),
                // Also if the failsafe succeeded.
                given_up: self.pilot.supervisor().report().given_up.is_some(),
                // A real vehicle may fly until it is interrupted.
                has_end: self.duration.is_some() || !self.link.is_real_time(),
            },
        );
        let pace = self.link.take_pace();
        let mut summary = Summary {
            timing: Timing {
                wake_up: pace.wake_up,
                latency: pace.latency,
                ..Timing::default()
            },
            name: self.name.clone(),
            verdict,
            flight_time,
            wall_time,
            rate: self.link.mean_rate(),
            real_time: self.link.is_real_time(),
            error_names: error_names(self.pilot.predictor()),
            disturbance: (self.pilot.guidance()).disturbance_report(self.pilot.predictor()),
            estimator: self.estimation.as_ref().map(|estimation| {
                let last = self.link.last().unwrap_or(0);
                estimation.report(
                    last.saturating_sub(self.link.timeline().since_first(last)),
                    last,
                )
            }),
            reference: self.pilot.guidance().describe(&self.reference),
            interventions: self.interventions(),
            backend: self.link.name().to_owned(),
            ..Summary::default()
        };
        let last = self.link.last().unwrap_or(0);
        (self.messages).drain(|message| self.recorder.message(last, message));
        let durations = (!summary.real_time).then_some([flight_time, wall_time]);
        self.recorder.finish(
            RunMetadata {
                outcome: verdict.describe(&end),
                ..run_metadata(self.wall_start, durations, &summary.backend)
            },
            &mut summary,
        );
        // Last: a plugin that hangs here costs neither the vehicle nor the log.
        summary.backend_report = self.link.report();
        let ending = self.pilot.ending().or(self.recorder.ending());
        if let (Verdict::Diverged, Some(ending)) = (verdict, ending) {
            self.notes.push(ending);
        }
        let [reads, writes] = self.link.errors();
        let statistics = &summary.statistics;
        let counted = [
            (reads, "reads of the backend failed"),
            (writes, "commands were not sent by the backend"),
            (
                statistics.infeasible,
                "steps in which no input satisfied all limits: the one with the least violation was commanded",
            ),
            (
                statistics.unfinished,
                "steps in which the solver did not converge: an input within the limits was commanded, but not the nearest",
            ),
            (
                self.link.timeline().jumps(),
                "jumps of the backend's clock: the flight's time went on",
            ),
            (
                self.messages.lost(),
                "messages were dropped from the log: too many at once",
            ),
        ];
        self.notes.extend(self.pilot.jumps().note());
        let counted = counted.into_iter().filter(|(count, _)| *count > 0);
        (self.notes).extend(counted.map(|(count, what)| format!("{count} {what}")));
        summary.notes = std::mem::take(&mut self.notes);
        summary.end = end;
        summary
    }

    /// Hands the vehicle back and stops the backend; errors become notes. Returns how the flight ended, landing included: if the end of the landing was not
    /// observed, the backend failed. And whether the vehicle was hurt in it.
    fn hand_back(&mut self, end: End) -> (End, bool) {
        let report = self.pilot.supervisor().report();
        let handed = (self.link).hand_back(report.terminated, report.touched_down);
        let failures = [&handed.not_landed, &handed.crashed, &handed.not_stopped];
        for failure in failures.into_iter().flatten() {
            tracing::warn!("{failure}");
            self.notes.push(failure.clone());
        }
        let is_usual = matches!(end, End::Completed | End::OutOfFrames | End::Interrupted);
        let is_safe = is_usual || end == End::SafetyStop;
        let end = match handed.not_landed {
            _ if is_safe && self.link.is_taken_over() => End::TakenOver,
            Some(why) if is_usual => End::Backend(why),
            _ => end,
        };
        (end, handed.crashed.is_some())
    }

    fn interventions(&self) -> Interventions {
        let report = self.pilot.supervisor().report();
        Interventions {
            dropouts: report.dropouts,
            longest_dropout: seconds(report.longest_dropout),
            pauses: report.pauses,
            resumed: report.resumed,
            failsafe_time: seconds(report.failsafe_time),
            failsafe: report.given_up.map(|(time, fault)| Failsafe {
                time: self.link.since_first(time),
                reason: self.describe(fault).to_string(),
            }),
            actuators: (self.actuators.iter())
                .map(|(time, event)| (self.link.since_first(*time), event.clone()))
                .collect(),
            exceeded: (self.exceeded.iter())
                .map(|(time, exceeded)| (self.link.since_first(*time), exceeded.clone()))
                .collect(),
        }
    }
}
