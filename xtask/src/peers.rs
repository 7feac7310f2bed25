//! Pinocchio as a peer of the benchmarks of `fly-lie`: from PyPI into a folder below `target/`, where it installs.

use crate::{tools, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pinocchio with its headers, and those of Eigen, which it needs.
const PACKAGES: [&str; 2] = ["pin==4.1.0", "cmeel-eigen==3.4.1"];

/// The file that marks a finished installation.
const COMPLETE: &str = "complete";

/// Measures Pinocchio after `fly-lie`; says why where that cannot be done.
pub fn pinocchio() {
    let result = build().and_then(|program| {
        let status = Command::new(&program).status();
        let status = status.with_context(|| format!("{} did not start", program.display()))?;
        if !status.success() {
            bail!("{} ended with {status}", program.display());
        }
        Ok(())
    });
    if let Err(error) = result {
        eprintln!("Pinocchio is left out: {error:#}");
    }
}

fn build() -> Result<PathBuf> {
    let folder = workspace::target_dir()?.join("peers").join("pinocchio");
    if !folder.join(COMPLETE).is_file() {
        install(&folder)?;
    }
    let prefix = prefix(&folder)?;
    let program = folder.join("bench");
    let source = workspace::root().join("crates/lie/benches/pinocchio.cpp");
    let include = prefix.join("include");
    tools::quiet(
        Command::new("c++")
            .args(["-std=c++17", "-O3", "-DNDEBUG", "-I"])
            .arg(&include)
            .arg("-I")
            .arg(include.join("eigen3"))
            .arg(&source)
            .arg("-o")
            .arg(&program),
    )?;
    Ok(program)
}

fn install(folder: &Path) -> Result<()> {
    eprintln!(
        "installing Pinocchio from PyPI into {} (500 MB)",
        folder.display()
    );
    // What an interrupted installation left is not to be trusted.
    let _ = fs::remove_dir_all(folder);
    tools::quiet(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    tools::quiet(
        Command::new(folder.join("bin/python"))
            .args(["-m", "pip", "install", "--quiet"])
            .arg("--disable-pip-version-check")
            .args(PACKAGES),
    )?;
    fs::write(folder.join(COMPLETE), "").context("the installation cannot be marked as complete")
}

/// Where the packages' headers are: `lib/python3.x/site-packages/cmeel.prefix`.
fn prefix(folder: &Path) -> Result<PathBuf> {
    let lib = folder.join("lib");
    let entries = fs::read_dir(&lib).with_context(|| format!("{}", lib.display()))?;
    let mut candidates = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("site-packages/cmeel.prefix"));
    candidates
        .find(|prefix| prefix.is_dir())
        .with_context(|| format!("no headers below {}", lib.display()))
}
