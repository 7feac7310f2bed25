//! However a flight ends, a commanded vehicle lands: also after a panic of this program, or if the flight is dropped.

use fly_flight::{Discard, End, Flight, Message, Sink};
use fly_log::{Header, LogError, Pace, Row, RunMetadata};

use crate::statue::{hovering, statue};

/// Panics at the row of this number: the vehicle is commanded by then.
const LAST: u32 = 1000;

/// Panics at the last row.
#[derive(Default)]
struct Bomb(u32);

impl Sink for Bomb {
    fn begin(&mut self, _: &Header, _: Pace) -> Result<(), LogError> {
        Ok(())
    }

    fn row(&mut self, _: &Row) {
        self.0 += 1;
        assert!(self.0 < LAST, "the last row");
    }

    fn message(&mut self, _: i64, _: Message) {}

    fn finish(&mut self, _: RunMetadata) -> Option<fly_flight::LogSummary> {
        None
    }
}

#[test]
fn a_panic_of_the_host_lands() {
    let ((statue, journal), mut bomb) = (statue(), Bomb::default());
    let flight = Flight::new(&hovering(&[]), statue, &mut bomb).unwrap();
    let summary = flight.run();
    assert_eq!(summary.end, End::Panicked("the last row".to_owned()));
    let told = journal.lock().unwrap();
    assert_eq!(*told, ["arm", "write", "land", "landed", "stop"]);
}

#[test]
fn a_flight_that_is_dropped_lands() {
    let ((statue, journal), mut nowhere) = (statue(), Discard);
    let mut flight = Flight::new(&hovering(&[]), statue, &mut nowhere).unwrap();
    while !journal.lock().unwrap().contains(&"write") {
        assert_eq!(flight.tick(), None);
    }
    drop(flight);
    let told = journal.lock().unwrap();
    assert_eq!(*told, ["arm", "write", "land", "landed", "stop"]);
}

#[test]
fn a_flight_that_is_over_lands_before_it_ends() {
    let ((statue, journal), mut nowhere) = (statue(), Discard);
    let mut flight = Flight::new(&hovering(&[]), statue, &mut nowhere).unwrap();
    while !journal.lock().unwrap().contains(&"write") {
        assert_eq!(flight.tick(), None);
    }
    assert_eq!(flight.end(End::Interrupted), None, "not before it lands");
    assert_eq!(flight.tick(), Some(End::Interrupted));
    let summary = flight.finish(End::Interrupted);
    assert_eq!(summary.end, End::Interrupted);
    let told = journal.lock().unwrap();
    assert_eq!(*told, ["arm", "write", "land", "landed", "stop"]);
}
