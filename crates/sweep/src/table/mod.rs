//! The rows as a table, in the order of their index: CSV, and Parquet. A file is written as a whole or not at all.

mod csv;
mod parquet;

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::SweepError;
use crate::rows::Rows;

/// Writes comma-separated values: a line of names, then a line for each flight. Numbers read back exactly; what is not there is empty.
///
/// # Errors
/// The file cannot be written, or a row not be read.
pub fn write_csv(rows: &Rows<'_>, path: &Path) -> Result<(), SweepError> {
    whole(path, |file| csv::write(rows, file))
}

/// Writes Apache Parquet: uncompressed, every column optional, its units as the metadata `unit.NAME`.
///
/// # Errors
/// The file cannot be written, or a row not be read.
pub fn write_parquet(rows: &Rows<'_>, path: &Path) -> Result<(), SweepError> {
    whole(path, |file| parquet::write(rows, file))
}

/// Writes beside the file, then puts it into its place.
fn whole(
    path: &Path,
    write: impl FnOnce(&mut NamedTempFile) -> Result<(), SweepError>,
) -> Result<(), SweepError> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    // As any file: less what the user's mask forbids.
    builder.permissions(Permissions::from_mode(0o666));
    let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")));
    let mut file = file.map_err(SweepError::file(path))?;
    write(&mut file)?;
    let synced = file.flush().and_then(|()| file.as_file().sync_all());
    synced.map_err(SweepError::file(path))?;
    match file.persist(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(SweepError::file(path)(error.error)),
    }
}
