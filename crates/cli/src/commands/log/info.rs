//! `fly log info`: shows the contents of a log.

use std::fmt::Write as _;
use std::path::Path;

use fly_log::{Histogram, Kind, Recording, Rows, RunMetadata, Survey, Timing};
use serde_json::json;

use super::options;
use crate::args::InfoArguments;
use crate::exit::{Exit, Failure};

/// Prints the contents of a log.
///
/// # Errors
/// The log cannot be read.
pub fn run(arguments: &InfoArguments, as_data: bool) -> Result<Exit, Failure> {
    let log = &arguments.log;
    let text = if arguments.signals {
        signals(log, as_data)?
    } else {
        match Kind::of(log)? {
            Kind::Own => own(log, as_data)?,
            Kind::Ulog => ulog(log, as_data)?,
        }
    };
    crate::commands::print(text.as_bytes())?;
    Ok(Exit::Flown)
}

/// The columns of its table.
fn signals(log: &Path, json: bool) -> Result<String, Failure> {
    let rows = Rows::open(log, &options(true))?;
    if json {
        let columns = rows.columns().iter();
        let columns = columns.map(|column| json!({ "name": column.name, "unit": column.unit }));
        return Ok(format!("{:#}\n", json!(columns.collect::<Vec<_>>())));
    }
    let width = rows.columns().iter().map(|column| column.name.len()).max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    for column in rows.columns() {
        let line = format!("{:width$}  {}", column.name, column.unit);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    Ok(text)
}

fn own(log: &Path, json: bool) -> Result<String, Failure> {
    let survey = Survey::of(log, &options(true))?;
    let ticks = survey.topic("/fly/frame");
    let seconds = |ns: u64| ns as f64 * 1e-9;
    let span = ticks.map_or([0.0; 2], |frames| {
        [seconds(frames.first), seconds(frames.last)]
    });
    let count = ticks.map_or(0, |frames| frames.messages);
    let header = &survey.header;
    let mut damaged = survey.damage.lines();
    let origin = header.origin.clone().unwrap_or_default();
    damaged.extend(origin.skipped);
    if json {
        let topics = survey.topics.iter().map(|topic| {
            json!({
                "name": topic.name, "messages": topic.messages, "bytes": topic.bytes,
                "rate_hz": topic.rate(), "first": seconds(topic.first), "last": seconds(topic.last),
            })
        });
        // A converted log has no steps of this program.
        let is_own = header.origin.is_none();
        let step = |ns: u64| is_own.then(|| seconds(ns));
        let run = survey.run.as_ref().map(|run| {
            json!({
                "outcome": run.outcome, "wall_start": run.wall_start, "host": run.host, "versions": run.versions,
                "step_median": step(run.step_median), "step_p99": step(run.step_p99), "step_max": step(run.step_max),
                "real_time_factor": (run.real_time_factor > 0.0).then_some(run.real_time_factor),
                "timing": run.timing.as_ref().map(timing_data),
            })
        });
        let mut all = json!({
            "kind": Kind::Own.name(), "bytes": survey.bytes, "ticks": count, "first": span[0], "last": span[1],
            "name": header.name, "vehicle": header.vehicle_name, "backend": header.backend, "rate_hz": header.rate_hz, "seed": is_own.then_some(header.seed),
            "topics": topics.collect::<Vec<_>>(), "run": run, "damage": damaged,
        });
        if header.origin.is_some() {
            all["notes"] = notes(&origin.notes);
        }
        return Ok(format!("{all:#}\n"));
    }
    let mut text = String::new();
    // The notes of a converted log have longer names.
    let width = if origin.notes.is_empty() { 10 } else { 16 };
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "{label:width$} {value}");
    };
    line("log", format!("{}, {}", log.display(), Kind::Own.name()));
    line("size", size(survey.bytes));
    if !header.name.is_empty() {
        line("name", header.name.clone());
    }
    line("vehicle", header.vehicle_name.clone());
    match header.origin {
        Some(_) => line("original", header.backend.clone()),
        None => line(
            "backend",
            format!("{}, seed {}", header.backend, header.seed),
        ),
    }
    line("flight", flight(span, count, Some(header.rate_hz)));
    for (name, note) in origin.notes {
        line(&name, note);
    }
    match &survey.run {
        Some(run) => run_lines(run, &mut line),
        None => line(
            "outcome",
            "not finished: the flight was killed or is in progress".into(),
        ),
    }
    for damage in &damaged {
        line("damage", damage.clone());
    }
    let width = survey.topics.iter().map(|topic| topic.name.len()).max();
    let width = width.unwrap_or(0).max("topic".len());
    let _ = writeln!(
        text,
        "\n{:width$} {:>9} {:>9} {:>10}",
        "topic", "messages", "Hz", "size"
    );
    for topic in &survey.topics {
        let rate = topic
            .rate()
            .map_or_else(String::new, |rate| format!("{rate:.1}"));
        let bytes = size(topic.bytes);
        let _ = writeln!(
            text,
            "{:width$} {:>9} {rate:>9} {bytes:>10}",
            topic.name, topic.messages
        );
    }
    Ok(text)
}

