//! Maps the vehicle's clock to this computer's.

const SECOND: i64 = 1_000_000_000;

/// How long the least transit delay is looked for before it becomes a point of the line, ns.
const SPAN: i64 = 2 * SECOND;

/// The most by which a clock is slow or fast, as a part: crystals by some 0.00005, simulated autopilots by 0.01.
const LARGEST_DRIFT: f64 = 0.02;

/// Now, ns of `CLOCK_MONOTONIC`.
pub fn monotonic() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * SECOND + now.tv_nsec
}

/// Maps a sender's time since boot to ns of `CLOCK_MONOTONIC`.
///
/// Of every 2 s the least `arrival - sender's time` is kept; the offset follows the line through the last two of them, so that a
/// clock that is slow or fast is followed. It includes the least transit delay,
/// which cannot be distinguished from the offset with messages in one direction: a stamp is late by that delay (some ms over
/// UDP or USB, some tens of ms over a telemetry radio), but without jitter, and never later than the
/// message's arrival.
///
/// A sender that restarts is noticed by its time going back by more than a second, or by its having run for no longer than a silence of a second
/// or more has lasted. After such a silence the offset may be half a second off without a restart: a simulation was paused, or a link has stalled and now delivers a burst
/// of late messages. The clock is then mapped anew; the offset falls with every message of a burst, so that the last one has the right stamp again.
///
/// Round trips ([`SenderClock::correct`]) tell offset and delay apart; stamps then lose the delay as well.
#[derive(Clone, Debug, Default)]
pub struct SenderClock {
    window: Option<Window>,
    /// The transit delay by round trips, ns.
    delay: i64,
}

/// A transit delay that no link has, ns: an offset by round trips that is further off is that of another clock.
const LONGEST_TRANSIT: i64 = SECOND / 2;

/// Times since boot are whole ms, cut off.
const RESOLUTION: i64 = SECOND / 1000;

/// An offset at a time of the sender's clock.
#[derive(Clone, Copy, Debug)]
struct Point {
    sent: i64,
    offset: i64,
}

/// Offsets, as they change with the sender's time.
#[derive(Clone, Copy, Debug)]
struct Line {
    through: Point,
    slope: f64,
}

#[derive(Clone, Debug)]
struct Window {
    /// When the present span began, ns of `CLOCK_MONOTONIC`.
    opened: i64,
    /// Its least offset, as it was …
    least: Point,
    /// … and against the line.
    below: i64,
    /// The least offset of the span before.
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
    /// It began anew.
    Restart,
}

/// A sender's time on this computer's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// ns of `CLOCK_MONOTONIC`, at most the time of arrival.
    pub stamp: i64,
    /// The sender has restarted: earlier stamps of its clock say nothing about the order any more.
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

    /// Takes the offset that round trips have found: `sent + offset` was `CLOCK_MONOTONIC` at the time `at` of that clock, within `error`, all in ns.
    /// What the arrivals' offset has more is the transit delay. It is used as
    /// long as it agrees with the arrivals; the round trips of another clock, and of one that has restarted, do not.
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

    /// Through two points as far as a clock can be so slow or fast.
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

    /// The least offset at a time of the sender's clock.
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
            // 3 ms of transit at least, and up to 40 ms more.
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
        // Later than the messages came: only within its error, and never used.
        clock.correct(start + 33 * MS, 4 * MS, start);
        assert_eq!(map(&mut clock, 102), start + 30 * MS);
        // Another clock's.
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

    /// As the clocks of simulated autopilots do: slow or fast by 1 %.
    #[test]
    fn a_slow_or_fast_clock_is_followed() {
        for percent in [-1, 1] {
            let mut clock = SenderClock::default();
            let (mut latest, mut earliest) = (0, 0);
            for i in 0..1500_i64 {
                // Sent every 20 ms of this computer's clock, 3 ms to 43 ms ago, told in whole ms.
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
            // The quickest message comes once in 0.82 s, in which 8.2 ms are lost or gained; and whole ms.
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
        // Late by 0.9 s, but no restart: the stamp is old, as the message is.
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
        // Off for a minute and rebooted within, the new time being ahead of the old one.
        assert_eq!(
            clock.map(40 * SECOND, 262 * SECOND),
            Mapped {
                stamp: 262 * SECOND,
                restarted: true
            }
        );
        // Paused for 2 s, as simulations are: it has run for longer than that.
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
