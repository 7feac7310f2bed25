//! Pinocchio as a peer of the benchmarks of `fly-lie`: from PyPI into a folder below `target/`, where it installs.

use crate::{bench, tools, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pinocchio with its headers, and those of Eigen, which it needs.
const PACKAGES: [&str; 2] = ["pin==4.1.0", "cmeel-eigen==3.4.1"];

/// The file that marks a finished installation.
const COMPLETE: &str = "complete";

/// Why manif, which the other libraries are compared with as well, is not measured.
pub const NO_MANIF: &str =
    "no registry has it (neither PyPI nor crates.io nor Debian), only its repository";

/// Measures Pinocchio after `fly-lie`, and returns what it prints; says why where that cannot be done.
pub fn pinocchio(filter: &[String]) -> String {
    let result = build().and_then(|program| {
        let (status, output) = bench::echoed(Command::new(&program).args(filter))?;
        if !status.success() {
            bail!("{} ended with {status}", program.display());
        }
        Ok(output)
    });
    result.unwrap_or_else(|error| {
        println!("Pinocchio is left out: {error:#}");
        String::new()
    })
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
