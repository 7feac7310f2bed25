//! Files and folders that are of no use until they are finished.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static ALL: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A file or folder that is of no use until it is finished. As long as this value lives, [`remove_unfinished`] removes
/// it.
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// What is at this path.
    pub fn new(path: &Path) -> Self {
        all().insert(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        all().remove(&self.0);
    }
}

/// Removes all that this process has not finished, where a signal is about to end it.
pub fn remove_unfinished() {
    let all = all();
    for path in all.iter() {
        // What is gone already, or cannot be removed, stays as it is.
        let _ = if path.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        };
    }
    // Nothing begins any more.
    std::mem::forget(all);
}

fn all() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}
