//! Where the workspace, its target folder and cargo are.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask stands in the root of the workspace")
}

/// The cargo that runs this task.
pub fn cargo_path() -> PathBuf {
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
