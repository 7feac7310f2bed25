//! `cargo xtask bench`: the benchmarks, by crate.

use crate::{Failure, Outcome, peers, ratios, workspace};
use anyhow::{Context, Result};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};

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
        let mut command = workspace::cargo_at_root()?;
        command
            .args(["bench", "--package", &format!("fly-{name}"), "--benches"])
            .arg("--")
            .args(filter);
        let with_peers = name == "lie";
        let (status, mut output) = if with_peers {
            echoed(&mut command)?
        } else {
            let status = command.status().context("cargo did not start")?;
            (status, String::new())
        };
        if !status.success() {
            return Ok(workspace::exit_code(status));
        }
        if with_peers {
            output += &peers::pinocchio(filter);
            println!("manif is left out: {}", peers::NO_MANIF);
            print!("{}", ratios::table(&output));
        }
    }
    Ok(std::process::ExitCode::SUCCESS)
}

/// Runs a command and returns what it prints, which is passed on line by line.
pub fn echoed(command: &mut Command) -> Result<(ExitStatus, String)> {
    let program = command.get_program().display().to_string();
    let started = || format!("{program} did not start");
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(started)?;
    let stdout = child.stdout.take().context("the output is piped")?;
    let mut output = String::new();
    for line in BufReader::new(stdout).lines() {
        let line = line.with_context(|| format!("the output of {program} cannot be read"))?;
        println!("{line}");
        output += &line;
        output.push('\n');
    }
    let status = child
        .wait()
        .with_context(|| format!("{program} was lost"))?;
    Ok((status, output))
}

/// The folders of `crates/` that hold a `benches` folder.
fn benched_crates() -> Result<Vec<String>> {
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
