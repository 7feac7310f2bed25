//! A campaign on the terminal and as data: progress and results. `docs/sweep.md` documents the keys of the data, which
//! are stable.

use std::fmt;
use std::io::IsTerminal as _;

use fly_sweep::{Cell, Results, Speed};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Table, Terminal, significant};

/// Version of this layout, incremented when a key is removed or its meaning changes.
const FORMAT: u32 = 1;

/// Progress of a campaign: finished flights, and the remaining time. Nothing is shown if standard error is not a
/// terminal.
pub struct Flights {
    bar: Option<ProgressBar>,
    terminal: Terminal,
}

impl Flights {
    /// A bar for this many flights, some of which are finished already.
    pub fn start(done: u64, all: u64, terminal: &Terminal) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(all), ProgressDrawTarget::stderr());
            let template = "  {bar:32} {pos} / {len} flights, {per_sec}, {eta} left";
            let bar = match ProgressStyle::with_template(template) {
                Ok(style) => bar.with_style(style.progress_chars("=> ")),
                Err(_) => bar,
            };
            // Flights finished earlier do not count towards the estimate of the remaining time.
            bar.set_position(done);
            bar.reset_eta();
            bar
        });
        terminal.set_bar(bar.clone());
        Self {
            bar,
            terminal: terminal.clone(),
        }
    }

    /// Sets the number of finished flights.
    pub fn update(&self, done: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
        }
    }
}

impl Drop for Flights {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.terminal.set_bar(None);
    }
}

/// Results and their origin.
pub struct CampaignReport<'a> {
    /// The plan's name.
    pub name: &'a str,
    /// The results.
    pub results: &'a Results,
    /// The files written.
    pub files: &'a [String],
    /// Speed of this run's flights; `None` if none was flown.
    pub speed: Option<Speed>,
}

impl fmt::Display for CampaignReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { results, .. } = self;
        let verdicts = results.verdicts.iter();
        let verdicts: Vec<String> = verdicts
            .map(|(verdict, count)| format!("{count} {verdict}"))
            .collect();
        writeln!(f, "{}: {}", self.name, verdicts.join(", "))?;
        let mut table = Table::default();
        for one in &results.percentiles {
            let [p50, p90, p99, max] = [one.p50, one.p90, one.p99, one.max].map(short);
            let of_some = if one.count < results.flights {
                format!("  of the {} flights with a value", one.count)
            } else {
                String::new()
            };
            let line = format!(
                "50 % {p50}  90 % {p90}  99 % {p99}  max {max} {}{of_some}",
                one.unit
            );
            table.lines(&one.name, [line]);
        }
        let worst = results.worst.iter().map(|one| {
            let error = one.error.map_or(String::new(), |error| {
                format!(", error up to {} {}", short(error), one.unit)
            });
            let seed = one
                .parameters
                .iter()
                .find(|(name, _)| name == "flight.seed");
            let seed = seed.map_or(String::new(), |(_, seed)| format!(", seed {seed}"));
            format!("--rerun {}: {}{error}{seed}", one.index, one.verdict)
        });
        table.lines("worst", worst.collect::<Vec<_>>());
        if let Some(speed) = &self.speed {
            table.lines("speed", [describe(speed)]);
        }
        table.lines("files", [self.files.join(", ")]);
        write!(f, "{table}")
    }
}

fn short(value: f64) -> String {
    significant(value, 3)
}

/// Flights per second, and the cores used.
pub fn describe(speed: &Speed) -> String {
    let per = |what: f64| short(what / speed.wall_time.max(1e-9));
    format!(
        "{} flights in {} s: {} flights/s, {} times real time, {} cores",
        speed.flights,
        short(speed.wall_time),
        per(speed.flights as f64),
        per(speed.flight_time),
        per(speed.cpu_time),
    )
}

#[derive(Serialize)]
struct Data<'a> {
    format: u32,
    name: &'a str,
    flights: u64,
    verdicts: &'a std::collections::BTreeMap<String, u64>,
    percentiles: Map<String, Value>,
    worst: Vec<Value>,
    files: &'a [String],
    speed: Option<Value>,
}

impl CampaignReport<'_> {
    /// As JSON.
    ///
    /// # Errors
    /// None that would come about.
    pub fn json(&self) -> serde_json::Result<String> {
        let percentiles = self.results.percentiles.iter().map(|one| {
            let numbers = serde_json::json!({
                "unit": one.unit, "count": one.count,
                "p50": one.p50, "p90": one.p90, "p99": one.p99, "max": one.max,
            });
            (one.name.clone(), numbers)
        });
        let worst = self.results.worst.iter().map(|one| {
            let parameters = one.parameters.iter();
            let parameters: Map<String, Value> = parameters
                .map(|(name, cell)| (name.clone(), value(cell)))
                .collect();
            serde_json::json!({
                "index": one.index, "verdict": one.verdict, "error": one.error, "unit": one.unit, "parameters": parameters,
            })
        });
        let speed = self.speed.map(|speed| {
            serde_json::json!({
                "flights": speed.flights, "wall_time": speed.wall_time,
                "flight_time": speed.flight_time, "cpu_time": speed.cpu_time,
            })
        });
        serde_json::to_string_pretty(&Data {
            format: FORMAT,
            name: self.name,
            flights: self.results.flights,
            verdicts: &self.results.verdicts,
            percentiles: percentiles.collect(),
            worst: worst.collect(),
            files: self.files,
            speed,
        })
    }
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Float(number) => Value::from(*number),
        Cell::Integer(number) => Value::from(*number),
        Cell::Boolean(value) => Value::from(*value),
        Cell::Text(text) => Value::from(text.as_str()),
    }
}
