//! The flight itself: one tick after the other, then the end.

use std::time::Instant;

use fly_control::allocation::{Outcome, Solver};
use fly_control::settings::AllocationMethod;
use fly_hal::{Deadline, ErrorKind, Frame, Instance, ReadOutcome};
use fly_log::Status;

use super::End;
use super::energy::EnergyWatch;
use super::pilot::{Decision, Pilot, Reading, seconds};
use super::recorder::Recorder;
use super::replay::Comparison;
use super::supervisor::{Action, Event, Fault, Mode};
use crate::histogram::Histogram;
use crate::messages::Messages;
use crate::statistics::FlightStatistics;

/// A flight that is ready to begin, or under way.
///
/// [`tick`](Self::tick) does not allocate after its first call, apart from what the backend and the solver do; only
/// events (a dropout, an error) are told at a cost.
pub struct Flight {
    pub(super) name: String,
    pub(super) backend: String,
    pub(super) reference_kind: String,
    /// Nominal time between ticks, ns.
    pub(super) step: i64,
    /// Flight time at which it ends, ns.
    pub(super) duration: Option<i64>,
    /// How long to wait for the first complete frame, ns.
    pub(super) patience: Option<i64>,
    pub(super) real_time: bool,
    pub(super) sending: bool,
    pub(super) instance: Instance,
    pub(super) frame: Frame,
    /// Commands in the backend's order.
    pub(super) ordered: Vec<f64>,
    pub(super) pilot: Pilot,
    pub(super) comparison: Option<Comparison>,
    /// Not in a recording of another controller's flight, whose commands do nothing.
    pub(super) energy: Option<EnergyWatch>,
    pub(super) statistics: FlightStatistics,
    pub(super) solver_fallbacks: u64,
    /// Steps for which nothing was within the limits, and steps whose solution was not finished.
    pub(super) not_optimal: [u64; 2],
    pub(super) expected_solver: AllocationMethod,
    pub(super) step_times: Histogram,
    pub(super) messages: Messages,
    pub(super) recorder: Recorder,
    pub(super) notes: Vec<String>,
    /// Times of the first and of the last tick, ns.
    pub(super) first: Option<i64>,
    pub(super) last: Option<i64>,
    /// Time of the backend's last fresh frame, ns.
    pub(super) last_fresh: Option<i64>,
    pub(super) ticks: u64,
    /// Until when the next read may wait, ns of the monotonic clock.
    pub(super) deadline: i64,
    /// The backend's first error since its last good frame.
    pub(super) failure: Option<String>,
    /// The backend's first error since it last passed commands on.
    pub(super) unsent: Option<String>,
    pub(super) read_errors: u64,
    pub(super) write_errors: u64,
    pub(super) began: Instant,
    pub(super) wall_start: jiff::Timestamp,
}

/// What one read brought, and when.
struct Tick {
    time: i64,
    reading: Reading,
    status: Status,
}

/// # The loop
impl Flight {
    /// How long a backend may take to deliver its first complete frame, ns of its own clock.
    pub(super) const PATIENCE: i64 = 10_000_000_000;
    /// Later times are not believed: ticks that follow them need room.
    const LATEST: i64 = i64::MAX / 2;

    /// Reads a frame, decides, sends, logs. Answers how the flight has ended once it has.
    pub fn tick(&mut self) -> Option<End> {
        let _messages = self.messages.enter();
        let Some(tick) = self.read() else {
            return Some(End::OutOfFrames);
        };
        // Measured beside the control path: nothing in it sees this clock.
        let before = Instant::now();
        let decision = self.pilot.decide(tick.time, tick.reading, &self.frame);
        let step_time = before.elapsed();
        if decision.computed {
            self.step_times
                .record(u64::try_from(step_time.as_nanos()).unwrap_or(u64::MAX));
        }

        self.first.get_or_insert(tick.time);
        self.last = Some(tick.time);
        self.ticks += 1;
        if let Some(event) = self.pilot.supervisor_mut().take_event() {
            self.tell(tick.time, event);
        }
        let (sent, end) = self.act(tick.time, decision.action);
        if let Some(event) = self.pilot.supervisor_mut().take_event() {
            self.tell(tick.time, event);
        }
        self.count(decision);
        let rates = (self.energy.as_mut())
            .and_then(|watch| watch.observe(tick.time, &self.pilot, decision));
        self.log(&tick, decision, sent, rates);
        end.or_else(|| self.is_over(tick.time).then_some(End::Completed))
    }

