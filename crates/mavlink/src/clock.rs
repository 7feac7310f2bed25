//! Maps the vehicle's clock to this computer's.

const SECOND: i64 = 1_000_000_000;

/// Interval over which the smallest transit delay is found before it becomes a point of the line, ns.
const SPAN: i64 = 2 * SECOND;

/// Largest relative drift of a clock: 0.00005 for crystals, 0.01 for simulated autopilots.
const LARGEST_DRIFT: f64 = 0.02;

/// The current time, ns of `CLOCK_MONOTONIC`.
pub fn monotonic() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * SECOND + now.tv_nsec
}

/// Maps a sender's time since boot to ns of `CLOCK_MONOTONIC`.
///
/// The smallest `arrival - sender's time` of every 2 s is kept. The offset follows the line through the last two of
/// them, and thus a clock that is slow or fast. It includes the smallest transit delay, which messages in one direction
/// cannot distinguish from the offset. A stamp is therefore late by that delay (some ms over UDP or USB, some tens of
/// ms over a telemetry radio), but has no jitter and is never later than the message's arrival.
///
/// A restart of the sender is detected when its time goes back by more than a second, or when it has been running for no
/// longer than a silence of a second or more has lasted. After such a silence the offset may differ by half a second
/// without a restart: a simulation was paused, or a stalled link now delivers a burst of late messages. The clock is
/// then mapped anew; the offset falls with every message of a burst, so that the last one has the correct stamp again.
///
/// Round trips ([`SenderClock::correct`]) separate offset and delay; stamps are then free of the delay as well.
#[derive(Clone, Debug, Default)]
pub struct SenderClock {
    window: Option<Window>,
    /// The transit delay from round trips, ns.
    delay: i64,
}

/// Longer than the transit delay of any link, ns: an offset from round trips that differs by more belongs to another
/// clock.
const LONGEST_TRANSIT: i64 = SECOND / 2;

/// Times since boot are truncated to whole ms.
const RESOLUTION: i64 = SECOND / 1000;

/// An offset at a time of the sender's clock.
#[derive(Clone, Copy, Debug)]
struct Point {
    sent: i64,
    offset: i64,
}

/// The offset as a function of the sender's time.
#[derive(Clone, Copy, Debug)]
struct Line {
    through: Point,
    slope: f64,
}

#[derive(Clone, Debug)]
struct Window {
    /// When the current interval began, ns of `CLOCK_MONOTONIC`.
    opened: i64,
    /// Its smallest offset, as measured …
    least: Point,
    /// … and relative to the line.
    below: i64,
    /// The smallest offset of the previous interval.
    last: Option<Point>,
    line: Line,
    newest: i64,
    last_arrival: i64,
}

/// What has become of a sender's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    /// It goes on from where it was, at another offset.
    Shift,
    /// It restarted.
    Restart,
}

/// A sender's time on this computer's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// ns of `CLOCK_MONOTONIC`, at most the time of arrival.
    pub stamp: i64,
    /// The sender has restarted: earlier stamps of its clock are not comparable any more.
    pub restarted: bool,
}

impl SenderClock {
    /// Maps `sent` (ns on the sender's clock) of a message that arrived at `arrival` (ns of `CLOCK_MONOTONIC`).
    pub fn map(&mut self, sent: i64, arrival: i64) -> Mapped {
        let seen = Point {
            sent,
            offset: arrival.saturating_sub(sent),
        };
        let change = (self.window.as_ref()).map_or(Change::None, |w| w.change(seen, arrival));
        if change != Change::None {
            *self = Self::default();
        }
        let window = (self.window).get_or_insert_with(|| Window::new(seen, arrival));
        window.take(seen, arrival);
        let offset = window.least(sent).saturating_sub(self.delay);
        Mapped {
            stamp: sent.saturating_add(offset).min(arrival),
            restarted: change == Change::Restart,
        }
    }

    /// Corrects the offset by one from round trips: `sent + offset` was `CLOCK_MONOTONIC` at the time `at` of that
    /// clock, within `error`, all in ns. The excess of the arrivals' offset is the transit delay. The correction is
    /// used as long as it agrees with the arrivals; round trips of another clock, or of one that has restarted, do not.
    pub fn correct(&mut self, offset: i64, error: i64, at: i64) {
        self.delay = 0;
        if let Some(window) = &self.window {
            let delay = (window.least(at.saturating_sub(offset))).saturating_sub(offset);
            let plausible = -(error.max(0) + 2 * RESOLUTION)..=LONGEST_TRANSIT;
            if plausible.contains(&delay) {
                self.delay = delay.max(0);
            }
        }
    }
}

