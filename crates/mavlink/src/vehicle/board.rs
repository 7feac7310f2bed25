//! Which board an autopilot runs on.

use std::fmt;

use crate::dialect::AUTOPILOT_VERSION_DATA;

/// The unique number of an autopilot's board, from `AUTOPILOT_VERSION`; displayed in hexadecimal digits.
///
/// System ids are settings, and 1 by default: two vehicles of one workshop usually share theirs. Simulations of one program
/// share even this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board([u8; 18]);

impl Board {
    /// `None` if the firmware does not know it: both of its fields are zero.
    pub fn of(m: &AUTOPILOT_VERSION_DATA) -> Option<Self> {
        let mut bytes = m.uid2;
        if bytes == [0; 18] {
            bytes[..8].copy_from_slice(&m.uid.to_be_bytes());
        }
        (bytes != [0; 18]).then_some(Self(bytes))
    }
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = (self.0.iter().rposition(|byte| *byte != 0)).map_or(1, |last| last + 1);
        self.0[..end]
            .iter()
            .try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_is_told_by_the_longer_of_its_numbers() {
        let mut m = AUTOPILOT_VERSION_DATA::default();
        assert_eq!(Board::of(&m), None);
        m.uid = 0x0102_0304_0506_0700;
        assert_eq!(Board::of(&m).unwrap().to_string(), "01020304050607");
        m.uid2[..3].copy_from_slice(&[0xab, 0, 0xc]);
        assert_eq!(Board::of(&m).unwrap().to_string(), "ab000c");
    }
}
