//! One sensor hangs: its stamps go on, and its numbers do not.

use fly_flight::{Discard, Flight, Verdict, backend};
use fly_plugin_sim::Simulation;

use crate::common;

/// It is not flown on: the vehicle descends on what is still measured.
#[test]
fn a_sensor_that_hangs_alone_ends_in_the_failsafe() {
    for group in [
        "pose.position",
        "pose.quaternion",
        "twist.linear",
        "twist.angular",
    ] {
        let fault = format!(
            "backend.sim.faults=[{{ kind = \"freeze\", group = \"{group}\", from = 2.5, until = inf }}]"
        );
        let set = ["flight.duration=20", "safety.ground_height=-2.0", &fault];
        let configuration = common::configuration("quadcopter.toml", &set);
        let plant = backend::configure::<Simulation>(&configuration, false).expect("a plant");
        let mut sink = Discard;
        let summary = Flight::new(&configuration, plant, &mut sink).unwrap().run();
        assert_eq!(summary.verdict, Verdict::SafetyStop, "{group}");
        let given_up = summary.interventions.failsafe.expect("a failsafe");
        let reason = format!("`{group}` repeats itself");
        assert!(given_up.reason.starts_with(&reason), "{}", given_up.reason);
        assert!(
            (2.9..5.0).contains(&given_up.time),
            "{group}: {}",
            given_up.time
        );
    }
}
