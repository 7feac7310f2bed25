//! The backend in the loop: reads at the control rate, each with a deadline, writes commands, and counts the errors
//! of both.

use fly_hal::{Clock, Deadline, Error, ErrorKind, Frame, GroupStatus, Instance, ReadOutcome};

mod clock;
mod deadline;
mod landed;
mod pace;
mod request;

use clock::ClockCheck;
use deadline::next_deadline;
pub(crate) use pace::Pace;
pub(crate) use request::Landing;
use request::Requests;

use crate::binding::Binding;
use crate::pilot::Reading;
use crate::supervisor::Fault;
use crate::time::seconds;
use crate::timeline::Timeline;
use crate::watchdog::{Call, Watchdog};

/// The result of one read, and its time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tick {
    /// Time of the backend's clock, ns.
    pub time: i64,
    /// The result.
    pub reading: Reading,
    /// Whether a real vehicle's backend returned more than a step after the deadline.
    pub late: bool,
}

/// The outcome of a tick's commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// The backend sent them.
    PassedOn,
    /// The backend failed to send them; it may send the next ones.
    Lost,
    /// Not given to the backend: it controls a real vehicle and is not armed.
    Withheld,
}

/// A started backend and the flight's clock.
pub(crate) struct Link {
    instance: Instance,
    frame: Frame,
    /// Name and version.
    name: String,
    timeline: Timeline,
    /// The frame with flight times, once these differ from the backend's.
    shifted: Frame,
    /// Deadline of the last read, ns of the monotonic clock.
    deadline: i64,
    /// When the last read returned, ns of the monotonic clock.
    returned: i64,
    ticks: u64,
    /// Whether the frames' times are nanoseconds.
    clock: ClockCheck,
    /// Timing of a real vehicle's backend.
    pace: Pace,
    /// Commands in the backend's order.
    ordered: Vec<f64>,
    /// The first error since the last good frame.
    read_error: Option<String>,
    /// The same error, until it is reported.
    untold: Option<String>,
    /// The first error since commands were last passed on.
    write_error: Option<String>,
    /// Whether the plugin has panicked: it is not called again.
    panicked: bool,
    /// How many reads and writes failed.
    errors: [u64; 2],
    /// When the last frame came, ns of the monotonic clock.
    heard: i64,
    /// Whether any command was given to the backend.
    commanded: bool,
    /// When the backend last sent commands, ns of the monotonic clock.
    commanded_at: Option<i64>,
    /// The requests to the vehicle.
    requests: Requests,
    /// The watchdog of a commanded real vehicle.
    watchdog: Option<Watchdog>,
    timeouts: Timeouts,
}

/// Timeouts of a real vehicle's backend, ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    /// How late a call may return before the emergency line tells the vehicle to land.
    pub hang: i64,
    /// How long the vehicle may take to arm, to disarm, or to begin a landing.
    pub request: i64,
    /// How long the take-off may take.
    pub take_off: i64,
    /// How long the end of the flight waits for a landing vehicle.
    pub landing: i64,
}

/// # Construction
impl Link {
    /// Starts the backend. Its frames follow the times of `timeline`; a real vehicle must respond within the
    /// `timeouts`.
    ///
    /// # Errors
    /// The backend's own.
    pub fn start(
        mut instance: Instance,
        timeline: Timeline,
        timeouts: Timeouts,
    ) -> Result<Self, Error> {
        instance.start()?;
        let watchdog = if instance.clock() == Clock::RealTime && instance.is_armed() {
            let watchdog = Watchdog::start(instance.emergency());
            Some(watchdog.map_err(|error| Error::io("the watchdog", &error))?)
        } else {
            None
        };
        let (info, description) = (instance.info(), instance.description());
        Ok(Self {
            name: format!("{} {}", info.name, info.version),
            frame: description.frame(),
            shifted: description.frame(),
            ordered: vec![0.0; description.commands().count()],
            timeline,
            deadline: fly_hal::monotonic_now(),
            returned: match instance.clock() {
                Clock::RealTime => fly_hal::monotonic_now(),
                Clock::Stepped => 0,
            },
            ticks: 0,
            clock: ClockCheck::new(instance.clock()),
            pace: Pace::new(description),
            read_error: None,
            untold: None,
            write_error: None,
            panicked: false,
            errors: [0; 2],
            heard: fly_hal::monotonic_now(),
            commanded: false,
            commanded_at: None,
            requests: Requests::new(description),
            watchdog,
            timeouts,
            instance,
        })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let handed = self.hand_back(false, false);
        for failure in handed.not_landed.iter().chain(&handed.not_stopped) {
            tracing::error!("{failure}");
        }
    }
}

