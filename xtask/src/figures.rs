//! `cargo xtask figures`: computes and draws the figures of the documentation, or checks those that are there.

use crate::{Outcome, workspace};
use anyhow::Context;

/// Where they are.
const FOLDER: &str = "docs/figures";

/// Draws all of them, or those that are named; with `--check` compares instead.
pub fn run(arguments: &[String]) -> Outcome {
    let status = workspace::cargo_at_root()?
        .args(["run", "--quiet", "--release", "--package", "fly-figures"])
        .args(["--", FOLDER])
        .args(arguments)
        .status()
        .context("cargo did not start")?;
    Ok(workspace::exit_code(status))
}
