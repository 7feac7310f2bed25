//! Commanding a real vehicle: confirmation, take-off, and takeover by another pilot.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::common::{self, Folder};
use crate::real_time;

/// A statue that reports who has control and takes off by itself. It never disarms by itself, and no test here waits
/// for that.
fn config(folder: &Folder, duration: f64) -> String {
    let config = real_time::configuration_with(folder, duration, &["-DPILOT"]);
    let text = std::fs::read_to_string(folder.path(&config)).unwrap();
    let text = text.replace("[safety]\n", "[safety]\nlanding_time = 0.2\n");
    folder.write(&config, &text);
    config
}

/// Flies the statue with a fault: exit code, summary, messages and the received commands.
fn flown(fault: &str, set: &[&str]) -> (i32, String, String, Vec<String>) {
    let folder = Folder::new();
    let config = config(&folder, 1.0);
    let journal = folder.path("journal");
    let set = set.iter().flat_map(|set| ["--set", set]);
    let output = Command::new(env!("CARGO_BIN_EXE_fly"))
        .args([
            "--config",
            &config,
            "--arm",
            "--yes",
            "--log",
            "flight.mcap",
        ])
        .args(set)
        .current_dir(folder.path("."))
        .env("FLY_PLUGIN_PATH", folder.plugin_path())
        .env("STATUE_FAULT", fault)
        .env("STATUE_JOURNAL", &journal)
        .env_remove("RUST_LOG")
        .output()
        .unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (
        output.status.code().unwrap(),
        stdout,
        stderr,
        told(&journal),
    )
}

/// The commands that the vehicle received, without repetitions.
fn told(journal: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(journal).unwrap_or_default();
    let words = text.lines().filter_map(|line| line.split_once(' '));
    let mut told: Vec<String> = words.map(|(_, what)| what.to_owned()).collect();
    told.dedup();
    told
}

/// The received commands in order of their first occurrence.
fn begun(told: &[String]) -> Vec<&str> {
    let mut begun: Vec<&str> = Vec::new();
    for what in told {
        if !begun.contains(&what.as_str()) {
            begun.push(what);
        }
    }
    begun
}

/// Begins 1.5 m above the vehicle, which stands.
const ABOVE: &str = "reference={ kind = \"hover\", position = [0.0, 0.0, 1.5] }";

#[test]
fn a_vehicle_that_stands_takes_off_to_where_the_reference_begins() {
    let (code, summary, messages, told) = flown("", &[ABOVE, "flight.take_off=true"]);
    assert_eq!(code, 0, "{summary}{messages}");
    let order = ["arm", "take off 1.500", "write", "land", "stop"];
    assert_eq!(begun(&told), order);
    common::contains(
        &messages,
        "automatic take-off to there if the vehicle is on the ground",
    );
}

#[test]
fn a_given_height_is_climbed_and_must_be_near_the_reference() {
    let (code, summary, _, told) = flown("", &[ABOVE, "flight.take_off=1.2"]);
    assert_eq!(code, 0, "{summary}");
    assert_eq!(told[1], "take off 1.200");
    // Not armed at all if it leads elsewhere.
    let far = ["flight.take_off=4.0", "safety.request_timeout=1", ABOVE];
    let (code, summary, _, told) = flown("", &far);
    assert_eq!(code, 3, "{summary}");
    common::contains(
        &summary,
        "not armed: the reference begins 2.50 m and 0 deg away",
    );
    assert_eq!(told, ["stop"]);
}

#[test]
fn a_refused_take_off_is_told_and_the_vehicle_disarmed() {
    let (code, summary, _, told) = flown("no take-off", &[ABOVE, "flight.take_off=true"]);
    assert_eq!(code, 3, "{summary}");
    common::contains(&summary, "TAKE-OFF failed: the pre-flight checks fail");
    assert_eq!(told[0], "arm");
    assert_eq!(told[1], "disarm", "{told:?}");
}

#[test]
fn a_take_off_that_lasts_too_long_lands() {
    let set = [ABOVE, "flight.take_off=true", "safety.take_off_time=0.3"];
    let (code, summary, _, told) = flown("endless take-off", &set);
    assert_eq!(code, 3, "{summary}");
    common::contains(
        &summary,
        "the vehicle has not taken off after 0.3 s (`safety.take_off_time`)",
    );
    assert_eq!(told, ["arm", "take off 1.500", "land", "stop"]);
}

