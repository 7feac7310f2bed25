//! Jumps of the measured position: an estimate that was reset or misled, a frame of reference that moved.

use nalgebra::Vector3;

use super::touchdown::motion;
use super::{Pilot, Reading, seconds};
use crate::envelope::Exceeded;
use crate::supervisor::Mode;

/// What this acceleration, m/s^2, explains is no jump.
const ACCELERATION: f64 = 20.0;
/// A position that has jumped further than this, m, is none: no reference follows it.
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

/// Compares each measured position with the last one and the velocities of both.
#[derive(Debug, Clone, Default)]
pub(super) struct JumpDetector {
    /// Time (ns), position (m) and velocity (m/s), world frame.
    last: Option<(i64, Vector3<f64>, Vector3<f64>)>,
    /// How far the position has gone beyond where the velocities led, without the jumps, m.
    beyond: Vector3<f64>,
    /// That at the last times, a tenth of [`MEMORY`] apart (ns), the oldest first.
    before: [(i64, Vector3<f64>); 10],
}

/// What a position goes back to within this time, ns, was no place of its own: one that hung catches up by a jump.
const MEMORY: i64 = 1_000_000_000;

/// A jump of the position.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Jump {
    /// From where the last position and the velocities led, m.
    size: f64,
    /// From where the last second led, m, world frame.
    by: Vector3<f64>,
}

impl JumpDetector {
    /// Takes the motion measured at `time` (ns). Returns the jump by more than `most` m that it shows.
    fn observe(
        &mut self,
        time: i64,
        position: Vector3<f64>,
        velocity: Vector3<f64>,
        most: f64,
    ) -> Option<Jump> {
        let Some((before, from, began)) = self.last.replace((time, position, velocity)) else {
            self.before = [(time, Vector3::zeros()); 10];
            return None;
        };
        let elapsed = seconds(time.saturating_sub(before));
        let step = position - from - (began + velocity) * (0.5 * elapsed);
        self.beyond += step;
        let size = step.norm();
        let jump = (size > most + ACCELERATION * elapsed * elapsed).then(|| Jump {
            size,
            by: self.beyond - self.before[0].1,
        });
        if let Some(Jump { by, .. }) = jump {
            self.beyond -= by;
        }
        if time.saturating_sub(self.before[9].0) >= MEMORY / 10 {
            self.before.rotate_left(1);
            self.before[9] = (time, self.beyond);
        }
        jump
    }
}

impl Pilot {
    /// Watches the height, and whether the measured position jumps. In flight the vehicle goes on as if nothing had happened: where it is going
    /// moves along.
    pub(super) fn watch_position(&mut self, time: i64, reading: Reading) -> Option<Exceeded> {
        let (position, velocity) = motion(&self.parts).filter(|_| self.known)?;
        self.touchdown.watch(position.z);
        let is_measured =
            !matches!(reading, Reading::None(_)) && self.observation.verdict().is_ok();
        if !is_measured {
            return None;
        }
        let bound = self.parts.jump;
        let found = (self.jump_detector).observe(time, position, velocity, bound.max);
        let mode = self.parts.supervisor.mode();
        let jump = found.filter(|_| !matches!(mode, Mode::Disarmed | Mode::Arming))?;
        self.touchdown.jumped(jump.by.z);
        let Jump { size, by } = jump;
        let jumps = &mut self.jumps;
        jumps.count += 1;
        jumps.largest = jumps.largest.max(size);
        let flies = matches!(mode, Mode::Flying | Mode::Holding);
        if size < LOST && !self.parts.is_shadow && (flies || self.failsafe.is_some()) {
            let has_moved = (self.parts.guidance).displace(&by, !flies);
            jumps.moved += if has_moved { by } else { Vector3::zeros() };
        }
        // The first one says it all.
        (flies && jumps.count == 1).then_some(Exceeded {
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

    fn up(z: f64) -> Vector3<f64> {
        Vector3::z() * z
    }

    #[test]
    fn what_the_velocity_explains_is_no_jump() {
        let mut detector = JumpDetector::default();
        // A fall, at 50 Hz, and a gap of half a second in it.
        for k in (0..100).filter(|k| !(40..65).contains(k)) {
            let t = 0.02 * f64::from(k);
            let (height, velocity) = (up(-0.5 * 9.81 * t * t), up(-9.81 * t));
            let found = detector.observe(i64::from(k) * SECOND / 50, height, velocity, 1.0);
            assert_eq!(found, None);
        }
    }

    #[test]
    fn a_position_that_moves_without_a_velocity_has_jumped() {
        let mut detector = JumpDetector::default();
        let mut at = |k: i64, z: f64| detector.observe(k * SECOND / 50, up(z), up(0.0), 1.0);
        assert_eq!(at(0, 2.0), None);
        assert_eq!(at(1, 2.2), None);
        let jump = at(2, -0.8).expect("3 m");
        assert!((jump.size - 3.0).abs() < 1e-12 && (jump.by - up(-2.8)).norm() < 1e-12);
        assert_eq!(at(3, -0.8), None);
        // And back.
        let back = at(4, 2.2).expect("3 m");
        assert!((back.by - up(3.0)).norm() < 1e-12);
    }

    /// At 5 m/s, the same position for 0.4 s and then the true one again: the vehicle is where it is thought to be.
    #[test]
    fn a_position_that_catches_up_has_gone_nowhere() {
        let mut detector = JumpDetector::default();
        let mut jumps = Vec::new();
        for k in 0..200_i32 {
            let t = 0.02 * f64::from(k);
            let shown = if (100..120).contains(&k) { 2.0 } else { t };
            let found = detector.observe(i64::from(k) * SECOND / 50, up(5.0 * shown), up(5.0), 1.0);
            jumps.extend(found);
        }
        let [jump] = jumps[..] else {
            panic!("{jumps:?}")
        };
        assert!(
            (jump.size - 1.9).abs() < 1e-9 && jump.by.norm() < 1e-9,
            "{jump:?}"
        );
    }
}
