//! The summary of several vehicles: as printed, and as data.

use std::fmt;

use fly_flight::LogSummary;
use fly_flight::fleet::FleetSummary;
use serde::Serialize;

use super::data::{Backend, FORMAT, Log};
use super::{Data, SummaryText};
use crate::exit::Exit;

/// A fleet's summary as printed.
pub struct FleetText<'a>(pub &'a FleetSummary);

impl FleetText<'_> {
    /// The first line: the worst verdict, and the number of vehicles with each verdict.
    pub fn headline(&self) -> String {
        let summary = self.0;
        let count = summary.vehicles.len();
        let Some((name, worst)) = summary.worst() else {
            return format!("{}: no vehicle", summary.name);
        };
        let verdict = worst.verdict.describe(&worst.end);
        let alike = (summary.vehicles.iter())
            .filter(|(_, other)| other.verdict == worst.verdict)
            .count();
        let who = if alike == count {
            format!("{count} vehicles")
        } else if alike == 1 {
            format!("`{name}` of {count} vehicles")
        } else {
            format!("{alike} of {count} vehicles")
        };
        format!(
            "{}: {verdict} after {:.3} s, {who}",
            summary.name, summary.flight_time
        )
    }
}

impl fmt::Display for FleetText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.headline())?;
        for (_, summary) in &self.0.vehicles {
            write!(f, "\n{}", SummaryText(summary))?;
        }
        let mut table = super::Table::default();
        table.row("backend", [self.0.backend.as_str()]);
        for (label, text) in &self.0.backend_report {
            table.row(&format!("  {label}"), [text.as_str()]);
        }
        if let Some(log) = &self.0.log {
            table.row("log", [logged(log)]);
        }
        write!(f, "\nworld\n{table}")
    }
}

fn logged(log: &LogSummary) -> String {
    match &log.failure {
        None => format!(
            "{} ({})",
            log.path.display(),
            super::summary::size(log.bytes)
        ),
        Some(failure) => format!("LOST: {failure}"),
    }
}

/// The summary of a fleet, printed by `--json`.
#[derive(Debug, Serialize)]
pub struct FleetData<'a> {
    format: u32,
    name: &'a str,
    verdict: &'static str,
    exit_code: u8,
    flight_time: f64,
    wall_time: f64,
    vehicles: Vec<OfVehicle<'a>>,
    /// The world's.
    backend: Backend<'a>,
    log: Option<Log<'a>>,
}

/// One vehicle: its name, and the summary of its flight.
#[derive(Debug, Serialize)]
struct OfVehicle<'a> {
    vehicle: &'a str,
    #[serde(flatten)]
    summary: Data<'a>,
}

impl<'a> FleetData<'a> {
    /// For a summary with this exit code.
    pub fn new(summary: &'a FleetSummary, exit: Exit) -> Self {
        Self {
            format: FORMAT,
            name: &summary.name,
            verdict: summary.verdict().name(),
            exit_code: exit as u8,
            flight_time: summary.flight_time,
            wall_time: summary.wall_time,
            vehicles: (summary.vehicles.iter())
                .map(|(name, summary)| OfVehicle {
                    vehicle: name,
                    summary: Data::new(summary, Exit::from(summary)),
                })
                .collect(),
            backend: Backend::new(&summary.backend, &summary.backend_report),
            log: summary.log.as_ref().map(Log::from),
        }
    }
}
