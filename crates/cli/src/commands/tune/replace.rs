//! Replaces a file as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use fly_table::Unfinished;

/// Replaces the file by `text`: writes a temporary file, syncs it and renames it. After a crash or power loss, the file
/// has either the old text or the new one. Its permissions stay, and a link stays a link.
pub(super) fn replace(file: &Path, text: &str) -> io::Result<()> {
    let file = fs::canonicalize(file)?;
    let metadata = fs::metadata(&file)?;
    let refuse = |kind, why: &str| Err(io::Error::new(kind, why));
    if !metadata.is_file() {
        return refuse(io::ErrorKind::InvalidInput, "it is not a regular file");
    }
    if metadata.permissions().readonly() {
        return refuse(io::ErrorKind::PermissionDenied, "it is write-protected");
    }
    let Some(folder) = file.parent() else {
        return refuse(io::ErrorKind::InvalidInput, "it is in no folder");
    };
    let mut new = tempfile::Builder::new()
        .prefix(".fly-tune-")
        .tempfile_in(folder)?;
    let _unfinished = Unfinished::new(new.path());
    new.write_all(text.as_bytes())?;
    new.as_file().set_permissions(metadata.permissions())?;
    new.as_file().sync_all()?;
    new.persist(&file)?;
    File::open(folder)?.sync_all()
}
