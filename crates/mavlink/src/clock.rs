//! Maps the vehicle's clock to this computer's.

const SECOND: i64 = 1_000_000_000;

/// Interval over which the smallest transit delay is found before it becomes a point of the line, ns.
const SPAN: i64 = 2 * SECOND;

/// Largest relative drift of a clock: 0.00005 for crystals, 0.01 and more for simulated autopilots on busy computers.
const LARGEST_DRIFT: f64 = 0.03;

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
/// A restart of the sender is detected when its time goes back by more than a second after a silence as long, or when it
/// has been running for no longer than a silence of any length. After a silence of a second the offset may differ by half
/// a second without a restart: a simulation was paused, or a stalled link now delivers a burst of late messages. The clock
/// is then mapped anew; the offset falls with every message of a burst, so that the last one has the correct stamp again.
/// Where there were round trips before, messages that come later than the clock says are old until round trips show that it
/// stood still: a link may take many seconds to deliver what it has held back.
///
/// A time that goes back by more than a second or ahead by more than two without such a silence is of another clock
/// ([`Origin::Other`]): of another vehicle with the same numbers, or of a message that was late. If nothing but that clock
/// is heard for a quarter of a second, it is the sender's.
///
/// Round trips ([`SenderClock::correct`]) separate offset and delay; stamps are then free of the delay as well. They also
/// show a clock that has slipped, as that of a simulation does on a busy computer. While there are round trips, arrivals that
/// are later than the clock can have drifted are late: as long as they are, the line does not move.
#[derive(Clone, Debug, Default)]
pub struct SenderClock {
    window: Option<Window>,
    /// The transit delay from round trips, ns.
    delay: i64,
    /// When the last round trip that fits was evaluated, as the arrival of the newest message, ns.
    checked: Option<i64>,
    /// Another clock.
    other: Option<Other>,
}

/// How far a time may go back or ahead without a silence, ns.
const BACK: i64 = SECOND;
const AHEAD: i64 = 2 * SECOND;

/// Another clock that is heard for so long, and nothing else, is the sender's, ns.
const CONFIRMED: i64 = SECOND / 4;

/// A clock that differs by more, ns, has slipped. Less is its drift, and no measurement is too old for it.
const SLIP: i64 = SECOND / 20;

/// Round trips show what arrivals cannot tell, a slip from a delay, for so long, ns.
const TRUSTED: i64 = 3 * SECOND;

/// A slip is told by so many arrivals.
const RECENT: usize = 16;

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
    /// Whether what comes is later than the clock can have drifted: it is late, or the clock stood still. Round trips tell, arrivals cannot.
    is_late: bool,
    /// The offsets of the last arrivals, and how many there were.
    recent: [i64; RECENT],
    count: usize,
}

/// Times that do not fit.
#[derive(Clone, Copy, Debug)]
struct Other {
    offset: i64,
    /// When the first and the last of them arrived, ns of `CLOCK_MONOTONIC`.
    since: i64,
    last: i64,
}

/// What has become of a sender's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    None,
    /// It goes on from where it was, at another offset.
    Shift,
    /// It stood still in a silence, or what it sent was held back.
    Delay,
    /// It restarted.
    Restart,
    /// It does not fit.
    Jump,
}

/// The clock that a time is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The sender's.
    Same,
    /// The sender's, although times of another one came before this: two vehicles may send with the same numbers.
    SameAgain,
    /// The sender's, which has restarted: earlier stamps are not comparable any more.
    Restarted,
    /// Another one, as far as is known yet: the message should not be used.
    Other,
}

/// A sender's time on this computer's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// ns of `CLOCK_MONOTONIC`, at most the time of arrival.
    pub stamp: i64,
    /// The clock that it is of.
    pub origin: Origin,
}

