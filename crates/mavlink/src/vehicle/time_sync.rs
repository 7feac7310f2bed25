//! `TIMESYNC`: the vehicle's clock relative to ours, from round trips.
//!
//! We send `ts1`; the vehicle answers at its time `tc1`; the answer arrives at `t`. The vehicle's clock was then ahead
//! of ours by `tc1 - (ts1 + t) / 2`, to within half the round trip `t - ts1`, whatever the delays in each direction. Of
//! the last answers the one with the shortest round trip is used, as in NTP's clock filter (RFC 5905, section 10):
//! queues only make round trips longer.

use crate::dialect::TIMESYNC_DATA;

const SECOND: i64 = 1_000_000_000;

/// Number of answers kept.
const KEPT: usize = 8;

/// Number of requests whose answer may still arrive.
const ASKED: usize = 8;

/// The pace of the first questions, and of the later ones, ns.
const FAST: i64 = SECOND / 5;
const SLOW: i64 = SECOND;

/// A question without an answer for this long (ns) is followed by others at the fast pace …
const DUE: i64 = 2 * SECOND / 5;
/// … and after so many of them nothing that is sent seems to arrive.
const UNHEARD: u32 = 5;

/// Messages that are later by more than this, ns, are late.
const LATE: i64 = SECOND / 20;

/// Slower answers are useless, ns.
const LONGEST: i64 = 2 * SECOND;

/// If the difference exceeds both error bounds by this, ns, and by the possible drift, the clock was set.
const JUMP: i64 = SECOND / 100;

/// Largest drift of a simulated autopilot's clock: one part in this many.
const DRIFT: i64 = 50;

/// The vehicle's clock relative to ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// By how much the vehicle's clock is ahead of `CLOCK_MONOTONIC`, ns …
    pub offset: i64,
    /// … at this time of `CLOCK_MONOTONIC`, ns: a simulated autopilot's may be slow or fast by 1 %.
    pub at: i64,
    /// The shortest round trip of the last answers, ns; the offset is right within half of it.
    pub round_trip: i64,
    /// The newest round trip, ns.
    pub last_round_trip: i64,
}

#[derive(Clone, Copy)]
struct Answer {
    offset: i64,
    at: i64,
    round_trip: i64,
}

/// Sends requests, answers them, and keeps the best result.
#[derive(Default)]
pub(super) struct TimeSync {
    us: (u8, u8),
    asked: [Option<i64>; ASKED],
    questions: usize,
    /// When the last request was sent, ns.
    asked_at: Option<i64>,
    /// The first of the questions since the last answer, ns, and how many they are.
    open: Option<(i64, u32)>,
    kept: Vec<Answer>,
    oldest: usize,
    last_round_trip: i64,
}

impl TimeSync {
    pub fn new(us: (u8, u8)) -> Self {
        Self {
            us,
            kept: Vec::with_capacity(KEPT),
            ..Self::default()
        }
    }

    /// A request to the vehicle, if one is due: sooner while its messages are late by `lateness`, ns.
    pub fn question(&mut self, now: i64, lateness: i64, target: (u8, u8)) -> Option<TIMESYNC_DATA> {
        let begins = self.kept.len() < KEPT && self.questions < 4 * KEPT;
        let is_due = (self.open).is_some_and(|(since, _)| now.saturating_sub(since) > DUE);
        let pace = if begins || lateness > LATE || (is_due && !self.kept.is_empty()) {
            FAST
        } else {
            SLOW
        };
        if (self.asked_at).is_some_and(|at| now < at.saturating_add(pace)) {
            return None;
        }
        self.asked_at = Some(now);
        self.asked[self.questions % ASKED] = Some(now);
        self.questions += 1;
        let (since, count) = self.open.unwrap_or((now, 0));
        self.open = Some((since, count.saturating_add(1)));
        Some(TIMESYNC_DATA {
            tc1: 0,
            ts1: now,
            target_system: target.0,
            target_component: target.1,
        })
    }

    /// Nothing at all is heard: that says nothing of what arrives there.
    pub fn hears_nothing(&mut self) {
        self.open = None;
    }

