//! Tick times from frame times: strictly increasing, whatever the backend's clock does.

use crate::supervisor::Fault;

/// Frames with times beyond this, in either direction, are rejected, so that later times cannot overflow.
const LATEST: i64 = i64::MAX / 2;

/// The clock of a flight.
///
/// A tick without a frame gets the expected time: one step after the last tick, or more if more time has passed on the
/// host's clock. A single frame whose time is far from the expected time is faulty. If the next frame continues from
/// that time, the backend's clock has jumped; its times are then shifted so that flight time continues.
#[derive(Debug, Clone)]
pub(crate) struct Timeline {
    /// Nominal time between ticks, ns.
    step: i64,
    /// Two frames further apart than this (ns) are not consecutive.
    longest_gap: i64,
    /// Whether a jump forward is accepted: recordings have gaps.
    recording: bool,
    /// Offset added to the backend's times, ns.
    shift: i64,
    /// Times of the first and of the last tick, ns.
    first: Option<i64>,
    last: Option<i64>,
    /// Time between the last two ticks, ns; the nominal time until there are two.
    spacing: i64,
    /// The backend's time of the last accepted frame, ns.
    last_fresh: Option<i64>,
    /// The backend's time of a frame that jumped, until the next frame.
    suspect: Option<i64>,
    jumps: u64,
}

impl Timeline {
    /// A timeline before the first tick, with this nominal time between ticks, ns.
    pub fn new(step: i64, longest_gap: i64, recording: bool) -> Self {
        Self {
            step,
            longest_gap,
            recording,
            shift: 0,
            first: None,
            last: None,
            spacing: step,
            last_fresh: None,
            suspect: None,
            jumps: 0,
        }
    }

    /// Returns the time of a tick whose frame has the backend's time `raw`. `passed` is the host-clock time since the
    /// last tick, ns (0 if the backend's clock is not real time).
    ///
    /// # Errors
    /// [`Fault::Time`] if the time does not advance, [`Fault::TimeJump`] if it jumps; the tick then has [the expected
    /// time](Self::missing).
    pub fn fresh(&mut self, raw: i64, passed: i64) -> Result<i64, Fault> {
        let suspect = self.suspect.take();
        if !(-LATEST..=LATEST).contains(&raw) {
            return Err(Fault::TimeJump);
        }
        let Some(last) = self.last else {
            return Ok(self.accept(raw, raw));
        };
        if self.last_fresh == Some(raw) {
            return Err(Fault::Time);
        }
        let time = raw.saturating_add(self.shift);
        if self.follows(time, last, passed) {
            return Ok(self.accept(raw, time));
        }
        // A frame after a tick without one may be stamped up to two steps before that tick.
        let late = last.saturating_sub(time);
        let newer = self.last_fresh.is_none_or(|fresh| raw > fresh);
        let step = self.step.max(self.spacing);
        if newer && (0..step.saturating_mul(2)).contains(&late) {
            return Ok(self.accept(raw, last.saturating_add(1)));
        }
        if suspect.is_some_and(|suspect| self.follows(raw, suspect, passed)) {
            let expected = last.saturating_add(self.step);
            self.shift = expected.saturating_sub(raw);
            self.jumps += 1;
            return Ok(self.accept(raw, expected));
        }
        self.suspect = Some(raw);
        Err(Fault::TimeJump)
    }

    /// Returns the time of a tick without a usable frame: the backend's time `raw` if plausible, else the expected
    /// time.
    pub fn missing(&mut self, raw: Option<i64>, passed: i64) -> i64 {
        let told = (raw.map(|raw| raw.saturating_add(self.shift))).filter(|time| {
            self.last
                .is_none_or(|last| self.follows(*time, last, passed))
        });
        // The time of a late read is part of the flight as well.
        let step = self.step.max(passed);
        let expected = self.last.map_or(0, |last| last.saturating_add(step));
        let time = told
            .filter(|time| (-LATEST..=LATEST).contains(time))
            .unwrap_or(expected);
        self.tick(time)
    }

    /// Whether a frame at `time` may be the successor of one at `last`.
    fn follows(&self, time: i64, last: i64, passed: i64) -> bool {
        let ahead = time.saturating_sub(last);
        ahead > 0 && (self.recording || ahead <= self.longest_gap.saturating_add(passed))
    }

    fn accept(&mut self, raw: i64, time: i64) -> i64 {
        self.last_fresh = Some(raw);
        self.tick(time)
    }

    fn tick(&mut self, time: i64) -> i64 {
        self.first.get_or_insert(time);
        if let Some(last) = self.last.replace(time) {
            self.spacing = time.saturating_sub(last);
        }
        time
    }

    /// Nominal time between ticks, ns.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// Half the time to the next tick, ns, as far as it is known: a recording may have a different rate.
    pub fn half_step(&self) -> i64 {
        self.step.min(self.spacing) / 2
    }

    /// Whether the frames are those of a recording.
    pub fn is_recording(&self) -> bool {
        self.recording
    }

    /// Time of the last tick, ns.
    pub fn last(&self) -> Option<i64> {
        self.last
    }

