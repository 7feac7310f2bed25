//! `cargo xtask bench`: the benchmarks, by crate.

use crate::{Failure, Outcome, peers, workspace};
use anyhow::Context;
use std::fs;

pub fn run(arguments: &[String]) -> Outcome {
    let known = benched_crates()?;
    let (crates, filter) = match arguments.split_first() {
        None => (known, &[][..]),
        Some((name, filter)) if known.contains(name) => (vec![name.clone()], filter),
        Some((name, _)) => {
            return Err(Failure::Usage(format!(
                "no benchmarks are called `{name}`; there are: {}",
                known.join(", ")
            )));
        }
    };
    for name in crates {
        let status = workspace::cargo_at_root()?
            .args([
                "bench",
                "--package",
                &format!("fly-{name}"),
                "--benches",
                "--",
            ])
            .args(filter)
            .status()
            .context("cargo did not start")?;
        if !status.success() {
            return Ok(workspace::exit_code(status));
        }
        if name == "lie" {
            peers::pinocchio();
        }
    }
    Ok(std::process::ExitCode::SUCCESS)
}

/// The folders of `crates/` that hold a `benches` folder.
fn benched_crates() -> anyhow::Result<Vec<String>> {
    let folder = workspace::root().join("crates");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .with_context(|| format!("{} cannot be read", folder.display()))?
        .filter_map(Result::ok)
        .filter(|entry| entry.path().join("benches").is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}