/// # Reading
impl Link {
    /// Reads the next frame; `None` at the end of the frames.
    pub fn read(&mut self) -> Option<Tick> {
        self.slow_down();
        self.deadline = next_deadline(
            self.deadline,
            self.timeline.step(),
            fly_hal::monotonic_now(),
        );
        let deadline = Deadline(self.deadline);
        let times = self.times(self.deadline);
        let (instance, frame) = (&mut self.instance, &mut self.frame);
        let outcome = watching(self.watchdog.as_ref(), Call::Read, times, || {
            instance.read(deadline, frame)
        });
        let outcome = match outcome {
            Ok(ReadOutcome::End) => return None,
            Ok(ReadOutcome::Fresh) => Ok(Some(self.timeline.fresh(self.frame.time, self.passed()))),
            Ok(ReadOutcome::None) => Ok(None),
            Err(error) => Err(error),
        };
        if self.is_real_time() && !matches!(outcome, Ok(Some(Ok(_)))) {
            // Reads that return early without a usable frame must neither spin the loop nor stop its time.
            std::thread::sleep(deadline.remaining());
        }
        let passed = self.passed();
        let now = self.now();
        self.returned = now;
        if outcome.is_ok() {
            self.take_report();
        }
        if matches!(outcome, Ok(Some(_))) {
            self.heard = now;
        }
        if self.is_real_time() {
            let is_fresh = matches!(outcome, Ok(Some(Ok(_))));
            self.pace.woken(now.saturating_sub(self.deadline), is_fresh);
        }
        let late = self.is_real_time() && now > self.deadline.saturating_add(self.timeline.step());
        let (time, reading) = match outcome {
            Ok(Some(Ok(time))) => {
                self.read_error = None;
                let ticks = i64::try_from(self.ticks).unwrap_or(i64::MAX);
                let nominal = ticks.saturating_mul(self.timeline.step());
                let host = if self.is_real_time() { now } else { nominal };
                self.clock.observe(self.frame.time, host);
                (time, Reading::Fresh)
            }
            Ok(Some(Err(fault))) => {
                let time = self.timeline.missing(None, passed);
                (time, Reading::None(fault))
            }
            Ok(None) => {
                let time = self.timeline.missing(Some(self.frame.time), passed);
                (time, Reading::None(Fault::Missing))
            }
            Err(error) => {
                self.panicked |= error.kind == ErrorKind::Panic;
                self.errors[0] += 1;
                if self.read_error.is_none() {
                    self.untold = Some(error.to_string());
                    self.read_error = Some(error.message);
                }
                let time = self.timeline.missing(None, passed);
                (time, Reading::None(Fault::Backend))
            }
        };
        self.shift();
        self.ticks += 1;
        Some(Tick {
            time,
            reading,
            late,
        })
    }

    /// Time on the host's clock since the last read returned, ns; 0 if the backend's clock is not real time.
    fn passed(&self) -> i64 {
        self.now().saturating_sub(self.returned)
    }

    /// The host's clock, ns; it stands still if the backend's clock is not real time.
    fn now(&self) -> i64 {
        if self.is_real_time() {
            fly_hal::monotonic_now()
        } else {
            0
        }
    }

    /// Copies the frame with flight times, if these differ from the backend's.
    fn shift(&mut self) {
        let shift = self.timeline.shift();
        if shift == 0 {
            return;
        }
        let (from, to) = (&self.frame, &mut self.shifted);
        to.time = from.time.saturating_add(shift);
        to.values.copy_from_slice(&from.values);
        for (to, from) in to.groups.iter_mut().zip(&from.groups) {
            *to = GroupStatus {
                stamp: from.stamp.saturating_add(shift),
                ..*from
            };
        }
    }

    /// Reports a failed read, after the tick's commands have been sent.
    pub fn tell(&mut self) {
        if let Some(error) = self.untold.take() {
            tracing::error!("reading from the backend `{}` failed: {error}", self.name);
        }
    }
}

