//! The frames of a ULog, a block at a time.
//!
//! A setpoint that was not logged is smoothed from the path to both sides of it, and what is unknown is held, so a block needs its
//! surroundings: it is computed with a margin on both sides.

use std::io;
use std::ops::Range;

use fly_hal::GroupStatus;
use fly_lie::UnitQuaternion;

use super::motors::{MAX_MOTORS, Outputs};
use super::series::{Motion, Series};
use super::setpoints::{Flown, Setpoint, Setpoints};
use super::topics::Topics;
use super::{GROUPS, Grid, Sources, armed, battery};
use crate::Status;
use crate::recording::frames::Frame;
use crate::recording::stream::Ticks;

/// Frames of a block.
const BLOCK: usize = 512;

/// Makes the frames in order.
#[derive(Debug)]
pub struct Resampled {
    sources: Sources,
    grid: Grid,
    battery: Option<Series<[f64; 2]>>,
    armed: Option<Series<[f64; 1]>>,
    outputs: Option<Outputs>,
    /// `None` if there are too few frames.
    setpoints: Option<Setpoints>,
    /// First frame of every stretch without a jump of the estimator.
    stretches: Vec<usize>,
    /// What is known first of all.
    first: Known,
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

/// Frames, with what was flown around them.
#[derive(Debug, Default)]
struct Block {
    frames: Range<usize>,
    /// Frames of the arrays.
    around: Range<usize>,
    times: Vec<i64>,
    positions: Vec<[f64; 3]>,
    velocities: Vec<[f64; 3]>,
    attitudes: Vec<UnitQuaternion<f64>>,
    setpoints: Vec<Setpoint>,
}

impl Resampled {
    /// Of these measured quantities on the grid, which has at least two frames.
    pub fn new(sources: Sources, grid: Grid, topics: &Topics, outputs: Option<Outputs>) -> Self {
        let times = || (0..grid.len()).map(|k| grid.time(k));
        let motion = times().find_map(|time| sources.motion.motion(time));
        let attitude = times().find_map(|time| sources.attitude.attitude(time));
        let first = Known {
            motion: motion.unwrap_or_else(|| sources.motion.nearest(grid.start)),
            attitude: attitude.unwrap_or_else(|| sources.attitude.nearest(grid.start).rotation),
        };
        let resets = |time: i64| {
            let (motion, attitude) = (sources.motion.nearest(time), sources.attitude.nearest(time));
            (motion.resets, attitude.resets)
        };
        let mut last = None;
        let stretches = (0..grid.len())
            .filter(|&k| {
                let now = Some(resets(grid.time(k)));
                std::mem::replace(&mut last, now) != now
            })
            .collect();
        Self {
            setpoints: Setpoints::new(topics, grid),
            battery: battery(topics),
            armed: armed(topics),
            outputs,
            stretches,
            first,
            block: Block::default(),
            next: 0,
            values: Vec::new(),
            groups: Vec::new(),
            motors: [f64::NAN; MAX_MOTORS],
            sources,
            grid,
        }
    }

    /// In how many frames position and attitude are logged setpoints, and the number of all; `None` if there are no setpoints.
    pub fn logged_setpoints(&self) -> Option<([usize; 2], usize)> {
        let setpoints = self.setpoints.as_ref()?;
        let mut logged = [0; 2];
        for k in 0..self.grid.len() {
            let of_frame = setpoints.logged(self.grid.time(k));
            logged = [0, 1].map(|i| logged[i] + usize::from(of_frame[i]));
        }
        Some((logged, self.grid.len()))
    }

