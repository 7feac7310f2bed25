//! Flights whose actuators lag and hear of their commands late, with and without what makes up for it.

use crate::common;

use common::{Folder, contains};
use serde_json::Value;

use super::verdicts::data;

const EXAMPLE: &str = "examples/quadcopter-delay.toml";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// The root mean square of the position's error from 4 s on, m.
fn steady(folder: &Folder, set: &[&str]) -> f64 {
    data(folder, EXAMPLE, set, 0);
    let mut arguments = vec!["--config", EXAMPLE];
    arguments.extend(set.iter().flat_map(|set| ["--set", set]));
    let [all, first] = [f64::INFINITY, 4.0].map(|until| {
        let errors = common::measure(folder, &arguments, "flight.mcap", until).position;
        let count = errors.count() as f64;
        (count, errors.rms().powi(2) * count)
    });
    ((all.1 - first.1) / (all.0 - first.0)).sqrt()
}

fn delayed(actual: f64, known: f64) -> [String; 2] {
    [
        format!("backend.sim.actuators=[{{ delay = {actual} }}]"),
        format!("controller.actuators.delay={known}"),
    ]
}

/// More commands on their way than are kept would act too late.
#[test]
fn a_delay_of_too_many_commands_is_refused() {
    let folder = Folder::new();
    let flags = [
        "flight.rate_hz=5000",
        "backend.sim.actuators=[{ delay = 0.5 }]",
    ];
    let (_, told) = folder.ends(
        &[
            "check",
            "--config",
            "quadcopter.toml",
            "--set",
            flags[0],
            "--set",
            flags[1],
        ],
        2,
    );
    contains(&told, "expected at most 0.204 s at 5000 Hz");
}

/// Any delay that is known is as good as none; what is not known costs what it does.
#[test]
fn known_delays_do_not_matter() {
    let folder = Folder::new();
    let of = |actual: f64, known: f64| {
        let [actual, known] = delayed(actual, known);
        steady(&folder, &[&actual, &known, "controller.limits=false"])
    };
    let none = of(0.0, 0.0);
    for delay in [0.02, 0.04] {
        let (with, without) = (of(delay, delay), of(delay, 0.0));
        println!(
            "delay {delay} s: rms {with:.2e} m predicted, {without:.2e} m not, {none:.2e} m without delay"
        );
        assert!(with < 1.2 * none + 2e-5, "{delay}: {with} {none}");
        assert!(without > 10.0 * with, "{delay}: {without} {with}");
        // Known to 5 ms.
        let nearly = of(delay, delay - 0.005);
        assert!(nearly < 0.5 * without, "{delay}: {nearly} {without}");
    }
    // Unknown this one makes the loop unstable.
    let long = of(0.06, 0.06);
    assert!(long < 1.2 * none + 2e-5, "{long} {none}");
    // A delay that is no whole number of steps.
    let between = of(0.0313, 0.0313);
    assert!(between < 1.2 * none + 2e-5, "{between} {none}");
}

/// The disturbance that an observer has found is part of the prediction: without it there would be an offset.
#[test]
fn disturbances_are_predicted_as_well() {
    let folder = Folder::new();
    let [actual, known] = delayed(0.04, 0.04);
    for key in [
        "backend.sim.vehicle.bodies.airframe.mass=1.17",
        "backend.sim.wind={ velocity = [8, 0, 0] }",
        "backend.sim.actuators=[{ delay = 0.04 }, { command = \"rotor.1.thrust\", effectiveness = 0.8 }]",
    ] {
        let plant = "backend.sim.vehicle.file=vehicles/quadcopter.toml";
        let set = [
            actual.as_str(),
            &known,
            "controller.disturbance.bandwidth=4",
            "reference={ kind = \"hover\" }",
            "vehicle.bodies.airframe.drag={ linear = [0.25, 0.25, 0] }",
            plant,
            "backend.sim.vehicle.bodies.airframe.drag={ linear = [0.25, 0.25, 0] }",
            key,
        ];
        let data = data(&folder, EXAMPLE, &set, 0);
        let offset = number(&data["position_error"]["steady_offset"]);
        println!("{key}: {offset:.2e} m");
        assert!(offset < 1e-4, "{key}: {offset} {data}");
    }
}

/// A replay makes the same of the same frames, lost ones included, bit for bit.
#[test]
fn a_replay_leads_and_predicts_the_same() {
    let folder = Folder::new();
    let fault = "backend.sim.faults=[{ kind = \"missing\", from = 0.5, until = 0.52 }, { kind = \"stale\", from = 1.0, until = 1.02, group = \"twist.linear\" }]";
    let noise = "backend.sim.noise={ position = 0.01, attitude = 0.0087, velocity = 0.05, angular_velocity = 0.035 }";
    let set = [
        "flight.duration=3",
        fault,
        noise,
        "controller.disturbance.bandwidth=2",
    ];
    data(&folder, EXAMPLE, &set, 0);
    let replayed = [
        &set[..],
        &["backend.replay.log=flight.mcap", "backend.plugin=replay"],
    ]
    .concat();
    let mut arguments = vec!["--config", EXAMPLE, "--log", "again.mcap"];
    arguments.extend(replayed.iter().flat_map(|set| ["--set", set]));
    let summary = folder.flies(&arguments);
    contains(
        &summary,
        "recomputed commands exactly equal the recorded ones",
    );
}

