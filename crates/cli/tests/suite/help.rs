//! The help of every command, as a page of the book: what changes there is seen. `FLY_GENERATE=1` writes it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use clap::CommandFactory as _;
use fly::args::Arguments;

use crate::common::Folder;

/// The command and all below it, each as the words that call it.
fn all(command: &clap::Command, words: &[String], to: &mut Vec<Vec<String>>) {
    to.push(words.to_vec());
    let below = command
        .get_subcommands()
        .filter(|one| one.get_name() != "help");
    for inner in below {
        all(inner, &[words, &[inner.get_name().to_owned()]].concat(), to);
    }
}

#[test]
fn the_page_shows_the_help_of_every_command() {
    let mut commands = Vec::new();
    all(&Arguments::command(), &[], &mut commands);
    let folder = Folder::new();
    let mut page = "\
# Every command

What `--help` says of each. This page is made by `cargo xtask generate`.
"
    .to_owned();
    for words in &commands {
        let mut arguments: Vec<&str> = words.iter().map(String::as_str).collect();
        arguments.push("--help");
        let output = folder.fly(&arguments);
        assert_eq!(
            (output.status.code(), output.stderr.as_slice()),
            (Some(0), &b""[..]),
            "{arguments:?}"
        );
        let help = String::from_utf8(output.stdout).unwrap();
        let name = [&["fly".to_owned()], words.as_slice()].concat().join(" ");
        assert!(!help.contains('\u{1b}'), "{name}: colours in a pipe");
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(
            page,
            "\n## `{name}`\n\n```text\n{}\n```\n",
            lines.join("\n").trim_end()
        );
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    if std::env::var_os("FLY_GENERATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    for (ours, theirs) in page.lines().zip(committed.lines()) {
        assert_eq!(
            ours, theirs,
            "docs/commands.md is stale: run `cargo xtask generate`"
        );
    }
    assert!(
        page == committed,
        "docs/commands.md is stale: run `cargo xtask generate`"
    );
    assert!(commands.len() > 20, "{commands:?}");
}
