//! `cargo xtask faults`, `cargo xtask compare`: tests that are too long for every day, whose result a page of the documentation shows.

use crate::{Failure, Outcome, workspace};
use anyhow::Context;

/// Runs such a test of the command; `--write` lets it write its page.
pub fn run(task: &str, test: &str, arguments: &[String]) -> Outcome {
    let write = match arguments {
        [] => false,
        [flag] if flag == "--write" => true,
        _ => {
            return Err(Failure::Usage(format!(
                "`{task}` takes `--write` or nothing, found `{}`",
                arguments.join(" ")
            )));
        }
    };
    let mut command = workspace::cargo_at_root()?;
    command
        .args(["test", "--package", "fly", "--test", "suite", "--"])
        .args(["--ignored", "--exact", "--nocapture", test]);
    if write {
        command.env("FLY_GENERATE", "1");
    }
    let status = command.status().context("cargo did not start")?;
    Ok(workspace::exit_code(status))
}
