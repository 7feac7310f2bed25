//! `fly compare`: the same flight under several controllers or settings.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fly_flight::{End, Summary};
use fly_report::Flight;
use fly_report::flight::Number;
use serde::Serialize;
use toml::Table as Toml;

use super::fly::{self, FlightOptions};
use super::{print, product};
use crate::args::{Arguments, CompareArguments};
use crate::config::{Configuration, Document, FleetConfiguration, Given, Sets};
use crate::exit::{Exit, Failure};
use crate::telemetry::{Table, Terminal, significant};

/// Sections that define the flight: if they differ, the flights are not the same.
const THE_FLIGHT: [&str; 3] = ["flight", "reference", "backend"];
/// Largest number of keys listed.
const LISTED: usize = 24;

/// A flight to compare.
struct Contender {
    label: String,
    configuration: Configuration,
    /// Every value, by its key.
    values: BTreeMap<String, String>,
}

/// A flight after it was flown.
#[derive(Serialize)]
struct Flown {
    label: String,
    log: String,
    verdict: &'static str,
    exit_code: u8,
    numbers: Vec<Number>,
    /// The verdict, for readers.
    outcome: String,
}

/// The result of a comparison.
#[derive(Serialize)]
struct Comparison<'a> {
    flights: Vec<Flown>,
    /// The keys that differ: a value for each flight, `null` if it has none.
    differences: BTreeMap<&'a str, Vec<Option<&'a str>>>,
    report: Cow<'a, str>,
}

/// Flies all, one after the other, prints the table and writes the report.
///
/// # Errors
/// A configuration is invalid or does not fly, or a file cannot be written.
pub fn run(
    command: &CompareArguments,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    // All errors must be found before the first flight.
    product::refuse_foreign(&command.out, &product::PAGE)?;
    let as_data = command.json || arguments.json;
    product::expect_name(&command.out, as_data)?;
    let contenders = contenders(command, arguments)?;
    let differences = differences(&contenders);
    for section in THE_FLIGHT {
        if differences
            .keys()
            .any(|key| key.split('.').next() == Some(section))
        {
            tracing::warn!("not the same flight: [{section}] differs");
        }
    }
    let (mut flown, mut flights) = (Vec::new(), Vec::new());
    for (i, contender) in contenders.iter().enumerate() {
        let log = beside(&command.out, i + 1);
        let summary = fly(contender, &log, command, arguments, terminal)?;
        if summary.end == End::Interrupted {
            return Ok(Exit::Interrupted);
        }
        let mut flight = Flight::open(&log)?;
        flight.name.clone_from(&contender.label);
        flown.push(Flown {
            label: contender.label.clone(),
            log: log.to_string_lossy().into_owned(),
            verdict: summary.verdict.name(),
            exit_code: Exit::from(&summary) as u8,
            numbers: flight.numbers(),
            outcome: summary.verdict.describe(&summary.end),
        });
        flights.push(flight);
    }
    terminal.flush();
    product::write(
        &command.out,
        &product::PAGE,
        fly_report::report(&flights)?.as_bytes(),
    )?;
    let comparison = Comparison {
        flights: flown,
        differences,
        report: command.out.to_string_lossy(),
    };
    if as_data {
        let text = serde_json::to_string_pretty(&comparison)
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        print(format!("{text}\n").as_bytes())?;
    } else if !arguments.quiet {
        print(comparison.table().as_bytes())?;
    }
    Ok(Exit::Flown)
}

