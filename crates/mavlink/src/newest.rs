//! The newest value of another thread, without blocking: a triple buffer.
//!
//! One of three slots belongs to the publisher, one to the reader, and one holds the newest published value; both sides
//! swap their slot for it in one atomic step. Each slot is in a mutex that only its owner locks, so that locking never
//! fails and neither side ever waits for the other, even if a thread is stopped halfway.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// Set in [`Shared::middle`] while the slot there has not been read.
const FRESH: u8 = 0b100;
const SLOT: u8 = 0b011;

struct Shared<T> {
    slots: [Mutex<T>; 3],
    middle: AtomicU8,
}

/// Writes the values.
pub(crate) struct Publisher<T> {
    shared: Arc<Shared<T>>,
    slot: u8,
}

/// Reads the newest value.
pub(crate) struct Newest<T> {
    shared: Arc<Shared<T>>,
    slot: u8,
}

/// Both ends, with the first value in every slot.
pub(crate) fn newest<T: Clone>(first: T) -> (Publisher<T>, Newest<T>) {
    let shared = Arc::new(Shared {
        slots: [
            Mutex::new(first.clone()),
            Mutex::new(first.clone()),
            Mutex::new(first),
        ],
        middle: AtomicU8::new(1),
    });
    let publisher = Publisher {
        shared: Arc::clone(&shared),
        slot: 0,
    };
    (publisher, Newest { shared, slot: 2 })
}

impl<T> Shared<T> {
    /// The caller's own slot; no other thread holds its lock.
    fn own(&self, slot: u8) -> Option<MutexGuard<'_, T>> {
        match self.slots[usize::from(slot & SLOT).min(2)].try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl<T> Publisher<T> {
    /// Fills a slot, whose previous content is outdated, and publishes it.
    pub fn publish(&mut self, fill: impl FnOnce(&mut T)) {
        let Some(mut slot) = self.shared.own(self.slot) else {
            return;
        };
        fill(&mut slot);
        drop(slot);
        let before = self.shared.middle.swap(self.slot | FRESH, Ordering::AcqRel);
        self.slot = before & SLOT;
    }
}

impl<T> Newest<T> {
    /// Reads the newest value.
    pub fn with<R>(&mut self, look: impl FnOnce(&T) -> R) -> Option<R> {
        if self.shared.middle.load(Ordering::Relaxed) & FRESH != 0 {
            let before = self.shared.middle.swap(self.slot, Ordering::AcqRel);
            self.slot = before & SLOT;
        }
        self.shared.own(self.slot).map(|slot| look(&slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_is_read_and_read_again() {
        let (mut publisher, mut newest) = newest(0);
        assert_eq!(newest.with(|v| *v), Some(0));
        for round in 1..10 {
            for value in 0..=round {
                publisher.publish(|v| *v = 10 * round + value);
            }
            assert_eq!(newest.with(|v| *v), Some(11 * round));
            assert_eq!(newest.with(|v| *v), Some(11 * round));
        }
    }

    /// A publisher that is stopped while writing blocks only its own slot.
    #[test]
    fn a_publisher_that_stops_halfway_holds_up_nobody() {
        let (mut publisher, mut newest) = newest(1);
        publisher.publish(|v| *v = 2);
        publisher.publish(|v| {
            *v = 3;
            for _ in 0..3 {
                assert_eq!(newest.with(|v| *v), Some(2));
            }
        });
        assert_eq!(newest.with(|v| *v), Some(3));
    }

    #[test]
    fn values_are_whole_and_never_go_back() {
        let (mut publisher, mut newest) = newest([0_u64; 64]);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for i in 0..=50_000 {
                    publisher.publish(|v| v.fill(i));
                }
            });
            let mut last = 0;
            // However late the publisher is scheduled.
            while last < 50_000 {
                let seen = newest
                    .with(|v| {
                        assert!(v.iter().all(|&word| word == v[0]), "torn: {v:?}");
                        v[0]
                    })
                    .unwrap();
                assert!(seen >= last, "{seen} after {last}");
                last = seen;
            }
        });
    }
}
