//! `cargo xtask test`: everything that must hold, cheapest first.

use crate::{Failure, Outcome, book, generated, layers, readme, sources, workspace};
use anyhow::{Context, bail};
use std::process::ExitCode;
use std::time::Instant;

/// What cargo checks, in order: a name and its arguments.
const STEPS: &[(&str, &str)] = &[
    ("format", "fmt --all --check"),
    (
        "clippy",
        "clippy --quiet --workspace --all-targets -- -D warnings",
    ),
    // Without std both are built by tests of theirs.
    (
        "control without osqp",
        "check --quiet -p fly-control --no-default-features --features settings",
    ),
    (
        "control without settings",
        "check --quiet -p fly-control --no-default-features --features systems",
    ),
    // As a user builds it: without the features that tests add.
    ("the command alone", "check --quiet"),
    // Examples are tested as modules of their crates' tests, where what they print is asserted.
    ("tests", "test --workspace --tests"),
    ("examples in the documentation", "test --workspace --doc"),
    ("documentation", "doc --quiet --workspace --no-deps"),
];

/// A clean clone compiles everything once: what makes a second build or the program itself quicker is time lost.
const QUICK: [(&str, &str); 4] = [
    ("CARGO_INCREMENTAL", "0"),
    ("CARGO_PROFILE_TEST_LTO", "off"),
    // Generic code is compiled once for each unit that uses it: fewer are a tenth less work.
    ("CARGO_PROFILE_TEST_CODEGEN_UNITS", "4"),
    // A fifth of the time; panics tell their place without it.
    ("CARGO_PROFILE_TEST_DEBUG", "false"),
];

pub fn run(arguments: &[String]) -> Outcome {
    if let Some(extra) = arguments.first() {
        return Err(Failure::Usage(format!(
            "`test` takes no arguments, found `{extra}`"
        )));
    }
    let start = Instant::now();
    step("layers", layers::check)?;
    step("sources", sources::check)?;
    step("links", || book::check().map(drop))?;
    step("generated files", generated::check)?;
    for (name, arguments) in STEPS {
        step(name, || {
            let status = workspace::cargo_at_root()?
                .args(arguments.split_whitespace())
                .env("RUSTDOCFLAGS", "-D warnings")
                .envs(QUICK)
                .status()
                .context("cargo did not start")?;
            if !status.success() {
                bail!("`cargo {arguments}` ended with {status}");
            }
            Ok(())
        })?;
    }
    step("README", readme::run)?;
    println!("all steps passed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(ExitCode::SUCCESS)
}

/// Runs one step, with its name before and its duration after.
fn step(name: &str, run: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    println!("== {name}");
    let start = Instant::now();
    run().with_context(|| format!("step `{name}`"))?;
    println!(
        "== {name}: passed in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    Ok(())
}
