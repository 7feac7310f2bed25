//! `cargo xtask figures`: computes and draws the figures of the documentation, or checks the existing ones.

use crate::{Outcome, workspace};
use anyhow::Context;

/// Folder of the figures.
const FOLDER: &str = "docs/figures";

/// Draws all figures, or the named ones; with `--check` compares instead.
pub fn run(arguments: &[String]) -> Outcome {
    let status = workspace::cargo_at_root()?
        .args(["run", "--quiet", "--release", "--package", "fly-figures"])
        .args(["--", FOLDER])
        .args(arguments)
        .status()
        .context("cargo did not start")?;
    Ok(workspace::exit_code(status))
}
