//! `cargo xtask sweep`: what is too long for every day, or needs Python, of campaigns.

use crate::{Failure, Outcome, pypi, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Dask's cluster, and an independent reader of Parquet.
const PACKAGES: [&str; 2] = ["distributed==2026.8.0", "pyarrow==26.0.1"];

const PLAN: &str = "config = \"quadcopter.toml\"
flights = 20
seed = 3
[set]
\"flight.duration\" = 0.5
[vary]
\"backend.sim.initial.position\" = { ball = 0.3 }
\"controller.allocation\" = { values = [\"active_set\", \"osqp\"] }
";

/// Reads both tables of a campaign, which must hold the same, with units.
const COMPARE: &str = "
import csv, sys
import pyarrow.parquet as parquet
table = parquet.read_table(sys.argv[1])
with open(sys.argv[2], newline='') as file:
    rows = list(csv.DictReader(file))
assert len(rows) == table.num_rows == 40, (len(rows), table.num_rows)
assert list(rows[0]) == table.column_names
assert table.schema.metadata[b'unit.position_error.rms'] == b'm'
for name in table.column_names:
    for row, value in zip(rows, table[name].to_pylist()):
        text = row[name]
        same = text == '' if value is None else float(text) == value if isinstance(value, (int, float)) else text == value
        assert same, (name, text, value)
";

pub fn run(arguments: &[String]) -> Outcome {
    if let Some(extra) = arguments.first() {
        return Err(Failure::Usage(format!(
            "`sweep` takes no arguments, found `{extra}`"
        )));
    }
    match pypi::python("dask", &PACKAGES) {
        Ok(python) => cluster(&python)?,
        // A machine without a network has no Dask.
        Err(error) => println!("SKIPPED: Dask and pyarrow: {error:#}"),
    }
    let test = "sweeps::a_campaign_killed_twenty_times_loses_and_repeats_no_row";
    Ok(workspace::run_test(
        &workspace::TESTS_OF_FLY,
        &["--ignored", test],
        &[],
    )?)
}

/// Flies a campaign on a local Dask cluster with the shipped script and alone: the tables are the same, and pyarrow reads them.
fn cluster(python: &Path) -> Result<()> {
    let built = workspace::build()?;
    let folder = workspace::target_dir()?.join("sweep");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let plan = folder.join("plan.toml");
    fs::write(&plan, PLAN)?;
    let with_plugins = |command: &mut Command| -> Result<()> {
        let status = command
            .current_dir(&folder)
            .env("FLY_PLUGIN_PATH", &built.plugins)
            .status()
            .context("it did not start")?;
        if !status.success() {
            bail!("{command:?} ended with {status}");
        }
        Ok(())
    };
    let script = workspace::root().join("contrib/dask_sweep.py");
    with_plugins(
        Command::new(python)
            .arg(&script)
            .arg(&plan)
            .args(["--shards", "5", "--workers", "2"])
            .arg("--fly")
            .arg(&built.fly),
    )?;
    with_plugins(Command::new(&built.fly).args(["sweep", "plan.toml", "--out", "alone"]))?;
    for end in ["parquet", "csv"] {
        let read = |name: &str| fs::read(folder.join(format!("{name}.{end}")));
        if read("plan")? != read("alone")? {
            bail!("the {end} of the cluster is not that of one process");
        }
    }
    with_plugins(Command::new(python).args(["-c", COMPARE, "plan.parquet", "plan.csv"]))?;
    println!("Dask: 40 flights in 5 shards give the table of one process; pyarrow reads it");
    arguments(python, &script, &folder)?;

    // The same with a worker that is killed while it flies.
    fs::write(
        folder.join("long.toml"),
        PLAN.replace("flights = 20", "flights = 1500"),
    )?;
    let mut child = Command::new(python)
        .arg(&script)
        .args(["long.toml", "--shards", "4", "--workers", "2", "--fly"])
        .arg(&built.fly)
        .current_dir(&folder)
        .env("FLY_PLUGIN_PATH", &built.plugins)
        .spawn()
        .context("it did not start")?;
    let killed = kill_a_worker(child.id(), &folder);
    let status = child.wait()?;
    let orphan = killed?;
    if !status.success() {
        bail!("with a killed worker the script ended with {status}");
    }
    with_plugins(Command::new(&built.fly).args(["sweep", "long.toml", "--out", "long-alone"]))?;
    for end in ["parquet", "csv"] {
        let read = |name: &str| fs::read(folder.join(format!("{name}.{end}")));
        if read("long")? != read("long-alone")? {
            bail!("the {end} of the cluster with a killed worker is not that of one process");
        }
    }
    println!(
        "Dask: a worker was killed, its `fly` ({orphan}) ended within 2 s, and the table is the same"
    );
    Ok(())
}

/// What the script refuses.
fn arguments(python: &Path, script: &Path, folder: &Path) -> Result<()> {
    for (given, expected) in [
        (&["plan.toml", "--shard", "1/2"][..], "stands behind `--`"),
        (&["plan.toml", "--set", "a=1"], "stands behind `--`"),
        (
            &["plan.toml", "--", "--jobs=2"],
            "this script sets --jobs itself",
        ),
        (&["plan.toml", "--shards", "0"], "at least 1 shard"),
    ] {
        let output = Command::new(python)
            .arg(script)
            .args(given)
            .current_dir(folder)
            .output()?;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() != Some(2) || !told.contains(expected) {
            bail!(
                "{given:?}: expected {expected:?}, found {}: {told}",
                output.status
            );
        }
    }
    Ok(())
}

/// Waits until a `fly` below this process flies, kills its parent, the worker, and returns its number once it has ended too.
fn kill_a_worker(script: u32, folder: &Path) -> Result<u32> {
    let end = Instant::now() + Duration::from_mins(1);
    let (worker, fly) = loop {
        if Instant::now() > end {
            bail!("no worker flew within 60 s");
        }
        std::thread::sleep(Duration::from_millis(20));
        let flies = processes()?
            .into_iter()
            .find(|(_, parent, name)| name == "fly" && ancestors(*parent).contains(&script));
        let has_rows = |entry: fs::DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with("long-") && entry.metadata().is_ok_and(|it| it.len() > 30_000)
        };
        if let Some((fly, worker, _)) = flies
            && fs::read_dir(folder)?.flatten().any(has_rows)
        {
            break (worker, fly);
        }
    };
    let status = Command::new("kill")
        .args(["-KILL", &worker.to_string()])
        .status()?;
    if !status.success() {
        bail!("the worker {worker} could not be killed");
    }
    std::thread::sleep(Duration::from_secs(2));
    let left = processes()?
        .into_iter()
        .any(|(id, _, name)| id == fly && name == "fly");
    if left {
        bail!("the `fly` {fly} of the killed worker {worker} flies on");
    }
    Ok(fly)
}

/// Number, parent and name of every process.
fn processes() -> Result<Vec<(u32, u32, String)>> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc")?.flatten() {
        let Ok(id) = entry.file_name().to_string_lossy().parse() else {
            continue;
        };
        all.extend(process(id));
    }
    Ok(all)
}

/// Of one that has not ended.
fn process(id: u32) -> Option<(u32, u32, String)> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name stands in brackets, and may hold some itself.
    let (before, after) = text.rsplit_once(')')?;
    let name = before.split_once('(')?.1.to_owned();
    let mut parts = after.split_whitespace();
    let is_there = parts.next()? != "Z";
    let parent = parts.next()?.parse().ok()?;
    is_there.then_some((id, parent, name))
}

/// A process and those above it.
fn ancestors(of: u32) -> Vec<u32> {
    let mut all = vec![of];
    while let Some((_, parent, _)) = all.last().and_then(|id| process(*id)) {
        all.push(parent);
    }
    all
}
