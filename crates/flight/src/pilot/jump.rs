//! Jumps of the measured position: an estimate that was reset or misled, a frame of reference that moved.

use nalgebra::Vector3;

use super::Pilot;
use super::touchdown::motion;
use crate::envelope::{Envelope, Exceeded, Ground};
use crate::supervisor::Mode;
use crate::time::seconds;

/// A step that this acceleration, m/s^2, explains is no jump.
const ACCELERATION: f64 = 20.0;
/// A position that has jumped further than this, m, is rejected: no reference follows it.
const LOST: f64 = 1e3;

/// The jumps of the measured position in flight.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Jumps {
    /// How many there were.
    pub count: usize,
    /// The largest, m.
    pub largest: f64,
    /// How far they have moved the reference, m, world frame.
    pub moved: Vector3<f64>,
}

impl Jumps {
    /// A line of the summary; `None` if there were none.
    pub fn note(&self) -> Option<String> {
        let Self { count, largest, .. } = self;
        let moved = self.moved.norm();
        let along = if moved > 0.0 {
            format!("; the reference moved along, by {moved:.2} m in the end")
        } else {
            String::new()
        };
        (*count > 0).then(|| {
            format!("the measured position jumped against its velocity ({count}), by up to {largest:.2} m{along}")
        })
    }
}

/// Compares each measured position with the last one and the velocities integrated since.
#[derive(Debug, Clone, Default)]
pub(super) struct JumpDetector {
    /// Time (ns) and velocity (m/s) of the last tick, world frame.
    tick: Option<(i64, Vector3<f64>)>,
    sample: Option<Sample>,
    /// The velocities integrated since its position was new, m.
    displacement: Vector3<f64>,
    /// Mean square of the steps that were no jumps, m^2, and the number of samples.
    noise: f64,
    count: u32,
    /// Whether a jump was reported.
    is_told: bool,
}

/// A measured position.
#[derive(Debug, Clone, Copy)]
struct Sample {
    stamp: i64,
    /// When it came, ns.
    time: i64,
    position: Vector3<f64>,
}

/// A step of at most this many times the usual one is noise.
const NOISE: f64 = 5.0;
/// Number of samples over which the usual step is averaged, and after which it is known.
const USUAL: u32 = 20;

impl JumpDetector {
    /// Takes the velocity (m/s) in the tick at `time` (ns) and, if it is measured, the position (m) with its stamp (ns). Returns the jump by
    /// more than `most` m that it shows, m.
    fn observe(
        &mut self,
        time: i64,
        velocity: Vector3<f64>,
        measured: Option<(i64, Vector3<f64>)>,
        most: f64,
    ) -> Option<Vector3<f64>> {
        let (before, began) = self
            .tick
            .replace((time, velocity))
            .unwrap_or((time, velocity));
        self.displacement += (began + velocity) * (0.5 * seconds(time.saturating_sub(before)));
        let (stamp, position) = measured?;
        let now = Sample {
            stamp,
            time,
            position,
        };
        let last = self.sample.replace(now).unwrap_or(now);
        if stamp == last.stamp {
            self.sample = Some(last);
            return None;
        }
        self.count = self.count.saturating_add(1);
        // A position that hangs goes on from where it was, and catches up without a jump.
        if position == last.position {
            return None;
        }
        let step = position - last.position - std::mem::take(&mut self.displacement);
        let elapsed = seconds(time.saturating_sub(last.time));
        let size = step.norm();
        let has_jumped = size > most + ACCELERATION * elapsed * elapsed
            && size > NOISE * self.noise.sqrt()
            && self.count > USUAL;
        if !has_jumped {
            self.noise += (size.min(most).powi(2) - self.noise) / f64::from(USUAL);
        }
        has_jumped.then_some(step)
    }
}