impl Point {
    /// The lower one.
    fn min(self, other: Self) -> Self {
        if other.offset < self.offset {
            other
        } else {
            self
        }
    }
}

impl Line {
    fn level(through: Point) -> Self {
        Self {
            through,
            slope: 0.0,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the slope is small"
    )]
    fn at(&self, sent: i64) -> i64 {
        let since = sent.saturating_sub(self.through.sent) as f64;
        (self.through.offset).saturating_add((self.slope * since) as i64)
    }

    /// The line through two points, limited to possible clock drifts.
    #[expect(clippy::cast_precision_loss, reason = "some seconds")]
    fn through(from: Point, to: Point) -> Self {
        let (run, rise) = (
            to.sent.saturating_sub(from.sent) as f64,
            to.offset.saturating_sub(from.offset) as f64,
        );
        let slope = if run > 0.0 { rise / run } else { 0.0 };
        Self {
            through: to,
            slope: slope.clamp(-LARGEST_DRIFT, LARGEST_DRIFT),
        }
    }
}

impl Window {
    fn new(seen: Point, arrival: i64) -> Self {
        Self {
            opened: arrival,
            least: seen,
            below: 0,
            last: None,
            line: Line::level(seen),
            newest: seen.sent,
            last_arrival: arrival,
        }
    }

    fn take(&mut self, seen: Point, arrival: i64) {
        if arrival.saturating_sub(self.opened) > SPAN {
            self.line = match self.last {
                Some(last) => Line::through(last, self.least),
                None => Line::level(self.least),
            };
            self.last = Some(self.least);
            self.opened = arrival;
            self.least = seen;
            self.below = 0;
        }
        self.least = self.least.min(seen);
        self.below = (self.below).min(seen.offset.saturating_sub(self.line.at(seen.sent)));
        self.newest = self.newest.max(seen.sent);
        self.last_arrival = arrival;
    }

    /// The smallest offset at a time of the sender's clock.
    fn least(&self, sent: i64) -> i64 {
        self.line.at(sent).saturating_add(self.below)
    }

