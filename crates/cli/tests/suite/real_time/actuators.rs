//! `fly actuators` with autopilots in pymavlink, which check every field that they receive.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Folder, contains};
use crate::real_time::autopilots::port::free_port;
use crate::real_time::autopilots::python::Script;

/// Exit code, output, messages, and what the autopilot received; `None` without pymavlink.
fn moved(
    autopilot: &str,
    options: &[&str],
    arguments: &[&str],
) -> Option<(i32, String, String, Value)> {
    let place = format!("127.0.0.1:{}", free_port());
    let folder = Folder::new();
    let options: Vec<&str> = options.iter().copied().chain(["kind=15"]).collect();
    let peer = Script::autopilot(&place, autopilot, &options)?;
    let link = format!("backend.tricopter.link=\"udpin:{place}\"");
    let common = [
        "actuators",
        "--config",
        "tricopter",
        "--backend",
        "tricopter",
        "--set",
        &link,
    ];
    let output = folder.fly(&[&common[..], arguments].concat());
    let report: Value = serde_json::from_str(&peer.report()).unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    println!("{autopilot} {options:?} {arguments:?}\n{stdout}{stderr}\n{report}");
    Some((
        output.status.code().unwrap(),
        stdout,
        stderr,
        report["bench"].clone(),
    ))
}

#[test]
fn the_channel_map_is_listed() {
    let folder = Folder::new();
    let list = |set: &[&str]| {
        let common = [
            "actuators",
            "list",
            "--config",
            "tricopter",
            "--backend",
            "tricopter",
        ];
        folder.ends(&[&common[..], set].concat(), 0).0
    };
    let plain = list(&[]);
    for expected in [
        "rotor.0.thrust  front left   1       1000, 1000, 2000 us  straight",
        "rotor.1.tilt    rear         5       1000, 1500, 2000 us  straight   -60.0 to 60.0 deg  Servo 2  SERVO5",
        "Motor 3  motor test 1",
    ] {
        contains(&plain, expected);
    }
    let (_, messages) = folder.ends(&["actuators", "list", "--config", "tricopter"], 2);
    contains(
        &messages,
        "the backend `sim` has no outputs that could be tested",
    );
}

#[test]
fn nothing_moves_without_the_users_word() {
    let arguments = [
        "actuators",
        "test",
        "rear",
        "--config",
        "tricopter",
        "--backend",
        "tricopter",
    ];
    let (_, messages) = Folder::new().ends(&arguments, 10);
    contains(&messages, "TAKE THE PROPELLERS OFF");
    contains(
        &messages,
        "rotor.1.thrust (rear) to +10 % of full output for 1.0 s: SPINS (+0.10 to PX4, 1100 us to ArduPilot)",
    );
    contains(
        &messages,
        "nothing was moved: this asks for confirmation on a terminal, and there is none; in scripts use --yes",
    );
}

#[test]
fn autopilots_move_one_actuator_and_stop_it() {
    let quick = ["--seconds", "0.5", "--yes"];
    let test =
        |name: &'static str, more: &[&'static str]| [&["test", name][..], more, &quick].concat();
    // PX4: value, timeout, function; then nothing and no timeout.
    if let Some((code, stdout, stderr, told)) = moved("px4", &[], &test("rear", &[])) {
        assert_eq!(code, 0, "{stderr}");
        contains(&stdout, "moved rotor.1.thrust (rear) to +10 %");
        assert_eq!(
            told,
            json!([
                [310, [0.1, 0.5, 0.0, 0.0, 2.0, 0.0, 0.0]],
                [310, [null, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0]],
            ])
        );
    }
    if let Some((code, _, stderr, told)) =
        moved("px4", &[], &test("rotor.2.tilt", &["--value", "-0.5"]))
    {
        assert_eq!(code, 0, "{stderr}");
        contains(&stderr, "-30.0 deg");
        assert_eq!(told[0], json!([310, [-0.5, 0.5, 0.0, 0.0, 35.0, 0.0, 0.0]]));
    }
    // ArduCopter's tricopter: the front left motor is the fourth of the test; 1000 + 0.1 * 1000 us.
    if let Some((code, _, stderr, told)) = moved("ardupilot", &[], &test("front left", &[])) {
        assert_eq!(code, 0, "{stderr}");
        assert_eq!(
            told,
            json!([
                [209, [4.0, 1.0, 1100.0, 0.5, 1.0, 0.0, 0.0]],
                [209, [4.0, 1.0, 1000.0, 0.0, 1.0, 0.0, 0.0]],
            ])
        );
    }
    // Half a period at 1500 + 0.3 * 500 us, then at rest; to the other side likewise.
    if let Some((code, _, stderr, told)) = moved("ardupilot", &[], &test("front left tilt", &[])) {
        assert_eq!(code, 0, "{stderr}");
        let rest = json!([183, [4.0, 1500.0, 0.0, 0.0, 0.0, 0.0, 0.0]]);
        let side = |pulse: f64| json!([184, [4.0, pulse, 1.0, 1.0, 0.0, 0.0, 0.0]]);
        assert_eq!(told, json!([side(1650.0), rest, side(1350.0), rest]));
    }
}

