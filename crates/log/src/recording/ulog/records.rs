//! The records of a ULog file, resynchronised after corrupt bytes.

use std::io;
use std::ops::RangeInclusive;

use crate::recording::source::{Source, Window};

/// First bytes of every ULog file; its version follows.
pub const MAGIC: [u8; 7] = [0x55, 0x4c, 0x6f, 0x67, 0x01, 0x12, 0x35];
/// Bytes before the first record: magic, version, time of the start.
pub const HEADER: u64 = 16;

/// Kinds of records that the format defines.
const KINDS: &[u8] = b"BFIMPQADRLCSO";
/// Number of consecutive sensible records required to accept a start.
const CHAIN: usize = 4;
/// Largest number of records of a chain, with those of unknown kinds.
const CHAIN_RECORDS: usize = 2 * CHAIN;
/// Largest size of such a chain, bytes.
const CHAIN_BYTES: usize = (CHAIN_RECORDS + 1) * (3 + u16::MAX as usize);
/// Longest text of the autopilot that is plausible, bytes; PX4's have at most 127.
const LONGEST_TEXT: usize = 1024;
/// Levels of such a text, from an emergency to a detail.
pub const LEVELS: RangeInclusive<u8> = b'0'..=b'7';
/// Lookahead from the start of a record, bytes.
const REACH: usize = 2 * CHAIN_BYTES;

/// One record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Its kind: an ASCII letter.
    pub kind: u8,
    /// The whole record, including its three bytes of length and kind.
    pub whole: &'a [u8],
}

impl<'a> Record<'a> {
    /// Its content.
    pub fn body(&self) -> &'a [u8] {
        &self.whole[3..]
    }
}

/// The damage found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Damage {
    /// Places where the chain of records broke.
    pub places: usize,
    /// Number of bytes skipped.
    pub bytes: u64,
    /// If the file ends within a record, the offset of that record.
    pub cut_at: Option<u64>,
}

/// The position of a record, from which reading can resume.
#[derive(Clone, Copy, Debug)]
pub struct RecordSpan {
    /// Its first byte.
    pub start: u64,
    /// The end of the file's section, which was written in one go.
    pub end: u64,
}

/// Receives the records of a file.
pub trait Visitor {
    /// The next record, perhaps of a kind that is unknown.
    fn visit(&mut self, place: RecordSpan, record: Record<'_>);

    /// Whether samples of this number have this length, by the records that start before this offset.
    fn is_sample(&self, number: u16, length: usize, before: u64) -> bool;
}

/// Visits all records in order.
///
/// After bytes that are not a record, it continues at the next place where several sensible records follow each other.
/// A record of an unknown kind is part of the format's future, and no damage, if it leads there. Data appended after
/// the log was closed (`appended`, byte offsets) starts a new chain.
pub fn scan(source: &Source, visitor: &mut impl Visitor) -> io::Result<Damage> {
    let mut damage = Damage::default();
    let mut start = HEADER;
    let mut walker = Walker::new(source);
    for end in appended(source)? {
        // After a crash, the part before appended data may end anywhere.
        walker.end = end;
        if let Some(cut) = walker.walk(start, end, &mut damage, visitor)? {
            damage.places += 1;
            damage.bytes += end - cut;
        }
        start = end;
    }
    walker.end = source.len();
    damage.cut_at = walker.walk(start, source.len(), &mut damage, visitor)?;
    Ok(damage)
}

/// Walks along the chain of records.
#[derive(Debug)]
pub struct Walker {
    window: Window,
    /// End of the chain.
    end: u64,
}

impl Walker {
    /// Of a file.
    pub fn new(source: &Source) -> Self {
        Self {
            window: Window::new(source.clone()),
            end: source.len(),
        }
    }

    /// Visits again the records from this place on that start before `until`.
    pub fn again(
        &mut self,
        from: RecordSpan,
        until: u64,
        visitor: &mut impl Visitor,
    ) -> io::Result<()> {
        self.end = from.end;
        self.walk(from.start, until, &mut Damage::default(), visitor)?;
        Ok(())
    }

