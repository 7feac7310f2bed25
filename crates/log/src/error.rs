//! Errors of logs: what was expected, what was found, and where.

use std::io;
use std::path::{Path, PathBuf};

/// Errors of writing and reading logs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file cannot be created.
    #[error("cannot create the log `{}`: {source}", path.display())]
    Create {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Another flight is writing there.
    #[error(
        "cannot create the log `{}`: another flight is writing `{}`; name another one with --log",
        path.display(), part.display()
    )]
    Busy {
        /// The path.
        path: PathBuf,
        /// The other flight's unfinished log.
        part: PathBuf,
    },
    /// A file exists there that is not a flight log of this program.
    #[error(
        "cannot create the log `{}`: expected nothing there or a flight log of this program, which would be replaced, found another \
         file; name another place with --log, or remove it", path.display()
    )]
    NotALog {
        /// The path.
        path: PathBuf,
    },
    /// The flight reads the file that its log would replace.
    #[error(
        "cannot create the log `{}`: the flight reads this file; name another place with --log", path.display()
    )]
    Input {
        /// The path.
        path: PathBuf,
    },
    /// Writing failed during the flight.
    #[error("cannot write the log `{}`: {reason}", path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A row does not have the shape that the header declared.
    #[error("log row: {what} has {found} entries, the header declares {expected}")]
    Shape {
        /// Which part of the row.
        what: &'static str,
        /// Declared length.
        expected: usize,
        /// Length of the slice.
        found: usize,
    },
    /// The file cannot be opened or read.
    #[error("cannot read the log `{}`: {source}", path.display())]
    Open {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file is not a supported log.
    #[error(
        "`{}` is not a flight log: expected an MCAP file of this program (89 4d 43 41 50 30 0d 0a) \
         or a PX4 ULog (55 4c 6f 67 01 12 35), found {first_bytes}", path.display()
    )]
    UnknownKind {
        /// The file.
        path: PathBuf,
        /// Its first bytes in hexadecimal, or `an empty file`.
        first_bytes: String,
    },
    /// An MCAP file that this program did not write.
    #[error("`{}` is an MCAP file, but not a flight log of this program: {missing}", path.display())]
    OtherMcap {
        /// The file.
        path: PathBuf,
        /// What is missing.
        missing: String,
    },
    /// A log of a later version of this program.
    #[error("`{}` has log format {found}, this program reads format {expected}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The format that this program reads.
        expected: u32,
        /// The format of the file.
        found: String,
    },
    /// A ULog of a later format, which says that other readers must not read it.
    #[error(
        "`{}` is a ULog of a later format: expected no incompatible flag but 0x01 of byte 27, found unknown flags {bits:#04x} at byte {offset}",
        path.display()
    )]
    Flags {
        /// The file.
        path: PathBuf,
        /// Offset of the byte with the flags.
        offset: u64,
        /// The unknown bits.
        bits: u8,
    },
    /// The file ends too early.
    #[error(
        "`{}` is truncated at byte {offset}: expected {expected}; {frames} complete frames precede it", path.display()
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Where the file ends, or where the record that is cut off starts.
        offset: u64,
        /// What was expected there.
        expected: String,
        /// Frames that can be read.
        frames: usize,
    },
    /// The file is damaged.
    #[error(
        "`{}` is corrupt at byte {offset}: expected {expected}, found {found}; {frames} complete frames precede it",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Start of the corrupt record.
        offset: u64,
        /// What was expected there.
        expected: String,
        /// What was found there.
        found: String,
        /// Number of frames before it.
        frames: usize,
    },
    /// A message does not match its topic.
    #[error("`{}` is corrupt: expected a message of `{topic}`, found {found}", path.display())]
    Message {
        /// The file.
        path: PathBuf,
        /// The topic.
        topic: String,
        /// What was found.
        found: String,
    },
    /// Reading the log would take too much memory.
    #[error(
        "`{}` takes more than {most} bytes to read: {what}; allow more (`memory_mb`) if the log can be trusted", path.display()
    )]
    Memory {
        /// The file.
        path: PathBuf,
        /// The memory allowed.
        most: u64,
        /// The part that needs so much memory.
        what: String,
    },
    /// The log is well-formed but lacks what a tick needs.
    #[error("`{}` cannot be read: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
}

impl LogError {
    /// Whether the name of a new log is taken; another name may be free.
    pub fn is_taken(&self) -> bool {
        match self {
            Self::Busy { .. } => true,
            Self::Create { source, .. } => source.kind() == io::ErrorKind::AlreadyExists,
            _ => false,
        }
    }

    /// [`Self::OtherMcap`] from what was expected and what was found.
    pub(crate) fn other_mcap(path: &Path, (expected, found): (String, String)) -> Self {
        Self::OtherMcap {
            path: path.into(),
            missing: format!("expected {expected}, found {found}"),
        }
    }
}
