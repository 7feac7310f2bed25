//! `[safety.limits]`: every limit is watched, and what is configured follows.

use crate::common;

use common::{Folder, contains};

use super::verdicts::{CART, HOVER};

/// Flies with these settings and checks the exit code. Returns standard output and standard error.
#[track_caller]
fn fly(config: &str, set: &[&str], code: i32) -> (String, String) {
    let folder = Folder::new();
    folder.write("cart.toml", CART);
    folder.write("hover.toml", HOVER);
    let mut arguments = vec!["--config", config, "--log", "flight.mcap"];
    arguments.extend(set.iter().flat_map(|set| ["--set", set]));
    folder.ends(&arguments, code)
}

/// A limit that is exceeded: the flight, the key and its table without `then`, and what is said.
const LIMITS: [(&str, &str, &str, &str); 10] = [
    (
        "quadcopter",
        "position_error",
        "max = 0.2",
        "position error of ",
    ),
    (
        "quadcopter",
        "attitude_error",
        "max_deg = 20",
        "attitude error of ",
    ),
    ("quadcopter", "tilt", "max_deg = 20", "tilt of "),
    ("quadcopter", "speed", "max = 0.5", "speed of "),
    ("quadcopter", "height", "max = 0.1", "height of "),
    (
        "quadcopter",
        "height",
        "min = -0.05",
        "at least -0.050 m allowed",
    ),
    (
        "quadcopter",
        "fences",
        "box = { min = [-9, -9, -9], max = [9, 0.9, 9] }",
        " m outside of the fence",
    ),
    (
        "quadcopter",
        "fences",
        "cylinder = { center = [1, 0], radius = 1 }",
        " m outside of the fence",
    ),
    (
        "quadcopter-loop",
        "saturated",
        "max = 0.05",
        "inputs at their limits for ",
    ),
    ("cart.toml", "joint_speed", "max = 0.2", "joint speed of "),
];

fn set(key: &str, table: &str, then: &str) -> String {
    let table = format!("{{ {table}, then = '{then}' }}");
    match key {
        "fences" => format!("safety.limits.fences=[{table}]"),
        _ => format!("safety.limits.{key}={table}"),
    }
}

#[test]
fn every_limit_warns_or_ends_the_flight() {
    for (config, key, table, told) in LIMITS {
        let (summary, messages) = fly(config, &[&set(key, table, "warn"), "flight.duration=2"], 0);
        contains(&summary, told);
        contains(&messages, told);
        let (summary, messages) = fly(config, &[&set(key, table, "terminate")], 4);
        contains(&summary, "SAFETY STOP after ");
        contains(&summary, told);
        contains(&messages, "terminating");
    }
}

#[test]
fn what_follows_is_what_is_configured() {
    let descends = ["safety.max_descent_time=2"];
    for (then, told) in [
        ("hold", "holding position"),
        ("descend", "levelling and descending"),
    ] {
        let limit = set("speed", "max = 0.5", then);
        let (summary, messages) = fly("quadcopter", &[&limit, descends[0]], 4);
        contains(&messages, told);
        common::begins(&summary, "quadcopter: SAFETY STOP after ");
    }
    // Without a word it is the failsafe.
    let (_, messages) = fly(
        "quadcopter",
        &["safety.limits.speed.max=0.5", descends[0]],
        4,
    );
    contains(&messages, "levelling and descending");
    let (_, messages) = fly(
        "cart.toml",
        &["safety.limits.joint_speed.max=0.2", descends[0]],
        4,
    );
    contains(&messages, "holding position");
}

#[test]
fn a_limit_may_be_exceeded_for_a_while() {
    let limit = |after: &str| {
        format!("safety.limits.position_error={{ max = 0.3, after = {after}, then = 'terminate' }}")
    };
    fly("quadcopter", &[&limit("0.1")], 4);
    fly("quadcopter", &[&limit("10"), "flight.duration=3"], 0);
}

#[test]
fn what_comes_down_too_fast_has_crashed() {
    let fall = ["reference.position=[0, 0, -4]", "safety.ground_height=-1"];
    let (summary, messages) = fly("hover.toml", &fall, 7);
    common::begins(&summary, "hover: CRASHED after ");
    contains(&messages, "touched the ground at ");
    // The speed is what is configured.
    let slow = [
        &fall[..],
        &["safety.limits.touchdown.max=20", "flight.duration=0.9"],
    ]
    .concat();
    fly("hover.toml", &slow, 0);
    let landing = [
        "reference={ kind = 'landing', position = [0, 0, 1] }",
        "safety.ground_height=0.005",
        "backend.sim.initial.commands=first",
    ];
    fly("hover.toml", &landing, 0);
}

