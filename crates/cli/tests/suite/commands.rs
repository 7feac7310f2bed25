//! The commands that do not fly, and the shipped configurations.

use crate::common;

use common::{Folder, line};
use fly::config::shipped::{self, SHIPPED};

/// Runs a command that must succeed silently but for its standard output, which it returns.
#[track_caller]
fn output(arguments: &[&str]) -> String {
    let output = Folder::new().fly(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors, "", "{arguments:?}");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_shipped_flight_passes_its_check() {
    let mut checked = 0;
    for flight in shipped::flights() {
        let report = output(&["check", "--config", flight.name]);
        let verdict = report.lines().last().unwrap();
        // The fast loop asks for more than the rotors can give, on purpose.
        let expected = if flight.name == "quadcopter-loop.toml" {
            "it can fly, with 1 warning"
        } else {
            "everything is in order"
        };
        assert_eq!(verdict, expected, "{}\n{report}", flight.name);
        checked += 1;
    }
    assert_eq!(checked, 12 + 37);
}

#[test]
fn check_knows_the_vehicle_and_the_closed_loop() {
    let report = output(&["check", "--config", "quadcopter"]);
    assert_eq!(line(&report, "inputs"), "4, rank 4: underactuated");
    // 0.9 kg * 9.81 m/s^2 / 4 rotors, 2.0073 N above the least thrust of 0.2 N.
    assert_eq!(
        line(&report, "hover"),
        "thrusts 2.21, 2.21, 2.21, 2.21 N, 2.01 N inside the limits"
    );
    // Four poles at -a give the vertical motion a (-0.4 +- 0.2 i); rounding splits the fourfold pole a little.
    let poles = line(&report, "poles in hover");
    common::begins(poles, "slowest -2.00 +- 1.00i, fastest -5.0");

    let report = output(&["check", "--config", "tricopter"]);
    assert_eq!(line(&report, "inputs"), "6, rank 6: fully actuated");
    // Position: 1 l^2 + 6 l + 9 = (l + 3)^2. Attitude: 0.012 l^2 + 0.144 l + 0.432 = 0.012 (l + 6)^2.
    assert_eq!(
        line(&report, "poles in hover"),
        "slowest -3.00, fastest -6.00 1/s"
    );
}

#[test]
fn check_finds_what_a_flight_would_fail_on() {
    let folder = Folder::new();
    let check = |set: &str| {
        let output = folder.fly(&["check", "--config", "quadcopter", "--set", set]);
        assert_eq!(
            output.status.code(),
            Some(5),
            "{set}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    // 4 kg * 9.81 m/s^2 / 4 = 9.81 N on rotors of 7 N.
    let report = check("vehicle.bodies.airframe.mass=4");
    let hover = "PROBLEM: thrusts 9.81, 9.81, 9.81, 9.81 N: 2.81 N beyond the limits";
    assert_eq!(line(&report, "hover"), hover);
    // Its reference needs them, too, at all times.
    assert_eq!(report.lines().last(), Some("2 problems found"));

    let report = check("controller.poles.yaw.damping=0");
    let poles = line(&report, "poles in hover");
    common::begins(poles, "PROBLEM: slowest ");
    assert!(
        poles.ends_with("it has a pole on the imaginary axis"),
        "{poles}"
    );

    // No pole lies to the right of the axis.
    let report = check("controller.poles.yaw.stiffness=1e-9");
    assert_eq!(
        line(&report, "poles in hover"),
        "PROBLEM: slowest -6.3e-9, fastest -8.00 1/s: the closed loop does not settle: within rounding errors it has a pole on the \
         imaginary axis"
    );

    // It accelerates along x, while its side points there.
    let report = check("reference.angular_frequency=[1e6, 1, 1]");
    assert_eq!(
        line(&report, "reference"),
        "PROBLEM: at 3.14 s the motion needs a specific thrust of 2.00e11 m/s^2 along the body's side or front, which leaves its attitude \
         undefined: expected another heading there, or less acceleration"
    );
}

#[test]
fn check_warns_of_numbers_in_other_units() {
    let folder = Folder::new();
    let warned = |sets: &[&str]| {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let arguments: Vec<&str> = ["check", "--config", "quadcopter"]
            .into_iter()
            .chain(sets)
            .collect();
        let output = folder.fly(&arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        let report = String::from_utf8(output.stdout).unwrap();
        let warning = report.lines().find(|line| line.contains("WARNING: rotor"));
        warning
            .unwrap_or_else(|| panic!("{report}"))
            .trim()
            .to_owned()
    };
    // In g m² the inertia leaves 11e-6 / (0.9 0.18²) of the mass for a motor.
    assert_eq!(
        warned(&["vehicle.bodies.airframe.inertia=[6e-6, 6e-6, 11e-6]"]),
        "WARNING: rotor `front` is 0.180 m from the centre of mass, where the inertia leaves at most 0.038 % of the mass: expected positions in m, the \
         inertia in kg m^2"
    );
    // In mm.
    let drags: Vec<String> = (0..4)
        .map(|i| {
            format!(
                "vehicle.rotors.{i}.drag_ratio={}",
                if i % 2 == 0 { -16 } else { 16 }
            )
        })
        .chain(["vehicle.rotors.0.radius=0.12".to_owned()])
        .collect();
    let drags: Vec<&str> = drags.iter().map(String::as_str).collect();
    let found = warned(&drags);
    assert!(
        found.contains(
            "has a drag torque of 16.0 N m per N of thrust, more than its radius of 0.120 m"
        ),
        "{found}"
    );
}

#[test]
fn backends_are_listed() {
    let report = output(&["backends"]);
    for name in ["quadcopter", "replay", "sim", "tricopter"] {
        assert!(
            report.contains(&format!("{name} {}: ", env!("CARGO_PKG_VERSION"))),
            "{name} in\n{report}"
        );
        common::contains(&report, &format!("libfly_plugin_{name}.so"));
    }
    assert_eq!(
        line(&report, "ABI"),
        format!(
            "{}.{}",
            fly_hal::abi::FLY_ABI_MAJOR,
            fly_hal::abi::FLY_ABI_MINOR
        )
    );
    common::contains(&report, "clock    stepped");
    common::contains(&report, "clock    real time");
    common::contains(&report, "pose.position.*");
}

#[test]
fn a_backend_that_does_not_load_is_listed_with_its_reason() {
    let folder = Folder::new();
    folder.write("plugins/libfly_plugin_broken.so", "not a library");
    let output = folder.fly(&["backends", "--plugin-dir", "plugins"]);
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(5), "{report}");
    common::contains(&report, "broken: does not load\n");
    common::contains(&report, "is not a library that can be loaded");
}

/// What the user has written wrongly is not the plugin's fault.
#[test]
fn conformance_locates_wrong_settings() {
    let folder = Folder::new();
    folder.fails(
        &["conformance", "sim", "--set", "backend.sim.substepss=1"],
        2,
        "\
error: the configuration of the backend `sim` is invalid
 --> --set:1:19
  |
1 | --set backend.sim.substepss=1
  |                   ^^^^^^^^^ unknown key `substepss`, expected one of `vehicle`, `body`, `substeps`, `initial`, `noise`, `faults`, `wind`, `ground`, `collisions`, `releases`, `sensors`, `actuators`
  |
  = help: did you mean `substeps`?
",
    );
    folder.fails(
        &["conformance", "./none.so"],
        3,
        "\
error: cannot read the plugin `./none.so`: No such file or directory (os error 2)
 --> fly conformance:1:17
  |
1 | fly conformance ./none.so
  |                 ^^^^^^^^^ chosen here
",
    );
    folder.fails(
        &["conformance", "sim", "--backend", "replay"],
        2,
        "error: `fly conformance` tests `sim`, so `--backend replay` has no effect: leave it out\n",
    );
}

/// Quiet commands tell what is wrong, and nothing else.
#[test]
fn quiet_commands_tell_what_is_wrong() {
    let folder = Folder::new();
    let quadcopter = ["--config", "quadcopter.toml"];
    let quiet = |arguments: &[&str], code: i32| folder.ends(&[arguments, &["-q"]].concat(), code).0;
    let check = |set: &str, code: i32| {
        quiet(
            &[&["check"], &quadcopter[..], &["--set", set]].concat(),
            code,
        )
    };
    assert_eq!(check("flight.rate_hz=500", 0), "");
    assert_eq!(
        check("controller.poles.yaw.stiffness=1e-5", 0),
        "  poles in hover  WARNING: slowest -6.3e-5, fastest -8.00 1/s: stable, but it hardly settles\n"
    );
    let heavy = check("vehicle.bodies.airframe.mass=4", 5);
    common::begins(&heavy, "  hover      PROBLEM: thrusts 9.81, ");
    assert_eq!(heavy.lines().count(), 3, "{heavy}");
    assert_eq!(heavy.lines().last(), Some("2 problems found"));
    // Of several vehicles it says which one.
    let set = "vehicles.1.vehicle.bodies.airframe.mass=4";
    let fleet = [
        "check",
        "--config",
        "fleets/side-by-side.toml",
        "--set",
        set,
    ];
    let fleet = quiet(&fleet, 5);
    assert!(
        fleet.trim_start().starts_with("flies as")
            && fleet
                .lines()
                .next()
                .is_some_and(|first| first.ends_with(" right")),
        "{fleet}"
    );
    assert_eq!(quiet(&["conformance", "sim"], 0), "");

    folder.write(
        "mine.toml",
        include_str!("../../../../configs/quadcopter.toml"),
    );
    folder.write(
        "vehicles/quadcopter.toml",
        include_str!("../../../../configs/vehicles/quadcopter.toml"),
    );
    let tune = [
        "tune",
        "--config",
        "mine.toml",
        "--bandwidth",
        "2",
        "--write",
        "mine.toml",
    ];
    assert_eq!(quiet(&tune, 0), "");
    let unstable = [
        "tune",
        "--config",
        "mine.toml",
        "--set",
        "controller.poles.yaw.damping=0",
    ];
    common::begins(
        &quiet(&unstable, 5),
        "PROBLEM: the closed loop is not stable",
    );

    let new = |name, mass, arm| {
        let size = ["--mass", mass, "--arm-length", arm];
        quiet(
            &[&["new", name, "--frame", "hexacopter"], &size[..]].concat(),
            0,
        )
    };
    assert_eq!(new("small", "1.5", "0.25"), "");
    let large = new("large", "1000", "10");
    common::begins(&large, "WARNING: reference: ");
    assert_eq!(large.lines().count(), 1, "{large}");

    folder.flies(&[
        "-q",
        "--config",
        "quadcopter.toml",
        "--set",
        "flight.duration=0.5",
        "--log",
        "a.mcap",
    ]);
    for arguments in [
        &["log", "export", "a.mcap", "--to", "csv"][..],
        &["log", "cut", "a.mcap", "--from", "0.2"],
        &["report", "a.mcap"],
        &["plot", "a.mcap"],
    ] {
        assert_eq!(quiet(arguments, 0), "");
    }
    for file in ["a.csv", "a.cut.mcap", "a.html", "a.svg"] {
        assert!(folder.path(file).is_file(), "{file}");
    }
}

#[test]
fn plugins_conform() {
    let report = output(&["conformance", "sim"]);
    common::begins(&report, "sim ");
    common::contains(&report, " checks, 0 failed\n");
    // Nobody is there to talk to: what needs a vehicle is skipped, the rest holds.
    for plugin in ["quadcopter", "tricopter"] {
        let key = |key: &str| format!("backend.{plugin}.{key}");
        let (link, timeout) = (key("link=udpin:127.0.0.1:0"), key("connect_timeout=0.1"));
        let report = output(&["conformance", plugin, "--set", &link, "--set", &timeout]);
        common::contains(&report, "skipped ");
        common::contains(&report, " checks, 0 failed\n");
    }
}

#[test]
fn conformance_fails_for_what_does_not_load() {
    let folder = Folder::new();
    folder.write("text.so", "not a library");
    let output = folder.fly(&["conformance", "./text.so"]);
    let report = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(5), "{report}");
    common::contains(&report, "FAILED   loads: ");
}

#[test]
fn shipped_configurations_are_listed_and_printed() {
    let list = output(&["configs"]);
    assert_eq!(list.lines().count(), SHIPPED.len());
    for (line, shipped) in list.lines().zip(SHIPPED) {
        assert!(line.starts_with(shipped.name), "{line}");
        assert!(
            line.len() > shipped.name.len() + 20,
            "`{}` begins with a comment that says what it is",
            shipped.name
        );
        assert_eq!(output(&["configs", shipped.name]), shipped.text);
    }
    let misspelt =
        "error: no configuration `quadcoper.toml` is shipped\n\nDid you mean `quadcopter.toml`?\n";
    Folder::new().fails(&["configs", "quadcoper.toml"], 2, misspelt);
    Folder::new().fails(&["configs", "nothing"], 2, "\
error: no configuration `nothing` is shipped

Shipped are coaxial_x8.toml, fleets/carried-load.toml, fleets/side-by-side.toml, hexacopter.toml, hexacopter_canted.toml, octocopter.toml, octocopter_canted.toml, quadcopter-loop.toml, \
quadcopter-upside-down.toml, quadcopter.toml, sweeps/quadcopter.toml, systems/acrobot.toml, systems/arm6.toml, systems/arm_two_motors.toml, \
systems/cart_pole.toml, systems/differential_drive.toml, systems/double_pendulum.toml, \
systems/double_pendulum_driven.toml, systems/four_bar.toml, systems/scara.toml, systems/scara_two_links.toml, \
systems/tricopter_carrying.toml, systems/tricopter_eight_bodies.toml, systems/tricopter_tilting_arms.toml, systems/tricopter_with_load.toml, systems/welding_arm.toml, \
tricopter-load.toml, tricopter-tilted.toml, tricopter.toml, vehicles/bicopter.toml, vehicles/coaxial_x8.toml, vehicles/hexacopter.toml, \
vehicles/hexacopter_canted.toml, vehicles/hummingbird.toml, vehicles/octocopter.toml, vehicles/octocopter_canted.toml, vehicles/quadcopter.toml, vehicles/tricopter.toml, \
vehicles/y6.toml, y6.toml, and 37 examples: `fly configs` lists them.
");
}

#[test]
fn schemas_are_printed_and_written() {
    let committed = |name: &str| {
        let path = format!(
            "{}/../../configs/schema/{name}.json",
            env!("CARGO_MANIFEST_DIR")
        );
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(output(&["schema"]), committed("flight"));
    assert_eq!(output(&["schema", "vehicle"]), committed("system"));
    let folder = Folder::new();
    let written = folder.fly(&["schema", "--dir", "a/schema"]);
    assert_eq!(written.status.code(), Some(0));
    for name in ["flight", "system", "fleet", "sweep"] {
        let path = folder.path(&format!("a/schema/{name}.json"));
        assert_eq!(std::fs::read_to_string(path).unwrap(), committed(name));
    }
    let output = folder.fly(&["schema", "flights"]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    common::contains(&told, "[possible values: flight, system, fleet, sweep]");
    folder.write("file", "");
    folder.fails(
        &["schema", "--dir", "file"],
        2,
        "error: cannot write to `file`: expected a folder, found a file\n",
    );
}

#[test]
fn systems_are_shown_and_written() {
    assert_eq!(
        output(&["system", "systems/four_bar.toml"]),
        "\
four_bar: 3 bodies, 0.481269 kg, 3 degrees of freedom, 3 coordinates, 1 input, 1 damper, 1 loop
world
├─ crank: 0.084823 kg, revolute about [0, 1, 0]
│  └─ coupler: 0.2268 kg, revolute about [0, 1, 0]
└─ rocker: 0.169646 kg, revolute about [0, 1, 0]
"
    );
    for shipped in shipped::systems() {
        assert!(output(&["system", shipped.name]).lines().count() >= 3);
        let text = output(&["system", "--toml", shipped.name]);
        common::contains(&text, "\n[bodies.");
    }

    let folder = Folder::new();
    let robot = "<robot name=\"r\">\n  <link name=\"arm\">\n    <inertial><mass value=\"-1\"/></inertial>\n  </link>\n</robot>\n";
    folder.write("robot.urdf", robot);
    folder.fails(
        &["system", "robot.urdf"],
        2,
        "\
error: `link[arm].inertial` is not possible
 --> robot.urdf:3:5
  |
3 |     <inertial><mass value=\"-1\"/></inertial>
  |     ^^^^^^^^^^ missing element <inertia>
",
    );
}

#[test]
fn help_documents_the_exit_codes() {
    let help = output(&["--help"]);
    for code in [
        "0  success: flown",
        "1  internal",
        "2  the command line",
        "3  the backend",
        "4  the supervisor",
        "5  a check",
        "6  diverged",
        "7  crashed",
        "130  interrupted",
    ] {
        assert!(help.contains(&format!("\n  {code}")), "{code:?} in\n{help}");
    }
    assert_eq!(
        output(&["--version"]),
        format!("fly {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            output(&["completions", shell]).contains("backend"),
            "{shell}"
        );
    }
    let folder = Folder::new();
    assert_eq!(folder.fly(&["man", "share/man"]).status.code(), Some(0));
    let page = std::fs::read_to_string(folder.path("share/man/fly.1")).unwrap();
    common::contains(&page, "Exit codes");
    assert!(folder.path("share/man/fly-check.1").exists());

    folder.write("file", "");
    folder.fails(
        &["man", "file"],
        2,
        "error: cannot write to `file`: expected a folder, found a file\n",
    );
}

/// `fly backends | true` and the like: a reader that has gone is no error, and where the error's reader has gone the exit
/// code still tells.
#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::{Command, Stdio};

    let closed = || Stdio::from(std::io::pipe().unwrap().1);
    let run = |arguments: &[&str], stderr: Stdio| {
        let folder = Folder::new();
        let mut child = Command::new(env!("CARGO_BIN_EXE_fly"))
            .args(arguments)
            .current_dir(folder.path("."))
            .env("FLY_PLUGIN_PATH", common::plugins())
            .env_remove("RUST_LOG")
            .stdout(closed())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let mut errors = String::new();
        if let Some(mut stderr) = child.stderr.take() {
            std::io::Read::read_to_string(&mut stderr, &mut errors).unwrap();
        }
        (child.wait().unwrap().code(), errors)
    };
    for arguments in [
        &["backends"][..],
        &["configs"],
        &["configs", "tricopter.toml"],
        &["check", "--config", "tricopter.toml"],
        &["completions", "bash"],
        &["conformance", "sim"],
    ] {
        assert_eq!(
            run(arguments, Stdio::piped()),
            (Some(0), String::new()),
            "{arguments:?}"
        );
    }
    assert_eq!(
        run(&["check", "--config", "nosuch.toml"], closed()).0,
        Some(2)
    );
}

/// What cannot be written to standard output is told as that; a closed pipe is no error.
#[test]
fn standard_output_that_cannot_be_written_is_named() {
    let program = env!("CARGO_BIN_EXE_fly");
    let full = "error: cannot write to standard output: No space left on device (os error 28)\n";
    for (command, into, code, told) in [
        ("schema", "> /dev/full", 1, full),
        ("--help", "> /dev/full", 1, full),
        ("check --help", "> /dev/full", 1, full),
        ("--version", "> /dev/full", 1, full),
        ("schema", "| true", 0, ""),
        ("--help", "| true", 0, ""),
    ] {
        let line = format!("{program} {command} {into}");
        let output = std::process::Command::new("sh")
            .args(["-c", &line])
            .output();
        let output = output.unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), told);
        assert_eq!(output.status.code(), Some(code));
    }
}

/// A file in a folder that does not exist is refused before anything is read or flown.
#[test]
fn folders_that_do_not_exist_are_named() {
    let folder = Folder::new();
    let none = "error: the folder `nodir` does not exist\n";
    let fleet = ["--config", "fleets/side-by-side.toml"];
    folder.fails(&[&fleet[..], &["--log", "nodir/a.mcap"]].concat(), 2, none);
    for arguments in [
        &["report", "x.mcap", "-o", "nodir/x.html"][..],
        &["plot", "x.mcap", "-o", "nodir/x.svg"],
        &["--config", "quadcopter.toml", "--log", "nodir/x.mcap"],
        &["--config", "quadcopter.toml", "--report=nodir/x.html"],
    ] {
        folder.fails(arguments, 2, none);
    }
}
