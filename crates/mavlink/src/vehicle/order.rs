//! The order in which a vehicle sent its messages, whatever the order of their arrival.

use crate::link::Received;

/// Largest reordering among one sender's messages.
const OVERTAKEN: u8 = 100;

/// After such a silence (ns) a sender may restart its sequence numbers.
const COUNTS_ANEW: i64 = 1_000_000_000;

/// Counts one sender's messages by their sequence numbers, which return to 0 after 255.
#[derive(Default)]
pub(super) struct Order {
    /// Count and arrival (ns) of the message that was sent last.
    newest: Option<(u64, i64)>,
    /// Count of the heartbeat that was sent last.
    heartbeat: u64,
}

impl Order {
    /// How many messages the vehicle had sent with this one, plus a constant. It must be called once for each message.
    pub(super) fn count(&mut self, received: &Received) -> u64 {
        let sequence = received.sequence;
        let Some((newest, arrival)) = self.newest else {
            let first = 256 + u64::from(sequence);
            self.newest = Some((first, received.arrival));
            return first;
        };
        let ahead = sequence.wrapping_sub(newest.to_le_bytes()[0]);
        let behind = ahead.wrapping_neg();
        // A duplicate has the same content; some bridges do not count.
        let is_late = (1..=OVERTAKEN).contains(&behind);
        if is_late && received.arrival - arrival < COUNTS_ANEW {
            return newest - u64::from(behind);
        }
        let count = newest + u64::from(ahead);
        self.newest = Some((count, received.arrival));
        count
    }

    /// Whether the heartbeat with this count was sent before one that has arrived already: its mode is outdated. On a link with jitter
    /// nearly every heartbeat is overtaken by other messages, which say nothing of the mode.
    pub(super) fn is_outdated(&mut self, heartbeat: u64) -> bool {
        let is_outdated = heartbeat < self.heartbeat;
        self.heartbeat = self.heartbeat.max(heartbeat);
        is_outdated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{HEARTBEAT_DATA, MavMessage};

    /// Sequence numbers and their arrivals (ms).
    fn counts(messages: &[(i64, u8)]) -> Vec<u64> {
        let mut order = Order::default();
        let count = |&(ms, sequence): &(i64, u8)| {
            let message = MavMessage::HEARTBEAT(HEARTBEAT_DATA::default());
            order.count(&Received {
                sequence,
                ..Received::of_vehicle(ms * 1_000_000, message)
            })
        };
        messages.iter().map(count).collect()
    }

    #[test]
    fn messages_count_in_the_order_of_their_transmission() {
        let found = counts(&[
            (0, 250),
            (1, 3),
            (2, 251),
            (3, 2),
            (4, 3), // sent twice, or not counted at all
            (5, 4),
            (1500, 1), // after a silence it may count anew
        ]);
        let after = [0, 9, 1, 8, 9, 10, 10 + 253];
        assert_eq!(found, after.map(|n| 256 + 250 + n));
    }

    #[test]
    fn only_a_later_heartbeat_outdates_a_heartbeat() {
        let mut order = Order::default();
        assert!(!order.is_outdated(300));
        assert!(!order.is_outdated(340));
        assert!(order.is_outdated(310));
        assert!(!order.is_outdated(340), "sent twice, or not counted at all");
    }
}
