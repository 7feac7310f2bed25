//! Simulated faults in flights and campaigns, with the real command. (`faults` tests the supervisor's responses to
//! faults of a vehicle.)

use fly_log::{Options, Recording};
use serde_json::Value;

use crate::common;

use common::Folder;

use super::verdicts::data;

/// What the backend reports under this label.
fn reported(summary: &Value, label: &str) -> Option<String> {
    let report = summary["backend"]["report"].as_array().expect("a report");
    let line = report.iter().find(|line| line[0] == label)?;
    line[1].as_str().map(str::to_owned)
}

/// An IMU that repeats itself says nothing: the failsafe flies on the model, as without one, and then flies on.
#[test]
fn a_frozen_imu_is_flown_as_a_missing_one() {
    let largest = ["missing", "freeze"].map(|kind| {
        let fault = |group: &str| {
            format!("{{ kind = \"{kind}\", group = \"imu.{group}\", from = 4, duration = 2 }}")
        };
        let faults = format!(
            "backend.sim.faults=[{}, {}]",
            fault("angular_velocity"),
            fault("specific_force")
        );
        let set = [
            "backend.sim.sensors={ ideal = false, imu = {}, motion_capture = { rate = 50 } }",
            "estimator={}",
            "backend.sim.initial.position=[0, 0, 5]",
            "reference={ kind = \"hover\", position = [0, 0, 5] }",
            "flight.duration=9",
            &faults,
        ];
        let summary = data(&Folder::new(), "quadcopter.toml", &set, 0);
        assert_eq!(summary["verdict"], "flown", "{kind}");
        summary["position_error"]["max"].as_f64().expect("a number")
    });
    // It is noticed 0.1 s later.
    assert!(largest[1] < 1.3 * largest[0], "{largest:?} m");
}

/// The vehicle follows what it measures, half a metre aside; the log says so, at the start and in its values.
#[test]
fn a_position_that_jumps_is_followed() {
    let folder = Folder::new();
    let fault = "backend.sim.faults=[{ kind = \"offset\", group = \"pose.position\", offset = [0.5, 0, 0], from = 4, until = inf }]";
    let summary = data(&folder, "quadcopter.toml", &[fault], 0);
    let told = "pose.position offset from 4.000 s";
    assert_eq!(reported(&summary, "faults").as_deref(), Some(told));
    let log = std::fs::read(folder.path("flight.mcap")).unwrap();
    let message = format!("simulated fault: {told}");
    assert!(common::holds_message(
        &log,
        "fly_plugin_sim::backend",
        &message
    ));
    let log = Recording::open(folder.path("flight.mcap"), &Options::default()).expect("a log");
    let place = |name: &str| log.description.value_index(name).expect("a signal");
    let places = ["pose.position.x", "truth.pose.position.x"].map(place);
    for frame in log.frames.iter() {
        let [seen, truth] = places.map(|place| frame.values[place]);
        let expected = if frame.time >= 4_000_000_000 {
            0.5
        } else {
            0.0
        };
        assert!((seen - truth - expected).abs() < 1e-12);
    }
}

/// The observer finds the mass that is left: that of the model less the payload.
#[test]
fn a_payload_drops() {
    let folder = Folder::new();
    let set = [
        "backend.sim.faults=[{ kind = \"mass\", masses = [{ mass = -0.1 }], from = 4, until = inf }]",
        "controller.disturbance.bandwidth=4",
    ];
    let summary = data(&folder, "quadcopter.toml", &set, 0);
    let found = &summary["disturbance"]["hover_mass"];
    let mass = found.as_f64().unwrap_or_else(|| panic!("{summary}"));
    assert!((mass - 0.8).abs() < 0.01, "{mass}");
}

/// Longer than the last command is held: the supervisor descends, and the summary names cause and answer.
#[test]
fn a_lost_link_is_answered() {
    let folder = Folder::new();
    let set = [
        "backend.sim.faults=[{ kind = \"link\", from = 2, duration = 0.1 }]",
        "safety.resume=false",
        "safety.max_descent_time=2",
        "flight.duration=6",
    ];
    let summary = data(&folder, "quadcopter.toml", &set, 4);
    assert_eq!(
        reported(&summary, "faults").as_deref(),
        Some("link lost from 2.000 to 2.100 s")
    );
    assert_eq!(reported(&summary, "commands lost").as_deref(), Some("50"));
    let time = summary["supervisor"]["given_up"]["time"].as_f64().unwrap();
    assert!((time - 2.048).abs() < 1e-9, "{time}");
}

