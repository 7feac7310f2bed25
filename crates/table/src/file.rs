//! Tables as files. A file is written as a whole or not at all.

use std::ffi::OsString;
use std::fs::Permissions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::TableError;
use crate::unfinished::Unfinished;
use crate::{Cell, Column, csv, parquet};

/// Names of files have at most 255 bytes, some of which are random here.
const LONGEST_PREFIX: usize = 200;

/// What happens to a file that exists when a new one is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced.
    Replace,
    /// It stays, and the new one is an error.
    Keep,
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
    existing: Existing,
) -> Result<(), E> {
    whole(path, existing, |file| csv::write(columns, rows, file))
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
    existing: Existing,
) -> Result<(), E> {
    whole(path, existing, |file| {
        parquet::write(columns, metadata, rows, file)
    })
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

/// Writes a temporary file next to the target, named after it, then renames it: readers see either the old file or the
/// complete new one.
///
/// # Errors
/// The file cannot be written, something that is no file, or that is to be kept, is in its place, or `write` has an
/// error.
pub fn whole<T, E: From<TableError>>(
    path: &Path,
    existing: Existing,
    write: impl FnOnce(&mut NamedTempFile) -> Result<T, E>,
) -> Result<T, E> {
    refuse_other_than_file(path)?;
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    let name = path.file_name().unwrap_or_default();
    // What a killed process leaves tells whose it is.
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    if prefix.len() < LONGEST_PREFIX {
        builder.prefix(&prefix);
    }
    // The permissions of any file: all except those in the user's mask.
    builder.permissions(Permissions::from_mode(0o666));
    let file = builder.tempfile_in(folder.unwrap_or(Path::new(".")));
    let mut file = file.map_err(TableError::file(path))?;
    let _unfinished = Unfinished::new(file.path());
    let written = write(&mut file)?;
    let synced = file.flush().and_then(|()| file.as_file().sync_all());
    synced.map_err(TableError::file(path))?;
    let renamed = match existing {
        Existing::Replace => file.persist(path),
        Existing::Keep => file.persist_noclobber(path),
    };
    match renamed {
        Ok(_) => Ok(written),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
            let path = path.to_owned();
            Err(TableError::Appeared { path }.into())
        }
        Err(error) => Err(TableError::file(path)(error.error).into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A file that appears while the new one is written is replaced only if that is allowed, a link that leads nowhere
    /// likewise.
    #[test]
    fn what_appears_meanwhile_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let write = |existing: Existing, appear: &dyn Fn()| {
            whole(&path, existing, |file| {
                let name = file.path().file_name().unwrap_or_default();
                assert!(
                    name.to_string_lossy().starts_with(".table.csv."),
                    "{name:?}"
                );
                file.write_all(b"new").map_err(TableError::file(&path))?;
                appear();
                Ok::<(), TableError>(())
            })
        };
        let other = || fs::write(&path, "other").unwrap();
        let kept = write(Existing::Keep, &other);
        assert!(matches!(kept, Err(TableError::Appeared { .. })), "{kept:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "other");
        write(Existing::Replace, &other).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        fs::remove_file(&path).unwrap();
        let link = || std::os::unix::fs::symlink("nowhere", &path).unwrap();
        assert!(write(Existing::Keep, &link).is_err());
        assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
        fs::remove_file(&path).unwrap();
        write(Existing::Keep, &|| ()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