    /// Since when a vehicle that answered has not answered any more, ns: what we send may not reach it.
    pub fn unheard_since(&self) -> Option<i64> {
        let (since, count) = self.open?;
        (count >= UNHEARD && !self.kept.is_empty()).then_some(since)
    }

    /// Our answer to a request; `None` for an answer, or for a request to another system.
    pub fn answer(&self, m: &TIMESYNC_DATA, from: (u8, u8), now: i64) -> Option<TIMESYNC_DATA> {
        let to_us = (m.target_system == 0 || m.target_system == self.us.0)
            && (m.target_component == 0 || m.target_component == self.us.1);
        (m.tc1 == 0 && to_us).then_some(TIMESYNC_DATA {
            tc1: now,
            ts1: m.ts1,
            target_system: from.0,
            target_component: from.1,
        })
    }

    /// Processes the vehicle's answer; returns whether it is the first one to a request of ours.
    pub fn take(&mut self, m: &TIMESYNC_DATA, arrival: i64) -> bool {
        if m.tc1 == 0 {
            return false;
        }
        let Some(asked) = self.asked.iter_mut().find(|asked| **asked == Some(m.ts1)) else {
            return false;
        };
        *asked = None;
        let round_trip = arrival.saturating_sub(m.ts1);
        if !(0..=LONGEST).contains(&round_trip) {
            return false;
        }
        self.open = None;
        let at = m.ts1 + round_trip / 2;
        let answer = Answer {
            offset: m.tc1.saturating_sub(at),
            at,
            round_trip,
        };
        let jumped = self.kept.iter().any(|old| {
            let apart = answer.offset.saturating_sub(old.offset).saturating_abs();
            let drifted = at.saturating_sub(old.at) / DRIFT;
            apart > i64::midpoint(answer.round_trip, old.round_trip) + JUMP + drifted
        });
        if jumped {
            self.kept.clear();
            self.oldest = 0;
        }
        if self.kept.len() < KEPT {
            self.kept.push(answer);
        } else {
            self.kept[self.oldest] = answer;
            self.oldest = (self.oldest + 1) % KEPT;
        }
        self.last_round_trip = round_trip;
        true
    }

