//! `cargo xtask fly`: build all that flies, then fly.

use crate::{Outcome, workspace};
use anyhow::Context;
use std::process::Command;

pub fn run(arguments: &[String]) -> Outcome {
    let workspace::Built { fly, plugins } = workspace::build()?;
    let mut command = Command::new(&fly);
    command.args(arguments);
    // Beside the executable it looks for them by itself.
    if fly.parent() != Some(&plugins) {
        command.env("FLY_PLUGIN_PATH", &plugins);
    }
    let status = command
        .status()
        .with_context(|| format!("{} did not start", fly.display()))?;
    Ok(workspace::exit_code(status))
}
