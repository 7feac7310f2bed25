//! Reads recorded flights: logs of this program and PX4's ULog.

mod container;
mod frames;
mod head;
mod own;
mod ulog;

use std::path::{Path, PathBuf};

use fly_hal::{Description, ReferenceSource, Signal};

pub use frames::{Frame, Frames};
pub use ulog::{MotorGeometry, Motors};

use crate::error::LogError;
use crate::{FlightHeader, RunMetadata};

/// How a log is read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Accept a truncated log and use its complete frames.
    pub allow_truncated: bool,
}

/// Which kind of file a recording comes from.
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
}

/// A recorded flight, in memory.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The file.
    pub path: PathBuf,
    /// Which kind of file it is.
    pub kind: Kind,
    /// Signals in the order of a frame's values, and groups in the order of a frame's groups. The reference is
    /// [recorded](ReferenceSource::Recorded) where there are setpoints. Recorded commands are the signals `recorded.<command>`;
    /// there are no signals of the class [`Command`](fly_hal::Class::Command).
    pub description: Description,
    /// The ticks.
    pub frames: Frames,
    /// Configuration and backend of the flight; `None` for a ULog.
    pub header: Option<FlightHeader>,
    /// The record of the run; `None` for a ULog and for an aborted flight.
    pub run: Option<RunMetadata>,
    /// Parts that could not be read, one line each; empty for an intact file.
    pub skipped: Vec<String>,
    /// How the data was processed, as pairs of a short name and a sentence.
    pub notes: Vec<(String, String)>,
    /// Recorded motors of a ULog; a log of this program has `recorded.*` signals instead.
    pub motors: Option<Motors>,
}

impl Recording {
    /// Reads a log, whose kind is determined by its first bytes.
    ///
    /// # Errors
    /// [`LogError::Open`] for a file that cannot be read, [`LogError::UnknownKind`] for one that is no
    /// log, [`LogError::Truncated`] and [`LogError::Corrupt`] with the byte offset for a broken one.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self, LogError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|source| LogError::Open {
            path: path.into(),
            source,
        })?;
        Self::from_bytes(path, &bytes, options)
    }

    /// As [`open`](Self::open), of a file's contents; `path` is only for messages.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_bytes(path: &Path, bytes: &[u8], options: &Options) -> Result<Self, LogError> {
        // A file that is truncated within the magic bytes is still recognised.
        let head = &bytes[..bytes.len().min(mcap::MAGIC.len())];
        if !head.is_empty() && mcap::MAGIC.starts_with(head) {
            return own::read(path, bytes, options);
        }
        if !head.is_empty() && ulog::MAGIC.starts_with(&head[..head.len().min(ulog::MAGIC.len())]) {
            return ulog::read(path, bytes, options);
        }
        let first_bytes = match &bytes[..bytes.len().min(16)] {
            [] => "an empty file".to_owned(),
            first => container::hex(first),
        };
        Err(LogError::UnknownKind {
            path: path.into(),
            first_bytes,
        })
    }

    /// Time from the first tick to the last, s.
    pub fn duration(&self) -> f64 {
        match (self.frames.times().first(), self.frames.times().last()) {
            (Some(first), Some(last)) => (last - first) as f64 * 1e-9,
            _ => 0.0,
        }
    }
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
    }
}
