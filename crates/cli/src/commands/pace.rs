//! Simulated time relative to real time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A larger delay is not caught up, s; time continues from there.
const LOST: f64 = 0.25;

/// How often a sleep is interrupted to check for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// Keeps a simulation from running ahead of the wall clock.
#[derive(Debug)]
pub struct Pace {
    /// Simulated seconds per second; `None`: as fast as it can.
    speed: Option<f64>,
    /// A wall-clock instant and the simulated time due then.
    anchor: Option<(Instant, f64)>,
}

impl Pace {
    /// This many times real time; 0: as fast as possible.
    pub fn new(speed: f64) -> Self {
        Self {
            speed: (speed > 0.0).then_some(speed),
            anchor: None,
        }
    }

    /// When the simulated time, s, is due. Lost time is not caught up.
    pub fn due(&mut self, time: f64) -> Option<Instant> {
        let speed = self.speed?;
        let now = Instant::now();
        let (since, from) = *self.anchor.get_or_insert((now, time));
        let left = (time - from) / speed - now.duration_since(since).as_secs_f64();
        if !(-LOST..=3600.0).contains(&left) || time < from {
            self.anchor = Some((now, time));
            return Some(now);
        }
        Some(if left > 0.0 {
            now + Duration::from_secs_f64(left)
        } else {
            now
        })
    }

    /// Waits until the simulated time, s, is due, or the user interrupts.
    pub fn wait(&mut self, time: f64, interrupted: &AtomicBool) {
        if let Some(due) = self.due(time) {
            sleep_until(due, interrupted);
        }
    }
}

/// Sleeps until then, or until the user interrupts.
pub fn sleep_until(due: Instant, interrupted: &AtomicBool) {
    while !interrupted.load(Ordering::Relaxed) {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(LOOK));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_at_the_speed_and_what_is_lost_stays_lost() {
        let mut pace = Pace::new(2.0);
        let first = pace.due(10.0).unwrap();
        let later = pace.due(11.0).unwrap().duration_since(first).as_secs_f64();
        assert!((later - 0.5).abs() < 0.05, "{later}");
        // Time that goes back, or jumps, restarts.
        assert!(pace.due(3.0).unwrap() <= Instant::now());
        assert!(pace.due(1e9).unwrap() <= Instant::now());
        std::thread::sleep(Duration::from_millis(300));
        assert!(pace.due(1e9 + 0.01).unwrap() <= Instant::now());
        let next = pace.due(1e9 + 0.03).unwrap();
        let ahead = next.saturating_duration_since(Instant::now()).as_secs_f64();
        assert!((0.002..=0.011).contains(&ahead), "{ahead}");
        assert_eq!(Pace::new(0.0).due(5.0), None);
    }
}
