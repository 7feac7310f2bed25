//! Systems that are no vehicle of one body: flown, watched, interrupted, replayed.

use crate::common;

use common::Folder;
use fly_log::schema::{fly as messages, foxglove};
use fly_testing::mcap::without_run;
use prost::Message;

/// Two links with motors, which swing about a reference.
const ARM: &str = r#"
[flight]
duration = 1.0
rate_hz = 250

[vehicle]
name = "arm"

[vehicle.bodies.upper]
joint = { type = "revolute", axis = [0, 1, 0], damping = 0.05 }
shape = { box = [0.04, 0.04, 0.5] }
mass = 1.0
center_of_mass = [0, 0, -0.25]

[vehicle.bodies.lower]
parent = "upper"
position = [0, 0, -0.5]
joint = { name = "elbow", type = "revolute", axis = [0, 1, 0] }
shape = { box = [0.04, 0.04, 0.5] }
mass = 0.6
center_of_mass = [0, 0, -0.25]

[[vehicle.motors]]
joint = "upper"
effort = 20

[[vehicle.motors]]
joint = "elbow"
effort = 8

[controller]
approach = "energy"
allocation = "active_set"
pairs = [
    { to = "upper", stiffness = 9, damping = 6, inertia = 1 },
    { from = "upper", to = "lower", stiffness = 16, damping = 8, inertia = 1 },
]

[reference]
kind = "joints"
joints = { upper = { amplitude = 0.6, angular_frequency = 2 }, elbow = { offset = 0.5 } }

[backend]
plugin = "sim"

[backend.sim]
initial = { joints = { upper = 0.2, elbow = 0.1 } }
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("arm.toml", ARM);
    folder
}

/// With the approaches whose W may grow along a moving reference the flight knows by how much, Konz (5.10); and it notices a plant that is another.
#[test]
fn every_approach_is_judged_along_a_moving_reference() {
    let folder = folder();
    for approach in ["particle", "body"] {
        let set = format!("controller.approach={approach}");
        let flies = |more: &[&str]| {
            let all = [&["--config", "arm.toml", "--set", &set], more].concat();
            folder.flies(&all)
        };
        let summary = flies(&[]);
        assert!(
            summary.contains("W fell as expected in 250 of 250 steps"),
            "{approach}: {summary}"
        );
        let summary = flies(&["--set", "backend.sim.vehicle.bodies.lower.mass=1.4"]);
        assert!(
            summary.contains(" of 250 steps") && !summary.contains("in 250 of 250 steps"),
            "{approach}: {summary}"
        );
    }
}

#[test]
fn an_arm_follows_its_reference() {
    let folder = folder();
    let summary = folder.flies(&["--config", "arm.toml", "--log", "arm.mcap"]);
    assert!(summary.contains("turning error "), "{summary}");
    assert!(
        !summary.contains("sliding error"),
        "nothing slides: {summary}"
    );
    assert!(
        summary.contains("W fell as expected in 250 of 250 steps"),
        "{summary}"
    );
    let log = fly_log::Recording::open(folder.path("arm.mcap"), &fly_log::Options::default())
        .expect("a log");
    let [upper, elbow] = ["joint.0.position", "joint.1.position"]
        .map(|name| log.description.value_index(name).expect(name));
    let (first, last) = (log.frames.iter().next(), log.frames.iter().last());
    let (first, last) = (first.expect("frames"), last.expect("frames"));
    assert_eq!((first.values[upper], first.values[elbow]), (0.2, 0.1));
    // Each joint for itself, as it is told to: error e with e'' + 6 e' + 9 e = 0 from e(0) = 0.2, e'(0) = -1.2 for the shoulder, and
    // e'' + 8 e' + 16 e = 0 from e(0) = -0.4, e'(0) = 0 for the elbow; the input is held for 4 ms.
    let t = last.time as f64 * 1e-9;
    let shoulder = (0.2 + (3.0 * 0.2 - 1.2) * t) * (-3.0 * t).exp() + 0.6 * (2.0 * t).sin();
    let bent = 0.5 - 0.4 * (1.0 + 4.0 * t) * (-4.0 * t).exp();
    assert!(
        (last.values[upper] - shoulder).abs() < 2e-3,
        "{} {shoulder}",
        last.values[upper]
    );
    assert!(
        (last.values[elbow] - bent).abs() < 2e-3,
        "{} {bent}",
        last.values[elbow]
    );
}

/// The messages of a topic.
fn messages_of<M: Message + Default>(folder: &Folder, log: &str, topic: &str) -> Vec<M> {
    let bytes = std::fs::read(folder.path(log)).expect("a log");
    mcap::MessageStream::new(&bytes)
        .expect("a log")
        .map(|message| message.expect("a message"))
        .filter(|message| message.channel.topic == topic)
        .map(|message| M::decode(&*message.data).expect("a message of this kind"))
        .collect()
}

