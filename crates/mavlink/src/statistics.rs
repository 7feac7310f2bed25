//! Counts of received, damaged and lost messages.

use std::fmt;

/// Counters of a link since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes received.
    pub bytes: u64,
    /// Messages received whose checksum and content were right.
    pub messages: u64,
    /// Places that looked like a frame and whose checksum was wrong: noise and damaged frames. Each may hide more than
    /// one frame, and a damaged frame may count more than once, where its payload looks like a frame again.
    pub bad_checksums: u64,
    /// Places that looked like a frame of a message that the dialect does not know, so that it cannot be checked.
    pub unknown: u64,
    /// Frames with a right checksum whose content no message allows (an enumeration's value that the dialect does not
    /// know).
    pub undecodable: u64,
    /// Messages that never arrived, by the gaps in their senders' sequence numbers (frames with wrong checksums and of
    /// unknown messages are among them).
    pub lost: u64,
    /// Messages written.
    pub sent: u64,
    /// Messages that could not be written: no peer yet, queue full, or an error of the link.
    pub unsent: u64,
    /// Messages that were not sent because their deadline had passed.
    pub expired: u64,
    /// Setpoints that were not sent because a newer one took their place.
    pub replaced: u64,
    /// Frames refused because they were not signed, on a signed link.
    pub unsigned: u64,
    /// Frames refused because of their signature: another key, or forged.
    pub bad_signatures: u64,
    /// Frames refused because their signature's time was not newer than the last one's, or a minute old from a sender
    /// that was not known.
    pub replayed: u64,
    /// Times that the link was opened again after its peer vanished.
    pub reconnects: u64,
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} messages, {} lost, {} bad checksums, {} unknown, {} undecodable, {} reconnects",
            self.messages,
            self.lost,
            self.bad_checksums,
            self.unknown,
            self.undecodable,
            self.reconnects
        )?;
        for (count, what) in [
            (self.expired, "too late to send"),
            (self.unsigned, "not signed"),
            (self.bad_signatures, "bad signatures"),
            (self.replayed, "replayed"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        Ok(())
    }
}

/// Counts the gaps in sequence numbers, per sender.
#[derive(Debug, Default)]
pub(crate) struct Sequences {
    senders: Vec<Sender>,
}

#[derive(Debug)]
struct Sender {
    system: u32,
    component: u8,
    next: u8,
}

/// More senders than this on one link are noise.
const MOST_SENDERS: usize = 64;

impl Sequences {
    /// Takes note of a message; returns how many before it are missing.
    ///
    /// A step of more than half the circle is a message out of order or sent twice, or a sender that has restarted;
    /// nothing is counted as lost then.
    pub fn observe(&mut self, system: u32, component: u8, sequence: u8) -> u8 {
        let known = self
            .senders
            .iter_mut()
            .find(|s| s.system == system && s.component == component);
        let Some(sender) = known else {
            if self.senders.len() < MOST_SENDERS {
                self.senders.push(Sender {
                    system,
                    component,
                    next: sequence.wrapping_add(1),
                });
            }
            return 0;
        };
        let missing = sequence.wrapping_sub(sender.next);
        sender.next = sequence.wrapping_add(1);
        if missing < 128 { missing } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_counted_per_sender_and_across_the_wrap() {
        let mut sequences = Sequences::default();
        let mut observe = |system, sequence| sequences.observe(system, 1, sequence);
        assert_eq!(observe(1, 250), 0);
        assert_eq!(observe(2, 7), 0);
        assert_eq!(observe(1, 251), 0);
        assert_eq!(observe(1, 255), 3);
        assert_eq!(observe(1, 2), 2);
        assert_eq!(observe(2, 8), 0);
        assert_eq!(observe(2, 8), 0, "sent twice");
        assert_eq!(observe(2, 9), 0);
    }
}