    /// The bytes from `offset` on: all up to the end of the section, or more than the records of a chain need.
    fn from(&mut self, offset: u64) -> io::Result<&[u8]> {
        let rest = usize::try_from(self.end.saturating_sub(offset)).unwrap_or(usize::MAX);
        let data = self.window.from(offset, REACH)?;
        Ok(&data[..data.len().min(rest)])
    }

    /// Visits the records that begin between `start` and `until`; returns the offset of the last one if it is
    /// truncated.
    fn walk(
        &mut self,
        start: u64,
        until: u64,
        damage: &mut Damage,
        visitor: &mut impl Visitor,
    ) -> io::Result<Option<u64>> {
        let (mut offset, end) = (start, self.end);
        while offset < until {
            let rest = self.from(offset)?;
            // The end of the record, if its content makes sense.
            let mut sound = offset;
            if let Some(record) = sensible(rest, offset, visitor) {
                visitor.visit(RecordSpan { start: offset, end }, record);
                let length = record.whole.len();
                sound += length as u64;
                // Its length may be damaged nevertheless, unless a record or the end follows.
                let next = &rest[length..];
                if next.is_empty() || sensible(next, offset + 1, visitor).is_some() {
                    offset = sound;
                    continue;
                }
            }
            let next = self.search(offset + 1, visitor)?;
            let to = next.unwrap_or(end);
            if self.leads(offset, to)? {
                offset = sound;
                while offset < to {
                    let Some(record) = at(self.from(offset)?) else {
                        break;
                    };
                    visitor.visit(RecordSpan { start: offset, end }, record);
                    offset += record.whole.len() as u64;
                }
                continue;
            }
            if next.is_none() {
                return Ok(Some(sound));
            }
            damage.places += 1;
            damage.bytes += to - if to < sound { offset } else { sound };
            offset = to;
        }
        Ok(None)
    }

    /// The next place from which several sensible records follow each other.
    fn search(&mut self, start: u64, visitor: &impl Visitor) -> io::Result<Option<u64>> {
        let mut offset = start;
        while offset < self.end {
            let is_end = self.end - offset <= REACH as u64;
            let rest = self.from(offset)?;
            // A whole chain is in view from each of these places.
            let places = if is_end {
                rest.len()
            } else {
                rest.len() - CHAIN_BYTES
            };
            // What is known before the damage decides, so that each reading finds the same.
            let found = (0..places).find(|&place| is_chain(&rest[place..], start, visitor));
            match found {
                Some(place) => return Ok(Some(offset + place as u64)),
                None => offset += places as u64,
            }
        }
        Ok(None)
    }

    /// Whether records, of whatever kinds and contents, fill the bytes from one offset to the other.
    fn leads(&mut self, mut offset: u64, to: u64) -> io::Result<bool> {
        while offset < to {
            let Some(record) = at(self.from(offset)?) else {
                return Ok(false);
            };
            offset += record.whole.len() as u64;
        }
        Ok(offset == to)
    }
}

/// The record that the bytes start with, if one of a known kind, or of another letter, fits there.
fn at(bytes: &[u8]) -> Option<Record<'_>> {
    let kind = *bytes.get(2)?;
    let length = usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
    let whole = bytes.get(..3 + length)?;
    (kind.is_ascii_alphabetic() && length > 0).then_some(Record { kind, whole })
}

