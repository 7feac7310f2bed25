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

mod motors;
mod records;
mod series;
mod setpoints;
mod smooth;
mod topics;

use std::path::Path;

use fly_hal::{Description, GroupStatus, ReferenceSource};
use fly_mavlink::frames;

pub use motors::{MotorGeometry, Motors};
pub(super) use records::MAGIC;

use super::frames::Frames;
use super::{Kind, Options, Recording};
use crate::Status;
use crate::error::LogError;
use series::{Attitude, Motion, Series, rotation};
use setpoints::{Flown, Setpoint};
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
const MAX_FRAMES: usize = 10_000_000;

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

/// Reads a ULog file.
pub fn read(path: &Path, bytes: &[u8], options: &Options) -> Result<Recording, LogError> {
    if bytes.len() < records::HEADER {
        let expected = format!("the {} bytes that start a ULog", records::HEADER);
        return Err(LogError::Truncated {
            path: path.into(),
            offset: bytes.len() as u64,
            expected,
            frames: 0,
        });
    }
    let topics = Topics::read(bytes);
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
    if grid.len() > MAX_FRAMES {
        let reason = format!(
            "its time stamps would make {} frames, more than {MAX_FRAMES}",
            grid.len()
        );
        return Err(unusable(reason));
    }
    if let Some(offset) = topics.damage.cut_at
        && !options.allow_truncated
    {
        let (offset, expected) = (offset as u64, "a whole record".to_owned());
        return Err(LogError::Truncated {
            path: path.into(),
            offset,
            expected,
            frames: grid.len(),
        });
    }
    Ok(sources.recording(path, &topics, &grid, &missing))
}

/// The measured quantities.
struct Sources {
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

    /// Times of the frames in the autopilot's clock, ns.
    fn grid(&self) -> Vec<i64> {
        let spans = [self.motion.span(), self.attitude.span(), self.rates.span()];
        let start = spans.iter().map(|span| span.0).max().unwrap_or_default();
        let end = spans.iter().map(|span| span.1).min().unwrap_or_default();
        // No autopilot logs faster than 10 kHz; a smaller interval is a corrupt one.
        let step = [self.attitude.period(), self.rates.period()]
            .into_iter()
            .filter(|&p| p >= 100_000)
            .min();
        let count = step.map_or(0, |step| (end - start).max(-1) / step + 1);
        (0..count)
            .map(|k| start + k * step.unwrap_or_default())
            .collect()
    }

