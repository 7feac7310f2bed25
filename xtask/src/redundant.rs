//! `cargo xtask redundant`: random vehicles with redundant inputs, more than the tests have time for.

use crate::{Failure, Outcome, workspace};
use anyhow::Context;

pub fn run(arguments: &[String]) -> Outcome {
    if let [other, ..] = arguments {
        return Err(Failure::Usage(format!(
            "`redundant` takes no arguments, found `{other}`"
        )));
    }
    let mut command = workspace::cargo_at_root()?;
    command
        .args(["test", "--release", "--package", "fly-control"])
        .args(["--test", "suite", "--", "--ignored", "--exact"])
        .args([
            "--nocapture",
            "redundant::accelerations_of_a_hundred_thousand_vehicles",
        ]);
    let status = command.status().context("cargo did not start")?;
    Ok(workspace::exit_code(status))
}
