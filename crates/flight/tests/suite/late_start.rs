//! Flights whose control begins long after their backend's clock.

use fly_flight::{Discard, Flight, Summary, Verdict};
use fly_hal::{
    Backend, Clock, Deadline, Description, Error, FrameMut, Info, Instance, ReadOutcome,
};
use fly_plugin_sim::Simulation;

use crate::common::configuration;

/// ns.
const TICK: i64 = 2_000_000;

/// A simulation that stands still, and tells nothing, for some ticks.
struct Late {
    simulation: Simulation,
    waits: i64,
    ticks: i64,
}

impl Backend for Late {
    const INFO: Info = Info {
        name: "late",
        version: "1.0.0",
        summary: "a simulation that begins late",
        clock: Clock::Stepped,
        signals: "",
    };

    fn configure(configuration: &fly_hal::Configuration) -> Result<Self, Error> {
        Ok(Self {
            simulation: Simulation::configure(configuration)?,
            waits: 0,
            ticks: 0,
        })
    }

    fn description(&self) -> &Description {
        self.simulation.description()
    }

    fn read(&mut self, deadline: Deadline, frame: &mut FrameMut) -> Result<ReadOutcome, Error> {
        let shift = self.waits * TICK;
        if self.ticks < self.waits {
            *frame.time = self.ticks * TICK;
            self.ticks += 1;
            for group in frame.groups.iter_mut() {
                group.valid = false;
            }
            return Ok(ReadOutcome::Fresh);
        }
        let outcome = self.simulation.read(deadline, frame)?;
        *frame.time += shift;
        for group in frame.groups.iter_mut() {
            group.stamp += shift;
        }
        Ok(outcome)
    }

    fn write(&mut self, time: i64, commands: &[f64]) -> Result<(), Error> {
        self.simulation.write(time - self.waits * TICK, commands)
    }
}

fn fly(waits: i64, approach: &str) -> Summary {
    let approach = format!("controller.approach={approach}");
    let set = [approach.as_str(), "safety.then=hold", "flight.duration=4"];
    let configuration = configuration("quadcopter.toml", &set);
    let given = fly_hal::Configuration {
        rate_hz: configuration.flight.rate_hz,
        seed: configuration.flight.seed,
        ..fly_hal::Configuration::new(
            configuration.backend.table.text(),
            configuration.vehicle_text.text(),
        )
    };
    let mut late = Late::configure(&given).expect("a simulation");
    late.waits = waits;
    let mut nowhere = Discard;
    let flight = Flight::new(&configuration, Instance::of(late).unwrap(), &mut nowhere);
    flight.unwrap_or_else(|error| panic!("{error}")).run()
}

/// The time before control is none in which a law that integrates has missed its reference: it does not wind up.
#[test]
fn control_begins_now_whenever_it_begins() {
    for approach in ["cascade", "indi", "energy"] {
        let at_once = fly(0, approach);
        assert_eq!(at_once.verdict, Verdict::Flown, "{approach}");
        let late = fly(4000, approach);
        assert_eq!(late.verdict, Verdict::Flown, "{approach}");
        for (late, at_once) in late.errors.iter().zip(&at_once.errors) {
            assert_eq!(late, at_once, "{approach}");
        }
    }
}
