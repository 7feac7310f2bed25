//! Whether a file is safe to load: only this user and root may be able to write it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{Insecure, LoadError};

const GROUP_WRITE: u32 = 0o020;
const WORLD_WRITE: u32 = 0o002;

/// Checks the plugin and its folder. `path` is canonical: no link can stand for it later.
pub(super) fn check(path: &Path) -> Result<(), LoadError> {
    let user = rustix::process::geteuid().as_raw();
    for place in [Some(path), path.parent()].into_iter().flatten() {
        let metadata = std::fs::metadata(place).map_err(|source| LoadError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        judge(place, &metadata, user).map_err(|reason| LoadError::Insecure {
            path: path.to_owned(),
            reason,
        })?;
        if metadata.mode() & GROUP_WRITE != 0 && metadata.gid() != 0 {
            tracing::warn!(path = %place.display(), group = metadata.gid(), "a whole group can write this plugin's place");
        }
    }
    Ok(())
}

fn judge(path: &Path, metadata: &Metadata, user: u32) -> Result<(), Insecure> {
    if metadata.mode() & WORLD_WRITE != 0 {
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
        check(&file).unwrap();
        mode(&file, 0o646);
        let (shown, folder) = (file.display(), folder.path());
        assert_eq!(
            check(&file).unwrap_err().to_string(),
            format!(
                "will not load the plugin `{shown}`: everybody can write `{shown}`; `chmod o-w '{shown}'` makes it safe"
            )
        );
        mode(&file, 0o644);
        mode(folder, 0o777);
        let message = check(&file).unwrap_err().to_string();
        assert!(
            message.contains(&format!("everybody can write `{}`", folder.display())),
            "{message}"
        );
        mode(folder, 0o700);
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
