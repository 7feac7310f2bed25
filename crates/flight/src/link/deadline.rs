//! Deadlines of reads and writes, and the rate of the loop.

use std::time::Duration;

use super::Link;

/// How long an overdue read or write may still take before it is given up, ns.
const GIVE_UP: i64 = 1_000_000_000;

/// The loop runs at most this many times as fast as it should …
const FASTEST: i64 = 10;
/// … if a sleep is that exact, ns.
const SLACK: i64 = 50_000;

impl Link {
    /// Waits until the next read may begin: frames are read as they come, but a vehicle is not flooded with commands.
    pub(super) fn slow_down(&self) {
        if !self.is_real_time() {
            return;
        }
        let ahead = (self.returned)
            .saturating_add(self.timeline.step() / FASTEST)
            .saturating_sub(fly_hal::monotonic_now());
        if ahead > SLACK {
            std::thread::sleep(Duration::from_nanos(ahead.unsigned_abs()));
        }
    }

    /// When a read or write with this `deadline` is overdue, and when it is given up, ns of the monotonic clock. Many
    /// calls that are each a little late must not leave the vehicle without commands for longer than one.
    pub(super) fn times(&self, deadline: i64) -> [i64; 2] {
        let due = deadline.saturating_add(self.timeouts.hang);
        let last = due.saturating_add(GIVE_UP);
        // Nothing was asked of the vehicle yet, or it lands already: nothing has to be undone.
        if !self.has_asked_to_arm() || self.is_handed_back() {
            return [last; 2];
        }
        let uncommanded = (self.commanded_at).map_or(due, |at| {
            at.saturating_add(self.timeouts.hang)
                .saturating_add(self.timeline.step())
        });
        [due.min(uncommanded), last]
    }
}

/// The next deadline: one step after the last, but not in the past (lost time is not caught up), and at most one step
/// after `now` (time gained by early reads is not waited for). All in ns.
pub(super) fn next_deadline(last: i64, step: i64, now: i64) -> i64 {
    last.saturating_add(step)
        .min(now.saturating_add(step))
        .max(now)
}

#[cfg(test)]
mod tests {
    use super::next_deadline;

    #[test]
    fn deadlines_are_a_step_apart_and_never_more_than_a_step_away() {
        assert_eq!(next_deadline(100, 2, 99), 101);
        assert_eq!(next_deadline(100, 2, 101), 102);
        // Lost time is not caught up.
        assert_eq!(next_deadline(100, 2, 500), 500);
        // Ten thousand early reads do not push the deadline away.
        let mut deadline = 100;
        for _ in 0..10_000 {
            deadline = next_deadline(deadline, 2, 100);
        }
        assert_eq!(deadline, 102);
    }
}
