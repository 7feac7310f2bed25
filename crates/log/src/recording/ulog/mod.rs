//! Reads PX4's ULog.
//!
//! The frames are on a regular grid. Its step is the usual interval of the faster of `vehicle_attitude` and
//! `vehicle_angular_velocity`; it extends between the first and the last time at which position, attitude and angular
//! velocity are known. Between samples
//!
//! | signal | from | how |
//! |---|---|---|
//! | `pose.position.*` | `vehicle_local_position` | cubic through positions and velocities |
//! | `pose.quaternion.*` | `vehicle_attitude` | slerp |
//! | `twist.linear.*` | velocity of `vehicle_local_position`, turned into the body frame | linear |
//! | `twist.angular.*` | `vehicle_angular_velocity` | linear |
//! | motors | `actuator_motors`, else `actuator_outputs`; off while `actuator_armed` is not | linear |
//! | `setpoint.*` | logged setpoints, else the smoothed flown path | linear, slerp; local cubics |
//! | `battery.*`, `vehicle.armed` | `battery_status`, `actuator_armed` | held |
//!
//! There is no interpolation across a jump of the estimator or a gap; a group without data at a tick is not valid
//! there, nor is a battery of which voltage or charge is unknown. The time of a sample is its `timestamp_sample`, if the topic has it. Time counts from
//! the first frame. Of parts of the file whose times overlap, only the longest is used.

mod fields;
mod formats;
mod motors;
mod order;
mod records;
mod resampled;
mod series;
mod setpoints;
mod smooth;
mod topics;

use std::io;
use std::path::Path;

use fly_hal::{Description, ReferenceSource};
use fly_mavlink::{Battery, frames};

pub(super) use records::MAGIC;

use super::source::Source;
use super::stream::{Span, Stream};
use super::{Kind, Options, Recording};
use crate::error::LogError;
use fields::{
    ANGULAR_VELOCITY, ARMED, ATTITUDE, BATTERY, LOCAL_POSITION, MOTION, QUATERNION, VALID,
};
use order::LeftOut;
use resampled::Resampled;
use series::{Attitude, Motion, Series, rotation};
use topics::Topics;

/// Required topics.
const REQUIRED: [&str; 3] = [
    "vehicle_local_position",
    "vehicle_attitude",
    "vehicle_angular_velocity",
];
/// Optional topics.
const OPTIONAL: [&str; 8] = [
    "actuator_motors",
    "trajectory_setpoint",
    "vehicle_local_position_setpoint",
    "vehicle_attitude_setpoint",
    "vehicle_rates_setpoint",
    "battery_status",
    "actuator_armed",
    "hover_thrust_estimate",
];

/// Largest number of frames, 5 hours at 500 Hz: more indicate corrupt time stamps.
const MAX_FRAMES: i64 = 10_000_000;
/// Groups of signals in the order of a frame.
const GROUPS: [&str; 12] = [
    "pose.position",
    "pose.quaternion",
    "twist.linear",
    "twist.angular",
    "battery",
    "vehicle",
    "setpoint.position",
    "setpoint.velocity",
    "setpoint.acceleration",
    "setpoint.quaternion",
    "setpoint.angular_velocity",
    "setpoint",
];

/// The signals of every ULog.
fn description() -> Description {
    let groups = GROUPS
        .into_iter()
        .try_fold(Description::new(), Description::with_group);
    let mut description = groups
        .expect("the groups are canonical")
        .with_reference(ReferenceSource::Recorded);
    description.starts_in_motion = true;
    // A log does not contain the signals of a vehicle under command.
    (description.signals)
        .retain(|signal| !matches!(signal.name.as_str(), "vehicle.control" | "vehicle.uplink"));
    description
}

