//! The frames of a ULog, computed block by block.
//!
//! A setpoint that was not logged is smoothed from the path on both sides of it, and unknown values hold the last known
//! one. A block therefore needs its surroundings and is computed with a margin on both sides.

use std::io;
use std::ops::Range;

use fly_hal::GroupStatus;
use fly_lie::UnitQuaternion;

use super::motors::{MAX_MOTORS, Outputs};
use super::series::{Motion, Series};
use super::setpoints::{Flown, Setpoint, Setpoints};
use super::topics::{Topics, too_much};
use super::{GROUPS, Grid, Sources, armed, battery, finite};
use crate::Status;
use crate::recording::frames::Frame;
use crate::recording::stream::Ticks;

/// Frames of a block.
const BLOCK: usize = 512;

/// Computes the frames in order. Those in gaps of the log hold nothing.
#[derive(Debug)]
pub struct Resampled {
    sources: Sources,
    grid: Grid,
    battery: Option<Series<[f64; 2]>>,
    armed: Option<Series<[f64; 1]>>,
    outputs: Option<Outputs>,
    /// `None` if there are too few frames.
    setpoints: Option<Setpoints>,
    /// First frame of every section without an estimator reset and without a gap.
    stretches: Vec<usize>,
    /// Number of frames in which position and attitude are logged setpoints.
    logged: [usize; 2],
    /// The last known values: at the end of the block, or the first ones.
    known: Known,
    block: Block,
    next: usize,
    values: Vec<f64>,
    groups: Vec<GroupStatus>,
    motors: [f64; MAX_MOTORS],
}

/// Position, velocity and attitude.
#[derive(Clone, Copy, Debug)]
struct Known {
    motion: Motion,
    attitude: UnitQuaternion<f64>,
}

/// Frames, with the flown path around them.
#[derive(Debug, Default)]
struct Block {
    frames: Range<usize>,
    /// Frames covered by the arrays.
    around: Range<usize>,
    times: Vec<i64>,
    measured: Vec<(Option<Motion>, Option<UnitQuaternion<f64>>)>,
    positions: Vec<[f64; 3]>,
    velocities: Vec<[f64; 3]>,
    attitudes: Vec<UnitQuaternion<f64>>,
    /// Attitude setpoints, and whether they are logged.
    wanted: Vec<UnitQuaternion<f64>>,
    is_logged: Vec<bool>,
    setpoints: Vec<Setpoint>,
}

impl Block {
    /// Drops this many frames at the start of the arrays.
    fn pass(&mut self, count: usize) {
        self.around.start += count;
        self.times.drain(..count);
        self.measured.drain(..count);
        self.positions.drain(..count);
        self.velocities.drain(..count);
        self.attitudes.drain(..count);
        self.wanted.drain(..count);
        self.is_logged.drain(..count);
    }
}

impl Resampled {
    /// Resamples these quantities on the grid, which has at least two frames.
    ///
    /// # Errors
    /// The file cannot be read, or [`io::ErrorKind::OutOfMemory`].
    pub fn new(
        mut sources: Sources,
        grid: Grid,
        topics: &Topics,
        outputs: Option<Outputs>,
    ) -> io::Result<Self> {
        let mut setpoints = Setpoints::new(topics, grid)?;
        let (mut first_motion, mut first_attitude) = (None, None);
        let (mut stretches, mut logged) = (Vec::new(), [0; 2]);
        let mut last = None;
        for k in 0..grid.len() {
            let time = grid.time(k);
            let motion = sources.motion.motion(time)?;
            let attitude = sources.attitude.attitude(time)?;
            first_motion = first_motion.or(motion);
            first_attitude = first_attitude.or(attitude);
            let now = Some((
                [motion.is_some(), attitude.is_some()],
                sources.motion.nearest(time)?.resets,
                sources.attitude.nearest(time)?.resets,
            ));
            if std::mem::replace(&mut last, now) != now {
                let jumps = stretches.len();
                if (jumps * size_of::<usize>()) as u64 > topics.memory / 4 {
                    return Err(too_much(format!(
                        "its estimator jumps, or its data begin anew, {jumps} times"
                    )));
                }
                stretches.push(k);
            }
            if let Some(setpoints) = &mut setpoints {
                let of_frame = setpoints.logged(time)?;
                logged = [0, 1].map(|i| logged[i] + usize::from(of_frame[i]));
            }
        }
        let known = Known {
            motion: first_motion.map_or_else(|| sources.motion.nearest(grid.start), Ok)?,
            attitude: match first_attitude {
                Some(attitude) => attitude,
                None => sources.attitude.nearest(grid.start)?.rotation,
            },
        };
        Ok(Self {
            setpoints,
            battery: battery(topics)?,
            armed: armed(topics)?,
            outputs,
            stretches,
            logged,
            known,
            block: Block::default(),
            next: 0,
            values: Vec::new(),
            groups: Vec::new(),
            motors: [f64::NAN; MAX_MOTORS],
            sources,
            grid,
        })
    }

    /// Numbers of frames in which position and attitude are logged setpoints, and the number of all frames; `None`
    /// without setpoints.
    pub fn logged_setpoints(&self) -> Option<([usize; 2], usize)> {
        (self.setpoints.as_ref()).map(|_| (self.logged, self.grid.len()))
    }

