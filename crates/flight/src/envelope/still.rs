//! Whether the vehicle moves at all.

/// A vehicle that moved by less than this, m or rad, and by less than this part of its error, has not moved.
const DISTANCE: f64 = 0.1;
const PART: f64 = 0.1;

/// How far the vehicle has moved since the controller began, and for how long its error has been far larger.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Still {
    moved: f64,
    /// The largest error, m or rad.
    error: f64,
    /// The time of the last step, and for how long the error was larger than all that the vehicle had moved: s.
    last: Option<f64>,
    apart: f64,
}

impl Still {
    /// Counts a step in which the vehicle is so far from where it began, and from its reference.
    pub fn record(&mut self, time: f64, moved: f64, error: f64) {
        let elapsed = time - self.last.replace(time).unwrap_or(time);
        self.moved = self.moved.max(moved);
        self.error = self.error.max(error);
        if error > DISTANCE && PART * error > self.moved {
            self.apart += elapsed;
        }
    }

    /// The largest error, m or rad, of a vehicle that has not moved although it was away from its reference for more than `time` s, and how far it did move.
    pub fn has_stayed(&self, time: f64) -> Option<[f64; 2]> {
        let stays = self.moved < DISTANCE.min(PART * self.error) && self.apart > time;
        stays.then_some([self.error, self.moved])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn still(position: impl Fn(f64) -> f64, reference: impl Fn(f64) -> f64) -> bool {
        let mut still = Still::default();
        for k in 0..=5000 {
            let time = f64::from(k) * 2e-3;
            let at = position(time);
            still.record(
                time,
                (at - position(0.0)).abs(),
                (reference(time) - at).abs(),
            );
        }
        still.has_stayed(4.0).is_some()
    }

    #[test]
    fn what_stays_where_it_began_has_not_followed() {
        let round = |t: f64| 1.0 - (0.2 * std::f64::consts::PI * t).cos();
        // On the ground, sunk in a little, below a hover, a climb, and a lap that ends where it began.
        assert!(still(|_| 0.0, |_| 1.0));
        assert!(still(|t| -0.01 * t.min(1.0), |t| 0.5 * t));
        assert!(still(|_| 0.0, round));
        // There, late, slowly on its way, moved away, and a reference that leaves at the end.
        assert!(!still(|_| 0.0, |_| 0.0));
        assert!(!still(|t| round((t - 0.5).max(0.0)), round));
        assert!(!still(|t| 0.05 * t, |_| 1000.0));
        assert!(!still(|t| -0.2 * t.min(1.0), |_| 1.0));
        assert!(!still(|_| 0.0, |t| 5.0 * (t - 9.0).max(0.0)));
    }
}
