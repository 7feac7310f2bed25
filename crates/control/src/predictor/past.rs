//! The last states of a prediction, in which a measurement that comes late is put where it belongs.

use std::collections::VecDeque;
use std::ops::Range;

use fly_mechanics::System;
use fly_mechanics::integrate::SystemState;
use fly_mechanics::measurements::Measurements;

use super::StatePredictor;
use crate::time::{nanoseconds, seconds};

/// States nearer to each other than this, ns, are one.
const SPACING: i64 = 5_000_000;

/// How far back a measurement may be, ns.
const LONGEST: i64 = 500_000_000;

/// So many states are as long ago, and two more.
const MOMENTS: usize = 102;

/// Longest integration step from one of them to the next, s.
const STEP: f64 = 5e-3;

/// The states of the past, the oldest first.
pub(super) struct Past {
    moments: VecDeque<Moment>,
    /// What was measured since the last of them.
    measured: Measured,
    /// From this one on they do not hold any more.
    outdated: Option<usize>,
}

/// A state, and what was done from then on.
struct Moment {
    /// ns; `i64::MIN` if there is none.
    time: i64,
    motion: SystemState<f64>,
    /// What was measured then; the state includes it.
    measured: Measured,
    /// The commands sent from then on, and whether there were any.
    commands: Vec<f64>,
    is_commanded: bool,
}

/// Measured groups, and the values of all.
#[derive(Clone)]
struct Measured {
    groups: Vec<bool>,
    values: Vec<f64>,
    /// The places of the groups' values.
    ranges: Vec<Range<usize>>,
}

impl Past {
    pub(super) fn new(
        system: &System,
        measurements: &Measurements,
        motion: &SystemState<f64>,
    ) -> Self {
        let measured = Measured {
            groups: vec![false; measurements.groups().len()],
            values: vec![0.0; measurements.dim()],
            ranges: (measurements.groups().iter())
                .map(|group| group.range.clone())
                .collect(),
        };
        let moment = || Moment {
            time: i64::MIN,
            motion: motion.clone(),
            measured: measured.clone(),
            commands: system.inputs.at_rest().collect(),
            is_commanded: false,
        };
        Self {
            moments: (0..MOMENTS).map(|_| moment()).collect(),
            measured,
            outdated: None,
        }
    }

    /// Takes what was measured just now.
    pub(super) fn measure(&mut self, group: usize, numbers: &[f64]) {
        self.measured.set(group, numbers);
    }

    /// Takes the commands of the time that follows.
    pub(super) fn command(&mut self, commands: &[f64]) {
        if let Some(last) = self.moments.back_mut().filter(|last| !last.is_commanded) {
            last.commands.copy_from_slice(commands);
            last.is_commanded = true;
        }
    }

    fn remember(&mut self, time: i64, motion: &SystemState<f64>) {
        let [before, last] = self.newest_times();
        if time < last {
            // Another clock.
            let times = self.moments.iter_mut().map(|moment| &mut moment.time);
            times.for_each(|time| *time = i64::MIN);
            self.outdated = None;
        }
        // All are apart but for the last one, which stands for those since the one before.
        if last == i64::MIN || time < last || last.saturating_sub(before) >= SPACING {
            self.moments.rotate_left(1);
            self.outdated = self.outdated.map(|first| first.saturating_sub(1));
            if let Some(moment) = self.moments.back_mut() {
                moment.measured.groups.fill(false);
            }
        }
        if let Some(moment) = self.moments.back_mut() {
            moment.time = time;
            (moment.motion.configuration).copy_from_slice(&motion.configuration);
            (moment.motion.velocity).copy_from_slice(&motion.velocity);
            moment.measured.add(&self.measured);
            moment.is_commanded = false;
        }
        self.measured.groups.fill(false);
    }

    /// The times of the last moment but one and of the last one, ns.
    fn newest_times(&self) -> [i64; 2] {
        let mut times = self.moments.iter().rev().map(|moment| moment.time);
        let last = times.next().unwrap_or(i64::MIN);
        [times.next().unwrap_or(i64::MIN), last]
    }

    /// The moment nearest to a time, ns; `None` for a time before the first.
    fn nearest(&self, time: i64) -> Option<usize> {
        let after = self.moments.partition_point(|moment| moment.time <= time);
        let before = after.checked_sub(1)?;
        let distance = |index: usize| {
            let moment = self
                .moments
                .get(index)
                .filter(|moment| moment.time > i64::MIN)?;
            Some(moment.time.saturating_sub(time).saturating_abs())
        };
        let from = distance(before)?;
        let is_later = distance(after).is_some_and(|to| to < from);
        Some(if is_later { after } else { before })
    }

