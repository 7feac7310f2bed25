//! The native tools that a crate needs to build, found or installed.
//!
//! `osqp` is C code that CMake configures. Its `CMakeLists.txt` asks for a C++
//! compiler although nothing in it is C++, and for a CMake older than 4. So a
//! build needs CMake, a program that CMake generates for (make or ninja), and
//! either a C++ compiler or CMake told not to try one.
//!
//! What is missing comes from apt for root, else from PyPI into a folder below
//! `target/`; where neither is possible the one command to run is printed.
//! Nothing happens when all is there.

use crate::{Outcome, folders};
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus, Stdio};

/// CMake's own name for "be as lenient as a CMake before 4".
const POLICY: (&str, &str) = ("CMAKE_POLICY_VERSION_MINIMUM", "3.5");

/// What `apt-get` installs for root.
const APT_PACKAGES: [&str; 3] = ["cmake", "make", "g++"];

/// What `pip` installs for everybody else.
const PYPI_PACKAGES: [&str; 2] = ["cmake<4", "ninja"];

/// The file that marks a finished installation from PyPI.
const COMPLETE: &str = "complete";

/// An environment variable and its value.
type Variable = (String, OsString);

/// Makes sure that the tools are there.
///
/// Returns the variables that a build needs to find them, none when the
/// machine has everything already.
pub fn ensure() -> Result<Vec<Variable>> {
    if !has("cc") && std::env::var_os("CC").is_none() {
        bail!(
            "no C compiler was found: looked for `cc` on the PATH\n  \
             help: run `sudo apt-get install gcc libc6-dev`"
        );
    }
    let mut environment = vec![(POLICY.0.to_owned(), POLICY.1.into())];
    let folder = folders::target_dir()?.join("tools").join("python");
    if !complete() && !folder.join(COMPLETE).is_file() {
        install(&folder)?;
    }
    if !complete() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(folder.join("bin")).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(folders).context("PATH cannot be extended")?;
        environment.push(("PATH".to_owned(), path));
        environment.push(("CMAKE_GENERATOR".to_owned(), "Ninja".into()));
    }
    if !has("c++") && std::env::var_os("CXX").is_none() {
        environment.extend(without_cxx(&folder)?);
    }
    Ok(environment)
}

/// Whether the machine has what CMake needs to configure and build C code.
fn complete() -> bool {
    let ninja = std::env::var_os("CMAKE_GENERATOR").is_some() && has("ninja");
    has("cmake") && (has("make") || ninja)
}

/// `cargo xtask env`: the variables as shell lines.
pub fn print_environment() -> Outcome {
    for (name, value) in ensure()? {
        println!(
            "export {name}='{}'",
            value.to_string_lossy().replace('\'', r"'\''")
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn install(folder: &Path) -> Result<()> {
    let mut tried = Vec::new();
    if is_root() && has("apt-get") {
        match install_with_apt(&APT_PACKAGES) {
            Ok(()) => return Ok(()),
            Err(error) => tried.push(format!("\n  tried apt-get: {error:#}")),
        }
    }
    if has("python3") {
        match install_from_pypi(folder) {
            Ok(()) => return Ok(()),
            Err(error) => tried.push(format!("\n  tried PyPI: {error:#}")),
        }
    }
    let tried = tried.concat();
    bail!(
        "cmake and make (or ninja) are needed to build osqp and were not found on the PATH{tried}\n  \
         help: run `sudo apt-get install {}`",
        APT_PACKAGES.join(" ")
    )
}

/// Installs Debian packages, as root.
pub fn install_with_apt(packages: &[&str]) -> Result<()> {
    eprintln!("installing {} with apt-get", packages.join(", "));
    let mut update = Command::new("apt-get");
    quiet(update.args(["update", "-qq"]))?;
    let mut install = Command::new("apt-get");
    install.env("DEBIAN_FRONTEND", "noninteractive").args([
        "install",
        "-qq",
        "--yes",
        "--no-install-recommends",
    ]);
    quiet(install.args(packages))
}

fn install_from_pypi(folder: &Path) -> Result<()> {
    eprintln!(
        "installing cmake and ninja from PyPI into {}",
        folder.display()
    );
    // What an interrupted installation left is not to be trusted.
    let _ = fs::remove_dir_all(folder);
    quiet(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    quiet(
        Command::new(folder.join("bin/python"))
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
            ])
            .args(PYPI_PACKAGES),
    )?;
    fs::write(folder.join(COMPLETE), "").context("the installation cannot be marked as complete")
}

/// Tells CMake not to try the C++ compiler that is not there: nothing of osqp is C++.
fn without_cxx(folder: &Path) -> Result<[Variable; 2]> {
    let file = folder.with_file_name("no-c++.cmake");
    let text = "# Nothing that is built here is C++.\nset(CMAKE_CXX_COMPILER_WORKS TRUE)\n";
    if fs::read_to_string(&file).ok().as_deref() != Some(text) {
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&file, text).with_context(|| format!("{} cannot be written", file.display()))?;
        forget_failed_configurations()?;
    }
    Ok([
        ("CXX".to_owned(), "cc".into()),
        ("CMAKE_TOOLCHAIN_FILE".to_owned(), file.into()),
    ])
}

/// Removes what an earlier build without these variables left half configured:
/// CMake would remember the compiler it did not find.
fn forget_failed_configurations() -> Result<()> {
    let target = folders::target_dir()?;
    for profile in ["debug", "release"] {
        let Ok(entries) = fs::read_dir(target.join(profile).join("build")) else {
            continue;
        };
        for entry in entries.filter_map(Result::ok) {
            let build = entry.path().join("out/build");
            let is_osqp = entry.file_name().to_string_lossy().starts_with("osqp-sys-");
            if is_osqp && build.is_dir() && !build.join("libosqp.a").is_file() {
                let _ = fs::remove_dir_all(build);
            }
        }
    }
    Ok(())
}

/// Runs a command, and shows what it printed only when it fails.
pub fn quiet(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("{name} did not start"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        bail!("{name} ended with {}: {}", output.status, text.trim());
    }
    Ok(())
}

/// Runs a command, passes its output on line by line, and returns it.
pub fn echoed(command: &mut Command) -> Result<(ExitStatus, String)> {
    let program = command.get_program().display().to_string();
    let started = || format!("{program} did not start");
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(started)?;
    let stdout = child.stdout.take().context("the output is piped")?;
    let mut output = String::new();
    for line in BufReader::new(stdout).lines() {
        let line = line.with_context(|| format!("the output of {program} cannot be read"))?;
        println!("{line}");
        output += &line;
        output.push('\n');
    }
    let status = child
        .wait()
        .with_context(|| format!("{program} was lost"))?;
    Ok((status, output))
}

/// Whether a program of this name is on the PATH.
pub fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// Whether this process runs as root, asked without a dependency.
pub fn is_root() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|status| {
        status
            .lines()
            .find_map(|line| line.strip_prefix("Uid:"))
            .and_then(|ids| ids.split_whitespace().nth(1))
            .is_some_and(|effective| effective == "0")
    })
}