/// Every configuration, unchanged and with each of the changes.
fn contenders(
    command: &CompareArguments,
    arguments: &Arguments,
) -> Result<Vec<Contender>, Failure> {
    let given = &arguments.configuration;
    let configs: Vec<&PathBuf> = given.config.iter().chain(&command.configs).collect();
    let mut contenders = Vec::new();
    for config in &configs {
        for change in std::iter::once(None).chain(command.with.iter().map(Some)) {
            let mut options = given.options_of((*config).clone());
            options.given.extend(change.map(|change| Given {
                option: "--with",
                argument: change.clone(),
                sets: Sets::Assignment,
            }));
            let document = Document::load(&options)?;
            if FleetConfiguration::is_fleet(&document) {
                let message = format!(
                    "`{}` flies several vehicles: `fly compare` compares flights of one",
                    config.display()
                );
                return Err(Failure::new(Exit::Usage, message));
            }
            let name = document.name().to_owned();
            let label = match (change, configs.len()) {
                (None, _) => name,
                (Some(change), 1) => change.clone(),
                (Some(change), _) => format!("{name}, {change}"),
            };
            let table: Toml =
                (document.text().parse()).map_err(|error| Failure::new(Exit::Internal, error))?;
            let mut values = BTreeMap::new();
            flatten("", &toml::Value::Table(table), &mut values);
            contenders.push(Contender {
                label,
                configuration: Configuration::read(document)?,
                values,
            });
        }
    }
    if contenders.len() < 2 {
        let message = format!(
            "expected at least two flights to compare, found {}; name another configuration, or a change with --with KEY=VALUE",
            contenders.len()
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    Ok(contenders)
}

/// Every value below a key: `controller.pairs.0.damping`.
fn flatten(key: &str, value: &toml::Value, into: &mut BTreeMap<String, String>) {
    let below = |name: &str| {
        if key.is_empty() {
            name.to_owned()
        } else {
            format!("{key}.{name}")
        }
    };
    match value {
        toml::Value::Table(table) => {
            for (name, value) in table {
                flatten(&below(name), value, into);
            }
        }
        toml::Value::Array(values) if values.iter().any(toml::Value::is_table) => {
            for (i, value) in values.iter().enumerate() {
                flatten(&below(&i.to_string()), value, into);
            }
        }
        toml::Value::String(text) => {
            into.insert(key.to_owned(), text.clone());
        }
        value => {
            into.insert(key.to_owned(), value.to_string());
        }
    }
}

/// The keys whose values differ.
fn differences(contenders: &[Contender]) -> BTreeMap<&str, Vec<Option<&str>>> {
    let keys = contenders.iter().flat_map(|one| one.values.keys());
    let mut differences = BTreeMap::new();
    for key in keys {
        let values: Vec<Option<&str>> = contenders
            .iter()
            .map(|one| one.values.get(key).map(String::as_str))
            .collect();
        if values.windows(2).any(|two| two[0] != two[1]) {
            differences.insert(key.as_str(), values);
        }
    }
    differences
}

fn fly(
    contender: &Contender,
    log: &Path,
    command: &CompareArguments,
    arguments: &Arguments,
    terminal: &Terminal,
) -> Result<Summary, Failure> {
    fly::object(&contender.configuration, arguments)?;
    let options = FlightOptions::simulated(log, command.json, arguments);
    fly::fly_simulated(&contender.configuration, &options, terminal)
}

/// `compare-1.mcap` beside `compare.html`.
fn beside(page: &Path, number: usize) -> PathBuf {
    let stem = page.file_stem().unwrap_or_default().to_string_lossy();
    page.with_file_name(format!("{stem}-{number}.mcap"))
}

impl Comparison<'_> {
    /// The table for readers: what was flown, what differs, and the numbers side by side, with the best marked if less
    /// is better.
    fn table(&self) -> String {
        let mut text = String::new();
        for (i, flight) in self.flights.iter().enumerate() {
            let Flown { label, outcome, .. } = flight;
            let _ = writeln!(text, "{}  {label}: {outcome}", i + 1);
        }
        let mut table = Table::default();
        let count = self.flights.len();
        table.row("", (1..=count).map(|i| i.to_string()));
        for (key, values) in self.differences.iter().take(LISTED) {
            table.row(
                key,
                values.iter().map(|value| value.unwrap_or("-").to_owned()),
            );
        }
        if self.differences.len() > LISTED {
            let more = self.differences.len() - LISTED;
            table.lines(&format!("and {more} more keys"), [String::new()]);
        }
        for (key, label, unit) in self.rows() {
            let values: Vec<Option<&Number>> = (self.flights.iter())
                .map(|flight| flight.numbers.iter().find(|number| number.key == key))
                .collect();
            let best = (values.iter().flatten())
                .filter(|number| number.less_is_better == Some(true))
                .map(|number| number.value)
                .fold(f64::INFINITY, f64::min);
            let same = values.iter().flatten().all(|number| number.value == best);
            let cells = values.iter().map(|value| match value {
                None => "-".to_owned(),
                Some(number) => {
                    let mark = if number.value == best && !same {
                        " *"
                    } else {
                        ""
                    };
                    format!("{} {unit}{mark}", significant(number.value, 4))
                }
            });
            table.row(label, cells);
        }
        let _ = writeln!(text, "\n{table}\n* least\n{}", self.report);
        text
    }

    /// Key, label and unit of every number that any flight has, in order.
    fn rows(&self) -> Vec<(&'static str, &str, &'static str)> {
        let mut rows: Vec<(&'static str, &str, &'static str)> = Vec::new();
        for number in self.flights.iter().flat_map(|flight| &flight.numbers) {
            if !rows.iter().any(|(key, ..)| *key == number.key) {
                rows.push((number.key, &number.label, number.unit));
            }
        }
        rows
    }
}
