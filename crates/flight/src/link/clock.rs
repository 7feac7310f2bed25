//! Whether the times of frames are nanoseconds.

use std::ops::RangeInclusive;

use fly_hal::Clock;

/// Time over which the frames' times are compared, ns.
const WINDOW: i64 = 250_000_000;
/// Number of comparisons that must fail alike before the times count as wrong. Fewer may fail at the start: frames waited for their reader, or a
/// simulation began slowly.
const TRIES: u32 = 8;
/// Comparisons that differ by less than this factor are alike.
const ALIKE: f64 = 1.5;

/// Compares the times of frames with the time that passes between them. In another unit, such as microseconds, a flight would not end, and the law
/// would take each step for another one.
#[derive(Debug)]
pub(super) struct ClockCheck {
    /// Seconds of the frames that may pass in a second.
    expected: RangeInclusive<f64>,
    /// Times of a frame and of the host when it came, ns.
    since: Option<[i64; 2]>,
    /// How many comparisons gave much the same, and what the first of them gave.
    wrong: u32,
    found: f64,
    is_right: bool,
}

impl ClockCheck {
    /// For frames of this clock. A simulated vehicle may be slowed down or sped up, and a simulation have steps of its own; other units are a thousand
    /// times as large.
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            expected: match clock {
                Clock::RealTime => 0.02..=50.0,
                Clock::Stepped => 0.01..=f64::INFINITY,
            },
            since: None,
            wrong: 0,
            found: 1.0,
            is_right: false,
        }
    }

    /// A frame of this time came when the host's clock, or the nominal time of the steps, was `host`, ns.
    pub(super) fn observe(&mut self, frame: i64, host: i64) {
        if self.is_right {
            return;
        }
        let [before, then] = *self.since.get_or_insert([frame, host]);
        let passed = host.saturating_sub(then);
        if passed < WINDOW {
            return;
        }
        let found = frame.saturating_sub(before) as f64 / passed as f64;
        self.since = Some([frame, host]);
        self.is_right = self.expected.contains(&found);
        if (self.found / ALIKE..self.found * ALIKE).contains(&found) {
            self.wrong += 1;
        } else {
            (self.found, self.wrong) = (found, 1);
        }
    }

    /// What is wrong with them.
    pub(super) fn fault(&self) -> Option<String> {
        let is_wrong = !self.is_right && self.wrong >= TRIES;
        is_wrong.then(|| {
            format!(
                "the times of its frames advance by {:.1e} s in a second: expected nanoseconds",
                self.found
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames 5 ms apart for 3 s, whose times are `unit` of nanoseconds.
    fn found(clock: Clock, unit: f64) -> (bool, Option<String>) {
        let mut check = ClockCheck::new(clock);
        for i in 0..600 {
            let host = 7_000_000_000 + i * 5_000_000;
            check.observe(scaled(host, unit), host);
        }
        (check.is_right, check.fault())
    }

    #[allow(clippy::cast_possible_truncation)]
    fn scaled(time: i64, unit: f64) -> i64 {
        (time as f64 * unit) as i64
    }

    #[test]
    fn only_nanoseconds_are_right() {
        for clock in [Clock::RealTime, Clock::Stepped] {
            assert_eq!(found(clock, 1.0), (true, None));
            for unit in [1e-3, 1e-6] {
                let (right, fault) = found(clock, unit);
                assert!(!right && fault.is_some_and(|fault| fault.contains("nanoseconds")));
            }
        }
        assert!(!found(Clock::RealTime, 1e3).0);
        // A vehicle that is simulated faster, and a simulation with steps of its own.
        for clock in [Clock::RealTime, Clock::Stepped] {
            assert!(found(clock, 10.0).0 && found(clock, 0.1).0);
        }
    }

    #[test]
    fn frames_that_have_waited_are_no_fault() {
        let mut check = ClockCheck::new(Clock::RealTime);
        check.observe(-60_000_000_000, 9_000_000_000);
        for i in 0..200 {
            let now = 9_000_000_000 + i * 5_000_000;
            check.observe(now, now);
        }
        assert!(check.is_right && check.fault().is_none());
    }

    #[test]
    fn a_simulation_that_begins_slowly_is_no_fault() {
        let mut check = ClockCheck::new(Clock::RealTime);
        let mut frame = 0;
        for i in 0_i64..2000 {
            frame += if i < 1000 { i * 50 } else { 5_000_000 };
            check.observe(frame, i * 5_000_000);
            assert!(check.fault().is_none(), "{i}");
        }
        assert!(check.is_right);
    }
}
