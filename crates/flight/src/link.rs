//! The backend in the loop: reads at the control rate, each with a deadline; writes commands; counts errors of both.

use fly_hal::{
    Clock, Deadline, Description, Error, ErrorKind, Frame, Instance, ReadOutcome, Request,
};

use crate::binding::Binding;
use crate::pilot::{Reading, seconds};
use crate::supervisor::Fault;

/// The result of one read, and its time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tick {
    /// ns of the backend's clock.
    pub time: i64,
    /// The result.
    pub reading: Reading,
}

/// The fate of a tick's commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// The backend sent them.
    PassedOn,
    /// The backend failed to send them, and may send the next ones.
    Lost,
    /// Not given to the backend: it controls a real vehicle and is not armed.
    Withheld,
}

/// A started backend and the clock of the flight.
pub(crate) struct Link {
    instance: Instance,
    frame: Frame,
    /// Name and version.
    name: String,
    /// Nominal time between ticks, ns.
    step: i64,
    /// Deadline of the next read, ns of the monotonic clock.
    deadline: i64,
    /// Times of the first and of the last tick, ns.
    first: Option<i64>,
    last: Option<i64>,
    /// Time of the last fresh frame, ns.
    last_fresh: Option<i64>,
    ticks: u64,
    /// Commands in the backend's order.
    ordered: Vec<f64>,
    /// The first error since the last good frame.
    read_error: Option<String>,
    /// The first error since commands were last passed on.
    write_error: Option<String>,
    /// How many reads and writes failed.
    errors: [u64; 2],
}

/// # Construction
impl Link {
    /// Frames with later times are rejected, so that the times of later ticks do not overflow.
    const LATEST: i64 = i64::MAX / 2;

    /// Starts the backend, and arms it if that is allowed. The nominal time between ticks is `step`, ns.
    ///
    /// # Errors
    /// The backend's own.
    pub fn start(mut instance: Instance, step: i64) -> Result<Self, Error> {
        instance.start()?;
        if instance.clock() == Clock::RealTime && instance.is_armed() {
            instance.arm()?;
        }
        let (info, description) = (instance.info(), instance.description());
        Ok(Self {
            name: format!("{} {}", info.name, info.version),
            frame: description.frame(),
            ordered: vec![0.0; description.commands().count()],
            step,
            deadline: fly_hal::monotonic_now(),
            first: None,
            last: None,
            last_fresh: None,
            ticks: 0,
            read_error: None,
            write_error: None,
            errors: [0; 2],
            instance,
        })
    }
}

/// # Reading
impl Link {
    /// Reads the next frame; `None` when there will be no more.
    ///
    /// The deadline is one step after the last one, or now if that has passed: lost time is not caught up.
    pub fn read(&mut self) -> Option<Tick> {
        self.deadline = self
            .deadline
            .saturating_add(self.step)
            .max(fly_hal::monotonic_now());
        let deadline = Deadline(self.deadline);
        let expected = self.last.map_or(0, |last| last.saturating_add(self.step));
        let after_last =
            |time: i64| time <= Self::LATEST && self.last.is_none_or(|last| time > last);
        let (time, reading) = match self.instance.read(deadline, &mut self.frame) {
            Ok(ReadOutcome::End) => return None,
            Ok(ReadOutcome::Fresh) => match self.fresh_time(self.frame.time) {
                Some(time) => {
                    self.last_fresh = Some(self.frame.time);
                    self.read_error = None;
                    (time, Reading::Fresh)
                }
                None => (expected, Reading::Nothing(Fault::Time)),
            },
            Ok(ReadOutcome::None) if after_last(self.frame.time) => {
                (self.frame.time, Reading::Nothing(Fault::Missing))
            }
            Ok(ReadOutcome::None) => (expected, Reading::Nothing(Fault::Missing)),
            Err(error) => {
                if self.read_error.is_none() {
                    tracing::error!("reading from the backend `{}` failed: {error}", self.name);
                    self.read_error = Some(error.message);
                }
                self.errors[0] += 1;
                if self.is_real_time() {
                    // Failing reads must not turn the loop into a busy loop.
                    std::thread::sleep(deadline.remaining());
                }
                (expected, Reading::Nothing(Fault::Backend))
            }
        };
        self.first.get_or_insert(time);
        self.last = Some(time);
        self.ticks += 1;
        Some(Tick { time, reading })
    }