    /// Nanoseconds from the first tick to `time`.
    pub fn since_first(&self, time: i64) -> i64 {
        time.saturating_sub(self.first.unwrap_or(time))
    }

    /// Whether a frame was ever accepted.
    pub fn has_frames(&self) -> bool {
        self.last_fresh.is_some()
    }

    /// Offset added to the backend's times, ns.
    pub fn shift(&self) -> i64 {
        self.shift
    }

    /// How often the backend's clock has jumped.
    pub fn jumps(&self) -> u64 {
        self.jumps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fly_testing::Random;

    const HOUR: i64 = 3_600_000_000_000;
    const GAP: i64 = 154;

    /// Ticks with a step of 2, after the first one at 1000.
    fn begun(recording: bool) -> Timeline {
        let mut timeline = Timeline::new(2, GAP, recording);
        assert_eq!(timeline.fresh(1000, 0), Ok(1000));
        timeline
    }

    #[test]
    fn neighbours_have_their_own_times() {
        let mut timeline = begun(false);
        assert_eq!(timeline.fresh(1002, 0), Ok(1002));
        assert_eq!(timeline.missing(None, 0), 1004);
        assert_eq!(timeline.missing(Some(1007), 0), 1007);
        // Up to two steps before the last tick, and still newer than the last frame.
        assert_eq!(timeline.fresh(1005, 0), Ok(1008));
        assert_eq!(timeline.fresh(1005, 0), Err(Fault::Time));
        assert_eq!(timeline.fresh(1008 + GAP, 0), Ok(1008 + GAP));
        assert_eq!((timeline.shift(), timeline.jumps()), (0, 0));
    }

    #[test]
    fn one_frame_of_another_time_costs_one_tick() {
        for wrong in [1000 + HOUR, 1000 - HOUR, i64::MAX, i64::MIN] {
            let mut timeline = begun(false);
            assert_eq!(timeline.fresh(wrong, 0), Err(Fault::TimeJump), "{wrong}");
            assert_eq!(timeline.missing(None, 0), 1002);
            assert_eq!(timeline.fresh(1004, 0), Ok(1004), "{wrong}");
        }
    }

    #[test]
    fn a_clock_that_jumps_and_jumps_back_costs_one_tick_each() {
        for jump in [HOUR, -HOUR] {
            let mut timeline = begun(false);
            assert_eq!(timeline.fresh(1002 + jump, 0), Err(Fault::TimeJump));
            assert_eq!(timeline.missing(None, 0), 1002);
            assert_eq!(timeline.fresh(1004 + jump, 0), Ok(1004));
            assert_eq!(timeline.fresh(1006 + jump, 0), Ok(1006));
            assert_eq!(timeline.shift(), -jump);
            assert_eq!(timeline.fresh(1008, 0), Err(Fault::TimeJump));
            assert_eq!(timeline.missing(None, 0), 1008);
            assert_eq!(timeline.fresh(1010, 0), Ok(1010));
            assert_eq!((timeline.shift(), timeline.jumps()), (0, 2));
        }
    }

    #[test]
    fn time_that_passed_on_the_hosts_clock_too_is_no_leap() {
        let mut timeline = begun(false);
        assert_eq!(timeline.fresh(6000, 0), Err(Fault::TimeJump));
        let mut timeline = begun(false);
        assert_eq!(timeline.fresh(6000, 4990), Ok(6000));
        assert_eq!(timeline.missing(Some(9000), 2990), 9000);
        assert_eq!(timeline.missing(Some(19_000), 2), 9002);
    }

    #[test]
    fn a_tick_without_a_frame_takes_as_long_as_it_took() {
        let mut timeline = begun(false);
        assert_eq!(timeline.missing(None, 70), 1070);
        assert_eq!(timeline.missing(None, 1), 1072);
        // Host time passes while no frame comes.
        let mut timeline = begun(false);
        assert_eq!(timeline.missing(None, 70), 1070);
        assert_eq!(timeline.fresh(1060, 2), Ok(1071));
        assert_eq!(timeline.fresh(1073, 2), Ok(1073));
        assert_eq!((timeline.shift(), timeline.jumps()), (0, 0));
    }

    #[test]
    fn recordings_have_gaps() {
        let mut timeline = begun(true);
        assert_eq!(timeline.fresh(1000 + HOUR, 0), Ok(1000 + HOUR));
        assert_eq!(timeline.fresh(1004, 0), Err(Fault::TimeJump));
    }

    #[test]
    fn ticks_always_advance() {
        // Arbitrary times.
        let mut random = Random::new(1);
        let (mut timeline, mut last) = (begun(false), 1000);
        for _ in 0..100_000 {
            let (kind, amount) = (random.below(8), random.below(300).cast_signed());
            let raw = match kind {
                0 => last + HOUR,
                1 => last - HOUR,
                2 => i64::MIN + amount,
                3 => i64::MAX - amount,
                _ => last + amount - 150,
            };
            let time = match timeline.fresh(raw, 0) {
                Ok(time) => time,
                Err(_) => timeline.missing(Some(raw), 0),
            };
            assert!(time > last && time - last <= GAP.max(2), "{last} to {time}");
            last = time;
        }
    }
}
