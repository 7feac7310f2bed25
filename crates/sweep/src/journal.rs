//! The journal: one record per finished flight, in order of completion, appended and synced.
//!
//! Eight bytes identify the file type. Then come records: length (4 bytes) and CRC-32 (4 bytes) of the payload,
//! little-endian, then the payload. The first record is the header: number and count of the shard (4 bytes each), and
//! the plan's identity. Every other record is a row: the flight's index (8 bytes) and its cells.
//!
//! A kill can leave the end of a record, or of several, unwritten: what follows the last sound record is cut off. What
//! is no record before that, as of a bad disk, is skipped. Those flights are flown again.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::SweepError;
use crate::plan::{Plan, split_build};
use crate::shard::Shard;
use fly_table::{Cell, take};

const MAGIC: &[u8; 8] = b"FLYSWEP1";
/// Length and checksum.
const HEAD: usize = 8;
/// Longest record, bytes.
const LONGEST: usize = 1 << 26;
/// Longest row behind damage that is searched for, and how far it is searched, bytes.
const LONGEST_ROW: usize = 1 << 20;
const SEARCHED: u64 = 1 << 24;

/// A journal of a plan's flights, or of a part of them. It is locked while it is open, by `flock`, which local disks,
/// NFS since Linux 2.6.12, and Lustre mounted with `flock` enforce across machines.
#[derive(Debug)]
pub struct Journal {
    /// `None` after [`close`](Self::close); the file is then opened for every row.
    file: Option<File>,
    path: PathBuf,
    shard: Shard,
    /// Offset of the record of each flight of the shard; 0 if there is none.
    offsets: Vec<u64>,
    rows: u64,
    end: u64,
    cut: u64,
    damaged: u64,
}

