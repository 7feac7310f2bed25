//! Flights as figures.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use fly_hal::{Class, Description, GroupStatus, Signal};
use fly_log::{FlightHeader, Header, Pace, Row, RunMetadata, Status, Writer};
use fly_plot::{Color, Curve, Figure, Mark, Panel, Stroke};
use fly_report::plot::{Options, Request, page, signals};
use fly_report::{Flight, ReportError};

use crate::common::{Made, write};

fn curves(panel: &Panel) -> Vec<&Curve> {
    let marks = panel.marks.iter();
    let curves = marks.filter_map(|mark| match mark {
        Mark::Curve(curve) => Some(curve),
        _ => None,
    });
    curves.collect()
}

/// Asserts that no two curves of a panel look the same, and returns their number.
fn distinct(panel: &Panel) -> usize {
    let looks = |curve: &&Curve| match curve.color {
        Color::Series(number) => (number % 8, curve.stroke),
        other => panic!("{other:?}"),
    };
    let curves = curves(panel);
    let different: HashSet<(usize, Stroke)> = curves.iter().map(looks).collect();
    let labels: HashSet<&str> = curves.iter().map(|curve| curve.label.as_str()).collect();
    assert_eq!(different.len(), curves.len(), "{labels:?}");
    assert_eq!(labels.len(), curves.len(), "{labels:?}");
    curves.len()
}

/// Copies of a flight, under names of their own.
fn copies(folder: &Path, count: usize) -> Vec<PathBuf> {
    let log = write(folder, &Made::default());
    let copy = |i| {
        let path = folder.join(format!("log{i}.mcap"));
        std::fs::copy(&log, &path).unwrap();
        path
    };
    (0..count).map(copy).collect()
}

/// References included.
#[test]
fn flights_on_one_page_look_different() {
    let folder = tempfile::tempdir().unwrap();
    let logs = copies(folder.path(), 4);
    let flights: Vec<Flight> = logs.iter().map(|log| Flight::open(log).unwrap()).collect();
    let figure = page(&flights, &Options::default());
    let counts: Vec<usize> = figure.panels.iter().map(distinct).collect();
    // Three components of four flights, and those of the first reference.
    assert!(counts.contains(&15), "{counts:?}");
}

fn chosen(logs: &[PathBuf], columns: &[&str]) -> Result<Figure, ReportError> {
    let logs: Vec<&Path> = logs.iter().map(PathBuf::as_path).collect();
    let names = columns.iter().map(|name| (*name).to_owned()).collect();
    signals(&logs, &[Request::Signals(names)], &Options::default())
}

#[test]
fn chosen_columns_look_different_or_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let logs = copies(folder.path(), 33);
    for (count, columns, expected) in [
        (1, &["state.*"][..], 13),
        (1, &["state.*", "reference.*"], 32),
        (2, &["state.*"], 26),
        (4, &["state.position.*", "state.attitude.*"], 28),
        (32, &["state.position.z"], 32),
    ] {
        let figure = chosen(&logs[..count], columns).unwrap();
        assert_eq!(distinct(&figure.panels[0]), expected);
    }
    for (count, columns, expected) in [
        (
            1,
            &["*"][..],
            "of 1 log apart in one panel: expected at most 32 columns",
        ),
        (
            3,
            &["state.*"],
            "13 columns of 3 logs apart in one panel: expected at most 8 columns",
        ),
        (
            5,
            &["state.position.*"],
            "3 columns of 5 logs apart in one panel: expected at most 1 column;",
        ),
        (
            33,
            &["state.position.z"],
            "1 column of 33 logs apart in one panel: expected at most 32 logs",
        ),
    ] {
        let error = chosen(&logs[..count], columns).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// A tone of 5 Hz, measured 50 times a second, in a log with 1000 ticks a second.
fn slow_sensor(folder: &Path) -> PathBuf {
    let path = folder.join("slow.mcap");
    let header = Header {
        flight: FlightHeader {
            rate_hz: 1000.0,
            ..FlightHeader::default()
        },
        description: Description {
            signals: vec![Signal {
                name: "range.distance".into(),
                unit: "m".into(),
                class: Class::Auxiliary,
                group: Some(0),
            }],
            groups: vec!["range".into()],
            ..Description::default()
        },
        modes: vec!["flying".into()],
        solvers: vec!["none".into()],
        ..Header::default()
    };
    let mut writer = Writer::create(&path, &header, Pace::Stepped).unwrap();
    for tick in 0..8000_i64 {
        let stamp = tick - tick % 20;
        writer.push(&Row {
            time: tick * 1_000_000,
            status: Status::Fresh,
            mode: 0,
            values: &[tone(stamp as f64 * 1e-3)],
            groups: &[GroupStatus {
                stamp: stamp * 1_000_000,
                valid: true,
            }],
            state: None,
            system: None,
            control: None,
            estimate: None,
            commands: None,
        });
    }
    writer.finish(RunMetadata::default()).unwrap();
    path
}

fn tone(time: f64) -> f64 {
    0.1 * (10.0 * std::f64::consts::PI * time).sin()
}

/// What is held between two samples of a sensor is no sample: no rate of 0, no frequency above half of its rate.
#[test]
fn held_values_are_no_samples() {
    let folder = tempfile::tempdir().unwrap();
    let log = slow_sensor(folder.path());
    let drawn = |request| {
        let figure = signals(&[&log], &[request], &Options::default()).unwrap();
        curves(&figure.panels[0])[0].points.clone()
    };
    let spectrum = drawn(Request::Spectrum(vec!["range.distance".into()]));
    let last = spectrum.last().unwrap()[0];
    assert!((last - 25.0).abs() < 1e-3, "{last}");
    let phase = drawn(Request::Phase("range.distance".into()));
    let known: Vec<_> = (phase.iter().filter(|point| point[0].is_finite())).collect();
    assert_eq!(known.len(), 400);
    // On the ellipse, as far as a parabola through three of ten samples tells.
    for [value, rate] in &known[1..399] {
        let radius = (value / 0.1).hypot(rate / (0.1 * 10.0 * std::f64::consts::PI));
        assert!((radius - 1.0).abs() < 0.07, "{value} {rate}: {radius}");
    }
}

/// Too few samples, or none that differ.
#[test]
fn spectra_without_a_value_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), &Made::default());
    let spectrum = |name: &str, to: f64| {
        let options = Options {
            times: [f64::NEG_INFINITY, to],
            ..Options::default()
        };
        let request = Request::Spectrum(vec![name.to_owned()]);
        signals(&[&log], &[request], &options)
    };
    assert!(spectrum("state.position.z", 0.1).is_ok());
    for (name, to) in [
        ("state.position.z", 0.05),
        ("state.position.x", f64::INFINITY),
    ] {
        let error = spectrum(name, to).unwrap_err().to_string();
        assert!(error.contains("expected at least 64 values"), "{error}");
    }
    // Beside others it is left out, and that is said.
    let figure = spectrum("state.position.*", f64::INFINITY).unwrap();
    assert_eq!(curves(&figure.panels[0]).len(), 1);
    assert!(figure.note.contains("state.position.x"), "{}", figure.note);
}