    /// The commands that act from a moment on, if those sent act `delay` ns later.
    fn acting(&self, index: usize, delay: i64) -> &[f64] {
        let sent = self.moments[index].time.saturating_sub(delay);
        let after = self.moments.partition_point(|moment| moment.time <= sent);
        &self.moments[after.saturating_sub(1)].commands
    }
}

impl Measured {
    fn set(&mut self, group: usize, numbers: &[f64]) {
        let range = self.ranges[group].clone();
        let length = range.len();
        self.values[range].copy_from_slice(&numbers[..length]);
        self.groups[group] = true;
    }

    /// Replaces what a newer one holds.
    fn add(&mut self, newer: &Self) {
        for (group, _) in newer.groups.iter().enumerate().filter(|(_, is)| **is) {
            let range = self.ranges[group].clone();
            self.values[range.clone()].copy_from_slice(&newer.values[range]);
            self.groups[group] = true;
        }
    }
}

/// # Late measurements
impl StatePredictor {
    /// Keeps the states of the last half a second for [`measure_late`](Self::measure_late), those of each
    /// [`remember`](Self::remember) but at most one per 5 ms.
    #[must_use]
    pub fn with_past(mut self) -> Self {
        let past = Past::new(&self.system, &self.measurements, &self.motion);
        self.past = Some(past);
        self
    }

    /// Remembers the present state, with what was just measured, as that of `time`, ns. A time before the last one begins anew.
    pub fn remember(&mut self, time: i64) {
        if let Some(past) = &mut self.past {
            past.remember(time, &self.motion);
        }
    }

    /// Puts a measurement of the past, at `time` (ns), beside what was measured then, as [`measure`](Self::measure) does for
    /// one of the present. Earlier measurements of the group that came later count no longer. Returns whether that time is
    /// remembered, half a second at most. [`revise`](Self::revise) then follows it to the present.
    ///
    /// # Panics
    /// If there is no such group, or `numbers` is shorter than it.
    pub fn measure_late(&mut self, group: usize, numbers: &[f64], time: i64) -> bool {
        let Some(past) = &mut self.past else {
            return false;
        };
        let [_, last] = past.newest_times();
        let Some(index) = past
            .nearest(time)
            .filter(|_| last.saturating_sub(time) <= LONGEST)
        else {
            return false;
        };
        for moment in past.moments.range_mut(index..) {
            moment.measured.groups[group] = false;
        }
        past.moments[index].measured.set(group, numbers);
        past.outdated = Some(past.outdated.map_or(index, |first| first.min(index)));
        true
    }

