//! Tables as files. A file is written as a whole or not at all.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{Cell, Column, csv, parquet};

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
    /// The table cannot be encoded.
    #[error("cannot write the table: {0}")]
    Table(String),
}

impl TableError {
    fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::File { path, error }
    }
}

/// Writes comma-separated values: a line of names, then one line per row. Numbers are read back exactly; missing values
/// are empty.
///
/// # Errors
/// The file cannot be written, or `rows` has an error.
pub fn write_csv<E: From<TableError>>(
    columns: &[Column],
    rows: impl Iterator<Item = Result<Vec<Cell>, E>>,
    path: &Path,
) -> Result<(), E> {
    whole(path, |file| csv::write(columns, rows, file))
}

/// Writes Apache Parquet: uncompressed, every column optional, its unit as the metadata `unit.NAME`; `metadata`
/// contains further pairs of a key and a text.
///
/// # Errors
/// The file cannot be written, or `rows` has an error.
pub fn write_parquet<E: From<TableError>>(
    columns: &[Column],
    metadata: &[(String, String)],
    rows: impl Iterator<Item = Result<Vec<Cell>, E>>,
    path: &Path,
) -> Result<(), E> {
    whole(path, |file| parquet::write(columns, metadata, rows, file))
}

/// Returns an error if something that is no file is at this path, which [`whole`] would replace.
///
/// # Errors
/// [`TableError::NotAFile`].
pub fn refuse_other_than_file(path: &Path) -> Result<(), TableError> {
    let found = match std::fs::metadata(path) {
        Ok(it) if it.is_dir() => "a folder",
        Ok(it) if !it.is_file() => "a device, a pipe or a socket",
        _ => return Ok(()),
    };
    let path = path.to_owned();
    Err(TableError::NotAFile { path, found })
}

/// Writes a temporary file next to the target, then renames it: readers see either the old file or the complete new
/// one.
///
/// # Errors
/// The file cannot be written, something that is no file is in its place, or `write` has an error.
pub fn whole<T, E: From<TableError>>(
    path: &Path,
    write: impl FnOnce(&mut NamedTempFile) -> Result<T, E>,
) -> Result<T, E> {
    refuse_other_than_file(path)?;
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    // The permissions of any file: all except those in the user's mask.
    builder.permissions(Permissions::from_mode(0o666));
    let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")));
    let mut file = file.map_err(TableError::file(path))?;
    let written = write(&mut file)?;
    let synced = file.flush().and_then(|()| file.as_file().sync_all());
    synced.map_err(TableError::file(path))?;
    match file.persist(path) {
        Ok(_) => Ok(written),
        Err(error) => Err(TableError::file(path)(error.error).into()),
    }
}
