//! `fly completions` and `fly man`: shell completions and manual pages.

use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Arguments;
use crate::exit::{Exit, Failure};

/// Prints the completions of a shell.
pub fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "fly", &mut text);
    super::print(&text)?;
    Ok(Exit::Flown)
}

/// Writes one page for the command and one for each subcommand.
pub fn pages(folder: &Path) -> Result<Exit, Failure> {
    super::product::make_folder(folder)?;
    clap_mangen::generate_to(Arguments::command(), folder)
        .with_context(|| format!("cannot write manual pages to {}", folder.display()))?;
    Ok(Exit::Flown)
}
