//! `cargo xtask faults`, `cargo xtask compare`: long tests whose results a page of the documentation shows.

use crate::{Failure, Outcome, workspace};
use std::process::ExitCode;

/// Runs such a test of the command; `--write` makes it write its page.
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
    let environment: &[_] = if write { &[("FLY_GENERATE", "1")] } else { &[] };
    let tests = ["--ignored", test];
    Ok(workspace::run_test(
        &workspace::TESTS_OF_FLY,
        &tests,
        environment,
    )?)
}

/// The tests of logs under many flights at once and under kills, with more repetitions than everyday tests have time
/// for. Runs only if `before` succeeded.
pub fn logs_of_many_flights(before: ExitCode) -> Outcome {
    if before != ExitCode::SUCCESS {
        return Ok(before);
    }
    let tests = [
        "logs::six_flights_at_once_leave_six_logs",
        "logs::real_time::a_kill_costs_at_most_a_tenth_of_a_second",
    ];
    let environment = [("FLY_ALL_ROUNDS", "1")];
    Ok(workspace::run_test(
        &workspace::TESTS_OF_FLY,
        &tests,
        &environment,
    )?)
}