    pub fn estimate(&self) -> Option<ClockOffset> {
        let best = self.kept.iter().min_by_key(|answer| answer.round_trip)?;
        Some(ClockOffset {
            offset: best.offset,
            at: best.at,
            round_trip: best.round_trip,
            last_round_trip: self.last_round_trip,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fly_testing::Random;

    const MS: i64 = 1_000_000;
    const US: (u8, u8) = (255, 190);

    /// A request and its answer, with the delays in both directions in ms; returns whether it was accepted.
    fn round(sync: &mut TimeSync, now: i64, offset: i64, there: i64, back: i64) -> bool {
        let Some(question) = sync.question(now, 0, (1, 1)) else {
            return false;
        };
        let vehicle = TimeSync::new((1, 1));
        let answer = vehicle
            .answer(&question, US, now + there * MS + offset)
            .unwrap();
        sync.take(&answer, now + (there + back) * MS)
    }

    #[test]
    fn the_shortest_round_trip_decides_and_bounds_the_error() {
        let mut sync = TimeSync::new(US);
        let offset = -37 * SECOND;
        let mut random = Random::new(12345);
        for i in 0..40 {
            // 5 ms out and 9 ms back, and up to 200 ms of jitter on each.
            let [jitter, more] = [(); 2].map(|()| random.below(200).cast_signed());
            assert!(round(
                &mut sync,
                (i + 1) * SECOND,
                offset,
                5 + jitter,
                9 + more
            ));
            let estimate = sync.estimate().unwrap();
            let error = (estimate.offset - offset).abs();
            assert!(error <= estimate.round_trip / 2, "{error} ns: {estimate:?}");
        }
        assert!(sync.estimate().unwrap().round_trip < 200 * MS);
        // One fast answer, exact up to the difference of the delays.
        assert!(round(&mut sync, 50 * SECOND, offset, 5, 9));
        assert_eq!(sync.estimate().unwrap().offset, offset - 2 * MS);
    }

    /// One direction of a link is lost: answers stop, within two seconds of the last one that is noticed.
    #[test]
    fn a_vehicle_that_stops_answering_is_noticed() {
        let mut sync = TimeSync::new(US);
        for i in 1..=10 {
            assert!(sync.unheard_since().is_none());
            round(&mut sync, i * SECOND, 0, 5, 9);
        }
        let last = 10 * SECOND;
        let mut noticed = None;
        for now in (0..4000).map(|ms| last + ms * MS) {
            let _ = sync.question(now, 0, (1, 1));
            noticed = noticed.or(sync.unheard_since().map(|since| (now, since)));
        }
        let (now, since) = noticed.unwrap();
        assert_eq!(since, last + SECOND, "the first question without an answer");
        // The first question is due, and four more follow at the fast pace, asked about once a millisecond.
        assert!(now <= since + DUE + 3 * FAST + 5 * MS, "{now}");
        // A silence ends that, of which this says nothing …
        sync.hears_nothing();
        assert!(sync.unheard_since().is_none());
        // … and so does an answer.
        for i in 0..40 {
            let _ = sync.question(15 * SECOND + i * FAST, 0, (1, 1));
        }
        assert!(sync.unheard_since().is_some());
        assert!(round(&mut sync, 30 * SECOND, 0, 5, 9));
        assert!(sync.unheard_since().is_none());
        // One that never answered does not answer such questions at all.
        let mut mute = TimeSync::new(US);
        for i in 0..1000 {
            let _ = mute.question(i * 10 * MS, 0, (1, 1));
        }
        assert!(mute.unheard_since().is_none());
    }

    #[test]
    fn only_answers_to_our_questions_count_and_each_once() {
        let mut sync = TimeSync::new(US);
        let question = sync.question(SECOND, 0, (1, 1)).unwrap();
        let right = TIMESYNC_DATA {
            tc1: 5 * SECOND,
            ..question.clone()
        };
        let other = TIMESYNC_DATA {
            ts1: SECOND + 1,
            ..right.clone()
        };
        assert!(!sync.take(&other, SECOND + 10 * MS));
        assert!(
            !sync.take(&question, SECOND + 10 * MS),
            "our own, come back"
        );
        assert!(sync.take(&right, SECOND + 10 * MS));
        assert!(!sync.take(&right, SECOND + 20 * MS), "sent twice");
        let next = sync.question(2 * SECOND, 0, (1, 1)).unwrap();
        let late = TIMESYNC_DATA {
            tc1: 5 * SECOND,
            ..next
        };
        assert!(!sync.take(&late, 2 * SECOND + LONGEST + 1));
        assert!(!sync.take(
            &TIMESYNC_DATA {
                tc1: i64::MIN,
                ts1: i64::MAX,
                ..late
            },
            0
        ));
    }

    #[test]
    fn a_vehicle_that_reboots_is_followed_at_once() {
        let mut sync = TimeSync::new(US);
        for i in 1..20 {
            round(&mut sync, i * SECOND, 100 * SECOND, 3, 3);
        }
        round(&mut sync, 21 * SECOND, -20 * SECOND, 40, 40);
        let estimate = sync.estimate().unwrap();
        assert_eq!(
            (estimate.offset, estimate.round_trip),
            (-20 * SECOND, 80 * MS)
        );
    }

    /// Slow by 1 %: the best answer states when it was valid, and causes no jump.
    #[test]
    fn a_slow_clock_is_not_set_anew_with_every_answer() {
        let mut sync = TimeSync::new(US);
        for i in 1..20 {
            let lost = i * SECOND / 100;
            let slowly = if i == 15 { 2 } else { 20 };
            assert!(round(&mut sync, i * SECOND, -lost, slowly, slowly));
        }
        let estimate = sync.estimate().unwrap();
        assert_eq!(
            (estimate.offset, estimate.at),
            (-15 * SECOND / 100, 15 * SECOND + 2 * MS)
        );
        assert_eq!(estimate.round_trip, 4 * MS);
    }

    #[test]
    fn questions_come_at_their_pace_and_ours_are_answered() {
        let mut sync = TimeSync::new(US);
        let times = (0..10_000).filter(|ms| sync.question(ms * MS, 0, (1, 1)).is_some());
        let count = times.count();
        assert!((33..=45).contains(&count), "{count}");
        let theirs = TIMESYNC_DATA {
            ts1: 77,
            ..TIMESYNC_DATA::default()
        };
        let answer = sync.answer(&theirs, (1, 1), 1234).unwrap();
        assert_eq!(
            (answer.tc1, answer.ts1, answer.target_system),
            (1234, 77, 1)
        );
        let to_another = TIMESYNC_DATA {
            target_system: 9,
            ..theirs
        };
        assert_eq!(sync.answer(&to_another, (1, 1), 1234), None);
    }

    /// A vehicle whose telemetry and whose answers share a link that is first silent, from 10 s on. Calls `check` with when, ms, a message was
    /// measured, and by how much, ms, its stamp is wrong.
    fn hear_over(late: impl Fn(i64) -> i64, slept: impl Fn(i64) -> i64, check: impl Fn(i64, i64)) {
        let (mut sync, mut clock) = (TimeSync::new(US), crate::SenderClock::default());
        let vehicle = TimeSync::new((1, 1));
        // When what is sent at an instant arrives, and what the vehicle's clock shows then, all in ms.
        let arrives = |sent: i64| sent + 3 + late(sent);
        let shows = |now: i64| (100_000 + now - slept(now)) * MS;
        let mut queue: Vec<(i64, i64, Option<TIMESYNC_DATA>)> = Vec::new();
        for now in 0..30_000 {
            let sleeps = slept(now) > slept(now - 1);
            if now % 20 == 0 && !sleeps {
                queue.push((arrives(now), now, None));
            }
            // What is asked while it sleeps is answered when it goes on.
            if let Some(question) = sync.question(now * MS, clock.lateness(), (1, 1)) {
                let at = (now + 3..60_000).find(|at| slept(*at) == slept(at - 1));
                let at = at.unwrap_or(now);
                let answer = vehicle.answer(&question, US, shows(at)).unwrap();
                queue.push((arrives(at), at, Some(answer)));
            }
            queue.sort_by_key(|message| message.1);
            while let Some((_, sent, answer)) = queue.first().filter(|first| first.0 <= now) {
                if let Some(answer) = answer {
                    if sync.take(answer, now * MS) {
                        let it = sync.estimate().unwrap();
                        clock.correct(-it.offset, it.round_trip / 2, it.at);
                    }
                } else {
                    let stamp = clock.map(shows(*sent), now * MS).stamp;
                    check(*sent, stamp / MS - sent);
                }
                queue.remove(0);
            }
        }
    }

    #[test]
    fn a_link_that_delivers_late_is_no_clock_that_stood_still() {
        for (silence, falls) in [(1500, 150), (1500, 50), (4000, 500), (900, 100)] {
            let late = |sent: i64| match sent {
                ..10_000 => 0,
                _ => (silence - (sent - 10_000) * falls / (1000 + falls)).max(0),
            };
            hear_over(
                late,
                |_| 0,
                |sent, wrong| {
                    assert!(
                        sent < 1000 || wrong.abs() <= 5,
                        "{silence} {falls}: {sent} {wrong}"
                    );
                },
            );
        }
    }

    #[test]
    fn a_clock_that_stood_still_is_right_within_a_second() {
        for pause in [300, 1100, 1500, 4000, 20_000] {
            let slept = |now: i64| (now - 10_000).clamp(0, pause);
            hear_over(
                |_| 0,
                slept,
                |sent, wrong| {
                    let is_told = sent < 1000 || (10_000..11_000 + pause).contains(&sent);
                    assert!(is_told || wrong.abs() <= 5, "{pause}: {sent} {wrong}");
                },
            );
        }
    }
}
