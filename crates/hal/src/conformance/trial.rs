//! A short flight whose frames are checked.

use std::time::{Duration, Instant};

use super::{Outcome, Setup};
use crate::signal::UNIT_TOLERANCE;
use crate::{Class, Clock, Deadline, Error, ErrorKind, Frame, Instance, Plugin, ReadOutcome};

/// How long a flight is, in reads.
pub(super) const READS: usize = 50;
/// How long a read of a real-time plugin may wait.
const WAIT: Duration = Duration::from_millis(20);
/// Tolerance of the deadline, for the scheduler of a busy machine.
const GRACE: Duration = Duration::from_millis(50);
/// Over a shorter time, s, the pace of the frames says nothing.
const LEAST_PASSED: f64 = 0.02;

/// A check that ended early, with its outcome.
pub(super) struct Stop(pub(super) Outcome);

impl From<String> for Stop {
    fn from(why: String) -> Self {
        Self(Outcome::Failed(why))
    }
}

/// A call failed that must succeed.
pub(super) fn failed(doing: &str) -> impl Fn(Error) -> Stop + '_ {
    move |error| Stop(Outcome::Failed(format!("{doing} failed: {error}")))
}

/// Configures a working instance.
pub(super) fn configure(plugin: &Plugin, setup: &Setup) -> Result<Instance, Stop> {
    plugin
        .configure(&setup.configuration())
        .map_err(failed("configure"))
}

/// Starts an instance. A real-time plugin that finds no peer violates nothing.
pub(super) fn start(plugin: &Plugin, setup: &Setup) -> Result<Instance, Stop> {
    let mut instance = configure(plugin, setup)?;
    match instance.start() {
        Ok(()) => Ok(instance),
        Err(error) if plugin.info().clock == Clock::RealTime && excusable(error.kind) => Err(Stop(
            Outcome::Skipped(format!("cannot start here: {error}")),
        )),
        Err(error) => Err(failed("start")(error)),
    }
}

fn excusable(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Io | ErrorKind::Timeout | ErrorKind::Refused | ErrorKind::Protocol
    )
}

/// Commands for this read: smooth, small and never zero.
pub(super) fn commands(instance: &Instance, read: usize) -> Vec<f64> {
    let count = instance.description().commands().count();
    (0..count)
        .map(|index| 1.0 + 0.1 * (0.3 * read as f64 + index as f64).sin())
        .collect()
}

/// Checks every requirement on a read.
pub(super) struct Watch {
    pub(super) frame: Frame,
    before: Frame,
    reads: usize,
    fresh: bool,
    /// Time of the first fresh frame, ns, and when it came.
    first: Option<(i64, Instant)>,
    rate_hz: f64,
}

impl Watch {
    pub(super) fn new(instance: &Instance, setup: &Setup) -> Self {
        let frame = instance.description().frame();
        Self {
            before: frame.clone(),
            frame,
            reads: 0,
            fresh: false,
            first: None,
            rate_hz: setup.rate_hz,
        }
    }

    /// Reads, checks the frame and, unless the frames have ended, sends commands.
    pub(super) fn tick(&mut self, instance: &mut Instance) -> Result<ReadOutcome, Stop> {
        let outcome = self.read(instance)?;
        if outcome != ReadOutcome::End {
            let commands = commands(instance, self.reads);
            let begun = Instant::now();
            instance
                .write(self.frame.time, &commands)
                .map_err(failed("write"))?;
            let taken = begun.elapsed();
            if instance.clock() == Clock::RealTime && taken > GRACE {
                return Err(format!("write must not wait, it took {taken:?}").into());
            }
        }
        self.reads += 1;
        Ok(outcome)
    }

    fn read(&mut self, instance: &mut Instance) -> Result<ReadOutcome, Stop> {
        self.before.clone_from(&self.frame);
        let begun = Instant::now();
        let outcome = instance
            .read(Deadline::after(WAIT), &mut self.frame)
            .map_err(failed("read"))?;
        let taken = begun.elapsed();
        if instance.clock() == Clock::RealTime && taken > WAIT + GRACE {
            return Err(format!("read must be back after {WAIT:?}, it took {taken:?}").into());
        }
        if outcome != ReadOutcome::End {
            self.check_times(instance, outcome)?;
            self.check_values(instance)?;
            self.check_quaternions(instance)?;
            if outcome == ReadOutcome::Fresh {
                self.check_pace(instance)?;
            }
            self.fresh |= outcome == ReadOutcome::Fresh;
        }
        Ok(outcome)
    }

