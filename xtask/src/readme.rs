//! Runs every command of the README and of the tutorial.

use crate::workspace::{self, Built};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The test command itself: running it here would recurse for ever.
const TEST: &str = "cargo xtask test";

/// Runs the commands of both with the binaries of the tests.
pub fn run() -> Result<()> {
    let root = workspace::root();
    let before = logs()?;
    // Its commands write there, which cargo does not make where it builds elsewhere.
    fs::create_dir_all(root.join("target")).context("no folder for the logs of the README")?;
    commands_of("README.md", root, &[])?;
    for log in logs()?.difference(&before) {
        fs::remove_file(log).with_context(|| format!("{} cannot be removed", log.display()))?;
    }
    // A reader of the tutorial has installed the command and works in a separate folder.
    let folder = workspace::target_dir()?.join("tutorial");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("{}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("{}", folder.display()))?;
    let Built { fly, plugins } = workspace::built_by_tests()?;
    let programs = fly.parent().map(Path::to_path_buf).into_iter();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(programs.chain(std::env::split_paths(&path)))
        .context("PATH cannot be extended")?;
    let installed = [("PATH", path), ("FLY_PLUGIN_PATH", plugins.into())];
    commands_of("docs/tutorial.md", &folder, &installed)
}

/// Runs the lines of a page's `sh` blocks in order.
fn commands_of(page: &str, folder: &Path, installed: &[(&str, std::ffi::OsString)]) -> Result<()> {
    let path = workspace::root().join(page);
    let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
    let commands: Vec<&str> = commands(&text).filter(|line| *line != TEST).collect();
    if commands.is_empty() {
        bail!("{page}: no command was found in a ```sh block");
    }
    let environment = crate::tools::ensure()?;
    for line in &commands {
        println!("{page}: {line}");
        let status = Command::new("bash")
            .args(["-e", "-c", line])
            .envs(environment.iter().cloned())
            .env(workspace::TESTED, "1")
            .envs(installed.iter().cloned())
            .current_dir(folder)
            .status()
            .context("bash did not start")?;
        if !status.success() {
            bail!("{page}: the command `{line}` ended with {status}");
        }
    }
    println!("{page}: {} commands ran", commands.len());
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