    fn change(&self, seen: Point, arrival: i64) -> Change {
        let silence = arrival.saturating_sub(self.last_arrival);
        let off = seen.offset.saturating_sub(self.least(seen.sent));
        let shifted = silence > SECOND && off.saturating_abs() > SECOND / 2;
        let went_back = self.newest.saturating_sub(seen.sent) > SECOND;
        // Whoever has restarted meanwhile has not run for longer.
        if went_back || (shifted && (0..=silence).contains(&seen.sent)) {
            Change::Restart
        } else if shifted {
            Change::Shift
        } else {
            Change::None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn jitter_of_the_transit_does_not_reach_the_stamps() {
        let mut clock = SenderClock::default();
        let start = 500 * SECOND;
        for i in 0..500 {
            let sent = i * 20 * MS;
            // At least 3 ms of transit, and up to 40 ms more.
            let arrival = start + sent + 3 * MS + (i * 7919 % 41) * MS;
            let mapped = clock.map(sent, arrival);
            assert!(mapped.stamp <= arrival && !mapped.restarted);
            if i > 60 {
                assert_eq!(mapped.stamp, start + sent + 3 * MS);
            }
        }
    }

    #[test]
    fn round_trips_take_the_delay_out_of_the_stamps() {
        let mut clock = SenderClock::default();
        let start = 500 * SECOND;
        let map = |clock: &mut SenderClock, i: i64| {
            let sent = i * 20 * MS;
            let arrival = start + sent + 30 * MS + (i * 7919 % 41) * MS;
            clock.map(sent, arrival).stamp - sent
        };
        for i in 0..100 {
            map(&mut clock, i);
        }
        assert_eq!(map(&mut clock, 100), start + 30 * MS);
        clock.correct(start + 2 * MS, 4 * MS, start);
        assert_eq!(map(&mut clock, 101), start + 2 * MS);
        // Later than the arrivals: corrects only within its error, and is never used.
        clock.correct(start + 33 * MS, 4 * MS, start);
        assert_eq!(map(&mut clock, 102), start + 30 * MS);
        // From another clock.
        for other in [0, 10 * start, start + 40 * MS, start - SECOND] {
            clock.correct(other, 4 * MS, start);
            assert_eq!(map(&mut clock, 103), start + 30 * MS);
        }
    }

    #[test]
    fn drift_is_followed() {
        // The sender's clock is slow by 200 ppm: after 100 s the offset has grown by 20 ms.
        let mut clock = SenderClock::default();
        for i in 0..5000 {
            let arrival = i * 20 * MS;
            let mapped = clock.map(arrival - arrival / 5000, arrival);
            assert!(
                arrival - mapped.stamp <= 5 * MS,
                "{} ms late",
                (arrival - mapped.stamp) / MS
            );
        }
    }

    /// Like the clocks of simulated autopilots: slow or fast by 1 %.
    #[test]
    fn a_slow_or_fast_clock_is_followed() {
        for percent in [-1, 1] {
            let mut clock = SenderClock::default();
            let (mut latest, mut earliest) = (0, 0);
            for i in 0..1500_i64 {
                // Sent every 20 ms of this computer's clock, 3 ms to 43 ms ago, reported in whole ms.
                let truth = i * 20 * MS;
                let arrival = truth + 3 * MS + (i * 7919 % 41) * MS;
                let sent = i * 20 * (100 + percent) / 100 * MS;
                let mapped = clock.map(sent, arrival);
                if i % 50 == 1 {
                    clock.correct(truth - sent, MS, truth);
                }
                assert!(mapped.stamp <= arrival && !mapped.restarted);
                if i > 300 {
                    let late = mapped.stamp - truth;
                    (latest, earliest) = (late.max(latest), late.min(earliest));
                }
            }
            // The fastest message comes every 0.82 s, in which 8.2 ms are lost or gained; and whole ms.
            assert!(
                earliest > -10 * MS && latest < 10 * MS,
                "{percent} %: stamps {earliest} to {latest} ns late"
            );
        }
    }

    #[test]
    fn a_burst_after_a_stall_ends_with_a_right_stamp() {
        let mut clock = SenderClock::default();
        clock.map(60 * SECOND, 100 * SECOND);
        // 2 s of messages of one that has run for a minute, all delivered at the end of the stall.
        let mut last = None;
        for i in 1..=100 {
            let mapped = clock.map(60 * SECOND + i * 20 * MS, 102 * SECOND);
            assert!(!mapped.restarted);
            last = Some(mapped.stamp);
        }
        assert_eq!(last, Some(102 * SECOND));
        assert_eq!(
            clock.map(62_020 * MS, 102 * SECOND + 30 * MS).stamp,
            102 * SECOND + 20 * MS
        );
    }

    #[test]
    fn restarts_are_noticed() {
        let mut clock = SenderClock::default();
        assert_eq!(
            clock.map(100 * SECOND, 200 * SECOND),
            Mapped {
                stamp: 200 * SECOND,
                restarted: false
            }
        );
        // Late by 0.9 s, but not a restart: the stamp is as old as the message.
        let late = clock.map(100 * SECOND + 10 * MS, 200 * SECOND + 910 * MS);
        assert_eq!(
            late,
            Mapped {
                stamp: 200 * SECOND + 10 * MS,
                restarted: false
            }
        );
        // Time goes back.
        assert_eq!(
            clock.map(2 * SECOND, 202 * SECOND),
            Mapped {
                stamp: 202 * SECOND,
                restarted: true
            }
        );
        // Off for a minute and rebooted meanwhile, with the new time ahead of the old one.
        assert_eq!(
            clock.map(40 * SECOND, 262 * SECOND),
            Mapped {
                stamp: 262 * SECOND,
                restarted: true
            }
        );
        // Paused for 2 s, as simulations are: it has been running for longer than that.
        assert_eq!(
            clock.map(40 * SECOND + 20 * MS, 264 * SECOND),
            Mapped {
                stamp: 264 * SECOND,
                restarted: false
            }
        );
        assert_eq!(
            clock
                .map(40 * SECOND + 40 * MS, 264 * SECOND + 20 * MS)
                .stamp,
            264 * SECOND + 20 * MS
        );
        // Absurd times neither panic nor overflow.
        clock.map(i64::MAX, 265 * SECOND);
        clock.map(i64::MIN, 266 * SECOND);
    }
}
