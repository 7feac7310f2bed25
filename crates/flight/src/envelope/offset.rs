//! Whether a loop stays far from its reference and comes no nearer.

use super::Observed;

/// A mean error above this part of the one before does not come nearer: what settles keeps `e^-2` of it in half a settling time.
const STAYS: f64 = 0.9;

/// Mean position errors over halves of the settling time, one after the other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Offset {
    start: Option<f64>,
    sum: f64,
    count: u64,
    led: bool,
    before: Option<f64>,
    now: Option<f64>,
}

impl Offset {
    /// Counts a step. Who is led to its reference from far away comes nearer no faster than it may: any decrease will do.
    pub fn record(&mut self, step: &Observed, settling: f64) {
        let start = *self.start.get_or_insert(step.time);
        self.sum += step.errors[0];
        self.count += 1;
        self.led |= step.led;
        if step.time - start < 0.5 * settling {
            return;
        }
        let mean = self.sum / self.count as f64;
        let stays = if self.led { 1.0 } else { STAYS };
        (self.start, self.sum, self.count, self.led) = (Some(step.time), 0.0, 0, false);
        let before = self.before.replace(mean);
        self.now = before
            .filter(|before| mean >= stays * before)
            .map(|before| mean.min(before));
    }

    /// The mean error of the last settling time, m, that does not become smaller; 0 if it does.
    pub fn now(&self) -> f64 {
        self.now.unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left after 10 s, with a settling time of 2 s.
    fn left(error: impl Fn(f64) -> f64, led: impl Fn(f64) -> bool) -> f64 {
        let mut offset = Offset::default();
        for k in 0..=5000 {
            let time = f64::from(k) * 2e-3;
            let step = Observed {
                time,
                errors: [error(time), 0.0],
                energy: 0.0,
                saturated: false,
                led: led(time),
            };
            offset.record(&step, 2.0);
        }
        offset.now()
    }

    #[test]
    fn what_stays_away_is_left_and_what_comes_nearer_is_not() {
        let alone = |_| false;
        assert!((left(|_| 3.0, alone) - 3.0).abs() < 1e-12);
        // The lesser of two means that grow with 1 m/s, one second apart: the last one is of the ninth second.
        assert!((left(|t| t, alone) - 7.5).abs() < 0.52);
        // A swing about it with a period of two seconds.
        assert!((left(|t| 3.0 + (3.0 * t).sin(), alone) - 3.0).abs() < 0.7);
        assert_eq!(left(|t| 100.0 * (-2.0 * t).exp(), alone), 0.0);
        assert_eq!(left(|t| 20.0 - 1.9 * t, alone), 0.0);
        // Led there, and led nowhere.
        assert_eq!(left(|t| 1000.0 - t, |_| true), 0.0);
        assert!((left(|_| 3.0, |_| true) - 3.0).abs() < 1e-12);
    }
}
