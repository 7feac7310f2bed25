//! Selected columns of logs as a figure.

use std::path::Path;

use fly_hal::nearest;
use fly_log::Rows;
use fly_plot::{Axis, Curve, Figure, Panel};
use fly_table::{Cell, Column, Kind};

use super::{COLORS, Options, STROKES, density, look, most_columns};
use crate::error::{Count, ReportError};
use crate::labels::names;
use crate::spectrum::{LENGTHS, Welch};

/// A panel with columns of the log's table. `*` in a name matches anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// These columns over time.
    Signals(Vec<String>),
    /// The second column over the first.
    Xy([String; 2]),
    /// The rate of change of a column over the column itself: its phase portrait.
    Phase(String),
    /// Power spectral densities of these columns.
    Spectrum(Vec<String>),
}

impl Request {
    fn patterns(&self) -> &[String] {
        match self {
            Self::Signals(names) | Self::Spectrum(names) => names,
            Self::Xy(names) => names,
            Self::Phase(name) => std::slice::from_ref(name),
        }
    }

    /// A plane shows one column over another: curves of several pairs would be joined.
    fn check(
        &self,
        path: &Path,
        pattern: &str,
        found: &[usize],
        columns: &[Column],
    ) -> Result<(), ReportError> {
        match (self, found) {
            (Self::Xy(_) | Self::Phase(_), [first, second, ..]) => Err(ReportError::Signal {
                path: path.into(),
                name: pattern.to_owned(),
                found: format!(
                    "{} columns, from `{}` and `{}` on; name one",
                    found.len(),
                    columns[*first].name,
                    columns[*second].name
                ),
            }),
            _ => Ok(()),
        }
    }
}

/// A column with all its numbers.
struct Signal {
    name: String,
    unit: String,
    values: Vec<f64>,
    /// Of a sensor, the time stamp of each value, ns: that of the one before where the value is held.
    stamps: Option<Vec<i64>>,
}

/// The requested columns of a log.
struct Table {
    times: Vec<f64>,
    signals: Vec<Signal>,
    /// Times of the log's first and last row, s; none of an empty one.
    span: [f64; 2],
}

/// Draws columns of the logs' tables, one panel for each request. `fly log info LOG --signals` lists the columns.
///
/// With several logs, the colour of a curve distinguishes the column and its stroke the log; with a single column, the
/// colour distinguishes the log. Beyond eight colours, strokes do. Cells without a number and times without rows are gaps; true is 1 and false is 0.
///
/// # Errors
/// [`ReportError::NoSpectrum`] for a panel of spectra without a value, [`ReportError::Signal`] for a name that no log has or whose column is not numeric, [`ReportError::Log`] for a log
/// that cannot be read, [`ReportError::Alike`] for more curves than differ, [`ReportError::Beyond`], [`ReportError::NoValue`] or [`ReportError::Empty`] if there is nothing at these times.
pub fn signals(
    logs: &[&Path],
    requests: &[Request],
    options: &Options,
) -> Result<Figure, ReportError> {
    let tables = logs.iter().map(|log| Table::read(log, requests, options));
    let tables: Vec<Table> = tables.collect::<Result<_, _>>()?;
    options.check(
        logs.iter()
            .copied()
            .zip(tables.iter().map(|table| table.span)),
    )?;
    let has_value = |table: &Table| {
        let mut values = table.signals.iter().flat_map(|signal| &signal.values);
        values.any(|value| value.is_finite())
    };
    options.expect_value(tables.iter().any(has_value), logs.first().copied())?;
    let labels = names(logs.iter().copied());
    let mut panels = Vec::new();
    let mut missing = Vec::new();
    for request in requests {
        let mut panel = draw(request, &tables, &labels)?;
        if let (Request::Spectrum(names), Some(path)) = (request, logs.first()) {
            missing.extend(take_empty(&mut panel));
            if panel.marks.is_empty() {
                return Err(ReportError::NoSpectrum {
                    path: path.into(),
                    name: names.join(","),
                });
            }
        }
        panels.push(panel);
    }
    let (columns, width) = options.size(panels.len());
    let only_planes = (requests.iter()).all(|it| matches!(it, Request::Xy(_) | Request::Phase(_)));
    Ok(Figure {
        title: if logs.len() == 1 {
            labels.concat()
        } else {
            String::new()
        },
        note: without_spectrum(&missing),
        panels,
        columns,
        // A phase plane is as high as wide.
        width: if only_planes && columns == 1 {
            options.width.unwrap_or(520.0)
        } else {
            width
        },
    })
}