/// # Commanding
impl Link {
    /// Sends the commands of the tick at `time` (ns), given in the vehicle's order.
    ///
    /// # Errors
    /// The backend's message, if it can no longer be commanded.
    pub fn write(
        &mut self,
        time: i64,
        commands: &[f64],
        binding: &Binding,
    ) -> Result<Written, String> {
        if !self.is_commanding() {
            return Ok(Written::Withheld);
        }
        // Another thread told the vehicle to land because the process is about to end.
        if self.instance.is_landing_in_an_emergency() {
            self.commanded_at = None;
            return Ok(Written::Withheld);
        }
        binding.order_commands(commands, &mut self.ordered);
        self.commanded = true;
        let times = self.times(self.now());
        let (instance, ordered) = (&mut self.instance, &self.ordered);
        let written = watching(self.watchdog.as_ref(), Call::Write, times, || {
            instance.write(time, ordered)
        });
        match written {
            Ok(()) => {
                self.write_error = None;
                self.commanded_at = Some(self.now());
                if self.is_real_time() {
                    self.pace
                        .sent(&self.frame, self.now().saturating_sub(self.returned));
                }
                Ok(Written::PassedOn)
            }
            // The vehicle may be airborne, and a link that drops one message may still deliver the next.
            Err(error) if self.is_real_time() && error.kind != ErrorKind::Panic => {
                self.errors[1] += 1;
                if self.write_error.is_none() {
                    tracing::error!("commanding the backend `{}` failed: {error}", self.name);
                    self.write_error = Some(error.message);
                }
                Ok(Written::Lost)
            }
            Err(error) => Err(self.read_error.take().unwrap_or(error.message)),
        }
    }
}

/// Runs a call under the watchdog, if there is one. The two times, ns of the monotonic clock, are when the call is
/// due and when it is given up.
fn watching<R>(
    watchdog: Option<&Watchdog>,
    call: Call,
    [due, last]: [i64; 2],
    run: impl FnOnce() -> R,
) -> R {
    match watchdog {
        Some(watchdog) => watchdog.watching(call, due, last, run),
        None => run(),
    }
}

/// # Access
impl Link {
    /// Whether any command was given to the backend.
    pub fn has_commanded(&self) -> bool {
        self.commanded
    }

    /// The last frame, with flight times.
    pub fn frame(&self) -> &Frame {
        if self.timeline.shift() == 0 {
            &self.frame
        } else {
            &self.shifted
        }
    }

    /// The times of the ticks.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Name and version of the backend.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The backend's lines for the summary: a name and a value each.
    pub fn report(&mut self) -> Vec<(String, String)> {
        self.instance.report()
    }

    /// Whether the backend has a real-time clock and may move a real vehicle.
    pub fn is_real_time(&self) -> bool {
        self.instance.clock() == Clock::RealTime
    }

    /// Whether commands are sent.
    pub fn is_commanding(&self) -> bool {
        !self.is_real_time() || self.instance.is_armed()
    }

    /// Whether commands move a real vehicle.
    pub fn is_commanding_a_vehicle(&self) -> bool {
        self.is_real_time() && self.instance.is_armed()
    }

    /// Time of the last tick, ns.
    pub fn last(&self) -> Option<i64> {
        self.timeline.last()
    }

    /// Seconds from the first tick to `time` (ns).
    pub fn since_first(&self, time: i64) -> f64 {
        seconds(self.timeline.since_first(time))
    }

    /// Ticks per second, Hz; 0 when there was only one.
    pub fn mean_rate(&self) -> f64 {
        let span = self.last().map_or(0.0, |last| self.since_first(last));
        if span > 0.0 {
            (self.ticks - 1) as f64 / span
        } else {
            0.0
        }
    }

    /// Takes the timing of the loop; empty unless the backend drives a real vehicle.
    pub fn take_pace(&mut self) -> Pace {
        std::mem::take(&mut self.pace)
    }

    /// How many reads and writes failed.
    pub fn errors(&self) -> [u64; 2] {
        self.errors
    }

    /// What is wrong with the times of the frames; recordings have times of their own.
    pub fn clock_fault(&self) -> Option<String> {
        let ours = Some(&self.clock).filter(|_| !self.timeline.is_recording());
        ours.and_then(ClockCheck::fault)
    }

    /// Takes the first error since the last frame, if any.
    pub fn take_read_error(&mut self) -> Option<String> {
        self.read_error.take()
    }

    /// Takes the first error since the last frame or, without one, the first since commands were sent.
    pub fn take_error(&mut self) -> Option<String> {
        self.read_error.take().or_else(|| self.write_error.take())
    }
}