    /// Where the logged positions are from, if not from `trajectory_setpoint`.
    pub fn path_words(&self) -> Option<&'static str> {
        (self.setpoints.as_ref()).and_then(Setpoints::path_words)
    }

    /// Computes the block that begins with the next frame. Every time is evaluated once, in order.
    fn compute(&mut self) -> io::Result<()> {
        let count = self.grid.len();
        let frames = self.next..(self.next + BLOCK).min(count);
        let margin = self.setpoints.as_ref().map_or(0, Setpoints::margin);
        let around = frames.start.saturating_sub(margin)..(frames.end + margin).min(count);
        let Self { block, known, .. } = self;
        block.pass(around.start - block.around.start);
        for k in block.around.end..around.end {
            let time = self.grid.time(k);
            let motion = self.sources.motion.motion(time)?;
            let attitude = self.sources.attitude.attitude(time)?;
            known.motion = motion.unwrap_or(known.motion);
            known.attitude = attitude.unwrap_or(known.attitude);
            let logged = match &mut self.setpoints {
                Some(setpoints) => setpoints.attitude(time)?,
                None => None,
            };
            block.times.push(time);
            block.measured.push((motion, attitude));
            block.positions.push(known.motion.position);
            block.velocities.push(known.motion.velocity);
            block.attitudes.push(known.attitude);
            // Gaps in the logged attitude hold the flown one.
            block.wanted.push(logged.unwrap_or(known.attitude));
            block.is_logged.push(logged.is_some());
        }
        (block.frames, block.around) = (frames, around);
        block.setpoints.clear();
        if let Some(setpoints) = &mut self.setpoints {
            let flown = Flown {
                first: block.around.start,
                count,
                times: &block.times,
                positions: &block.positions,
                velocities: &block.velocities,
                attitudes: &block.attitudes,
                wanted: &block.wanted,
                is_logged: &block.is_logged,
                stretches: &self.stretches,
            };
            for tick in block.frames.clone() {
                block.setpoints.push(setpoints.of(&flown, tick)?);
            }
        }
        Ok(())
    }
}

impl Ticks for Resampled {
    fn next(&mut self) -> io::Result<Option<Frame<'_>>> {
        if self.next >= self.grid.len() {
            return Ok(None);
        }
        if !self.block.frames.contains(&self.next) {
            self.compute()?;
        }
        let (k, time) = (self.next, self.grid.time(self.next));
        self.next += 1;
        let start = self.grid.start;
        let stamp = time - start;
        let Self { values, groups, .. } = self;
        values.clear();
        groups.clear();
        let mut put = |stamp: i64, data: Option<&[f64]>, width: usize| {
            values.extend_from_slice(data.unwrap_or(&[f64::NAN; 4][..width]));
            groups.push(GroupStatus {
                stamp,
                valid: data.is_some_and(finite),
            });
        };
        let (motion, attitude) = self.block.measured[k - self.block.around.start];
        let velocity = motion
            .zip(attitude)
            .map(|(m, q)| q.inverse().act(&m.velocity.into()));
        put(stamp, motion.as_ref().map(|m| &m.position[..]), 3);
        let wxyz = |q: UnitQuaternion<f64>| <[f64; 4]>::from(q.wxyz());
        put(stamp, attitude.map(wxyz).as_ref().map(|q| &q[..]), 4);
        put(stamp, velocity.as_ref().map(nalgebra::Matrix::as_slice), 3);
        let rates = self.sources.rates.linear(time)?;
        put(stamp, rates.as_ref().map(|w| &w[..]), 3);
        // What is logged seldom is held, but not where nothing is logged.
        let is_gap = motion.is_none() && attitude.is_none() && rates.is_none();
        let battery = held(self.battery.as_mut(), time)?.filter(|_| !is_gap);
        let armed = held(self.armed.as_mut(), time)?;
        // Commands of the controller, which PX4 does not carry out.
        let is_disarmed = armed.is_some_and(|(_, [armed])| armed == 0.0);
        let armed = armed.filter(|_| !is_gap);
        put(
            battery.map_or(stamp, |(at, _)| at - start),
            battery.as_ref().map(|(_, b)| &b[..]),
            2,
        );
        put(
            armed.map_or(stamp, |(at, _)| at - start),
            armed.as_ref().map(|(_, a)| &a[..]),
            1,
        );
        let setpoint = self.block.setpoints.get(k - self.block.frames.start);
        let path = setpoint.filter(|s| s.position_logged || motion.is_some());
        put(stamp, path.map(|s| &s.position[..]), 3);
        put(stamp, path.map(|s| &s.velocity[..]), 3);
        put(stamp, path.map(|s| &s.acceleration[..]), 3);
        let turn = setpoint.filter(|s| s.attitude_logged || attitude.is_some());
        put(
            stamp,
            turn.map(|s| wxyz(s.rotation)).as_ref().map(|q| &q[..]),
            4,
        );
        put(stamp, turn.map(|s| &s.angular_velocity[..]), 3);
        let source = path.and(turn).map(|s| [s.source()]);
        put(stamp, source.as_ref().map(|s| &s[..]), 1);
        debug_assert_eq!(groups.len(), GROUPS.len());
        let mut count = 0;
        if let Some(outputs) = &mut self.outputs {
            (self.motors, count) = (outputs.at(time)?, outputs.count);
            if is_disarmed {
                self.motors.fill(f64::NAN);
            }
        }
        Ok(Some(Frame {
            time: stamp,
            status: if is_gap { Status::None } else { Status::Fresh },
            values: &self.values,
            groups: &self.groups,
            motors: &self.motors[..count],
        }))
    }
}

/// The last sample at or before a time, with its own.
fn held<T: Copy + 'static>(
    series: Option<&mut Series<T>>,
    time: i64,
) -> io::Result<Option<(i64, T)>> {
    series.map_or(Ok(None), |series| series.held(time))
}
