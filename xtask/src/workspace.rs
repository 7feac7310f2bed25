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

/// Builds the command and the plugins (the default members), optimised.
/// Returns the folder that holds them.
pub fn build_release() -> Result<PathBuf> {
    let status = cargo_at_root()?
        .args(["build", "--release"])
        .status()
        .context("cargo did not start")?;
    if !status.success() {
        bail!("the build failed");
    }
    Ok(target_dir()?.join("release"))
}

/// A child's exit code, passed on. A child that a signal ended counts as 1.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or(1))
}
