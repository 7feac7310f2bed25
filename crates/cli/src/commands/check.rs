//! `fly check`: everything that a flight needs, without flying.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;

use crate::config::{Configuration, Flown, Options};
use crate::exit::{Exit, Failure};
use crate::telemetry::Table;

mod backend;
mod closed_loop;
mod controller;
mod reference;
mod sampling;
mod system;
mod vehicle;

/// What was looked at and what was found.
#[derive(Debug, Default)]
pub struct Findings {
    table: Table,
    warnings: usize,
    problems: usize,
}

impl Findings {
    /// Something that is in order.
    pub fn fine(&mut self, what: &str, finding: impl fmt::Display) {
        self.table.lines(what, [finding.to_string()]);
    }

    /// Something that a user may want, but should know.
    pub fn warning(&mut self, what: &str, finding: impl fmt::Display) {
        self.table.lines(what, [format!("WARNING: {finding}")]);
        self.warnings += 1;
    }

    /// Something that a flight would fail on.
    pub fn problem(&mut self, what: &str, finding: impl fmt::Display) {
        self.table.lines(what, [format!("PROBLEM: {finding}")]);
        self.problems += 1;
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
    match configuration.flown() {
        Flown::Vehicle(vehicle) => {
            vehicle::check(vehicle, &mut findings);
            controller::check(&configuration, vehicle, &mut findings)?;
            reference::check(&configuration, vehicle, &mut findings)?;
        }
        Flown::System(system) => system::check(&configuration, system, &mut findings)?,
    }
    backend::check(&configuration, plugin_dirs, &mut findings)?;

    let mut out = Vec::new();
    write!(out, "{}", findings.table)?;
    let verdict = match (findings.problems, findings.warnings) {
        (0, 0) => "everything is in order".to_owned(),
        (0, warnings) => format!("it can fly, with {}", count(warnings, "warning")),
        (problems, 0) => format!("{} found", count(problems, "problem")),
        (problems, warnings) => format!(
            "{} and {} found",
            count(problems, "problem"),
            count(warnings, "warning")
        ),
    };
    writeln!(out, "{verdict}")?;
    super::print(&out)?;
    Ok(if findings.problems == 0 {
        Exit::Flown
    } else {
        Exit::ProblemsFound
    })
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
