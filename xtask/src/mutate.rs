//! `cargo xtask mutate`: mutated files, more than the tests have time for.

use crate::{Failure, Outcome, workspace};
use anyhow::Context;

const CASES: &str = "1000000";

pub fn run(arguments: &[String]) -> Outcome {
    let mut command = workspace::cargo_at_root()?;
    let mut cases = CASES;
    let mut rest = arguments.iter();
    while let Some(flag) = rest.next() {
        let variable = match flag.as_str() {
            "--cases" => "FLY_MUTATIONS",
            "--seed" => "FLY_MUTATION_SEED",
            "--kind" => "FLY_MUTATION_KIND",
            "--case" => "FLY_MUTATION_CASE",
            other => {
                return Err(Failure::Usage(format!(
                    "`mutate` takes `--cases`, `--seed`, `--kind` and `--case`, found `{other}`"
                )));
            }
        };
        let value = rest
            .next()
            .ok_or_else(|| Failure::Usage(format!("`{flag}` needs a value")))?;
        if variable == "FLY_MUTATIONS" {
            cases = value;
        } else {
            command.env(variable, value);
        }
    }
    command
        .env("FLY_MUTATIONS", cases)
        .args(["test", "--release", "--package", "fly", "--test", "suite"])
        .args(["--", "--exact", "--nocapture"])
        .arg("mutations::whatever_a_file_holds_it_is_read_or_refused");
    let status = command.status().context("cargo did not start")?;
    Ok(workspace::exit_code(status))
}
