//! Replays of flights whose vehicle was armed and took off.

use std::path::Path;

use fly_flight::{End, Flight, LogSummary, McapFile, Memory, Message, Sink, Summary, backend};
use fly_log::{Header, LogError, Options, Pace, Recording, Row, RunMetadata};

use crate::common;
use crate::statue::climber;

/// The vehicle does not follow its reference: a replay that begins elsewhere on it computes other commands.
const USUAL: [&str; 4] = [
    "reference.amplitude=[0.3, 0, 0]",
    "reference.offset=[0, 0, 2]",
    "flight.duration=1",
    "flight.take_off=2.0",
];

fn configuration(set: &[&str]) -> fly_flight::Configuration {
    common::configuration("quadcopter.toml", &[&USUAL[..], set].concat())
}

/// Flies a vehicle that takes off, and records it. Returns how many steps were controlled, without that in which its landing begins.
fn fly(sink: &mut dyn Sink, set: &[&str]) -> u64 {
    // Its climb lasts 14 s, longer than a flight waits for its first frame.
    let (climber, _) = climber(140);
    let configuration = configuration(set);
    let mut flight = Flight::new(&configuration, climber, sink).unwrap();
    let end = std::iter::from_fn(|| Some(flight.tick())).flatten().next();
    let end = end.expect("an end");
    assert_eq!(end, End::Completed);
    flight.finish(end).step_times.count() - 1
}

/// A log that does not tell when control began.
struct Uncontrolled(McapFile);

impl Sink for Uncontrolled {
    fn begin(&mut self, header: &Header, pace: Pace) -> Result<(), LogError> {
        self.0.begin(header, pace)
    }

    fn row(&mut self, row: &Row) {
        self.0.row(&Row {
            control: None,
            ..*row
        });
    }

    fn message(&mut self, time: i64, message: Message) {
        self.0.message(time, message);
    }

    fn finish(&mut self, run: RunMetadata) -> Option<LogSummary> {
        self.0.finish(run)
    }
}

/// Replays a log. Returns the summary and the warnings.
fn replay(log: &Path, set: &[&str]) -> (Summary, Vec<String>) {
    let log = format!("backend.replay.log={}", log.display());
    let configuration = configuration(&[&["backend.plugin=replay", &log], set].concat());
    let replay = backend::load(&configuration, &common::plugins(), false).expect("a replay");
    let mut sink = Memory::default();
    let summary = (Flight::new(&configuration, replay, &mut sink).unwrap()).run();
    let warnings = (sink.messages.into_iter())
        .filter(|(_, level, ..)| *level <= tracing::Level::WARN)
        .map(|(.., text)| text);
    (summary, warnings.collect())
}

/// Control begins where it began in the flight; the way to there only shows where the reference begins.
#[test]
fn a_flight_with_a_take_off_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("flight.mcap");
    for set in [
        &[][..],
        &["flight.relative=true", "reference.offset=[7, -3, 40]"],
    ] {
        let controlled = fly(&mut McapFile::new(&log), set);
        let (summary, warnings) = replay(&log, set);
        let comparison = summary.comparison.expect("recorded commands");
        assert!(comparison.exactly_equal(), "{set:?}: {comparison:?}");
        let compared = comparison.commands().iter().map(|it| it.difference.count());
        assert!(
            controlled > 50 && compared.into_iter().all(|steps| steps == controlled),
            "{set:?}: {comparison:?} of {controlled} steps"
        );
        assert_eq!(warnings, [""; 0], "{set:?}");
    }
}

/// The part begins on the ground, at rest, and its replay is told where its control begins.
#[test]
fn a_part_that_begins_on_the_ground_is_replayed_as_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let [log, part] = ["flight.mcap", "part.mcap"].map(|name| folder.path().join(name));
    let controlled = fly(&mut McapFile::new(&log), &[]);
    let to = std::fs::File::create(&part).unwrap();
    fly_log::copy(&log, &Options::default(), &(5_000_000_000..=u64::MAX), to).unwrap();
    let (summary, warnings) = replay(&part, &[]);
    let comparison = summary.comparison.expect("recorded commands");
    assert!(comparison.exactly_equal(), "{comparison:?}");
    let thrust = &comparison.commands()[0].difference;
    assert_eq!((thrust.count(), warnings), (controlled, Vec::new()));
    let description = Recording::stream(&part, &Options::default())
        .unwrap()
        .description;
    assert!(!description.starts_in_motion);
}

#[test]
fn a_log_that_does_not_tell_when_control_began_is_told_about() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("flight.mcap");
    fly(&mut Uncontrolled(McapFile::new(&log)), &[]);
    let (_, warnings) = replay(&log, &[]);
    let told: Vec<_> = (warnings.iter())
        .filter(|told| told.contains("it does not tell when control began"))
        .collect();
    let [told] = told[..] else {
        panic!("{warnings:#?}")
    };
    assert!(
        told.contains("its vehicle is not commanded until "),
        "{told}"
    );
    // It begins after the climb then.
    let from = told.split("`backend.replay.from = ").nth(1).unwrap();
    let from = from.split('`').next().unwrap();
    let (_, warnings) = replay(&log, &[&format!("backend.replay.from={from}")]);
    assert_eq!(warnings, [""; 0]);
}
