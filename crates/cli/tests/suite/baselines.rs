//! What `docs/baselines.md` claims of the textbook controllers beside ours: its commands, flown by the real command and the real simulator.

use crate::common;

use std::f64::consts::{PI, TAU};

use common::Folder;
use fly_log::{Options, Recording};
use serde_json::Value;

/// Flies a shipped configuration with these settings: its log.
#[track_caller]
fn fly(example: &str, settings: &[&str]) -> Recording {
    ends(example, settings, 0)
}

/// The same with this exit code: 6 if the reference is lost.
#[track_caller]
fn ends(example: &str, settings: &[&str], code: i32) -> Recording {
    let folder = Folder::new();
    let mut arguments = vec!["--config", example, "--log", "flight.mcap"];
    arguments.extend(settings.iter().flat_map(|set| ["--set", set]));
    folder.ends(&arguments, code);
    Recording::open(folder.path("flight.mcap"), &Options::default()).unwrap()
}

/// All values of a signal.
#[track_caller]
fn values(log: &Recording, name: &str) -> Vec<f64> {
    let place = log
        .description
        .value_index(name)
        .unwrap_or_else(|| panic!("a signal {name}"));
    let values: Vec<f64> = log.frames.iter().map(|frame| frame.values[place]).collect();
    assert!(values.len() > 100, "a flight");
    values
}

/// The largest absolute value of all signals that begin with this, from a time (s) on.
#[track_caller]
fn peak(log: &Recording, head: &str, from: f64) -> f64 {
    let places: Vec<usize> = (0..log.description.signals.len())
        .filter(|i| log.description.signals[*i].name.starts_with(head))
        .collect();
    assert!(!places.is_empty(), "signals {head}");
    let late = (log.frames.iter()).filter(|frame| frame.time as f64 * 1e-9 >= from);
    late.flat_map(|frame| places.iter().map(|i| frame.values[*i].abs()))
        .filter(|value| value.is_finite())
        .fold(0.0, f64::max)
}

fn last(log: &Recording, name: &str) -> f64 {
    *values(log, name).last().unwrap()
}

const ANGLE: &str = "joint.0.position";
const TORQUE: &str = "recorded.motor.0.effort";

#[test]
fn beyond_a_half_turn_the_pair_takes_the_short_way() {
    let pair = fly("baselines/pi-pair", &[]);
    // 1.28 rad on, and a spring of 25 N m/rad times sin(5).
    assert!((last(&pair, ANGLE) - TAU).abs() < 1e-3);
    let torque = peak(&pair, TORQUE, 0.0);
    assert!((torque - 25.0 * 5_f64.sin().abs()).abs() < 0.3, "{torque}");

    let linear = [
        "controller.approach=linear",
        "controller.gains.wheel.inertia=1.0",
    ];
    let pd = fly("baselines/pi-joint-pd", &[]);
    for settings in [&["controller.approach=computed_torque"][..], &linear] {
        let same = fly("baselines/pi-joint-pd", settings);
        for (a, b) in values(&pd, ANGLE).iter().zip(values(&same, ANGLE)) {
            assert!((a - b).abs() < 1e-9, "{settings:?}: {a} {b}");
        }
    }
    // 5 rad back, and a spring of 25 N m/rad times 5.
    assert!(last(&pd, ANGLE).abs() < 1e-3);
    let torque = peak(&pd, TORQUE, 0.0);
    assert!((torque - 125.0).abs() < 1.0, "{torque}");
}

#[test]
fn turns_that_were_counted_are_unwound() {
    let start = "backend.sim.initial.joints.wheel=11.94";
    let ends =
        ["baselines/pi-pair", "baselines/pi-joint-pd"].map(|e| last(&fly(e, &[start]), ANGLE));
    assert!((ends[0] - 2.0 * TAU).abs() < 1e-2, "{ends:?}");
    assert!(ends[1].abs() < 1e-2, "{ends:?}");
}

/// Three turns away, with a motor that does nothing: for a law that counts turns this is far from the reference.
#[test]
fn errors_count_the_turns_that_the_law_counts() {
    for (example, law, error, code) in [
        (
            "baselines/pi-joint-pd",
            "controller.approach=joint_pd",
            3.0 * TAU,
            6,
        ),
        (
            "baselines/pi-joint-pd",
            "controller.approach=computed_torque",
            3.0 * TAU,
            6,
        ),
        ("baselines/pi-pair", "controller.approach=energy", 0.0, 0),
    ] {
        let folder = Folder::new();
        let start = format!("backend.sim.initial.joints.wheel={}", 3.0 * TAU);
        let motor = r#"vehicle.motors=[{ joint = "wheel", effort = [0.0, 1e-9] }]"#;
        let settings = [law, &start, motor];
        let mut arguments = vec!["--config", example, "--json", "--log", "flight.mcap"];
        arguments.extend(settings.iter().flat_map(|set| ["--set", set]));
        let (summary, _) = folder.ends(&arguments, code);
        let summary: Value = serde_json::from_str(&summary).unwrap();
        let flown = summary["attitude_error"]["rms"].as_f64().unwrap();
        let report = fly_report::Flight::open(folder.path("flight.mcap")).unwrap();
        let reported = report.statistics.errors[1].rms().unwrap();
        for rms in [flown, reported] {
            assert!(
                (rms - error).abs() < 1e-6,
                "{law}: {rms} instead of {error}"
            );
        }
    }
}

