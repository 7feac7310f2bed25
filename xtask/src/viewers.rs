//! `cargo xtask peers viewers`: logs of all shipped configurations, opened as Foxglove, PlotJuggler and Rerun open them; and a flight watched by Foxglove's protocol
//! and in a browser.

use crate::pypi::python;
use crate::report;
use crate::workspace::{self, Built};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What opens them, from PyPI.
const PACKAGES: [&str; 5] = [
    "mcap==1.6.0",
    "lz4==4.4.5",
    "foxglove-schemas-protobuf==0.4.0",
    "rerun-sdk==0.41.0",
    "websockets==17.4",
];
/// Where the flights are, below `configs`.
const FOLDERS: [&str; 4] = ["", "examples", "baselines", "fleets"];
/// Every signal of the layouts is in the log of this one.
const FIRST: &str = "quadcopter";
/// What is watched while it is flown.
const LIVE: &str = "tricopter-load.toml";
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
    let python = python("viewers-live", &PACKAGES)?;
    let status = Command::new(&python)
        .arg(script)
        .arg(workspace::root().join("docs/layouts"))
        .args(&logs)
        .status()
        .context("python did not start")?;
    if !status.success() {
        return Ok(workspace::exit_code(status));
    }
    live(&built, &python, &folder)
}

/// A flight while it is flown, by Foxglove's protocol and in a browser.
fn live(built: &Built, python: &Path, folder: &Path) -> Result<ExitCode> {
    let flight = |log: &str| -> Vec<PathBuf> {
        let mut flight = vec![built.fly.clone(), "--plugin-dir".into()];
        flight.extend([built.plugins.clone(), "--config".into(), LIVE.into()]);
        flight.extend(["--set".into(), "flight.duration=120".into()]);
        flight.extend(["--log".into(), folder.join(log)]);
        flight
    };
    let script = workspace::root().join("crates/view/tests/foxglove.py");
    let status = Command::new(python)
        .arg(script)
        .args(flight("foxglove.mcap"))
        .status()
        .context("python did not start")?;
    if !status.success() {
        return Ok(workspace::exit_code(status));
    }
    if let Some(missing) = report::browse("live.mjs", folder, &flight("live.mcap"))? {
        println!("SKIPPED: nobody looked at the live page: {missing}");
    }
    Ok(ExitCode::SUCCESS)
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
