//! Maps the vehicle's clock to this computer's.

const SECOND: i64 = 1_000_000_000;

/// How long the least transit delay is remembered before it may grow again, ns.
///
/// Two crystals drift apart by some 50 ppm, which is 1 ms in two windows.
const WINDOW: i64 = 10 * SECOND;

/// Now, ns of `CLOCK_MONOTONIC`.
pub fn monotonic() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * SECOND + now.tv_nsec
}

/// Maps a sender's time since boot to ns of `CLOCK_MONOTONIC`.
///
/// The offset is the least `arrival - sender's time` seen in the last 10 to 20 s. It includes the least transit delay,
/// which cannot be distinguished from the offset with messages in one direction: a stamp is late by that delay (some ms over
/// UDP or USB, some tens of ms over a telemetry radio), but without jitter, and never later than the
/// message's arrival.
///
/// A sender that restarts is noticed by its time going back by more than a second, or by an offset that is half a second
/// off after a silence of a second. A burst of late messages from a stalled link looks the same at first; the offset
/// then falls with every message of the burst, so that the last one has the right stamp again.
///
/// Round trips ([`SenderClock::correct`]) tell offset and delay apart; stamps then lose the delay as well.
#[derive(Clone, Debug, Default)]
pub struct SenderClock {
    window: Option<Window>,
    /// The offset by round trips, and its error.
    known: Option<(i64, i64)>,
}

/// A transit delay that no link has, ns: an offset by round trips that is further off is that of another clock.
const LONGEST_TRANSIT: i64 = SECOND / 2;

/// Times since boot are whole ms, cut off.
const RESOLUTION: i64 = SECOND / 1000;

#[derive(Clone, Debug)]
struct Window {
    opened: i64,
    least: i64,
    least_before: i64,
    newest: i64,
    last_arrival: i64,
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
        let offset = arrival.saturating_sub(sent);
        let restarted = self
            .window
            .as_ref()
            .is_some_and(|w| w.restarted(sent, offset, arrival));
        if restarted {
            self.window = None;
            self.known = None;
        }
        let window = self.window.get_or_insert(Window {
            opened: arrival,
            least: offset,
            least_before: offset,
            newest: sent,
            last_arrival: arrival,
        });
        if arrival - window.opened > WINDOW {
            window.least_before = window.least;
            window.least = offset;
            window.opened = arrival;
        }
        window.least = window.least.min(offset);
        window.newest = window.newest.max(sent);
        window.last_arrival = arrival;
        let least = window.least.min(window.least_before);
        let offset = match self.known {
            Some((known, error))
                if (-(error + 2 * RESOLUTION)..=LONGEST_TRANSIT)
                    .contains(&least.saturating_sub(known)) =>
            {
                known.min(least)
            }
            _ => least,
        };
        Mapped {
            stamp: sent.saturating_add(offset).min(arrival),
            restarted,
        }
    }

    /// Takes the offset that round trips have found: `sent + offset` is `CLOCK_MONOTONIC`, within `error`, ns. It is used as
    /// long as it agrees with the arrivals; the round trips of another clock, and of one that has restarted, do not.
    pub fn correct(&mut self, offset: i64, error: i64) {
        self.known = Some((offset, error.max(0)));
    }
}

impl Window {
    fn restarted(&self, sent: i64, offset: i64, arrival: i64) -> bool {
        let went_back = self.newest.saturating_sub(sent) > SECOND;
        let silent = arrival - self.last_arrival > SECOND;
        let least = self.least.min(self.least_before);
        went_back || (silent && offset.saturating_sub(least).saturating_abs() > SECOND / 2)
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
        clock.correct(start + 2 * MS, 4 * MS);
        assert_eq!(map(&mut clock, 101), start + 2 * MS);
        // Later than the messages came: only within its error, and never used.
        clock.correct(start + 33 * MS, 4 * MS);
        assert_eq!(map(&mut clock, 102), start + 30 * MS);
        // Another clock's.
        for other in [0, 10 * start, start + 40 * MS, start - SECOND] {
            clock.correct(other, 4 * MS);
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

    #[test]
    fn a_burst_after_a_stall_ends_with_a_right_stamp() {
        let mut clock = SenderClock::default();
        clock.map(0, 100 * SECOND);
        // 2 s of messages, all delivered at the end of the stall.
        let mut last = None;
        for i in 1..=100 {
            last = Some(clock.map(i * 20 * MS, 102 * SECOND).stamp);
        }
        assert_eq!(last, Some(102 * SECOND));
        assert_eq!(
            clock.map(2020 * MS, 102 * SECOND + 30 * MS).stamp,
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
        // Off for 2 s, rebooted within, and again ahead of the old time.
        assert_eq!(
            clock.map(41 * SECOND, 264 * SECOND),
            Mapped {
                stamp: 264 * SECOND,
                restarted: true
            }
        );
        // Absurd times neither panic nor overflow.
        clock.map(i64::MAX, 265 * SECOND);
        clock.map(i64::MIN, 266 * SECOND);
    }
}