/// The record that the bytes start with, if it is of a known kind, and its length and content are plausible by what is
/// known from before an offset of the file.
fn sensible<'a>(bytes: &'a [u8], before: u64, visitor: &impl Visitor) -> Option<Record<'a>> {
    let record = at(bytes)?;
    let body = record.body();
    let is_name = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_graphic);
    // Length and text `TYPE NAME`, then a value.
    let is_value = |body: &[u8], length: Option<usize>| {
        let (&key, rest) = body.split_first()?;
        let (key, value) = rest.split_at_checked(key.into())?;
        let mut words = key.splitn(2, |&byte| byte == b' ');
        let is_key = words.all(is_name) && key.contains(&b' ');
        (is_key && length.is_none_or(|length| value.len() == length)).then_some(())
    };
    // A level, and a text after `head` bytes.
    let is_text = |head: usize| {
        let is_short = (head..=head + LONGEST_TEXT).contains(&body.len());
        (is_short && LEVELS.contains(&body[0])).then_some(())
    };
    match record.kind {
        b'D' => {
            let (number, data) = body.split_first_chunk()?;
            let number = u16::from_le_bytes(*number);
            (visitor.is_sample(number, data.len(), before)).then_some(())
        }
        b'B' => (body.len() == 40).then_some(()),
        b'F' => (body.is_ascii() && body.contains(&b':')).then_some(()),
        b'A' => is_name(body.get(3..)?).then_some(()),
        b'I' => is_value(body, None),
        b'M' => is_value(&body[1..], None),
        b'P' => is_value(body, Some(4)),
        b'Q' => is_value(&body[1..], Some(4)),
        b'R' | b'O' => (body.len() == 2).then_some(()),
        b'S' => (body.len() == 8).then_some(()),
        // Level and time; level, tag and time.
        b'L' => is_text(1 + 8),
        b'C' => is_text(1 + 2 + 8),
        _ => None,
    }?;
    Some(record)
}

/// Whether sensible records, or fewer and then the end, are what the bytes start with; records of unknown kinds may
/// stand between them.
fn is_chain(mut bytes: &[u8], before: u64, visitor: &impl Visitor) -> bool {
    let mut count = 0;
    for _ in 0..CHAIN_RECORDS {
        if let Some(record) = sensible(bytes, before, visitor) {
            count += 1;
            bytes = &bytes[record.whole.len()..];
        } else if let Some(record) = at(bytes)
            && count > 0
            && !is_known(record.kind)
        {
            bytes = &bytes[record.whole.len()..];
        } else {
            return false;
        }
        if count == CHAIN || bytes.is_empty() {
            return true;
        }
    }
    false
}

/// Whether the format that is read here defines this kind of record.
pub fn is_known(kind: u8) -> bool {
    KINDS.contains(&kind)
}

/// The first flags of incompatible changes to the format that are unknown: the offset of their byte, and their bits.
pub fn unknown_flags(source: &Source) -> io::Result<Option<(u64, u8)>> {
    let mut head = Vec::new();
    source.read(HEADER, 3 + usize::from(u16::MAX), &mut head)?;
    let flags = at(&head).filter(|record| record.kind == b'B');
    let incompatible = flags.and_then(|flags| flags.body().get(8..16));
    let bytes = incompatible.unwrap_or_default().iter();
    let known = [1].into_iter().chain(std::iter::repeat(0));
    let unknown = bytes.zip(known).map(|(byte, known)| byte & !known);
    let found = (HEADER + 3 + 8..).zip(unknown).find(|&(_, bits)| bits != 0);
    Ok(found)
}

/// Offsets of appended data, from the flags in the header; empty without the flags.
fn appended(source: &Source) -> io::Result<Vec<u64>> {
    let mut head = Vec::new();
    source.read(HEADER, 3 + usize::from(u16::MAX), &mut head)?;
    let Some(flags) = at(&head).filter(|record| record.kind == b'B') else {
        return Ok(Vec::new());
    };
    let (Some(&incompatible), Some(offsets)) = (flags.body().get(8), flags.body().get(16..40))
    else {
        return Ok(Vec::new());
    };
    if incompatible & 1 == 0 {
        return Ok(Vec::new());
    }
    let mut places: Vec<u64> = offsets
        .chunks_exact(8)
        .filter_map(|eight| Some(u64::from_le_bytes(eight.try_into().ok()?)))
        .filter(|offset| (HEADER + 1..source.len()).contains(offset))
        .collect();
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)] // small numbers
mod tests {
    use super::*;