impl Journal {
    /// Opens the journal of this part of the plan to continue it, or creates it; `restart` drops all its rows.
    ///
    /// # Errors
    /// It cannot be read or written, is not a journal, belongs to another plan or part, or is being written by another
    /// campaign.
    pub fn open(path: &Path, plan: &Plan, shard: Shard, restart: bool) -> Result<Self, SweepError> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false);
        let file = file.open(path).map_err(SweepError::file(path))?;
        locked(file.try_lock(), path)?;
        let mut journal = Self::scan(file, path, plan, restart)?;
        if journal.end == 0 {
            journal.take_shard(shard, plan);
            journal.begin(plan).map_err(SweepError::file(path))?;
        } else if journal.shard != shard {
            return Err(SweepError::OtherShard {
                path: path.into(),
                found: journal.shard,
                expected: shard,
            });
        } else if journal.cut > 0 {
            let cut = journal.opened().and_then(|file| {
                file.set_len(journal.end)?;
                file.sync_all()
            });
            cut.map_err(SweepError::file(path))?;
        }
        Ok(journal)
    }

    /// Reads a journal of any part of this plan.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn read(path: &Path, plan: &Plan) -> Result<Self, SweepError> {
        let file = File::open(path).map_err(|error| SweepError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        locked(file.try_lock_shared(), path)?;
        let journal = Self::scan(file, path, plan, false)?;
        if journal.end == 0 {
            return Err(SweepError::NotAJournal { path: path.into() });
        }
        Ok(journal)
    }

    /// Reads all records, or none. Without a complete header the end is 0.
    fn scan(file: File, path: &Path, plan: &Plan, none: bool) -> Result<Self, SweepError> {
        let length = file.metadata().map_err(SweepError::file(path))?.len();
        let input = file.try_clone().map_err(SweepError::file(path))?;
        let mut journal = Self {
            file: Some(file),
            path: path.to_owned(),
            shard: Shard::WHOLE,
            offsets: Vec::new(),
            rows: 0,
            end: 0,
            cut: length,
            damaged: 0,
        };
        let mut input = BufReader::new(input);
        input.rewind().map_err(SweepError::file(path))?;
        let mut magic = Vec::new();
        (&mut input)
            .take(MAGIC.len() as u64)
            .read_to_end(&mut magic)
            .map_err(SweepError::file(path))?;
        if !MAGIC.starts_with(&magic) {
            return Err(SweepError::NotAJournal { path: path.into() });
        }
        let mut record = Vec::new();
        let mut at = MAGIC.len() as u64;
        if none {
            return Ok(journal);
        }
        if !next(&mut input, &mut record).map_err(SweepError::file(path))? {
            // A kill leaves less than a header; a longer file has rows that must not be dropped without being asked.
            let header = MAGIC.len() + HEAD + 8 + plan.identity().len();
            if length > header as u64 {
                return Err(SweepError::Damaged { path: path.into() });
            }
            return Ok(journal);
        }
        journal.take_shard(header(&record, path, plan)?, plan);
        at += (HEAD + record.len()) as u64;
        journal.end = at;
        loop {
            let sound = next(&mut input, &mut record).map_err(SweepError::file(path))?;
            if let Some(slot) = journal.vacancy(&record).filter(|_| sound) {
                *slot = at;
                journal.rows += 1;
                journal.damaged += u64::from(at > journal.end);
                at += (HEAD + record.len()) as u64;
                journal.end = at;
                continue;
            }
            let found = journal.search(&mut input, at + 1);
            match found.map_err(SweepError::file(path))? {
                Some(next) => at = next,
                None => break,
            }
        }
        journal.cut = length.saturating_sub(journal.end);
        Ok(journal)
    }

    /// Moves to the next row behind damage, from this offset on, and returns its offset: a wrong length hides it.
    fn search(
        &mut self,
        input: &mut (impl Read + Seek),
        from: u64,
    ) -> std::io::Result<Option<u64>> {
        input.seek(SeekFrom::Start(from))?;
        let mut rest = Vec::new();
        input.take(SEARCHED).read_to_end(&mut rest)?;
        let is_row = |place: &usize| {
            let record = rest.get(*place..).and_then(record);
            // The checksum last: it takes longest.
            record.is_some_and(|(record, sum)| {
                self.vacancy(record).is_some() && crc32fast::hash(record) == sum
            })
        };
        let Some(place) = (0..rest.len()).find(is_row) else {
            return Ok(None);
        };
        let next = from + place as u64;
        input.seek(SeekFrom::Start(next))?;
        Ok(Some(next))
    }

    /// Where the offset of this row belongs, if it is a row of the shard that is not there yet.
    fn vacancy(&mut self, record: &[u8]) -> Option<&mut u64> {
        let index = take(&mut &*record).map(u64::from_le_bytes)?;
        let slot = self.offsets.get_mut(self.shard.place(index)?)?;
        (*slot == 0).then_some(slot)
    }

    /// Sets the part of the plan that it belongs to.
    fn take_shard(&mut self, shard: Shard, plan: &Plan) {
        let count = usize::try_from(shard.count(plan.flights()));
        self.shard = shard;
        self.offsets = vec![0; count.unwrap_or(usize::MAX)];
    }

    /// Closes the file and releases its lock. Rows are read by opening it again.
    pub(crate) fn close(&mut self) {
        self.file = None;
    }

    fn opened(&self) -> std::io::Result<&File> {
        let closed = || std::io::Error::other("it was closed");
        self.file.as_ref().ok_or_else(closed)
    }

    /// Writes the header.
    fn begin(&mut self, plan: &Plan) -> std::io::Result<()> {
        let mut payload = Vec::new();
        for number in self.shard.parts() {
            payload.extend(number.to_le_bytes());
        }
        payload.extend(plan.identity().as_bytes());
        let mut bytes = MAGIC.to_vec();
        frame(&payload, &mut bytes);
        let mut file = self.opened()?;
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        // The file's name is stored by its folder.
        let folder = self.path.parent().filter(|it| !it.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        (self.end, self.cut) = (bytes.len() as u64, 0);
        Ok(())
    }

    /// Appends rows, and returns once they are on disk.
    ///
    /// # Errors
    /// They cannot be written.
    pub(crate) fn append(&mut self, rows: &[(u64, Vec<Cell>)]) -> Result<(), SweepError> {
        let mut bytes = Vec::new();
        let mut payload = Vec::new();
        for (index, cells) in rows {
            payload.clear();
            payload.extend(index.to_le_bytes());
            for cell in cells {
                cell.encode(&mut payload);
            }
            let place = self.shard.place(*index);
            if let Some(slot) = place.and_then(|at| self.offsets.get_mut(at)) {
                *slot = self.end + bytes.len() as u64;
            }
            frame(&payload, &mut bytes);
        }
        let written = self.opened().and_then(|file| {
            file.write_all_at(&bytes, self.end)?;
            file.sync_data()
        });
        written.map_err(SweepError::file(&self.path))?;
        self.end += bytes.len() as u64;
        self.rows += rows.len() as u64;
        Ok(())
    }
}

