//! Whatever ends a flight, a vehicle that was commanded lands: a panic of this program, and a flight that is dropped.

use std::sync::{Arc, Mutex};

use fly_flight::{Discard, End, Flight, Message, Sink};
use fly_hal::{
    Backend, Clock, Deadline, Description, Error, FrameMut, GroupStatus, Info, Instance,
    ReadOutcome, Request, monotonic_now,
};
use fly_log::{Header, LogError, Pace, Row, RunMetadata};

use crate::common;

/// What the vehicle was told.
type Journal = Arc<Mutex<Vec<&'static str>>>;

/// A quadcopter in real time that never moves.
struct Statue {
    description: Description,
    journal: Journal,
    began: i64,
}

impl Backend for Statue {
    const INFO: Info = Info {
        name: "statue",
        version: "1.0.0",
        summary: "a quadcopter that never moves",
        clock: Clock::RealTime,
        signals: "pose.position.* pose.quaternion.* twist.linear.* twist.angular.* rotor.{i}.thrust",
    };

    fn configure(_: &fly_hal::Configuration) -> Result<Self, Error> {
        Err(Error::unsupported("made by hand"))
    }

    fn description(&self) -> &Description {
        &self.description
    }

    fn read(&mut self, deadline: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        std::thread::sleep(deadline.remaining());
        *frame.time = monotonic_now() - self.began;
        frame.values.fill(0.0);
        frame.values[3] = 1.0;
        frame.groups.fill(GroupStatus {
            stamp: *frame.time,
            valid: true,
        });
        Ok(ReadOutcome::Fresh)
    }

    fn write(&mut self, _: i64, _: &[f64]) -> Result<(), Error> {
        self.tell("write");
        Ok(())
    }

    fn stop(&mut self) -> Result<(), Error> {
        self.tell("stop");
        Ok(())
    }

    fn arm(&mut self) -> Result<(), Error> {
        self.tell("arm");
        Ok(())
    }

    fn disarm(&mut self) -> Result<(), Error> {
        self.tell("disarm");
        Ok(())
    }

    fn request(&mut self, request: Request) -> Result<(), Error> {
        self.tell(request.name());
        Ok(())
    }
}

impl Statue {
    fn tell(&self, what: &'static str) {
        let mut journal = self.journal.lock().unwrap();
        if journal.last() != Some(&what) {
            journal.push(what);
        }
    }
}

fn statue() -> (Instance, Journal) {
    let journal = Journal::default();
    let groups = [
        "pose.position",
        "pose.quaternion",
        "twist.linear",
        "twist.angular",
    ];
    let rotors = [
        "rotor.0.thrust",
        "rotor.1.thrust",
        "rotor.2.thrust",
        "rotor.3.thrust",
    ];
    let description = (groups.iter())
        .try_fold(Description::new(), |description, group| {
            description.with_group(group)
        })
        .and_then(|description| description.with_signals(rotors.map(str::to_owned)))
        .unwrap();
    let statue = Statue {
        description,
        journal: Arc::clone(&journal),
        began: monotonic_now(),
    };
    (Instance::of(statue).unwrap().armed(), journal)
}

fn hovering() -> fly_flight::Configuration {
    // The curve begins at the vehicle.
    let still = [
        "reference.amplitude=[0, 0, 0]",
        "reference.yaw_rate=0",
        "flight.duration=60",
    ];
    common::configuration("quadcopter.toml", &still)
}

/// Panics at the tenth row.
#[derive(Default)]
struct Bomb(u32);

impl Sink for Bomb {
    fn begin(&mut self, _: &Header, _: Pace) -> Result<(), LogError> {
        Ok(())
    }

    fn row(&mut self, _: &Row) {
        self.0 += 1;
        assert!(self.0 < 10, "the tenth row");
    }

    fn message(&mut self, _: i64, _: Message) {}

    fn finish(&mut self, _: RunMetadata) -> Option<fly_flight::LogSummary> {
        None
    }
}

#[test]
fn a_panic_of_the_host_lands() {
    let ((statue, journal), mut bomb) = (statue(), Bomb::default());
    let flight = Flight::new(&hovering(), statue, &mut bomb).unwrap();
    let summary = flight.run();
    assert_eq!(summary.end, End::Panicked("the tenth row".to_owned()));
    let told = journal.lock().unwrap();
    assert_eq!(*told, ["arm", "write", "land", "stop"]);
}

#[test]
fn a_flight_that_is_dropped_lands() {
    let ((statue, journal), mut nowhere) = (statue(), Discard);
    let mut flight = Flight::new(&hovering(), statue, &mut nowhere).unwrap();
    for _ in 0..10 {
        assert_eq!(flight.tick(), None);
    }
    drop(flight);
    let told = journal.lock().unwrap();
    assert_eq!(*told, ["arm", "write", "land", "stop"]);
}

#[test]
fn a_flight_that_is_over_lands_before_it_ends() {
    let ((statue, journal), mut nowhere) = (statue(), Discard);
    let mut flight = Flight::new(&hovering(), statue, &mut nowhere).unwrap();
    for _ in 0..10 {
        assert_eq!(flight.tick(), None);
    }
    assert_eq!(flight.end(End::Interrupted), None, "not before it lands");
    assert_eq!(flight.tick(), Some(End::Interrupted));
    let summary = flight.finish(End::Interrupted);
    assert_eq!(summary.end, End::Interrupted);
    let told = journal.lock().unwrap();
    assert_eq!(*told, ["arm", "write", "land", "stop"]);
}
