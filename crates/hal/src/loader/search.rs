//! The search path of plugins.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::LoadError;
use super::names::{file_name, is_path, plugin_name};
use crate::nearest;

/// The folders searched for plugins; the first hit wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPath {
    folders: Vec<PathBuf>,
}

/// A file on the search path that looks like a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The name by which [`Plugin::load`](crate::Plugin::load) finds it.
    pub name: String,
    /// The file.
    pub path: PathBuf,
}

impl SearchPath {
    /// Only these folders.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut path = Self::default();
        path.extend(folders);
        path
    }

    /// The folders that `fly` searches: the given ones, those of `$FLY_PLUGIN_PATH` (separated by colons), the folder
    /// of the executable, and `../lib/fly` beside it.
    pub fn standard(first: impl IntoIterator<Item = PathBuf>) -> Self {
        let mut path = Self::new(first);
        if let Some(variable) = std::env::var_os("FLY_PLUGIN_PATH") {
            path.extend(
                std::env::split_paths(&variable).filter(|folder| !folder.as_os_str().is_empty()),
            );
        }
        // A symbolic link stands for the executable that it points to.
        let executable = std::env::current_exe().and_then(std::fs::canonicalize);
        if let Some(folder) = executable.ok().as_deref().and_then(Path::parent) {
            path.extend([folder.to_owned()]);
            path.extend(folder.parent().map(|above| above.join("lib").join("fly")));
        }
        path
    }

    /// The folders, in the order in which they are searched.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The file of the plugin `name`; for a [path](is_path), that path if it exists.
    ///
    /// # Errors
    /// [`LoadError::NotFound`] with all searched folders if there is no such file, or an error when reading the path.
    pub fn find(&self, name: &str) -> Result<PathBuf, LoadError> {
        if is_path(name) {
            let path = PathBuf::from(name);
            return match std::fs::metadata(&path) {
                Ok(_) => Ok(path),
                Err(source) => Err(LoadError::Unreadable { path, source }),
            };
        }
        let file = file_name(name);
        let found = self
            .folders
            .iter()
            .map(|folder| folder.join(&file))
            .find(|path| path.is_file());
        found.ok_or_else(|| LoadError::NotFound {
            name: name.to_owned(),
            searched: self.folders.clone(),
            nearest: nearest(name, self.discover().into_iter().map(|found| found.name)),
        })
    }

    /// All plugin files on the path, by name. Of several with the same name only the first is listed, which is the one
    /// that [`find`](Self::find) returns. Nothing is loaded.
    pub fn discover(&self) -> Vec<Found> {
        let mut all: Vec<Found> = Vec::new();
        for folder in &self.folders {
            let files = std::fs::read_dir(folder)
                .into_iter()
                .flatten()
                .flatten()
                .map(|entry| entry.path());
            for path in files.filter(|path| path.is_file()) {
                let name = path
                    .file_name()
                    .and_then(OsStr::to_str)
                    .and_then(plugin_name);
                if let Some(name) = name
                    && all.iter().all(|found| found.name != name)
                {
                    all.push(Found {
                        name: name.to_owned(),
                        path: path.clone(),
                    });
                }
            }
        }
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    fn extend(&mut self, folders: impl IntoIterator<Item = PathBuf>) {
        for folder in folders {
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        folder
    }

    #[test]
    fn the_first_folder_wins() {
        let (a, b) = (
            folder_with(&["libfly_plugin_sim.so"]),
            folder_with(&["libfly_plugin_sim.so", "libfly_plugin_x.so"]),
        );
        let search = SearchPath::new([a.path().into(), b.path().into(), a.path().into()]);
        assert_eq!(search.folders().len(), 2, "a folder counts once");
        assert_eq!(
            search.find("sim").unwrap(),
            a.path().join("libfly_plugin_sim.so")
        );
        assert_eq!(
            search.find("x").unwrap(),
            b.path().join("libfly_plugin_x.so")
        );
        let names: Vec<_> = search
            .discover()
            .into_iter()
            .map(|found| found.name)
            .collect();
        assert_eq!(names, ["sim", "x"]);
    }

    #[test]
    fn what_is_missing_is_said_with_all_places_and_the_nearest_name() {
        let folder = folder_with(&["libfly_plugin_replay.so", "readme.txt"]);
        let search = SearchPath::new([folder.path().into(), "/nowhere".into()]);
        assert_eq!(
            search.find("relpay").unwrap_err().to_string(),
            format!(
                "there is no plugin `relpay`; searched for `libfly_plugin_relpay.so` in:\n  {}\n  /nowhere\n\
                 did you mean `replay`?",
                folder.path().display()
            )
        );
        assert_eq!(
            SearchPath::default().find("sim").unwrap_err().to_string(),
            "there is no plugin `sim`; searched for `libfly_plugin_sim.so` in:\n  nowhere"
        );
    }

    #[test]
    fn a_path_is_taken_as_it_is() {
        let folder = folder_with(&["other.so"]);
        let path = folder.path().join("other.so");
        assert_eq!(
            SearchPath::default().find(path.to_str().unwrap()).unwrap(),
            path
        );
        assert_eq!(
            SearchPath::default()
                .find("./missing.so")
                .unwrap_err()
                .to_string(),
            "cannot read the plugin `./missing.so`: No such file or directory (os error 2)"
        );
    }

    #[test]
    fn the_standard_path_ends_beside_the_executable() {
        let search = SearchPath::standard(["/first".into()]);
        let beside = std::env::current_exe()
            .unwrap()
            .canonicalize()
            .unwrap()
            .parent()
            .unwrap()
            .to_owned();
        assert_eq!(search.folders()[0], Path::new("/first"));
        assert!(search.folders().contains(&beside));
        assert_eq!(
            search.folders().last(),
            Some(&beside.parent().unwrap().join("lib/fly"))
        );
    }
}
