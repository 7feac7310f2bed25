//! Bad input, through the real command: the exit code and every word of the message.

mod common;

use common::Folder;

/// A flight that is in order; the cases below spoil one thing each.
const FLIGHT: &str = "\
[flight]
duration = 2.0
rate_hz = 500

[vehicle]
file = \"brick.toml\"

[controller]
approach = \"particle\"

[reference]
type = \"hover\"

[safety]
hold_ms = 50

[backend]
plugin = \"sim\"
";

const BRICK: &str = "\
name = \"brick\"

[bodies.core]
mass = 1.0
inertia = [0.01, 0.01, 0.02]

[[rotors]]
name = \"left\"
body = \"core\"
position = [0, 0.1, 0]
axis = [0, 0, 1]
thrust = [0.5, 8]
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("flight.toml", FLIGHT);
    folder.write("brick.toml", BRICK);
    folder
}

/// Replaces `old` by `new` in a file, checks the flight, and compares what is printed on standard error.
#[track_caller]
fn spoiled(file: &str, old: &str, new: &str, expected: &str) {
    let folder = folder();
    let text = if file == "brick.toml" { BRICK } else { FLIGHT };
    assert_eq!(text.matches(old).count(), 1, "{old:?} must occur once");
    folder.write(file, &text.replace(old, new));
    folder.fails(&["check", "--config", "flight.toml"], 2, expected);
}

#[track_caller]
fn set(assignment: &str, expected: &str) {
    folder().fails(
        &["check", "--config", "flight.toml", "--set", assignment],
        2,
        expected,
    );
}

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
  | ^^^^^^^ expected `duration`, `rate_hz`, `seed` or `log`
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
  --> flight.toml:14:2
   |
14 | [saftey]
   |  ^^^^^^ expected one of the sections flight, vehicle, controller, reference, safety, backend
   |
   = help: did you mean `safety`?
",
    );
}

