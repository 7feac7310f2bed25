//! Joints that leave the limits which their description gives them.

use fly_flight::{Flight, Memory, Summary, backend};
use fly_plugin_sim::Simulation;

use crate::common;

/// Returns the summary and the warnings.
fn fly(limits: &str) -> (Summary, Vec<String>) {
    // The elbow begins at -1.3 rad, bent the other way, and its reference at pi/2.
    let limits = format!("vehicle.bodies.forearm.joint.limits={limits}");
    let configuration = common::configuration("examples/scara-joints.toml", &[&limits]);
    let plant = backend::configure::<Simulation>(&configuration, false).expect("a plant");
    let mut sink = Memory::default();
    let flight = Flight::new(&configuration, plant, &mut sink);
    let summary = flight.unwrap_or_else(|error| panic!("{error}")).run();
    let warnings = (sink.messages.into_iter())
        .filter(|(_, level, ..)| *level <= tracing::Level::WARN)
        .map(|(.., text)| text);
    (summary, warnings.collect())
}

#[test]
fn a_joint_beyond_its_limits_is_told_once() {
    let (usual, warnings) = fly("{ position = [-2, 2], velocity = 20 }");
    assert_eq!(usual.interventions.exceeded.len(), 0);
    assert_eq!(warnings, [""; 0]);
    for (limits, words) in [
        (
            "{ position = [-1, 2] }",
            "joint `forearm` (`joint.1`) is 0.300 rad outside its limits",
        ),
        (
            "{ velocity = 1.5 }",
            " rad/s, faster than its limit of 1.500 rad/s",
        ),
    ] {
        let (summary, warnings) = fly(limits);
        let [(_, exceeded)] = &summary.interventions.exceeded[..] else {
            panic!("{limits}: {:?}", summary.interventions.exceeded)
        };
        assert!(exceeded.to_string().contains(words), "{exceeded}");
        let [told] = &warnings[..] else {
            panic!("{limits}: {warnings:#?}")
        };
        assert!(told.contains(words), "{told}");
        // Nothing follows.
        assert_eq!(summary.verdict, usual.verdict);
        assert_eq!(
            summary.errors[0].magnitude.rms(),
            usual.errors[0].magnitude.rms()
        );
    }
}
