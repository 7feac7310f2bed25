//! Where the workspace is, and cargo run inside it.

use crate::tools;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

/// The root of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask stands in the root of the workspace")
}

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

fn cargo_path() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// The target folder, as cargo itself resolves it.
pub fn target_dir() -> Result<PathBuf> {
    let output = Command::new(cargo_path())
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .context("cargo metadata did not start")?;
    if !output.status.success() {
        bail!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let text = String::from_utf8(output.stdout).context("cargo metadata is not UTF-8")?;
    let (_, rest) = text
        .split_once("\"target_directory\":\"")
        .context("cargo metadata names no target folder")?;
    let (folder, _) = rest.split_once('"').context("cargo metadata ended early")?;
    Ok(PathBuf::from(folder.replace("\\\\", "\\")))
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