impl SenderClock {
    /// Maps `sent` (ns on the sender's clock) of a message that arrived at `arrival` (ns of `CLOCK_MONOTONIC`).
    pub fn map(&mut self, sent: i64, arrival: i64) -> Mapped {
        let seen = Point {
            sent,
            offset: arrival.saturating_sub(sent),
        };
        let change = match self.change(seen, arrival) {
            Change::Jump => self.confirmed(seen, arrival),
            change => change,
        };
        let origin = match change {
            Change::Jump => {
                return Mapped {
                    stamp: arrival,
                    origin: Origin::Other,
                };
            }
            Change::Restart => Origin::Restarted,
            Change::None | Change::Delay if self.other.take().is_some() => Origin::SameAgain,
            Change::None | Change::Delay | Change::Shift => Origin::Same,
        };
        if matches!(change, Change::Shift | Change::Restart) {
            *self = Self::default();
        }
        let is_checked = self.is_checked(arrival);
        let window = (self.window).get_or_insert_with(|| Window::new(seen, arrival));
        if change == Change::Delay {
            window.wait_for_round_trips(seen);
        }
        window.take(seen, arrival, is_checked);
        let offset = window.least(sent).saturating_sub(self.delay);
        Mapped {
            stamp: sent.saturating_add(offset).min(arrival),
            origin,
        }
    }

    /// Whether a round trip of the time just before `at`, ns, has shown that the clock is right.
    fn is_checked(&self, at: i64) -> bool {
        (self.checked).is_some_and(|checked| at.saturating_sub(checked) < TRUSTED)
    }

    /// What has become of the clock, by this time alone.
    fn change(&self, seen: Point, arrival: i64) -> Change {
        let Some(window) = &self.window else {
            return Change::None;
        };
        let was_checked = window.is_late || self.is_checked(window.last_arrival);
        match window.change(seen, arrival) {
            Change::Shift if was_checked && seen.offset > window.least(seen.sent) => Change::Delay,
            change => change,
        }
    }

    /// What a time is that does not fit: a jump, until nothing else was heard for long enough.
    fn confirmed(&mut self, seen: Point, arrival: i64) -> Change {
        let is_same = |other: &Other| {
            let apart = seen.offset.saturating_sub(other.offset);
            apart.saturating_abs() < BACK && arrival.saturating_sub(other.last) < CONFIRMED
        };
        let since = (self.other.filter(is_same)).map_or(arrival, |other| other.since);
        self.other = Some(Other {
            offset: seen.offset,
            since,
            last: arrival,
        });
        let goes_back = (self.window.as_ref()).is_some_and(|window| seen.sent < window.newest);
        match arrival.saturating_sub(since) < CONFIRMED {
            true => Change::Jump,
            false if goes_back => Change::Restart,
            false => Change::Shift,
        }
    }

    /// Corrects the offset by one from round trips: `sent + offset` was `CLOCK_MONOTONIC` at the time `at` of that
    /// clock, within `error`, all in ns. The excess of the arrivals' offset is the transit delay. The correction is
    /// used as long as it agrees with the arrivals; round trips of another clock, or of one that has restarted, do not.
    /// Where they agree with the last arrivals, but not with earlier ones, the clock has slipped between.
    pub fn correct(&mut self, offset: i64, error: i64, at: i64) {
        self.delay = 0;
        let Some(window) = &mut self.window else {
            return;
        };
        let plausible = -(error.max(0) + 2 * RESOLUTION)..=LONGEST_TRANSIT;
        let sent = at.saturating_sub(offset);
        let mut delay = window.least(sent).saturating_sub(offset);
        let recent = window.recent_least();
        if delay < plausible.start() - SLIP && plausible.contains(&recent.saturating_sub(offset)) {
            window.slip(recent);
            delay = recent.saturating_sub(offset);
        }
        if plausible.contains(&delay) {
            self.checked = Some(window.last_arrival);
            self.delay = delay.max(0);
        }
    }

    /// How much later than the fastest the last arrivals were at least, ns: what they waited somewhere, or what the clock
    /// has slipped, which a round trip shows.
    pub fn lateness(&self) -> i64 {
        let window = self.window.as_ref();
        window.map_or(0, |window| {
            window
                .recent_least()
                .saturating_sub(window.least(window.newest))
        })
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

    /// Whether a clock on this line can have drifted so far that the least delay of all is at this point.
    #[expect(clippy::cast_precision_loss, reason = "some seconds")]
    fn may_drift_to(&self, point: Point) -> bool {
        let since = point.sent.saturating_sub(self.through.sent) as f64;
        let rise = point.offset.saturating_sub(self.at(point.sent)) as f64;
        rise <= LARGEST_DRIFT * since.max(0.0) + SLIP as f64
    }

    /// Whether nothing but a drift leads from the point of this line to that one.
    #[expect(clippy::cast_precision_loss, reason = "some seconds")]
    fn may_have_drifted_to(&self, point: Point) -> bool {
        let run = point.sent.saturating_sub(self.through.sent) as f64;
        let rise = point.offset.saturating_sub(self.through.offset) as f64;
        rise.abs() <= LARGEST_DRIFT * run
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
            is_late: false,
            recent: [seen.offset; RECENT],
            count: 0,
        }
    }