#[test]
fn the_log_shows_all_bodies_and_how_their_energy_falls() {
    let folder = folder();
    folder.flies(&[
        "--config",
        "arm.toml",
        "--set",
        "flight.duration=0.2",
        "--log",
        "arm.mcap",
    ]);
    let states: Vec<messages::SystemMotion> = messages_of(&folder, "arm.mcap", "/fly/system/state");
    let goals: Vec<messages::SystemMotion> =
        messages_of(&folder, "arm.mcap", "/fly/system/reference");
    let frames: Vec<foxglove::FrameTransforms> = messages_of(&folder, "arm.mcap", "/tf");
    let steps: Vec<messages::Control> = messages_of(&folder, "arm.mcap", "/fly/control");
    assert_eq!(
        [states.len(), goals.len(), frames.len(), steps.len()],
        [51; 4]
    );
    assert_eq!(states[0].configuration, [0.2, 0.1]);
    assert_eq!(states[0].velocity, [0.0, 0.0]);
    assert_eq!(goals[0].configuration, [0.0, 0.5]);
    assert_eq!(goals[0].velocity, [1.2, 0.0]);
    assert_eq!(goals[0].acceleration, [0.0, 0.0]);

    // The elbow hangs half a metre below the shoulder, swung by 0.2 rad about y.
    let [upper, lower] = frames[0].transforms.as_slice() else {
        panic!("two bodies: {:?}", frames[0])
    };
    assert_eq!(
        [&upper.child_frame_id, &lower.child_frame_id],
        ["upper", "lower"]
    );
    let elbow = lower.translation.expect("a place");
    assert!((elbow.x + 0.5 * 0.2_f64.sin()).abs() < 1e-15);
    assert!((elbow.z + 0.5 * 0.2_f64.cos()).abs() < 1e-15);
    let turned = lower.rotation.expect("an attitude");
    assert!((turned.w - 0.15_f64.cos()).abs() < 1e-15 && (turned.y - 0.15_f64.sin()).abs() < 1e-15);

    assert_eq!(
        steps[0].position_error, None,
        "nothing is free in the world"
    );
    assert!((steps[0].attitude_error - 0.2_f64.hypot(0.4)).abs() < 1e-15);
    assert_eq!(
        (steps[0].energy_rate, steps[0].expected_energy_rate),
        (None, None)
    );
    for pair in steps.windows(2) {
        let [before, now] = [0, 1].map(|i| pair[i].total_energy.expect("an energy"));
        let slope = (now - before) / 4e-3;
        let measured = pair[1].energy_rate.expect("a rate");
        assert!(
            (measured - slope).abs() < 1e-9 * slope.abs(),
            "{measured} {slope}"
        );
        let expected = pair[1].expected_energy_rate.expect("a rate");
        let [before, now] = [0, 1].map(|i| pair[i].dissipation.expect("a dissipation"));
        let mean = -(before + now);
        assert!((expected - mean).abs() < 1e-12, "{expected} {mean}");
    }
}

#[test]
fn the_same_flight_gives_the_same_log() {
    let folder = folder();
    for log in ["a.mcap", "b.mcap"] {
        let noise = "backend.sim.noise={ joint_position = 1e-3, joint_velocity = 1e-2 }";
        folder.flies(&[
            "--config",
            "arm.toml",
            "--set",
            noise,
            "--set",
            "flight.duration=0.3",
            "--log",
            log,
        ]);
    }
    let [a, b] = ["a.mcap", "b.mcap"].map(|log| std::fs::read(folder.path(log)).expect("a log"));
    assert_eq!(without_run(&a), without_run(&b));
}

#[test]
fn a_replay_commands_what_was_commanded() {
    let folder = folder();
    let set = ["--set", "flight.duration=0.4"];
    let arguments = [&["--config", "arm.toml", "--log", "arm.mcap"], &set[..]].concat();
    folder.flies(&arguments);
    let summary = folder.flies(&[
        "--config",
        "arm.toml",
        "--backend",
        "replay",
        "--set",
        "backend.replay.log=arm.mcap",
        "--log",
        "again.mcap",
    ]);
    assert!(
        summary.contains("recomputed commands exactly equal the recorded ones"),
        "{summary}"
    );
    assert!(summary.contains("motor.1.effort"), "{summary}");
}

#[test]
fn without_its_sensors_an_arm_comes_to_rest_in_place() {
    let folder = folder();
    // Of the elbow the model has to know everything.
    let blind =
        "backend.sim.faults=[{ kind = \"missing\", group = \"joint.1\", from = 0.6, until = inf }]";
    let (summary, told) = folder.ends(
        &[
            "--config",
            "arm.toml",
            "--set",
            blind,
            "--set",
            "safety.max_descent_time=2",
            "--log",
            "arm.mcap",
        ],
        4,
    );
    assert!(told.contains("holding position"), "{told}");
    assert!(summary.contains("SAFETY STOP"), "{summary}");
    let log = fly_log::Recording::open(folder.path("arm.mcap"), &fly_log::Options::default())
        .expect("a log");
    let [position, velocity] = ["joint.0.position", "joint.0.velocity"]
        .map(|name| log.description.value_index(name).expect(name));
    let frames: Vec<_> = log.frames.iter().collect();
    let (lost, last) = (&frames[163], &frames[frames.len() - 1]);
    assert!(
        lost.values[velocity].abs() > 0.2,
        "it moves while it is lost"
    );
    assert!(last.time - lost.time > 1_900_000_000, "two seconds of rest");
    assert!(
        last.values[velocity].abs() < 0.01,
        "{}",
        last.values[velocity]
    );
    let moved = last.values[position] - lost.values[position];
    assert!(moved.abs() < 0.01, "{moved}");
    let error = "`safety.then` is not possible";
    let (_, told) = folder.ends(&["--config", "arm.toml", "--set", "safety.then=descend"], 2);
    assert!(told.contains(error) && told.contains("--set"), "{told}");
}

