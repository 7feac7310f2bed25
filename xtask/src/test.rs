//! `cargo xtask test`: everything that must hold, cheapest first.

use crate::{Failure, Outcome, book, generated, layers, readme, sources, workspace};
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
const REAL_TIME: &[(&str, &str)] = &[(
    "tests in real time",
    "test --workspace --tests -- real_time:: --test-threads=4",
)];

/// What computes. Examples are tested as modules of their crates' tests, where what they print is asserted.
const TESTS: &str = "test --workspace --tests -- --skip real_time::";

/// Beside the tests, whose longest ones each leave a processor without work.
const DOCUMENTATION: &[(&str, &str)] = &[
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
    step("links", || book::check().map(drop))?;
    step("generated files", generated::check)?;
    for (name, arguments) in CHECKS {
        step(name, || succeed(&mut cargo(arguments)?, arguments))?;
    }
    let waiting = Beside::start(REAL_TIME);
    yield_to_others();
    // Its thread inherits the priority.
    let documented = Beside::start(DOCUMENTATION);
    let computed = step("tests", || succeed(&mut cargo(TESTS)?, TESTS))
        .and_then(|()| step("README", readme::run));
    // All report, whichever fails first.
    let (documented, waited) = (documented.finish(), waiting.finish());
    computed.and(documented).and(waited)?;
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

/// From now on, this thread and the processes that it starts leave the processors to others that want them: flights in real time are punctual
/// beside them.
fn yield_to_others() {
    if let Err(error) = rustix::process::nice(19) {
        println!("the priority stays as it is: {error}");
    }
}

/// Steps of cargo, one after the other beside the rest; what they print is kept until they are asked for.
struct Beside(JoinHandle<Vec<Finished>>);

/// A step, its outcome, and how long it took, s.
type Finished = ((&'static str, &'static str), anyhow::Result<Output>, f64);

impl Beside {
    fn start(steps: &'static [(&'static str, &'static str)]) -> Self {
        Self(std::thread::spawn(move || {
            let run = |&(name, arguments): &(&'static str, &'static str)| {
                let start = Instant::now();
                let output = cargo(arguments)
                    .and_then(|mut command| Ok(command.stdin(Stdio::null()).output()?))
                    .context("cargo did not start");
                ((name, arguments), output, start.elapsed().as_secs_f64())
            };
            steps.iter().map(run).collect()
        }))
    }

    /// Reports all of them; the first failure.
    fn finish(self) -> anyhow::Result<()> {
        let steps = (self.0.join()).map_err(|_| anyhow!("what ran beside the tests was lost"))?;
        let mut outcome = Ok(());
        for ((name, arguments), output, seconds) in steps {
            println!("== {name}");
            let output = output.with_context(|| format!("step `{name}`"))?;
            io::stderr().write_all(&output.stderr)?;
            io::stdout().write_all(&output.stdout)?;
            if output.status.success() {
                println!("== {name}: passed in {seconds:.1} s");
            } else {
                outcome = outcome.and(Err(anyhow!(
                    "step `{name}`: `cargo {arguments}` ended with {}",
                    output.status
                )));
            }
        }
        outcome
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
