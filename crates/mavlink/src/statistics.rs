//! Counts of received, damaged and lost messages.

use std::fmt;

/// Counters of a link since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes received.
    pub bytes: u64,
    /// Valid messages received.
    pub messages: u64,
    /// Apparent frames with a wrong checksum: noise and damaged frames. Each may hide more than one frame, and a
    /// damaged frame may count more than once if its payload looks like a frame again.
    pub bad_checksums: u64,
    /// Apparent frames of a message that is not in the dialect and therefore cannot be checked.
    pub unknown: u64,
    /// Frames with a correct checksum but invalid content (an enumeration value that is not in the dialect).
    pub undecodable: u64,
    /// Lost messages, counted from gaps in their senders' sequence numbers (including frames with wrong checksums and
    /// unknown messages).
    pub lost: u64,
    /// Messages written.
    pub sent: u64,
    /// Messages that could not be written: no peer yet, a full queue, or an error of the link.
    pub unsent: u64,
    /// Messages that were not sent because their deadline had passed.
    pub expired: u64,
    /// Setpoints that were not sent because a newer one replaced them.
    pub replaced: u64,
    /// Signed frames taken, but not verified, on a link without a key.
    pub signed: u64,
    /// Unsigned frames rejected on a signed link.
    pub unsigned: u64,
    /// Frames rejected for their signature: another key, or forged.
    pub bad_signatures: u64,
    /// Frames rejected because their time stamp was not newer than the last one, or a minute old from an unknown
    /// sender.
    pub replayed: u64,
    /// Number of times that the link was reopened after its peer vanished.
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
    /// Records a message; returns how many before it are missing.
    ///
    /// A step of more than half the range is an out-of-order or duplicate message, or a restarted sender; nothing then
    /// counts as lost.
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
