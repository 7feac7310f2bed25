//! Bad input, through the real command: the exit code and every word of the message.

mod common;

use common::Folder;

/// A flight with nothing wrong in its text; the cases below spoil one thing each.
const FLIGHT: &str = "\
[flight]
duration = 2.0
rate_hz = 500

[vehicle]
file = \"brick.toml\"

[controller]
approach = \"particle\"
pairs = [{ to = \"core\", stiffness.weight = 9, damping.weight = 6, inertia = { weight = 1, moment = [1, 1, 1] } }]

[reference]
kind = \"hover\"

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
  --> flight.toml:15:2
   |
15 | [saftey]
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
  --> flight.toml:20:1
   |
20 | substeps = 4
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
   | ^^^^ expected `hold_ms`, `then`, `descent_rate`, `max_descent_time`, `ground_height` or `stale_ms`
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
   |        ^^^^^^^^^ rotor `left`: `axis` must have a direction, found a zero vector
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
tricopter-load.toml, tricopter-tilted.toml, tricopter.toml, and 17 examples: `fly configs` lists them.
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

mod controller {
    use super::{set, spoiled};

    #[test]
    fn missing() {
        let pairs = "pairs = [{ to = \"core\", stiffness.weight = 9, damping.weight = 6, inertia = { weight = 1, moment = [1, 1, 1] } }]\n";
        spoiled(
            "flight.toml",
            pairs,
            "",
            "\
error: `controller.pairs` cannot be used
 --> flight.toml:8:1
  |
8 | [controller]
  | ^^^^^^^^^^^^ expected pairs or poles, found neither
",
        );
    }

    #[test]
    fn unknown_name() {
        spoiled(
            "flight.toml",
            "\"particle\"",
            "\"particles\"",
            "\
error: `controller.approach` cannot be \"particles\"
 --> flight.toml:9:12
  |
9 | approach = \"particles\"
  |            ^^^^^^^^^^^ expected \"particle\", \"body\", \"energy\", \"joint_pd\", \"computed_torque\", \"linear\" or \"state_feedback\"
  |
  = help: did you mean \"particle\"?
",
        );
    }

    #[test]
    fn wrong_length_inside_an_inline_table() {
        spoiled("flight.toml", "moment = [1, 1, 1]", "moment = [1, 1, 1, 1]", "\
error: `controller.pairs[0].inertia.moment` has the wrong length
  --> flight.toml:10:100
   |
10 | pairs = [{ to = \"core\", stiffness.weight = 9, damping.weight = 6, inertia = { weight = 1, moment = [1, 1, 1, 1] } }]
   |                                                                                                    ^^^^^^^^^^^^ expected an array of 3 values, found one of 4
");
    }

    #[test]
    fn unknown_key_inside_an_inline_table() {
        spoiled("flight.toml", "damping.weight", "damping.wight", "\
error: unknown key `controller.pairs[0].damping.wight`
  --> flight.toml:10:55
   |
10 | pairs = [{ to = \"core\", stiffness.weight = 9, damping.wight = 6, inertia = { weight = 1, moment = [1, 1, 1] } }]
   |                                                       ^^^^^ expected `weight`, `center`, `moment` or `moment_about_origin`
   |
   = help: did you mean `weight`?
");
    }

    #[test]
    fn not_positive_definite() {
        spoiled("flight.toml", "moment = [1, 1, 1]", "moment = [1, 1, -1]", "\
error: `controller.pairs[0].inertia.moment` cannot be used
  --> flight.toml:10:100
   |
10 | pairs = [{ to = \"core\", stiffness.weight = 9, damping.weight = 6, inertia = { weight = 1, moment = [1, 1, -1] } }]
   |                                                                                                    ^^^^^^^^^^ expected a positive definite inertia together with its weight, found the eigenvalue -1.000e0
");
    }

    #[test]
    fn a_body_that_is_not_there() {
        spoiled("flight.toml", "to = \"core\"", "to = \"airframe\"", "\
error: `controller.pairs[0].to` cannot be used
  --> flight.toml:10:17
   |
10 | pairs = [{ to = \"airframe\", stiffness.weight = 9, damping.weight = 6, inertia = { weight = 1, moment = [1, 1, 1] } }]
   |                 ^^^^^^^^^^ expected \"core\", found \"airframe\"
");
    }

    #[test]
    fn reference_of_no_kind() {
        set("reference.kind=hoover", "\
error: there is no reference of kind `hoover`
 --> --set:1:22
  |
1 | --set reference.kind=hoover
  |                      ^^^^^^ expected `hover`, `takeoff`, `landing`, `circle`, `helix`, `lissajous`, `loop`, `flip`, `barrel_roll`, `waypoints`, `minimum_snap`, `sampled`, `independent`, `recorded`, `rest`, `joints`, `transfer`, `tool`, `two_masses`, `pvtol` or `planar`
  |
  = help: did you mean `hover`?
");
    }

    #[test]
    fn key_of_another_kind_of_reference() {
        spoiled(
            "flight.toml",
            "kind = \"hover\"",
            "kind = \"hover\"\nradius = 1",
            "\
error: unknown key `reference.radius`
  --> flight.toml:14:1
   |
14 | radius = 1
   | ^^^^^^ expected `position`, `yaw_deg` or `attitude_deg`
",
        );
    }

    #[test]
    fn reference_that_the_vehicle_cannot_follow() {
        set("reference.attitude_deg=[0, 30, 0]", "\
error: `reference.attitude_deg` cannot be used
 --> --set:1:30
  |
1 | --set reference.attitude_deg=[0, 30, 0]
  |                              ^^^^^^^^^^ expected roll and pitch 0 for a vehicle without side thrust, found 0, 30
");
    }
}

mod backend {
    use super::common::plugins;
    use super::{FLIGHT, Folder, folder};

    /// A shipped flight, so that only the backend is at fault.
    const SHIPPED: [&str; 3] = ["check", "--config", "quadcopter"];

    #[track_caller]
    fn fails(folder: &Folder, flags: &[&str], code: i32, expected: &str) {
        folder.fails(&[&SHIPPED, flags].concat(), code, expected);
    }

    #[test]
    fn missing_plugin() {
        let mut folders = vec![plugins().display().to_string()];
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
            &folder(),
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
error: the backend `sim` cannot be configured like this
 --> --set:1:19
  |
1 | --set backend.sim.substep=4
  |                   ^^^^^^^ unknown key `substep`, expected one of `vehicle`, `body`, `substeps`, `initial`, `noise`, `faults`
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
error: the backend `sim` cannot be configured like this
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
error: the backend `sim` cannot be configured like this
 --> --set:1:48
  |
1 | --set backend.sim.vehicle.bodies.airframe.mass=0
  |                                                ^ vehicle.bodies.airframe.mass: the mass must be positive, found 0 kg
");
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
        let (_, errors) = folder.ends(&arguments, 1);
        assert!(
            errors.starts_with("error: cannot create the log `"),
            "{errors}"
        );
        let reason =
            "special`: expected a file or nothing there, found a device, a pipe or a socket\n";
        assert!(errors.ends_with(reason), "{errors}");
        assert_eq!(folder.files(), before);
        let special = std::fs::symlink_metadata(folder.path("special")).unwrap();
        assert!(special.file_type().is_socket());
    }
}
