//! The backend in the loop: reads at the control rate, each with a deadline; writes commands; counts errors of both.

use fly_hal::{
    Clock, Deadline, Description, Error, ErrorKind, Frame, GroupStatus, Instance, ReadOutcome,
    Request,
};

use crate::binding::Binding;
use crate::pilot::{Reading, seconds};
use crate::supervisor::Fault;
use crate::timeline::Timeline;

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

/// The fate of a request to land.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Landing {
    /// The vehicle lands by itself, or nothing real is in the air.
    Begun,
    /// It does not: it must be flown to the ground.
    Refused,
}

/// How long after a refusal the backend is asked again to land, ns.
const ASK_AGAIN: i64 = 1_000_000_000;

/// A started backend and the clock of the flight.
pub(crate) struct Link {
    instance: Instance,
    frame: Frame,
    /// Name and version.
    name: String,
    timeline: Timeline,
    /// The frame with the flight's times, once they differ from the backend's.
    shifted: Frame,
    /// Deadline of the last read, ns of the monotonic clock.
    deadline: i64,
    /// When the last read came back, ns of the monotonic clock.
    returned: i64,
    ticks: u64,
    /// Commands in the backend's order.
    ordered: Vec<f64>,
    /// The first error since the last good frame.
    read_error: Option<String>,
    /// The same, until it is reported.
    untold: Option<String>,
    /// The first error since commands were last passed on.
    write_error: Option<String>,
    /// How many reads and writes failed.
    errors: [u64; 2],
    /// When (ns) the backend was last asked to land, and what became of it.
    landing: Option<(i64, Landing)>,
    /// Whether any command was given to the backend.
    commanded: bool,
    /// Whether control is handed back.
    handed_back: bool,
}

/// # Construction
impl Link {
    /// Starts the backend, and arms it if that is allowed. Its frames come at the times of `timeline`.
    ///
    /// # Errors
    /// The backend's own.
    pub fn start(mut instance: Instance, timeline: Timeline) -> Result<Self, Error> {
        instance.start()?;
        if instance.clock() == Clock::RealTime && instance.is_armed() {
            instance.arm()?;
        }
        let (info, description) = (instance.info(), instance.description());
        Ok(Self {
            name: format!("{} {}", info.name, info.version),
            frame: description.frame(),
            shifted: description.frame(),
            ordered: vec![0.0; description.commands().count()],
            timeline,
            deadline: fly_hal::monotonic_now(),
            returned: fly_hal::monotonic_now(),
            ticks: 0,
            read_error: None,
            untold: None,
            write_error: None,
            errors: [0; 2],
            landing: None,
            commanded: false,
            handed_back: false,
            instance,
        })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        for failure in self.hand_back(false) {
            tracing::error!("{failure}");
        }
    }
}

/// # Reading
impl Link {
    /// Reads the next frame; `None` when there will be no more.
    pub fn read(&mut self) -> Option<Tick> {
        self.deadline = next_deadline(
            self.deadline,
            self.timeline.step(),
            fly_hal::monotonic_now(),
        );
        let deadline = Deadline(self.deadline);
        let outcome = self.instance.read(deadline, &mut self.frame);
        if self.is_real_time() && !matches!(outcome, Ok(ReadOutcome::Fresh)) {
            // Reads that bring nothing and come back early must not turn the loop into a busy loop.
            std::thread::sleep(deadline.remaining());
        }
        let now = fly_hal::monotonic_now();
        let passed = if self.is_real_time() {
            now.saturating_sub(self.returned)
        } else {
            0
        };
        self.returned = now;
        let (time, reading) = match outcome {
            Ok(ReadOutcome::End) => return None,
            Ok(ReadOutcome::Fresh) => match self.timeline.fresh(self.frame.time, passed) {
                Ok(time) => {
                    self.read_error = None;
                    (time, Reading::Fresh)
                }
                Err(fault) => {
                    let time = self.timeline.missing(None, passed);
                    (time, Reading::Nothing(fault))
                }
            },
            Ok(ReadOutcome::None) => {
                let time = self.timeline.missing(Some(self.frame.time), passed);
                (time, Reading::Nothing(Fault::Missing))
            }
            Err(error) => {
                self.errors[0] += 1;
                if self.read_error.is_none() {
                    self.untold = Some(error.to_string());
                    self.read_error = Some(error.message);
                }
                let time = self.timeline.missing(None, passed);
                (time, Reading::Nothing(Fault::Backend))
            }
        };
        self.shift();
        self.ticks += 1;
        Some(Tick { time, reading })
    }