/// # Access
impl Journal {
    /// Path of its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The part of the plan that it belongs to.
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// Number of flights in it.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of damaged places before the last sound record when it was opened.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Number of bytes at its end that were not a record when it was opened, left by a kill.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Whether it contains this flight.
    pub fn has(&self, index: u64) -> bool {
        self.offset(index).is_some()
    }

    fn offset(&self, index: u64) -> Option<u64> {
        let offset = self.offsets.get(self.shard.place(index)?)?;
        (*offset > 0).then_some(*offset)
    }

    /// The row of a flight; `None` without one.
    ///
    /// # Errors
    /// The row cannot be read.
    pub(crate) fn row(&self, index: u64) -> Result<Option<Vec<Cell>>, SweepError> {
        let Some(offset) = self.offset(index) else {
            return Ok(None);
        };
        let read = || -> std::io::Result<Option<Vec<Cell>>> {
            let again;
            let file = if let Some(file) = &self.file {
                file
            } else {
                again = File::open(&self.path)?;
                &again
            };
            let mut head = [0; HEAD];
            file.read_exact_at(&mut head, offset)?;
            let Some((length, sum)) = split(head) else {
                return Ok(None);
            };
            let mut payload = vec![0; length];
            file.read_exact_at(&mut payload, offset + HEAD as u64)?;
            let mut rest = payload.as_slice();
            // Another process may have written the file since it was closed.
            let is_it = take(&mut rest).map(u64::from_le_bytes) == Some(index);
            let mut cells = Vec::new();
            while let Some(cell) = Cell::decode(&mut rest) {
                cells.push(cell);
            }
            Ok((crc32fast::hash(&payload) == sum && is_it && rest.is_empty()).then_some(cells))
        };
        let row = read().map_err(SweepError::file(&self.path))?;
        row.map(Some).ok_or_else(|| {
            let error = std::io::Error::other(format!("the row of flight {index} is damaged"));
            SweepError::file(&self.path)(error)
        })
    }
}

/// Whether it could be locked.
fn locked(tried: Result<(), TryLockError>, path: &Path) -> Result<(), SweepError> {
    let path = || path.to_owned();
    match tried {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(SweepError::Busy { path: path() }),
        Err(TryLockError::Error(error)) if keeps_no_locks(&error) => Err(SweepError::NoLocks {
            path: path(),
            error,
        }),
        Err(TryLockError::Error(error)) => Err(SweepError::File {
            path: path(),
            error,
        }),
    }
}

/// Whether a file system reports that it has no locks, or that its lock server cannot be reached.
fn keeps_no_locks(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let number = error.raw_os_error().map(Errno::from_raw_os_error);
    error.kind() == ErrorKind::Unsupported
        || number
            .is_some_and(|number| [Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOLCK].contains(&number))
}

/// Appends a record.
fn frame(payload: &[u8], to: &mut Vec<u8>) {
    // A row is some hundred bytes, a configuration some thousand.
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    to.extend(length.to_le_bytes());
    to.extend(crc32fast::hash(payload).to_le_bytes());
    to.extend(payload);
}

