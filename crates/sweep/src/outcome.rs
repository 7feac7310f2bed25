//! The outcome of a flight, which ends its row.

use fly_flight::{End, FlightError, Summary, TrackingError, Verdict};

use fly_table::{Cell, Column, Kind};

/// The exit codes that `fly` would return.
#[derive(Debug, Clone, Copy)]
pub struct ExitCodes {
    /// For a flight.
    pub flown: fn(&Summary) -> u8,
    /// For a flight that could not begin.
    pub not_flown: fn(&FlightError) -> u8,
}

/// The outcome of a flight.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It was flown, with any verdict.
    Flown(Box<Summary>),
    /// It could not begin.
    NotFlown(FlightError),
    /// This program failed before the flight began: a defect.
    Panicked(String),
}

type Column_ = (&'static str, Kind, &'static str);

const FIRST: [Column_; 7] = [
    ("verdict", Kind::Text, ""),
    ("end", Kind::Text, ""),
    ("exit_code", Kind::Integer, ""),
    ("message", Kind::Text, ""),
    ("flight_time", Kind::Float, "s"),
    ("steps", Kind::Integer, ""),
    ("saturated_steps", Kind::Integer, ""),
];
const ERROR: [&str; 7] = [
    "rms",
    "max",
    "initial",
    "settling_time",
    "time_to_tolerance",
    "rms_settled",
    "steady_offset",
];
const LAST: [Column_; 17] = [
    ("energy.start", Kind::Float, "J"),
    ("energy.end", Kind::Float, "J"),
    ("energy.steps_checked", Kind::Integer, ""),
    ("energy.steps_as_expected", Kind::Integer, ""),
    ("energy.fraction_as_expected", Kind::Float, ""),
    ("energy.largest_rise", Kind::Float, "J"),
    ("supervisor.dropouts", Kind::Integer, ""),
    ("supervisor.longest_dropout", Kind::Float, "s"),
    ("supervisor.resumed", Kind::Integer, ""),
    ("supervisor.failsafe_time", Kind::Float, "s"),
    ("supervisor.given_up.time", Kind::Float, "s"),
    ("supervisor.given_up.reason", Kind::Text, ""),
    ("supervisor.limits_exceeded", Kind::Integer, ""),
    ("supervisor.actuators", Kind::Text, ""),
    ("infeasible_steps", Kind::Integer, ""),
    ("notes", Kind::Text, ""),
    ("backend.report", Kind::Text, ""),
];

/// The columns of an outcome, with the names of the summary's data.
pub(crate) fn columns() -> Vec<Column> {
    let column = |&(name, kind, unit): &Column_| Column::new(name, kind, unit);
    let errors = [("position_error", "m"), ("attitude_error", "rad")];
    let errors = errors.iter().flat_map(|(error, unit)| {
        ERROR.iter().map(move |what| {
            let unit = if what.contains("time") { "s" } else { unit };
            Column::new(format!("{error}.{what}"), Kind::Float, unit)
        })
    });
    let first = FIRST.iter().map(column);
    first.chain(errors).chain(LAST.iter().map(column)).collect()
}

/// Its cells, in the order of [`columns`].
pub(crate) fn cells(outcome: &Outcome, codes: ExitCodes) -> Vec<Cell> {
    match outcome {
        Outcome::Flown(summary) => of_flight(Ok(summary), codes),
        Outcome::NotFlown(error) => of_flight(Err(error), codes),
        Outcome::Panicked(message) => {
            let end = End::Panicked(message.clone());
            let summary = Summary {
                verdict: Verdict::InternalError,
                end,
                ..Summary::default()
            };
            let code = (codes.flown)(&summary);
            unflown(text(summary.verdict.name()), code, text(message))
        }
    }
}

/// The cells of a flight, or of one that could not begin.
pub(crate) fn of_flight(flight: Result<&Summary, &FlightError>, codes: ExitCodes) -> Vec<Cell> {
    match flight {
        Ok(summary) => flown(summary, (codes.flown)(summary)),
        Err(error) => {
            let code = (codes.not_flown)(error);
            unflown(text(Verdict::NotFlown.name()), code, text(&one_line(error)))
        }
    }
}