    /// Copies the frame with the flight's times, where they differ from the backend's.
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

    /// Reports a failed read; after the tick's commands have gone.
    pub fn tell(&mut self) {
        if let Some(error) = self.untold.take() {
            tracing::error!("reading from the backend `{}` failed: {error}", self.name);
        }
    }
}

/// One step after the last deadline, but neither in the past, since lost time is not caught up, nor more than a step from `now`, since time
/// that early reads gained is not waited for. All in ns.
fn next_deadline(last: i64, step: i64, now: i64) -> i64 {
    last.saturating_add(step)
        .min(now.saturating_add(step))
        .max(now)
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
        self.commanded = true;
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

    /// Asks the backend at `time` (ns) to land by itself; after a refusal again from time to time.
    pub fn land(&mut self, time: i64) -> Landing {
        if let Some((asked, outcome)) = self.landing
            && (outcome == Landing::Begun || time.saturating_sub(asked) < ASK_AGAIN)
        {
            return outcome;
        }
        let outcome = if self.is_commanding_a_vehicle() {
            match self.instance.request(Request::Land) {
                Ok(()) => Landing::Begun,
                Err(error) => {
                    if self.landing.is_none() {
                        tracing::error!(
                            "the backend `{}` does not land by itself: {error}",
                            self.name
                        );
                    }
                    Landing::Refused
                }
            }
        } else {
            Landing::Begun
        };
        self.landing = Some((time, outcome));
        outcome
    }

    /// Hands control back and stops the backend. A vehicle is told to stop its motors if the flight was `terminated`, else it is
    /// disarmed if it was never commanded, else asked to land, unless it lands already. Returns what failed. Dropping a link does it
    /// as well: whatever ends a flight, its vehicle lands.
    pub fn hand_back(&mut self, terminated: bool) -> Vec<String> {
        let mut failures = Vec::new();
        if std::mem::replace(&mut self.handed_back, true) {
            return failures;
        }
        if self.is_commanding() {
            failures.extend(self.release_control(terminated).err());
        }
        if let Err(error) = self.instance.stop() {
            failures.push(format!("stopping the backend failed: {error}"));
        }
        failures
    }

    fn release_control(&mut self, terminated: bool) -> Result<(), String> {
        if terminated {
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
        if !self.commanded {
            let disarmed = self.instance.disarm();
            return disarmed.map_err(|error| format!("DISARM failed: {error}"));
        }
        if let Some((_, Landing::Begun)) = self.landing {
            return Ok(());
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
    /// Whether any command was given to the backend.
    pub fn has_commanded(&self) -> bool {
        self.commanded
    }

    /// The last frame, with the times of the flight.
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

#[cfg(test)]
mod tests {
    use super::next_deadline;

    #[test]
    fn deadlines_are_a_step_apart_and_never_more_than_a_step_away() {
        assert_eq!(next_deadline(100, 2, 99), 101);
        assert_eq!(next_deadline(100, 2, 101), 102);
        // Lost time is not caught up.
        assert_eq!(next_deadline(100, 2, 500), 500);
        // Ten thousand reads that came back early do not push the deadline away.
        let mut deadline = 100;
        for _ in 0..10_000 {
            deadline = next_deadline(deadline, 2, 100);
        }
        assert_eq!(deadline, 102);
    }
}
