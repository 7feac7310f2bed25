//! `[backend]`: plugins and their tables.

use crate::bad_input::{FLIGHT, Folder, folder};
use crate::common::plugins;

/// A shipped flight, so that only the backend is at fault.
const SHIPPED: [&str; 3] = ["check", "--config", "quadcopter"];

#[track_caller]
fn fails(folder: &Folder, flags: &[&str], code: i32, expected: &str) {
    folder.fails(&[&SHIPPED, flags].concat(), code, expected);
}

#[test]
fn missing_plugin() {
    let folder = folder();
    let mut folders = vec![
        plugins().display().to_string(),
        folder
            .path("")
            .display()
            .to_string()
            .trim_end_matches('/')
            .to_owned(),
    ];
    let executable = std::path::Path::new(env!("CARGO_BIN_EXE_fly"))
        .parent()
        .unwrap();
    folders.push(executable.display().to_string());
    folders.push(
        executable
            .parent()
            .unwrap()
            .join("lib/fly")
            .display()
            .to_string(),
    );
    let searched = folders.join(", ");
    fails(
        &folder,
        &["--backend", "smi"],
        3,
        &format!(
            "\
error: there is no plugin `smi`
 --> --backend:1:11
  |
1 | --backend smi
  |           ^^^ chosen here
  |
  = note: searched for libfly_plugin_smi.so in {searched}
  = help: did you mean `sim`?
"
        ),
    );
}

#[test]
fn missing_library() {
    fails(
        &folder(),
        &["--set", "backend.plugin=./mine.so"],
        3,
        "\
error: cannot read the plugin `./mine.so`: No such file or directory (os error 2)
 --> --set:1:22
  |
1 | --set backend.plugin=./mine.so
  |                      ^^^^^^^^^ chosen here
",
    );
}

#[test]
fn a_file_that_is_no_library() {
    let folder = folder();
    folder.write("text.so", "hello");
    let path = folder
        .path("text.so")
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    fails(
        &folder,
        &["--backend", "./text.so"],
        3,
        &format!(
            "\
error: `{path}` is not a library that can be loaded: {path}: file too short
 --> --backend:1:11
  |
1 | --backend ./text.so
  |           ^^^^^^^^^ chosen here
"
        ),
    );
}

#[test]
fn another_version_of_the_abi() {
    let folder = folder();
    let source = "\
#include \"fly_plugin.h\"
static const FlyPlugin table = { .magic = FLY_MAGIC, .major = 99, .minor = 7, .size = sizeof table };
const FlyPlugin *fly_plugin(void) { return &table; }
";
    folder.write("old.c", source);
    let library = folder.path("old.so");
    let status = std::process::Command::new("cc")
        .args([
            "-shared",
            "-fPIC",
            "-I",
            concat!(env!("CARGO_MANIFEST_DIR"), "/../hal/include"),
            "-o",
        ])
        .args([&library, &folder.path("old.c")])
        .status()
        .unwrap();
    assert!(status.success());
    let path = library.canonicalize().unwrap().display().to_string();
    let (major, minor) = (fly_hal::abi::FLY_ABI_MAJOR, fly_hal::abi::FLY_ABI_MINOR);
    fails(&folder, &["--backend", "./old.so"], 3, &format!("\
error: the plugin `{path}` was built for another version of fly: expected plugin ABI {major}.x (this is {major}.{minor}), found 99.7; build it anew
 --> --backend:1:11
  |
1 | --backend ./old.so
  |           ^^^^^^^^ chosen here
"));
}

#[test]
fn none_chosen() {
    let folder = folder();
    folder.write(
        "flight.toml",
        &FLIGHT.replace("[backend]\nplugin = \"sim\"\n", ""),
    );
    folder.fails(
        &["check", "--config", "flight.toml"],
        2,
        "\
error: no backend is chosen
 |
 = note: the configuration has no `plugin` in a section `[backend]`
 = help: add `[backend]` with `plugin = \"sim\"`, or use --backend sim
",
    );
}

#[test]
fn unknown_key_in_its_table() {
    fails(&folder(), &["--set", "backend.sim.substep=4"], 2, "\
error: the configuration of the backend `sim` is invalid
 --> --set:1:19
  |
1 | --set backend.sim.substep=4
  |                   ^^^^^^^ unknown key `substep`, expected one of `vehicle`, `body`, `substeps`, `initial`, `noise`, `faults`, `wind`, `ground`, `collisions`, `releases`, `sensors`, `actuators`
  |
  = help: did you mean `substeps`?
");
}

#[test]
fn value_out_of_range_in_its_table() {
    fails(
        &folder(),
        &["--set", "backend.sim.substeps=0"],
        2,
        "\
error: the configuration of the backend `sim` is invalid
 --> --set:1:28
  |
1 | --set backend.sim.substeps=0
  |                            ^ expected 1 to 1000 substeps, found 0
",
    );
}

#[test]
fn error_in_the_vehicle_that_it_simulates() {
    let mass = "backend.sim.vehicle.bodies.airframe.mass=0";
    fails(&folder(), &["--set", mass], 2, "\
error: the configuration of the backend `sim` is invalid
 --> --set:1:48
  |
1 | --set backend.sim.vehicle.bodies.airframe.mass=0
  |                                                ^ vehicle.bodies.airframe.mass: the mass must be positive, found 0 kg
");
}

/// What needs no vehicle is checked without one, and unarmed.
#[test]
fn a_serial_line_that_is_too_slow_and_a_key_that_is_missing() {
    for (set, code, told) in [
        (
            "{ link = 'serial:/dev/none:57600', setpoint_rate_hz = 200 }",
            2,
            "the serial line carries 5760 bytes a second, and 200 setpoints a second take 10251",
        ),
        (
            "{ link = 'serial:/dev/none:57600', attitude_rate_hz = 200 }",
            0,
            "what the vehicle is asked for takes",
        ),
        (
            "{ link = 'udpin:127.0.0.1:0', signing_key = 'none.key' }",
            3,
            "none.key` cannot be read",
        ),
    ] {
        let set = format!("backend.quadcopter={set}");
        let check = ["check", "--config", "quadcopter", "--backend", "quadcopter"];
        let (_, found) = folder().ends(&[&check[..], &["--set", &set]].concat(), code);
        assert!(found.contains(told), "{found}");
    }
}

#[test]
fn a_plugin_that_panics() {
    let folder = folder();
    let arguments = [
        &SHIPPED[..],
        &[
            "--backend",
            "trial",
            "--set",
            "backend.trial.panic=configure",
        ],
    ]
    .concat();
    let output = folder.fly(&arguments);
    let found = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{found}");
    let (log, message) = found
        .split_once("\nerror: ")
        .unwrap_or_else(|| panic!("{found}"));
    assert!(
        log.starts_with("ERROR ") && log.ends_with(": told to panic in configure"),
        "{log}"
    );
    assert!(!log.contains('\n'), "one line, no backtrace: {log}");
    assert_eq!(
        message,
        "the backend `trial` reports: the plugin panicked: told to panic in configure\n"
    );
}