fn text(text: &str) -> Cell {
    match text {
        "" => Cell::Null,
        text => Cell::Text(text.to_owned()),
    }
}

fn unflown(verdict: Cell, code: u8, message: Cell) -> Vec<Cell> {
    let mut cells = vec![verdict, Cell::Null, Cell::Integer(i64::from(code)), message];
    cells.resize(FIRST.len() + 2 * ERROR.len() + LAST.len(), Cell::Null);
    cells
}

/// The first problem in one line.
pub(crate) fn one_line(error: &FlightError) -> String {
    match error {
        FlightError::Configuration(error) | FlightError::Backend(error) => {
            let first = error.diagnostics().first();
            first.map_or_else(String::new, |first| match &*first.label {
                "" => first.title.clone(),
                label => format!("{}: {label}", first.title),
            })
        }
        other => other.to_string(),
    }
}

fn flown(summary: &Summary, code: u8) -> Vec<Cell> {
    let statistics = &summary.statistics;
    let (end, message) = match &summary.end {
        End::Completed => ("completed", None),
        End::OutOfFrames => ("out_of_frames", None),
        End::Interrupted => ("interrupted", None),
        End::SafetyStop => ("safety_stop", None),
        End::TakenOver => ("taken_over", None),
        End::Backend(message) => ("backend", Some(message)),
        End::NotFlown(message) => ("not_flown", Some(message)),
        End::Panicked(message) => ("panicked", Some(message)),
    };
    let mut cells = vec![
        Cell::Text(summary.verdict.name().to_owned()),
        Cell::Text(end.to_owned()),
        Cell::Integer(i64::from(code)),
        message.map_or(Cell::Null, |message| Cell::Text(message.clone())),
        Cell::finite(summary.flight_time),
        Cell::count(statistics.steps),
        Cell::count(statistics.saturated),
    ];
    for (name, error) in summary.error_names.iter().zip(&summary.errors) {
        match name {
            Some(_) if statistics.steps > 0 => cells.extend(tracked(error)),
            _ => cells.extend(std::iter::repeat_n(Cell::Null, ERROR.len())),
        }
    }
    let energy = summary.energy.as_ref();
    let checked = energy.map_or(0, |report| report.checked);
    let fell = energy.map_or(0, |report| report.as_expected);
    let supervisor = &summary.interventions;
    let given_up = supervisor.failsafe.as_ref();
    let actuators = supervisor.actuators.iter();
    let actuators: Vec<String> = actuators
        .map(|(time, event)| format!("{time:.3} s: {event}"))
        .collect();
    let report = summary.backend_report.iter();
    let report: Vec<String> = report
        .map(|(label, text)| format!("{label}: {text}"))
        .collect();
    let joined = |texts: &[String]| match texts {
        [] => Cell::Null,
        texts => Cell::Text(texts.join("; ")),
    };
    cells.extend([
        Cell::finite(statistics.energy_start),
        Cell::finite(statistics.energy_end),
        Cell::count(checked),
        Cell::count(fell),
        Cell::finite((checked > 0).then(|| fell as f64 / checked as f64)),
        Cell::finite((energy.filter(|_| checked > 0)).map(|report| report.rise.energy)),
        Cell::count(supervisor.dropouts),
        Cell::finite(supervisor.longest_dropout),
        Cell::count(supervisor.resumed),
        Cell::finite(supervisor.failsafe_time),
        Cell::finite(given_up.map(|failsafe| failsafe.time)),
        given_up.map_or(Cell::Null, |failsafe| Cell::Text(failsafe.reason.clone())),
        Cell::count(supervisor.exceeded.len() as u64),
        joined(&actuators),
        Cell::count(statistics.infeasible),
        joined(&summary.notes),
        joined(&report),
    ]);
    cells
}

fn tracked(error: &TrackingError) -> [Cell; ERROR.len()] {
    [
        Cell::finite(error.magnitude.rms()),
        Cell::finite(error.magnitude.max()),
        Cell::finite(error.initial),
        Cell::finite(error.settling_time),
        Cell::finite(error.time_to_tolerance),
        Cell::finite(error.rms_settled),
        Cell::finite(error.steady_offset),
    ]
}