/// A reference beyond fixed limits is found before the flight; one that begins where the vehicle is has no place yet.
#[test]
fn references_beyond_limits_are_found_by_check() {
    for (set, code, told) in [
        (
            "height.min=0.5",
            5,
            "PROBLEM: 12 s checked: height of -0.400 m, at least 0.500 m allowed (`safety.limits`), at ",
        ),
        (
            "fences=[{ box = { min = [-2, -2, -1], max = [1, 2, 1] }, then = 'warn' }]",
            0,
            "WARNING: 12 s checked: 0.500 m outside of the fence (`safety.limits`), at ",
        ),
        ("speed.max=0.1", 5, "PROBLEM: 12 s checked: speed of "),
        ("height.min=-3", 0, "everything is in order"),
    ] {
        let folder = Folder::new();
        let set = format!("safety.limits.{set}");
        let check = ["check", "--config", "quadcopter", "--set", &set];
        let (found, _) = folder.ends(&check, code);
        contains(&found, told);
        let relative = [&check[..], &["--set", "flight.relative=true"]].concat();
        contains(&folder.ends(&relative, 0).0, "everything is in order");
    }
}

#[test]
fn wrong_limits_are_refused() {
    for (config, set, told) in [
        (
            "quadcopter",
            "safety.limits.speed.max=-1",
            "`safety.limits.speed.max` is out of range",
        ),
        (
            "quadcopter",
            "safety.limits.height={ min = 2, max = 1 }",
            "`safety.limits.height.max` is out of range",
        ),
        ("quadcopter", "safety.limits.fences=[{}]", "-> --set:1:29"),
        (
            "quadcopter",
            "safety.limits.fences=[{ cylinder = { radius = 1 } }, { box = { min = [0, 0, 0], max = [1, 1, -1] } }]",
            "-> --set:1:93",
        ),
        (
            "cart.toml",
            "safety.limits.fences=[{ cylinder = { radius = 1 }, then = 'descend' }]",
            "-> --set:1:",
        ),
        (
            "quadcopter",
            "safety.limits.sped.max=1",
            "did you mean `speed`?",
        ),
        (
            "quadcopter",
            "safety.limits.speed={ max = 1, then = 'dance' }",
            "cannot be \"dance\"",
        ),
        (
            "cart.toml",
            "safety.limits.tilt.max_deg=20",
            "`safety.limits.tilt` is not possible",
        ),
        (
            "cart.toml",
            "safety.limits.joint_speed={ max = 1, then = 'descend' }",
            "`safety.limits.joint_speed.then` is not possible",
        ),
    ] {
        contains(&fly(config, &[set], 2).1, told);
    }
}

/// At 12 m/s it fell out of the sky when it was told to stand still at once.
#[test]
fn a_fast_vehicle_stops_upright() {
    let folder = Folder::new();
    let set = [
        "reference={ kind = 'waypoints', points = [{ position = [0, 0, 30] }, { position = [150, 0, 30] }], max_speed = 12, max_acceleration = 2.5 }",
        "backend.sim.initial.position=[0, 0, 30]",
        "safety.limits.fences=[{ box = { min = [-5, -5, -1], max = [60, 5, 60] }, then = 'hold' }]",
        "safety.max_descent_time=12",
        "flight.duration=30",
    ];
    let mut arguments = vec!["--config", "quadcopter", "--log", "flight.mcap"];
    arguments.extend(set.iter().flat_map(|set| ["--set", set]));
    let (_, said) = folder.ends(&arguments, 4);
    contains(&said, "outside of the fence");
    let log = fly_log::Recording::open(folder.path("flight.mcap"), &fly_log::Options::default());
    let log = log.expect("a log");
    let index = |name: &str| log.description.value_index(name).expect("a signal");
    let [x, z, q_x, q_y] = ["position.x", "position.z", "quaternion.x", "quaternion.y"]
        .map(|name| index(&format!("pose.{name}")));
    let speed = index("twist.linear.x");
    let fastest = log.frames.iter().map(|frame| frame.values[speed]);
    assert!(fastest.fold(0.0, f64::max) > 8.0);
    let tilt = |values: &[f64]| 2.0 * values[q_x].hypot(values[q_y]).asin().to_degrees();
    let tilts = log.frames.iter().map(|frame| tilt(frame.values));
    let largest = tilts.fold(0.0, f64::max);
    assert!(largest < 45.0, "{largest} degrees");
    let last = log.frames.iter().last().expect("frames").values;
    assert!(
        last[speed].abs() < 0.05 && (last[z] - 30.0).abs() < 0.1,
        "{last:?}"
    );
    assert!((60.0..85.0).contains(&last[x]), "{} m", last[x]);
}
