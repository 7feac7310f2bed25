//! The part of a log before its vehicle is commanded, in a log that does not tell when control began.

use std::path::Path;

use fly_hal::Description;
use fly_hal::signal::RECORDED;
use fly_log::{Frame, Options, Recording, Stream};

/// The signal that is 0 while the vehicle is disarmed.
const ARMED: &str = "vehicle.armed";

/// What shows that the vehicle is not commanded.
#[derive(Clone, Copy)]
enum Sign {
    /// The group of recorded commands at this index is not valid.
    Commands(usize),
    /// All recorded motors of another program's log are off.
    Motors,
    /// The value at this index says that it is disarmed.
    Armed(usize),
}

impl Sign {
    fn of(recording: &Recording<Stream>) -> Option<Self> {
        let Description { groups, .. } = &recording.description;
        // An armed vehicle may take off by itself before it is commanded.
        let commands = groups.iter().position(|group| group == RECORDED);
        let motors = recording.motors.as_ref().map(|_| Self::Motors);
        let armed = || recording.description.value_index(ARMED);
        (commands.map(Self::Commands).or(motors)).or_else(|| armed().map(Self::Armed))
    }

    fn holds(self, frame: &Frame) -> bool {
        match self {
            Self::Commands(group) => !frame.groups[group].valid,
            Self::Motors => frame.motors.iter().all(|output| output.is_nan()),
            Self::Armed(value) => frame.values[value] == 0.0,
        }
    }
}

/// When the vehicle of the log at `path` is first commanded, ns, if that is after its frame at `from` (ns). `None` for one that never is, or
/// that cannot be read.
pub fn until(path: &Path, options: &Options, from: i64) -> Option<i64> {
    let mut recording = Recording::stream(path, options).ok()?;
    let sign = Sign::of(&recording)?;
    loop {
        let frame = recording.frames.read().ok()??;
        if frame.time >= from && !sign.holds(&frame) {
            return Some(frame.time).filter(|time| *time > from);
        }
    }
}
