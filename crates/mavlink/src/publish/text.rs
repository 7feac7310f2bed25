//! Status texts, in pieces of 50 bytes.

use crate::dialect::{MavMessage, MavSeverity, STATUSTEXT_DATA};

/// A text of fixed size, without allocation.
#[derive(Clone, Copy)]
pub(super) struct Text {
    severity: MavSeverity,
    bytes: [u8; MOST],
    length: usize,
}

/// The longest text, bytes: four pieces.
const MOST: usize = 4 * PIECE;
const PIECE: usize = 50;

impl Text {
    /// Cuts a long text at a character boundary.
    pub fn new(severity: MavSeverity, text: &str) -> Self {
        let length = text.floor_char_boundary(MOST);
        let mut bytes = [0; MOST];
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Self {
            severity,
            bytes,
            length,
        }
    }

    /// One message, or several of 50 bytes each with the same id.
    pub fn messages(&self) -> impl Iterator<Item = MavMessage> + '_ {
        let bytes = &self.bytes[..self.length];
        // The pieces of a text share an id that is not 0.
        let sum = bytes.iter().fold(self.length, |sum, byte| {
            sum.wrapping_mul(31).wrapping_add(usize::from(*byte))
        });
        let id = if self.length > PIECE {
            u16::try_from(sum % 65_535).unwrap_or(0) + 1
        } else {
            0
        };
        // The last piece ends with a zero byte.
        let end = (id > 0 && self.length.is_multiple_of(PIECE)).then_some(&[][..]);
        let pieces = bytes.chunks(PIECE).chain(end);
        pieces.enumerate().map(move |(index, piece)| {
            let mut text = [0; PIECE];
            text[..piece.len()].copy_from_slice(piece);
            MavMessage::STATUSTEXT(STATUSTEXT_DATA {
                severity: self.severity,
                text: text.into(),
                id,
                chunk_seq: u8::try_from(index).unwrap_or(u8::MAX),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_come_in_numbered_pieces() {
        let pieces = |text: &str| {
            let text = Text::new(MavSeverity::MAV_SEVERITY_INFO, text);
            let messages: Vec<_> = text.messages().collect();
            messages
        };
        assert_eq!(pieces("").len(), 0);
        let MavMessage::STATUSTEXT(one) = &pieces("landing")[0] else {
            panic!("no text")
        };
        assert_eq!(
            (one.id, one.chunk_seq, one.text.to_str().unwrap()),
            (0, 0, "landing")
        );
        let long = "é".repeat(120);
        let all = pieces(&long);
        assert_eq!(all.len(), 5, "four full ones and an end");
        for (index, piece) in all.iter().enumerate() {
            let MavMessage::STATUSTEXT(piece) = piece else {
                panic!("no text")
            };
            assert!(piece.id > 0 && usize::from(piece.chunk_seq) == index);
        }
    }
}