    fn record(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = u16::try_from(body.len()).unwrap().to_le_bytes().to_vec();
        bytes.push(kind);
        bytes.extend(body);
        bytes
    }

    fn file(records: &[Vec<u8>]) -> Vec<u8> {
        [&MAGIC[..], &[1; 9]]
            .concat()
            .into_iter()
            .chain(records.concat())
            .collect()
    }

    /// The kinds of the records.
    impl Visitor for String {
        fn visit(&mut self, _: RecordSpan, record: Record<'_>) {
            self.push(record.kind.into());
        }

        /// Those of a single topic.
        fn is_sample(&self, number: u16, length: usize, _: u64) -> bool {
            (number.to_le_bytes(), length) == (*b"de", 2)
        }
    }

    fn kinds(bytes: &[u8]) -> (String, Damage) {
        let mut found = String::new();
        let source = Source::Bytes(bytes.into());
        let damage = scan(&source, &mut found);
        (found, damage.unwrap())
    }

    #[test]
    fn garbage_between_records_is_passed_over_and_counted() {
        let good = [
            record(b'I', b"\x03a b"),
            record(b'D', b"defg"),
            record(b'D', b"defg"),
            record(b'S', b"12345678"),
        ];
        let (found, damage) = kinds(&file(&[good.concat(), vec![0xee; 21], good.concat()]));
        assert_eq!(found, "IDDSIDDS");
        assert_eq!((damage.places, damage.bytes, damage.cut_at), (1, 21, None));
    }

    /// The format asks readers to ignore kinds that they do not know.
    #[test]
    fn records_of_unknown_kinds_are_stepped_over() {
        let (good, future) = (record(b'D', b"defg"), record(b'Z', b"hello"));
        let all = [&good, &future, &good, &future, &future, &good, &future];
        let (found, damage) = kinds(&file(&all.map(Clone::clone)));
        assert_eq!(found, "DZDZZDZ");
        assert_eq!((damage.places, damage.bytes, damage.cut_at), (0, 0, None));
    }

    /// Garbage that happens to be a record of any kind, by whose length more records follow.
    #[test]
    fn intact_records_after_damage_are_not_part_of_another_one() {
        let good = record(b'D', b"defg").repeat(100);
        for kind in 0..=u8::MAX {
            let length = u16::try_from(good.len() / 2).unwrap().to_le_bytes();
            let garbage = [&[0xee; 9][..], &length, &[kind]].concat();
            let (found, damage) = kinds(&file(&[good.clone(), garbage.clone(), good.clone()]));
            assert_eq!(found, "D".repeat(200), "{kind}");
            assert_eq!((damage.places, damage.bytes), (1, 12), "{kind}");
            let (found, damage) =
                kinds(&file(&[good.clone(), garbage[9..].to_vec(), good.clone()]));
            assert_eq!((damage.places, damage.bytes), (1, 3), "{kind}");
            assert_eq!(found, "D".repeat(200), "{kind}");
        }
    }

    #[test]
    fn a_cut_record_is_noticed() {
        let good = file(&[record(b'I', b"\x03a b"), record(b'D', b"defg")]);
        let header = HEADER as usize;
        for length in header + 1..good.len() {
            let (_, damage) = kinds(&good[..length]);
            assert_eq!(damage.cut_at.is_some(), length != header + 7, "{length}");
        }
        assert_eq!(kinds(&good).0, "ID");
    }

    #[test]
    fn appended_data_is_reached_although_the_record_before_it_is_cut() {
        let mut flags = vec![0; 40];
        flags[8] = 1;
        let cut = &record(b'D', b"defg")[..5];
        let before = file(&[record(b'B', &flags), record(b'I', b"\x03a b"), cut.to_vec()]);
        flags[16..24].copy_from_slice(&(before.len() as u64).to_le_bytes());
        let bytes = file(&[
            record(b'B', &flags),
            record(b'I', b"\x03a b"),
            cut.to_vec(),
            record(b'L', b"012345678x"),
        ]);
        assert_eq!(kinds(&bytes).0, "BIL");
    }
}
