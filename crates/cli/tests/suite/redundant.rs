//! Vehicles with redundant inputs, flown by the real command: as they are, and with a rotor that dies in flight.

use crate::common;

use common::{Folder, line, measure};

/// The rms position error (m) from this time (s) on, of a flight that must end well; and its summary.
pub fn tracked(config: &str, set: &[&str], from: f64) -> (f64, String) {
    let folder = Folder::new();
    let mut arguments = vec!["--config", config];
    arguments.extend(set.iter().flat_map(|set| ["--set", set]));
    let summary = folder.flies(&[&arguments[..], &["--log", "flight.mcap"]].concat());
    let [before, all] = [from, f64::INFINITY].map(|until| {
        let position = measure(&folder, &arguments, "flight.mcap", until).position;
        let count = position.count() as f64;
        (position.rms() * position.rms() * count, count)
    });
    let rms = ((all.0 - before.0) / (all.1 - before.1)).sqrt();
    (rms, summary)
}

#[test]
fn redundant_vehicles_track_their_references() {
    for (config, most) in [
        ("hexacopter.toml", 0.03),
        ("y6.toml", 0.03),
        ("hexacopter_canted.toml", 0.03),
    ] {
        let (rms, summary) = tracked(config, &[], 4.0);
        assert!(rms < most, "{config}: {rms}\n{summary}");
    }
}

/// The rms of the shipped lemniscate is at most twice the healthy one, whichever rotor dies on the way. (Rotors with one lag replace each other without
/// a trace.) The others are like these by symmetry.
#[test]
fn one_dead_rotor_of_eight_is_hardly_seen() {
    for config in ["octocopter.toml", "coaxial_x8.toml"] {
        let (healthy, _) = tracked(config, &[], 4.0);
        for rotor in [0, 3, 6] {
            let fault = format!(
                "backend.sim.faults=[{{ kind = \"dead\", actuator = \"rotor.{rotor}.thrust\", from = 5.0, until = inf }}]"
            );
            let (rms, summary) = tracked(config, &[&fault], 4.0);
            println!("{config}, rotor {rotor}: {rms:.6} m, healthy {healthy:.6} m");
            assert!(
                rms <= 2.0 * healthy,
                "{config}, rotor {rotor}: {rms}, healthy {healthy}\n{summary}"
            );
        }
    }
}

/// Laws that give an input themselves: the other rotors produce the force of the dead one.
#[test]
fn laws_of_inputs_replace_a_dead_rotor() {
    let fault = "backend.sim.faults=[{ kind = \"dead\", actuator = \"rotor.0.thrust\", from = 10.0, until = inf }]";
    // Half a metre away at the start, some need seconds to come.
    let hover = [
        "reference.kind=hover",
        "flight.duration=25.0",
        "safety.then=hold",
        fault,
    ];
    for vehicle in ["octocopter", "coaxial_x8"] {
        let folder = Folder::new();
        for law in [
            "approach = 'lee'",
            "approach = 'rotorpy_se3'",
            "approach = 'cascade'",
            "approach = 'indi'",
            "approach = 'state_feedback'\nlqr.errors.airframe = [1, 1, 1, 0.3, 0.3, 0.3]",
        ] {
            let feedback = law.contains("lqr");
            let poles = "poles = { horizontal = [-5, -5, -5, -5], yaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 } }";
            let poles = if feedback { "" } else { poles };
            let text = format!(
                "vehicle.file = 'vehicles/{vehicle}.toml'\nbackend = {{ plugin = 'sim', sim.initial.position = [0.3, -0.2, 0.4] }}\n\
                 reference = {{ kind = 'hover' }}\n[controller]\nallocation = 'active_set'\n{law}\n{poles}\n"
            );
            folder.write("flight.toml", &text);
            let set = hover.iter().flat_map(|set| ["--set", set]);
            let arguments: Vec<&str> = ["--config", "flight.toml", "--json"]
                .into_iter()
                .chain(set)
                .collect();
            let output = folder.fly(&arguments);
            let data: serde_json::Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|_| panic!("{law}: {}", String::from_utf8_lossy(&output.stderr)));
            let offset = data["position_error"]["steady_offset"].as_f64().unwrap();
            println!("{vehicle}, {law}: {offset:.1e} m");
            assert!(data["verdict"] == "flown" && offset < 1e-3, "{law}: {data}");
        }
    }
}

