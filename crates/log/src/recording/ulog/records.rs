//! The records of a ULog file, resynchronised after corrupt bytes.

use std::io;

use crate::recording::source::{Source, Window};

/// First bytes of every ULog file; its version follows.
pub const MAGIC: [u8; 7] = [0x55, 0x4c, 0x6f, 0x67, 0x01, 0x12, 0x35];
/// Bytes before the first record: magic, version, time of the start.
pub const HEADER: u64 = 16;

/// Kinds of records that the format defines.
const KINDS: &[u8] = b"BFIMPQADRLCSO";
/// Number of consecutive valid records required to accept a start.
const CHAIN: usize = 4;
/// Largest size of such a chain, bytes.
const CHAIN_BYTES: usize = (CHAIN + 1) * (3 + u16::MAX as usize);
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

/// Visits all records in order.
///
/// After bytes that are not a record, it continues at the next place where several records follow each other. Data
/// appended after the log was closed (`appended`, byte offsets) starts a new chain.
pub fn scan(source: &Source, mut visit: impl FnMut(RecordSpan, Record<'_>)) -> io::Result<Damage> {
    let mut damage = Damage::default();
    let mut start = HEADER;
    let mut walker = Walker::new(source);
    for end in appended(source)? {
        // After a crash, the part before appended data may end anywhere.
        walker.end = end;
        if let Some(cut) = walker.walk(start, end, &mut damage, &mut visit)? {
            damage.places += 1;
            damage.bytes += end - cut;
        }
        start = end;
    }
    walker.end = source.len();
    damage.cut_at = walker.walk(start, source.len(), &mut damage, &mut visit)?;
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
        mut visit: impl FnMut(RecordSpan, Record<'_>),
    ) -> io::Result<()> {
        self.end = from.end;
        self.walk(from.start, until, &mut Damage::default(), &mut visit)?;
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
        visit: &mut impl FnMut(RecordSpan, Record<'_>),
    ) -> io::Result<Option<u64>> {
        let (mut offset, end) = (start, self.end);
        while offset < until {
            let rest = self.from(offset)?;
            let record = at(rest, 0);
            let length = record.map_or(0, |record| record.whole.len());
            if let Some(record) = record {
                // Its content is checked later; its length is trusted only if a record or the end follows.
                visit(RecordSpan { start: offset, end }, record);
                if makes_sense(rest, length, 1) {
                    offset += length as u64;
                    continue;
                }
            }
            let end = offset + length as u64;
            let Some(next) = self.search(offset + 1)? else {
                return Ok(Some(end));
            };
            damage.places += 1;
            damage.bytes += next - if next < end { offset } else { end };
            offset = next;
        }
        Ok(None)
    }

    /// The next place from which several records follow each other.
    fn search(&mut self, mut offset: u64) -> io::Result<Option<u64>> {
        while offset < self.end {
            let is_end = self.end - offset <= REACH as u64;
            let rest = self.from(offset)?;
            // A whole chain is in view from each of these places.
            let places = if is_end {
                rest.len()
            } else {
                rest.len() - CHAIN_BYTES
            };
            let found = (0..places)
                .find(|&place| at(rest, place).is_some() && makes_sense(rest, place, CHAIN));
            match found {
                Some(place) => return Ok(Some(offset + place as u64)),
                None => offset += places as u64,
            }
        }
        Ok(None)
    }
}

/// The record at `offset`, if a record of a known kind fits there.
fn at(bytes: &[u8], offset: usize) -> Option<Record<'_>> {
    let rest = bytes.get(offset..)?;
    let kind = *rest.get(2)?;
    let length = usize::from(u16::from_le_bytes([rest[0], rest[1]]));
    let whole = rest.get(..3 + length)?;
    (KINDS.contains(&kind) && length > 0).then_some(Record { kind, whole })
}

/// Whether `count` records, or fewer and then the end, follow from `offset` on.
fn makes_sense(bytes: &[u8], mut offset: usize, count: usize) -> bool {
    for _ in 0..count {
        if offset == bytes.len() {
            return true;
        }
        let Some(record) = at(bytes, offset) else {
            return false;
        };
        offset += record.whole.len();
    }
    true
}

/// The first flags of incompatible changes to the format that are unknown: the offset of their byte, and their bits.
pub fn unknown_flags(source: &Source) -> io::Result<Option<(u64, u8)>> {
    let mut head = Vec::new();
    source.read(HEADER, 3 + usize::from(u16::MAX), &mut head)?;
    let flags = at(&head, 0).filter(|record| record.kind == b'B');
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
    let Some(flags) = at(&head, 0).filter(|record| record.kind == b'B') else {
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

    fn kinds(bytes: &[u8]) -> (String, Damage) {
        let mut found = String::new();
        let source = Source::Bytes(bytes.into());
        let damage = scan(&source, |_, record| found.push(record.kind.into()));
        (found, damage.unwrap())
    }

    #[test]
    fn garbage_between_records_is_passed_over_and_counted() {
        let good = [
            record(b'I', b"abc"),
            record(b'D', b"defg"),
            record(b'D', b"defg"),
            record(b'S', b"12345678"),
        ];
        let (found, damage) = kinds(&file(&[good.concat(), vec![0xee; 21], good.concat()]));
        assert_eq!(found, "IDDSIDDS");
        assert_eq!((damage.places, damage.bytes, damage.cut_at), (1, 21, None));
    }

    #[test]
    fn a_cut_record_is_noticed() {
        let good = file(&[record(b'I', b"abc"), record(b'D', b"defg")]);
        let header = HEADER as usize;
        for length in header + 1..good.len() {
            let (_, damage) = kinds(&good[..length]);
            assert_eq!(damage.cut_at.is_some(), length != header + 6, "{length}");
        }
        assert_eq!(kinds(&good).0, "ID");
    }

    #[test]
    fn appended_data_is_reached_although_the_record_before_it_is_cut() {
        let mut flags = vec![0; 40];
        flags[8] = 1;
        let cut = &record(b'D', b"defg")[..5];
        let before = file(&[record(b'B', &flags), record(b'I', b"abc"), cut.to_vec()]);
        flags[16..24].copy_from_slice(&(before.len() as u64).to_le_bytes());
        let bytes = file(&[
            record(b'B', &flags),
            record(b'I', b"abc"),
            cut.to_vec(),
            record(b'L', b"012345678x"),
        ]);
        assert_eq!(kinds(&bytes).0, "BIL");
    }
}