#[test]
fn a_law_without_an_answer_from_the_start_is_no_flight() {
    let folder = folder();
    // Stretched out, the tool cannot be told to move along the arm; nothing moves it from there.
    let weightless = "vehicle.gravity=[0, 0, 0]";
    let transport = "controller.transport={ point = [0, 0, -0.5], of = \"lower\" }";
    let pairs = "controller.pairs=[{ to = \"lower\", stiffness = { weight = 9, center = [0, 0, -0.5] }, \
        damping = { weight = 6, center = [0, 0, -0.5] }, inertia = { weight = 1, center = [0, 0, -0.5] } }]";
    let straight = "backend.sim.initial.joints={ upper = 0.2, elbow = 0 }";
    let mut arguments = vec!["--config", "arm.toml", "--log", "arm.mcap"];
    for set in [weightless, transport, pairs, straight] {
        arguments.extend(["--set", set]);
    }
    let (summary, told) = folder.ends(&arguments, 4);
    assert!(told.contains("is singular here"), "{told}");
    assert!(
        told.contains("the flight ends before its first command"),
        "{told}"
    );
    assert!(summary.contains("given up at 0.0"), "{summary}");
}

#[test]
fn a_check_tells_what_the_arm_can_do() {
    let folder = folder();
    let (report, _) = folder.ends(&["check", "--config", "arm.toml"], 0);
    for line in [
        "arm: 2 bodies, 2 degrees of freedom, 1.600 kg",
        "2, rank 2: fully actuated",
        "slowest -3.00, fastest -4.00 1/s",
        "stable with any; they have none",
        "1 s checked: inputs stay",
        "everything is in order",
    ] {
        assert!(report.contains(line), "{line}\n{report}");
    }
    let weak = ["--set", "vehicle.motors.0.effort=1"];
    let (report, _) = folder.ends(&[&["check", "--config", "arm.toml"], &weak[..]].concat(), 0);
    assert!(report.contains("beyond the limits"), "{report}");
    // Finite numbers with no finite motion.
    let endless = "reference.joints.elbow={ amplitude = 1e308, angular_frequency = 9 }";
    let (_, told) = folder.ends(&["check", "--config", "arm.toml", "--set", endless], 2);
    assert!(told.contains("at 0 s the motion is not finite"), "{told}");
    let (_, told) = folder.ends(
        &[
            "check",
            "--config",
            "arm.toml",
            "--set",
            "safety.ground_height=0.0",
        ],
        2,
    );
    assert!(
        told.contains("`safety.ground_height` is not possible"),
        "{told}"
    );
    let unstable = "controller.pairs.1.damping=-8";
    let (report, _) = folder.ends(&["check", "--config", "arm.toml", "--set", unstable], 2);
    assert_eq!(report, "");
}

/// Without anything but the lag between what is asked for and what is done.
const WEIGHTLESS: [&str; 4] = [
    "--set",
    "vehicle.gravity=[0, 0, 0]",
    "--set",
    "vehicle.bodies.upper.joint.damping=0.0",
];

#[test]
fn a_system_is_tuned_as_a_vehicle_is() {
    let folder = folder();
    let tune = |arguments: &[&str]| {
        let all = [&["tune", "--config", "arm.toml"], arguments, &WEIGHTLESS].concat();
        let (report, told) = folder.ends(&all, 0);
        assert_eq!(told, "");
        report
    };
    let report = tune(&["--poles", "-2,-3", "--write", "arm.toml"]);
    for expected in [
        "world to upper  ",
        "at rest in\n  upper  0\n  elbow  0.500\n",
        "-2.00      2      1.00           0.500 s        2.00 rad/s\n",
        "-3.00      2      1.00           0.333 s        3.00 rad/s\n",
        // d/k.
        "stable below 0.833 s (there it oscillates with 2.45 rad/s)\n",
        "the system's own  none\n",
    ] {
        assert!(report.contains(expected), "{expected}: {report}");
    }
    let again = tune(&[]);
    assert_eq!(report, again + "written to arm.toml\n");
    let after = std::fs::read_to_string(folder.path("arm.toml")).expect("a file");
    let changed = |line: &(&str, &str)| line.0 != line.1;
    let lines: Vec<_> = ARM.lines().zip(after.lines()).filter(changed).collect();
    assert_eq!(ARM.lines().count(), after.lines().count());
    assert_eq!(lines.len(), 2, "{after}");
    assert!(
        lines[1]
            .1
            .starts_with("    { from = \"upper\", to = \"lower\", stiffness = ")
    );
    folder.flies(&["--config", "arm.toml", "--set", "flight.duration=0.1"]);
}

