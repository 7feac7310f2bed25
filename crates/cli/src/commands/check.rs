//! `fly check`: checks everything that a flight needs, without flying.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::args::AsData;
use crate::config::{Configuration, Document, FleetConfiguration, FlownModel, Options};
use crate::exit::{Exit, Failure};
use crate::telemetry::Table;

mod backend;
mod battery;
mod closed_loop;
mod controller;
mod encoders;
mod reference;
mod system;
mod vehicle;

/// Begin the findings of one of several vehicles, and those of their world.
const FLIES_AS: &str = "flies as";
const WORLD: &str = "world";

/// The findings of a check.
#[derive(Debug, Default)]
pub struct Findings {
    table: Table,
    /// What was checked, its state, and the finding.
    all: Vec<[String; 3]>,
    warnings: usize,
    problems: usize,
}

impl Findings {
    /// Adds a finding that is in order.
    pub fn passed(&mut self, what: &str, finding: impl fmt::Display) {
        self.add(what, "fine", finding.to_string());
    }

    /// Adds a finding that may be intended, but that the user should know.
    pub fn warning(&mut self, what: &str, finding: impl fmt::Display) {
        self.add(what, "warning", finding.to_string());
        self.warnings += 1;
    }

    /// Adds a finding that would make a flight fail.
    pub fn problem(&mut self, what: &str, finding: impl fmt::Display) {
        self.add(what, "problem", finding.to_string());
        self.problems += 1;
    }
}

impl Findings {
    fn add(&mut self, what: &str, level: &str, finding: String) {
        let shown = match level {
            "fine" => finding.clone(),
            level => format!("{}: {finding}", level.to_uppercase()),
        };
        self.table.lines(what, [shown]);
        // A line that continues the previous one, or separates two.
        let above = self.all.last().map_or("", |[what, ..]| what);
        let what = if what.is_empty() { above } else { what };
        if !finding.is_empty() {
            self.all.push([what.to_owned(), level.to_owned(), finding]);
        }
    }

    /// As data.
    fn as_json(&self) -> Value {
        let all = self.all.iter();
        let all = all.map(
            |[what, level, finding]| json!({ "what": what, "level": level, "finding": finding }),
        );
        json!({
            "findings": all.collect::<Value>(),
            "warnings": self.warnings,
            "problems": self.problems,
            "verdict": self.verdict(),
        })
    }

    /// Whether a flight would fail.
    pub fn has_problems(&self) -> bool {
        self.problems > 0
    }

    /// The warnings, the problems, and a verdict of problems, as printed.
    fn alarms(&self) -> String {
        let mut table = Table::default();
        // Of several vehicles the one that the next alarm is about, or their world.
        let mut whose = None;
        for [what, level, finding] in &self.all {
            if what == FLIES_AS || what == WORLD {
                whose = Some((what, finding));
            } else if level != "fine" {
                if let Some((what, name)) = whose.take() {
                    table.row(what, [name.as_str()]);
                }
                table.row(what, [format!("{}: {finding}", level.to_uppercase())]);
            }
        }
        let verdict = if self.has_problems() {
            format!("{}\n", self.verdict())
        } else {
            String::new()
        };
        format!("{table}{verdict}")
    }

    /// The warnings: what each is about, and the finding.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let warnings = self.all.iter().filter(|[_, level, _]| level == "warning");
        warnings.map(|[what, _, finding]| format!("{what}: {finding}"))
    }

    /// A summary in one line.
    pub fn verdict(&self) -> String {
        match (self.problems, self.warnings) {
            (0, 0) => "everything is in order".to_owned(),
            (0, warnings) => format!(
                "it can fly, with {}",
                count(warnings, "warning", "warnings")
            ),
            (problems, 0) => format!("{} found", count(problems, "problem", "problems")),
            (problems, warnings) => format!(
                "{} and {} found",
                count(problems, "problem", "problems"),
                count(warnings, "warning", "warnings")
            ),
        }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}{}", self.table, self.verdict())
    }
}

/// Checks and prints the findings; returns [`Exit::ProblemsFound`] if a flight would fail.
///
/// # Errors
/// The configuration cannot be read, or the backend cannot be loaded.
pub fn run(
    options: &Options,
    plugin_dirs: &[PathBuf],
    data: AsData,
    quiet: bool,
) -> Result<Exit, Failure> {
    let findings = findings(options, plugin_dirs)?;
    if data.json {
        super::print_data(&findings.as_json())?;
    } else if quiet {
        super::print(findings.alarms().as_bytes())?;
    } else {
        super::print(findings.to_string().as_bytes())?;
    }
    Ok(if findings.has_problems() {
        Exit::ProblemsFound
    } else {
        Exit::Flown
    })
}

/// All findings.
///
/// # Errors
/// As for [`run`].
pub(super) fn findings(options: &Options, plugin_dirs: &[PathBuf]) -> Result<Findings, Failure> {
    let document = Document::load(options)?;
    let mut findings = Findings::default();
    findings.passed("configuration", options.config.display());
    if FleetConfiguration::is_fleet(&document) {
        let fleet = FleetConfiguration::read(document)?;
        for member in &fleet.vehicles {
            findings.passed("", "");
            findings.passed(FLIES_AS, &member.name);
            check(&member.configuration, &mut findings)?;
        }
        findings.passed("", "");
        findings.passed(WORLD, world(&fleet));
        backend::check(&fleet, None, plugin_dirs, &mut findings)?;
    } else {
        let configuration = Configuration::read(document)?;
        super::serve_section::check(&configuration)?;
        check(&configuration, &mut findings)?;
        backend::check(
            &configuration,
            Some(&configuration),
            plugin_dirs,
            &mut findings,
        )?;
    }
    Ok(findings)
}

/// Checks everything except the backend.
fn check(configuration: &Configuration, findings: &mut Findings) -> Result<(), Failure> {
    match configuration.flown_model() {
        FlownModel::Vehicle(vehicle) => {
            vehicle::check(vehicle, findings);
            let hover = vehicle::hover_commands(vehicle);
            battery::check(&configuration.system, hover.as_deref(), findings);
            controller::check(configuration, vehicle, findings)?;
            reference::check(configuration, vehicle, findings)?;
        }
        FlownModel::System(system) => {
            system::check(configuration, system, findings)?;
            battery::check(system, None, findings);
        }
    }
    Ok(())
}

/// So many things, of which there is one or many.
fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Describes the bodies besides the vehicles.
fn world(fleet: &FleetConfiguration) -> String {
    let (world, model) = (&fleet.world, &fleet.world.model);
    format!(
        "{}, {}, {}, {}",
        count(fleet.vehicles.len(), "vehicle", "vehicles"),
        count(model.body_count(), "body", "bodies"),
        count(world.ropes.len(), "rope", "ropes"),
        count(world.loops.len(), "loop", "loops")
    )
}
