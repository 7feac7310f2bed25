//! Opens a plugin's file if it is safe to load: only this user and root can have written it, and only they can replace
//! it.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};

use super::{Insecure, LoadError};

const GROUP_WRITE: u32 = 0o020;
const WORLD_WRITE: u32 = 0o002;
/// In a folder with this bit only the owner of a file can replace it.
const STICKY: u32 = 0o1000;

/// Opens the file and checks it and every folder of its path, each by descriptor, so that no other file can take its
/// place between the check and the use. `path` is canonical; a link in it was created later and is rejected.
pub(super) fn open(path: &Path) -> Result<File, LoadError> {
    let unreadable = |source: std::io::Error| LoadError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let insecure = |reason| LoadError::Insecure {
        path: path.to_owned(),
        reason,
    };
    let names: Vec<&OsStr> = (path.components())
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name),
            _ => None,
        })
        .collect();
    let user = rustix::process::geteuid().as_raw();
    let mut place = PathBuf::from("/");
    let mut opened = File::open(&place).map_err(unreadable)?;
    for (index, name) in names.iter().enumerate() {
        let metadata = opened.metadata().map_err(unreadable)?;
        judge(&place, &metadata, user).map_err(insecure)?;
        let is_file = index + 1 == names.len();
        // The containing folder and the file.
        if is_file {
            warn_of_group(&place, &metadata);
        }
        opened = below(&opened, name, is_file).map_err(|error| unreadable(error.into()))?;
        place.push(name);
    }
    let metadata = opened.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(LoadError::NotALibrary {
            path: path.to_owned(),
            reason: "it is not a regular file".into(),
        });
    }
    judge(&place, &metadata, user).map_err(insecure)?;
    warn_of_group(&place, &metadata);
    Ok(opened)
}

fn below(folder: &File, name: &OsStr, is_file: bool) -> rustix::io::Result<File> {
    let common = OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A FIFO must not block.
    let kind = if is_file {
        OFlags::RDONLY | OFlags::NONBLOCK
    } else {
        OFlags::PATH | OFlags::DIRECTORY
    };
    openat(folder, name, common | kind, Mode::empty()).map(|opened: OwnedFd| opened.into())
}

fn warn_of_group(place: &Path, metadata: &Metadata) {
    if metadata.mode() & GROUP_WRITE != 0 && metadata.gid() != 0 {
        tracing::warn!(path = %place.display(), group = metadata.gid(), "the plugin's file or one of its folders is group-writable");
    }
}

fn judge(path: &Path, metadata: &Metadata, user: u32) -> Result<(), Insecure> {
    let shared = metadata.is_dir() && metadata.mode() & STICKY != 0;
    if metadata.mode() & WORLD_WRITE != 0 && !shared {
        return Err(Insecure::WorldWritable(path.to_owned()));
    }
    let owner = metadata.uid();
    if owner != user && owner != 0 {
        return Err(Insecure::Owner {
            path: path.to_owned(),
            owner,
            user,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_everybody_can_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.so");
        std::fs::write(&file, "").unwrap();
        let mode = |path: &Path, mode| set_permissions(path, Permissions::from_mode(mode)).unwrap();
        mode(&file, 0o644);
        open(&file).unwrap();
        mode(&file, 0o646);
        let (shown, folder) = (file.display(), folder.path());
        assert_eq!(
            open(&file).unwrap_err().to_string(),
            format!(
                "will not load the plugin `{shown}`: everybody can write `{shown}`; `chmod o-w '{shown}'` makes it safe"
            )
        );
        mode(&file, 0o644);
        // Any folder of the path; in a sticky one no other user can replace an entry.
        let below = folder.join("below");
        std::fs::create_dir(&below).unwrap();
        let deep = below.join("x.so");
        std::fs::write(&deep, "").unwrap();
        for file in [&file, &deep] {
            mode(folder, 0o777);
            let message = open(file).unwrap_err().to_string();
            assert!(
                message.contains(&format!("everybody can write `{}`", folder.display())),
                "{message}"
            );
            mode(folder, 0o1777);
            open(file).unwrap();
        }
        mode(folder, 0o700);
    }

    #[test]
    fn links_that_came_later_and_other_things_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("x.so"), folder.path().join("y.so"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(matches!(open(&link), Err(LoadError::Unreadable { .. })));
        let message = open(folder.path()).unwrap_err().to_string();
        assert!(message.ends_with("it is not a regular file"), "{message}");
        let fifo = folder.path().join("z.so");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.unwrap().success());
        let message = open(&fifo).unwrap_err().to_string();
        assert!(message.ends_with("it is not a regular file"), "{message}");
    }

    #[test]
    fn a_strangers_file_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let metadata = file.as_file().metadata().unwrap();
        let owner = metadata.uid();
        judge(file.path(), &metadata, owner).unwrap();
        let stranger = judge(file.path(), &metadata, owner + 1);
        if owner == 0 {
            stranger.unwrap();
        } else {
            assert_eq!(
                stranger.unwrap_err().to_string(),
                format!(
                    "`{}` belongs to user {owner}, expected root or the current user ({})",
                    file.path().display(),
                    owner + 1
                )
            );
        }
    }
}