    /// A silence has ended with this time, which is late as far as the line is right.
    fn wait_for_round_trips(&mut self, seen: Point) {
        self.is_late = true;
        // What came before says nothing of a clock that stood still.
        self.recent = [seen.offset; RECENT];
    }

    /// Takes an arrival; `is_checked` says whether round trips would show a slip.
    fn take(&mut self, seen: Point, arrival: i64, is_checked: bool) {
        if arrival.saturating_sub(self.opened) > SPAN {
            if !self.is_late || self.is_on_time(self.least) {
                self.line = match self.last {
                    Some(last) => Line::through(last, self.least),
                    None => Line {
                        through: self.least,
                        ..self.line
                    },
                };
                self.last = Some(self.least);
                self.below = 0;
            }
            self.opened = arrival;
            self.least = seen;
        }
        let above = seen.offset.saturating_sub(self.line.at(seen.sent));
        self.least = self.least.min(seen);
        self.below = self.below.min(above);
        self.is_late |= is_checked && !self.line.may_drift_to(seen);
        self.is_late &= !self.is_on_time(seen);
        self.newest = self.newest.max(seen.sent);
        self.last_arrival = arrival;
        self.recent[self.count % RECENT] = seen.offset;
        self.count = self.count.wrapping_add(1);
    }

    /// The smallest offset at a time of the sender's clock.
    fn least(&self, sent: i64) -> i64 {
        self.line.at(sent).saturating_add(self.below)
    }

    /// Whether this offset is near the smallest one.
    fn is_on_time(&self, point: Point) -> bool {
        point.offset.saturating_sub(self.least(point.sent)) <= SLIP
    }

    /// The clock is at this offset: it has drifted there or, where that is too far for a drift, it has slipped and goes on as fast as before.
    fn slip(&mut self, offset: i64) {
        let through = Point {
            sent: self.newest,
            offset,
        };
        let line = if self.line.may_have_drifted_to(through) {
            Line::through(self.line.through, through)
        } else {
            Line {
                through,
                ..self.line
            }
        };
        *self = Self {
            line,
            ..Self::new(through, self.last_arrival)
        };
    }

    /// The smallest offset of the last arrivals.
    fn recent_least(&self) -> i64 {
        self.recent.into_iter().min().unwrap_or(0)
    }

