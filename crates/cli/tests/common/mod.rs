//! Runs the real command in a folder of its own.

#![allow(dead_code)] // each test program uses its part

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary folder, current for every command run in it.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, and the folders above it.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Names of the files that are there.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Runs `fly` with these arguments; plugins are those that cargo built for this test.
    pub fn fly(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_fly"))
            .args(arguments)
            .current_dir(self.0.path())
            .env("FLY_PLUGIN_PATH", plugins())
            .env("RUST_BACKTRACE", "1") // as in many shells: it must not show
            .env_remove("RUST_LOG")
            .output()
            .unwrap()
    }

    /// Runs `fly`, which must fail with this exit code and say exactly this, and leave no file behind.
    #[track_caller]
    pub fn fails(&self, arguments: &[&str], code: i32, expected: &str) {
        let before = self.files();
        let output = self.fly(arguments);
        let found = String::from_utf8(output.stderr).unwrap();
        assert!(found == expected, "expected:\n{expected}\nfound:\n{found}");
        assert_eq!(output.status.code(), Some(code), "{found}");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "",
            "nothing on standard output"
        );
        assert_eq!(self.files(), before, "nothing half-written");
    }
}

/// Where cargo puts the plugins that this package's tests depend on: beside the test program.
pub fn plugins() -> PathBuf {
    std::env::current_exe()
        .unwrap()
        .parent()
        .map(Path::to_owned)
        .unwrap()
}