    /// Reads the next frame; `None` when there will be no more.
    fn read(&mut self) -> Option<Tick> {
        // On the grid of the rate; what was missed is not made up for.
        self.deadline = self
            .deadline
            .saturating_add(self.step)
            .max(fly_hal::monotonic_now());
        let deadline = Deadline(self.deadline);
        let after_last =
            |time: i64| time <= Self::LATEST && self.last.is_none_or(|last| time > last);
        let expected = self.last.map_or(0, |last| last.saturating_add(self.step));
        let nothing = |time, fault| Tick {
            time,
            reading: Reading::Nothing(fault),
            status: Status::None,
        };
        match self.instance.read(deadline, &mut self.frame) {
            Ok(ReadOutcome::End) => None,
            Ok(ReadOutcome::Fresh) => Some(match self.fresh_time(self.frame.time) {
                Some(time) => {
                    self.last_fresh = Some(self.frame.time);
                    self.failure = None;
                    Tick {
                        time,
                        reading: Reading::Fresh,
                        status: Status::Fresh,
                    }
                }
                None => nothing(expected, Fault::Time),
            }),
            Ok(ReadOutcome::None) if after_last(self.frame.time) => {
                Some(nothing(self.frame.time, Fault::Missing))
            }
            Ok(ReadOutcome::None) => Some(nothing(expected, Fault::Missing)),
            Err(error) => {
                if self.failure.is_none() {
                    tracing::error!("the backend `{}` fails: {error}", self.backend);
                    self.failure = Some(error.message);
                }
                self.read_errors += 1;
                if self.real_time {
                    // A read that fails at once must not make the loop spin.
                    std::thread::sleep(deadline.remaining());
                }
                Some(nothing(expected, Fault::Backend))
            }
        }
    }

    /// The tick's time for a fresh frame of that time; `None` when the backend's time does not advance.
    ///
    /// A tick without a frame got the time that was expected. The frame after it may fall short of that by up to a step; it
    /// follows right behind, or every frame from then on would come too late for the one before.
    fn fresh_time(&self, time: i64) -> Option<i64> {
        if time > Self::LATEST {
            return None;
        }
        let Some(last) = self.last.filter(|last| time <= *last) else {
            return Some(time);
        };
        let advances = self.last_fresh.is_none_or(|fresh| time > fresh);
        let behind = last.saturating_sub(time);
        (advances && behind < self.step.saturating_mul(2)).then_some(last.saturating_add(1))
    }

    /// Does what was decided. Answers whether commands were sent, and whether that was the end.
    fn act(&mut self, time: i64, action: Action) -> (bool, Option<End>) {
        match action {
            Action::Control | Action::Hold | Action::Retreat => {
                let (true, Some(commands)) = (self.sending, self.pilot.commands()) else {
                    return (false, None);
                };
                self.pilot
                    .binding()
                    .order_commands(commands, &mut self.ordered);
                match self.instance.write(time, &self.ordered) {
                    Ok(()) => {
                        self.unsent = None;
                        self.pilot.supervisor_mut().sent();
                        (true, None)
                    }
                    // Something is in the air: a line that drops one message may carry the next.
                    Err(error) if self.real_time && error.kind != ErrorKind::Panic => {
                        self.write_errors += 1;
                        self.pilot.supervisor_mut().unsent(time);
                        if self.unsent.is_none() {
                            tracing::error!(
                                "the backend `{}` sends nothing: {error}",
                                self.backend
                            );
                            self.unsent = Some(error.message);
                        }
                        (false, None)
                    }
                    Err(error) => {
                        // Nothing can be commanded any more: there is nothing left that the supervisor could do.
                        let message = self.failure.take().unwrap_or(error.message);
                        (false, Some(End::Backend(message)))
                    }
                }
            }
            Action::Wait => (false, self.waited_too_long(time)),
            Action::Pause => (false, None),
            Action::Stop => (
                false,
                Some(
                    self.failure
                        .take()
                        .or_else(|| self.unsent.take())
                        .map_or(End::SafetyStop, End::Backend),
                ),
            ),
        }
    }

    fn waited_too_long(&mut self, time: i64) -> Option<End> {
        if let Some(message) = self.failure.take() {
            return Some(End::Backend(message));
        }
        let waited = time.saturating_sub(self.first.unwrap_or(time));
        let too_long = self.patience.is_some_and(|patience| waited > patience);
        too_long.then(|| {
            let message = format!("no complete frame came within {:.1} s", seconds(waited));
            // Of frames that came, what is wrong with the last one.
            let doubt = self.pilot.doubt().filter(|_| self.last_fresh.is_some());
            End::Backend(match doubt {
                Some(fault) => format!("{message}: {}", self.describe(fault)),
                None => message,
            })
        })
    }

