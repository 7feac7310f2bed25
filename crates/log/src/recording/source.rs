//! Bytes of a recording, read on demand.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

/// A file, or its contents.
#[derive(Clone)]
pub enum Source {
    /// An open file and its length when it was opened.
    File(Arc<File>, u64),
    /// The contents of a file.
    Bytes(Arc<[u8]>),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

impl Source {
    /// Number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::File(_, length) => *length,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// Appends `count` bytes from `offset` on to `into`, or as many as there are.
    pub fn read(&self, offset: u64, count: usize, into: &mut Vec<u8>) -> io::Result<()> {
        let there = usize::try_from(self.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        let count = count.min(there);
        match self {
            Self::File(file, _) => {
                let start = into.len();
                into.resize(start + count, 0);
                file.read_exact_at(&mut into[start..], offset)
            }
            Self::Bytes(bytes) => {
                let start = usize::try_from(offset)
                    .unwrap_or(usize::MAX)
                    .min(bytes.len());
                into.extend_from_slice(&bytes[start..start + count]);
                Ok(())
            }
        }
    }
}

/// A part of a source in memory that moves forward.
#[derive(Debug)]
pub struct Window {
    source: Source,
    start: u64,
    data: Vec<u8>,
}

/// Bytes per read.
const READ: usize = 1 << 18;

impl Window {
    /// At the start of a source.
    pub const fn new(source: Source) -> Self {
        Self {
            source,
            start: 0,
            data: Vec::new(),
        }
    }

    /// Number of bytes of the source.
    pub fn len(&self) -> u64 {
        self.source.len()
    }

    /// At least `reach` bytes from `offset` on, or as many as there are.
    pub fn from(&mut self, offset: u64, reach: usize) -> io::Result<&[u8]> {
        let end = self.start + self.data.len() as u64;
        let wanted = offset.saturating_add(reach as u64).min(self.len());
        if offset < self.start || wanted > end {
            // Bytes that are already in memory are kept.
            match usize::try_from(offset.wrapping_sub(self.start)) {
                Ok(passed) if passed <= self.data.len() => drop(self.data.drain(..passed)),
                _ => self.data.clear(),
            }
            self.start = offset;
            let missing = reach.saturating_sub(self.data.len()).max(READ);
            let from = offset + self.data.len() as u64;
            self.source.read(from, missing, &mut self.data)?;
        }
        let skip = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
        Ok(self.data.get(skip..).unwrap_or_default())
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)] // small numbers
mod tests {
    use super::*;

    #[test]
    fn a_window_shows_what_is_there_wherever_it_moves() {
        let bytes: Vec<u8> = (0..3 * READ).map(|i| (i / 7) as u8).collect();
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&bytes, 0).unwrap();
        let length = bytes.len() as u64;
        let sources = [
            Source::File(Arc::new(file), length),
            Source::Bytes(bytes.clone().into()),
        ];
        for source in sources {
            let mut window = Window::new(source);
            for offset in [
                0,
                5,
                READ - 3,
                2 * READ + 1,
                17,
                3 * READ - 2,
                3 * READ,
                9 * READ,
            ] {
                for reach in [1, 9, READ + 5] {
                    let found = window.from(offset as u64, reach).unwrap();
                    let expected = bytes.get(offset..).unwrap_or_default();
                    assert!(found.len() >= reach.min(expected.len()));
                    assert_eq!(found, &expected[..found.len()]);
                }
            }
        }
    }
}
