//! Cargo, run inside the workspace.

use crate::folders::cargo_path;
pub use crate::folders::{root, target_dir};
use crate::tools;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};

/// The cargo that runs this task, with the environment that native builds need.
pub fn cargo() -> Result<Command> {
    let mut command = Command::new(cargo_path());
    command.envs(tools::ensure()?);
    Ok(command)
}

/// The same, for the whole workspace from whatever folder the task runs in.
pub fn cargo_at_root() -> Result<Command> {
    let mut command = cargo()?;
    command.current_dir(root());
    Ok(command)
}

/// The program with the tests of the command.
pub const TESTS_OF_FLY: [&str; 4] = ["--package", "fly", "--test", "suite"];

/// Runs tests of a program by their full names, and shows what they print.
pub fn run_test(
    program: &[&str],
    tests: &[&str],
    environment: &[(&str, &str)],
) -> Result<ExitCode> {
    let mut command = cargo_at_root()?;
    command.arg("test").args(program);
    command.args(["--", "--exact", "--nocapture"]).args(tests);
    command.envs(environment.iter().copied());
    let status = command.status().context("cargo did not start")?;
    Ok(exit_code(status))
}

/// The folders of the workspace's crates, from the root.
pub fn crates() -> Result<Vec<String>> {
    let file = root().join("Cargo.toml");
    let text = std::fs::read_to_string(&file).with_context(|| format!("{}", file.display()))?;
    let members = (text.split_once("\nmembers = ["))
        .and_then(|(_, rest)| rest.split_once(']'))
        .with_context(|| format!("{} lists no members", file.display()))?;
    let names = members.0.split('"').skip(1).step_by(2);
    Ok(names.map(str::to_owned).collect())
}

/// With this environment variable, tasks take the command and the plugins that the tests were run with: `cargo xtask test`
/// compiles nothing a second time for the README's commands.
pub const TESTED: &str = "FLY_XTASK_TESTED";

/// The command and the folder of its plugins, built.
pub struct Built {
    /// The executable.
    pub fly: PathBuf,
    /// Where the plugins are.
    pub plugins: PathBuf,
}

/// What cargo is told to build for this machine's own instruction set.
pub const NATIVE: [&str; 2] = ["--config", "build.rustflags=['-Ctarget-cpu=native']"];

/// The command and the plugins that the tests were run with.
pub fn built_by_tests() -> Result<Built> {
    let folder = target_dir()?.join("debug");
    Ok(Built {
        fly: folder.join("fly"),
        plugins: folder.join("deps"),
    })
}

/// Builds the command and the plugins (the default members), optimised.
pub fn build() -> Result<Built> {
    build_with(&[])
}

/// The same with more arguments for cargo.
pub fn build_with(arguments: &[&str]) -> Result<Built> {
    if std::env::var_os(TESTED).is_some() {
        return built_by_tests();
    }
    let status = cargo_at_root()?
        .args(["build", "--release"])
        .args(arguments)
        .status()
        .context("cargo did not start")?;
    if !status.success() {
        bail!("the build failed");
    }
    let folder = target_dir()?.join("release");
    Ok(Built {
        fly: folder.join("fly"),
        plugins: folder,
    })
}

/// A child's exit code, passed on. A child that a signal ended counts as 1.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The Rust files below a folder.
    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                found.push(path);
            }
        }
    }

    /// They would never run.
    #[test]
    fn no_tests_are_in_a_library_that_is_not_tested() {
        let mut untested = 0;
        for name in crates().unwrap() {
            let folder = root().join(name);
            let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            if !manifest.lines().any(|line| line == "test = false") {
                continue;
            }
            untested += 1;
            let mut files = Vec::new();
            sources(&folder.join("src"), &mut files);
            for file in files {
                let text = std::fs::read_to_string(&file).unwrap();
                assert!(!text.contains("#[cfg(test)]"), "{}", file.display());
            }
        }
        assert!(untested > 0, "the key is spelt otherwise");
    }
}