/// Each row says whether a rotor failed, which and when; the supervisor knows the same.
#[test]
fn rows_tell_which_faults_occurred() {
    let folder = Folder::new();
    folder.write(
        "plan.toml",
        r#"
        config = "quadcopter.toml"
        flights = 24
        seed = 3
        [set]
        flight.duration = 2
        backend.sim.faults = [{ kind = "weak", actuator = ["rotor.0.thrust", "rotor.3.thrust"], effectiveness = 0.8, from = [0.5, 1.5], until = inf, probability = 0.5 }]
        "#,
    );
    folder.ends(&["sweep", "plan.toml", "--out", "all", "--quiet"], 0);
    let text = std::fs::read_to_string(folder.path("all.csv")).unwrap();
    let (mut failed, mut rotors) = (0, [0, 0]);
    for row in text.lines().skip(1) {
        let Some((_, fault)) = row.split_once("faults: ") else {
            assert!(!row.contains("gives 80 %"), "{row}");
            continue;
        };
        failed += 1;
        let rotor = usize::from(fault.starts_with("rotor.3.thrust"));
        rotors[rotor] += 1;
        let name = ["rotor.0.thrust", "rotor.3.thrust"][rotor];
        let (_, from) = fault.split_once("from ").unwrap();
        let from: f64 = from.split(' ').next().unwrap().parse().unwrap();
        assert!((0.5..=1.5).contains(&from));
        // The first frame at or after it tells.
        let frame = (from * 500.0 - 0.26).ceil() / 500.0;
        let known =
            [frame, frame + 0.002].map(|t| format!("{t:.3} s: the actuator of `{name}` has 80 %"));
        assert!(
            known.iter().any(|known| row.contains(known)),
            "{row} {known:?}"
        );
    }
    // Half of 24, within three of its standard deviations.
    assert!((5..20).contains(&failed), "{failed}");
    assert!(rotors[0] > 0 && rotors[1] > 0, "{rotors:?}");
}

/// A rotor that gives a part of its command gets more of it, without any error left; one that is too weak for a hover is given up for a spin.
#[test]
fn weak_rotors_are_made_up_for() {
    for (left, error) in [(0.6, 1e-6), (0.25, 0.1)] {
        let folder = Folder::new();
        let fault = format!(
            "backend.sim.faults=[{{ kind = \"weak\", actuator = \"rotor.2.thrust\", effectiveness = {left}, from = 2, until = inf }}]"
        );
        let set = [
            fault.as_str(),
            "reference={ kind = \"hover\", position = [0, 0, 1] }",
            "flight.duration=20",
        ];
        let summary = data(&folder, "quadcopter.toml", &set, 0);
        let offset = summary["position_error"]["steady_offset"].as_f64();
        let offset = offset.unwrap_or_else(|| panic!("{summary}"));
        assert!(offset < error, "{left}: {offset}");
    }
}

/// A weak rotor that tilts has smaller limits in the law, so that the vehicle stays upright where it cannot be held, and is told so.
#[test]
fn a_weak_rotor_that_tilts_is_not_asked_for_more_than_it_gives() {
    let folder = Folder::new();
    let set = [
        r#"backend.sim.faults=[{ kind = "weak", actuator = "rotor.1.thrust", effectiveness = 0.3, from = 2, until = inf }]"#,
        r#"reference={ kind = "hover", position = [0, 0, 1] }"#,
        "flight.duration=6",
    ];
    let summary = data(&folder, "tricopter.toml", &set, 6);
    let told = "the actuator of `rotor.1.thrust` has 30 % of its effectiveness left; the remaining actuators cannot hover level";
    assert!(summary.to_string().contains(told), "{summary}");
    let end = summary["attitude_error"]["rms"].as_f64();
    assert!(end.is_some_and(|rms| rms < 0.35), "{summary}");
}

