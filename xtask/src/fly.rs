//! `cargo xtask fly`: build all that flies, then fly.

use crate::{Outcome, workspace};
use anyhow::Context;
use std::process::Command;

pub fn run(arguments: &[String]) -> Outcome {
    let folder = workspace::build_release()?;
    // The plugins stand beside the executable, where it looks for them.
    let fly = folder.join("fly");
    let status = Command::new(&fly)
        .args(arguments)
        .status()
        .with_context(|| format!("{} did not start", fly.display()))?;
    Ok(workspace::exit_code(status))
}