    fn check_times(&self, instance: &Instance, outcome: ReadOutcome) -> Result<(), Stop> {
        let (now, then) = (self.frame.time, self.before.time);
        if self.fresh && outcome == ReadOutcome::Fresh && now <= then {
            return Err(
                format!("time must grow with every fresh frame: {now} ns after {then} ns").into(),
            );
        }
        if self.reads > 0 && now < then {
            return Err(format!("time must not go back: {now} ns after {then} ns").into());
        }
        let groups = &instance.description().groups;
        for ((name, status), earlier) in groups
            .iter()
            .zip(&self.frame.groups)
            .zip(&self.before.groups)
        {
            if status.valid && status.stamp > now {
                let stamp = status.stamp;
                return Err(format!(
                    "`{name}` is stamped {stamp} ns, which is after its frame at {now} ns"
                )
                .into());
            }
            if status.valid && earlier.valid && status.stamp < earlier.stamp {
                let (stamp, earlier) = (status.stamp, earlier.stamp);
                return Err(format!(
                    "the stamp of `{name}` went back: {stamp} ns after {earlier} ns"
                )
                .into());
            }
        }
        Ok(())
    }

    fn check_values(&self, instance: &Instance) -> Result<(), Stop> {
        for (signal, value) in instance
            .description()
            .frame_signals()
            .zip(&self.frame.values)
        {
            let valid = signal
                .group
                .is_some_and(|group| self.frame.groups[group].valid);
            // Auxiliary signals may be missing in part; the values of a valid measurement may not.
            if valid && signal.class == Class::Measurement && !value.is_finite() {
                return Err(format!(
                    "`{}` is {value} in a group that is marked valid",
                    signal.name
                )
                .into());
            }
        }
        Ok(())
    }

    fn check_quaternions(&self, instance: &Instance) -> Result<(), Stop> {
        let description = instance.description();
        let groups = description.groups.iter().zip(&self.frame.groups);
        for (index, (name, _)) in groups
            .enumerate()
            .filter(|(_, (name, status))| status.valid && name.ends_with(".quaternion"))
        {
            let values = description.frame_signals().zip(&self.frame.values);
            let measured = values.filter(|(signal, _)| {
                signal.group == Some(index) && signal.class == Class::Measurement
            });
            let numbers: Vec<f64> = measured.map(|(_, value)| *value).collect();
            let norm = numbers.iter().map(|q| q * q).sum::<f64>().sqrt();
            if numbers.len() == 4 && (norm - 1.0).abs() > UNIT_TOLERANCE {
                return Err(format!("`{name}` must have the norm 1, it has {norm}").into());
            }
        }
        Ok(())
    }

    /// The time of fresh frames grows by nanoseconds, not by a larger unit.
    fn check_pace(&mut self, instance: &Instance) -> Result<(), Stop> {
        let (time, first) = *self.first.get_or_insert((self.frame.time, Instant::now()));
        let grown = self.frame.time.saturating_sub(time) as f64 * 1e-9;
        let (passed, least) = match instance.clock() {
            Clock::RealTime => (first.elapsed().as_secs_f64(), 0.5),
            Clock::Stepped => (self.reads as f64 / self.rate_hz, 0.01),
        };
        if self.reads + 1 >= READS && passed > LEAST_PASSED && grown < least * passed {
            return Err(format!(
                "time must grow by nanoseconds: it has grown by {grown:.1e} s in {passed:.1e} s"
            )
            .into());
        }
        Ok(())
    }

    /// The data that must be the same in two runs.
    pub(super) fn bits(&self, outcome: ReadOutcome) -> Tick {
        Tick {
            outcome,
            time: self.frame.time,
            values: self
                .frame
                .values
                .iter()
                .map(|value| value.to_bits())
                .collect(),
            groups: self
                .frame
                .groups
                .iter()
                .map(|group| (group.stamp, group.valid))
                .collect(),
        }
    }
}

/// One read, bit for bit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tick {
    pub(super) outcome: ReadOutcome,
    pub(super) time: i64,
    pub(super) values: Vec<u64>,
    pub(super) groups: Vec<(i64, bool)>,
}

/// A whole flight.
pub(super) fn fly(instance: &mut Instance, setup: &Setup) -> Result<Vec<Tick>, Stop> {
    let mut watch = Watch::new(instance, setup);
    let mut ticks = Vec::with_capacity(READS);
    for _ in 0..READS {
        let outcome = watch.tick(instance)?;
        ticks.push(watch.bits(outcome));
        if outcome == ReadOutcome::End {
            break;
        }
    }
    Ok(ticks)
}

/// The first difference between two flights, in words.
pub(super) fn difference(instance: &Instance, one: &[Tick], two: &[Tick]) -> Option<String> {
    let at = one.iter().zip(two).position(|(a, b)| a != b);
    let Some(at) = at else {
        let (one, two) = (one.len(), two.len());
        return (one != two).then(|| format!("one has {one} frames, the other {two}"));
    };
    let (a, b) = (&one[at], &two[at]);
    let value = a.values.iter().zip(&b.values).position(|(a, b)| a != b);
    Some(
        match value
            .and_then(|index| Some((index, instance.description().frame_signals().nth(index)?)))
        {
            Some((index, signal)) => {
                let (a, b) = (
                    f64::from_bits(a.values[index]),
                    f64::from_bits(b.values[index]),
                );
                format!(
                    "in frame {at} `{}` is {a} in one, {b} in the other",
                    signal.name
                )
            }
            None => format!(
                "the times or outcomes of frame {at} differ: {} ns and {} ns",
                a.time, b.time
            ),
        },
    )
}
