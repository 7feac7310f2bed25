//! Reads recorded flights: logs of this program and PX4's ULog.

mod check;
mod container;
mod convert;
mod copy;
mod difference;
mod frames;
mod head;
mod messages;
mod own;
mod rows;
mod source;
mod stream;
mod survey;
mod ulog;

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fly_hal::{Description, ReferenceSource, Signal};
use rustix::fs::OFlags;

pub use check::{Check, Gap, NonFinite, longest_step};
pub use container::{Damage, Fault};
pub use convert::convert;
pub use copy::{Copied, copy};
pub use difference::{Difference, Differences};
pub use frames::{Frame, Frames};
pub use messages::{Message, Messages};
pub use rows::{Row as TableRow, Rows};
pub use stream::Stream;
pub use survey::{Survey, Topic};

use crate::error::LogError;
use crate::origin::Motors;
use crate::{FlightHeader, RunMetadata};
use source::Source;

/// Options for reading a log.
#[derive(Clone, Debug)]
pub struct Options {
    /// Accept a truncated or damaged log and use its complete frames.
    pub allow_truncated: bool,
    /// Memory that reading may use, bytes. A log needs a fraction of it, whatever its length, unless it was crafted to
    /// need more.
    pub memory: u64,
}

impl Default for Options {
    /// No damage accepted, 512 MiB.
    fn default() -> Self {
        Self {
            allow_truncated: false,
            memory: 512 << 20,
        }
    }
}

/// The kind of file that a recording comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// MCAP written by this program.
    Own,
    /// ULog, written by PX4.
    Ulog,
}

impl Kind {
    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "fly MCAP",
            Self::Ulog => "PX4 ULog",
        }
    }

    /// Determines the kind of a file from its first bytes.
    ///
    /// # Errors
    /// [`LogError::Open`] for a file that cannot be read, [`LogError::UnknownKind`] for one that is not a log.
    pub fn of(path: impl AsRef<Path>) -> Result<Self, LogError> {
        let path = path.as_ref();
        kind(path, &open(path)?)
    }
}

/// A recorded flight, with its ticks in memory or as a [`Stream`].
#[derive(Clone, Debug)]
pub struct Recording<T = Frames> {
    /// The file.
    pub path: PathBuf,
    /// Kind of the file.
    pub kind: Kind,
    /// Signals in the order of a frame's values, and groups in the order of a frame's groups. If there are setpoints,
    /// the reference is [recorded](ReferenceSource::Recorded). Recorded commands are the signals `recorded.<command>`;
    /// there are no signals of the class [`Command`](fly_hal::Class::Command).
    pub description: Description,
    /// The ticks.
    pub frames: T,
    /// Configuration and backend of the flight; `None` for a ULog.
    pub header: Option<FlightHeader>,
    /// The record of the run; `None` for a ULog and for an aborted flight.
    pub run: Option<RunMetadata>,
    /// Parts that could not be read, one line each; empty for an intact file.
    pub skipped: Vec<String>,
    /// Notes on how the data was processed: a short name and a sentence each.
    pub notes: Vec<(String, String)>,
    /// Recorded motors of another program's log; one of this program has `recorded.*` signals instead.
    pub motors: Option<Motors>,
}

impl<T> Recording<T> {
    /// Whether another program recorded the flight: without a configuration, and with motors instead of commands. A log that was
    /// [converted](convert()) is as the original.
    pub fn is_foreign(&self) -> bool {
        let header = self.header.as_ref();
        header.is_none_or(|header| header.origin.is_some())
    }
}

impl Recording<Stream> {
    /// Opens a log of any kind, checks all of it, and reads its ticks on demand.
    ///
    /// # Errors
    /// [`LogError::Open`] for a file that cannot be read, [`LogError::UnknownKind`] for one that is not a log,
    /// [`LogError::Truncated`] and [`LogError::Corrupt`] with the byte offset for a broken one, [`LogError::Memory`]
    /// for one that needs more memory than the options allow.
    pub fn stream(path: impl AsRef<Path>, options: &Options) -> Result<Self, LogError> {
        let path = path.as_ref();
        Self::from_source(path, open(path)?, options)
    }

    fn from_source(path: &Path, source: Source, options: &Options) -> Result<Self, LogError> {
        match kind(path, &source)? {
            Kind::Own => own::open(path, source, options),
            Kind::Ulog => ulog::open(path, &source, options),
        }
    }
}

impl Recording {
    /// Reads a whole log into memory.
    ///
    /// # Errors
    /// As [`stream`](Recording::stream).
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self, LogError> {
        Recording::stream(path, options)?.collect(options.memory)
    }

    /// As [`open`](Self::open), for a file's content; `path` only appears in messages.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_bytes(path: &Path, bytes: &[u8], options: &Options) -> Result<Self, LogError> {
        Recording::from_source(path, Source::Bytes(bytes.into()), options)?.collect(options.memory)
    }

    /// Time from the first tick to the last, s.
    pub fn duration(&self) -> f64 {
        match (self.frames.times().first(), self.frames.times().last()) {
            (Some(first), Some(last)) => last.saturating_sub(*first) as f64 * 1e-9,
            _ => 0.0,
        }
    }
}

/// Opens a file; opening a pipe does not wait for its writer.
fn open(path: &Path) -> Result<Source, LogError> {
    let open = || -> io::Result<Source> {
        let mut open = OpenOptions::new();
        open.read(true)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        let file = open.open(path)?;
        let found = file.metadata()?;
        if found.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !found.is_file() {
            return Err(io::Error::other(
                "expected a regular file, found a device, a pipe or a socket",
            ));
        }
        Ok(Source::File(Arc::new(file), found.len()))
    };
    open().map_err(|source| LogError::Open {
        path: path.into(),
        source: or_unfinished(path, source),
    })
}

/// Of a log that is not there, whether it was not finished.
fn or_unfinished(path: &Path, error: io::Error) -> io::Error {
    let part = path.with_added_extension("part");
    if error.kind() != io::ErrorKind::NotFound || !part.is_file() {
        return error;
    }
    let part = part.display();
    let told = format!("{error}; its flight was killed or goes on, and has left `{part}`");
    io::Error::new(error.kind(), told)
}

/// Determines the kind of a file from its first bytes; a file truncated within them is still recognised.
fn kind(path: &Path, source: &Source) -> Result<Kind, LogError> {
    let mut head = Vec::new();
    source
        .read(0, 16, &mut head)
        .map_err(|source| LogError::Open {
            path: path.into(),
            source,
        })?;
    let magic =
        |magic: &[u8]| !head.is_empty() && magic.starts_with(&head[..head.len().min(magic.len())]);
    if magic(mcap::MAGIC) {
        return Ok(Kind::Own);
    }
    if magic(&ulog::MAGIC) {
        return Ok(Kind::Ulog);
    }
    Err(LogError::UnknownKind {
        path: path.into(),
        first_bytes: match head.as_slice() {
            [] => "an empty file".to_owned(),
            first => container::hex(first),
        },
    })
}

/// The description of a recording with these signals and groups.
fn described(signals: Vec<Signal>, groups: Vec<String>) -> Description {
    let has_setpoints = signals.iter().any(|s| s.name == "setpoint.position.x");
    Description {
        signals,
        groups,
        wants_reference: if has_setpoints {
            ReferenceSource::Recorded
        } else {
            ReferenceSource::Configured
        },
        configuration: None,
        // Logs of other programs begin anywhere.
        starts_in_motion: has_setpoints,
        control_began: None,
    }
}