/// In flight, while arming and while climbing: after a takeover only the end follows.
#[test]
fn whoever_takes_the_vehicle_has_it_at_once() {
    let up = [ABOVE, "flight.take_off=true", "flight.duration=60"];
    for (fault, before) in [
        ("taken", &["arm", "take off 1.500", "write", "fault"][..]),
        ("taken while arming", &["arm"]),
        ("taken while taking off", &["arm", "take off 1.500"]),
    ] {
        let (code, summary, messages, told) = flown(fault, &up);
        assert_eq!(code, 9, "{fault}: {summary}{messages}");
        common::begins(
            &summary,
            "statue: TAKEN OVER: a pilot, another program or its own failsafe controls the vehicle",
        );
        common::contains(
            &messages,
            "a pilot, another program or its own failsafe took control: nothing more is sent",
        );
        let expected: Vec<&str> = before.iter().copied().chain(["taken", "stop"]).collect();
        assert_eq!(told, expected, "{fault}");
    }
}

/// Even the watchdog does not tell a vehicle to land that another pilot has taken.
#[test]
fn a_hang_afterwards_is_no_reason_to_land() {
    let set = ["safety.request_timeout=0.5", "flight.duration=60"];
    let (code, _, messages, told) = flown("taken, hang in stop", &set);
    assert_eq!(code, 8, "{messages}");
    common::contains(&messages, "the vehicle was taken over before");
    assert_eq!(told, ["arm", "write", "fault", "taken", "stop"]);
}

#[test]
fn without_a_terminal_nothing_is_armed() {
    let folder = Folder::new();
    let config = config(&folder, 0.5);
    let (_, messages) = folder.ends(&["--config", &config, "--arm"], 10);
    for expected in [
        "--arm: a real vehicle will be armed and flown",
        "quadcopter, 0.9 kg",
        "statue 1.0.0",
        "rotor.0.thrust, rotor.1.thrust",
        "hover from (0.00, 0.00, 0.00) m",
        "after 0.5 s: it lands",
        "levels and descends",
        "nothing was armed: --arm asks for confirmation on a terminal, and there is none; in scripts use --yes",
    ] {
        common::contains(&messages, expected);
    }
    assert!(!folder.files().iter().any(|file| file.contains("mcap")));
    // Where it begins is not known yet.
    let relative = [
        "--config",
        &config,
        "--arm",
        "--set",
        "flight.relative=true",
    ];
    let (_, messages) = folder.ends(&relative, 10);
    let moved = "hover, moved to begin at the vehicle (`flight.relative`)";
    common::contains(&messages, moved);
}

/// Runs the command on its own terminal and answers: exit code, and the terminal's output.
fn answered(answer: &str) -> (i32, String, Vec<String>) {
    let folder = Folder::new();
    let config = config(&folder, 0.3);
    let journal = folder.path("journal");
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let open = || {
        let path = Path::new(name.to_str().unwrap());
        File::options().read(true).write(true).open(path).unwrap()
    };
    let mut flight = Command::new(env!("CARGO_BIN_EXE_fly"))
        .args(["--config", &config, "--arm", "--log", "flight.mcap"])
        .current_dir(folder.path("."))
        .env("FLY_PLUGIN_PATH", folder.plugin_path())
        .env("STATUE_JOURNAL", &journal)
        .env_remove("RUST_LOG")
        .stdin(Stdio::from(open()))
        .stdout(Stdio::null())
        .stderr(Stdio::from(open()))
        .spawn()
        .unwrap();
    let mut terminal = File::from(master);
    let (mut shown, mut buffer) = (String::new(), [0; 4096]);
    while !shown.contains("Type `yes`") {
        let count = terminal.read(&mut buffer).unwrap();
        shown += &String::from_utf8_lossy(&buffer[..count]);
    }
    terminal
        .write_all(format!("{answer}\n").as_bytes())
        .unwrap();
    // The other end is closed when it ends.
    while let Ok(count @ 1..) = terminal.read(&mut buffer) {
        shown += &String::from_utf8_lossy(&buffer[..count]);
    }
    (
        flight.wait().unwrap().code().unwrap(),
        shown,
        told(&journal),
    )
}

#[test]
fn the_user_is_asked_once() {
    let (code, shown, told) = answered("yes");
    assert_eq!(code, 0, "{shown}");
    assert_eq!(shown.matches("Type `yes`").count(), 1, "{shown}");
    assert_eq!(begun(&told), ["arm", "write", "land", "stop"]);
    for answer in ["no", "", "y"] {
        let (code, shown, told) = answered(answer);
        assert_eq!(code, 10, "{shown}");
        common::contains(&shown, "nothing was armed: the answer was not `yes`");
        assert_eq!(told, [""; 0]);
    }
}

#[test]
fn simulations_are_not_asked_for() {
    let folder = Folder::new();
    let arguments = [
        "--config",
        "quadcopter.toml",
        "--arm",
        "--set",
        "flight.duration=0.1",
    ];
    let arguments = [&arguments[..], &["--log", "flight.mcap"]].concat();
    let (_, messages) = folder.ends(&arguments, 0);
    assert!(!messages.contains("real vehicle"), "{messages}");
}
