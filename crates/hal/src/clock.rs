//! Clocks: ticks of a stepped backend, deadlines of a real-time one.

use std::time::Duration;

/// The clock of a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Time advances when the backend is read: simulations and recordings.
    Stepped,
    /// Wall-clock time: a read waits for data until its deadline.
    RealTime,
}

impl Clock {
    /// Its name in listings: `stepped` or `real time`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stepped => "stepped",
            Self::RealTime => "real time",
        }
    }
}

/// The current time, ns of `CLOCK_MONOTONIC`: the clock of every [`Deadline`], the same in the host and in every
/// plugin.
pub fn monotonic_now() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec
        .saturating_mul(NANOSECONDS)
        .saturating_add(now.tv_nsec)
}

const NANOSECONDS: i64 = 1_000_000_000;

/// The latest time at which a read must return: ns of `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(pub i64);

impl Deadline {
    /// A deadline this long from now.
    pub fn after(duration: Duration) -> Self {
        Self(monotonic_now().saturating_add(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)))
    }

    /// A deadline in the past: do not wait.
    pub const NOW: Self = Self(0);

    /// The time left; zero after the deadline.
    pub fn remaining(self) -> Duration {
        Duration::from_nanos(u64::try_from(self.0.saturating_sub(monotonic_now())).unwrap_or(0))
    }
}

/// Tick times of a stepped clock: tick `k` is at `k / rate`, rounded to the nearest nanosecond. Each time is computed
/// from `k` alone, in integers, so it cannot drift. The rate has a resolution of 1 µHz.
///
/// ```
/// let ticks = fly_hal::Ticks::new(300.0).unwrap();
/// assert_eq!([ticks.time(0), ticks.time(1), ticks.time(2)], [0, 3_333_333, 6_666_667]);
/// assert_eq!(ticks.time(300 * 3600), 3_600_000_000_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticks {
    rate_uhz: i128,
}

impl Ticks {
    /// Ticks at `rate_hz`; `None` unless it lies between 1 µHz and 1 GHz.
    pub fn new(rate_hz: f64) -> Option<Self> {
        // A NaN is outside every range. The bounds make the cast exact.
        #[allow(clippy::cast_possible_truncation)]
        (1e-6..=1e9).contains(&rate_hz).then(|| Self {
            rate_uhz: (rate_hz * 1e6).round() as i128,
        })
    }

    /// Time of tick `k`, ns.
    pub fn time(self, k: u64) -> i64 {
        let scaled = i128::from(k) * 1_000_000_000_000_000;
        i64::try_from((scaled + self.rate_uhz / 2) / self.rate_uhz).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_the_nearest_nanosecond_and_do_not_drift() {
        let ticks = Ticks::new(500.0).unwrap();
        for k in [0_u64, 1, 7, 1 << 40] {
            assert_eq!(ticks.time(k), i64::try_from(k).unwrap() * 2_000_000);
        }
        let ticks = Ticks::new(12.5).unwrap();
        assert_eq!(ticks.time(25), 2_000_000_000);
        assert_eq!(
            Ticks::new(1e-6).unwrap().time(u64::MAX),
            i64::MAX,
            "saturates"
        );
    }

    #[test]
    fn rates_that_are_none_are_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e10, 1e-7] {
            assert_eq!(Ticks::new(rate), None, "{rate}");
        }
    }

    #[test]
    fn a_deadline_runs_out() {
        let deadline = Deadline::after(Duration::from_secs(10));
        assert!(
            deadline.remaining() <= Duration::from_secs(10)
                && deadline.remaining() > Duration::from_secs(5)
        );
        assert_eq!(Deadline::NOW.remaining(), Duration::ZERO);
        assert_eq!(Deadline::after(Duration::MAX), Deadline(i64::MAX));
    }
}
