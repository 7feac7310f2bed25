//! Why a table cannot be written.

use std::path::{Path, PathBuf};

/// Why a table cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The file cannot be created, written, or moved to its final path.
    #[error("cannot write `{}`: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// Something else than a file is at the path: a folder, a device, a pipe or a socket.
    #[error("cannot write `{}`: expected a file or nothing there, found {found}; name another place", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What is there.
        found: &'static str,
    },
    /// A file has appeared at the path that is not to be replaced.
    #[error("cannot write `{}`: a file has appeared there meanwhile; name another place", path.display())]
    Appeared {
        /// The file.
        path: PathBuf,
    },
    /// The table cannot be encoded.
    #[error("cannot write the table: {0}")]
    Table(String),
}

impl TableError {
    /// The error of an operation on this file.
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::File { path, error }
    }
}