/// Opens a ULog file: reads the topics, and resamples them on demand.
pub fn open(
    path: &Path,
    source: &Source,
    options: &Options,
) -> Result<Recording<Stream>, LogError> {
    if source.len() < records::HEADER {
        let expected = format!("the {} bytes that start a ULog", records::HEADER);
        return Err(LogError::Truncated {
            path: path.into(),
            offset: source.len(),
            expected,
            frames: 0,
        });
    }
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::OutOfMemory => LogError::Memory {
            path: path.into(),
            most: options.memory,
            what: source.to_string(),
        },
        _ => LogError::Open {
            path: path.into(),
            source,
        },
    };
    if let Some((offset, bits)) = records::unknown_flags(source).map_err(failed)? {
        let path = path.into();
        return Err(LogError::Flags { path, offset, bits });
    }
    let topics = Topics::read(source, options.memory).map_err(failed)?;
    let missing = missing(&topics);
    let unusable = |reason: String| LogError::Unusable {
        path: path.into(),
        reason,
    };
    let sources = Sources::new(&topics).map_err(failed)?;
    let sources = sources.ok_or_else(|| {
        unusable(format!(
            "it needs {} with samples, which PX4 logs with bit 0 of SDLOG_PROFILE; of these and the optional topics, it lacks {}",
            REQUIRED.join(", "),
            if missing.is_empty() {
                "finite values".to_owned()
            } else {
                missing.join(", ")
            }
        ))
    })?;
    let grid = sources.grid();
    if grid.len() < 2 {
        return Err(unusable(
            "position, attitude and angular velocity never overlap".into(),
        ));
    }
    if grid.count > MAX_FRAMES {
        let reason = format!(
            "its time stamps would make {} frames, more than {MAX_FRAMES}",
            grid.count
        );
        return Err(unusable(reason));
    }
    if let Some(offset) = topics.damage.cut_at
        && !options.allow_truncated
    {
        return Err(LogError::Truncated {
            path: path.into(),
            offset,
            expected: "a whole record".to_owned(),
            frames: grid.len(),
        });
    }
    let (flagged, left_out) = (sources.flagged, sources.left_out.clone());
    let found = motors::read(&topics).map_err(failed)?;
    let motors_words = match &found {
        Ok((motors, _)) => motors.source.clone(),
        Err(why) => why.clone(),
    };
    let (motors, outputs) = found.ok().unzip();
    let resampled = Resampled::new(sources, grid, &topics, outputs).map_err(failed)?;
    let span = Span {
        count: grid.len(),
        first: 0,
        last: grid.time(grid.len() - 1) - grid.start,
    };
    let description = description();
    Ok(Recording {
        path: path.into(),
        kind: Kind::Ulog,
        header: None,
        run: None,
        skipped: skipped(&topics, &left_out, grid.start),
        notes: notes(
            &topics,
            grid.step,
            flagged,
            &resampled,
            motors_words,
            &missing,
        ),
        motors,
        frames: Stream::new(Box::new(resampled), span, &description),
        description,
    })
}

/// The required and optional topics that are not logged.
fn missing(topics: &Topics) -> Vec<String> {
    // Outputs stand in for motors.
    let outputs = (!topics.has("actuator_motors")).then_some("actuator_outputs");
    let [motors, others @ ..] = &OPTIONAL;
    let names = REQUIRED
        .iter()
        .chain([motors])
        .chain(&outputs)
        .chain(others);
    names
        .filter(|name| !topics.has(name))
        .map(|name| match topics.other_instance(name) {
            Some(instance) => format!("{name} (only instance {instance} of it is logged)"),
            None => (*name).to_owned(),
        })
        .collect()
}

/// The regular frame times in the autopilot's clock.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// First time, ns.
    start: i64,
    /// Interval, ns.
    step: i64,
    count: i64,
}

impl Grid {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most MAX_FRAMES"
    )]
    const fn len(&self) -> usize {
        self.count as usize
    }

    #[expect(clippy::cast_possible_wrap, reason = "an index of a frame")]
    const fn time(&self, index: usize) -> i64 {
        self.start + index as i64 * self.step
    }
}

/// The measured quantities.
#[derive(Debug)]
pub struct Sources {
    motion: Series<Motion>,
    attitude: Series<Attitude>,
    rates: Series<[f64; 3]>,
    /// Fraction of the position samples that the estimator marks as invalid.
    flagged: f64,
    /// Samples that are too far from the others to be part of the flight, and those with the times of others.
    left_out: [Vec<LeftOut>; 2],
}

fn finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

impl Sources {
    fn new(topics: &Topics) -> io::Result<Option<Self>> {
        let [topic, ..] = REQUIRED;
        let motion = |row: [f64; 10]| {
            let [x, y, z, vx, vy, vz, resets @ ..] = row;
            finite(&[x, y, z, vx, vy, vz]).then(|| Motion {
                position: frames::nwu_from_ned([x, y, z]),
                velocity: frames::nwu_from_ned([vx, vy, vz]),
                // Those that an old log lacks are NaN: none.
                resets: resets.map(|count| count.max(0.0)),
            })
        };
        let motion = Series::with(topics, topic, LOCAL_POSITION, MOTION.len(), motion)?;
        let (mut flags, mut flagged) = (0_u64, 0_u64);
        if let Some(mut samples) = topics.samples(topic, VALID, VALID.len()) {
            samples.visit_all(|valid| {
                flags += 1;
                flagged += u64::from(valid.contains(&0.0));
            })?;
        }
        let [_, topic, _] = REQUIRED;
        let attitude = |q: [f64; 4], resets: f64| {
            let rotation = rotation(q)?;
            Some(Attitude { rotation, resets })
        };
        let with_resets = move |[w, x, y, z, resets]: [f64; 5]| attitude([w, x, y, z], resets);
        let attitude = match Series::new(topics, topic, ATTITUDE, with_resets)? {
            None => Series::new(topics, topic, QUATERNION, move |q| attitude(q, 0.0))?,
            attitude => attitude,
        };
        let [_, _, topic] = REQUIRED;
        let rates = Series::new(topics, topic, ANGULAR_VELOCITY, move |row: [f64; 3]| {
            finite(&row).then(|| frames::flu_from_frd(row))
        })?;
        let (Some(mut motion), Some(mut attitude), Some(mut rates)) = (motion, attitude, rates)
        else {
            return Ok(None);
        };
        // Only these topics determine how long the log is.
        let [position, turn, turning] = REQUIRED;
        let far = [
            motion.drop_far(position),
            attitude.drop_far(turn),
            rates.drop_far(turning),
        ];
        let repeated = [motion.repeated(), attitude.repeated(), rates.repeated()];
        Ok(Some(Self {
            motion,
            attitude,
            rates,
            flagged: flagged as f64 / flags.max(1) as f64,
            left_out: [far, repeated].map(|found| found.into_iter().flatten().collect()),
        }))
    }