impl Table {
    /// Reads the requested columns.
    fn read(path: &Path, requests: &[Request], options: &Options) -> Result<Self, ReportError> {
        let reading = fly_log::Options {
            allow_truncated: options.allow_damaged,
            ..fly_log::Options::default()
        };
        let mut rows = Rows::open(path, &reading)?;
        let columns = rows.columns().to_vec();
        let mut wanted = Vec::new();
        for request in requests {
            for pattern in request.patterns() {
                let found = find(path, &columns, pattern)?;
                request.check(path, pattern, &found, &columns)?;
                for place in found {
                    if !wanted.contains(&place) {
                        wanted.push(place);
                    }
                }
            }
        }
        let of_column = |place: &usize| Signal {
            name: columns[*place].name.clone(),
            unit: columns[*place].unit.to_string(),
            values: Vec::new(),
            stamps: rows.stamp_of(*place).map(|_| Vec::new()),
        };
        let mut table = Self {
            times: Vec::new(),
            signals: wanted.iter().map(of_column).collect(),
            span: [f64::INFINITY, f64::NEG_INFINITY],
        };
        while let Some(row) = rows.read()? {
            let time = row.time as f64 * 1e-9;
            table.span = [table.span[0].min(time), table.span[1].max(time)];
            if !options.shows(time) {
                continue;
            }
            table.times.push(time);
            for (signal, place) in table.signals.iter_mut().zip(&wanted) {
                signal.values.push(number(&row.cells[*place]));
                if let (Some(stamps), Some(stamp)) = (&mut signal.stamps, rows.stamp_of(*place)) {
                    stamps.push(match row.cells[stamp] {
                        Cell::Integer(stamp) => stamp,
                        _ => stamps.last().copied().unwrap_or_default(),
                    });
                }
            }
        }
        table.part();
        Ok(table)
    }

    /// Adds a row without values in every gap, where curves and spectra then end.
    fn part(&mut self) {
        let (after, middles) = gaps(&self.times);
        for signal in &mut self.signals {
            spread(&mut signal.values, &after, &vec![f64::NAN; after.len()]);
            if let Some(stamps) = &mut signal.stamps {
                let held: Vec<i64> = after.iter().map(|after| stamps[after - 1]).collect();
                spread(stamps, &after, &held);
            }
        }
        spread(&mut self.times, &after, &middles);
    }

    /// Times (s) and values of a column's samples, with a NaN in every gap. Of a sensor they are what it measured,
    /// at the times of its stamps, without the rows that hold a value.
    fn samples(&self, signal: &Signal) -> [Vec<f64>; 2] {
        let Some(stamps) = &signal.stamps else {
            return [self.times.clone(), signal.values.clone()];
        };
        let mut last = None;
        let rows = stamps.iter().zip(&signal.values);
        let new = rows.filter(|(stamp, _)| last.replace(**stamp) != Some(**stamp));
        let (mut times, mut values): (Vec<f64>, Vec<f64>) = new
            .map(|(stamp, value)| (*stamp as f64 * 1e-9, *value))
            .unzip();
        let (after, middles) = gaps(&times);
        spread(&mut values, &after, &vec![f64::NAN; after.len()]);
        spread(&mut times, &after, &middles);
        [times, values]
    }

    fn matching<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = &'a Signal> {
        let signals = self.signals.iter();
        signals.filter(move |signal| is_like(&signal.name, pattern))
    }
}

/// Median time between two samples, s.
fn usual_step(times: &[f64]) -> Option<f64> {
    let mut steps: Vec<f64> = (times.windows(2)).map(|two| two[1] - two[0]).collect();
    steps.sort_unstable_by(f64::total_cmp);
    (steps.get(steps.len() / 2).copied()).filter(|step| *step > 0.0)
}

/// The indices after gaps, and the times amid them, s. Where time runs backwards there is a gap too.
fn gaps(times: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let Some(longest) = usual_step(times).map(fly_log::longest_step) else {
        return Default::default();
    };
    let steps = times.windows(2).enumerate();
    let gaps = steps.filter(|(_, step)| !(0.0..=longest).contains(&(step[1] - step[0])));
    gaps.map(|(before, step)| (before + 1, 0.5 * (step[0] + step[1])))
        .unzip()
}

/// Inserts numbers before these indices, which increase.
fn spread<T: Copy>(values: &mut Vec<T>, places: &[usize], inserted: &[T]) {
    let mut all = Vec::with_capacity(values.len() + places.len());
    let mut from = 0;
    for (&place, number) in places.iter().zip(inserted) {
        all.extend_from_slice(&values[from..place]);
        all.push(*number);
        from = place;
    }
    all.extend_from_slice(&values[from..]);
    *values = all;
}

fn number(cell: &Cell) -> f64 {
    match cell {
        Cell::Boolean(value) => f64::from(*value),
        cell => cell.number().unwrap_or(f64::NAN),
    }
}

