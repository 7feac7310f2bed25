//! `cargo xtask peers viewers`: logs of all shipped configurations, opened as Foxglove, PlotJuggler and Rerun open them.

use crate::workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::peers::python;

/// What opens them, from PyPI.
const PACKAGES: [&str; 4] = [
    "mcap==1.6.0",
    "lz4==4.4.5",
    "foxglove-schemas-protobuf==0.4.0",
    "rerun-sdk==0.41.0",
];
/// Where the flights are, below `configs`.
const FOLDERS: [&str; 4] = ["", "examples", "baselines", "fleets"];
/// Every signal of the layouts is in the log of this one.
const FIRST: &str = "quadcopter";
/// Enough for every kind of message, s.
const DURATION: &str = "flight.duration=0.5";

/// Flies all, and has the logs looked at.
pub fn run() -> Result<ExitCode> {
    let folder = workspace::target_dir()?.join("viewers");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let built = workspace::build()?;
    let configs = workspace::root().join("configs");
    for name in FOLDERS {
        for configuration in files(&configs.join(name), "toml")? {
            let stem = configuration.file_stem().unwrap_or_default();
            let status = Command::new(&built.fly)
                .arg("--plugin-dir")
                .arg(&built.plugins)
                .arg("--config")
                .arg(&configuration)
                .args(["--set", DURATION, "--quiet", "--log"])
                .arg(folder.join(stem).with_extension("mcap"))
                .status()
                .context("fly did not start")?;
            // So short a flight need not be a good one: 6 is its verdict.
            if !matches!(status.code(), Some(0 | 6)) {
                bail!("{}: {status}", configuration.display());
            }
        }
    }
    let mut logs = files(&folder, "mcap")?;
    logs.sort_by_key(|log| log.file_stem() != Some(FIRST.as_ref()));
    let script = workspace::root().join("crates/log/tests/viewers.py");
    let status = Command::new(python("viewers", &PACKAGES)?)
        .arg(script)
        .arg(workspace::root().join("docs/layouts"))
        .args(&logs)
        .status()
        .context("python did not start")?;
    Ok(workspace::exit_code(status))
}

/// The files of a folder with this ending, by their names.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("{}", folder.display()))?;
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.extension().is_some_and(|own| own == ending));
    paths.sort();
    Ok(paths)
}
