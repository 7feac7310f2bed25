//! Claims the path of a log, so that a flight only ever replaces its own kind of file.
//!
//! During the flight, a log is written to `<path>.part`, which is created exclusively and locked; when it is finished,
//! it gets its final name. Only then is a file at `path` replaced, and only if it is a flight log of this program that
//! the flight does not read.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::error::LogError;
use crate::metadata::PROFILE;

/// Device and inode: identical for all names of a file.
type Identity = (u64, u64);

/// The claimed path of a log.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    part: PathBuf,
    /// The log to be replaced at the end.
    replaced: Option<Identity>,
}

impl Claim {
    /// Claims `path`, which may be a finished flight log unless `fresh` is set; `reads` are the files that the flight
    /// reads.
    ///
    /// Returns the claim, the file to write, and the new name of an unfinished log that a killed flight left in
    /// `<path>.part`.
    pub fn new(
        path: PathBuf,
        fresh: bool,
        reads: &[PathBuf],
    ) -> Result<(Self, File, Option<PathBuf>), LogError> {
        let path = followed(path)?;
        let part = with_suffix(&path, ".part");
        let reads: Vec<Identity> = (reads.iter())
            .filter_map(|path| fs::metadata(path).ok().as_ref().map(identity))
            .collect();
        let replaced = replaceable(&path, fresh, &reads)?;
        let (file, kept) = exclusive(&path, &part, fresh, &reads)?;
        let claim = Self {
            path,
            part,
            replaced,
        };
        // The previous owner of the `.part` may have finished meanwhile.
        match replaceable(&claim.path, fresh, &reads) {
            Ok(found) if found == replaced => Ok((claim, file, kept)),
            Ok(_) => {
                let error = LogError::Busy {
                    path: claim.path.clone(),
                    part: claim.part.clone(),
                };
                claim.release();
                Err(error)
            }
            Err(error) => {
                claim.release();
                Err(error)
            }
        }
    }

    /// Final path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the log while it is written.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Removes the unfinished log.
    pub fn release(&self) {
        let _ = fs::remove_file(&self.part);
    }

    /// Gives the finished log its name. A file that appeared there since the start is kept.
    pub fn publish(&self) -> io::Result<()> {
        let found = fs::metadata(&self.path).ok().as_ref().map(identity);
        if found.is_some() && found == self.replaced {
            return fs::rename(&self.part, &self.path);
        }
        claim_name(&self.part, &self.path)
    }
}

/// The target of a symbolic link.
fn followed(path: PathBuf) -> Result<PathBuf, LogError> {
    if !path.is_symlink() {
        return Ok(path);
    }
    fs::canonicalize(&path).map_err(|source| LogError::Create { path, source })
}

/// The flight log at `path` that may be replaced; `None` if there is no file.
fn replaceable(path: &Path, fresh: bool, reads: &[Identity]) -> Result<Option<Identity>, LogError> {
    let create = |source| LogError::Create {
        path: path.into(),
        source,
    };
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(create(error)),
    };
    if found.is_dir() {
        return Err(create(ErrorKind::IsADirectory.into()));
    }
    if !found.is_file() {
        return Err(create(io::Error::other(
            "expected a file or nothing there, found a device, a pipe or a socket",
        )));
    }
    if fresh {
        return Err(create(ErrorKind::AlreadyExists.into()));
    }
    if reads.contains(&identity(&found)) {
        return Err(LogError::Input { path: path.into() });
    }
    let mut file = open(path).map_err(create)?;
    if !is_own(&mut file).map_err(create)? {
        return Err(LogError::NotALog { path: path.into() });
    }
    Ok(Some(identity(&found)))
}

/// Creates and locks the `.part`. One left by a killed flight, which is not locked, is renamed; its new name is the
/// second result.
fn exclusive(
    path: &Path,
    part: &Path,
    fresh: bool,
    reads: &[Identity],
) -> Result<(File, Option<PathBuf>), LogError> {
    let create = |source| LogError::Create {
        path: path.into(),
        source,
    };
    let busy = || LogError::Busy {
        path: path.into(),
        part: part.into(),
    };
    let mut kept = None;
    loop {
        match OpenOptions::new().write(true).create_new(true).open(part) {
            Ok(file) => {
                // Another process may be testing the lock. On a file system without locks the creation is still
                // exclusive.
                let _ = file.lock();
                return Ok((file, kept));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists && !fresh && kept.is_none() => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(busy()),
            Err(error) => return Err(create(error)),
        }
        let mut left = match open(part) {
            Ok(left) => left,
            // Finished meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(create(error)),
        };
        match left.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return Err(busy()),
        }
        let found = left.metadata().map_err(create)?;
        let named = fs::symlink_metadata(part).ok().as_ref().map(identity);
        if named != Some(identity(&found)) {
            continue;
        }
        // Its flight has created it and not started writing yet.
        if found.is_file() && found.len() == 0 {
            return Err(busy());
        }
        if reads.contains(&identity(&found)) {
            return Err(LogError::Input { path: part.into() });
        }
        if !is_own(&mut left).map_err(create)? {
            return Err(LogError::NotALog { path: part.into() });
        }
        kept = Some(set_aside(part).map_err(create)?);
    }
}

/// Opens for reading without following a link or blocking on a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options.open(path)
}

/// Whether a file begins like the logs of this program: an MCAP file with our profile.
fn is_own(file: &mut File) -> io::Result<bool> {
    let mut head = Vec::new();
    file.take(64).read_to_end(&mut head)?;
    // Magic bytes, opcode and length of the header, then its profile.
    let profile = head.get(mcap::MAGIC.len() + 9..).unwrap_or_default();
    let (length, text) = profile.split_first_chunk().unwrap_or((&[0; 4], &[]));
    let is_ours = u32::from_le_bytes(*length) as usize == PROFILE.len()
        && text.starts_with(PROFILE.as_bytes());
    Ok(head.starts_with(mcap::MAGIC) && is_ours)
}

/// Renames the `.part` of a killed flight to the first free name.
fn set_aside(part: &Path) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let aside = with_suffix(part, &format!(".{number}"));
        match claim_name(part, &aside) {
            Ok(()) => return Ok(aside),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Renames without replacing.
fn claim_name(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        // File systems without hard links.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::Unsupported | ErrorKind::PermissionDenied
            ) =>
        {
            if fs::symlink_metadata(to).is_ok() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            fs::rename(from, to)
        }
        Err(error) => Err(error),
    }
}

fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
