//! Whether an error persists or grows.

/// A mean error above this fraction of the previous one is not decreasing: a settling error keeps `e^-2` of it over
/// half a settling time.
const STAYS: f64 = 0.9;

/// How the law follows the reference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Following {
    /// Directly.
    #[default]
    Reference,
    /// A governor leads the vehicle there from far away.
    Governed,
    /// As `Governed`, but the governor waits: the vehicle does not follow.
    GovernorWaits,
}

/// Mean errors over successive halves of the settling time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trend {
    start: Option<f64>,
    now: Half,
    /// The last means, the latest first.
    halves: [Option<Half>; 3],
}

#[derive(Debug, Clone, Copy, Default)]
struct Half {
    sum: f64,
    /// Counts of steps: all, led, and awaited.
    counts: [u64; 3],
}

impl Half {
    fn mean(&self) -> f64 {
        self.sum / self.counts[0] as f64
    }
}

impl Trend {
    /// Counts a step.
    pub fn record(&mut self, time: f64, error: f64, following: Following, settling: f64) {
        let start = *self.start.get_or_insert(time);
        self.now.sum += error;
        self.now.counts[0] += 1;
        self.now.counts[1] += u64::from(following == Following::Governed);
        self.now.counts[2] += u64::from(following == Following::GovernorWaits);
        if time - start >= 0.5 * settling {
            self.start = Some(time);
            let [last, before, _] = self.halves;
            self.halves = [Some(std::mem::take(&mut self.now)), last, before];
        }
    }

    /// The mean error of the last half, or of the one before if that is smaller; 0 if it decreased twice, which an
    /// oscillation does not. A vehicle that is led from far away approaches no faster than its limits allow, so any
    /// decrease counts, unless the governor waits for it.
    pub fn stays(&self) -> f64 {
        let [Some(last), Some(before), earlier] = self.halves else {
            return 0.0;
        };
        let [all, led, awaited] = last.counts;
        let part = match (2 * awaited > all, led > 0) {
            (true, _) => 0.0,
            (false, true) => 1.0,
            (false, false) => STAYS,
        };
        let is_nearer = |half: &Half, than: &Half| half.mean() < part * than.mean();
        let was_nearer = earlier.is_none_or(|earlier| is_nearer(&before, &earlier));
        if is_nearer(&last, &before) && was_nearer {
            0.0
        } else {
            last.mean().min(before.mean())
        }
    }

    /// Whether the error is larger than the recent ones.
    pub fn grows(&self, error: f64) -> bool {
        let mut lately = self.now;
        if let Some(last) = self.halves[0] {
            lately.sum += last.sum;
            lately.counts[0] += last.counts[0];
        }
        error > lately.mean()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After 10 s, with a settling time of 2 s.
    fn trend(error: impl Fn(f64) -> f64, following: Following) -> Trend {
        let mut trend = Trend::default();
        for k in 0..=5000 {
            let time = f64::from(k) * 2e-3;
            trend.record(time, error(time), following, 2.0);
        }
        trend
    }

    #[test]
    fn what_stays_away_stays_and_what_comes_nearer_does_not() {
        let left = |error: fn(f64) -> f64, following| trend(error, following).stays();
        let alone = Following::Reference;
        assert!((left(|_| 3.0, alone) - 3.0).abs() < 1e-12);
        // The lesser of two means that grow at 1 m/s: of the ninth second and of the tenth.
        assert!((left(|t| t, alone) - 8.5).abs() < 0.01);
        // An oscillation with a period of two seconds.
        assert!((left(|t| 3.0 + (3.0 * t).sin(), alone) - 3.0).abs() < 0.7);
        assert_eq!(left(|t| 100.0 * (-2.0 * t).exp(), alone), 0.0);
        assert_eq!(left(|t| 20.0 - 1.9 * t, alone), 0.0);
        // Led there, led nowhere, and awaited beside a reference that comes and goes.
        assert_eq!(left(|t| 1000.0 - t, Following::Governed), 0.0);
        assert!((left(|_| 3.0, Following::Governed) - 3.0).abs() < 1e-12);
        assert!(left(|t| 10.0 - 0.5 * t, Following::GovernorWaits) > 5.0);
    }

    #[test]
    fn what_falls_grows() {
        assert!(trend(|t| t * t, Following::Governed).grows(100.0));
        assert!(!trend(|t| 1000.0 - t, Following::Governed).grows(990.0));
        let mut short = Trend::default();
        for k in 0..100 {
            let time = f64::from(k) * 2e-3;
            short.record(time, 5.0 * time * time, Following::Governed, 2.0);
        }
        assert!(short.grows(0.2) && !short.grows(0.01));
    }
}