#[test]
fn every_approach_is_tuned_that_has_poles() {
    let folder = folder();
    let controller = ARM.find("[controller]").expect("a section");
    let reference = ARM.find("[reference]").expect("a section");
    let write = |section: &str| {
        let text = format!("{}{section}{}", &ARM[..controller], &ARM[reference..]);
        folder.write("other.toml", &text);
    };
    let tune = |arguments: &[&str], code| {
        let all = [&["tune", "--config", "other.toml"], arguments].concat();
        folder.ends(&all, code)
    };
    let read = || std::fs::read_to_string(folder.path("other.toml")).expect("a file");
    for (section, poles, expected) in [
        (
            "[controller]\napproach = 'computed_torque' # mine\n",
            "-2,-3",
            "elbow = { stiffness = 6.0, damping = 5.0 }",
        ),
        (
            "[controller]\napproach = 'linear' # mine\n[controller.gains]\nshoulder = { stiffness = 1, damping = 1, inertia = 1 }\n",
            "-2,-3",
            "elbow = { stiffness = 0.30048, damping = 0.2504, inertia = 0.05008 }",
        ),
        (
            "[controller]\npoles = { yaw = 1 } # mine\napproach = 'state_feedback'\n",
            "-2,-3,-4+1i,-4-1i",
            "poles = [-2.0, -3.0, [-4.0, 1.0], [-4.0, -1.0]]",
        ),
    ] {
        write(section);
        let arguments = ["--poles", poles, "--write", "other.toml"];
        let (report, told) = tune(&arguments, 0);
        assert_eq!(told, "");
        let after = read();
        assert!(after.contains(expected), "{expected}: {after}");
        assert!(
            after.contains("# mine") && !after.contains("shoulder"),
            "{after}"
        );
        assert_eq!(report, tune(&[], 0).0 + "written to other.toml\n");
        folder.flies(&["--config", "other.toml", "--set", "flight.duration=0.1"]);
    }
    write("[controller]\napproach = 'joint_pd'\n");
    let (_, told) = tune(&["--bandwidth", "2"], 2);
    assert!(
        told.starts_with("error: the poles of joint PD change"),
        "{told}"
    );
    write("[controller]\napproach = 'jiont_pd'\n");
    let (_, told) = tune(&["--bandwidth", "2"], 2);
    assert!(told.contains("other.toml:32:12"), "{told}");
    let (_, told) = folder.ends(
        &[
            "tune",
            "--config",
            "arm.toml",
            "--bandwidth",
            "2",
            "--attitude-bandwidth",
            "3",
        ],
        2,
    );
    assert!(
        told.starts_with("error: only a vehicle of one body"),
        "{told}"
    );
}

/// Konz (5.80): without its motor the shoulder does not follow.
#[test]
fn a_check_tells_what_the_inputs_cannot_make() {
    let folder = folder();
    let text = ARM.replace("[[vehicle.motors]]\njoint = \"upper\"\neffort = 20\n", "");
    folder.write("weak.toml", &text);
    let (report, _) = folder.ends(&["check", "--config", "weak.toml"], 5);
    assert!(
        report.contains("PROBLEM: 1 s checked: the inputs cannot make"),
        "{report}"
    );
    assert!(
        report.contains("% of the forces that it needs at"),
        "{report}"
    );
    let check = |set: &str, code| {
        let all = ["check", "--config", "arm.toml", "--set", set];
        folder.ends(&[&all[..], &WEIGHTLESS].concat(), code).0
    };
    // d/k: 6/9, of the elbow 8/16.
    let report = check("vehicle.motors.0.time_constant=0.1", 0);
    assert!(
        report.contains("stable below 0.500 s, common to all actuators, and below "),
        "{report}"
    );
    let report = check("vehicle.motors.1.time_constant=2.0", 5);
    assert!(
        report.contains("not with their own, up to 2.00 s, but below 0."),
        "{report}"
    );
}

#[test]
fn a_sensor_that_never_speaks_is_named() {
    let folder = folder();
    let mute =
        "backend.sim.faults=[{ kind = \"missing\", group = \"joint.1\", from = 0, until = inf }]";
    let (summary, told) = folder.ends(&["--config", "arm.toml", "--set", mute], 3);
    let expected = "no complete frame came within 10.0 s: `joint.1` is marked invalid";
    assert!(told.contains(expected), "{told}\n{summary}");
    assert!(
        summary.starts_with("arm: NOT FLOWN (no complete frame"),
        "{summary}"
    );
    let (found, _) = folder.ends(&["check", "--config", "arm.toml", "--set", mute], 5);
    let expected = format!("PROBLEM: the flight does not begin: {expected}");
    assert!(found.contains(&expected), "{found}");
}

/// Where the plant starts the arm is straight, and its law has no value.
#[test]
fn a_singular_start_is_found_by_check() {
    let start = "backend.sim.initial={ joints = { upper_arm = 1.9, forearm = 0.0 } }";
    let arguments = [
        "check",
        "--config",
        "examples/scara-tool.toml",
        "--set",
        start,
    ];
    let (found, told) = Folder::new().ends(&arguments, 5);
    let expected = "start               PROBLEM: the flight does not begin: the transport map needs a Jacobian with independent columns, \
        but that of `forearm` relative to `world` is singular here";
    assert!(found.contains(expected), "{found}");
    assert_eq!(told, "");
}

/// Its flight is over before the governor can have led it there, at 10 m/s.
#[test]
fn a_start_too_far_away_is_told_by_check() {
    let check = |x: u32| {
        let start = format!("backend.sim.initial.position=[{x}, 0, 0]");
        let arguments = ["check", "--config", "quadcopter.toml", "--set", &start];
        Folder::new().ends(&arguments, 0).0
    };
    let found = check(1000);
    assert!(
        found.contains("start           WARNING: the vehicle begins 1000 m from where its reference begins: the governor needs at least "),
        "{found}"
    );
    assert!(found.contains("the flight ends after 12 s"), "{found}");
    assert!(!check(50).contains("WARNING"));
}

/// A reference that needs too much thrust at all times is a problem, one that needs it for a while a warning.
#[test]
fn a_reference_that_nothing_can_hold_is_a_problem() {
    let check = |set: &str, code| {
        let arguments = ["check", "--config", "tricopter.toml", "--set", set];
        Folder::new().ends(&arguments, code).0
    };
    let found = check(
        "reference={ kind = \"hover\", attitude_deg = [180, 0, 0] }",
        5,
    );
    let [_, excess] = found
        .split_once("PROBLEM: ")
        .map(<[&str; 2]>::from)
        .expect("a problem");
    assert!(
        excess.contains("beyond the limits at 0.00 s, and at least 3.78 N at all times"),
        "{found}"
    );
}

