//! Peers, in folders below `target/`: Pinocchio from PyPI for our benchmarks, and tests with other programs.

use crate::pypi::{self, COMPLETE};
use crate::{Failure, Outcome, tools, viewers, workspace};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Pinocchio and its headers, and those of Eigen, which it needs.
const PACKAGES: [&str; 2] = ["pin==4.1.0", "cmeel-eigen==3.4.1"];

/// Debian's clang package and the name of its C++ compiler.
const CLANG: (&str, &str) = ("clang-19", "clang++-19");

/// Why manif, with which the other libraries also compare, is not measured.
pub const NO_MANIF: &str =
    "no registry has it (neither PyPI nor crates.io nor Debian), only its repository";

/// Limits of Boost that Pinocchio's headers raise.
const BOOST: [&str; 4] = [
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
];

/// Tests with peers: package, test program, and tests.
const TESTS: [(&[&str], &[&str]); 3] = [
    (
        &[
            "--package",
            "fly-mavlink",
            "--all-features",
            "--lib",
            "--test",
            "suite",
        ],
        &["mutated", "pymavlink", "serial::", "faults"],
    ),
    (
        &["--package", "fly-plugin-quadcopter", "--test", "suite"],
        &["commanding::"],
    ),
    (
        &["--package", "fly", "--test", "suite"],
        &[
            "autopilots::",
            "links::",
            "actuators::",
            "ground_stations::",
            "serve::",
            "reference_flights::",
        ],
    ),
];

/// `cargo xtask peers`: flights with autopilots made of pymavlink, of which the tests fly some, MAVSDK and MAVProxy as ground stations, 10^8 bytes of
/// mutated traffic, the reference flights in RotorPy and MuJoCo, and logs as viewers open them; with `viewers` these alone.
pub fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [] => {}
        [only] if only == "viewers" => return Ok(viewers::run()?),
        _ => {
            return Err(Failure::Usage(format!(
                "`peers` takes `viewers` or nothing, found `{}`",
                arguments.join(" ")
            )));
        }
    }
    let mut outcome = viewers::run()?;
    for (program, tests) in TESTS {
        let mut command = workspace::cargo_at_root()?;
        // One failure must not prevent the others from being found.
        command
            .args(["test", "--no-fail-fast"])
            .args(program)
            .args(["--", "--include-ignored", "--nocapture", "--test-threads=1"])
            .args(tests);
        let status = command.status().context("cargo did not start")?;
        if !status.success() {
            outcome = workspace::exit_code(status);
        }
    }
    Ok(outcome)
}

/// Measures Pinocchio with the program at `source`, next to one of our benchmarks, and returns its output; reports why
/// if that is not possible.
///
/// The program runs in the source's folder.
pub fn pinocchio(source: &Path, name: &str, native: bool, filter: &[String]) -> String {
    let result = build(source, name, native).and_then(|program| {
        let mut command = Command::new(&program);
        if let Some(folder) = source.parent() {
            command.current_dir(folder);
        }
        let (status, output) = tools::echoed(command.args(filter))?;
        if !status.success() {
            bail!("{} ended with {status}", program.display());
        }
        Ok(output)
    });
    result.unwrap_or_else(|error| {
        println!("Pinocchio is left out: {error:#}");
        String::new()
    })
}

/// Builds a program if it is older than its source.
fn build(source: &Path, name: &str, native: bool) -> Result<PathBuf> {
    let folder = workspace::target_dir()?.join("peers").join("pinocchio");
    if !folder.join(COMPLETE).is_file() {
        install(&folder)?;
    }
    let compiler = compiler();
    let version = Command::new(&compiler).arg("--version").output();
    let version = version.with_context(|| format!("{compiler} did not start"))?;
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let version = version.lines().next().unwrap_or_default();
    println!("Pinocchio is compiled by {compiler}: {version}");
    // Another compiler, or another version of it, builds another program.
    let file = format!("{name}-{compiler}-{version}");
    let program = folder.join(file.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
    if is_newer(&program, source) {
        return Ok(program);
    }
    let prefix = prefix(&folder)?;
    let include = prefix.join("include");
    let mut command = Command::new(&compiler);
    command.args(["-std=c++17", "-O3", "-DNDEBUG"]);
    if native {
        command.arg("-march=native");
    }
    tools::quiet(
        command
            .args(BOOST)
            .arg("-I")
            .arg(&include)
            .arg("-I")
            .arg(include.join("eigen3"))
            .arg(source)
            .arg("-o")
            .arg(&program),
    )?;
    Ok(program)
}

/// The C++ compiler: the one that `CXX` names, else clang, which makes Pinocchio's fastest program. For root, a missing clang
/// is installed from Debian; else the system's compiler is used.
fn compiler() -> String {
    if let Ok(compiler) = std::env::var("CXX")
        && !compiler.is_empty()
    {
        return compiler;
    }
    let clang = || {
        ["clang++", CLANG.1]
            .into_iter()
            .find(|name| tools::has(name))
    };
    if clang().is_none()
        && tools::is_root()
        && tools::has("apt-get")
        && let Err(error) = tools::install_with_apt(&[CLANG.0, "g++"])
    {
        eprintln!("{} is left out: {error:#}", CLANG.0);
    }
    clang().unwrap_or("c++").to_owned()
}

/// Whether a file exists and was written after another.
fn is_newer(file: &Path, other: &Path) -> bool {
    let written = |path: &Path| fs::metadata(path).and_then(|m| m.modified()).ok();
    written(file).is_some_and(|time| written(other).is_some_and(|other| time > other))
}

fn install(folder: &Path) -> Result<()> {
    eprintln!(
        "installing Pinocchio from PyPI into {} (500 MB)",
        folder.display()
    );
    pypi::install(folder, &PACKAGES)
}

/// Where the packages' headers are: `lib/python3.x/site-packages/cmeel.prefix`.
fn prefix(folder: &Path) -> Result<PathBuf> {
    let lib = folder.join("lib");
    let entries = fs::read_dir(&lib).with_context(|| format!("{}", lib.display()))?;
    let mut candidates = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("site-packages/cmeel.prefix"));
    candidates
        .find(|prefix| prefix.is_dir())
        .with_context(|| format!("no headers below {}", lib.display()))
}
