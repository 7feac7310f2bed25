//! Every flight ends with a verdict, and nothing is called well that is not: flown by the real command and the real simulator.

use crate::common;

use common::{Folder, contains, line};
use serde_json::Value;

/// A pole on a cart, balanced by state feedback about the upright.
pub const CART: &str = r#"
[flight]
duration = 10

[vehicle]
name = "cart-pole"

[vehicle.bodies.cart]
joint = { type = "prismatic", axis = [1, 0, 0] }
mass = 1.0
inertia = [0.1, 0.1, 0.1]

[vehicle.bodies.pole]
parent = "cart"
joint = { type = "revolute", axis = [0, 1, 0] }
mass = 0.2
center_of_mass = [0, 0, 0.5]
inertia = [0.01, 0.01, 0.001]

[[vehicle.motors]]
joint = "cart"
effort = [-20, 20]

[controller]
approach = "state_feedback"
poles = [-2, -2.5, -3, -3.5]

[reference]
kind = "rest"

[backend]
plugin = "sim"

[backend.sim]
initial.joints = { pole = 0.3 }
"#;

/// A quadcopter that holds a point.
pub const HOVER: &str = r#"
[flight]
duration = 6

[vehicle]
file = "vehicles/quadcopter.toml"

[controller.poles]
horizontal = [-5, -5, -5, -5]
yaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 }

[reference]
kind = "hover"
position = [0, 0, 1]

[backend]
plugin = "sim"

[backend.sim]
initial = { position = [0, 0, 1] }
"#;

/// Flies a configuration with these settings and checks the exit code. Returns standard output and standard error.
#[track_caller]
fn fly(folder: &Folder, config: &str, set: &[&str], more: &[&str], code: i32) -> (String, String) {
    let mut arguments = vec!["--config", config, "--log", "flight.mcap"];
    arguments.extend(set.iter().flat_map(|set| ["--set", set]));
    arguments.extend(more);
    folder.ends(&arguments, code)
}

/// The summary of a flight as data.
#[track_caller]
pub fn data(folder: &Folder, config: &str, set: &[&str], code: i32) -> Value {
    let (text, _) = fly(folder, config, set, &["--json"], code);
    let data: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(data["exit_code"], code, "{text}");
    data
}

/// Of all four rotors.
fn rotors(key: &str, value: &str) -> Vec<String> {
    (0..4)
        .map(|i| format!("vehicle.rotors.{i}.{key}={value}"))
        .collect()
}

#[test]
fn a_loop_that_loses_its_reference_has_diverged() {
    let plant = "backend.sim.vehicle.file=vehicles/quadcopter.toml".to_owned();
    let of_plant = |key: &str| vec![plant.clone(), format!("backend.sim.vehicle.{key}")];
    let scenarios: Vec<(&str, Vec<String>)> = vec![
        ("a dead rotor", of_plant("rotors.0.thrust=[0, 0.001]")),
        (
            "a heavy vehicle",
            vec!["vehicle.bodies.airframe.mass=900".to_owned()],
        ),
        (
            "a vehicle that is heavier than known",
            of_plant("bodies.airframe.mass=9"),
        ),
        ("rotors that push down", rotors("axis", "[0, 0, -1]")),
        (
            "a rotor that pushes down",
            of_plant("rotors.2.axis=[0, 0, -1]"),
        ),
        ("slow rotors", rotors("time_constant", "30")),
        (
            "rotors that are slower than known",
            of_plant("rotors.1.time_constant=3"),
        ),
    ];
    for (what, set) in &scenarios {
        let folder = Folder::new();
        let mut set: Vec<&str> = set.iter().map(String::as_str).collect();
        set.push("safety.max_descent_time=2");
        let data = data(&folder, "quadcopter", &set, 6);
        println!("{what}: {}", data["supervisor"]);
        assert_eq!(data["verdict"], "diverged", "{what}: {data}");
    }
    let folder = Folder::new();
    folder.write("cart.toml", CART);
    fly(&folder, "cart.toml", &[], &[], 0);
    for start in ["1", "1.5"] {
        let start = format!("backend.sim.initial.joints.pole={start}");
        let (summary, _) = fly(&folder, "cart.toml", &[&start], &[], 6);
        common::begins(&summary, "cart: DIVERGED after ");
    }
}