    fn recording(&self, path: &Path, topics: &Topics, grid: &[i64], missing: &[&str]) -> Recording {
        let start = grid[0];
        let step = (grid[1] - grid[0]) as f64 * 1e-9;
        let motions: Vec<_> = held(grid.iter().map(|&t| self.motion.motion(t)));
        let positions: Vec<_> = motions.iter().map(|m| m.position).collect();
        let velocities: Vec<_> = motions.iter().map(|m| m.velocity).collect();
        let attitudes: Vec<_> = held(grid.iter().map(|&t| self.attitude.attitude(t)));
        let stretches = self.stretches(grid);
        let flown = Flown {
            times: grid,
            step,
            positions: &positions,
            velocities: &velocities,
            attitudes: &attitudes,
            stretches: &stretches,
        };
        let setpoints = setpoints::setpoints(topics, &flown);
        let (battery, armed) = (battery(topics), armed(topics));

        let description = description();
        let mut frames = Frames::new(description.signals.len(), description.groups.len());
        let (mut values, mut groups) = (Vec::new(), Vec::new());
        for (k, &time) in grid.iter().enumerate() {
            values.clear();
            groups.clear();
            let mut put = |data: Option<&[f64]>, width: usize| {
                values.extend_from_slice(data.unwrap_or(&[f64::NAN; 4][..width]));
                groups.push(GroupStatus {
                    stamp: time - start,
                    valid: data.is_some(),
                });
            };
            let motion = self.motion.motion(time);
            let attitude = self.attitude.attitude(time);
            let velocity = motion
                .zip(attitude)
                .map(|(m, q)| q.inverse().act(&m.velocity.into()));
            put(motion.as_ref().map(|m| &m.position[..]), 3);
            put(
                attitude
                    .map(|q| q.wxyz())
                    .as_ref()
                    .map(nalgebra::Matrix::as_slice),
                4,
            );
            put(velocity.as_ref().map(nalgebra::Matrix::as_slice), 3);
            put(self.rates.linear(time).as_ref().map(|w| &w[..]), 3);
            put(
                battery
                    .as_ref()
                    .and_then(|series| series.held(time))
                    .as_ref()
                    .map(|b| &b[..]),
                2,
            );
            put(
                armed
                    .as_ref()
                    .and_then(|series| series.held(time))
                    .as_ref()
                    .map(|a| &a[..]),
                1,
            );
            let setpoint = setpoints.as_ref().map(|setpoints| &setpoints[k]);
            put(setpoint.map(|s| &s.position[..]), 3);
            put(setpoint.map(|s| &s.velocity[..]), 3);
            put(setpoint.map(|s| &s.acceleration[..]), 3);
            put(
                setpoint
                    .map(|s| s.rotation.wxyz())
                    .as_ref()
                    .map(nalgebra::Matrix::as_slice),
                4,
            );
            put(setpoint.map(|s| &s.angular_velocity[..]), 3);
            let source = setpoint.map(|s| {
                [f64::from(u8::from(
                    !(s.position_logged && s.attitude_logged),
                ))]
            });
            put(source.as_ref().map(|s| &s[..]), 1);
            frames.push(time - start, Status::Fresh, &values, &groups);
        }
        let motors = motors::read(topics, grid);
        Recording {
            path: path.into(),
            kind: Kind::Ulog,
            description,
            frames,
            header: None,
            run: None,
            skipped: skipped(topics),
            notes: self.notes(topics, step, setpoints.as_deref(), motors.as_ref(), missing),
            motors,
        }
    }

    /// Times at which the estimate starts: the first one, and those after a reset.
    fn stretches(&self, grid: &[i64]) -> Vec<usize> {
        let resets = |k: usize| {
            let (motion, attitude) = (self.motion.nearest(grid[k]), self.attitude.nearest(grid[k]));
            (motion.resets, attitude.resets)
        };
        (0..grid.len())
            .filter(|&k| k == 0 || resets(k) != resets(k - 1))
            .collect()
    }

    fn notes(
        &self,
        topics: &Topics,
        step: f64,
        setpoints: Option<&[Setpoint]>,
        motors: Option<&Motors>,
        missing: &[&str],
    ) -> Vec<(String, String)> {
        let mut notes = Vec::new();
        let mut note = |name: &str, text: String| notes.push((name.to_owned(), text));
        note(
            "frames",
            format!("a grid of {:.1} Hz, interpolated", 1.0 / step),
        );
        if self.flagged > 0.0 {
            let share = 100.0 * self.flagged;
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
        note("setpoints", setpoint_words(setpoints));
        note(
            "motors",
            motors.map_or_else(|| "not in the log".into(), |motors| motors.source.clone()),
        );
        notes
    }
}

/// The source of the setpoints, in words.
fn setpoint_words(setpoints: Option<&[Setpoint]>) -> String {
    let Some(setpoints) = setpoints else {
        return "none: too few frames".into();
    };
    let share = |logged: usize| match logged {
        0 => "smoothed flown path".to_owned(),
        all if all == setpoints.len() => "logged".to_owned(),
        some => format!(
            "logged in {:.0} % of the frames, else smoothed flown path",
            100.0 * some as f64 / setpoints.len() as f64
        ),
    };
    let position = share(setpoints.iter().filter(|s| s.position_logged).count());
    let attitude = share(setpoints.iter().filter(|s| s.attitude_logged).count());
    format!("position: {position}; attitude: {attitude}")
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

/// Values with the gaps filled by the last one, and the first gap by the first.
fn held<T: Copy>(values: impl Iterator<Item = Option<T>>) -> Vec<T> {
    let values: Vec<_> = values.collect();
    let Some(mut last) = values.iter().find_map(|value| *value) else {
        return Vec::new();
    };
    values
        .into_iter()
        .map(|value| {
            last = value.unwrap_or(last);
            last
        })
        .collect()
}
