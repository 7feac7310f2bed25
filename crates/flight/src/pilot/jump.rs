//! Jumps of the measured position: an estimate that was reset or misled, a frame of reference that moved.

use nalgebra::Vector3;

use super::seconds;

/// A position has jumped that is further, m, from where its velocity leads: more than a fix of satellite navigation moves an estimate that begins …
const LEAST: f64 = 1.0;
/// … and than this acceleration takes it meanwhile, m/s^2.
const ACCELERATION: f64 = 20.0;

/// Compares each measured position with the last one and the velocities of both.
#[derive(Debug, Clone, Default)]
pub(super) struct Jumps {
    /// Time (ns), position (m) and velocity (m/s), world frame.
    last: Option<(i64, Vector3<f64>, Vector3<f64>)>,
    count: usize,
    largest: f64,
    is_told: bool,
}

impl Jumps {
    /// Takes the motion measured at `time` (ns). Returns the jump that it shows, m.
    pub(super) fn observe(
        &mut self,
        time: i64,
        position: Vector3<f64>,
        velocity: Vector3<f64>,
    ) -> Option<Vector3<f64>> {
        let (before, from, began) = self.last.replace((time, position, velocity))?;
        let elapsed = seconds(time.saturating_sub(before));
        let jump = position - from - (began + velocity) * (0.5 * elapsed);
        let size = jump.norm();
        (size > LEAST + ACCELERATION * elapsed * elapsed).then(|| {
            self.count += 1;
            self.largest = self.largest.max(size);
            jump
        })
    }

    /// Takes the first one, m.
    pub(super) fn take_first(&mut self) -> Option<f64> {
        let is_new = self.count > 0 && !self.is_told;
        self.is_told |= is_new;
        is_new.then_some(self.largest)
    }

    /// How many there were, and the largest, m.
    pub(super) fn found(&self) -> (usize, f64) {
        (self.count, self.largest)
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
        let mut jumps = Jumps::default();
        // A fall, at 50 Hz, and a gap of half a second in it.
        for k in (0..100).filter(|k| !(40..65).contains(k)) {
            let t = 0.02 * f64::from(k);
            let fallen = -0.5 * 9.81 * t * t;
            assert_eq!(
                jumps.observe(i64::from(k) * SECOND / 50, up(fallen), up(-9.81 * t)),
                None
            );
        }
        assert_eq!(jumps.found(), (0, 0.0));
    }

    #[test]
    fn a_position_that_moves_without_a_velocity_has_jumped() {
        let mut jumps = Jumps::default();
        assert_eq!(jumps.observe(0, up(2.0), up(0.0)), None);
        assert_eq!(jumps.observe(SECOND / 50, up(2.2), up(0.0)), None);
        let jump = jumps.observe(SECOND / 25, up(-0.8), up(0.0));
        assert!((jump.expect("3 m") - up(-3.0)).norm() < 1e-12);
        assert_eq!(jumps.observe(3 * SECOND / 50, up(-0.8), up(0.0)), None);
        let (count, largest) = jumps.found();
        assert!(count == 1 && (largest - 3.0).abs() < 1e-12);
    }
}