#[test]
fn a_vehicle_that_stays_away_from_its_reference_has_diverged() {
    let folder = Folder::new();
    // Level, at rest and metres away: what is left of the rotors cannot do more. Heavier than its rotors can carry beside a reference that comes and
    // goes. Falling, or thrown over, so late that nothing else could tell.
    let dead = |from: f64, reported: bool| {
        format!(
            r#"backend.sim.faults=[{{kind="dead",from={from},until=inf,actuator="rotor.1.thrust",reported={reported}}}]"#
        )
    };
    let heavy = [
        "backend.sim.vehicle.file=vehicles/quadcopter.toml".to_owned(),
        "backend.sim.vehicle.bodies.airframe.mass=2.6".to_owned(),
    ];
    let falling = ["vehicle.bodies.airframe.mass=900".to_owned()];
    for (config, set, durations) in [
        ("octocopter_canted", &[dead(2.0, true)][..], &[8, 12][..]),
        ("quadcopter", &heavy, &[6, 8, 12, 16, 20]),
        ("quadcopter", &falling, &[2]),
        ("quadcopter", &[dead(2.0, false)], &[4, 6]),
        ("quadcopter", &[dead(10.2, false)], &[12]),
    ] {
        for duration in durations {
            let duration = format!("flight.duration={duration}");
            let mut set: Vec<&str> = set.iter().map(String::as_str).collect();
            set.push(&duration);
            let lost = data(&folder, config, &set, 6);
            assert_eq!(lost["verdict"], "diverged", "{duration}: {lost}");
            let why = [&lost["notes"], &lost["supervisor"]].map(ToString::to_string);
            assert!(why.concat().contains("position error of"), "{lost}");
        }
    }
    folder.write("cart.toml", CART);
    for (start, duration) in [("1", "2"), ("1", "3"), ("1", "4"), ("1.5", "1")] {
        let start = format!("backend.sim.initial.joints.pole={start}");
        let duration = format!("flight.duration={duration}");
        data(&folder, "cart.toml", &[&start, &duration], 6);
    }
    // On its way when the flight ends.
    let far = "backend.sim.initial.position=[60,0,0]";
    data(&folder, "quadcopter", &[far, "flight.duration=4"], 0);
    // Away by what a wrong mass does to a law without an observer.
    folder.write("hover.toml", HOVER);
    let heavier = [
        "backend.sim.vehicle.file=vehicles/quadcopter.toml",
        "backend.sim.vehicle.bodies.airframe.mass=1.2",
    ];
    data(&folder, "hover.toml", &heavier, 0);
}

/// Too heavy to leave the ground, below a hover of 1 m: less than an unmodelled weight might cause.
#[test]
fn a_vehicle_that_never_takes_off_has_diverged() {
    let folder = Folder::new();
    let on_the_ground = [
        "reference.kind=hover",
        "reference.position=[0,0,1]",
        "flight.duration=10",
        "vehicle.bodies.airframe.contacts=[{box=[0.3,0.3,0.1]}]",
        "backend.sim.initial={position=[0,0,0.05],attitude={rotation_vector=[0,0,0]}}",
        "backend.sim.ground={height=0,stiffness=5000}",
    ];
    data(&folder, "quadcopter", &on_the_ground, 0);
    let heavy =
        r#"backend.sim.faults=[{kind="mass",masses=[{mass=5,position=[0,0,0]}],from=0,until=inf}]"#;
    let lost = data(
        &folder,
        "quadcopter",
        &[&on_the_ground[..], &[heavy]].concat(),
        6,
    );
    let why = lost["notes"].to_string();
    assert!(why.contains("did not follow its reference"), "{lost}");
}

