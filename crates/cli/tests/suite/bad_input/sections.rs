//! The text as a whole, and the sections of the flight itself.

use crate::bad_input::{BRICK, FLIGHT, folder, set, spoiled};

#[test]
fn unknown_key() {
    spoiled(
        "flight.toml",
        "duration",
        "duraton",
        "\
error: unknown key `flight.duraton`
 --> flight.toml:2:1
  |
2 | duraton = 2.0
  | ^^^^^^^ expected `duration`, `rate_hz`, `seed`, `take_off`, `relative`, `real_time` or `log`
  |
  = help: did you mean `duration`?
",
    );
}

#[test]
fn unknown_section() {
    spoiled(
        "flight.toml",
        "[safety]",
        "[saftey]",
        "\
error: unknown key `saftey`
  --> flight.toml:15:2
   |
15 | [saftey]
   |  ^^^^^^ expected one of the sections flight, vehicle, controller, reference, estimator, safety, setpoints, backend, serve
   |
   = help: did you mean `safety`?
",
    );
}

#[test]
fn a_take_off_is_a_height_or_none() {
    for (value, expected) in [
        (
            "-1.5",
            "expected true, false, or a height of more than 0, at most 1000 m, found -1.5",
        ),
        (
            "\"high\"",
            "expected true, false, or a height in m, found the string \"high\"",
        ),
    ] {
        let folder = folder();
        let text = FLIGHT.replace("[vehicle]", &format!("take_off = {value}\n\n[vehicle]"));
        folder.write("flight.toml", &text);
        let (_, messages) = folder.ends(&["check", "--config", "flight.toml"], 2);
        crate::common::contains(&messages, expected);
        crate::common::contains(&messages, "flight.toml:");
    }
}

#[test]
fn inner_loops_have_limits() {
    let folder = folder();
    let keys = "[setpoints]\nattitude_gain = 0\nmax_tilt_deg = 200\nrate = 1\n";
    folder.write("flight.toml", &format!("{FLIGHT}\n{keys}"));
    let (_, messages) = folder.ends(&["check", "--config", "flight.toml"], 2);
    crate::common::contains(
        &messages,
        "expected `attitude_gain`, `yaw_gain`, `rate_time`, `max_rate_deg` or `max_tilt_deg`",
    );
    folder.write(
        "flight.toml",
        &format!("{FLIGHT}\n{}", keys.replace("rate = 1\n", "")),
    );
    let (_, messages) = folder.ends(&["check", "--config", "flight.toml"], 2);
    for expected in [
        "`setpoints.attitude_gain` is out of range",
        "expected more than 0, at most 100, found 0",
        "expected more than 0, at most 180, found 200",
    ] {
        crate::common::contains(&messages, expected);
    }
}

#[test]
fn unknown_key_beside_the_plugins() {
    spoiled(
        "flight.toml",
        "plugin = \"sim\"",
        "plugin = \"sim\"\nsubsteps = 4",
        "\
error: unknown key `backend.substeps`
  --> flight.toml:20:1
   |
20 | substeps = 4
   | ^^^^^^^^ expected `plugin`, or one table for each plugin
   |
   = help: a plugin's keys belong in its own table, [backend.sim]
",
    );
}

#[test]
fn wrong_type() {
    spoiled(
        "flight.toml",
        "2.0",
        "\"2 s\"",
        "\
error: `flight.duration` has the wrong type
 --> flight.toml:2:12
  |
2 | duration = \"2 s\"
  |            ^^^^^ expected a number, found the string \"2 s\"
",
    );
}

#[test]
fn out_of_range() {
    spoiled(
        "flight.toml",
        "hold_ms = 50",
        "hold_ms = 80",
        "\
error: `safety.hold_ms` is out of range
  --> flight.toml:16:11
   |
16 | hold_ms = 80
   |           ^^ expected 0 to 50 ms, found 80
   |
   = note: a command held for longer than 50 ms is flying blind
",
    );
}

#[test]
fn not_finite() {
    spoiled(
        "flight.toml",
        "rate_hz = 500",
        "rate_hz = inf",
        "\
error: `flight.rate_hz` is not finite
 --> flight.toml:3:11
  |
3 | rate_hz = inf
  |           ^^^ expected a finite number, found inf
",
    );
}

