//! `cargo xtask test`: everything that must hold, cheapest first.

use crate::{Failure, Outcome, book, dependencies, generated, layers, readme, sources, workspace};
use anyhow::{Context, anyhow, bail};
use std::io::{self, Write as _};
use std::process::{Command, ExitCode, Output, Stdio};
use std::thread::JoinHandle;
use std::time::Instant;

/// What cargo checks first, in order: a name and its arguments.
const CHECKS: &[(&str, &str)] = &[
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
    (
        "build of the tests",
        "test --quiet --workspace --tests --no-run",
    ),
];

/// The tests of modules called `real_time`, which fly in real time and mostly wait: beside what computes.
const REAL_TIME: &str = "test --workspace --tests -- real_time:: --test-threads=3";

/// What computes, in order.
const COMPUTED: &[(&str, &str)] = &[
    // Examples are tested as modules of their crates' tests, where what they print is asserted.
    ("tests", "test --workspace --tests -- --skip real_time::"),
    ("examples in the documentation", "test --workspace --doc"),
    ("documentation", "doc --quiet --workspace --no-deps"),
];

/// A clean clone compiles everything once: what makes a second build or the program itself quicker is time lost. The tests' profile
/// inherits from that of development, so what both need for building is built once.
const QUICK: [(&str, &str); 4] = [
    ("CARGO_INCREMENTAL", "0"),
    ("CARGO_PROFILE_DEV_LTO", "off"),
    // Generic code is compiled once for each unit that uses it: fewer are a tenth less work.
    ("CARGO_PROFILE_DEV_CODEGEN_UNITS", "4"),
    // A fifth of the time; panics tell their place without it.
    ("CARGO_PROFILE_DEV_DEBUG", "false"),
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
    step("dependencies", dependencies::check)?;
    step("links", || book::check().map(drop))?;
    step("generated files", generated::check)?;
    for (name, arguments) in CHECKS {
        step(name, || succeed(&mut cargo(arguments)?, arguments))?;
    }
    let waiting = Beside::start(REAL_TIME)?;
    yield_to_others();
    let computed = || -> anyhow::Result<()> {
        for (name, arguments) in COMPUTED {
            step(name, || succeed(&mut cargo(arguments)?, arguments))?;
        }
        step("README", readme::run)
    };
    // Both report, whichever fails first.
    let (computed, waited) = (computed(), step("tests in real time", || waiting.finish()));
    computed.and(waited)?;
    println!("all steps passed in {:.0} s", start.elapsed().as_secs_f64());
    Ok(ExitCode::SUCCESS)
}

/// Cargo with these arguments, for a build that happens once.
fn cargo(arguments: &str) -> anyhow::Result<Command> {
    let mut command = workspace::cargo_at_root()?;
    command
        .args(arguments.split_whitespace())
        .env("RUSTDOCFLAGS", "-D warnings")
        .envs(QUICK);
    Ok(command)
}

fn succeed(command: &mut Command, arguments: &str) -> anyhow::Result<()> {
    let status = command.status().context("cargo did not start")?;
    if !status.success() {
        bail!("`cargo {arguments}` ended with {status}");
    }
    Ok(())
}

/// From now on, this process and those that it starts leave the processors to others that want them: flights in real time are punctual beside them.
fn yield_to_others() {
    if let Err(error) = rustix::process::nice(19) {
        println!("the priority stays as it is: {error}");
    }
}

/// Cargo beside other steps; what it prints is kept until its end.
struct Beside {
    arguments: &'static str,
    output: JoinHandle<io::Result<Output>>,
}

impl Beside {
    fn start(arguments: &'static str) -> anyhow::Result<Self> {
        let mut command = cargo(arguments)?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().context("cargo did not start")?;
        Ok(Self {
            arguments,
            output: std::thread::spawn(move || child.wait_with_output()),
        })
    }

    fn finish(self) -> anyhow::Result<()> {
        let output = self
            .output
            .join()
            .map_err(|_| anyhow!("its output was lost"))?;
        let output = output.context("its output cannot be read")?;
        io::stderr().write_all(&output.stderr)?;
        io::stdout().write_all(&output.stdout)?;
        if !output.status.success() {
            bail!("`cargo {}` ended with {}", self.arguments, output.status);
        }
        Ok(())
    }
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
