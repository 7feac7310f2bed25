//! Validates the state groups of a frame: validity, stamp, age, finiteness and unit norm.

use fly_hal::Frame;
use fly_hal::signal::UNIT_TOLERANCE;

use super::binding::{Binding, StateBinding};
use super::supervisor::Fault;

/// The groups of one frame that make up the state, in the order of [`Binding::state`].
#[derive(Debug, Clone)]
pub struct Observation {
    /// Stamp (ns) and verdict of each group.
    groups: Vec<(i64, Result<(), Fault>)>,
}

impl Observation {
    /// For this binding, before the first frame: every group is missing.
    pub fn new(binding: &Binding) -> Self {
        Self {
            groups: vec![(i64::MIN, Err(Fault::Missing)); binding.state.len()],
        }
    }

    /// Validates a frame at `time` (ns); groups older than `stale_after` (ns) are stale.
    pub fn read(&mut self, binding: &Binding, frame: &Frame, time: i64, stale_after: i64) {
        for (read, state) in self.groups.iter_mut().zip(&binding.state) {
            let stamp = frame.groups[state.group.group].stamp;
            *read = (stamp, check(state, frame, time, stale_after));
        }
    }

    /// Marks those of the valid groups as frozen, by their indices in the binding, that are: none of them is used.
    pub fn freeze(&mut self, binding: &Binding, is_frozen: impl Fn(usize) -> bool) {
        for (index, (read, state)) in self.groups.iter_mut().zip(&binding.state).enumerate() {
            // What is late as well is no better.
            if is_frozen(index) && matches!(read.1, Ok(()) | Err(Fault::Stale(_))) {
                read.1 = Err(Fault::Frozen(state.group.group));
            }
        }
    }

    /// Whether the whole state is valid.
    ///
    /// # Errors
    /// The first fault of the frame.
    pub fn verdict(&self) -> Result<(), Fault> {
        self.groups.iter().try_for_each(|(_, verdict)| *verdict)
    }

    /// The stamp (ns) of a group, by its index in the binding, if it is valid.
    pub fn stamp(&self, group: usize) -> Option<i64> {
        let (stamp, verdict) = self.groups[group];
        verdict.is_ok().then_some(stamp)
    }

    /// Iterates over the stale groups, with their stamps (ns), that are sound and newer than their known stamps (ns), and updates the known stamps.
    pub fn late<'a>(
        &'a self,
        binding: &'a Binding,
        frame: &'a Frame,
        known: &'a mut [i64],
    ) -> impl Iterator<Item = (usize, i64)> + 'a {
        let all = self
            .groups
            .iter()
            .zip(known)
            .zip(&binding.state)
            .enumerate();
        all.filter_map(|(index, (((stamp, verdict), known), state))| {
            let late = matches!(verdict, Err(Fault::Stale(_)))
                && *stamp > *known
                && check_values(state, frame).is_ok();
            if late {
                *known = *stamp;
            }
            late.then_some((index, *stamp))
        })
    }

    /// Whether every group is newer than its known stamp (ns).
    pub fn all_new(&self, known: &[i64]) -> bool {
        let mut both = self.groups.iter().zip(known);
        both.all(|((stamp, _), known)| stamp > known)
    }

    /// Iterates over the valid groups that are newer than their known stamps (ns), and updates the known stamps.
    pub fn news<'a>(&'a self, known: &'a mut [i64]) -> impl Iterator<Item = usize> + 'a {
        let both = self.groups.iter().zip(known).enumerate();
        both.filter_map(|(index, ((stamp, verdict), known))| {
            let new = verdict.is_ok() && *stamp > *known;
            if new {
                *known = *stamp;
            }
            new.then_some(index)
        })
    }
}

/// Validates one group of a frame at `time` (ns); one older than `stale_after` (ns) is stale.
///
/// # Errors
/// The first fault of the group.
pub fn check(
    state: &StateBinding,
    frame: &Frame,
    time: i64,
    stale_after: i64,
) -> Result<(), Fault> {
    let group = &state.group;
    let status = frame.groups[group.group];
    if !status.valid {
        return Err(Fault::Invalid(group.group));
    }
    // If it were accepted, all later measurements would count as old.
    if status.stamp > time {
        return Err(Fault::Early(group.group));
    }
    if time.saturating_sub(status.stamp) > stale_after {
        return Err(Fault::Stale(group.group));
    }
    check_values(state, frame)
}

