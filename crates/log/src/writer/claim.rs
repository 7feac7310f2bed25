//! Claims the place of a log, so that no flight replaces what is not its own.
//!
//! A log is written to `<path>.part`, which is created exclusively and locked while the flight lasts, and gets its name when it is
//! finished. A file at `path` is replaced then, and only if it is a flight log of this program that the flight does not read.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::error::LogError;
use crate::metadata::PROFILE;

/// Device and inode: the same for every name of a file.
type Identity = (u64, u64);

/// The claimed place of a log.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    part: PathBuf,
    /// The log that is replaced at the end.
    replaced: Option<Identity>,
}

impl Claim {
    /// Claims `path`, which may name a finished flight log unless `fresh`; `reads` are the files that the flight reads.
    ///
    /// Returns the file to write and what becomes of it. What a killed flight left in `<path>.part` is kept under another name,
    /// the third result.
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
        // Whoever had the `.part` before may have finished meanwhile.
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

    /// Where the log will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it is written.
    pub fn part(&self) -> &Path {
        &self.part
    }

    /// Removes the unfinished log.
    pub fn release(&self) {
        let _ = fs::remove_file(&self.part);
    }

    /// Gives the finished log its name. What appeared there since the start stays.
    pub fn publish(&self) -> io::Result<()> {
        let found = fs::metadata(&self.path).ok().as_ref().map(identity);
        if found.is_some() && found == self.replaced {
            return fs::rename(&self.part, &self.path);
        }
        claim_name(&self.part, &self.path)
    }
}

/// The file that a symbolic link names.
fn followed(path: PathBuf) -> Result<PathBuf, LogError> {
    if !path.is_symlink() {
        return Ok(path);
    }
    fs::canonicalize(&path).map_err(|source| LogError::Create { path, source })
}

/// The flight log at `path` that may be replaced; `None` if nothing is there.
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
        return Err(LogError::Foreign { path: path.into() });
    }
    Ok(Some(identity(&found)))
}

/// Creates and locks the `.part`. The one of a killed flight, which nobody has locked, gets another name, the second result.
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
                // Somebody may be looking whether it is locked. A file system without locks still creates exclusively.
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
        // Its flight has created it and not begun yet.
        if found.is_file() && found.len() == 0 {
            return Err(busy());
        }
        if reads.contains(&identity(&found)) {
            return Err(LogError::Input { path: part.into() });
        }
        if !is_own(&mut left).map_err(create)? {
            return Err(LogError::Foreign { path: part.into() });
        }
        kept = Some(set_aside(part).map_err(create)?);
    }
}

/// Opens for reading, without following a link or waiting for a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options.open(path)
}

/// Whether a file begins as the logs of this program do: an MCAP file with our profile.
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
