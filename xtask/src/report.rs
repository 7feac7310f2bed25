//! `cargo xtask report`: flies some configurations, writes their reports, and checks them in a real browser.
//!
//! The browser is Debian's Chromium, driven by `playwright-core` from npm, at the version and with the checksum of the
//! committed lock file, in a folder below `target/`. If one of them is missing, the reports are written but not
//! checked, with a message.

use crate::workspace::{self, Built};
use crate::{Failure, Outcome, tools};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The flights, with changes to their configurations.
const FLIGHTS: [(&str, &[&str]); 5] = [
    ("quadcopter.toml", &[]),
    ("tricopter.toml", &[]),
    ("examples/arm-joints.toml", &[]),
    ("examples/quadcopter-wind.toml", &[]),
    // Its rotors fail, and it falls.
    (
        "examples/quadcopter-hover.toml",
        &["backend.sim.ground.height=-1.5", DEAD],
    ),
];

/// Fails all rotors of a quadcopter.
const DEAD: &str = "backend.sim.faults=[\
    { kind='dead', actuator='rotor.0.thrust', from=3, until=inf, reported=false },\
    { kind='dead', actuator='rotor.1.thrust', from=3, until=inf, reported=false },\
    { kind='dead', actuator='rotor.2.thrust', from=3, until=inf, reported=false },\
    { kind='dead', actuator='rotor.3.thrust', from=3, until=inf, reported=false }]";

/// Folder with the description of the browser's driver.
const DRIVER: &str = "crates/report/tests/browser";

/// Flies, writes the reports and checks them.
pub fn run(arguments: &[String]) -> Outcome {
    if let Some(extra) = arguments.first() {
        let message = format!("`report` takes no arguments, found `{extra}`");
        return Err(Failure::Usage(message));
    }
    let folder = workspace::target_dir()?.join("report");
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let reports = write(&folder)?;
    match look(&folder, &reports)? {
        None => Ok(ExitCode::SUCCESS),
        Some(missing) => {
            println!("SKIPPED: nobody looked at the reports: {missing}");
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The reports of all flights, and a joint one of the first two.
fn write(folder: &Path) -> Result<Vec<PathBuf>> {
    let built = workspace::build()?;
    let (mut logs, mut reports) = (Vec::new(), Vec::new());
    for (configuration, changes) in FLIGHTS {
        let name = Path::new(configuration).with_extension("mcap");
        let log = folder.join(name.file_name().unwrap_or_default());
        reports.push(fly_and_report(&built, configuration, changes, &log)?);
        logs.push(log);
    }
    let both = folder.join("two-flights.html");
    let status = Command::new(&built.fly)
        .arg("report")
        .args(&logs[..2])
        .arg("-o")
        .arg(&both)
        .status();
    if !status.context("fly did not start")?.success() {
        bail!("there is no report of two flights");
    }
    reports.push(both);
    Ok(reports)
}

/// Flies a shipped configuration, with changes, and returns its report.
pub fn fly_and_report(
    built: &Built,
    configuration: &str,
    changes: &[&str],
    log: &Path,
) -> Result<PathBuf> {
    let mut command = Command::new(&built.fly);
    command.env("FLY_PLUGIN_PATH", &built.plugins).arg("-q");
    command
        .arg("--config")
        .arg(workspace::root().join("configs").join(configuration));
    command.arg("--log").arg(log).arg("--report");
    for change in changes {
        command.args(["--set", change]);
    }
    // A flight may crash and still has a report.
    command.status().context("fly did not start")?;
    let report = log.with_extension("html");
    if !report.is_file() {
        bail!("{configuration} left no report at {}", report.display());
    }
    Ok(report)
}

/// Checks them in a browser; returns the missing prerequisite, if any.
fn look(folder: &Path, reports: &[PathBuf]) -> Result<Option<String>> {
    let missing =
        browse("check.mjs", folder, reports).context("a report is not as it should be")?;
    if missing.is_none() {
        println!("pictures are in {}", folder.display());
    }
    Ok(missing)
}

/// Runs a script on reports in a browser; returns the missing prerequisite, if any.
pub fn browse(script: &str, folder: &Path, reports: &[PathBuf]) -> Result<Option<String>> {
    let chromium = Path::new("/usr/bin/chromium");
    if !chromium.is_file() {
        return Ok(Some(
            "/usr/bin/chromium is not there (Debian's package `chromium`)".into(),
        ));
    }
    for program in ["node", "npm"] {
        if !tools::has(program) {
            return Ok(Some(format!("`{program}` is not there")));
        }
    }
    let source = workspace::root().join(DRIVER);
    let driver = workspace::target_dir()?.join("peers").join("playwright");
    fs::create_dir_all(&driver)?;
    for file in ["package.json", "package-lock.json"] {
        fs::copy(source.join(file), driver.join(file))
            .with_context(|| format!("{file} cannot be copied"))?;
    }
    let installed = Command::new("npm")
        .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
        .current_dir(&driver)
        .status();
    if !installed.context("npm did not start")?.success() {
        return Ok(Some("npm could not install playwright-core".into()));
    }
    let status = Command::new("node")
        .arg(source.join(script))
        .args([chromium, folder])
        .args(reports)
        .current_dir(&driver)
        .status()
        .context("node did not start")?;
    if !status.success() {
        bail!("{script} ended with {status}");
    }
    Ok(None)
}
