//! `cargo xtask sweep`: what is too long for every day, or needs Python, of campaigns.

use crate::{Failure, Outcome, peers, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

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
    match peers::python("dask", &PACKAGES) {
        Ok(python) => cluster(&python)?,
        // A machine without a network has no Dask.
        Err(error) => println!("SKIPPED: Dask and pyarrow: {error:#}"),
    }
    let mut command = workspace::cargo_at_root()?;
    command
        .args(["test", "--package", "fly", "--test", "suite", "--"])
        .args(["--ignored", "--exact", "--nocapture"])
        .arg("sweeps::a_campaign_killed_twenty_times_loses_and_repeats_no_row");
    let status = command.status().context("cargo did not start")?;
    Ok(workspace::exit_code(status))
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
            .arg(script)
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
    Ok(())
}
