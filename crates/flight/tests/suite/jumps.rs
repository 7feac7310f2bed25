//! The measured position jumps, and the vehicle does not.

use fly_flight::{Discard, Flight, Memory, Summary, Verdict, backend};
use fly_plugin_sim::Simulation;

use crate::common;

/// From 2 m above the ground 10 m away, and back to rest there.
const WAY: &str = "reference={ kind = \"waypoints\", max_speed = 2, max_acceleration = 2, \
    points = [{ position = [0, 0, 2] }, { position = [10, 0, 2], hold = 3 }] }";

/// Flies this configuration with changes.
fn fly(name: &str, set: &[&str]) -> Summary {
    let configuration = common::configuration(name, set);
    let plant = backend::configure::<Simulation>(&configuration, false).expect("a plant");
    let mut sink = Discard;
    let flight = Flight::new(&configuration, plant, &mut sink);
    flight.unwrap_or_else(|error| panic!("{error}")).run()
}

/// An offset of the position from 4 s on, and its end.
fn offset(by: [f64; 3], until: &str) -> String {
    format!(
        "backend.sim.faults=[{{ kind = \"offset\", group = \"pose.position\", offset = {by:?}, from = 4, until = {until} }}]"
    )
}

fn quadcopter(set: &[&str]) -> Summary {
    let usual = [
        WAY,
        "flight.duration=10",
        "backend.sim.initial={ position = [0, 0, 2], commands = \"first\" }",
        "backend.sim.ground={ height = 0.0 }",
    ];
    fly("quadcopter.toml", &[&usual, set].concat())
}

/// Neither up nor down nor aside, and not into the ground.
#[test]
fn a_vehicle_whose_position_jumps_goes_on_as_it_was() {
    let undisturbed = quadcopter(&[]);
    assert_eq!(undisturbed.verdict, Verdict::Flown);
    let usual = undisturbed.errors[0].magnitude.max();
    for (by, until, moved) in [
        ([0.0, 0.0, 3.0], "inf", "by 3.00 m"),
        ([0.0, 0.0, -3.0], "inf", "by 3.00 m"),
        ([2.0, -5.0, 0.0], "inf", "by 5.39 m"),
        ([0.0, 0.0, 3.0], "4.01", "(2)"),
    ] {
        let summary = quadcopter(&[&offset(by, until)]);
        assert_eq!(summary.verdict, Verdict::Flown, "{by:?} {until}");
        let largest = summary.errors[0].magnitude.max();
        assert!(
            (largest - usual).abs() < 1e-3,
            "{by:?}: {largest}, not {usual}"
        );
        let notes = &summary.notes;
        assert!(notes.iter().any(|note| note.contains(moved)), "{notes:?}");
        assert_eq!(summary.interventions.exceeded.len(), 1);
    }
}

/// A tricopter that flies as a system of joints.
const AS_A_SYSTEM: &[&str] = &[
    "controller.approach=\"body\"",
    "controller.pairs=[{ to = \"airframe\", stiffness = { matrix = [[9, 0, 0, 0, 0, 0], [0, 9, 0, 0, 0, 0], \
        [0, 0, 9, 0, 0, 0], [0, 0, 0, 0.5, 0, 0], [0, 0, 0, 0, 0.5, 0], [0, 0, 0, 0, 0, 0.8]] }, \
        damping = { weight = 6, moment = [0.144, 0.144, 0.264] }, inertia = { weight = 1, moment = [0.012, 0.012, 0.022] } }]",
    "safety.then=\"hold\"",
];
/// The failsafe begins 3 s after the flight.
const GIVEN_UP: &[&str] = &["safety.limits.speed={ max = 0, after = 3 }"];

/// As one body and as a system, with a delay and without, along the reference and in a failsafe.
#[test]
fn whatever_flies_goes_on_as_it_was() {
    let height = "truth.pose.position.z";
    for (name, set) in [
        ("examples/quadcopter-delay.toml", &[][..]),
        ("tricopter.toml", AS_A_SYSTEM),
        ("quadcopter.toml", GIVEN_UP),
        ("tricopter.toml", &[AS_A_SYSTEM, GIVEN_UP].concat()),
    ] {
        let [jumped, usual] = [2.0, 0.0].map(|by| {
            let fault = offset([0.0, 0.0, by], "inf");
            let set = [&["flight.duration=6", &fault], set].concat();
            let configuration = common::configuration(name, &set);
            let plant = backend::configure::<Simulation>(&configuration, false).expect("a plant");
            let mut flown = Memory::default();
            let summary = Flight::new(&configuration, plant, &mut flown)
                .unwrap_or_else(|error| panic!("{error}"))
                .run();
            let place = flown.header.description.value_index(height).expect("told");
            let heights: Vec<f64> = flown.rows.iter().map(|row| row.values[place]).collect();
            (summary.verdict, heights)
        });
        assert_eq!(jumped.0, usual.0, "{name}");
        assert_eq!(jumped.1.len(), usual.1.len(), "{name}");
        let apart = (jumped.1.iter().zip(&usual.1)).map(|(a, b)| (a - b).abs());
        let most = apart.fold(0.0, f64::max);
        assert!(most < 1e-3, "{name} {set:?}: {most} m");
    }
}

/// Frames are lost, and the position is elsewhere when they return, further than the gap explains.
#[test]
fn a_jump_in_a_failsafe_is_answered() {
    let faults = "backend.sim.faults=[{ kind = \"missing\", from = 3, until = 3.6 }, \
        { kind = \"offset\", group = \"pose.position\", offset = [0, 0, 40], from = 3.3, until = inf }]";
    for (then, resumed) in [("warn", 1), ("land", 0)] {
        let limits = format!(
            "safety.limits={{ position_jump = {{ max = 1, then = \"{then}\" }}, position_error = {{ max = 1e3, then = \"warn\" }} }}"
        );
        let summary = quadcopter(&["flight.duration=4", faults, &limits]);
        let exceeded: Vec<_> = summary
            .interventions
            .exceeded
            .iter()
            .map(|(_, it)| it.to_string())
            .collect();
        assert!(
            exceeded
                .iter()
                .any(|it| it.starts_with("position jump of 4")),
            "{exceeded:?}"
        );
        assert_eq!(summary.interventions.resumed, resumed, "{then}");
        assert_eq!(summary.verdict == Verdict::SafetyStop, then == "land");
    }
}

#[test]
fn a_jump_may_end_the_flight() {
    let jumped = offset([0.0, 0.0, 0.6], "inf");
    let limit = "safety.limits.position_jump={ max = 0.5 }";
    let summary = quadcopter(&[&jumped, limit, "safety.ground_height=0.1"]);
    assert_eq!(summary.verdict, Verdict::SafetyStop);
    let (at, exceeded) = &summary.interventions.exceeded[0];
    assert!(
        (at - 4.0).abs() < 0.01 && exceeded.to_string().starts_with("position jump of 0.600 m")
    );
    // Of what takes no time there is nothing to wait for.
    let after = ["safety.limits.position_jump={ max = 0.5, after = 1 }"];
    let refused = fly_flight::config::Configuration::load(&fly_flight::config::Options {
        config: "quadcopter.toml".into(),
        set: after.map(str::to_owned).to_vec(),
        ..Default::default()
    });
    assert!(refused.is_err_and(|error| error.to_string().contains("after")));
}