/// What the vehicle itself does decides, not what is measured: it sinks below the ground or drifts away while its position reads as it should.
#[test]
fn measurements_do_not_excuse_the_vehicle() {
    let drifts = |offset: &str| {
        format!(
            "backend.sim.faults=[{{ kind = \"offset\", group = \"pose.position\", offset = {offset}, ramp = 8, from = 2, until = inf }}]"
        )
    };
    let hover = "reference={ kind = \"hover\", position = [0, 0, 5] }";
    let ground = [
        "backend.sim.ground.height=0",
        "backend.sim.initial.position=[0, 0, 1]",
        "safety.ground_height=0",
    ];
    for (offset, more, code, verdict) in [
        ("[0, 0, 15]", &ground[..], 7, "crashed"),
        ("[12, 0, 0]", &[], 6, "diverged"),
    ] {
        let folder = Folder::new();
        let fault = drifts(offset);
        let set = [&[fault.as_str(), hover, "flight.duration=12"][..], more].concat();
        let summary = data(&folder, "quadcopter.toml", &set, code);
        assert_eq!(summary["verdict"], verdict, "{summary}");
    }
}

/// What the simulation cannot show as it is, it says: a ground that stops nothing, and a turn that its steps do not resolve.
#[test]
fn what_is_not_simulated_is_told() {
    let folder = Folder::new();
    let told = |set: &[&str]| {
        let set = set.iter().flat_map(|set| ["--set", set]);
        let fixed = [
            "--config",
            "quadcopter.toml",
            "--set",
            "flight.duration=0.2",
        ];
        let arguments: Vec<&str> = fixed.into_iter().chain(set).collect();
        let output = folder.fly(&arguments);
        String::from_utf8(output.stderr).expect("text")
    };
    let below = "`airframe` is below the ground of `[backend.sim.ground]`, which does not stop it: no body has `contacts`";
    let ground = "backend.sim.ground.height=1";
    let bare = "vehicle.bodies.airframe.contacts=[]";
    let sinks = told(&[ground, bare]);
    assert_eq!(sinks.matches(below).count(), 1, "{sinks}");
    assert!(!told(&["backend.sim.ground.height=-9", bare]).contains(below));
    // 500 Hz and two substeps: 0.3 rad per step from 300 rad/s on.
    let turns = |rate: u32| {
        told(&[&format!(
            "backend.sim.initial.angular_velocity=[0, 0, {rate}]"
        )])
    };
    let coarse = "`airframe` turns by 0.60 rad in each step of the simulation, which does not resolve that: `substeps = 4` is enough";
    let (fast, slow) = (turns(600), turns(290));
    assert!(fast.contains(coarse), "{fast}");
    assert!(!slow.contains("in each step"), "{slow}");
}

/// An impact while no frame arrives is told by the next one.
#[test]
fn an_impact_in_the_dark_is_a_crash() {
    let folder = Folder::new();
    let dead = |i: usize| {
        format!("{{ kind = \"dead\", actuator = \"rotor.{i}.thrust\", from = 1, until = 2.5 }}")
    };
    let dead: Vec<String> = (0..4).map(dead).collect();
    let faults = format!(
        "backend.sim.faults=[{{ kind = \"link\", from = 1, duration = 2 }}, {}]",
        dead.join(", ")
    );
    let set = [
        faults.as_str(),
        "reference={ kind = \"hover\", position = [0, 0, 3] }",
        "backend.sim.initial={ position = [0, 0, 3], commands = \"first\" }",
        "backend.sim.ground.height=0",
        "flight.duration=6",
    ];
    let summary = data(&folder, "quadcopter.toml", &set, 7);
    assert_eq!(summary["verdict"], "crashed", "{summary}");
}

/// A dead rotor is told its least thrust, and gives none: on the model alone, too, the vehicle must not be taken for one that it turns over.
#[test]
fn a_lost_rotor_gives_nothing_on_the_model_either() {
    let largest = [false, true].map(|lost| {
        let dead = "{ kind = \"dead\", actuator = \"rotor.1.thrust\", from = 3, until = inf }, ";
        let faults = format!(
            "backend.sim.faults=[{}{{ kind = \"missing\", from = 5, duration = 2 }}]",
            if lost { dead } else { "" }
        );
        let set = [
            "vehicle.file=\"vehicles/coaxial_x8.toml\"",
            "controller.allocation=active_set",
            "backend.sim.initial={ position = [0, 0, 20], commands = \"first\" }",
            "reference={ kind = \"hover\", position = [0, 0, 20] }",
            "flight.duration=7",
            "safety.then=descend",
            &faults,
        ];
        let summary = data(&Folder::new(), "quadcopter.toml", &set, 0);
        ["position_error", "attitude_error"]
            .map(|error| summary[error]["max"].as_f64().expect("a number"))
    });
    let [whole, lost] = largest;
    assert!(
        lost[0] < whole[0] + 0.05 && lost[1] < whole[1] + 0.05,
        "{largest:?}"
    );
}