/// A rotor that dies without a word, in noise: the motion shows which, and the flight is nearly what it is where the rotor's controller tells.
#[test]
fn a_failed_rotor_is_found_by_the_motion() {
    let noise = "backend.sim.noise={ position = 0.01, attitude = 0.0087, velocity = 0.05, angular_velocity = 0.035 }";
    for (config, rotor) in [
        ("octocopter.toml", 1),
        ("coaxial_x8.toml", 4),
        ("hexacopter.toml", 5),
    ] {
        // Of the hexacopter, which turns about the vertical afterwards, means are compared.
        let seeds: &[u32] = if config == "hexacopter.toml" {
            &[1, 2]
        } else {
            &[1]
        };
        let flight = |reported: bool, detect: bool, seed: u32| {
            let fault = format!(
                "backend.sim.faults=[{{ kind = \"dead\", actuator = \"rotor.{rotor}.thrust\", from = 5.0, until = inf, reported = {reported} }}]"
            );
            let observer = format!("controller.disturbance={{ detect_failures = {detect} }}");
            let folder = Folder::new();
            let seed = format!("flight.seed={seed}");
            let set = [
                "--set", noise, "--set", &fault, "--set", &observer, "--set", &seed,
            ];
            let arguments = [&["--config", config][..], &set].concat();
            let output = folder.fly(&[&arguments[..], &["--log", "flight.mcap"]].concat());
            let errors = measure(&folder, &arguments, "flight.mcap", f64::INFINITY);
            let told = String::from_utf8(output.stderr).unwrap();
            (told, errors.position.rms())
        };
        let flights = |reported, detect| {
            let flown: Vec<_> = (seeds.iter())
                .map(|seed| flight(reported, detect, *seed))
                .collect();
            let sum: f64 = flown.iter().map(|(_, rms)| rms).sum();
            let messages: Vec<String> = flown.into_iter().map(|(told, _)| told).collect();
            (messages, sum / seeds.len() as f64)
        };
        let (told, found, missed) = (
            flights(true, false),
            flights(false, true),
            flights(false, false),
        );
        let name = format!("the actuator of `rotor.{rotor}.thrust` has 0 %");
        for messages in &found.0 {
            let is_found = messages.contains("actuator failure detected from the motion")
                && messages.contains(&name);
            assert!(is_found, "{messages}");
        }
        let blamed = missed
            .0
            .iter()
            .find(|text| text.contains("has 0 % of its effectiveness left"));
        assert_eq!(blamed, None);
        assert!(
            found.1 < 1.1 * told.1 && found.1 < missed.1,
            "{config}: {found:?}, told {told:?}, missed {missed:?}"
        );
    }
}

/// Neither wind nor noise, nor a rotor that is weak, nor a battery that sags, nor a start far away is a failure.
#[test]
fn what_is_no_failure_is_not_called_one() {
    for set in [
        "backend.sim.noise={ position = 0.01, attitude = 0.0087, velocity = 0.05, angular_velocity = 0.035 }",
        "backend.sim.actuators=[{ command = \"rotor.1.thrust\", effectiveness = 0.7 }]",
        "backend.sim.actuators=[{ effectiveness = 0.7, rate = -0.01 }]",
        "backend.sim.wind.velocity=[8.0, -3.0, 2.0]",
        "backend.sim.initial={ position = [30.0, 10.0, 20.0], attitude = { rotation_vector = [2.9, 0.3, 1.0] } }",
    ] {
        for config in ["octocopter.toml", "tricopter.toml"] {
            let folder = Folder::new();
            let detect = "controller.disturbance={ detect_failures = true }";
            let output = folder.fly(&["--config", config, "--set", detect, "--set", set]);
            let told = String::from_utf8(output.stderr).unwrap();
            assert!(!told.contains("has failed"), "{config}, {set}: {told}");
            let summary = String::from_utf8(output.stdout).unwrap();
            assert!(
                summary.contains("flown after"),
                "{config}, {set}: {summary}{told}"
            );
        }
    }
}

/// Without one rotor of six yaw is given up, and nothing else: it turns ever faster, four times a second in the end, and
/// keeps its place and stays upright.
#[test]
fn one_dead_rotor_of_six_costs_the_yaw() {
    let fault = "backend.sim.faults=[{ kind = \"dead\", actuator = \"rotor.2.thrust\", from = 5.0, until = inf }]";
    for set in [
        &["flight.duration=20.0"][..],
        &[
            "flight.duration=90.0",
            "reference.kind=hover",
            "flight.rate_hz=250",
        ],
    ] {
        let set = [set, &[fault]].concat();
        let (rms, summary) = tracked("hexacopter.toml", &set, 10.0);
        assert!(rms < 0.02, "{rms} m\n{summary}");
        assert!(summary.contains("yaw is given up"), "{summary}");
    }
}

/// Without one tilt of three a tricopter keeps its place and stays upright; the reference turns with it.
#[test]
fn one_dead_tilt_of_three_costs_the_yaw() {
    for tilt in 0..3 {
        let fault = format!(
            "backend.sim.faults=[{{ kind = \"dead\", actuator = \"rotor.{tilt}.tilt\", from = 2.0, until = inf }}]"
        );
        let set = ["reference.kind=hover", "flight.duration=20.0", &fault];
        let (rms, summary) = tracked("tricopter.toml", &set, 10.0);
        assert!(rms < 0.5, "{rms} m\n{summary}");
        assert!(summary.contains("yaw is given up"), "{summary}");
    }
}

#[test]
fn checks_count_what_is_redundant() {
    let folder = Folder::new();
    let check = |config: &str| {
        String::from_utf8(folder.fly(&["check", "--config", config]).stdout).unwrap()
    };
    let report = check("coaxial_x8");
    assert_eq!(
        line(&report, "inputs"),
        "8, rank 4: underactuated, 4 redundant"
    );
    assert_eq!(
        line(&check("octocopter_canted"), "inputs"),
        "8, rank 6: fully actuated, 2 redundant"
    );
    assert_eq!(
        line(&check("hexacopter_canted"), "inputs"),
        "6, rank 6: fully actuated"
    );
    assert_eq!(
        line(&check("examples/arm-two-motors"), "inputs"),
        "3, rank 2: fully actuated, 1 redundant"
    );
}