    /// Computes the block that begins with the next frame.
    fn compute(&mut self) {
        let count = self.grid.len();
        let frames = self.next..(self.next + BLOCK).min(count);
        let margin = self.setpoints.as_ref().map_or(0, Setpoints::margin);
        let around = frames.start.saturating_sub(margin)..(frames.end + margin).min(count);
        let block = &mut self.block;
        // What is held when the surroundings begin is known from the block before.
        let mut held = match around.start.checked_sub(block.around.start + 1) {
            Some(last) if last < block.attitudes.len() => Known {
                motion: Motion {
                    position: block.positions[last],
                    velocity: block.velocities[last],
                    ..self.first.motion
                },
                attitude: block.attitudes[last],
            },
            _ => self.first,
        };
        block.times.clear();
        block.positions.clear();
        block.velocities.clear();
        block.attitudes.clear();
        for k in around.clone() {
            let time = self.grid.time(k);
            held.motion = self.sources.motion.motion(time).unwrap_or(held.motion);
            held.attitude = self
                .sources
                .attitude
                .attitude(time)
                .unwrap_or(held.attitude);
            block.times.push(time);
            block.positions.push(held.motion.position);
            block.velocities.push(held.motion.velocity);
            block.attitudes.push(held.attitude);
        }
        (block.frames, block.around) = (frames, around);
        block.setpoints.clear();
        if let Some(setpoints) = &self.setpoints {
            let flown = Flown {
                first: block.around.start,
                count,
                times: &block.times,
                positions: &block.positions,
                velocities: &block.velocities,
                attitudes: &block.attitudes,
                stretches: &self.stretches,
            };
            setpoints.of(&flown, block.frames.clone(), &mut block.setpoints);
        }
    }
}

impl Ticks for Resampled {
    fn next(&mut self) -> io::Result<Option<Frame<'_>>> {
        if self.next >= self.grid.len() {
            return Ok(None);
        }
        if !self.block.frames.contains(&self.next) {
            self.compute();
        }
        let (k, time) = (self.next, self.grid.time(self.next));
        self.next += 1;
        let stamp = time - self.grid.start;
        let Self { values, groups, .. } = self;
        values.clear();
        groups.clear();
        let mut put = |data: Option<&[f64]>, width: usize| {
            values.extend_from_slice(data.unwrap_or(&[f64::NAN; 4][..width]));
            groups.push(GroupStatus {
                stamp,
                valid: data.is_some(),
            });
        };
        let motion = self.sources.motion.motion(time);
        let attitude = self.sources.attitude.attitude(time);
        let velocity = motion
            .zip(attitude)
            .map(|(m, q)| q.inverse().act(&m.velocity.into()));
        put(motion.as_ref().map(|m| &m.position[..]), 3);
        let wxyz = |q: UnitQuaternion<f64>| <[f64; 4]>::from(q.wxyz());
        put(attitude.map(wxyz).as_ref().map(|q| &q[..]), 4);
        put(velocity.as_ref().map(nalgebra::Matrix::as_slice), 3);
        let rates = self.sources.rates.linear(time);
        put(rates.as_ref().map(|w| &w[..]), 3);
        let battery = self.battery.as_ref().and_then(|series| series.held(time));
        put(battery.as_ref().map(|b| &b[..]), 2);
        let armed = self.armed.as_ref().and_then(|series| series.held(time));
        put(armed.as_ref().map(|a| &a[..]), 1);
        let setpoint = self.block.setpoints.get(k - self.block.frames.start);
        put(setpoint.map(|s| &s.position[..]), 3);
        put(setpoint.map(|s| &s.velocity[..]), 3);
        put(setpoint.map(|s| &s.acceleration[..]), 3);
        put(
            setpoint.map(|s| wxyz(s.rotation)).as_ref().map(|q| &q[..]),
            4,
        );
        put(setpoint.map(|s| &s.angular_velocity[..]), 3);
        let source = setpoint.map(|s| {
            let all_logged = s.position_logged && s.attitude_logged;
            [f64::from(u8::from(!all_logged))]
        });
        put(source.as_ref().map(|s| &s[..]), 1);
        debug_assert_eq!(groups.len(), GROUPS.len());
        let mut count = 0;
        if let Some(outputs) = &self.outputs {
            (self.motors, count) = (outputs.at(time), outputs.count);
        }
        Ok(Some(Frame {
            time: stamp,
            status: Status::Fresh,
            values: &self.values,
            groups: &self.groups,
            motors: &self.motors[..count],
        }))
    }
}