fn run_lines(run: &RunMetadata, line: &mut impl FnMut(&str, String)) {
    if !run.outcome.is_empty() {
        line("outcome", run.outcome.clone());
    }
    if !run.wall_start.is_empty() {
        line("began", run.wall_start.clone());
    }
    if run.step_max > 0 {
        let us = |ns: u64| ns as f64 * 1e-3;
        let [median, p99, max] = [run.step_median, run.step_p99, run.step_max].map(us);
        line(
            "steps",
            format!("median {median:.1} µs, 99 % {p99:.1} µs, max {max:.1} µs"),
        );
    }
    if let Some(timing) = &run.timing {
        timing_lines(timing, line);
    }
    if run.real_time_factor > 0.0 {
        line(
            "speed",
            format!("{:.1} times real time", run.real_time_factor),
        );
    }
    if !run.host.is_empty() {
        line("host", run.host.clone());
    }
    if !run.versions.is_empty() {
        line("versions", run.versions.clone());
    }
}

/// The fractions for which percentiles are printed, and their names.
const PARTS: [(f64, &str); 3] = [(0.5, "median"), (0.99, "99 %"), (0.999, "99.9 %")];

fn timing_lines(timing: &Timing, line: &mut impl FnMut(&str, String)) {
    let us = |ns: u64| ns as f64 * 1e-3;
    for (name, times) in timing.histograms() {
        let parts = PARTS.map(|(part, label)| {
            let time = times.percentile(part);
            time.map(|time| format!("{label} {:.1} µs", us(time)))
        });
        if times.count() > 0 {
            let parts = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
            let max = us(times.max());
            line(&name.replace('_', "-"), format!("{parts}, max {max:.1} µs"));
        }
    }
    let (missed, cycles) = (timing.deadline_misses, timing.cycles.count());
    line("deadlines", format!("{missed} of {cycles} missed"));
}

/// Histograms in seconds, with all their buckets.
fn timing_data(timing: &Timing) -> serde_json::Value {
    let seconds = |ns: u64| ns as f64 * 1e-9;
    let times = |times: &Histogram| {
        let [median, p99, p999] = PARTS.map(|(part, _)| times.percentile(part).map(seconds));
        let buckets = times
            .buckets()
            .map(|(at, count)| json!([seconds(at), count]));
        json!({
            "count": times.count(), "median": median, "p99": p99, "p999": p999, "max": seconds(times.max()),
            "buckets": buckets.collect::<Vec<_>>(),
        })
    };
    let named = timing
        .histograms()
        .map(|(name, all)| (name.to_owned(), times(all)));
    let mut data = serde_json::Map::from_iter(named);
    data.insert("deadline_misses".to_owned(), timing.deadline_misses.into());
    data.into()
}

fn ulog(log: &Path, json: bool) -> Result<String, Failure> {
    let recording = Recording::stream(log, &options(true))?;
    let bytes = std::fs::metadata(log)?.len();
    let (count, duration) = (recording.frames.len(), recording.duration());
    if json {
        let all = json!({
            "kind": Kind::Ulog.name(), "bytes": bytes, "ticks": count, "first": 0.0, "last": duration,
            "notes": notes(&recording.notes), "damage": recording.skipped,
        });
        return Ok(format!("{all:#}\n"));
    }
    let mut text = String::new();
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:16} {value}");
    };
    line("log", &format!("{}, {}", log.display(), Kind::Ulog.name()));
    line("size", &size(bytes));
    line("flight", &flight([0.0, duration], count as u64, None));
    for (name, note) in &recording.notes {
        line(name, note);
    }
    for damage in &recording.skipped {
        line("damage", damage);
    }
    Ok(text)
}

fn notes(notes: &[(String, String)]) -> serde_json::Value {
    let notes = notes.iter();
    notes
        .map(|(name, text)| json!({ "name": name, "text": text }))
        .collect()
}

fn flight([first, last]: [f64; 2], ticks: u64, rate: Option<f64>) -> String {
    // That of a converted log is computed from its times.
    let rate = rate.map(|rate| (rate * 1e3).round() / 1e3);
    let rate = rate.map_or_else(String::new, |rate| format!(" at {rate} Hz"));
    format!(
        "{:.3} s, from {first:.3} s to {last:.3} s, {ticks} ticks{rate}",
        last - first
    )
}

/// A size for readers.
fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{:.1} kB", bytes as f64 * 1e-3),
        _ => format!("{:.1} MB", bytes as f64 * 1e-6),
    }
}
