//! The vehicle's texts, put together from their pieces.

use crate::dialect::{MavSeverity, STATUSTEXT_DATA};

/// Number of texts kept.
const KEPT: usize = 16;

/// Bytes of a text, which may come in several messages.
const LENGTH: usize = 200;

/// A text whose next piece has not come for this long (ns) has lost it.
const PATIENCE: i64 = 500_000_000;

/// A text and when it began to arrive.
#[derive(Clone, Copy)]
struct Text {
    arrival: i64,
    severity: MavSeverity,
    /// 0 where it is complete in one message.
    id: u16,
    bytes: [u8; LENGTH],
    length: usize,
    /// When its newest piece came, and the number of the next one.
    newest: i64,
    next: u8,
    is_whole: bool,
    is_told: bool,
}

impl Text {
    fn append(&mut self, m: &STATUSTEXT_DATA, arrival: i64) {
        let end = m.text.iter().position(|byte| *byte == 0);
        let words = &m.text[..end.unwrap_or(m.text.len())];
        let free = &mut self.bytes[self.length..];
        let length = words.len().min(free.len());
        free[..length].copy_from_slice(&words[..length]);
        self.length += length;
        self.newest = arrival;
        self.next = m.chunk_seq.saturating_add(1);
        // A piece with a zero byte is the last one.
        self.is_whole = m.id == 0 || end.is_some();
    }

    fn is_lost(&self, now: i64) -> bool {
        now.saturating_sub(self.newest) > PATIENCE
    }

    fn words(&self) -> String {
        let words = String::from_utf8_lossy(&self.bytes[..self.length]);
        words.trim().to_owned()
    }
}

/// The newest texts; it takes them without allocation.
#[derive(Default)]
pub(crate) struct Texts {
    kept: [Option<Text>; KEPT],
    next: usize,
}

impl Texts {
    /// Takes a text, or a piece of one. Pieces of several texts may alternate.
    pub fn take(&mut self, m: &STATUSTEXT_DATA, arrival: i64) {
        let mut all = self.kept.iter_mut().flatten();
        let known = all.find(|text| m.id != 0 && text.id == m.id && !text.is_lost(arrival));
        if let Some(text) = known {
            // Links may deliver a piece twice.
            if m.chunk_seq >= text.next && !text.is_whole {
                text.append(m, arrival);
            }
            return;
        }
        let mut text = Text {
            arrival,
            severity: m.severity,
            id: m.id,
            bytes: [0; LENGTH],
            length: 0,
            newest: arrival,
            next: 0,
            is_whole: false,
            is_told: false,
        };
        text.append(m, arrival);
        self.kept[self.next % KEPT] = Some(text);
        self.next = (self.next + 1) % KEPT;
    }

    /// The next text that is complete, or that has lost its end, and has not been told: its severity and its words.
    pub fn untold(&mut self, now: i64) -> Option<(MavSeverity, String)> {
        let ready = |text: &&mut Text| !text.is_told && (text.is_whole || text.is_lost(now));
        let all = self.kept.iter_mut().flatten().filter(ready);
        let text = all.min_by_key(|text| text.arrival)?;
        text.is_told = true;
        Some((text.severity, text.words()))
    }

    /// The distinct texts of at least this severity that came from `since` to `until`, ns, in their order; empty if there were none.
    #[cfg(any(feature = "backend", test))]
    pub fn between(&self, since: i64, until: i64, severity: MavSeverity) -> String {
        let mut said: Vec<_> = (self.kept.iter().flatten())
            .filter(|text| {
                (since..=until).contains(&text.arrival) && (text.severity as u32) <= severity as u32
            })
            .map(|text| (text.arrival, text.words()))
            .collect();
        said.sort();
        let mut words: Vec<String> = Vec::new();
        for (_, text) in said {
            if !words.contains(&text) && !text.is_empty() {
                words.push(text);
            }
        }
        words.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use mavlink::types::CharArray;

    use super::*;

    fn piece(id: u16, chunk_seq: u8, text: &str) -> STATUSTEXT_DATA {
        STATUSTEXT_DATA {
            id,
            chunk_seq,
            severity: MavSeverity::MAV_SEVERITY_CRITICAL,
            text: CharArray::from(text),
        }
    }

    /// PX4 cuts at 50 bytes, within words and letters, and ends texts that it also sends as events with a tab.
    #[test]
    fn pieces_are_told_as_one_text() {
        let mut texts = Texts::default();
        let told = |texts: &mut Texts, now| texts.untold(now).map(|(_, words)| words);
        let first = "Arming denied: Resolve system health failures firs";
        assert_eq!(first.len(), 50);
        texts.take(&piece(7, 0, first), 0);
        assert_eq!(told(&mut texts, 1), None, "it is not complete");
        // Others in between, of another id, and without one.
        texts.take(&piece(8, 0, &"é".repeat(25)), 2);
        texts.take(&piece(0, 0, "short"), 3);
        for (seq, words) in [(0, first), (1, "t\t"), (1, "t\t")] {
            texts.take(&piece(7, seq, words), 4);
        }
        texts.take(&piece(8, 1, ""), 5);
        let all: Vec<_> = std::iter::from_fn(|| told(&mut texts, 6)).collect();
        assert_eq!(all, [&format!("{first}t"), &"é".repeat(25), "short"]);
        assert_eq!(
            texts.between(0, 2, MavSeverity::MAV_SEVERITY_WARNING),
            format!("{first}t; {}", "é".repeat(25))
        );
    }

    /// What has lost its end is told as far as it came, and its number means another text from then on.
    #[test]
    fn a_text_without_an_end_is_told_late() {
        let mut texts = Texts::default();
        texts.take(&piece(7, 0, &"a".repeat(50)), 0);
        assert!(texts.untold(PATIENCE).is_none());
        let (severity, words) = texts.untold(PATIENCE + 1).unwrap();
        assert_eq!(severity, MavSeverity::MAV_SEVERITY_CRITICAL);
        assert_eq!(words, "a".repeat(50));
        texts.take(&piece(7, 1, "late"), PATIENCE + 2);
        assert_eq!(texts.untold(PATIENCE + 3).unwrap().1, "late");
        assert!(texts.untold(i64::MAX).is_none(), "each once");
    }
}
