//! `cargo xtask fly`: build all that flies, then fly.

use crate::{Outcome, workspace};
use anyhow::Context;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

pub fn run(arguments: &[String]) -> Outcome {
    let workspace::Built { fly, plugins } = workspace::build()?;
    let mut command = Command::new(&fly);
    command.args(arguments);
    // Beside the executable it looks for them by itself.
    if fly.parent() != Some(&plugins) {
        command.env("FLY_PLUGIN_PATH", &plugins);
    }
    // In place of this process, so that its signals reach the flight. It returns only if that fails.
    Err(command.exec())
        .with_context(|| format!("{} did not start", fly.display()))
        .map_err(Into::into)
}
