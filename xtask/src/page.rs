//! `cargo xtask faults`, `cargo xtask compare`: tests that are too long for every day, whose result a page of the documentation shows.

use crate::{Failure, Outcome, workspace};
use anyhow::Context;
use std::process::ExitCode;

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

/// The tests of logs that are lost by many flights at once and by kills, as often as no everyday test has time for; once what came `before` is well.
pub fn logs_of_many_flights(before: ExitCode) -> Outcome {
    if before != ExitCode::SUCCESS {
        return Ok(before);
    }
    let tests = [
        "logs::six_flights_at_once_leave_six_logs",
        "logs::a_kill_costs_at_most_a_tenth_of_a_second",
    ];
    let mut command = workspace::cargo_at_root()?;
    command
        .args(["test", "--package", "fly", "--test", "suite", "--"])
        .args(["--exact", "--nocapture"])
        .args(tests)
        .env("FLY_ALL_ROUNDS", "1");
    let status = command.status().context("cargo did not start")?;
    Ok(workspace::exit_code(status))
}