/// Length and checksum of a record; `None` if the length is too large.
fn split(head: [u8; HEAD]) -> Option<(usize, u32)> {
    let mut rest = head.as_slice();
    let length = u32::from_le_bytes(take(&mut rest)?) as usize;
    let sum = u32::from_le_bytes(take(&mut rest)?);
    (length <= LONGEST).then_some((length, sum))
}

/// The record that these bytes would begin with, if it is as long as a row may be, and its checksum.
fn record(bytes: &[u8]) -> Option<(&[u8], u32)> {
    let (head, rest) = bytes.split_first_chunk()?;
    let (length, sum) = split(*head).filter(|(length, _)| *length <= LONGEST_ROW)?;
    Some((rest.get(..length)?, sum))
}

/// Reads the next record. Returns whether there is a sound one.
fn next(input: &mut impl Read, record: &mut Vec<u8>) -> std::io::Result<bool> {
    let mut head = [0; HEAD];
    if !filled(input, &mut head)? {
        return Ok(false);
    }
    // Zeros look like an empty record with the correct checksum.
    let Some((length, sum)) = split(head).filter(|(length, _)| *length > 0) else {
        return Ok(false);
    };
    record.resize(length, 0);
    Ok(filled(input, record)? && crc32fast::hash(record) == sum)
}

/// Fills the buffer; false if the file ends first.
fn filled(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<bool> {
    match input.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// The shard in a header, if it belongs to this plan.
fn header(record: &[u8], path: &Path, plan: &Plan) -> Result<Shard, SweepError> {
    let not_a_journal = || SweepError::NotAJournal { path: path.into() };
    let mut rest = record;
    let mut number = || take(&mut rest).map(u32::from_le_bytes);
    let parts = number().zip(number()).ok_or_else(not_a_journal)?;
    let shard = Shard::of_parts(parts.into()).ok_or_else(not_a_journal)?;
    let identity = std::str::from_utf8(rest).map_err(|_| not_a_journal())?;
    let (build, identity) = split_build(identity);
    let (own, expected) = split_build(plan.identity());
    if identity == expected {
        return match (build, own) {
            (Some(found), Some(expected)) if found != expected && !plan.mixes_builds() => {
                Err(SweepError::OtherBuild {
                    path: path.into(),
                    found: found.to_owned(),
                    expected: expected.to_owned(),
                })
            }
            _ => Ok(shard),
        };
    }
    let mut found = identity.lines();
    let mut expected = expected.lines();
    let difference = loop {
        match (found.next(), expected.next()) {
            (found, expected) if found != expected => {
                let show =
                    |line: Option<&str>| line.map_or("nothing".into(), |it| format!("`{it}`"));
                break format!(
                    "it has {} where this one has {}",
                    show(found),
                    show(expected)
                );
            }
            (None, None) => break "other line ends".to_owned(),
            _ => {}
        }
    };
    Err(SweepError::OtherPlan {
        path: path.into(),
        difference,
    })
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    /// A file system without locks cannot be created here, but its response can be simulated.
    #[test]
    fn a_file_system_without_locks_is_refused_aloud() {
        let path = Path::new("/lustre/plan.journal");
        for number in [Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOLCK] {
            let error = std::io::Error::from_raw_os_error(number.raw_os_error());
            let told = locked(Err(TryLockError::Error(error)), path).unwrap_err();
            assert!(matches!(told, SweepError::NoLocks { .. }), "{told:?}");
            let told = told.to_string();
            assert!(
                told.contains("`/lustre/plan.journal` cannot be locked"),
                "{told}"
            );
        }
        let other = std::io::Error::from_raw_os_error(Errno::IO.raw_os_error());
        let told = locked(Err(TryLockError::Error(other)), path).unwrap_err();
        assert!(matches!(told, SweepError::File { .. }), "{told:?}");
        assert!(locked(Ok(()), path).is_ok());
    }
}