/// A quadcopter that is lost while it tilts to come back.
const LOST: &str = r#"
[flight]
duration = 3.0

[vehicle]
file = "vehicles/quadcopter.toml"

[controller]
approach = "state_feedback"
allocation = "active_set"
poles = [-2, -2, -2.2, -2.2, -2.4, -2.4, -2.6, -2.6, [-2, 1], [-2, -1], [-3, 1], [-3, -1]]

[reference]
kind = "hover"

[safety]
# Twelve poles close together take their time.
max_descent_time = 20.0

[backend]
plugin = "sim"

[backend.sim]
initial = { position = [1.5, 0.0, 0.0] }
faults = [{ kind = "missing", from = 0.15, until = inf }]
"#;

#[test]
fn a_vehicle_under_state_feedback_comes_to_rest_level() {
    let folder = Folder::new();
    folder.write("lost.toml", LOST);
    // The gains know of no lag.
    let quick = [0, 1, 2, 3].map(|rotor| format!("vehicle.rotors.{rotor}.time_constant=0.0"));
    let mut arguments = vec!["--config", "lost.toml", "--log", "lost.mcap"];
    for set in &quick {
        arguments.extend(["--set", set]);
    }
    let (_, told) = folder.ends(&arguments, 4);
    assert!(told.contains("holding position"), "{told}");
    let goals: Vec<messages::Motion> = messages_of(&folder, "lost.mcap", "/fly/reference");
    let states: Vec<messages::Motion> = messages_of(&folder, "lost.mcap", "/fly/state");
    let tilt = |motion: &messages::Motion| {
        let attitude = motion.attitude.expect("an attitude");
        2.0 * attitude.x.hypot(attitude.y)
    };
    let lost = states.iter().map(tilt).fold(0.0, f64::max);
    assert!(lost > 0.05, "it tilted: {lost}");
    let (goal, last) = (
        goals.last().expect("a goal"),
        states.last().expect("a state"),
    );
    assert!(tilt(goal) < 1e-6, "told to be level: {goal:?}");
    let place = |motion: &messages::Motion| motion.position.expect("a position");
    let off = (place(last).x - place(goal).x).hypot(place(last).y - place(goal).y);
    assert!(off < 1e-3, "{last:?} {goal:?}");
}