/// Its motor is dead, and its error no larger than that of a loop that might still come back.
#[test]
fn a_joint_that_never_moves_has_diverged() {
    let folder = Folder::new();
    for (kind, away, code, told) in [
        (
            "revolute",
            0.95,
            6,
            "moved by at most 0.000 deg, and was up to 54.431 deg away",
        ),
        (
            "prismatic",
            0.5,
            6,
            "moved by at most 0.000 m, and was up to 0.500 m away",
        ),
        // At rest where it is to be.
        ("revolute", 0.0, 0, ""),
    ] {
        let text = format!(
            "[flight]\nduration = 10\n\
             [vehicle]\nname = 'joint'\ngravity = [0, 0, 0]\n\
             [vehicle.bodies.arm]\njoint = {{ type = '{kind}', axis = [0, 0, 1] }}\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n\
             [[vehicle.motors]]\njoint = 'arm'\neffort = 50\n\
             [controller]\npairs = [{{ to = 'arm', stiffness = 36, damping = 12, inertia = 1 }}]\n\
             [reference]\nkind = 'rest'\njoints.arm = {away}\n\
             [backend]\nplugin = 'sim'\n\
             [backend.sim]\ninitial.joints = {{ arm = 0 }}\nactuators = [{{ effectiveness = 0 }}]\n"
        );
        folder.write("joint.toml", &text);
        let (summary, _) = folder.ends(&["--config", "joint.toml", "--log", "joint.mcap"], code);
        assert!(summary.contains(told), "{kind}: {summary}");
        std::fs::remove_file(folder.path("joint.mcap")).unwrap();
    }
}

#[test]
fn the_shipped_flights_are_flown() {
    for config in [
        "quadcopter",
        "quadcopter-loop",
        "quadcopter-upside-down",
        "tricopter-tilted",
        "examples/scara-tool",
    ] {
        let folder = Folder::new();
        let data = data(&folder, config, &[], 0);
        assert_eq!(
            (&data["verdict"], &data["end"]),
            (&"flown".into(), &"flown".into())
        );
        assert_eq!(
            data["supervisor"]["limits_exceeded"],
            Value::Array(Vec::new()),
            "{config}"
        );
    }
}

#[test]
fn quiet_flights_still_tell_a_verdict_that_is_not_flown() {
    let folder = Folder::new();
    folder.write("cart.toml", CART);
    let (told, _) = fly(
        &folder,
        "cart.toml",
        &["backend.sim.initial.joints.pole=1.5"],
        &["-q"],
        6,
    );
    common::begins(&told, "cart: DIVERGED after ");
    assert_eq!(told.lines().count(), 1, "{told}");
    let short = ["flight.duration=0.2"];
    assert_eq!(fly(&folder, "cart.toml", &short, &["-q"], 0).0, "");
}

