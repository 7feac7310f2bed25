//! The command line.

use crate::bad_input::{folder, set};
use crate::common::contains;

#[test]
fn set_without_value() {
    set(
        "flight.duration",
        "\
error: `--set` needs a key and a value
 --> --set:1:7
  |
1 | --set flight.duration
  |       ^^^^^^^^^^^^^^^ expected key=value, found no `=`
  |
  = help: for example --set flight.duration=5
",
    );
}

#[test]
fn set_without_key() {
    set(
        "=5",
        "\
error: `--set` needs a key before the `=`
 --> --set:1:7
  |
1 | --set =5
  |       ^ expected names joined by dots
  |
  = help: for example --set flight.duration=5
",
    );
}

#[test]
fn set_of_an_unknown_key() {
    set(
        "flight.rate=250",
        "\
error: unknown key `flight.rate`
 --> --set:1:14
  |
1 | --set flight.rate=250
  |              ^^^^ expected `duration`, `rate_hz`, `seed`, `take_off`, `relative`, `real_time` or `log`
  |
  = help: did you mean `rate_hz`?
",
    );
}

#[test]
fn set_to_a_wrong_value() {
    set(
        "flight.duration=1O",
        "\
error: `flight.duration` has the wrong type
 --> --set:1:23
  |
1 | --set flight.duration=1O
  |                       ^^ expected a number, found the string \"1O\"
",
    );
}

