//! The tasks of the workspace: `cargo xtask <task>`.
//!
//! Each task first makes sure that the native tools required by a crate are available (see [`tools`]), and installs
//! them if permitted.

mod bench;
mod book;
mod dependencies;
mod figures;
mod fly;
mod folders;
mod gallery;
mod install;
mod layers;
mod mutate;
mod page;
mod peers;
mod pypi;
mod ratios;
mod readme;
mod recovery;
mod redundant;
mod report;
mod sources;
mod sweep;
mod test;
mod tools;
mod viewers;
mod workspace;

#[cfg(feature = "generate")]
mod generate;
mod generated;

use std::process::ExitCode;

const USAGE: &str = "\
The tasks of the fly workspace.

Usage: cargo xtask <TASK> [ARGUMENTS]

Tasks:
  fly [ARGUMENTS]        build the command and the plugins (release), then run `fly ARGUMENTS`
  test                   everything that must hold: format, layers, sources, dependencies with their reasons, clippy,
                         all tests, documentation, generated files, and every command of the README
  layers                 no cycles of imports between the modules of a crate
  sources [--write]      what docs/sources.md and docs/errata.md say is in the code, and every cited equation in them
                         (--write: docs/equations.md)
  bench [NAME] [FILTER]  the benchmarks: control, flight, hal, lie, mechanics (default: all), or one of
                         them by its name, such as dynamics or sim; beside Pinocchio, compiled by
                         $CXX, else clang++, else c++
  recovery [--all]       fly a quadcopter back to hover from 2000 states, stratified, within minutes
                         (--all: from 324000, a quarter of an hour)
  recovery --led [NAME]  fly every vehicle (or these, or `grid`) home from 2000 states up to 1 km away, led by its governor
  compare [--write]      fly controllers side by side, on the model and on plants that differ from it: the tables of docs/controllers.md
                         (--write: into it)
  faults [--write]       inject every fault while the command flies, with every core busy: the table of docs/safety.md
                         (--write: into it); then 12 times six flights at once, and 50 flights killed, whose logs must be there
  figures [--check] [NAME...]
                         compute and draw the figures of the documentation, SVG in docs/figures (--check: compare)
  punctual               wake-up times and latencies of a flight at 500 Hz with every core busy
  redundant              the law of 100 000 random vehicles with redundant inputs against the least-error accelerations
  report                 fly, write reports, and look at them in Chromium by playwright-core (npm): drawn, moving, linked,
                         offline, at 390 and 1440 px, light and dark; pictures in target/report
  gallery                a picture of the report of every shipped flight, in docs/gallery.md
  sweep                  a campaign on a local Dask cluster (PyPI) against one process, its table read by pyarrow; 20 kills
  peers [viewers]        fly PX4 and ArduCopter made of pymavlink (PyPI) over links with every fault, signed links and serial lines; show
                         flights to MAVSDK and MAVProxy; 10^8 bytes of mutated traffic; the reference flights in
                         RotorPy and MuJoCo; logs of all shipped configurations in mcap, Foxglove's schemas and Rerun (viewers: these alone)
  mutate [--cases N]     read a million configurations, descriptions, logs and plugins' descriptions that
                         were changed at random (--seed N; --kind NAME --case N: one of them again)
  install [--root DIR] [--native]
                         install `fly`, its plugins, completions and man pages below DIR
                         (default: $CARGO_INSTALL_ROOT, $CARGO_HOME, ~/.cargo); --native: for this
                         machine's instruction set alone, which simulates faster
  book                   docs/SUMMARY.md's pages as a book of HTML pages, links checked, below target/book
  generate [--check]     write the generated files anew: protobuf code, C header, pages and schemas of the code
  env                    print the shell lines that plain cargo needs to build on this machine
  help                   print this

`fly`'s exit code is passed on; otherwise 0 is success, 1 a failure, 2 wrong usage.";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let task = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let result = match task.as_deref() {
        Some("fly") => fly::run(&rest),
        Some("test") => test::run(&rest),
        Some("bench") => bench::run(&rest),
        Some("compare") => page::run("compare", "compare::every_controller_in_every_world", &rest),
        Some("figures") => figures::run(&rest),
        Some("faults") => page::run("faults", "real_time::faults::every_fault_one_by_one", &rest)
            .and_then(page::logs_of_many_flights),
        Some("punctual") => page::run("punctual", "real_time::times_with_every_core_busy", &rest),
        Some("recovery") => recovery::run(&rest),
        Some("redundant") => redundant::run(&rest),
        Some("report") => report::run(&rest),
        Some("sweep") => sweep::run(&rest),
        Some("peers") => peers::run(&rest),
        Some("mutate") => mutate::run(&rest),
        Some("install") => install::run(&rest),
        Some("layers") => layers::run(&rest),
        Some("sources") => sources::run(&rest),
        Some("gallery") => gallery::run(&rest),
        Some("book") => book::run(&rest),
        Some("generate") => run_generate(&rest),
        Some("env") => tools::print_environment(),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        Some(other) => Err(Failure::Usage(format!("there is no task `{other}`"))),
        None => Err(Failure::Usage("no task was given".to_owned())),
    };
    match result {
        Ok(code) => code,
        Err(Failure::Usage(message)) => {
            eprintln!("error: {message}\n\n{USAGE}");
            ExitCode::from(2)
        }
        Err(Failure::Failed(error)) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Why a task failed.
enum Failure {
    /// The command line is invalid.
    Usage(String),
    /// The task itself failed.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// The result of a task: the exit code, or the reason of its failure.
type Outcome = Result<ExitCode, Failure>;

/// The generators are slow to build and rarely needed, so they are behind a feature; without it, this program runs
/// itself again with the feature enabled.
#[cfg(not(feature = "generate"))]
fn run_generate(arguments: &[String]) -> Outcome {
    let status = workspace::cargo()?
        .args(["run", "--quiet", "--package", "xtask", "--features"])
        .args(["generate", "--", "generate"])
        .args(arguments)
        .status()
        .map_err(|error| anyhow::anyhow!("cargo did not start: {error}"))?;
    Ok(workspace::exit_code(status))
}

#[cfg(feature = "generate")]
fn run_generate(arguments: &[String]) -> Outcome {
    generate::run(arguments)
}
