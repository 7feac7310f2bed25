//! Reads PX4's ULog.
//!
//! The frames form a regular grid whose step is the usual interval of the faster of `vehicle_attitude`
//! and `vehicle_angular_velocity`, between the first and the last time at which position, attitude and angular velocity are
//! known. Between samples
//!
//! | signal | from | how |
//! |---|---|---|
//! | `pose.position.*` | `vehicle_local_position` | cubic through positions and velocities |
//! | `pose.quaternion.*` | `vehicle_attitude` | slerp |
//! | `twist.linear.*` | velocity of `vehicle_local_position`, turned into the body frame | linear |
//! | `twist.angular.*` | `vehicle_angular_velocity` | linear |
//! | motors | `actuator_motors`, else `actuator_outputs` | linear |
//! | `setpoint.*` | logged setpoints, else the smoothed flown path | linear, slerp; local cubics |
//! | `battery.*`, `vehicle.armed` | `battery_status`, `actuator_armed` | held |
//!
//! There is no interpolation across a jump of the estimator or a gap; a group without data at a tick is not valid
//! there. The time of a sample is its `timestamp_sample`, if the topic has it. Time counts from
//! the first frame.

mod formats;
mod motors;
mod records;
mod resampled;
mod series;
mod setpoints;
mod smooth;
mod topics;

use std::path::Path;

use fly_hal::{Description, ReferenceSource};
use fly_mavlink::frames;

pub use motors::{MotorGeometry, Motors};
pub(super) use records::MAGIC;

use super::source::Source;
use super::stream::{Span, Stream};
use super::{Kind, Options, Recording};
use crate::error::LogError;
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

/// Most frames, 5 hours at 500 Hz: more come from corrupt time stamps.
const MAX_FRAMES: i64 = 10_000_000;
/// Memory that reading takes for each byte of the samples: they are converted while they are there.
const COPIES: u64 = 4;

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
    groups
        .expect("the groups are canonical")
        .with_reference(ReferenceSource::Recorded)
}

/// Opens a ULog file: reads the topics, and resamples them when their frames are asked for.
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
    let most = options.memory / COPIES;
    let topics = Topics::read(source, most).map_err(|source| LogError::Open {
        path: path.into(),
        source,
    })?;
    if topics.memory > most {
        return Err(LogError::Memory {
            path: path.into(),
            most: options.memory,
            what: format!(
                "its samples alone are {} bytes, of which {COPIES} copies are made",
                topics.memory
            ),
        });
    }
    let missing: Vec<_> = REQUIRED
        .iter()
        .chain(&OPTIONAL)
        .copied()
        .filter(|name| topics.table(name).is_none())
        .collect();
    let unusable = |reason: String| LogError::Unusable {
        path: path.into(),
        reason,
    };
    let sources = Sources::new(&topics).ok_or_else(|| {
        unusable(format!(
            "it needs {} with samples; of these and the optional topics, it lacks {}",
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
    let flagged = sources.flagged;
    let (motors, outputs) = motors::read(&topics).unzip();
    let resampled = Resampled::new(sources, grid, &topics, outputs);
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
        skipped: skipped(&topics),
        notes: notes(
            &topics,
            grid.step,
            flagged,
            &resampled,
            motors.as_ref(),
            &missing,
        ),
        motors,
        frames: Stream::new(Box::new(resampled), span, &description),
        description,
    })
}

/// The regular times of the frames in the autopilot's clock.
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
    /// Share of the position samples that the estimator marks as invalid.
    flagged: f64,
}

impl Sources {
    fn new(topics: &Topics) -> Option<Self> {
        let finite = |v: &[f64]| v.iter().all(|c| c.is_finite());
        let table = topics.table(REQUIRED[0])?;
        let rows = table.rows(["x", "y", "z", "vx", "vy", "vz"])?;
        // Old logs have no counters of resets and no flags.
        let resets = table
            .rows(["xy_reset_counter", "z_reset_counter"])
            .unwrap_or_else(|| vec![[0.0; 2]; rows.len()]);
        let rows: Vec<_> = rows.into_iter().zip(resets).collect();
        let motion = Series::new(&table.times, &rows, |(row, resets): ([f64; 6], _)| {
            let [x, y, z, vx, vy, vz] = row;
            finite(&row).then(|| Motion {
                position: frames::nwu_from_ned([x, y, z]),
                velocity: frames::nwu_from_ned([vx, vy, vz]),
                resets,
            })
        })?;
        let flags = table.rows(["xy_valid", "z_valid"]).unwrap_or_default();
        let flagged = flags.iter().filter(|flags| flags.contains(&0.0)).count();
        let table = topics.table(REQUIRED[1])?;
        let rows = table.rows(["q[0]", "q[1]", "q[2]", "q[3]"])?;
        let resets = table
            .rows(["quat_reset_counter"])
            .unwrap_or_else(|| vec![[0.0]; rows.len()]);
        let rows: Vec<_> = rows.into_iter().zip(resets).collect();
        let attitude = Series::new(
            &table.times,
            &rows,
            |(q, [resets]): ([f64; 4], [f64; 1])| {
                Some(Attitude {
                    rotation: rotation(q)?,
                    resets,
                })
            },
        )?;
        let table = topics.table(REQUIRED[2])?;
        let rows = table.rows(["xyz[0]", "xyz[1]", "xyz[2]"])?;
        let rates = Series::new(&table.times, &rows, |row| {
            finite(&row).then(|| frames::flu_from_frd(row))
        })?;
        let flagged = if flags.is_empty() {
            0.0
        } else {
            flagged as f64 / flags.len() as f64
        };
        Some(Self {
            motion,
            attitude,
            rates,
            flagged,
        })
    }

    /// Times of the frames.
    fn grid(&self) -> Grid {
        let spans = [self.motion.span(), self.attitude.span(), self.rates.span()];
        let start = spans.iter().map(|span| span.0).max().unwrap_or_default();
        let end = spans.iter().map(|span| span.1).min().unwrap_or_default();
        // No autopilot logs faster than 10 kHz; a smaller interval is a corrupt one.
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
    motors: Option<&Motors>,
    missing: &[&str],
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
    note("setpoints", setpoint_words(resampled.logged_setpoints()));
    note(
        "motors",
        motors.map_or_else(|| "not in the log".into(), |motors| motors.source.clone()),
    );
    notes
}

/// The source of the setpoints, in words: in how many of how many frames position and attitude are logged.
fn setpoint_words(logged: Option<([usize; 2], usize)>) -> String {
    let Some(([position, attitude], count)) = logged else {
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
    format!(
        "position: {}; attitude: {}",
        share(position),
        share(attitude)
    )
}

/// What could not be read, in words.
fn skipped(topics: &Topics) -> Vec<String> {
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
    skipped
}

fn battery(topics: &Topics) -> Option<Series<[f64; 2]>> {
    let table = topics.table("battery_status")?;
    Series::new(&table.times, &table.rows(["voltage_v", "remaining"])?, Some)
}

fn armed(topics: &Topics) -> Option<Series<[f64; 1]>> {
    let table = topics.table("actuator_armed")?;
    Series::new(&table.times, &table.rows(["armed"])?, Some)
}
