//! The writer's queue: deadlines are kept, and a newer setpoint replaces an older one.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::Thread;

use mavlink::Message;
use rtrb::{Consumer, Producer, PushError, RingBuffer};

use super::{SendError, Shared, count};
use crate::dialect::MavMessage;

/// Messages of one sender that the writer has not fetched yet.
const RING: usize = 128;

/// Largest number of waiting messages in all.
const MOST_WAITING: usize = 64;

/// A message for the writer.
pub(super) struct Outgoing {
    pub message: MavMessage,
    /// Latest time of sending, ns of `CLOCK_MONOTONIC`.
    pub deadline: Option<i64>,
    /// Whether it makes older messages of its kind obsolete.
    pub replaces: bool,
}

/// Queues messages for a link's writer; never blocks, never allocates.
pub struct Sender {
    ring: Producer<Outgoing>,
    writer: Thread,
    shared: Arc<Shared>,
}

/// The writer's end of a [`Sender`].
pub(super) type Inlet = Consumer<Outgoing>;

/// A sender's ring, created before the writer's thread is known.
pub(super) fn ring() -> (Producer<Outgoing>, Inlet) {
    RingBuffer::new(RING)
}

impl Sender {
    pub(super) fn new(ring: Producer<Outgoing>, writer: Thread, shared: Arc<Shared>) -> Self {
        Self {
            ring,
            writer,
            shared,
        }
    }

    /// Queues a message for the writer. Delivery is not confirmed.
    ///
    /// # Errors
    /// The queue is full, or the link is closed; the message is counted as unsent.
    pub fn send(&mut self, message: MavMessage) -> Result<(), SendError> {
        self.push(Outgoing {
            message,
            deadline: None,
            replaces: false,
        })
    }

    /// Queues a message that is sent before `deadline` (ns of `CLOCK_MONOTONIC`) or not at all.
    ///
    /// # Errors
    /// As [`Sender::send`].
    pub fn send_until(&mut self, message: MavMessage, deadline: i64) -> Result<(), SendError> {
        self.push(Outgoing {
            message,
            deadline: Some(deadline),
            replaces: false,
        })
    }

    /// Queues a setpoint. It is sent before `deadline` or not at all, and replaces a waiting message of the same kind
    /// to the same vehicle.
    ///
    /// # Errors
    /// As [`Sender::send`].
    pub fn send_setpoint(&mut self, message: MavMessage, deadline: i64) -> Result<(), SendError> {
        self.push(Outgoing {
            message,
            deadline: Some(deadline),
            replaces: true,
        })
    }

    fn push(&mut self, outgoing: Outgoing) -> Result<(), SendError> {
        if self.ring.is_abandoned() {
            count(&self.shared.counters.unsent, 1);
            return Err(SendError::Closed);
        }
        if let Err(PushError::Full(_)) = self.ring.push(outgoing) {
            count(&self.shared.counters.unsent, 1);
            return Err(SendError::Full);
        }
        self.writer.unpark();
        Ok(())
    }

    pub(super) fn writer(&self) -> Thread {
        self.writer.clone()
    }

    pub(super) fn wake(&self) {
        self.writer.unpark();
    }
}

/// Messages in the order of sending.
pub(super) struct Outbox {
    waiting: Vec<Outgoing>,
    shared: Arc<Shared>,
}