#[test]
fn at_a_half_turn_the_pair_rests_until_something_tips_it() {
    let start = format!("backend.sim.initial.joints.wheel={PI}");
    let still = ends("baselines/pi-pair", &[&start], 6);
    assert!((last(&still, ANGLE) - PI).abs() < 1e-9);
    let noise = "backend.sim.noise={ joint_position = 0.01 }";
    let tipped = fly("baselines/pi-pair", &[&start, noise, "flight.duration=5"]);
    let end = last(&tipped, ANGLE);
    let goal = if end > PI { TAU } else { 0.0 };
    assert!((end - goal).abs() < 0.1, "{end}");
    // What counts turns knows no such place.
    let pd = fly("baselines/pi-joint-pd", &[&start]);
    assert!(last(&pd, ANGLE).abs() < 1e-3);
}

/// The largest thrust of a jet (N; a torque in N m) from half a second before the passage on, of a flight that ends with this code.
fn gimbal(example: &str, settings: &[&str], code: i32) -> f64 {
    let settings = [settings, &["flight.duration=1.5"]].concat();
    peak(&ends(example, &settings, code), "recorded.rotor.", 0.5)
}

#[test]
fn computed_torque_fails_near_the_singularity_of_euler_angles() {
    let pair = gimbal("baselines/gimbal-pair", &[], 0);
    assert!(pair < 3.0, "{pair}");
    let lean = |degrees: u8| format!("vehicle.bodies.yaw.orientation.rpy_deg=[{degrees}, 0, 0]");
    let by = |settings: &[&str], code| gimbal("baselines/gimbal-computed-torque", settings, code);
    // Near it the gimbal is thrown over.
    let (far, near) = (by(&[&lean(20)], 0), by(&[&lean(3)], 6));
    println!("pair {pair}, far {far}, near {near}");
    assert!(far < 5.0 && near > 100.0, "{far} {near}");
    // It is the feedback that needs them: what follows the reference from the start needs next to nothing.
    let exact = by(&["backend.sim.initial.joints.pitch=0.0"], 0);
    println!("exact {exact}");
    assert!(exact < 5.0, "{exact}");
}

/// The largest distance from the goal and the last one, m.
fn distances(example: &str, turned: [f64; 3], code: i32) -> [f64; 2] {
    let start = format!("backend.sim.initial.attitude.rotation_vector={turned:?}");
    // In the air already: the rotors carry it from the first moment on.
    let log = ends(
        example,
        &[&start, "backend.sim.initial.commands=first"],
        code,
    );
    let [x, y, z] = ["x", "y", "z"].map(|axis| values(&log, &format!("pose.position.{axis}")));
    let mut distances = (0..x.len()).map(|i| x[i].hypot(y[i]).hypot(z[i]));
    let most = distances.clone().fold(0.0, f64::max);
    [most, distances.next_back().unwrap()]
}

#[test]
fn state_feedback_is_for_small_errors() {
    let (energy, linear) = ("baselines/tilt-energy", "baselines/tilt-state-feedback");
    for (turned, ours, theirs) in [
        ([0.35, 0.35, 0.0], 0.25, 0.5),
        ([1.55, 1.55, 0.0], 1.0, f64::INFINITY),
        ([0.0, 0.0, 2.2], 0.01, f64::INFINITY),
    ] {
        let [most, end] = distances(energy, turned, 0);
        let code = if theirs.is_finite() { 0 } else { 6 };
        let [most_linear, end_linear] = distances(linear, turned, code);
        println!("{turned:?}: energy {most} {end}, linear {most_linear} {end_linear}");
        assert!(most < ours && end < 1e-3, "{turned:?}: {most} {end}");
        if theirs.is_finite() {
            assert!(most_linear < theirs && end_linear < 0.02, "{turned:?}");
        } else {
            assert!(end_linear > 10.0, "{turned:?}: {end_linear}");
        }
    }
}

#[test]
fn joint_pd_is_what_pairs_do_for_small_errors() {
    let apart = |settings: &[&str]| {
        let logs =
            ["baselines/two-link-pairs", "baselines/two-link-joint-pd"].map(|e| fly(e, settings));
        let [a, b] = logs.map(|log| {
            let both = ["joint.0.position", "joint.1.position"].map(|name| values(&log, name));
            both.concat()
        });
        let differences = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
        differences.fold(0.0, f64::max)
    };
    // 0.1 rad off: a - sin(a) is 1.7e-4 of springs of 1 N m/rad.
    let large = apart(&[]);
    println!("0.1 rad off: {large}");
    assert!(large > 1e-6 && large < 1e-3, "{large}");
    // A tenth of the error: a thousandth of the difference.
    let small = apart(&["backend.sim.initial.joints={ shoulder = -0.49, elbow = 0.79 }"]);
    println!("0.01 rad off: {small}");
    assert!(small < large * 0.01, "{small}");
}
