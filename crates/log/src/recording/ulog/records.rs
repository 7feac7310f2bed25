//! The records of a ULog file, resynchronised after corrupt bytes.

/// First bytes of every ULog file; its version follows.
pub const MAGIC: [u8; 7] = [0x55, 0x4c, 0x6f, 0x67, 0x01, 0x12, 0x35];
/// Bytes before the first record: magic, version, time of the start.
pub const HEADER: usize = 16;

/// Kinds of records that the format defines.
const KINDS: &[u8] = b"BFIMPQADRLCSO";
/// Number of consecutive valid records that mark the start of one.
const CHAIN: usize = 4;

/// One record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Its kind: an ASCII letter.
    pub kind: u8,
    /// The record with its three bytes of length and kind.
    pub whole: &'a [u8],
}

impl<'a> Record<'a> {
    /// Its content.
    pub fn body(&self) -> &'a [u8] {
        &self.whole[3..]
    }
}

/// Damage that was found.
#[derive(Clone, Copy, Debug, Default)]
pub struct Damage {
    /// Places where the chain of records broke.
    pub places: usize,
    /// Bytes passed over.
    pub bytes: usize,
    /// Whether the file ends within a record, and where that starts.
    pub cut_at: Option<usize>,
}

/// Visits all records, in order.
///
/// After bytes that are not a record it searches the next place where several records follow each other. Data that
/// was appended after the log was closed (`appended`, byte offsets) starts a new chain.
pub fn scan<'a>(bytes: &'a [u8], mut visit: impl FnMut(Record<'a>)) -> Damage {
    let mut damage = Damage::default();
    let mut start = HEADER;
    for end in appended(bytes) {
        // After a crash the part before appended data may end anywhere.
        if let Some(cut) = section(&bytes[..end], start, &mut damage, &mut visit) {
            damage.places += 1;
            damage.bytes += end - cut;
        }
        start = end;
    }
    damage.cut_at = section(bytes, start, &mut damage, &mut visit);
    damage
}

/// Visits the records from `start` on; returns the offset of the last one, if it is truncated.
fn section<'a>(
    bytes: &'a [u8],
    start: usize,
    damage: &mut Damage,
    visit: &mut impl FnMut(Record<'a>),
) -> Option<usize> {
    let mut offset = start;
    while offset < bytes.len() {
        let record = at(bytes, offset);
        let end = offset + record.map_or(0, |record| record.whole.len());
        if let Some(record) = record {
            // Its content is checked later; its length is trusted only if a record or the end follows.
            visit(record);
            if makes_sense(bytes, end, 1) {
                offset = end;
                continue;
            }
        }
        let next = (offset + 1..bytes.len())
            .find(|&place| at(bytes, place).is_some() && makes_sense(bytes, place, CHAIN));
        let Some(next) = next else {
            return Some(end);
        };
        damage.places += 1;
        damage.bytes += next - if next < end { offset } else { end };
        offset = next;
    }
    None
}

/// The record at `offset`, if one of a known kind fits there.
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

/// Offsets of appended data, as the flags at the head say; none when the flags are not there.
fn appended(bytes: &[u8]) -> Vec<usize> {
    let Some(flags) = at(bytes, HEADER).filter(|record| record.kind == b'B') else {
        return Vec::new();
    };
    let (Some(&incompatible), Some(offsets)) = (flags.body().get(8), flags.body().get(16..40))
    else {
        return Vec::new();
    };
    if incompatible & 1 == 0 {
        return Vec::new();
    }
    let mut places: Vec<usize> = offsets
        .chunks_exact(8)
        .filter_map(|eight| Some(u64::from_le_bytes(eight.try_into().ok()?)))
        .filter_map(|offset| usize::try_from(offset).ok())
        .filter(|offset| (HEADER + 1..bytes.len()).contains(offset))
        .collect();
    places.sort_unstable();
    places.dedup();
    places
}

#[cfg(test)]
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
        let damage = scan(bytes, |record| found.push(record.kind.into()));
        (found, damage)
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
        for length in HEADER + 1..good.len() {
            let (_, damage) = kinds(&good[..length]);
            assert_eq!(damage.cut_at.is_some(), length != HEADER + 6, "{length}");
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
