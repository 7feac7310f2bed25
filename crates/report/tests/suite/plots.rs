//! Flights as figures.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

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
