//! `fly check`: everything that a flight needs, without flying.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;

use crate::config::{Configuration, Document, FleetConfiguration, Flown, Options};
use crate::exit::{Exit, Failure};
use crate::telemetry::Table;

mod backend;
mod battery;
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
    let document = Document::load(options)?;
    let mut findings = Findings::default();
    findings.fine("configuration", options.config.display());
    if FleetConfiguration::is_fleet(&document) {
        let fleet = FleetConfiguration::read(document)?;
        for member in &fleet.vehicles {
            findings.fine("", "");
            findings.fine("flies as", &member.name);
            check(&member.configuration, &mut findings)?;
        }
        findings.fine("", "");
        findings.fine("world", world(&fleet));
        backend::check(&fleet, None, plugin_dirs, &mut findings)?;
    } else {
        let configuration = Configuration::read(document)?;
        check(&configuration, &mut findings)?;
        backend::check(
            &configuration,
            Some(&configuration),
            plugin_dirs,
            &mut findings,
        )?;
    }

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

/// Everything but the backend.
fn check(configuration: &Configuration, findings: &mut Findings) -> Result<(), Failure> {
    match configuration.flown() {
        Flown::Vehicle(vehicle) => {
            vehicle::check(vehicle, findings);
            let hover = vehicle::hover_commands(vehicle);
            battery::check(&configuration.system, hover.as_deref(), findings);
            controller::check(configuration, vehicle, findings)?;
            reference::check(configuration, vehicle, findings)?;
        }
        Flown::System(system) => {
            system::check(configuration, system, findings)?;
            battery::check(system, None, findings);
        }
    }
    Ok(())
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// What there is besides the vehicles.
fn world(fleet: &FleetConfiguration) -> String {
    let (world, model) = (&fleet.world, &fleet.world.model);
    format!(
        "{}, {}, {}, {}",
        count(fleet.vehicles.len(), "vehicle"),
        format_args!("{} bodies", model.body_count()),
        count(world.ropes.len(), "rope"),
        count(world.loops.len(), "loop")
    )
}