impl Outbox {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            waiting: Vec::with_capacity(MOST_WAITING),
            shared,
        }
    }

    /// Fetches the messages that a sender has queued.
    pub fn take(&mut self, inlet: &mut Inlet) {
        while let Ok(outgoing) = inlet.pop() {
            self.add(outgoing);
        }
    }

    /// Adds a message, or puts it in the place of the one that it replaces.
    pub fn add(&mut self, outgoing: Outgoing) {
        let counters = &self.shared.counters;
        if outgoing.replaces {
            let key = kind(&outgoing.message);
            let older = self
                .waiting
                .iter_mut()
                .find(|waiting| waiting.replaces && kind(&waiting.message) == key);
            if let Some(older) = older {
                *older = outgoing;
                count(&counters.replaced, 1);
                return;
            }
        }
        if self.waiting.len() >= MOST_WAITING {
            // A message with a deadline is more urgent than one without; otherwise the newest is dropped.
            count(&counters.unsent, 1);
            let Some(place) = self.waiting.iter().position(|w| w.deadline.is_none()) else {
                return;
            };
            if outgoing.deadline.is_none() {
                return;
            }
            self.waiting.remove(place);
        }
        self.waiting.push(outgoing);
    }

    /// The next message that is still in time if it is sent by `done` (ns of `CLOCK_MONOTONIC`).
    pub fn next(&mut self, done: i64) -> Option<Outgoing> {
        while !self.waiting.is_empty() {
            let first = self.waiting.remove(0);
            if first.deadline.is_none_or(|deadline| done <= deadline) {
                return Some(first);
            }
            self.shared.counters.expired.fetch_add(1, Ordering::Relaxed);
        }
        None
    }

    /// Drops the waiting setpoints.
    pub fn drop_setpoints(&mut self) {
        let before = self.waiting.len();
        self.waiting.retain(|w| !w.replaces || w.deadline.is_none());
        count(
            &self.shared.counters.unsent,
            (before - self.waiting.len()) as u64,
        );
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// Setpoints of the same kind replace each other: the same message to the same target.
fn kind(message: &MavMessage) -> (u32, Option<u8>, Option<u8>) {
    (
        message.message_id(),
        message.target_system_id(),
        message.target_component_id(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{
        COMMAND_LONG_DATA, SET_ATTITUDE_TARGET_DATA, SET_POSITION_TARGET_LOCAL_NED_DATA,
    };

    fn attitude(target_system: u8, time_boot_ms: u32) -> MavMessage {
        MavMessage::SET_ATTITUDE_TARGET(SET_ATTITUDE_TARGET_DATA {
            time_boot_ms,
            target_system,
            ..SET_ATTITUDE_TARGET_DATA::default()
        })
    }

    fn setpoint(message: MavMessage, deadline: i64) -> Outgoing {
        Outgoing {
            message,
            deadline: Some(deadline),
            replaces: true,
        }
    }

    fn plain() -> Outgoing {
        Outgoing {
            message: MavMessage::COMMAND_LONG(COMMAND_LONG_DATA::default()),
            deadline: None,
            replaces: false,
        }
    }

    #[test]
    fn a_setpoint_replaces_its_own_kind_only() {
        let mut outbox = Outbox::new(Arc::default());
        outbox.add(setpoint(attitude(1, 10), 100));
        outbox.add(plain());
        outbox.add(setpoint(attitude(2, 20), 100));
        let position = SET_POSITION_TARGET_LOCAL_NED_DATA {
            target_system: 1,
            ..SET_POSITION_TARGET_LOCAL_NED_DATA::default()
        };
        outbox.add(setpoint(
            MavMessage::SET_POSITION_TARGET_LOCAL_NED(position),
            100,
        ));
        outbox.add(setpoint(attitude(1, 30), 200));
        let order: Vec<_> = std::iter::from_fn(|| outbox.next(0))
            .map(|o| o.message)
            .collect();
        assert_eq!(order.len(), 4);
        assert_eq!(order[0], attitude(1, 30));
        assert!(matches!(order[1], MavMessage::COMMAND_LONG(_)));
        assert_eq!(order[2], attitude(2, 20));
        assert_eq!(outbox.shared.counters.replaced.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn what_would_be_late_is_dropped_and_counted() {
        let mut outbox = Outbox::new(Arc::default());
        outbox.add(setpoint(attitude(1, 1), 99));
        outbox.add(setpoint(attitude(2, 2), 100));
        outbox.add(plain());
        assert_eq!(outbox.next(100).unwrap().message, attitude(2, 2));
        assert!(outbox.next(i64::MAX).is_some(), "has no deadline");
        assert!(outbox.is_empty());
        assert_eq!(outbox.shared.counters.expired.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn when_full_setpoints_go_before_what_has_time() {
        let mut outbox = Outbox::new(Arc::default());
        for _ in 0..2 * MOST_WAITING {
            outbox.add(plain());
        }
        outbox.add(setpoint(attitude(1, 1), 100));
        assert_eq!(outbox.waiting.len(), MOST_WAITING);
        assert_eq!(
            outbox.shared.counters.unsent.load(Ordering::Relaxed),
            MOST_WAITING as u64 + 1
        );
        assert!(std::iter::from_fn(|| outbox.next(0)).any(|o| o.replaces));
    }
}
