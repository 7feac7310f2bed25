//! Logs that are not as they should be.

use std::fs;

use fly_log::LogError;
use fly_plot::Mark;
use fly_report::plot::{Options, Request, signals};
use fly_report::{Flight, ReportError, report};

use crate::common::{Made, write};

#[test]
fn what_is_no_log_is_an_error_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    let missing = Flight::open(&path).unwrap_err();
    assert!(
        matches!(missing, ReportError::Log(LogError::Open { .. })),
        "{missing}"
    );
    fs::write(&path, "my notes").unwrap();
    let foreign = Flight::open(&path).unwrap_err();
    assert!(
        matches!(foreign, ReportError::Log(LogError::UnknownKind { .. })),
        "{foreign}"
    );
    fs::write(&path, "").unwrap();
    assert!(
        Flight::open(&path)
            .unwrap_err()
            .to_string()
            .contains("an empty file")
    );
    assert!(matches!(report(&[]), Err(ReportError::NoLog)));
}

#[test]
fn a_log_without_a_tick_has_nothing_to_report() {
    let folder = tempfile::tempdir().unwrap();
    let made = Made {
        ticks: Vec::new(),
        ..Made::default()
    };
    let log = write(folder.path(), &made);
    let error = Flight::open(&log).unwrap_err();
    assert!(matches!(error, ReportError::Empty { .. }), "{error}");
    let requests = [Request::Signals(vec!["time".to_owned()])];
    let error = signals(&[&log], &requests, &Options::default()).unwrap_err();
    assert!(matches!(error, ReportError::Empty { .. }), "{error}");
}

#[test]
fn a_truncated_log_is_shown_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), &Made::default());
    let bytes = fs::read(&path).unwrap();
    let mut whole = 0;
    for part in [1, 2, 3] {
        fs::write(&path, &bytes[..bytes.len() * part / 4]).unwrap();
        let flight = Flight::open(&path).unwrap();
        assert!(flight.statistics.ticks > whole && flight.statistics.ticks < 2000);
        whole = flight.statistics.ticks;
        assert!(
            flight
                .notes
                .iter()
                .any(|note| note.contains("truncated at byte"))
        );
        assert!(report(&[flight]).unwrap().contains("not finished"));
    }
}

#[test]
fn a_flight_that_was_killed_has_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let made = Made {
        finished: false,
        ..Made::default()
    };
    let flight = Flight::open(write(folder.path(), &made)).unwrap();
    assert_eq!(flight.statistics.ticks, 2000);
    assert!(flight.run.is_none());
    assert!(
        flight.notes[0].contains("was not finished"),
        "{:?}",
        flight.notes
    );
}

#[test]
fn a_missing_second_is_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let made = Made {
        ticks: (0..500).chain(1500..2000).collect(),
        ..Made::default()
    };
    let flight = Flight::open(write(folder.path(), &made)).unwrap();
    let [[from, to]] = flight.gaps[..] else {
        panic!("{:?}", flight.gaps);
    };
    assert!(
        (from - 0.499).abs() < 1e-9 && (to - 1.5).abs() < 1e-9,
        "{from} {to}"
    );
    let column = flight.plots.find("position.z").unwrap();
    let missing: Vec<usize> = (0..column.low.len())
        .filter(|&i| column.low[i].is_nan())
        .collect();
    assert_eq!(missing, (500..1500).collect::<Vec<_>>());
    // Curves of chosen columns part there, too.
    let column = || vec!["state.position.z".to_owned()];
    let requests = [Request::Signals(column()), Request::Spectrum(column())];
    let figure = signals(&[&flight.path], &requests, &Options::default()).unwrap();
    let curve = |panel: usize| match &figure.panels[panel].marks[..] {
        [Mark::Curve(curve)] => &curve.points,
        marks => panic!("{marks:?}"),
    };
    let gaps = curve(0).iter().filter(|[_, z]| z.is_nan());
    assert_eq!(gaps.map(|[time, _]| *time).collect::<Vec<_>>(), [0.9995]);
    assert_eq!(curve(0).len(), 1001);
    // 256 samples of the 500 on one side, without the mean.
    assert_eq!(curve(1).len(), 128);
}