#[test]
fn unknown_key_beside_the_plugins() {
    spoiled(
        "flight.toml",
        "plugin = \"sim\"",
        "plugin = \"sim\"\nsubsteps = 4",
        "\
error: unknown key `backend.substeps`
  --> flight.toml:19:1
   |
19 | substeps = 4
   | ^^^^^^^^ expected `plugin`, or one table for each plugin
   |
   = help: a plugin's keys stand in its own table, [backend.sim]
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
  --> flight.toml:15:11
   |
15 | hold_ms = 80
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
 --> flight.toml:9:12
  |
9 | approach = \"particle
  |            ^^^^^^^^^ invalid basic string, expected `\"`
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
  |            ^^ expected more than 0 s, found -2

error: unknown key `safety.hold`
  --> flight.toml:15:1
   |
15 | hold = 50
   | ^^^^ expected `hold_ms`, `then`, `descent_rate`, `max_descent_time` or `stale_ms`
   |
   = help: did you mean `hold_ms`?

error: `backend.plugin` is empty
  --> flight.toml:18:10
   |
18 | plugin = \"\"
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

mod vehicle {
    use super::{BRICK, folder, spoiled};

    #[test]
    fn unknown_key() {
        spoiled("brick.toml", "axis", "axes", "\
error: unknown key `vehicle.rotors[0].axes`
  --> brick.toml:11:1
   |
11 | axes = [0, 0, 1]
   | ^^^^ expected one of `name`, `body`, `position`, `axis`, `drag_ratio`, `thrust`, `time_constant`, `tilt`
   |
   = note: brick.toml is named by flight.toml:6:8
   = help: did you mean `axis`?
");
    }

    #[test]
    fn missing_key() {
        spoiled(
            "brick.toml",
            "mass = 1.0\n",
            "",
            "\
error: missing key `vehicle.bodies.core.mass`
 --> brick.toml:3:1
  |
3 | [bodies.core]
  | ^^^^^^^^^^^^^ `mass` must be given in this table
  |
  = note: brick.toml is named by flight.toml:6:8
",
        );
    }

    #[test]
    fn wrong_length() {
        spoiled(
            "brick.toml",
            "[0.5, 8]",
            "[0.5, 8, 9]",
            "\
error: `vehicle.rotors[0].thrust` has the wrong length
  --> brick.toml:12:10
   |
12 | thrust = [0.5, 8, 9]
   |          ^^^^^^^^^^^ expected an array of 2 numbers, found one of 3
   |
   = note: brick.toml is named by flight.toml:6:8
",
        );
    }

    #[test]
    fn not_finite() {
        spoiled(
            "brick.toml",
            "[0, 0.1, 0]",
            "[0, nan, 0]",
            "\
error: `vehicle.rotors[0].position[1]` is not finite
  --> brick.toml:10:16
   |
10 | position = [0, nan, 0]
   |                ^^^ expected a finite number, found NaN
   |
   = note: brick.toml is named by flight.toml:6:8
",
        );
    }

    #[test]
    fn negative_mass() {
        spoiled(
            "brick.toml",
            "mass = 1.0",
            "mass = -1.0",
            "\
error: `vehicle.bodies.core.mass` is not possible
 --> brick.toml:4:8
  |
4 | mass = -1.0
  |        ^^^^ the mass must be positive, found -1 kg
  |
  = note: brick.toml is named by flight.toml:6:8
",
        );
    }

    #[test]
    fn triangle_inequality() {
        spoiled(
            "brick.toml",
            "[0.01, 0.01, 0.02]",
            "[0.01, 0.01, 0.03]",
            "\
error: `vehicle.bodies.core.inertia` is not possible
 --> brick.toml:5:11
  |
5 | inertia = [0.01, 0.01, 0.03]
  |           ^^^^^^^^^^^^^^^^^^ the largest principal moment of inertia must not exceed the sum of the two others, but 0.03 > 0.01 + 0.01 kg m^2 about the centre of mass
  |
  = note: brick.toml is named by flight.toml:6:8
",
        );
    }

    #[test]
    fn thrust_limits_the_wrong_way_round() {
        spoiled(
            "brick.toml",
            "[0.5, 8]",
            "[8, 0.5]",
            "\
error: `vehicle.rotors[0].thrust` is not possible
  --> brick.toml:12:10
   |
12 | thrust = [8, 0.5]
   |          ^^^^^^^^ rotor `left`: the smallest thrust must be below the largest, found [8, 0.5] N
   |
   = note: brick.toml is named by flight.toml:6:8
",
        );
    }

    #[test]
    fn missing_file() {
        let folder = folder();
        std::fs::remove_file(folder.path("brick.toml")).unwrap();
        let searched = folder.path("brick.toml").display().to_string();
        folder.fails(
            &["check", "--config", "flight.toml"],
            2,
            &format!(
                "\
error: the vehicle file `brick.toml` does not exist
 --> flight.toml:6:8
  |
6 | file = \"brick.toml\"
  |        ^^^^^^^^^^^^ named here
  |
  = note: searched {searched}, then the shipped configurations
  = help: shipped are vehicles/bicopter.toml, vehicles/quadcopter.toml, vehicles/tricopter.toml
"
            ),
        );
    }

    #[test]
    fn an_error_in_a_folder_of_its_own() {
        let folder = folder();
        folder.write(
            "flight.toml",
            &super::FLIGHT.replace("brick.toml", "parts/brick.toml"),
        );
        folder.write("parts/brick.toml", &BRICK.replace("[0, 0, 1]", "[0, 0, 0]"));
        folder.fails(
            &["check", "--config", "flight.toml"],
            2,
            "\
error: `vehicle.rotors[0].axis` is not possible
  --> parts/brick.toml:11:8
   |
11 | axis = [0, 0, 0]
   |        ^^^^^^^^^ AXIS
   |
   = note: parts/brick.toml is named by flight.toml:6:8
",
        );
    }
}

mod flags {
    use super::{folder, set};

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
  |              ^^^^ expected `duration`, `rate_hz`, `seed` or `log`
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
    fn no_configuration() {
        folder().fails(&["check"], 2, "\
error: no configuration was given

Try `fly --config tricopter.toml`. Shipped are quadcopter-loop.toml, quadcopter-upside-down.toml, quadcopter.toml, \
tricopter-tilted.toml, tricopter.toml.
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
}
