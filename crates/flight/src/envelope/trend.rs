//! Whether an error persists or grows.

/// A mean error above this fraction of the previous one is not decreasing: a settling error keeps `e^-2` of it over
/// half a settling time.
const STAYS: f64 = 0.9;

/// An error that leaves its bound twice within so many settling times swings, however near it is at the end.
const LATELY: f64 = 5.0;

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
    /// Whether the last error exceeded its bound, and when the last two errors began that did, s, the latest first.
    is_outside: bool,
    excursions: [Option<f64>; 2],
    /// The time of the last step, s, and the settling time, s.
    last: f64,
    settling: f64,
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
    /// Counts a step, with its error and the bound of that.
    pub fn record(
        &mut self,
        time: f64,
        [error, bound]: [f64; 2],
        following: Following,
        settling: f64,
    ) {
        let start = *self.start.get_or_insert(time);
        let is_outside = error > bound;
        let was_outside = std::mem::replace(&mut self.is_outside, is_outside);
        if is_outside && !was_outside {
            self.excursions = [Some(time), self.excursions[0]];
        }
        (self.last, self.settling) = (time, settling);
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
    /// oscillation does not, or if it `is_inside` its bound now and has left it only once lately, as in a gust. A vehicle that is led from far away approaches no faster than its limits allow, so any
    /// decrease counts, unless the governor waits for it.
    pub fn stays(&self, is_inside: bool) -> f64 {
        let [Some(last), Some(before), earlier] = self.halves else {
            return 0.0;
        };
        let lately = self.last - LATELY * self.settling;
        let swings = self.excursions[1].is_some_and(|began| began >= lately);
        if is_inside && !swings {
            return 0.0;
        }
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

    const BOUND: f64 = 1.0;

    /// After 10 s, with a settling time of 2 s.
    fn trend(error: impl Fn(f64) -> f64, following: Following) -> Trend {
        let mut trend = Trend::default();
        for k in 0..=5000 {
            let time = f64::from(k) * 2e-3;
            trend.record(time, [error(time), BOUND], following, 2.0);
        }
        trend
    }

    #[test]
    fn what_stays_away_stays_and_what_comes_nearer_does_not() {
        let left = |error: fn(f64) -> f64, following| trend(error, following).stays(false);
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

    /// The mean over a second still tells of a gust when the vehicle has come back from it; it tells of an oscillation, wherever that ends.
    #[test]
    fn an_error_that_has_been_regulated_does_not_stay() {
        let gust = |t: f64| if (8.2..9.9).contains(&t) { 5.0 } else { 0.1 };
        let after = trend(gust, Following::Reference);
        assert!(after.stays(false) > BOUND, "while it lasted");
        assert_eq!(after.stays(true), 0.0);
        for rate in [0.8, 1.5, 4.0] {
            let swings = |t: f64| 20.0 * (rate * t).sin().abs();
            let left = trend(swings, Following::Reference).stays(true);
            assert!(left > BOUND, "{rate} rad/s: {left}");
        }
    }

    #[test]
    fn what_falls_grows() {
        assert!(trend(|t| t * t, Following::Governed).grows(100.0));
        assert!(!trend(|t| 1000.0 - t, Following::Governed).grows(990.0));
        let mut short = Trend::default();
        for k in 0..100 {
            let time = f64::from(k) * 2e-3;
            short.record(time, [5.0 * time * time, BOUND], Following::Governed, 2.0);
        }
        assert!(short.grows(0.2) && !short.grows(0.01));
    }
}