#[test]
fn set_inside_an_included_file() {
    set("vehicle.rotors.0.thrust=[8, 0.5]", "\
error: `vehicle.rotors[0].thrust` is not possible
 --> --set:1:31
  |
1 | --set vehicle.rotors.0.thrust=[8, 0.5]
  |                               ^^^^^^^^ rotor `left`: the smallest thrust must be below the largest, found [8, 0.5] N
");
}

#[test]
fn set_of_an_element_that_an_array_does_not_have() {
    set(
        "vehicle.rotors.9.body='left'",
        "\
error: the array has no element 9
 --> --set:1:22
  |
1 | --set vehicle.rotors.9.body='left'
  |                      ^ expected 0, the index of its only element
",
    );
    set(
        "vehicle.rotors.0.position.3=1",
        "\
error: the array has no element 3
 --> --set:1:33
  |
1 | --set vehicle.rotors.0.position.3=1
  |                                 ^ expected an index from 0 to 2
",
    );
}

#[test]
fn a_direction_without_length() {
    set(
        "estimator.range.direction=[0, 0, 0]",
        "\
error: `estimator.range.direction` is out of range
 --> --set:1:33
  |
1 | --set estimator.range.direction=[0, 0, 0]
  |                                 ^^^^^^^^^ expected a vector with a finite length of more than 0, found 0
",
    );
}

#[test]
fn no_configuration() {
    folder().fails(&["check"], 2, "\
error: no configuration was given

Try `fly --config y6.toml`. Shipped are coaxial_x8.toml, hexacopter.toml, hexacopter_canted.toml, octocopter.toml, \
octocopter_canted.toml, quadcopter-loop.toml, quadcopter-upside-down.toml, quadcopter.toml, \
tricopter-load.toml, tricopter-tilted.toml, tricopter.toml, y6.toml, and 37 examples: `fly configs` lists them.
For more information, try '--help'.
");
}

#[test]
fn missing_configuration() {
    let folder = folder();
    let searched = folder.path("tricoptre.toml").display().to_string();
    folder.fails(
        &["check", "--config", "tricoptre.toml"],
        2,
        &format!(
            "\
error: the configuration `tricoptre.toml` does not exist
 |
 = note: searched {searched}, then the shipped configurations
 = help: `tricopter.toml` is shipped; did you mean that one?
"
        ),
    );
}

#[test]
fn a_folder_as_configuration() {
    folder().fails(
        &["check", "--config", "."],
        2,
        "error: cannot read `.`: it is a folder, expected a TOML file\n",
    );
}

#[test]
fn unknown_flag() {
    folder().fails(
        &["check", "--confg", "flight.toml"],
        2,
        "\
error: unexpected argument '--confg' found

  tip: a similar argument exists: '--config'

Usage: fly check --config <FILE>

For more information, try '--help'.
",
    );
}

#[test]
fn a_plugin_folder_that_is_not_there() {
    let folder = folder();
    let arguments = ["check", "--config", "flight.toml", "--plugin-dir"];
    for (path, why) in [
        ("none", "No such file or directory"),
        ("flight.toml", "expected a folder, found a file"),
    ] {
        let (_, stderr) = folder.ends(&[&arguments[..], &[path]].concat(), 2);
        contains(
            &stderr,
            &format!("invalid value '{path}' for '--plugin-dir"),
        );
        contains(&stderr, why);
    }
}

#[test]
fn a_port_that_is_none_or_taken() {
    let folder = folder();
    let (_, stderr) = folder.ends(&["--config", "flight.toml", "--view", "70000"], 2);
    contains(&stderr, "invalid value '70000' for '--view [<PORT>]'");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let fly = ["--config", "quadcopter.toml", "--view", &port];
    let (_, stderr) = folder.ends(&fly, 2);
    contains(
        &stderr,
        &format!("--view {port}: 127.0.0.1 cannot listen there"),
    );
    contains(&stderr, "expected a free port, or --view alone");
}

#[test]
fn numbers_of_many_digits_are_in_powers_of_ten() {
    set(
        "flight.duration=1e308",
        "\
error: `flight.duration` is out of range
 --> --set:1:23
  |
1 | --set flight.duration=1e308
  |                       ^^^^^ expected more than 0 s and at most 1e9 s, found 1e308
",
    );
    let (stdout, _) = folder().ends(
        &[
            "check",
            "--config",
            "flight.toml",
            "--set",
            "flight.duration=1e-308",
        ],
        5,
    );
    contains(&stdout, "1e-308 s checked");
}

#[test]
fn a_vehicle_alone_is_not_a_flight() {
    folder().fails(&["check", "--config", "brick.toml"], 2, "\
error: this describes bodies, not a flight
 --> brick.toml:3:2
  |
3 | [bodies.core]
  |  ^^^^^^ expected the sections flight, vehicle, controller, reference, estimator, safety, setpoints, backend, serve
  |
  = help: `fly system` prints such a file, `fly tune` designs a controller for it; a flight names it: `[vehicle]` with `file = \"PATH\"`
");
}

#[test]
fn a_table_that_replaces_one_of_the_file_is_shown_itself() {
    set(
        "reference={kind=\"circle\"}",
        "\
error: missing key `reference.radius`
 --> --set:1:17
  |
1 | --set reference={kind=\"circle\"}
  |                 ^^^^^^^^^^^^^^^ `radius` is required in this table
",
    );
}

/// A value is shown behind the option that gave it.
#[test]
fn other_options_that_set_a_value_are_named() {
    let ends = |arguments: &[&str], code, parts: &[&str]| {
        let (_, stderr) = folder().ends(arguments, code);
        for part in parts {
            contains(&stderr, part);
        }
    };
    let compare = [
        "compare",
        "--config",
        "quadcopter",
        "--out",
        "c.html",
        "--with",
    ];
    ends(
        &[&compare[..], &["vehicle.bodies.airframe.mass=-1"]].concat(),
        2,
        &[
            " --> --with:1:37\n",
            "1 | --with vehicle.bodies.airframe.mass=-1\n",
        ],
    );
    ends(
        &[&compare[..], &["flight"]].concat(),
        2,
        &[
            "error: `--with` needs a key and a value\n",
            "help: for example --with flight.duration=5\n",
        ],
    );
    ends(
        &["conformance", "simm"],
        3,
        &[
            "error: there is no plugin `simm`\n --> fly conformance:1:17\n",
            "1 | fly conformance simm\n",
        ],
    );
    let arguments = [
        "check",
        "--config",
        "quadcopter",
        "--backend",
        "sim",
        "--set-parameters",
    ];
    ends(
        &arguments,
        2,
        &[
            "error: the configuration of the backend `sim` is invalid\n --> --set-parameters:1:1\n",
            "1 | --set-parameters\n",
        ],
    );
}