/// The rms of the commands about their mean, N.
fn wandering(folder: &Folder, set: &[&str]) -> f64 {
    data(folder, EXAMPLE, set, 0);
    let recording =
        fly_log::Recording::open(folder.path("flight.mcap"), &fly_log::Options::default())
            .expect("a log");
    let place = recording.description.value_index("recorded.rotor.0.thrust");
    let commands: Vec<f64> = (recording.frames.iter().skip(1000))
        .map(|frame| frame.values[place.expect("recorded commands")])
        .collect();
    let count = commands.len() as f64;
    let mean = commands.iter().sum::<f64>() / count;
    let squares = commands.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    (squares / count).sqrt()
}

/// Measured noise is amplified by little: no measurement is differenced.
#[test]
fn noise_is_not_differenced() {
    let folder = Folder::new();
    let noise = "backend.sim.noise={ position = 0.01, attitude = 0.0087, velocity = 0.05, angular_velocity = 0.035 }";
    let hover = "reference={ kind = \"hover\" }";
    let of = |lead: f64, delay: f64| {
        let lead = format!("controller.actuators.lead={lead}");
        let [actual, known] = delayed(delay, delay);
        wandering(&folder, &[noise, hover, &lead, &actual, &known])
    };
    for delay in [0.0, 0.03] {
        let [without, with] = [of(0.0, delay), of(1.0, delay)];
        println!("delay {delay} s: rms of a command: {without} N, {with} N with a lead");
        assert!(with < 1.25 * without, "{without} {with}");
    }
}

/// Systems are predicted like vehicles: an arm on its way, compared with the same without any delay.
#[test]
fn an_arm_bears_a_delay_that_it_knows() {
    let folder = Folder::new();
    let angles = |actual: f64, known: f64| -> Vec<[f64; 2]> {
        let [actual, known] = delayed(actual, known);
        let begun = "backend.sim.initial.commands=first";
        let set = [actual.as_str(), &known, begun];
        data(&folder, "examples/scara-joints.toml", &set, 0);
        let options = fly_log::Options::default();
        let recording = fly_log::Recording::open(folder.path("flight.mcap"), &options);
        let recording = recording.expect("a log");
        let places = [0, 1].map(|i| {
            let name = format!("joint.{i}.position");
            recording.description.value_index(&name).expect("a joint")
        });
        let frames = recording.frames.iter();
        frames
            .map(|frame| places.map(|place| frame.values[place]))
            .collect()
    };
    let (none, with, without) = (angles(0.0, 0.0), angles(0.04, 0.04), angles(0.04, 0.0));
    // Until the first command acts nothing can be right.
    let apart = |a: &[[f64; 2]]| {
        let late = a.iter().zip(&none).skip(3 * a.len() / 4);
        let apart = late.flat_map(|(a, b)| [(a[0] - b[0]).abs(), (a[1] - b[1]).abs()]);
        apart.fold(0.0, f64::max)
    };
    println!(
        "{:.2e} rad predicted, {:.2e} rad not",
        apart(&with),
        apart(&without)
    );
    assert!(apart(&with) < 0.1 * apart(&without));
}

/// A missing value is reported with its place.
#[test]
fn leads_and_delays_that_there_are_not_are_refused() {
    let folder = Folder::new();
    for (set, expected) in [
        (
            "controller.actuators.lead=1.5",
            "expected a number from 0 to 1, found 1.5",
        ),
        (
            "controller.actuators.delay=-0.1",
            "expected a number from 0 to 0.5, found -0.1",
        ),
        ("controller.actuators.led=1", "did you mean `lead`?"),
        (
            "backend.sim.actuators=[{ delay = 2 }]",
            "expected a number from 0 to 1, found 2",
        ),
        (
            "backend.sim.actuators=[{ delay = 0.1, command = \"rotor.7.thrust\" }]",
            "expected a command, one of",
        ),
    ] {
        let (_, told) = folder.ends(&["--config", EXAMPLE, "--set", set], 2);
        contains(&told, expected);
    }
}

/// `fly tune` designs poles of the loop with its lag, and says where there are none.
#[test]
fn poles_with_the_lag_are_tuned() {
    let folder = Folder::new();
    let tune = |poles: &str, code: i32| {
        let arguments = [
            "tune",
            "--config",
            "quadcopter.toml",
            "--poles",
            poles,
            "--with-lag",
        ];
        folder.ends(&arguments, code)
    };
    let (report, _) = tune("-3,-4,-5,-6", 0);
    let (_, with) = report
        .split_once("closed loop with that lag")
        .expect("a section");
    // -1/0.03 + 3 + 4 + 5 + 6 = -15.3
    for pole in ["-3.00", "-4.00", "-5.00", "-6.00", "-15.3"] {
        let twice = |line: &str| line.split_whitespace().take(2).eq([pole, "2"]);
        assert!(with.lines().any(twice), "{pole}\n{report}");
    }
    let (_, told) = tune("-9,-9,-9,-9", 2);
    contains(&told, "the lag adds a pole at -1/0.03");
}
