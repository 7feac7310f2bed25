//! `cargo xtask faults`: every fault, injected while the real command flies, with every core busy.

use crate::{Failure, Outcome, workspace};
use anyhow::Context;

pub fn run(arguments: &[String]) -> Outcome {
    let write = match arguments {
        [] => false,
        [flag] if flag == "--write" => true,
        _ => {
            return Err(Failure::Usage(format!(
                "`faults` takes `--write` or nothing, found `{}`",
                arguments.join(" ")
            )));
        }
    };
    let mut command = workspace::cargo_at_root()?;
    command
        .args(["test", "--package", "fly", "--test", "suite", "--"])
        .args(["--ignored", "--exact", "--nocapture"])
        .arg("faults::every_fault_one_by_one");
    if write {
        command.env("FLY_GENERATE", "1");
    }
    let status = command.status().context("cargo did not start")?;
    Ok(workspace::exit_code(status))
}