    /// Times of the frames.
    fn grid(&self) -> Grid {
        let spans = [self.motion.span(), self.attitude.span(), self.rates.span()];
        let start = spans.iter().map(|span| span.0).max().unwrap_or_default();
        let end = spans.iter().map(|span| span.1).min().unwrap_or_default();
        // No autopilot logs faster than 10 kHz; a smaller interval is corrupt.
        let step = [self.attitude.period(), self.rates.period()]
            .into_iter()
            .filter(|&p| p >= 100_000)
            .min();
        Grid {
            start,
            step: step.unwrap_or_default(),
            count: step.map_or(0, |step| (end - start).max(-1) / step + 1),
        }
    }
}

fn notes(
    topics: &Topics,
    step: i64,
    flagged: f64,
    resampled: &Resampled,
    motors: String,
    missing: &[String],
) -> Vec<(String, String)> {
    let mut notes = Vec::new();
    let mut note = |name: &str, text: String| notes.push((name.to_owned(), text));
    note(
        "frames",
        format!("a grid of {:.1} Hz, interpolated", 1e9 / step as f64),
    );
    if flagged > 0.0 {
        let share = 100.0 * flagged;
        note(
            "estimator",
            format!(
                "marks its position as invalid in {share:.0} % of the samples; they are used nevertheless"
            ),
        );
    }
    if !missing.is_empty() {
        note("missing topics", missing.join(", "));
    }
    if topics.dropout > 0.0 {
        note(
            "dropouts",
            format!("{:.3} s that the logger lost", topics.dropout),
        );
    }
    note("setpoints", setpoint_words(resampled));
    note("motors", motors);
    if let Some(count) = motors::too_many(topics) {
        let most = motors::MAX_MOTORS;
        note(
            "motors left out",
            format!("the vehicle has {count}; the first {most} are read"),
        );
    }
    notes
}

/// Describes the source of the setpoints.
fn setpoint_words(resampled: &Resampled) -> String {
    let Some(([position, attitude], count)) = resampled.logged_setpoints() else {
        return "none: too few frames".into();
    };
    let share = |logged: usize| match logged {
        0 => "smoothed flown path".to_owned(),
        all if all == count => "logged".to_owned(),
        some => format!(
            "logged in {:.0} % of the frames, else smoothed flown path",
            100.0 * some as f64 / count as f64
        ),
    };
    let (mut position, attitude) = (share(position), share(attitude));
    if let Some(words) = resampled.path_words() {
        position = format!("{position} ({words})");
    }
    format!("position: {position}; attitude: {attitude}")
}

/// Describes the parts that could not be read, of a log that starts at this time.
fn skipped(topics: &Topics, [far, repeated]: &[Vec<LeftOut>; 2], start: i64) -> Vec<String> {
    let mut skipped = Vec::new();
    if topics.bad_records > 0 {
        skipped.push(format!("{} corrupt records", topics.bad_records));
    }
    let damage = &topics.damage;
    if damage.places > 0 {
        skipped.push(format!(
            "{} corrupt places, {} bytes",
            damage.places, damage.bytes
        ));
    }
    if let Some(offset) = damage.cut_at {
        skipped.push(format!("a truncated record at byte {offset}"));
    }
    skipped.extend(topics.setback.map(|setback| setback.words()));
    skipped.extend(topics.backwards.iter().map(|found| found.words(start)));
    skipped.extend(far.iter().map(|found| {
        let hours = series::FAR / 3_600_000_000_000;
        let samples = found.words(start);
        format!("{samples}: more than {hours} hours from the others")
    }));
    skipped.extend(repeated.iter().map(|found| {
        let samples = found.words(start);
        format!("{samples}: others have the same times")
    }));
    skipped
}

/// Voltage and charge; NaN where one is unknown.
fn battery(topics: &Topics) -> io::Result<Option<Series<[f64; 2]>>> {
    let known = |[voltage, remaining]: [f64; 2]| Some(Battery::told(voltage, remaining).values());
    Series::new(topics, "battery_status", BATTERY, known)
}

fn armed(topics: &Topics) -> io::Result<Option<Series<[f64; 1]>>> {
    Series::new(topics, "actuator_armed", ARMED, Some)
}