impl Pilot {
    /// Watches the height, and whether the measured position jumps. In flight the vehicle goes on as if nothing had happened: where it is going
    /// moves along.
    pub(super) fn watch_position(&mut self, time: i64) -> Option<Exceeded> {
        let (position, velocity) = motion(&self.parts).filter(|_| self.measured.known)?;
        let in_failsafe = self.parts.supervisor.mode().is_failsafe();
        self.touchdown.watch(position.z, in_failsafe);
        let stamp = |group: Option<usize>| self.measured.observation.stamp(group?);
        let measured = stamp(self.measured.velocity).and(stamp(self.measured.position));
        // While another group is stale the state may not follow its position.
        let measured = measured
            .filter(|_| self.measured.takes_frame)
            .map(|stamp| (stamp, position));
        let bound = self.parts.jump;
        let found = (self.jump_detector).observe(time, velocity, measured, bound.max);
        let mode = self.parts.supervisor.mode();
        let jump = found.filter(|_| !matches!(mode, Mode::Disarmed | Mode::Arming))?;
        if self.touchdown.jumped(jump.z) {
            let (envelope, ground) = (&mut self.parts.envelope, &mut self.parts.ground);
            envelope.iter_mut().for_each(Envelope::forget_ground);
            ground.iter_mut().for_each(Ground::forget_height);
        }
        let size = jump.norm();
        let jumps = &mut self.jumps;
        jumps.count += 1;
        jumps.largest = jumps.largest.max(size);
        let flies = matches!(mode, Mode::Flying | Mode::Holding);
        let fails_safe = self.failsafe.is_some() && !flies;
        // A reference that has begun at the vehicle waits where that has taken off.
        let waits = self.parts.is_relative && matches!(mode, Mode::TakingOff | Mode::Armed);
        if size < LOST && !self.parts.is_shadow && (flies || fails_safe || waits) {
            let has_moved = (self.parts.guidance).displace(&jump, fails_safe);
            jumps.moved += if has_moved { jump } else { Vector3::zeros() };
        }
        // The first one says it all.
        let is_new = (flies || fails_safe) && !self.jump_detector.is_told;
        self.jump_detector.is_told |= is_new;
        is_new.then_some(Exceeded {
            bound,
            value: size,
            diverged: false,
        })
    }

    /// The jumps of the measured position so far.
    pub fn jumps(&self) -> &Jumps {
        &self.jumps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    /// The jumps of a vehicle that climbs at 5 m/s, with positions as given by the time (s) and the true ones (m), at 50 Hz with a tick every
    /// 4 ms.
    fn jumps(shown: impl Fn(f64, f64) -> Option<f64>) -> Vec<f64> {
        let mut detector = JumpDetector::default();
        let mut found = Vec::new();
        for tick in 0..1000_i32 {
            let time = i64::from(tick) * SECOND / 250;
            let t = 0.004 * f64::from(tick / 5 * 5);
            let measured = shown(t, 5.0 * t);
            let measured = measured.map(|z| (i64::from(tick / 5), Vector3::z() * z));
            found.extend(detector.observe(time, Vector3::z() * 5.0, measured, 1.0));
        }
        found.iter().map(|jump: &Vector3<f64>| jump.z).collect()
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
        let is_near = found.len() == expected.len() && apart.fold(0.0, f64::max) < 1e-9;
        assert!(is_near, "{found:?}, not {expected:?}");
    }

    #[test]
    fn a_position_that_moves_without_a_velocity_has_jumped() {
        assert_near(&jumps(|_, z| Some(z)), &[]);
        let after = |t: f64, z: f64, at: f64, by: f64| z + if t >= at { by } else { 0.0 };
        assert_near(&jumps(|t, z| Some(after(t, z, 2.0, -3.0))), &[-3.0]);
        assert_near(&jumps(|t, z| Some(after(t, z, 2.0, 0.9))), &[]);
        let back = |t, z| Some(after(t, after(t, z, 2.0, -3.0), 2.02, 3.0));
        assert_near(&jumps(back), &[-3.0, 3.0]);
    }

    /// The vehicle is where it is thought to be.
    #[test]
    fn a_position_that_catches_up_has_gone_nowhere() {
        let hangs = |t: f64, z: f64| if (2.0..2.4).contains(&t) { 10.0 } else { z };
        assert_near(&jumps(|t, z| Some(hangs(t, z))), &[]);
        // Something else, soon afterwards.
        let reset = |t: f64, z: f64| Some(hangs(t, z) + if t >= 3.3 { 3.0 } else { 0.0 });
        assert_near(&jumps(reset), &[3.0]);
        // Four times a second, with stamps that go on.
        assert_near(&jumps(|t, _| Some(5.0 * 0.24 * (t / 0.24).floor())), &[]);
    }

    #[test]
    fn what_a_gap_or_noise_explains_is_no_jump() {
        // 0.6 s without a position; then it is 6 m away, and jumps a second later.
        let gap = |t: f64, z: f64| {
            (!(2.0..2.6).contains(&t)).then_some(z + if t >= 2.6 { 6.0 } else { 0.0 })
        };
        assert_near(&jumps(gap), &[]);
        let jumped = |t: f64, z: f64| gap(t, z).map(|z| z + if t >= 3.2 { 1.5 } else { 0.0 });
        assert_near(&jumps(jumped), &[1.5]);
        // Steps of up to 1.4 m, at random.
        let noise = |t: f64| 0.7 * (t * 1e5).sin();
        assert_near(&jumps(|t, z| Some(z + noise(t))), &[]);
        let found = jumps(|t, z| Some(z + noise(t) + if t >= 3.0 { 8.0 } else { 0.0 }));
        assert!(
            found.len() == 1 && (found[0] - 8.0).abs() < 1.5,
            "{found:?}"
        );
    }
}