    /// Predicts the state of `now` (ns) anew from the first late measurement on, with all that was measured and commanded
    /// since. No effect without one.
    pub fn revise(&mut self, now: i64) {
        let Some(mut past) = self.past.take() else {
            return;
        };
        if let Some(first) = past.outdated.take() {
            let delay = self.delay.take();
            let behind = delay.as_ref().map_or(0, |delay| nanoseconds(delay.time));
            let motion = &past.moments[first].motion;
            self.motion
                .configuration
                .copy_from_slice(&motion.configuration);
            self.motion.velocity.copy_from_slice(&motion.velocity);
            for index in first..past.moments.len() {
                let moment = &past.moments[index];
                let measured = &moment.measured;
                for (group, _) in (measured.groups.iter().enumerate()).filter(|(_, is)| **is) {
                    let range = self.measurements.groups()[group].range.clone();
                    self.set(group, &measured.values[range]);
                }
                let time = moment.time;
                let next = past.moments.get(index + 1).map_or(now, |next| next.time);
                let moment = &mut past.moments[index].motion;
                moment
                    .configuration
                    .copy_from_slice(&self.motion.configuration);
                moment.velocity.copy_from_slice(&self.motion.velocity);
                let duration = seconds(next.saturating_sub(time));
                self.integrate(past.acting(index, behind), duration, STEP);
            }
            self.delay = delay;
        }
        self.past = Some(past);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rotors with lags, one of them tilted.
    const VEHICLE: &str = r#"
        name = "two rotors"
        [bodies.airframe]
        mass = 1.0
        inertia = [0.01, 0.01, 0.02]
        [[rotors]]
        body = "airframe"
        position = [0.1, 0.0, 0.0]
        axis = [0.0, 0.0, 1.0]
        drag_ratio = 0.01
        thrust = [0.0, 30.0]
        time_constant = 0.05
        [[rotors]]
        body = "airframe"
        position = [-0.1, 0.0, 0.0]
        axis = [0.0, 0.1, 1.0]
        drag_ratio = 0.01
        thrust = [0.0, 30.0]
        time_constant = 0.05
    "#;
    const STEP: i64 = 8_000_000;

    fn predictor(delay: f64) -> StatePredictor {
        let system = System::from_toml(VEHICLE).expect("a good description");
        let predictor = StatePredictor::new(&system).expect("dynamics");
        predictor.with_delay(delay).with_past()
    }

    fn measurements(predictor: &StatePredictor) -> Vec<f64> {
        let mut values = vec![0.0; predictor.measurements.dim()];
        let (x, xi) = (predictor.configuration(), predictor.velocity());
        let model = &predictor.system().model;
        (predictor.measurements).read(model, x, xi, &mut values);
        values
    }

    /// The largest difference of what would be measured.
    fn apart(one: &StatePredictor, other: &StatePredictor) -> f64 {
        let pairs = measurements(one).into_iter().zip(measurements(other));
        pairs.fold(0.0, |most, (a, b)| most.max((a - b).abs()))
    }

    /// One that starts elsewhere, turned and moving, learns first how it was turned and moved half a second ago, and then
    /// where it was a little later.
    #[test]
    fn what_was_measured_in_the_past_holds_at_present() {
        for delay in [0.0, 0.024] {
            let (mut truth, mut lost) = (predictor(delay), predictor(delay));
            lost.measure(0, &[3.0, -2.0, 1.0]);
            lost.measure(1, &[0.8, 0.0, 0.6, 0.0]);
            lost.measure(2, &[1.0, 0.5, -1.0]);
            lost.measure(3, &[0.3, -0.2, 1.0]);
            let mut past = Vec::new();
            for (tick, wave) in (0..100_i64).zip(0..100_i32) {
                past.push(measurements(&truth));
                let wave = 0.3 * (0.1 * f64::from(wave)).sin();
                for predictor in [&mut truth, &mut lost] {
                    predictor.remember(tick * STEP);
                    predictor.predict(&[4.9 + wave, 4.8 - wave], seconds(STEP));
                }
            }
            let now = 100 * STEP;
            assert!(apart(&truth, &lost) > 1.0);
            let told = |predictor: &mut StatePredictor, group: usize, tick: usize, time: i64| {
                let range = predictor.measurements.groups()[group].range.clone();
                assert!(predictor.measure_late(group, &past[tick][range], time * STEP));
            };
            for group in [1, 2, 3] {
                told(&mut lost, group, 45, 45);
            }
            lost.revise(now);
            assert!(
                apart(&truth, &lost) > 1.0,
                "it is not known yet where it is"
            );
            told(&mut lost, 0, 60, 60);
            lost.revise(now);
            let apart = apart(&truth, &lost);
            // Steps h of 4 ms instead of 2 ms err by (h / lag)^5 / 120 = 3e-8 of the changes of the thrusts, 0.6 N, in angular velocities by ten
            // times as much.
            assert!(apart < 1e-6, "{delay}: {apart}");
        }
    }

    #[test]
    fn a_late_measurement_leaves_what_other_groups_tell_after_it() {
        let mut predictor = predictor(0.0);
        for tick in 0..50_i64 {
            predictor.predict(&[4.9, 4.9], seconds(STEP));
            if tick == 40 {
                predictor.measure(2, &[0.0, 0.0, 2.0]);
                predictor.measure(3, &[0.0, 0.0, 0.5]);
            }
            predictor.remember(tick * STEP);
        }
        let before = measurements(&predictor);
        assert!(predictor.measure_late(2, &[1.0, 0.0, 0.0], 20 * STEP));
        assert!(predictor.measure_late(0, &[0.0, 0.0, 5.0], 20 * STEP));
        predictor.revise(49 * STEP);
        let after = measurements(&predictor);
        // 1 m/s for 29 steps, turned by a few hundredths of a radian: the velocity that was measured before and came later is outdated.
        assert!(
            (after[0] - 0.232).abs() < 5e-3 && after[2] > 4.9,
            "{after:?}"
        );
        let pairs = before[10..].iter().zip(&after[10..]);
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-7));
    }

    #[test]
    fn a_time_that_is_not_remembered_changes_nothing() {
        let mut predictor = predictor(0.0);
        assert!(!predictor.measure_late(0, &[9.0; 3], 0));
        for tick in 10..400_i64 {
            predictor.predict(&[4.9, 4.9], seconds(STEP));
            predictor.measure(3, &[0.0; 3]);
            predictor.remember(tick * STEP);
        }
        let before = measurements(&predictor);
        for tick in [0, 100] {
            assert!(!predictor.measure_late(0, &[9.0; 3], tick * STEP));
        }
        predictor.revise(400 * STEP);
        assert_eq!(measurements(&predictor), before);
        // Another clock.
        predictor.remember(5 * STEP);
        assert!(!predictor.measure_late(0, &[9.0; 3], 4 * STEP));
        assert!(predictor.measure_late(0, &[9.0; 3], 6 * STEP));
    }
}
