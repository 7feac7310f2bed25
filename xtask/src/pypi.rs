//! Python packages from PyPI that a task needs, in folders below `target/`.

use crate::{tools, workspace};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file that marks a finished installation.
pub const COMPLETE: &str = "complete";

/// Installs packages into a separate folder.
pub fn install(folder: &Path, packages: &[&str]) -> Result<()> {
    // The remains of an interrupted installation are not reliable.
    let _ = fs::remove_dir_all(folder);
    tools::quiet(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    tools::quiet(
        Command::new(folder.join("bin/python"))
            .args(["-m", "pip", "install", "--quiet"])
            .arg("--disable-pip-version-check")
            .args(packages),
    )?;
    fs::write(folder.join(COMPLETE), "").context("the installation cannot be marked as complete")
}

/// A Python with these packages, below `target/peers`.
pub fn python(name: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = workspace::target_dir()?.join("peers").join(name);
    if !folder.join(COMPLETE).is_file() {
        eprintln!(
            "installing {} from PyPI into {}",
            packages.join(", "),
            folder.display()
        );
        install(&folder, packages)?;
    }
    Ok(folder.join("bin/python"))
}