#[test]
fn a_urdf_is_the_file_of_a_vehicle() {
    let folder = Folder::new();
    let robot = |limit: &str| {
        format!(
            r#"<robot name="arm">
<link name="world"/>
<link name="arm"><inertial><origin xyz="0.2 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>
<limit {limit} effort="20" velocity="9"/></joint>
<transmission name="drive"><type>transmission_interface/SimpleTransmission</type><joint name="shoulder"/><actuator name="motor"/></transmission>
</robot>"#
        )
    };
    folder.write("arm.urdf", &robot(r#"lower="-2" upper="2""#));
    let flight = r#"
[vehicle]
file = "arm.urdf"
gravity = [0, 0, 0]

[controller]
approach = "body"
pairs = [{ to = "arm", stiffness = 9, damping = 6, inertia = 1 }]

[reference]
kind = "joints"
joints.shoulder = { amplitude = 0.3, angular_frequency = 2 }

[flight]
duration = 1

[backend]
plugin = "sim"
"#;
    folder.write("flight.toml", flight);
    folder.flies(&["--config", "flight.toml", "--log", "flight.mcap"]);
    folder.ends(&["tune", "--config", "arm.urdf", "--bandwidth", "2"], 0);
    // By itself it is no flight.
    let (_, stderr) = folder.ends(&["check", "--config", "arm.urdf"], 2);
    common::contains(&stderr, "error: this describes bodies, not a flight");
    // An error in it is located in it.
    folder.write("arm.urdf", &robot(r#"lower="high" upper="2""#));
    let (_, stderr) = folder.ends(&["check", "--config", "flight.toml"], 2);
    common::contains(&stderr, "arm.urdf:5:15");
}

/// The controller's model is without the coupling, the simulated plant has it.
/// What is written in TOML says itself how it moves and what it weighs.
#[test]
fn options_of_urdf_are_refused_for_other_descriptions() {
    let folder = folder();
    for option in ["--free", "--raise-inertias"] {
        let message = format!(
            "error: `{option}` is for URDF, and `systems/cart_pole.toml` is a description in TOML: change its joints and bodies instead\n"
        );
        folder.fails(&["system", "systems/cart_pole.toml", option], 2, &message);
    }
}

#[test]
fn a_urdf_with_a_joint_that_mimics_another_flies_as_its_error_says() {
    let folder = Folder::new();
    let joint = |name: &str, parent: &str, child: &str, more: &str| {
        format!(
            r#"<link name="{child}"><inertial><origin xyz="0.2 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>{more}</joint>
<transmission name="{name}_drive"><type>transmission_interface/SimpleTransmission</type><joint name="{name}"/><actuator name="{name}_motor"/></transmission>
"#
        )
    };
    let upper = joint("shoulder", "world", "upper", "");
    let lower = joint("elbow", "upper", "lower", r#"<mimic joint="shoulder"/>"#);
    folder.write(
        "arm.urdf",
        &format!("<robot name=\"arm\"><link name=\"world\"/>\n{upper}{lower}</robot>"),
    );
    folder.write(
        "flight.toml",
        r#"
[vehicle]
file = "arm.urdf"

[controller]
approach = "energy"
pairs = [
    { to = "upper", stiffness = 9, damping = 6, inertia = 1 },
    { from = "upper", to = "lower", stiffness = 9, damping = 6, inertia = 1 },
]

[reference]
kind = "joints"
joints.shoulder = { amplitude = 0.3, angular_frequency = 2 }
joints.elbow = { amplitude = 0.3, angular_frequency = 2 }

[flight]
duration = 1

[backend]
plugin = "sim"
"#,
    );
    let flight = ["--config", "flight.toml", "--log", "flight.mcap"];
    let (_, stderr) = folder.ends(&flight, 2);
    common::contains(
        &stderr,
        "`arm` has couplings: write `couplings = []` in `[vehicle]`, and name the whole system in `[backend.sim] vehicle`",
    );
    let way_out = [
        "--set",
        "vehicle.couplings=[]",
        "--set",
        "backend.sim.vehicle.file=arm.urdf",
    ];
    folder.flies(&[&flight[..], &way_out].concat());
    // More exactly than a controller holds them together.
    let log = folder.path("flight.mcap");
    let log = fly_log::Recording::open(log, &fly_log::Options::default()).expect("a log");
    let [shoulder, elbow] = [0, 1].map(|joint| {
        let name = format!("joint.{joint}.position");
        log.description.value_index(&name).expect("a joint")
    });
    for frame in log.frames.iter() {
        let apart = frame.values[shoulder] - frame.values[elbow];
        assert!(apart.abs() < 1e-9, "{apart} rad at {} ns", frame.time);
    }
}

/// A mesh by its package, in a folder that the configuration names; another that is nowhere.
#[test]
fn a_urdf_is_shown_as_it_looks() {
    let folder = Folder::new();
    folder.write(
        "arm.urdf",
        r#"<robot name="arm">
<link name="world"/>
<link name="arm"><inertial><origin xyz="0.2 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.1" izz="0.1"/></inertial>
<visual><origin xyz="0.1 0 0"/><geometry><mesh filename="package://arm/tetrahedron.obj" scale="0.1 0.1 0.1"/></geometry><material name="red"><color rgba="1 0 0 0.5"/></material></visual>
<visual><geometry><mesh filename="package://arm/gone.stl"/></geometry></visual></link>
<joint name="shoulder" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="20" velocity="9"/></joint>
<transmission name="drive"><type>transmission_interface/SimpleTransmission</type><joint name="shoulder"/><actuator name="motor"/></transmission>
</robot>"#,
    );
    std::fs::create_dir_all(folder.path("shapes/arm")).unwrap();
    let tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    folder.write("shapes/arm/tetrahedron.obj", tetrahedron);
    let flight = r#"
[vehicle]
file = "arm.urdf"
mesh_dir = "shapes"
gravity = [0, 0, 0]

[controller]
approach = "body"
pairs = [{ to = "arm", stiffness = 9, damping = 6, inertia = 1 }]

[reference]
kind = "joints"
joints.shoulder = { amplitude = 0.3, angular_frequency = 2 }

[flight]
duration = 0.2

[backend]
plugin = "sim"
"#;
    folder.write("flight.toml", flight);
    let arguments = [
        "--config",
        "flight.toml",
        "--log",
        "flight.mcap",
        "--report",
    ];
    let (_, stderr) = folder.ends(&arguments, 0);
    common::contains(
        &stderr,
        "arm.urdf: line 5: link `arm` is shown without this visual",
    );
    common::contains(
        &stderr,
        "`package://arm/gone.stl` is not found; searched shapes/arm/gone.stl",
    );

    let scenes: Vec<foxglove::SceneUpdate> = messages_of(&folder, "flight.mcap", "/truth/scene");
    let [arm] = scenes[0].entities.as_slice() else {
        panic!("{scenes:?}");
    };
    let [mesh] = arm.triangles.as_slice() else {
        panic!("{arm:?}");
    };
    assert_eq!((mesh.points.len(), mesh.indices.len()), (4, 12));
    let color = mesh.color.unwrap();
    assert_eq!([color.r, color.g, color.b, color.a], [1.0, 0.0, 0.0, 0.5]);
    let (low, high) = (mesh.points.iter())
        .map(|point| point.x)
        .fold((f64::MAX, f64::MIN), |(low, high), x| {
            (low.min(x), high.max(x))
        });
    assert!((low - 0.1).abs() < 1e-12 && (high - 0.2).abs() < 1e-12);
    assert!(
        arm.cubes.is_empty() && arm.cylinders.is_empty(),
        "nothing but what is described"
    );

    // The page draws it, and shows its text as the number of its triangles.
    let page = std::fs::read_to_string(folder.path("flight.html")).unwrap();
    common::contains(&page, r#""kind":"mesh","vertices":[[0.1,0.0,0.0]"#);
    common::contains(&page, "4 triangles, in the log");
    assert!(!page.contains("f 1 3 2"));
    // The log needs no files: it flies again from what is in it.
    std::fs::remove_dir_all(folder.path("shapes")).unwrap();
    let flight = fly_report::Flight::open(folder.path("flight.mcap")).unwrap();
    assert!(matches!(
        flight.scene.bodies[0].shapes[0].shape,
        fly_mechanics::scene::Shape::Mesh { .. }
    ));
    // By the command line it is found as well.
    std::fs::create_dir_all(folder.path("flat")).unwrap();
    folder.write("flat/tetrahedron.obj", tetrahedron);
    folder.write("flat/gone.stl", "solid x\nendsolid x\n");
    let (_, stderr) = folder.ends(
        &[
            "--config",
            "flight.toml",
            "--log",
            "again.mcap",
            "--mesh-dir",
            "flat",
        ],
        0,
    );
    common::contains(&stderr, "the mesh has no triangles");
    let (tree, _) = folder.ends(&["system", "arm.urdf", "--toml", "--mesh-dir", "flat"], 0);
    common::contains(&tree, "mesh = '''");
    // Beside a file that is named without a folder, too.
    std::fs::create_dir_all(folder.path("arm")).unwrap();
    folder.write("arm/tetrahedron.obj", tetrahedron);
    let (tree, _) = folder.ends(&["system", "arm.urdf", "--toml"], 0);
    common::contains(&tree, "mesh = '''");
}

/// Signals are connected by number: what a plant of its own has in another order, or lacks, is told before it flies.
#[test]
fn a_plant_of_other_joints_is_told() {
    let folder = Folder::new();
    let arm = |names: &[&str]| {
        let parts = names.iter().map(|name| {
            format!("[bodies.{name}]\njoint = {{ type = \"revolute\", axis = [0, 0, 1] }}\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n[[motors]]\njoint = \"{name}\"\n")
        });
        format!("name = \"arm\"\n{}", parts.collect::<String>())
    };
    folder.write("arm.toml", &arm(&["a", "b"]));
    folder.write("swapped.toml", &arm(&["b", "a"]));
    folder.write("short.toml", &arm(&["a"]));
    folder.write(
        "flight.toml",
        "vehicle = \"arm.toml\"\nflight = { duration = 0.2, rate_hz = 100 }\nreference = { kind = \"rest\", joints = { a = 0.1, b = -0.1 } }\n\
         backend = { plugin = \"sim\", sim.vehicle = \"arm.toml\" }\n[controller]\napproach = \"computed_torque\"\n\
         gains = { a = { stiffness = 9, damping = 6 }, b = { stiffness = 9, damping = 6 } }\n",
    );
    let config = ["--config", "flight.toml"];
    let with = |plant: &str| format!("backend.sim.vehicle=\"{plant}.toml\"");
    let check = |plant: &str, code: i32| {
        let set = with(plant);
        folder.ends(&[&["check"], &config[..], &["--set", &set]].concat(), code)
    };
    let (_, warnings) = check("arm", 0);
    assert!(!warnings.contains("by number"), "{warnings}");
    let (_, warnings) = check("swapped", 0);
    common::contains(
        &warnings,
        "`joint.0` is `b` in `backend.sim.vehicle` and `a` in the vehicle",
    );
    let (findings, _) = check("short", 5);
    common::contains(&findings, "does not measure `joint.1");
    let set = with("short");
    let sweep = ["sweep", "--flights", "2", "--out", "swept", "--set", &set];
    let (_, errors) = folder.ends(&[&sweep[..], &config].concat(), 3);
    common::contains(&errors, "does not measure `joint.1");
    let flown = folder.files().iter().any(|name| name.starts_with("swept."));
    assert!(!flown, "nothing was flown");
}

/// A nut that hardly swings out of where it is held is stable, if slow, for `fly check` as for `fly tune`; the least lag that it tolerates is found.
#[test]
fn what_hardly_damps_is_stable() {
    let folder = Folder::new();
    folder.write(
        "nut.toml",
        r#"
        [flight]
        duration = 1.0
        [vehicle]
        name = "nut"
        [vehicle.bodies.nut]
        joint = { type = "screw", axis = [0, 0, 1], lead = 0.1 }
        mass = 2.0
        inertia = [0.01, 0.01, 0.02]
        [[vehicle.motors]]
        joint = "nut"
        [controller]
        approach = "computed_torque"
        gains.nut = { stiffness = 1, damping = 0.002 }
        [reference]
        kind = "rest"
        [backend]
        plugin = "sim"
        "#,
    );
    let (report, _) = folder.ends(&["check", "--config", "nut.toml"], 0);
    let slow =
        "slowest -0.0010 +- 1.00i, fastest -0.0010 +- 1.00i 1/s: stable, but it hardly settles";
    assert!(report.contains(slow), "{report}");
    assert!(report.contains("stable below 0.00200 s"), "{report}");
    let lag = |gains: &str| {
        let set = format!("controller.gains.nut={gains}");
        // Sampled, it is too little damping.
        let (report, _) = folder.ends(&["tune", "--config", "nut.toml", "--set", &set], 5);
        report
    };
    let found = lag("{ stiffness = 1, damping = 0.001 }");
    assert!(found.contains("stable below 0.00100 s"), "{found}");
    let found = lag("{ stiffness = 100, damping = 0.005 }");
    assert!(found.contains("stable below 5.00e-5 s"), "{found}");
}

/// Wheels do not move sideways: a reference that does is a problem of the check, and an objection to the flight.
#[test]
fn a_reference_that_slips_is_named() {
    let folder = Folder::new();
    let config = ["--config", "examples/differential-drive.toml"];
    let slips = r#"reference={ kind = "joints", joints = { chassis = { offset = [0, 0, 0], rate = [0, 1, 0] } } }"#;
    let (report, _) = folder.ends(&[&["check"], &config[..], &["--set", slips]].concat(), 5);
    let found = "slips by 1.00 (m/s, rad/s) at `";
    assert!(report.contains(found), "{report}");
    let (_, told) = folder.ends(&[&config[..], &["--strict", "--set", slips]].concat(), 5);
    assert!(told.contains(found), "{told}");
    folder.ends(&[&["check"], &config[..]].concat(), 0);
}

/// What a start asks for, and loops and couplings do not allow, is told.
#[test]
fn a_start_that_cannot_be_is_told() {
    let folder = Folder::new();
    let given = "initial = { joints = { upper = 0.2, elbow = 0.1 } }\n";
    folder.write("arm.toml", &ARM.replace(given, ""));
    let geared = "backend.sim.vehicle.couplings=[{ terms = [{ joint = \"upper\" }, { joint = \"elbow\" }] }]";
    let told = |initial: &str| {
        let set = format!("backend.sim.initial={{ {initial} }}");
        let flags = [
            "check", "--config", "arm.toml", "--set", geared, "--set", &set,
        ];
        folder.ends(&flags, 0).1
    };
    let (both, one) = (
        "joints = { upper = 0.5, elbow = 0.1 }",
        "joints = { upper = 0.5 }",
    );
    let found = told(both);
    assert!(
        found.contains("`upper`: asked 0.5 rad, begins at 0."),
        "{found}"
    );
    assert!(
        found.contains("`elbow`: asked 0.1 rad, begins at -0."),
        "{found}"
    );
    assert!(!told(one).contains("asked"), "it can adapt");
    let found = told("joint_velocities = { upper = 1.0, elbow = 1.0 }");
    assert!(
        found.contains("`upper`: asked [1.0], begins with ["),
        "{found}"
    );
}

/// Of a joint with limits, and of one whose limits exclude where it begins if nothing is given.
#[test]
fn check_finds_a_start_outside_the_limits_of_a_joint() {
    let folder = folder();
    let limited = |name: &str, limits: &str| {
        let from = format!("name = \"{name}\", type = \"revolute\"");
        let text = ARM.replace(
            &from,
            &format!("{from}, limits = {{ position = {limits} }}"),
        );
        assert_ne!(text, ARM);
        folder.write("arm.toml", &text);
        folder.ends(&["check", "--config", "arm.toml"], 0).0
    };
    let report = limited("elbow", "[0.2, 1.0]");
    common::contains(
        &report,
        "WARNING: joint `elbow` begins at 0.1000, outside its limits from 0.2000 to 1.000 rad (`backend.sim.initial.joints`)",
    );
    common::contains(&report, "it can fly, with 1 warning");
    let report = limited("elbow", "[-1.0, 1.0]");
    common::contains(&report, "everything is in order");

    let text = ARM.replace(", elbow = 0.1", "").replace(
        "type = \"revolute\", axis = [0, 1, 0] }",
        "type = \"revolute\", axis = [0, 1, 0], limits = { position_deg = [10, 90] } }",
    );
    folder.write("arm.toml", &text);
    let (report, _) = folder.ends(&["check", "--config", "arm.toml"], 0);
    common::contains(&report, "joint `elbow` begins at 0, outside its limits");
}

/// Of a reference, told with where and when.
#[test]
fn check_finds_a_reference_faster_than_a_joint() {
    let folder = folder();
    let check = |limits: &str| {
        let limits = format!("vehicle.bodies.forearm.joint.limits={limits}");
        let arguments = [
            "check",
            "--config",
            "examples/scara-joints.toml",
            "--set",
            &limits,
        ];
        folder.ends(&arguments, 0).0
    };
    let report = check("{ velocity = 0.5 }");
    common::contains(&report, "WARNING: joint `forearm` would move at ");
    common::contains(&report, " s, faster than its limit of 0.500 rad/s");
    common::contains(&check("{ velocity = 5 }"), "everything is in order");
}

/// How old samples become, and when they are too old.
#[test]
fn check_tells_what_slow_encoders_mean() {
    let folder = folder();
    let check = |encoders: &str, stale: &str, code: i32| {
        let encoders = format!("backend.sim.sensors.encoders={encoders}");
        let stale = format!("safety.stale_ms={stale}");
        let config = "examples/scara-joints.toml";
        let arguments = [
            "check", "--config", config, "--set", &encoders, "--set", &stale,
        ];
        folder.ends(&arguments, code).0
    };
    let report = check("{ rate = 500 }", "100", 0);
    assert!(!report.contains("encoders"), "{report}");
    let report = check("{ rate = 100, delay = 0.004 }", "100", 0);
    common::contains(
        &report,
        "encoders            a sample every 10.00 ms, up to 12.00 ms old\n",
    );
    let report = check("{ rate = 5 }", "100", 5);
    common::contains(
        &report,
        "PROBLEM: a sample every 200.0 ms, up to 198.0 ms old: older than `safety.stale_ms = 100` they count as lost; raise it, or the `rate`",
    );
    let report = check("{ rate = 10, delay = 0.02 }", "100", 0);
    common::contains(
        &report,
        "WARNING: a sample every 100.0 ms, up to 118.0 ms old: older than ",
    );
    let report = check("{ rate = 2 }", "1000", 0);
    common::contains(
        &report,
        "WARNING: a sample every 500.0 ms, up to 498.0 ms old: less than one in 250 ms, the time constant of the fastest pole",
    );
}