    fn change(&self, seen: Point, arrival: i64) -> Change {
        let silence = arrival.saturating_sub(self.last_arrival);
        let off = seen.offset.saturating_sub(self.least(seen.sent));
        let shifted = silence > SECOND && off.saturating_abs() > SECOND / 2;
        let went_back = self.newest.saturating_sub(seen.sent) > BACK;
        // Whoever has restarted meanwhile has not run for longer.
        let is_new = (0..=silence).contains(&seen.sent);
        if (went_back && (is_new || silence > SECOND)) || (shifted && is_new) {
            Change::Restart
        } else if shifted {
            Change::Shift
        } else if went_back || off < -AHEAD {
            Change::Jump
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
            assert!(mapped.stamp <= arrival && mapped.origin == Origin::Same);
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

    /// A link that delivers everything 0.3 s late, in one direction, for as long as ten seconds; round trips go on, and are as late.
    #[test]
    fn late_messages_do_not_move_a_clock_with_round_trips() {
        for slow in [0.0, 1e-4, 0.015, 0.025, -0.015] {
            let mut clock = SenderClock::default();
            let start = 500 * SECOND;
            for i in 0..2500_i64 {
                let truth = start + i * 10 * MS;
                #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
                let sent = ((i * 10 * MS) as f64 * (1.0 - slow)) as i64;
                let late = if (1000..2000).contains(&i) { 300 } else { 0 };
                let arrival = truth + (3 + late + i * 7919 % 11) * MS;
                let stamp = clock.map(sent, arrival).stamp;
                let pace = if clock.lateness() > 50 * MS { 20 } else { 100 };
                if i % pace == 0 {
                    // The question needs 3 ms.
                    let round_trip = (6 + late) * MS;
                    let at = truth + late * MS / 2;
                    clock.correct(at - sent, round_trip / 2, at);
                }
                // The line has a slope after three intervals.
                if i > 650 {
                    let wrong = (stamp - truth) / MS;
                    assert!(
                        (-5..=14).contains(&wrong),
                        "{i}: {wrong} ms, slow by {slow}"
                    );
                }
            }
        }
    }

    /// A simulation on a busy computer loses 0.3 s; arrivals alone would show it within seconds.
    #[test]
    fn round_trips_show_a_clock_that_has_slipped() {
        let mut clock = SenderClock::default();
        let start = 500 * SECOND;
        let mut late = Vec::new();
        for i in 0..300_i64 {
            let truth = start + i * 10 * MS;
            let slip = if i < 150 { 0 } else { 300 * MS };
            let sent = truth - slip - start;
            let arrival = truth + 3 * MS + (i * 7919 % 11) * MS;
            late.push(clock.map(sent, arrival).stamp - truth);
            // As soon as it seems late, and once a second.
            if i % 100 == 0 || (i % 20 == 0 && clock.lateness() > 50 * MS) {
                clock.correct(truth - sent, MS, truth);
            }
        }
        let is_right = |late: &i64| (-MS..=14 * MS).contains(late);
        assert!(late[20..150].iter().all(is_right), "{late:?}");
        assert!(late[181..].iter().all(is_right), "{late:?}");
        // As long as it is not known, it is old.
        assert!(
            late[150..165].iter().all(|late| *late < -280 * MS),
            "{late:?}"
        );
    }

    /// What waits somewhere is old, and stays old.
    #[test]
    fn a_late_link_is_no_clock_that_has_slipped() {
        let mut clock = SenderClock::default();
        let start = 500 * SECOND;
        for i in 0..180_i64 {
            let truth = start + i * 10 * MS;
            let waits = if i < 90 { 3 * MS } else { 300 * MS };
            let stamp = clock.map(truth - start, truth + waits).stamp;
            if i % 20 == 0 {
                // There and back.
                clock.correct(start, waits, truth);
            }
            assert!(i < 20 || (stamp - truth).abs() <= 3 * MS, "{i}: {stamp}");
        }
    }

    /// What a link holds back in a silence comes late, and later than that for seconds: it drains slowly.
    #[test]
    fn a_backlog_that_drains_slowly_after_a_silence_stays_old() {
        for (silence, falls) in [(1500, 150), (4000, 800)] {
            let mut clock = SenderClock::default();
            let start = 500 * SECOND;
            let (cut, mut free, mut heard) = (500 * 10, 0, 0);
            for i in 0..3000_i64 {
                let ms = i * 10;
                let truth = start + ms * MS;
                // Late by the silence at first, and by less with every second that is heard.
                let late = if ms < cut {
                    0
                } else {
                    (silence - (ms - cut) * falls / (1000 + falls)).max(0)
                };
                let arrival = (truth + (3 + late + i * 7919 % 11) * MS).max(free);
                free = arrival;
                let stamp = clock.map(truth - start, arrival).stamp;
                let pace = if clock.lateness() > 50 * MS {
                    200
                } else {
                    1000
                };
                // Answers that took longer than 2 s do not count.
                if arrival > heard + pace * MS && late < 1990 {
                    heard = arrival;
                    let at = truth + late * MS / 2;
                    clock.correct(at - truth + start, (late + 6) * MS / 2, at);
                }
                let wrong = (stamp - truth) / MS;
                assert!(
                    ms < 1000 || (-5..=14).contains(&wrong),
                    "silence {silence} ms, after {ms} ms: wrong by {wrong} ms"
                );
            }
        }
    }

    /// A simulation that was paused goes on where it was: round trips show that nothing is late.
    #[test]
    fn round_trips_show_a_clock_that_stood_still() {
        for pause in [1500, 10_000] {
            let mut clock = SenderClock::default();
            let start = 500 * SECOND;
            let mut late = Vec::new();
            for i in 0..600_i64 {
                let sent = i * 20 * MS;
                let paused = if i < 300 { 0 } else { pause * MS };
                let truth = start + sent + paused;
                let arrival = truth + 3 * MS + (i * 7919 % 11) * MS;
                let mapped = clock.map(60 * SECOND + sent, arrival);
                assert_eq!(mapped.origin, Origin::Same);
                late.push(mapped.stamp - truth);
                let pace = if clock.lateness() > 50 * MS { 10 } else { 50 };
                if i % pace == pace - 1 {
                    clock.correct(truth - sent - 60 * SECOND, 4 * MS, truth);
                }
            }
            let is_right = |late: &i64| (-5 * MS..=14 * MS).contains(late);
            assert!(late[60..300].iter().all(is_right), "{late:?}");
            // Half a second after it goes on.
            assert!(late[325..].iter().all(is_right), "{late:?}");
        }
    }

    /// Two that send with the same numbers, one of them ahead by ten minutes or behind by so much.
    #[test]
    fn times_of_another_clock_are_told_apart() {
        for apart in [600, -40, 3] {
            let mut clock = SenderClock::default();
            let mut origins = Vec::new();
            for i in 0..40_i64 {
                let arrival = 100 * SECOND + i * 10 * MS;
                let mapped = clock.map(50 * SECOND + i * 10 * MS, arrival);
                assert_eq!(mapped.stamp, arrival);
                origins.push(mapped.origin);
                if i % 5 == 4 {
                    let other = clock.map((50 + apart) * SECOND + i * 10 * MS, arrival);
                    assert_eq!(other.origin, Origin::Other, "{apart} {i}");
                }
            }
            let again = |i: usize| i > 0 && i.is_multiple_of(5);
            for (i, origin) in origins.into_iter().enumerate() {
                let expected = [Origin::Same, Origin::SameAgain][usize::from(again(i))];
                assert_eq!(origin, expected, "{apart} {i}");
            }
        }
    }

    /// Nothing but the new time is heard.
    #[test]
    fn a_clock_that_was_set_is_followed() {
        for (to, expected) in [(600, Origin::Same), (20, Origin::Restarted)] {
            let mut clock = SenderClock::default();
            let mut found = Vec::new();
            for i in 0..60_i64 {
                let arrival = 100 * SECOND + i * 10 * MS;
                let since = if i < 10 { 50 * SECOND } else { to * SECOND };
                let mapped = clock.map(since + i * 10 * MS, arrival);
                assert_eq!(mapped.stamp, arrival);
                found.push(mapped.origin);
            }
            assert!(found[..10].iter().all(|origin| *origin == Origin::Same));
            assert!(found[10..35].iter().all(|origin| *origin == Origin::Other));
            assert_eq!(found[35], expected);
            assert!(found[36..].iter().all(|origin| *origin == Origin::Same));
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
                assert!(mapped.stamp <= arrival && mapped.origin == Origin::Same);
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
            assert_eq!(mapped.origin, Origin::Same);
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
                origin: Origin::Same
            }
        );
        // Late by 0.9 s, but not a restart: the stamp is as old as the message.
        let late = clock.map(100 * SECOND + 10 * MS, 200 * SECOND + 910 * MS);
        assert_eq!(
            late,
            Mapped {
                stamp: 200 * SECOND + 10 * MS,
                origin: Origin::Same
            }
        );
        // Time goes back.
        assert_eq!(
            clock.map(2 * SECOND, 202 * SECOND),
            Mapped {
                stamp: 202 * SECOND,
                origin: Origin::Restarted
            }
        );
        // Off for a minute and rebooted meanwhile, with the new time ahead of the old one.
        assert_eq!(
            clock.map(40 * SECOND, 262 * SECOND),
            Mapped {
                stamp: 262 * SECOND,
                origin: Origin::Restarted
            }
        );
        // Paused for 2 s, as simulations are: it has been running for longer than that.
        assert_eq!(
            clock.map(40 * SECOND + 20 * MS, 264 * SECOND),
            Mapped {
                stamp: 264 * SECOND,
                origin: Origin::Same
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
