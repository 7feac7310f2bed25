//! Joint encoders that are slower than the loop.

use fly_flight::{Discard, Flight, Summary, Verdict, backend};
use fly_plugin_sim::Simulation;

use crate::common;

fn fly(set: &[&str]) -> Summary {
    let configuration = common::configuration("examples/scara-joints.toml", set);
    let plant = backend::configure::<Simulation>(&configuration, false).expect("a plant");
    let mut sink = Discard;
    let flight = Flight::new(&configuration, plant, &mut sink);
    flight.unwrap_or_else(|error| panic!("{error}")).run()
}

/// The controller runs in every tick, on the state that its model predicts between two samples.
#[test]
fn samples_slower_than_the_loop_are_no_losses() {
    let usual = fly(&[]);
    for rate in ["250", "100", "10"] {
        let encoders = format!("backend.sim.sensors.encoders={{ rate = {rate} }}");
        let summary = fly(&[&encoders]);
        assert_eq!(summary.verdict, Verdict::Flown, "{rate} Hz");
        assert_eq!(summary.interventions.dropouts, 0, "{rate} Hz");
        assert_eq!(summary.step_times.count(), usual.step_times.count());
        // The model is the plant, so its prediction is, too.
        for (error, usual) in summary.errors.iter().zip(&usual.errors) {
            let difference = error.magnitude.rms() - usual.magnitude.rms();
            assert!(difference.abs() < 1e-3, "{rate} Hz: {difference}");
        }
    }
}

/// Late samples count as lost when they do not come by the time that their rate and their delay allow.
#[test]
fn samples_that_do_not_arrive_are_losses() {
    let late = fly(&["backend.sim.sensors.encoders={ rate = 100, delay = 0.013 }"]);
    assert_eq!(
        (late.verdict, late.interventions.dropouts),
        (Verdict::Flown, 0)
    );
    let lost = fly(&["backend.sim.sensors.encoders={ rate = 100, dropout = 0.1 }"]);
    assert_eq!(lost.verdict, Verdict::Flown);
    // Of 500 samples, those after which the next one came.
    let dropouts = lost.interventions.dropouts;
    assert!((20..80).contains(&dropouts), "{dropouts}");
    let longest = lost.interventions.longest_dropout;
    assert!(longest >= 0.01, "{longest} s");
    let gone = fly(&[
        "backend.sim.sensors.encoders={ rate = 100 }",
        "backend.sim.faults=[{ kind = \"missing\", from = 2, until = inf }]",
    ]);
    assert_ne!(gone.verdict, Verdict::Flown);
}