/// The indices of the columns that match a pattern.
fn find(path: &Path, columns: &[Column], pattern: &str) -> Result<Vec<usize>, ReportError> {
    let refuse = |found: String| ReportError::Signal {
        path: path.into(),
        name: pattern.to_owned(),
        found,
    };
    let mut places = Vec::new();
    for (place, column) in columns.iter().enumerate() {
        if !is_like(&column.name, pattern) {
            continue;
        }
        if column.kind != Kind::Text {
            places.push(place);
        } else if column.name == pattern {
            return Err(refuse("text".to_owned()));
        }
    }
    if places.is_empty() {
        let names = columns.iter().map(|column| column.name.as_str());
        let near = nearest(pattern, names);
        let near = near.map(|name| format!("; is `{name}` meant?"));
        return Err(refuse(format!(
            "nothing of this name{}",
            near.unwrap_or_default()
        )));
    }
    Ok(places)
}

/// Whether a name matches the pattern: `*` matches anything, including nothing.
fn is_like(name: &str, pattern: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return name == pattern;
    };
    let Some(name) = name.strip_prefix(head) else {
        return false;
    };
    (0..=name.len()).any(|i| name.is_char_boundary(i) && is_like(&name[i..], rest))
}

fn draw(request: &Request, tables: &[Table], labels: &[String]) -> Result<Panel, ReportError> {
    let panel = match request {
        Request::Signals(patterns) => {
            let mut panel = Panel::new("t [s]", "");
            panel.x.tight = true;
            curves(&mut panel, patterns, tables, labels, |table, signal| {
                let times = table.times.iter();
                let points = times.zip(&signal.values);
                points.map(|(time, value)| [*time, *value]).collect()
            })?;
            panel
        }
        Request::Spectrum(patterns) => {
            let mut panel = Panel::new("frequency [Hz]", "").titled("Power spectral density");
            panel.x = panel.x.log().tight();
            panel.y = panel.y.log();
            curves(&mut panel, patterns, tables, labels, spectrum)?;
            panel.y.label = density(&panel.y.label);
            panel
        }
        Request::Xy([x, y]) => {
            let both = |table: &Table| {
                let pairs = table.matching(x).zip(table.matching(y));
                let points = pairs.flat_map(|(x, y)| x.values.iter().zip(&y.values));
                points.map(|(x, y)| [*x, *y]).collect::<Vec<_>>()
            };
            let mut panel = plane(tables, labels, both)?;
            let axis = |pattern: &str| {
                let signal = tables
                    .iter()
                    .find_map(|table| table.matching(pattern).next());
                signal.map_or_else(String::new, |signal| with_unit(&signal.name, &signal.unit))
            };
            (panel.x, panel.y) = (Axis::new(axis(x)), Axis::new(axis(y)));
            let unit = |pattern: &str| {
                let signal = tables
                    .iter()
                    .find_map(|table| table.matching(pattern).next());
                signal.map(|signal| signal.unit.clone())
            };
            panel.equal = unit(x) == unit(y);
            panel.height = 360.0;
            panel
        }
        Request::Phase(pattern) => {
            let portrait = |table: &Table| {
                let signals = table.matching(pattern);
                let portraits = signals.flat_map(|signal| {
                    let [times, values] = table.samples(signal);
                    let rates = rates(&times, &values);
                    let points = values.into_iter().zip(rates);
                    let points = points.map(|(value, rate)| [value, rate]);
                    points.chain([[f64::NAN; 2]])
                });
                portraits.collect()
            };
            let mut panel = plane(tables, labels, portrait)?;
            if let Some(signal) = tables
                .iter()
                .find_map(|table| table.matching(pattern).next())
            {
                let Signal { name, unit, .. } = signal;
                let by_second = if unit.is_empty() {
                    "1/s".into()
                } else {
                    format!("{unit}/s")
                };
                panel.x = Axis::new(with_unit(name, unit));
                panel.y = Axis::new(with_unit(&format!("d {name}/dt"), &by_second));
            }
            panel.height = 360.0;
            panel
        }
    };
    Ok(panel)
}

/// Removes the curves without a point, and returns their labels.
fn take_empty(panel: &mut Panel) -> Vec<String> {
    let empty = panel.marks.extract_if(.., |mark| mark.extent().is_empty());
    empty.map(|mark| mark.label().to_owned()).collect()
}

/// A note on columns that have no spectrum.
fn without_spectrum(missing: &[String]) -> String {
    if missing.is_empty() {
        return String::new();
    }
    format!(
        "Without a spectrum, for want of {} values without a gap that are not all equal: {}.",
        LENGTHS[0],
        missing.join(", ")
    )
}

/// Checks that curves of so many columns and logs differ.
fn check_curves(columns: usize, logs: usize) -> Result<(), ReportError> {
    let most = match most_columns(logs) {
        most if columns <= most => return Ok(()),
        0 => format!("{} logs", COLORS * STROKES.len()),
        most => format!("{}; others go into further panels", Count(most, "column")),
    };
    Err(ReportError::Alike {
        columns,
        logs,
        most,
    })
}

fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() {
        name.to_owned()
    } else {
        format!("{name} [{unit}]")
    }
}

/// A curve of each log.
fn plane(
    tables: &[Table],
    labels: &[String],
    points: impl Fn(&Table) -> Vec<[f64; 2]>,
) -> Result<Panel, ReportError> {
    check_curves(1, tables.len())?;
    let mut panel = Panel::default();
    for (number, (table, label)) in tables.iter().zip(labels).enumerate() {
        let (color, stroke) = look([0, 1], [number, tables.len()]);
        let curve = Curve::new(points(table), color).stroke(stroke);
        panel.add(if tables.len() > 1 {
            curve.labelled(label)
        } else {
            curve
        });
    }
    Ok(panel)
}

/// The curves of all columns of all logs.
fn curves(
    panel: &mut Panel,
    patterns: &[String],
    tables: &[Table],
    labels: &[String],
    points: impl Fn(&Table, &Signal) -> Vec<[f64; 2]>,
) -> Result<(), ReportError> {
    let mut names: Vec<&str> = Vec::new();
    let mut units: Vec<&str> = Vec::new();
    for signal in patterns.iter().flat_map(|pattern| {
        let tables = tables.iter();
        tables.flat_map(move |table| table.matching(pattern))
    }) {
        if !names.contains(&signal.name.as_str()) {
            names.push(&signal.name);
        }
        if !units.contains(&signal.unit.as_str()) {
            units.push(&signal.unit);
        }
    }
    check_curves(names.len(), tables.len())?;
    let common = if let [only] = units.as_slice() {
        Some(*only)
    } else {
        None
    };
    panel.y.label = common.unwrap_or_default().into();
    for (number, name) in names.iter().enumerate() {
        for (log, table) in tables.iter().enumerate() {
            let Some(signal) = table.signals.iter().find(|signal| signal.name == *name) else {
                continue;
            };
            let own = match common {
                Some(_) => (*name).to_owned(),
                None => with_unit(name, &signal.unit),
            };
            let label = if tables.len() == 1 {
                own
            } else {
                format!("{}: {own}", labels[log])
            };
            let (color, stroke) = look([number, names.len()], [log, tables.len()]);
            let curve = Curve::new(points(table, signal), color);
            panel.add(curve.labelled(label).stroke(stroke));
        }
    }
    Ok(())
}

/// Rates of change at every sample, from the parabola through it and its neighbours.
fn rates(times: &[f64], values: &[f64]) -> Vec<f64> {
    let slope = |i: usize, j: usize| (values[j] - values[i]) / (times[j] - times[i]);
    let last = values.len().saturating_sub(1);
    (0..values.len())
        .map(|i| match i {
            _ if last == 0 => f64::NAN,
            0 => slope(0, 1),
            i if i == last => slope(i - 1, i),
            i => {
                let (before, after) = (times[i] - times[i - 1], times[i + 1] - times[i]);
                (slope(i - 1, i) * after + slope(i, i + 1) * before) / (before + after)
            }
        })
        .collect()
}

/// Welch's estimate at the samples' median rate.
fn spectrum(table: &Table, signal: &Signal) -> Vec<[f64; 2]> {
    let [times, values] = table.samples(signal);
    let Some(step) = usual_step(&times) else {
        return Vec::new();
    };
    let mut welch = Welch::new(step.recip());
    for value in values {
        welch.add(value);
    }
    let (frequencies, densities) = welch.finish();
    let points = frequencies.into_iter().zip(densities);
    points
        .map(|(f, density)| [f64::from(f), f64::from(density)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (name, pattern, expected) in [
            ("rotor.0.thrust", "rotor.0.thrust", true),
            ("rotor.0.thrust", "rotor.*.thrust", true),
            ("rotor.0.thrust", "*", true),
            ("rotor.0.thrust", "*.tilt", false),
            ("rotor.0.thrust", "rotor.0", false),
            ("aa", "a*a", true),
            ("a", "a*a", false),
            ("größe", "*e", true),
        ] {
            assert_eq!(is_like(name, pattern), expected, "{name} {pattern}");
        }
    }

    /// On uneven times, exact for parabolas except at both ends.
    #[test]
    fn rates_are_those_of_parabolas() {
        let times = [0.0, 0.1, 0.35, 0.4, 0.9];
        let values = times.map(|t: f64| 3.0 - 2.0 * t + 5.0 * t * t);
        let found = rates(&times, &values);
        for i in 1..4 {
            assert!(
                (found[i] - (10.0 * times[i] - 2.0)).abs() < 1e-12,
                "{found:?}"
            );
        }
        assert!(rates(&[1.0], &[2.0])[0].is_nan());
        assert!(rates(&[], &[]).is_empty());
    }
}
