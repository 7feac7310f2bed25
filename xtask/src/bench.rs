//! `cargo xtask bench`: the benchmarks, by crate or by name.

use crate::{Failure, Outcome, peers, ratios, tools, workspace};
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

/// A benchmark: `crates/CRATE/benches/NAME.rs`, possibly with a Pinocchio counterpart next to it.
struct Bench {
    krate: String,
    name: String,
    pinocchio: Option<PathBuf>,
}

impl Bench {
    /// Whether it is built for this machine's instruction set.
    fn is_native(&self) -> bool {
        matches!(self.name.as_str(), "dynamics" | "sim")
    }
}

pub fn run(arguments: &[String]) -> Outcome {
    let all = benches()?;
    let (chosen, filter) = match arguments.split_first() {
        None => (all, &[][..]),
        Some((name, filter)) => {
            let named = |bench: &Bench| bench.krate == *name || bench.name == *name;
            let (chosen, others): (Vec<_>, Vec<_>) = all.into_iter().partition(named);
            if chosen.is_empty() {
                let known: Vec<_> = others.iter().map(|b| b.krate.as_str()).collect();
                return Err(Failure::Usage(format!(
                    "no benchmarks are called `{name}`; there are: {}",
                    known.join(", ")
                )));
            }
            (chosen, filter)
        }
    };
    for bench in chosen {
        let mut command = workspace::cargo_at_root()?;
        if bench.is_native() {
            command.args(workspace::NATIVE);
        }
        command
            .args(["bench", "--package", &format!("fly-{}", bench.krate)])
            .args(["--bench", &bench.name, "--"])
            .args(filter);
        let (status, mut output) = if bench.pinocchio.is_some() {
            tools::echoed(&mut command)?
        } else {
            let status = command.status().context("cargo did not start")?;
            (status, String::new())
        };
        if !status.success() {
            return Ok(workspace::exit_code(status));
        }
        if let Some(source) = &bench.pinocchio {
            output += &peers::pinocchio(source, &bench.name, bench.is_native(), filter);
            if bench.krate == "lie" {
                println!("manif is left out: {}", peers::NO_MANIF);
            }
            print!("{}", ratios::table(&output));
        }
    }
    Ok(std::process::ExitCode::SUCCESS)
}

/// The benchmarks of `crates/`, sorted.
fn benches() -> Result<Vec<Bench>> {
    let folder = workspace::root().join("crates");
    let crates = fs::read_dir(&folder)
        .with_context(|| format!("{} cannot be read", folder.display()))?
        .filter_map(Result::ok);
    let mut benches = Vec::new();
    for krate in crates {
        let Ok(files) = fs::read_dir(krate.path().join("benches")) else {
            continue;
        };
        for file in files.filter_map(Result::ok) {
            let path = file.path();
            if path.extension().is_some_and(|extension| extension == "rs")
                && let Some(name) = path.file_stem().and_then(|name| name.to_str())
            {
                benches.push(Bench {
                    krate: krate.file_name().to_string_lossy().into_owned(),
                    name: name.to_owned(),
                    pinocchio: Some(path.with_file_name("pinocchio.cpp")).filter(|p| p.is_file()),
                });
            }
        }
    }
    benches.sort_by(|a, b| (&a.krate, &a.name).cmp(&(&b.krate, &b.name)));
    Ok(benches)
}