    /// The tick's time for a fresh frame of that time; `None` when the backend's time does not advance.
    ///
    /// A tick without a frame has the expected time. The next frame may be stamped up to two steps before it; it then gets the time 1 ns
    /// after that tick, since otherwise all later frames would be rejected.
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
        binding.order_commands(commands, &mut self.ordered);
        match self.instance.write(time, &self.ordered) {
            Ok(()) => {
                self.write_error = None;
                Ok(Written::PassedOn)
            }
            // The vehicle may be airborne, and a link that drops one message may deliver the next.
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

    /// Hands control back and stops the backend. The vehicle is terminated if the supervisor has ended the flight (`is_over`), else disarmed
    /// if it was never `commanded`, else asked to land. Returns what failed.
    pub fn hand_back(&mut self, is_over: bool, commanded: bool) -> Vec<String> {
        let mut failures = Vec::new();
        if self.is_commanding() {
            failures.extend(self.release_control(is_over, commanded).err());
        }
        if let Err(error) = self.instance.stop() {
            failures.push(format!("stopping the backend failed: {error}"));
        }
        failures
    }

    fn release_control(&mut self, is_over: bool, commanded: bool) -> Result<(), String> {
        if is_over {
            return match self.instance.request(Request::Terminate) {
                Err(error) if error.kind == ErrorKind::Unsupported => {
                    tracing::debug!("{error}");
                    Ok(())
                }
                requested => requested.map_err(|error| format!("TERMINATE failed: {error}")),
            };
        }
        if !self.is_real_time() {
            return Ok(());
        }
        if !commanded {
            let disarmed = self.instance.disarm();
            return disarmed.map_err(|error| format!("DISARM failed: {error}"));
        }
        // However the flight ended, the vehicle may be in the air: its motors must not be stopped.
        let requested = self.instance.request(Request::Land);
        requested.map_err(|error| {
            format!("LAND failed: the vehicle may be airborne and uncommanded: {error}")
        })
    }
}

/// # Access
impl Link {
    /// The last frame.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The backend's signals.
    pub fn description(&self) -> &Description {
        self.instance.description()
    }

    /// Name and version of the backend.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The backend's lines for the summary: a name and a value each.
    pub fn report(&mut self) -> Vec<(String, String)> {
        self.instance.report()
    }

    /// Whether the backend has a real-time clock, and may move a real vehicle.
    pub fn is_real_time(&self) -> bool {
        self.instance.clock() == Clock::RealTime
    }

    /// Whether commands are sent.
    pub fn is_commanding(&self) -> bool {
        !self.is_real_time() || self.instance.is_armed()
    }

    /// Nominal time between ticks, ns.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// Time of the last tick, ns.
    pub fn last(&self) -> Option<i64> {
        self.last
    }

    /// Seconds from the first tick to `time` (ns).
    pub fn since_first(&self, time: i64) -> f64 {
        seconds(time.saturating_sub(self.first.unwrap_or(time)))
    }

    /// Whether a fresh frame ever came.
    pub fn has_frames(&self) -> bool {
        self.last_fresh.is_some()
    }

    /// Ticks per second, Hz; 0 when there was only one.
    pub fn mean_rate(&self) -> f64 {
        let span = self.last.map_or(0.0, |last| self.since_first(last));
        if span > 0.0 {
            (self.ticks - 1) as f64 / span
        } else {
            0.0
        }
    }

    /// How many reads and writes failed.
    pub fn errors(&self) -> [u64; 2] {
        self.errors
    }

    /// The first error since the last frame, if there is one.
    pub fn take_read_error(&mut self) -> Option<String> {
        self.read_error.take()
    }

    /// The first error since the last frame, else the first since commands were sent.
    pub fn take_error(&mut self) -> Option<String> {
        self.read_error.take().or_else(|| self.write_error.take())
    }
}
