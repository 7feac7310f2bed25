//! The timing of the loop.

use fly_hal::{Class, Description, Frame};
use fly_log::Histogram;

/// Timing of a loop over a real vehicle's backend.
#[derive(Debug, Clone, Default)]
pub struct Pace {
    /// Lateness of the reads that waited until their deadline.
    pub wake_up: Histogram,
    /// From the stamp of the frame's newest measurement until the backend has taken the commands computed from it.
    pub latency: Histogram,
    /// The groups that hold measurements.
    measured: Vec<usize>,
    /// Whether the last read brought a frame.
    is_fresh: bool,
}

impl Pace {
    /// For a backend with these signals.
    pub fn new(description: &Description) -> Self {
        let measurements = (description.signals.iter())
            .filter(|signal| signal.class == Class::Measurement)
            .filter_map(|signal| signal.group);
        let mut measured: Vec<usize> = measurements.collect();
        measured.sort_unstable();
        measured.dedup();
        Self {
            measured,
            ..Self::default()
        }
    }

    /// A read returned this long after its deadline, ns. A negative value is a read that did not wait for its
    /// deadline.
    pub fn woken(&mut self, late: i64, is_fresh: bool) {
        self.is_fresh = is_fresh;
        if let Ok(late) = u64::try_from(late) {
            self.wake_up.record(late);
        }
    }

    /// The backend took the commands computed from this frame this long after it was read, ns. Repeated commands do
    /// not count.
    pub fn sent(&mut self, frame: &Frame, after: i64) {
        let groups = self.measured.iter().map(|group| frame.groups[*group]);
        let newest = groups
            .filter(|group| group.valid)
            .map(|group| group.stamp)
            .max();
        let Some(newest) = newest.filter(|_| self.is_fresh) else {
            return;
        };
        let age = frame.time.saturating_sub(newest).saturating_add(after);
        if let Ok(age) = u64::try_from(age) {
            self.latency.record(age);
        }
    }
}

#[cfg(test)]
mod tests {
    use fly_hal::GroupStatus;

    use super::*;

    #[test]
    fn latency_counts_from_the_newest_measurement_of_a_new_frame() {
        let description = Description::new()
            .with_group("battery")
            .and_then(|description| description.with_group("pose.position"))
            .and_then(|description| description.with_group("twist.linear"))
            .expect("canonical names");
        let mut pace = Pace::new(&description);
        let mut frame = description.frame();
        frame.time = 100_000;
        let stamps = [(99_999, true), (60_000, true), (90_000, false)];
        for (group, (stamp, valid)) in frame.groups.iter_mut().zip(stamps) {
            *group = GroupStatus { stamp, valid };
        }
        // The battery is not a measurement, and the velocity is invalid.
        pace.woken(-5, true);
        pace.sent(&frame, 100);
        pace.woken(7, false);
        pace.sent(&frame, 100);
        assert_eq!((pace.latency.count(), pace.latency.max()), (1, 40_100));
        assert_eq!((pace.wake_up.count(), pace.wake_up.max()), (1, 7));
    }
}
