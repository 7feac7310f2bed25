//! Where chunks end, and which chunks are on the disk.

use std::sync::{Condvar, Mutex, PoisonError};

/// Longest flight time that is lost when the process is killed, ns: the rows in the open chunk, and in the one being
/// written.
const LOSS: i64 = 100_000_000;
/// Longest flight time in a chunk, ns: a chunk ends when another row would make it longer.
const CHUNK: i64 = LOSS / 2 - 5_000_000;

/// Decides with which row a chunk ends. The flight thread and the writing thread each have one, and they agree.
#[derive(Clone, Copy, Debug)]
pub struct Chunking {
    /// Usual time between two rows, ns.
    step: i64,
    start: Option<i64>,
}

impl Chunking {
    /// For rows at this rate.
    pub fn new(rate_hz: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let step = (1e9 / rate_hz) as i64;
        Self {
            step: step.clamp(0, LOSS),
            start: None,
        }
    }

    /// Whether a chunk ends with the row of this time.
    pub fn ends(&mut self, time: i64) -> bool {
        let start = *self.start.get_or_insert(time);
        let next = time.saturating_add(2 * self.step).saturating_sub(start);
        let ends = !(0..=CHUNK).contains(&next);
        if ends {
            self.start = None;
        }
        ends
    }

    /// How many finished chunks may still be on their way to the disk.
    pub const fn slack(&self) -> u64 {
        if self.step < CHUNK { 1 } else { 0 }
    }
}

/// The number of chunks on the disk, known to both threads.
#[derive(Debug, Default)]
pub struct Written {
    chunks: Mutex<u64>,
    more: Condvar,
}

impl Written {
    /// Counts one more.
    pub fn add(&self) {
        let mut chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        *chunks = chunks.saturating_add(1);
        self.more.notify_one();
    }

    /// Called when nothing will be written any more: stops all waiting.
    pub fn close(&self) {
        *self.chunks.lock().unwrap_or_else(PoisonError::into_inner) = u64::MAX;
        self.more.notify_one();
    }

    /// Waits until this many chunks are on the disk.
    pub fn wait(&self, count: u64) {
        let chunks = self.chunks.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.more.wait_while(chunks, |chunks| *chunks < count);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)] // small numbers
mod tests {
    use super::*;

    /// Largest number of rows in a chunk, and the longest time from the last row on the disk to the row being computed.
    fn longest(rate_hz: f64) -> (usize, i64) {
        let step = (1e9 / rate_hz) as i64;
        let mut chunking = Chunking::new(rate_hz);
        let behind = 1 + chunking.slack() as usize;
        // Last rows of the finished chunks.
        let mut ends = vec![-step];
        let (mut rows, mut most, mut longest) = (0, 0, 0);
        for time in (0..1000).map(|k| k * step) {
            let written = ends[ends.len().saturating_sub(behind)];
            longest = longest.max(time - written);
            rows += 1;
            if chunking.ends(time) {
                (most, rows) = (most.max(rows), 0);
                ends.push(time);
            }
        }
        (most, longest)
    }

    #[test]
    fn at_most_a_tenth_of_a_second_is_not_on_the_disk() {
        for rate in [
            1000.0, 500.0, 333.0, 250.0, 100.0, 50.0, 45.0, 30.0, 23.0, 20.0, 11.0,
        ] {
            let (rows, longest) = longest(rate);
            assert!(
                longest <= LOSS,
                "{rate} Hz: {longest} ns in chunks of {rows}"
            );
        }
        assert_eq!(longest(500.0), (22, 88_000_000));
        assert_eq!(longest(10.0), (1, 100_000_000));
    }

    #[test]
    fn a_leap_of_the_clock_ends_a_chunk() {
        let mut chunking = Chunking::new(500.0);
        for time in [0, 2_000_000_000, i64::MIN, i64::MAX - 1] {
            assert!(!chunking.ends(time));
            assert!(chunking.ends(time.saturating_add(1_000_000_000)) || time > 0);
            chunking = Chunking::new(500.0);
        }
        assert!(!chunking.ends(0));
        assert!(chunking.ends(-5_000_000));
    }
}