/// A reversed servo with its own limits and trim.
#[test]
fn directions_limits_and_trim_are_those_of_the_configuration() {
    let outputs = "backend.tricopter.outputs=[\
        { command = 'rotor.0.thrust', channel = 1 }, { command = 'rotor.1.thrust', channel = 2 }, { command = 'rotor.2.thrust', channel = 3 }, \
        { command = 'rotor.0.tilt', channel = 4, reversed = true, min = 1100, trim = 1450, max = 1900 }, \
        { command = 'rotor.1.tilt', channel = 5 }, { command = 'rotor.2.tilt', channel = 6 }]";
    let list = [
        "actuators",
        "list",
        "--config",
        "tricopter",
        "--backend",
        "tricopter",
    ];
    let (listed, _) = Folder::new().ends(&[&list[..], &["--set", outputs]].concat(), 0);
    // At the least command, at rest, at the greatest.
    contains(&listed, "1900, 1450, 1100 us  reversed");
    let quick = ["test", "rotor.0.tilt", "--seconds", "0.5", "--yes"];
    let arguments = [&quick[..], &["--set", outputs]].concat();
    let Some((code, _, stderr, told)) = moved("ardupilot", &[], &arguments) else {
        return;
    };
    assert_eq!(code, 0, "{stderr}");
    // 0.3 of the way down to 1100, then up to 1900.
    let rest = json!([183, [4.0, 1450.0, 0.0, 0.0, 0.0, 0.0, 0.0]]);
    let side = |pulse: f64| json!([184, [4.0, pulse, 1.0, 1.0, 0.0, 0.0, 0.0]]);
    assert_eq!(told, json!([side(1345.0), rest, side(1585.0), rest]));
}

#[test]
fn a_motor_is_not_driven_backwards() {
    let arguments = ["actuators", "test", "rear", "--value", "-0.1", "--yes"];
    let vehicle = ["--config", "tricopter", "--backend", "tricopter"];
    let (_, messages) = Folder::new().ends(&[&arguments[..], &vehicle].concat(), 2);
    contains(
        &messages,
        "--value is -0.1, and `rotor.1.thrust` drives in one direction: expected 0 to 1",
    );
}

/// Ctrl-Z would stop the program, and not the motor.
#[test]
fn an_interrupted_test_stops_the_actuator() {
    for signal in ["-INT", "-TSTP"] {
        let place = format!("127.0.0.1:{}", free_port());
        let Some(peer) = Script::autopilot(&place, "px4", &["kind=15"]) else {
            return;
        };
        let link = format!("backend.tricopter.link=\"udpin:{place}\"");
        let mut fly = Command::new(env!("CARGO_BIN_EXE_fly"))
            .args(["actuators", "test", "rear", "--seconds", "3", "--yes"])
            .args(["--config", "tricopter", "--backend", "tricopter"])
            .args(["--set", &link])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It tells whom it has found, and moves the motor.
        let mut messages = BufReader::new(fly.stderr.take().unwrap()).lines();
        assert!(messages.any(|line| line.unwrap().contains("system 1")));
        std::thread::sleep(Duration::from_secs(1));
        let id = fly.id().to_string();
        Command::new("kill").args([signal, &id]).status().unwrap();
        let code = fly.wait().unwrap().code();
        let report: Value = serde_json::from_str(&peer.report()).unwrap();
        assert_eq!(code, Some(130), "{signal}: {report}");
        let stop = json!([310, [null, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0]]);
        assert_eq!(report["bench"][1], stop, "{signal}: {report}");
    }
}