#[test]
fn errors_are_those_of_the_true_state() {
    let folder = Folder::new();
    folder.write("hover.toml", HOVER);
    let noisy = [
        "flight.duration=4",
        "backend.sim.noise={ position = 0.05 }",
        "backend.sim.initial.commands=first",
    ];
    let data = data(&folder, "hover.toml", &noisy, 0);
    assert_eq!(data["error_source"], "true");
    // The measurements are off by 5 cm in each direction; the vehicle is not.
    let rms = data["position_error"]["rms"].as_f64().expect("a number");
    assert!(rms < 0.05 && rms > 0.0, "{rms}");
    let (summary, _) = fly(&folder, "hover.toml", &noisy, &[], 0);
    contains(line(&summary, "position error"), "of the true state");

    // A replay of the log knows the truth as well, and counts the same.
    let set = [&noisy[..], &["backend.replay.log=flight.mcap"]].concat();
    let again = {
        let mut arguments = vec![
            "--config",
            "hover.toml",
            "--backend",
            "replay",
            "--json",
            "--log",
            "again.mcap",
        ];
        arguments.extend(set.iter().flat_map(|set| ["--set", set]));
        let (text, _) = folder.ends(&arguments, 0);
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    assert_eq!(again["position_error"], data["position_error"]);
    assert_eq!(again["replay"]["exactly_equal"], true);
}

#[test]
fn the_log_holds_the_truth_beside_what_is_measured() {
    let folder = Folder::new();
    let set = [
        "flight.duration=1",
        "backend.sim.noise={ position = 0.05, attitude = 0.01 }",
    ];
    fly(&folder, "tricopter-load", &set, &[], 0);
    let log = fly_log::Recording::open(folder.path("flight.mcap"), &fly_log::Options::default())
        .expect("a log");
    let place = |name: &str| {
        log.description
            .value_index(name)
            .unwrap_or_else(|| panic!("{name}"))
    };
    let (mut squares, mut lag) = (0.0, 0.0_f64);
    let frames = log.frames.len() as f64;
    let mut commanded = f64::NAN;
    for (index, frame) in log.frames.iter().enumerate() {
        let at = |name: &str| frame.values[place(name)];
        squares += (at("pose.position.x") - at("truth.pose.position.x")).powi(2) / frames;
        // The plant is a system: the poses of all its bodies are known, and the first one is the tracked body's.
        for axis in ["x", "y", "z"] {
            let (body, pose) = (
                format!("truth.body.0.position.{axis}"),
                format!("truth.pose.position.{axis}"),
            );
            assert!((at(&body) - at(&pose)).abs() < 1e-9);
        }
        let actual = at("truth.rotor.0.thrust");
        if index == 0 {
            assert_eq!(actual, 0.5, "rotors start at rest, at their least thrust");
        } else {
            lag = lag.max((actual - commanded).abs());
        }
        commanded = at("recorded.rotor.0.thrust");
    }
    // Of 5 cm; the standard error of 500 samples is 3 %.
    let deviation = squares.sqrt();
    assert!((deviation - 0.05).abs() < 0.01, "{deviation}");
    assert!(lag > 0.5, "thrusts lag behind their commands: {lag}");
}

#[test]
fn the_transient_is_told_apart_from_what_is_left() {
    let folder = Folder::new();
    let set = ["reference.tolerance={ position = 0.05, attitude_deg = 1 }"];
    let data = data(&folder, "tricopter-tilted", &set, 0);
    let error = &data["position_error"];
    let number = |key: &str| {
        error[key]
            .as_f64()
            .unwrap_or_else(|| panic!("{key}: {error}"))
    };
    // Poles at -3: it enters 5 cm of 2.06 m before it enters 2 %, which are 4.1 cm.
    assert!(
        number("time_to_tolerance") < number("settling_time"),
        "{error}"
    );
    assert!((0.5..5.0).contains(&number("settling_time")), "{error}");
    assert!(number("rise_time") < number("settling_time"), "{error}");
    assert!(
        number("rms_settled") < 0.05 && number("rms_settled") > 0.0,
        "{error}"
    );
    assert!(number("steady_offset") < 1e-6, "{error}");
    assert_eq!(number("tolerance"), 0.05);

    // A plant that is heavier than known: it hangs lower for good.
    folder.write("hover.toml", HOVER);
    let heavy = [
        "backend.sim.vehicle.file=vehicles/quadcopter.toml",
        "backend.sim.vehicle.bodies.airframe.mass=0.95",
    ];
    let data = self::data(&folder, "hover.toml", &heavy, 0);
    let offset = data["position_error"]["steady_offset"]
        .as_f64()
        .expect("a number");
    assert!((0.02..0.5).contains(&offset), "{offset}");

    let (_, message) = fly(
        &folder,
        "tricopter-tilted",
        &["reference.tolerance=0.1"],
        &[],
        2,
    );
    contains(&message, "`reference.tolerance` has the wrong type");
    let (_, message) = fly(
        &folder,
        "tricopter-tilted",
        &["reference.tolerance.position=0"],
        &[],
        2,
    );
    contains(&message, "`reference.tolerance.position` is out of range");
}

#[test]
fn what_keeps_w_from_falling_is_told() {
    let folder = Folder::new();
    let causes = |set: &[&str]| data(&folder, "tricopter", set, 0)["energy"].clone();
    let lagging = causes(&[]);
    let number = |key: &str| lagging["causes"][key].as_f64().expect(key);
    assert!(number("lag") > 0.9, "{lagging}");
    let [checked, expected] =
        ["steps_checked", "steps_as_expected"].map(|key| lagging[key].as_f64().expect(key));
    assert!(
        number("steps_but_for_lag") > 0.9 * (checked - expected),
        "{lagging}"
    );

    // Without the lag there is nothing to explain.
    let mut quick: Vec<String> = Vec::new();
    for i in 0..3 {
        quick.push(format!("vehicle.rotors.{i}.time_constant=0"));
        quick.push(format!("vehicle.rotors.{i}.tilt.time_constant=0"));
    }
    let quick: Vec<&str> = quick.iter().map(String::as_str).collect();
    let without = causes(&quick);
    assert_eq!(
        without["steps_checked"], without["steps_as_expected"],
        "{without}"
    );

    // An unmodelled force is not a lag: drag of the plant alone.
    let plant = quick.iter().map(|set| format!("backend.sim.{set}"));
    let mut plant: Vec<String> = plant.collect();
    plant.push("backend.sim.vehicle.bodies.airframe.drag={ linear = [0.3, 0.3, 0.3], angular = [0, 0, 0] }".to_owned());
    let mut all = quick.clone();
    all.push("backend.sim.vehicle.file=vehicles/tricopter.toml");
    all.extend(plant.iter().map(String::as_str));
    let disturbed = causes(&all);
    assert!(
        disturbed["causes"]["rest"].as_f64().expect("a number") > 0.8,
        "{disturbed}"
    );
}

/// Pauses of the control do not excuse a vehicle that was lost before them.
#[test]
fn a_lost_vehicle_stays_lost_after_every_pause() {
    let folder = Folder::new();
    let dead = [0, 2]
        .map(|rotor| format!("{{kind='dead',actuator='rotor.{rotor}.thrust',from=2,until=inf}}"));
    let missing =
        [4, 7, 10, 13, 16, 19].map(|from| format!("{{kind='missing',from={from},until={from}.1}}"));
    let faults = [&dead[..], &missing[..]].concat().join(",");
    let faults = format!("backend.sim.faults=[{faults}]");
    let flown = data(
        &folder,
        "quadcopter",
        &["reference.kind=hover", "flight.duration=20", &faults],
        6,
    );
    contains(&flown["notes"].to_string(), "position error of ");
}

/// The mean over the last seconds remembers what has passed, the energy does not.
#[test]
fn what_has_settled_again_is_flown() {
    let folder = Folder::new();
    // Nobody tells, so that the yaw is not given up, and lost.
    let fault = "backend.sim.faults=[{kind='dead',actuator='rotor.0.thrust',from=2,until=10,reported=false}]";
    for duration in ["flight.duration=14.5", "flight.duration=15"] {
        let set = ["reference.kind=hover", duration, fault];
        data(&folder, "hexacopter", &set, 0);
    }
}

/// What flies blind is judged by where it truly is: nothing of the ground is measured while no frame comes, and the failsafe believes that it descends.
#[test]
fn what_falls_unseen_has_crashed_or_diverged() {
    let folder = Folder::new();
    folder.write("hover.toml", HOVER);
    let set = |faults: &str, ground: bool| {
        let mut set = vec![
            "controller.allocation=active_set".to_owned(),
            "flight.rate_hz=100".to_owned(),
            "flight.duration=12".to_owned(),
            format!("backend.sim.faults=[{faults}]"),
        ];
        if ground {
            let keys = [
                "safety.ground_height=-9.92",
                "backend.sim.ground={ height = -10.0 }",
            ];
            set.extend(keys.map(str::to_owned));
            set.push("backend.sim.substeps=10".to_owned());
        }
        set
    };
    let fly = |faults: &str, ground: bool, code: i32| {
        let set = set(faults, ground);
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        fly(&folder, "hover.toml", &set, &[], code)
    };
    let blind = "{ kind = 'link', from = 0.5, until = inf }";
    let dead =
        "{ kind = 'dead', actuator = 'rotor.0.thrust', from = 1.0, until = inf, reported = false }";
    // With its rotors it is safely in the air, as far as anybody knows, when the failsafe ends.
    fly(blind, false, 4);
    let (text, stderr) = fly(&format!("{blind}, {dead}"), true, 7);
    contains(&(text + &stderr), "touched the ground at ");
    let (text, stderr) = fly(&format!("{blind}, {dead}"), false, 6);
    contains(&(text + &stderr), "fell in its failsafe: it sank at ");
    let lost = "{ kind = 'missing', group = 'pose.position', from = 0.5, until = inf }";
    let (text, stderr) = fly(&format!("{lost}, {dead}"), false, 6);
    contains(&(text + &stderr), "fell in its failsafe: it sank at ");
}

/// A gust that has passed leaves a mean error that is large for a while; the vehicle is back at its reference.
#[test]
fn a_vehicle_that_is_back_after_a_gust_has_flown() {
    let folder = Folder::new();
    folder.write("hover.toml", HOVER);
    for duration in [5.2, 5.5, 5.6] {
        let duration = format!("flight.duration={duration}");
        let set = [
            "controller.allocation=active_set",
            "controller.limits=false",
            "flight.rate_hz=100",
            "vehicle.bodies.airframe.drag={ linear = [0.5, 0.5, 0.5] }",
            "backend.sim.faults=[{ kind = 'wind', velocity = [30.0, 0.0, 0.0], from = 2.0, until = 4.5 }]",
            &duration,
        ];
        fly(&folder, "hover.toml", &set, &[], 0);
    }
}
