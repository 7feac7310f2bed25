//! `cargo xtask fly`: builds the command and its plugins, then flies.

use crate::{Outcome, workspace};
use anyhow::Context;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

pub fn run(arguments: &[String]) -> Outcome {
    become_flight(&workspace::build()?, arguments)
}

/// Replaces this process by the flight, so that its signals reach the flight. Returns only on failure.
fn become_flight(built: &workspace::Built, arguments: &[String]) -> Outcome {
    let workspace::Built { fly, plugins } = built;
    let mut command = Command::new(fly);
    command.args(arguments);
    // It finds plugins next to the executable by itself.
    if fly.parent() != Some(plugins) {
        command.env("FLY_PLUGIN_PATH", plugins);
    }
    Err(command.exec())
        .with_context(|| format!("{} did not start", fly.display()))
        .map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead as _, BufReader};
    use std::path::PathBuf;
    use std::process::Stdio;

    /// Not a separate test: started by the other one.
    #[test]
    #[ignore = "becomes another program"]
    fn becomes_a_shell() {
        let built = workspace::Built {
            fly: PathBuf::from("/bin/sh"),
            plugins: PathBuf::from("/bin"),
        };
        let waits = "trap 'exit 130' INT; echo pid $$; while :; do sleep 0.01; done";
        let _ = become_flight(&built, &["-c".to_owned(), waits.to_owned()]);
        panic!("it is still here");
    }

    #[test]
    fn signals_reach_the_flight() {
        let mut task = Command::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "--nocapture",
                "fly::tests::becomes_a_shell",
            ])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(task.stdout.take().unwrap()).lines();
        let pid = lines.find_map(|line| Some(line.unwrap().split_once("pid ")?.1.to_owned()));
        let own = task.id().to_string();
        assert_eq!(pid.as_ref(), Some(&own), "the same process");
        let killed = Command::new("kill").args(["-INT", &own]).status().unwrap();
        assert!(killed.success());
        assert_eq!(task.wait().unwrap().code(), Some(130));
    }
}
