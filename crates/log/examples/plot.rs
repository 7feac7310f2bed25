//! Plots signals of flight logs, one log above the other's curves, as SVG.
//!
//! ```sh
//! cargo run -p fly-log --example plot -- OUT.svg SIGNAL,SIGNAL LABEL=LOG LABEL=LOG
//! ```
//!
//! Every signal gets a panel, every log a colour. `motor.*.effort` is the largest absolute value of all signals that begin and end like this.
//! Without logs' labels there would be no legend, hence they are required; without signals, `OUT.svg - LABEL=LOG` lists those of the logs.

use std::error::Error;
use std::fmt::Write as _;

use fly_log::{Options, Recording};

const COLOURS: [&str; 6] = [
    "#1b6ca8", "#c8553d", "#4c9f70", "#8e5ea2", "#d9a21b", "#555555",
];
const WIDTH: f64 = 640.0;
/// Of one panel, with its margins.
const HEIGHT: f64 = 220.0;
/// Left, right, top, bottom.
const MARGINS: [f64; 4] = [64.0, 16.0, 28.0, 34.0];
/// More points than this in a curve are not to be seen.
const POINTS: usize = 500;

/// A log with its name in the legend.
struct Log {
    label: String,
    recording: Recording,
}

/// The values of one signal over time (s).
type Curve = Vec<[f64; 2]>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [out, signals, logs @ ..] = arguments.as_slice() else {
        return Err("expected OUT.svg SIGNAL,SIGNAL LABEL=LOG ...".into());
    };
    let logs = logs
        .iter()
        .map(|argument| {
            let (label, path) = argument
                .split_once('=')
                .ok_or_else(|| format!("expected LABEL=LOG, found `{argument}`"))?;
            Ok(Log {
                label: label.to_owned(),
                recording: Recording::open(path, &Options::default())?,
            })
        })
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    if logs.is_empty() {
        return Err("expected LABEL=LOG after the signals, found none".into());
    }
    if signals == "-" {
        for log in &logs {
            for signal in &log.recording.description.signals {
                println!("{}: {} ({})", log.label, signal.name, signal.unit);
            }
        }
        return Ok(());
    }
    let panels = signals
        .split(',')
        .map(|signal| {
            let curves: Result<Vec<_>, _> = logs.iter().map(|log| curve(log, signal)).collect();
            Ok((signal, curves?))
        })
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    std::fs::write(out, svg(&logs, &panels))?;
    Ok(())
}

/// The signal, or the largest of those that its `*` stands for.
fn curve(log: &Log, signal: &str) -> Result<Curve, Box<dyn Error>> {
    let (head, tail) = signal.split_once('*').unwrap_or((signal, ""));
    let several = signal.contains('*');
    let chosen: Vec<usize> = (0..log.recording.description.signals.len())
        .filter(|i| {
            let name = &log.recording.description.signals[*i].name;
            if several {
                name.starts_with(head) && name.ends_with(tail)
            } else {
                name == signal
            }
        })
        .collect();
    if chosen.is_empty() {
        let label = &log.label;
        return Err(format!(
            "`{label}` has no signal `{signal}`; `-` instead of signals lists them"
        )
        .into());
    }
    let frames = &log.recording.frames;
    let start = frames.times().first().copied().unwrap_or(0);
    let every = frames.len().div_ceil(POINTS).max(1);
    // Of the frames that one point stands for, the one with the largest value: no peak is lost.
    let all: Curve = frames
        .iter()
        .map(|frame| {
            let values = chosen.iter().map(|i| frame.values[*i]);
            let value = if several {
                values.fold(0.0, |most: f64, v| most.max(v.abs()))
            } else {
                values.sum()
            };
            [(frame.time - start) as f64 * 1e-9, value]
        })
        .filter(|point| point[1].is_finite())
        .collect();
    Ok(all
        .chunks(every)
        .filter_map(|chunk| {
            let peak = |a: &&[f64; 2], b: &&[f64; 2]| a[1].abs().total_cmp(&b[1].abs());
            chunk.iter().max_by(peak).copied()
        })
        .collect())
}

fn svg(logs: &[Log], panels: &[(&str, Vec<Curve>)]) -> String {
    let height = HEIGHT * panels.len() as f64 + 24.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (i, (signal, curves)) in panels.iter().enumerate() {
        panel(&mut text, HEIGHT * i as f64, &title(logs, signal), curves);
    }
    let mut x = MARGINS[0];
    for (log, colour) in logs.iter().zip(COLOURS.iter().cycle()) {
        let y = height - 10.0;
        let _ = writeln!(
            text,
            "<text x=\"{x:.0}\" y=\"{y}\" fill=\"{colour}\">&#9472; {}</text>",
            escaped(&log.label)
        );
        x += 26.0 + 6.6 * log.label.chars().count() as f64;
    }
    text.push_str("</svg>\n");
    text
}

/// The signal with its unit.
fn title(logs: &[Log], signal: &str) -> String {
    let head = signal.split('*').next().unwrap_or(signal);
    let unit = logs
        .iter()
        .flat_map(|log| &log.recording.description.signals)
        .find(|candidate| candidate.name.starts_with(head))
        .map_or("", |candidate| &candidate.unit);
    escaped(&format!("{signal} ({unit})"))
}

/// One pair of axes with its curves, from this height on.
fn panel(text: &mut String, from: f64, title: &str, curves: &[Curve]) {
    let range = |axis: usize| {
        let values = curves.iter().flatten().map(|point| point[axis]);
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| {
            [low.min(v), high.max(v)]
        })
    };
    let ([left, right], [low, high]) = (range(0), range(1));
    let [low, high] = [low.min(0.0), high.max(low.min(0.0) + 1e-9)];
    let [west, east] = [MARGINS[0], WIDTH - MARGINS[1]];
    let [north, south] = [from + MARGINS[2], from + HEIGHT - MARGINS[3]];
    let across = |t: f64| west + (t - left) / (right - left).max(1e-300) * (east - west);
    let down = |v: f64| south - (v - low) / (high - low) * (south - north);
    let _ = writeln!(
        text,
        "<text x=\"{west}\" y=\"{:.0}\" font-weight=\"bold\">{title}</text>",
        north - 8.0
    );
    for v in ticks(low, high) {
        let (y, label) = (down(v), round(v));
        let _ = writeln!(
            text,
            "<path d=\"M{west} {y:.1}H{east}\" stroke=\"#ddd\"/><text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            west - 6.0,
            y + 4.0
        );
    }
    for t in ticks(left, right) {
        let (x, label) = (across(t), round(t));
        let _ = writeln!(
            text,
            "<path d=\"M{x:.1} {north}V{south}\" stroke=\"#ddd\"/><text x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{label} s</text>",
            south + 16.0
        );
    }
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        let _ = write!(
            text,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" points=\""
        );
        for [t, v] in curve {
            let _ = write!(text, "{:.1},{:.1} ", across(*t), down(*v));
        }
        text.push_str("\"/>\n");
    }
}

/// About five round numbers of the range.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low).max(1e-12) / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let nice = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = nice.into_iter().find(|s| *s >= rough).unwrap_or(nice[3]);
    let first = (low / step).ceil();
    // The steps are so large that there are at most six.
    (0..=6)
        .map(|i| (first + f64::from(i)) * step)
        .take_while(|v| *v <= high)
        .collect()
}

/// Without the digits that binary fractions leave behind.
fn round(v: f64) -> f64 {
    (v * 1e9).round() / 1e9
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