/// Whether the numbers of a group can be true.
fn check_values(state: &StateBinding, frame: &Frame) -> Result<(), Fault> {
    let group = &state.group;
    if !group.is_finite(&frame.values) {
        return Err(Fault::NonFinite(group.group));
    }
    if state.quaternion {
        let numbers = group.quaternion(&frame.values);
        let norm = numbers.iter().map(|q| q * q).sum::<f64>().sqrt();
        if (norm - 1.0).abs() > UNIT_TOLERANCE {
            return Err(Fault::NotUnit(group.group));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use fly_hal::{Description, GroupStatus};

    use super::*;

    const STALE: i64 = 100;

    fn binding() -> (Binding, Frame) {
        let groups = [
            "pose.position",
            "pose.quaternion",
            "twist.linear",
            "twist.angular",
        ]
        .map(str::to_owned);
        let description = groups
            .iter()
            .try_fold(Description::new(), |description, group| {
                description.with_group(group)
            })
            .expect("canonical");
        let binding = Binding::new("test", &description, &groups, &[]).expect("complete");
        let mut frame = description.frame();
        frame.values.copy_from_slice(&[
            1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0,
        ]);
        frame.groups.fill(GroupStatus {
            stamp: 1000,
            valid: true,
        });
        (binding, frame)
    }

    fn observe(change: impl FnOnce(&mut Frame)) -> Observation {
        let (binding, mut frame) = binding();
        change(&mut frame);
        let mut observation = Observation::new(&binding);
        observation.read(&binding, &frame, 1000, STALE);
        observation
    }

    fn verdict(change: impl FnOnce(&mut Frame)) -> Result<(), Fault> {
        observe(change).verdict()
    }

    #[test]
    fn each_way_of_being_wrong_is_found() {
        assert_eq!(
            Observation::new(&binding().0).verdict(),
            Err(Fault::Missing)
        );
        assert_eq!(verdict(|_| {}), Ok(()));
        assert_eq!(
            verdict(|frame| frame.groups[2].valid = false),
            Err(Fault::Invalid(2))
        );
        assert_eq!(
            verdict(|frame| frame.groups[3].stamp = 1000 - STALE),
            Ok(())
        );
        assert_eq!(
            verdict(|frame| frame.groups[3].stamp = 999 - STALE),
            Err(Fault::Stale(3))
        );
        for stamp in [1001, i64::MAX] {
            assert_eq!(
                verdict(|frame| frame.groups[1].stamp = stamp),
                Err(Fault::Early(1))
            );
        }
        assert_eq!(
            verdict(|frame| frame.groups[1].stamp = i64::MIN),
            Err(Fault::Stale(1))
        );
        for (value, group) in [(0, 0), (2, 0), (6, 1), (7, 2), (12, 3)] {
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                assert_eq!(
                    verdict(|frame| frame.values[value] = bad),
                    Err(Fault::NonFinite(group))
                );
            }
        }
        assert_eq!(
            verdict(|frame| frame.values[3] = 0.98),
            Err(Fault::NotUnit(1))
        );
        assert_eq!(
            verdict(|frame| frame.values[3] = 0.0),
            Err(Fault::NotUnit(1))
        );
        assert_eq!(verdict(|frame| frame.values[3] = -1.005), Ok(()));
    }

    #[test]
    fn what_is_frozen_is_not_used() {
        let (binding, frame) = binding();
        let mut observation = Observation::new(&binding);
        observation.read(&binding, &frame, 1000, STALE);
        observation.freeze(&binding, |group| group == 2);
        assert_eq!(observation.verdict(), Err(Fault::Frozen(2)));
        assert!(observation.news(&mut [0; 4]).eq([0, 1, 3]));
    }

    #[test]
    fn only_new_and_valid_groups_are_news() {
        let observation = observe(|frame| {
            frame.groups[1].valid = false;
            frame.groups[2].stamp = 950;
        });
        let mut known = [900, 900, 950, 999];
        assert!(!observation.all_new(&known), "the linear velocity is known");
        let news: Vec<_> = observation.news(&mut known).collect();
        assert_eq!(news, [0, 3]);
        assert_eq!(known, [1000, 900, 950, 1000]);
    }

    #[test]
    fn what_is_frozen_is_not_used_late() {
        let (binding, mut frame) = binding();
        frame.groups[2].stamp = 999 - STALE;
        let mut observation = Observation::new(&binding);
        observation.read(&binding, &frame, 1000, STALE);
        observation.freeze(&binding, |group| group == 2);
        assert_eq!(observation.late(&binding, &frame, &mut [0; 4]).count(), 0);
    }

    #[test]
    fn only_sound_stale_groups_are_late() {
        let (binding, mut frame) = binding();
        for (group, stamp) in [(0, 999 - STALE), (1, 998 - STALE), (2, 997 - STALE)] {
            frame.groups[group].stamp = stamp;
        }
        frame.values[4] = f64::NAN;
        let mut observation = Observation::new(&binding);
        observation.read(&binding, &frame, 1000, STALE);
        let mut known = [0, 0, 997 - STALE, 0];
        let late: Vec<_> = observation.late(&binding, &frame, &mut known).collect();
        assert_eq!(late, [(0, 999 - STALE)]);
        assert_eq!(known, [999 - STALE, 0, 997 - STALE, 0]);
    }

    #[test]
    fn a_stamp_of_the_future_shuts_out_nothing() {
        let observation = observe(|frame| frame.groups[0].stamp = i64::MAX);
        let mut known = [900; 4];
        assert!(observation.news(&mut known).eq([1, 2, 3]));
        assert_eq!(known[0], 900);
    }
}
