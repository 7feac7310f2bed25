//! Every command of the README, run.

use crate::workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// The test command itself: running it here would not end.
const TEST: &str = "cargo xtask test";

/// Runs the lines of the README's `sh` blocks in order, in the root of the
/// workspace, with the command and the plugins that the tests were run with, and removes the logs that they leave there.
pub fn run() -> Result<()> {
    let root = workspace::root();
    let path = root.join("README.md");
    let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let commands: Vec<&str> = commands(&text).filter(|line| *line != TEST).collect();
    if commands.is_empty() {
        bail!("{}: no command was found in a ```sh block", path.display());
    }
    let before = logs()?;
    let environment = crate::tools::ensure()?;
    for line in &commands {
        println!("README: {line}");
        let status = Command::new("bash")
            .args(["-e", "-c", line])
            .envs(environment.iter().cloned())
            .env(workspace::TESTED, "1")
            .current_dir(root)
            .status()
            .context("bash did not start")?;
        if !status.success() {
            bail!("the README's command `{line}` ended with {status}");
        }
    }
    for log in logs()?.difference(&before) {
        fs::remove_file(log).with_context(|| format!("{} cannot be removed", log.display()))?;
    }
    println!("README: {} commands ran", commands.len());
    Ok(())
}

/// The lines of the `sh` blocks, without comments and continuation.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter_map(move |line| {
        if line.starts_with("```") {
            inside = line == "```sh";
            return None;
        }
        let command = line.split("  #").next().unwrap_or_default().trim();
        (inside && !command.is_empty() && !command.starts_with('#')).then_some(command)
    })
}

/// The logs in the root of the workspace.
fn logs() -> Result<BTreeSet<PathBuf>> {
    Ok(fs::read_dir(workspace::root())?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "mcap"))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn only_lines_of_sh_blocks_are_commands() {
        let text = "a\n```sh\none --x  # a remark\n\n# nothing\ntwo\n```\n```toml\nthree\n```\n";
        assert_eq!(commands(text).collect::<Vec<_>>(), ["one --x", "two"]);
    }
}