    /// Whether the configured duration has passed. A descent is not cut short by it: nothing would be commanded any more. And where no command was
    /// ever found, nothing was flown.
    fn is_over(&self, time: i64) -> bool {
        let mode = self.pilot.supervisor().mode();
        if mode.is_retreat() || mode == Mode::Waiting {
            return false;
        }
        let Some((start, duration)) = self.pilot.start().zip(self.duration) else {
            return false;
        };
        // Half a step of tolerance: ticks are rounded to whole nanoseconds.
        time.saturating_sub(start).saturating_add(self.step / 2) >= duration
    }

    /// Statistics and progress.
    fn count(&mut self, decision: Decision) {
        let [position, attitude] = self.pilot.errors();
        if decision.action == Action::Control {
            let step = self.pilot.step();
            self.statistics
                .record(position, attitude, step.saturated(), step.energies.total);
            let fallback = self.expected_solver == AllocationMethod::Osqp
                && step.allocation.solver == Solver::ActiveSet;
            self.solver_fallbacks += u64::from(fallback);
            let outcome = step.allocation.outcome;
            self.not_optimal[0] += u64::from(outcome == Outcome::Infeasible);
            self.not_optimal[1] += u64::from(outcome == Outcome::Unfinished);
        }
        let commanding = matches!(
            decision.action,
            Action::Control | Action::Hold | Action::Retreat
        );
        if let (true, Some(comparison), Some(commands)) =
            (commanding, &mut self.comparison, self.pilot.commands())
        {
            comparison.record(&self.frame.values, commands);
        }
    }

    fn log(&mut self, tick: &Tick, decision: Decision, sent: bool, rates: Option<[f64; 2]>) {
        let recorder = &mut self.recorder;
        self.messages
            .drain(|message| recorder.message(tick.time, message));
        recorder.tick(
            tick.time,
            tick.status,
            &self.frame,
            &mut self.pilot,
            (decision, rates),
            sent,
        );
    }

    /// Seconds since the first complete frame.
    pub fn flight_time(&self) -> f64 {
        self.pilot
            .start()
            .zip(self.last)
            .map_or(0.0, |(start, last)| seconds(last.saturating_sub(start)))
    }

    /// Distance (m) and angle (rad) between the state and the reference; 0 before the first complete frame.
    pub fn errors(&self) -> [f64; 2] {
        self.pilot.errors()
    }

    /// Where the supervisor stands.
    pub fn mode(&self) -> Mode {
        self.pilot.supervisor().mode()
    }

    /// When it ends by itself, s of flight time; `None` if only its backend or its user ends it.
    pub fn duration(&self) -> Option<f64> {
        self.duration.map(seconds)
    }

    fn tell(&self, time: i64, event: Event) {
        let at = seconds(time.saturating_sub(self.first.unwrap_or(time)));
        let describe = |fault: Fault| self.describe(fault);
        match event {
            // Between two frames of a vehicle's telemetry the command is held: that is no event.
            Event::HoldStarted(fault) if self.real_time => {
                tracing::debug!("{at:.3} s: {}: holding the last command", describe(fault));
            }
            Event::HoldStarted(fault) => {
                tracing::warn!("{at:.3} s: {}: holding the last command", describe(fault));
            }
            Event::Resumed(gap) if self.real_time => tracing::debug!(
                "{at:.3} s: frames are back after {:.0} ms",
                seconds(gap) * 1e3
            ),
            Event::Resumed(gap) => tracing::warn!(
                "{at:.3} s: frames are back after {:.0} ms",
                seconds(gap) * 1e3
            ),
            Event::RetreatStarted(fault) => {
                let what = match self.pilot.supervisor().mode() {
                    Mode::Resting => "coming to rest in place",
                    _ => "levelling and descending",
                };
                tracing::error!("{at:.3} s: {}: {what}", describe(fault));
            }
            Event::Terminated(fault) => {
                tracing::error!("{at:.3} s: {}: terminating", describe(fault));
            }
            Event::PauseStarted(fault) => {
                tracing::warn!(
                    "{at:.3} s: {}: skipping until the recording goes on",
                    describe(fault)
                );
            }
            Event::RetreatEnded => tracing::error!("{at:.3} s: that is over"),
        }
    }

    pub(super) fn describe(&self, fault: Fault) -> impl std::fmt::Display {
        fault.describe(
            &self.instance.description().groups,
            self.pilot.craft().system().inputs.command_names(),
        )
    }
}
