//! The panels of a report as a figure.

use fly_plot::{Axis, Color, Curve, Figure, Mark, Panel, Stroke};

use super::{MOST, Options, STROKES, density};
use crate::flight::{Flight, Number};
use crate::labels::names;
use crate::panels::{self, Line};
use crate::report::Verdict;

/// The statistics below the title, if they exist.
const NUMBERS: [&str; 5] = [
    "distance_rms",
    "distance_max",
    "angle_rms",
    "angle_max",
    "saturated",
];

/// The panels of a [report](crate::report()) as a figure: a flight on one page.
///
/// With several flights, at most four, the colour of a curve distinguishes the component and its stroke the flight;
/// references are those of the first one, with a stroke that no flight has.
pub fn page(flights: &[Flight], options: &Options) -> Figure {
    let labels = names(flights.iter().map(|flight| flight.path.as_path()));
    let mut merged: Vec<(String, Panel)> = Vec::new();
    for (number, flight) in flights.iter().take(MOST).enumerate() {
        let several = (flights.len() > 1).then(|| (number, labels[number].as_str()));
        for (panel, over_time) in (panels::panels(flight)
            .into_iter()
            .map(|panel| (panel, true)))
        .chain(
            panels::spectra(flight)
                .into_iter()
                .map(|panel| (panel, false)),
        ) {
            let place = merged.iter().position(|(key, _)| *key == panel.key);
            let place = place.unwrap_or_else(|| {
                merged.push((panel.key.clone(), empty(&panel, over_time)));
                merged.len() - 1
            });
            let into = &mut merged[place].1;
            for line in panel.lines.iter().filter(|line| !line.hidden) {
                if several.is_some() && line.stroke != panels::Stroke::Solid && number > 0 {
                    continue;
                }
                let points = if over_time {
                    over_times(flight, line, options)
                } else {
                    over_frequencies(flight, line)
                };
                into.add(curve(line, points, panel.log, several));
            }
            if over_time && flights.len() == 1 {
                let gaps = flight.gaps.iter();
                let gaps = gaps.filter(|gap| options.shows_part_of(**gap));
                into.marks.extend(gaps.map(|gap| Mark::Gap(*gap)));
            }
        }
    }
    let panels: Vec<Panel> = merged.into_iter().map(|(_, panel)| panel).collect();
    let (columns, width) = options.size(panels.len());
    Figure {
        title: title(flights, &labels),
        note: note(flights, &labels, options),
        panels,
        columns,
        width,
    }
}

fn empty(panel: &panels::Panel, over_time: bool) -> Panel {
    let unit = if over_time {
        panel.unit.to_owned()
    } else {
        density(panel.unit)
    };
    let x = if over_time { "t [s]" } else { "frequency [Hz]" };
    let x = Axis::new(x).tight();
    let y = Axis::new(unit);
    Panel {
        title: panel.title.clone(),
        x: if over_time { x } else { x.log() },
        y: if panel.log { y.log() } else { y },
        limits: panel.limits,
        ..Panel::default()
    }
}

fn curve(line: &Line, points: Vec<[f64; 2]>, log: bool, several: Option<(usize, &str)>) -> Curve {
    let own = match line.stroke {
        panels::Stroke::Solid => Stroke::Solid,
        panels::Stroke::Dashed => Stroke::Dashed,
        panels::Stroke::Dotted => Stroke::Dotted,
    };
    let (label, stroke) = match several {
        Some((number, flight)) => {
            let stroke = if own == Stroke::Solid {
                STROKES[number]
            } else {
                own
            };
            (format!("{flight}: {}", line.label), stroke)
        }
        None => (line.label.clone(), own),
    };
    let curve = Curve::new(points, Color::Series(line.color))
        .labelled(label)
        .stroke(stroke);
    // The predicted bound falls far below the values that the flight reaches.
    if log && own != Stroke::Solid {
        curve.aside()
    } else {
        curve
    }
}

/// A column over time; for a cell with several numbers, the lowest and the highest, that nearer to what precedes them first.
fn over_times(flight: &Flight, line: &Line, options: &Options) -> Vec<[f64; 2]> {
    let Some(column) = flight.plots.find(&line.column) else {
        return Vec::new();
    };
    let mut points: Vec<[f64; 2]> = Vec::new();
    for (i, (low, high)) in column.low.iter().zip(&column.high).enumerate() {
        let time = |part: f64| flight.plots.time(i, part);
        // A flight that is a part of another begins late: no gap precedes it.
        if !options.shows(time(0.5)) || (points.is_empty() && low.is_nan()) {
            continue;
        }
        let [low, high] = [*low, *high].map(|value| f64::from(value) * line.scale);
        if low == high || low.is_nan() {
            points.push([time(0.5), low]);
            continue;
        }
        let falls = points
            .last()
            .is_some_and(|[_, last]| (last - high).abs() < (last - low).abs());
        let [first, second] = if falls { [high, low] } else { [low, high] };
        points.extend([[time(0.25), first], [time(0.75), second]]);
    }
    points
}

fn over_frequencies(flight: &Flight, line: &Line) -> Vec<[f64; 2]> {
    let spectra = flight.spectra.iter();
    let own = spectra.filter(|spectrum| spectrum.name == line.column);
    let points = own.flat_map(|own| own.frequencies.iter().zip(&own.densities));
    points
        .map(|(frequency, density)| [f64::from(*frequency), f64::from(*density) * line.scale])
        .collect()
}

fn title(flights: &[Flight], labels: &[String]) -> String {
    match flights {
        [only] => format!("{}: {}", only.name, Verdict::of(only).text),
        _ => labels.join(", "),
    }
}

fn note(flights: &[Flight], labels: &[String], options: &Options) -> String {
    let mut sentences = Vec::new();
    if let [only] = flights {
        let all = only.numbers();
        let shown = NUMBERS.iter().filter_map(|key| {
            let Number {
                label, value, unit, ..
            } = all.iter().find(|number| number.key == *key)?;
            Some(format!("{label} {} {unit}", significant(*value)))
        });
        let numbers = shown.collect::<Vec<_>>().join("; ");
        let of = if options.cuts(only.span) && !numbers.is_empty() {
            "Of the whole flight: "
        } else {
            ""
        };
        sentences.push(format!("{of}{numbers}"));
        // Notes on the log are shown beside them.
        sentences.extend(only.notes.iter().cloned());
    } else {
        if flights.len() > MOST {
            sentences.push(format!("The first {MOST} of {} logs", flights.len()));
        }
        for (flight, label) in flights.iter().zip(labels).take(MOST) {
            sentences.extend(flight.notes.iter().map(|note| format!("{label}: {note}")));
        }
    }
    let full = sentences.iter().filter(|sentence| !sentence.is_empty());
    let full = full.map(|sentence| format!("{}.", sentence.trim_end_matches('.')));
    full.collect::<Vec<_>>().join(" ")
}

/// A number with four digits.
fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "exponents of f64 are small, and bounded at 0"
    )]
    let digits = (3.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.digits$}")
}
