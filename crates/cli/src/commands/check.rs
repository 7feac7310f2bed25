//! `fly check`: everything that a flight needs, without flying.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;

use crate::config::{Configuration, Options};
use crate::exit::{Exit, Failure};
use crate::telemetry::Table;

mod backend;
mod controller;
mod reference;
mod vehicle;

/// What was looked at and what was found.
#[derive(Debug, Default)]
pub struct Findings {
    table: Table,
    problems: Vec<String>,
}

impl Findings {
    /// Something that is in order.
    pub fn fine(&mut self, what: &str, finding: impl fmt::Display) {
        self.table.lines(what, [finding.to_string()]);
    }

    /// Something that a user may want, but should know.
    pub fn warning(&mut self, what: &str, finding: impl fmt::Display) {
        self.table.lines(what, [format!("WARNING: {finding}")]);
    }

    /// Something that a flight would fail on.
    pub fn problem(&mut self, what: &str, finding: impl fmt::Display) {
        self.table.lines(what, [format!("PROBLEM: {finding}")]);
        self.problems.push(format!("{what}: {finding}"));
    }
}

/// Checks and prints what was checked; [`Exit::ProblemsFound`] when a flight would fail.
///
/// # Errors
/// The configuration cannot be read or the backend not be loaded.
pub fn run(options: &Options, plugin_dirs: &[PathBuf]) -> Result<Exit, Failure> {
    let configuration = Configuration::load(options)?;
    let mut findings = Findings::default();
    findings.fine("configuration", options.config.display());
    vehicle::check(&configuration, &mut findings);
    controller::check(&configuration, &mut findings)?;
    reference::check(&configuration, &mut findings)?;
    backend::check(&configuration, plugin_dirs, &mut findings)?;

    let mut out = std::io::stdout().lock();
    write!(out, "{}", findings.table)?;
    if findings.problems.is_empty() {
        writeln!(out, "everything is in order")?;
        return Ok(Exit::Flown);
    }
    let count = findings.problems.len();
    writeln!(
        out,
        "{count} problem{} found",
        if count == 1 { "" } else { "s" }
    )?;
    Ok(Exit::ProblemsFound)
}