#[test]
fn not_toml() {
    spoiled(
        "flight.toml",
        "\"particle\"",
        "\"particle",
        "\
error: flight.toml is not valid TOML
 --> flight.toml:9:21
  |
9 | approach = \"particle
  |                     ^ invalid basic string, expected `\"`
",
    );
}

#[test]
fn renamed_keys() {
    spoiled(
        "flight.toml",
        "hold_ms",
        "answer_time",
        "\
error: unknown key `safety.answer_time`
  --> flight.toml:16:1
   |
16 | answer_time = 50
   | ^^^^^^^^^^^ expected `hold_ms`, `then`, `resume`, `descent_rate`, `max_descent_time`, `max_blind_time`, `ground_height`, `start_distance`, `start_angle_deg`, `hang_ms`, `request_timeout`, `take_off_time`, `landing_time`, `stale_ms` or `limits`
   |
   = help: its name is `request_timeout` now
",
    );
}

#[test]
fn several_at_once() {
    let folder = folder();
    folder.write(
        "flight.toml",
        &FLIGHT
            .replace("2.0", "-2")
            .replace("hold_ms", "hold")
            .replace("sim", ""),
    );
    folder.write("brick.toml", &BRICK.replace("1.0", "true"));
    folder.fails(
        &["check", "--config", "flight.toml"],
        2,
        "\
error: `flight.duration` is out of range
 --> flight.toml:2:12
  |
2 | duration = -2
  |            ^^ expected more than 0 s and at most 1e9 s, found -2

error: unknown key `safety.hold`
  --> flight.toml:16:1
   |
16 | hold = 50
   | ^^^^ expected `hold_ms`, `then`, `resume`, `descent_rate`, `max_descent_time`, `max_blind_time`, `ground_height`, `start_distance`, `start_angle_deg`, `hang_ms`, `request_timeout`, `take_off_time`, `landing_time`, `stale_ms` or `limits`
   |
   = help: did you mean `hold_ms`?

error: `backend.plugin` is empty
  --> flight.toml:19:10
   |
19 | plugin = \"\"
   |          ^^ expected a plugin's name such as \"sim\", or the path of a library

error: `vehicle.bodies.core.mass` has the wrong type
 --> brick.toml:4:8
  |
4 | mass = true
  |        ^^^^ expected a number, found a boolean
  |
  = note: brick.toml is named by flight.toml:6:8
",
    );
}

#[test]
fn a_flight_longer_than_the_clock_counts() {
    set(
        "flight.duration=1e12",
        "\
error: `flight.duration` is out of range
 --> --set:1:23
  |
1 | --set flight.duration=1e12
  |                       ^^^^ expected more than 0 s and at most 1e9 s, found 1000000000000
",
    );
}

#[test]
fn a_seed_beyond_the_numbers_of_toml() {
    set(
        "flight.seed=18446744073709551615",
        "\
error: `flight.seed` has the wrong type
 --> --set:1:19
  |
1 | --set flight.seed=18446744073709551615
  |                   ^^^^^^^^^^^^^^^^^^^^ expected a number from -9223372036854775808 to 9223372036854775807, found 18446744073709551615
",
    );
}

/// A finished log is renamed to its path: for root that would replace `/dev/null` itself. A socket stands for the device
/// here, so that a test that fails breaks nothing.
#[test]
fn a_log_in_the_place_of_a_device() {
    use std::os::unix::fs::FileTypeExt;

    let folder = folder();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("special")).unwrap();
    for arguments in [
        ["--config", "flight.toml", "--log", "special"],
        ["--config", "flight.toml", "--set", "flight.log=special"],
    ] {
        let before = folder.files();
        let (_, errors) = folder.ends(&arguments, 2);
        let reason = "special`: expected a file or nothing there, found a device, a pipe or a socket; name another place\n";
        assert!(errors.ends_with(reason), "{errors}");
        assert_eq!(folder.files(), before);
        let special = std::fs::symlink_metadata(folder.path("special")).unwrap();
        assert!(special.file_type().is_socket());
    }
}
