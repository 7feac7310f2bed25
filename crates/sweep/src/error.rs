//! Errors of a campaign; an error of one of its flights is in its row instead.

use std::path::{Path, PathBuf};

use fly_flight::FlightError;
use fly_flight::config::ConfigError;
use fly_table::TableError;

use crate::shard::Shard;

/// Why a campaign cannot be flown, or its table cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The plan cannot be flown.
    #[error(transparent)]
    Flight(#[from] FlightError),
    /// A file cannot be read or written.
    #[error("`{}`: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// A journal cannot be opened.
    #[error("cannot read the journal `{}`: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's message.
        error: std::io::Error,
    },
    /// A file is no journal that can be merged.
    #[error("cannot merge: `{}` {why}", path.display())]
    Unmergeable {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A file with the journal's name is not a journal.
    #[error("`{}` is not a journal of `fly sweep`: it is left unchanged; choose another name with --out", path.display())]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// The header of a journal does not match its checksum.
    #[error("the header of `{}` is damaged, so its rows may belong to another plan: it is left unchanged; --restart discards them", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// Another campaign writes it.
    #[error("`{}` is being written by another `fly sweep`: wait for it, or choose another name with --out", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file system does not support locks.
    #[error(
        "`{}` cannot be locked: {error}. Two campaigns could write it at once, so none does: choose a folder on a file system with locks by --out (Lustre: mounted with `flock`)", path.display()
    )]
    NoLocks {
        /// The file.
        path: PathBuf,
        /// The operating system's message.
        error: std::io::Error,
    },
    /// It was begun by another build.
    #[error(
        "`{}` was begun by another build of this version of `fly`, whose physics may differ: it has {found}, this one is {expected}; continue with that build, discard its rows with --restart, or mix both with --any-build", path.display()
    )]
    OtherBuild {
        /// The file.
        path: PathBuf,
        /// The build that began it.
        found: String,
        /// This build.
        expected: String,
    },
    /// Files of a flight cannot be read, or its plugin cannot be loaded, although the plan is valid.
    #[error("flight {index} cannot begin, for a reason outside the plan: {error}\nThe campaign stops here: finished flights are in `{}`, and the same command continues", path.display())]
    Machine {
        /// Index of the flight.
        index: u64,
        /// The journal.
        path: PathBuf,
        /// The reason.
        error: Box<FlightError>,
    },
    /// A thread cannot be started.
    #[error("no thread can be started: {error}")]
    Threads {
        /// The operating system's message.
        error: std::io::Error,
    },
    /// The journal belongs to another plan.
    #[error(
        "`{}` is the journal of another plan: {difference}; continue that plan, choose another name with --out, or discard its rows with --restart", path.display()
    )]
    OtherPlan {
        /// The file.
        path: PathBuf,
        /// The first line that differs.
        difference: String,
    },
    /// The journal belongs to another part of the plan.
    #[error("`{}` is the journal of shard {found}, expected {expected}", path.display())]
    OtherShard {
        /// The file.
        path: PathBuf,
        /// The part that it belongs to.
        found: Shard,
        /// The expected part.
        expected: Shard,
    },
    /// Two journals contain the same flight.
    #[error("flight {index} is in `{}` and in `{}`: merge every shard once", first.display(), second.display())]
    DuplicateFlight {
        /// Index of the flight.
        index: u64,
        /// A journal.
        first: PathBuf,
        /// Another one.
        second: PathBuf,
    },
    /// Rows are missing.
    #[error("{missing} of {of} flights are missing, the first is {first}: fly or add {shards}")]
    Missing {
        /// Number of missing rows.
        missing: u64,
        /// Number of rows of the plan.
        of: u64,
        /// Index of the first missing row.
        first: u64,
        /// What to do, in words.
        shards: String,
    },
    /// The plan has no such flight.
    #[error("there is no flight {index}: the plan has {flights}, numbered from 0")]
    NoFlight {
        /// The requested index.
        index: u64,
        /// Number of flights.
        flights: u64,
    },
    /// The table cannot be written.
    #[error("the table cannot be written: {0}")]
    Table(String),
}

impl From<ConfigError> for SweepError {
    fn from(error: ConfigError) -> Self {
        Self::Flight(error.into())
    }
}

impl SweepError {
    /// The same, of a journal that is merged: it is only read, so no other place or new start helps.
    pub(crate) fn in_merge(self) -> Self {
        let (path, why) = match self {
            Self::NotAJournal { path } => (path, "is not a journal of `fly sweep`".to_owned()),
            Self::Damaged { path } => (
                path,
                "has a damaged header, so its rows may belong to another plan: fly its shard again"
                    .to_owned(),
            ),
            Self::OtherPlan { path, difference } => (
                path,
                format!("is the journal of another plan: {difference}"),
            ),
            Self::OtherBuild {
                path,
                found,
                expected,
            } => (
                path,
                format!(
                    "was begun by another build of this version of `fly`, whose physics may differ: it has {found}, this one is {expected}; merge with that build, or mix both with --any-build"
                ),
            ),
            other => return other,
        };
        Self::Unmergeable { path, why }
    }

    /// An error with this file.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::File { path, error }
    }
}

impl From<TableError> for SweepError {
    fn from(error: TableError) -> Self {
        match error {
            TableError::File { path, error } => Self::File { path, error },
            TableError::Table(why) => Self::Table(why),
            other => Self::Table(other.to_string()),
        }
    }
}