/// Its 10 % would be 90 % of a motor that is not wired so.
#[test]
fn a_motor_with_an_inverted_pulse_is_not_moved() {
    let outputs = "backend.tricopter.outputs=[\
        { command = 'rotor.0.thrust', channel = 1, reversed = true }, { command = 'rotor.1.thrust', channel = 2 }, \
        { command = 'rotor.2.thrust', channel = 3 }, { command = 'rotor.0.tilt', channel = 4 }, \
        { command = 'rotor.1.tilt', channel = 5 }, { command = 'rotor.2.tilt', channel = 6 }]";
    let vehicle = [
        "--config",
        "tricopter",
        "--backend",
        "tricopter",
        "--yes",
        "--set",
        outputs,
    ];
    for which in [&["sweep"][..], &["test", "front left"]] {
        let arguments = [&["actuators"][..], which, &vehicle].concat();
        let (_, messages) = Folder::new().ends(&arguments, 2);
        contains(&messages, "the output of `rotor.0.thrust` is `reversed`");
    }
}

/// Whose heartbeats say that it is armed while it tests a motor, and for a second after that.
#[test]
fn an_ardupilot_moves_all_one_after_the_other() {
    let arguments = ["sweep", "--seconds", "0.2", "--yes"];
    let Some((code, stdout, messages, told)) = moved("ardupilot", &[], &arguments) else {
        return;
    };
    assert_eq!(code, 0, "{messages}");
    assert_eq!(stdout.matches("moved rotor").count(), 9, "{stdout}");
    let motors = told.as_array().unwrap().iter();
    assert_eq!(motors.filter(|told| told[0] == 209).count(), 6, "{told}");
}

/// As ArduCopter's simulation, which begins when it is connected to.
#[test]
fn a_board_that_initialises_is_waited_for() {
    let arguments = ["test", "front left", "--seconds", "0.2", "--yes"];
    let Some((code, _, messages, told)) = moved("ardupilot", &["initialising=2"], &arguments)
    else {
        return;
    };
    assert_eq!(code, 0, "{messages}");
    let pulses: Vec<_> = (told.as_array().unwrap().iter())
        .map(|told| told[1][2].as_f64().unwrap())
        .collect();
    // Twice too early, then at 10 %, and stopped.
    assert_eq!(pulses[..3], [1100.0; 3]);
    assert_eq!(pulses.len(), 4, "{told}");
}

#[test]
fn refusals_say_what_is_missing() {
    let check = |autopilot: &str, options: &[&str], name: &str, expected: &str| {
        let arguments = ["test", name, "--seconds", "0.5", "--yes"];
        let Some((code, _, messages, told)) = moved(autopilot, options, &arguments) else {
            return;
        };
        assert_eq!(code, 3, "{messages}");
        contains(&messages, expected);
        let most = usize::from(options[0] == "safety=1");
        assert_eq!(told.as_array().map_or(0, Vec::len), most, "{told}");
    };
    check(
        "px4",
        &["mot_test=0"],
        "rear",
        "COM_MOT_TEST_EN is 0, expected 1",
    );
    check("px4", &["already_armed=1"], "rear", "the vehicle is armed");
    check(
        "px4",
        &["safety=1"],
        "rear",
        "the vehicle refused to move `rotor.1.thrust` (denied): PX4 denies it while",
    );
    check(
        "ardupilot",
        &["safety=1"],
        "front left",
        "(failed), saying: Motor Test: Safety switch: ArduCopter tests motors",
    );
    // It takes only what is signed, and `fly` has no key.
    check(
        "px4",
        &[&format!("key={}", "5a".repeat(32))],
        "rear",
        "it signs its messages, and `signing_key` is not given",
    );
    check(
        "ardupilot",
        &["servo4=37"],
        "front left tilt",
        "SERVO4_FUNCTION is 37, expected 0 (none)",
    );
}
