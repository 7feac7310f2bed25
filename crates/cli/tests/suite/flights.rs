//! The shipped flights, flown by the real command and the real simulator, against the golden figures of the control chapter.
//!
//! Position and attitude errors are taken every 10 ms from the flight's log, as the golden scalars are.

use crate::common;

use common::{Folder, measure};

/// The scalars of a `zoh_trajectories` entry.
struct Golden {
    /// Seconds.
    until: f64,
    rms: [f64; 2],
    max: [f64; 2],
    saturated: usize,
}

/// The shipped vehicle without the lag of its actuators, as a file in the folder.
fn without_lag(folder: &Folder, vehicle: &str) {
    let path = format!(
        "{}/../../configs/vehicles/{vehicle}.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).expect("a shipped vehicle");
    let quick: Vec<&str> = text
        .lines()
        .map(|line| {
            if line.starts_with("time_constant") {
                "time_constant = 0.0"
            } else {
                line
            }
        })
        .collect();
    assert_ne!(quick.join("\n"), text.trim_end());
    folder.write("quick.toml", &quick.join("\n"));
}

/// Golden flights begin with actuators that do what the first command says.
const FIRST: &str = "backend.sim.initial.commands=first";

/// Flies a shipped configuration with these settings and compares to a relative tolerance.
#[track_caller]
fn flies(folder: &Folder, name: &str, set: &[&str], tolerance: f64, golden: &Golden) {
    for allocation in ["active_set", "osqp"] {
        let config = format!("{name}.toml");
        let allocated = format!("controller.allocation={allocation}");
        let mut arguments = vec!["--config", &config, "--set", &allocated, "--set", FIRST];
        arguments.extend(set.iter().flat_map(|set| ["--set", set]));
        let summary = folder.flies(&[&arguments[..], &["--log", "flight.mcap"]].concat());
        let errors = measure(folder, &arguments, "flight.mcap", golden.until);
        for (what, found, expected) in [
            ("rms position", errors.position.rms(), golden.rms[0]),
            ("rms attitude", errors.attitude.rms(), golden.rms[1]),
            ("max position", errors.position.max(), golden.max[0]),
            ("max attitude", errors.attitude.max(), golden.max[1]),
        ] {
            let error = (found - expected).abs() / expected;
            println!(
                "{name} {set:?} ({allocation}): {what} {found:.6}, golden {expected:.6}, relative error {error:.1e}"
            );
            assert!(
                error <= tolerance,
                "{name} ({allocation}): {what} is {found}, expected {expected}\n{summary}"
            );
        }
        let line = summary
            .lines()
            .find(|line| line.trim_start().starts_with("saturated"))
            .expect("a line on saturation");
        let saturated: usize = line
            .split_whitespace()
            .nth(1)
            .and_then(|count| count.parse().ok())
            .expect("a count");
        assert!(
            saturated.abs_diff(golden.saturated) <= 2,
            "{line}, expected {}",
            golden.saturated
        );
    }
}

#[test]
fn the_tricopter_tracks_position_and_attitude_independently() {
    let folder = Folder::new();
    without_lag(&folder, "tricopter");
    let golden = Golden {
        until: 8.0,
        rms: [0.095_306_4, 0.137_138],
        max: [0.382_776, 0.836_891],
        saturated: 0,
    };
    flies(
        &folder,
        "tricopter",
        &["vehicle.file=quick.toml"],
        1e-4,
        &golden,
    );
    // The golden lag acts on F sin and F cos, that of the simulator on thrust and tilt, as rotors and servos have it: with it
    // the figures are near, not equal.
    let golden = Golden {
        until: 8.0,
        rms: [0.092_505_3, 0.128_54],
        max: [0.382_017, 0.836_891],
        saturated: 0,
    };
    flies(&folder, "tricopter", &[], 1e-2, &golden);
}

#[test]
fn the_tricopter_hovers_tilted() {
    let folder = Folder::new();
    folder.flies(&[
        "--config",
        "tricopter-tilted.toml",
        "--set",
        FIRST,
        "--log",
        "flight.mcap",
    ]);
    let all = measure(
        &folder,
        &["--config", "tricopter-tilted.toml"],
        "flight.mcap",
        f64::INFINITY,
    );
    assert!(
        (all.position.max() - 1.5_f64.hypot(2_f64.sqrt())).abs() < 1e-3,
        "{}",
        all.position.max()
    );
    assert!(
        all.last_position < 1e-6 && all.last_attitude < 1e-6,
        "{} m, {} rad",
        all.last_position,
        all.last_attitude
    );
}

#[test]
fn the_tricopter_pitches_on_the_spot() {
    // The golden flight from the same start swings its pitch to 30 degrees and back instead of holding it.
    let folder = Folder::new();
    let path = format!(
        "{}/../../configs/tricopter-tilted.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).expect("a shipped configuration");
    let (before, after) = (
        text.find("[reference]").expect("a section"),
        text.find("[safety]").expect("a section"),
    );
    let reference = "[reference]\nkind = \"independent\"\nattitude_amplitude_deg = [0, 30, 0]\nattitude_angular_frequency = [0, 0.9, 0]\n";
    folder.write(
        "pitching.toml",
        &[&text[..before], reference, &text[after..]].concat(),
    );
    without_lag(&folder, "tricopter");
    let golden = Golden {
        until: 8.0,
        rms: [0.486_983, 0.462_313],
        max: [2.061_55, 2.202_29],
        saturated: 84,
    };
    flies(
        &folder,
        "pitching",
        &[
            "vehicle.file=quick.toml",
            "controller.transport=adjoint",
            "controller.limits=false",
        ],
        1e-4,
        &golden,
    );
    // As above: another lag.
    let golden = Golden {
        until: 8.0,
        rms: [0.482_712, 0.446_579],
        max: [2.061_55, 2.202_28],
        saturated: 86,
    };
    flies(
        &folder,
        "pitching",
        &[
            "vehicle.file=vehicles/tricopter.toml",
            "controller.transport=adjoint",
            "controller.limits=false",
        ],
        1e-2,
        &golden,
    );
}

#[test]
fn the_quadcopter_loops_at_the_limits_of_its_thrust() {
    let folder = Folder::new();
    let golden = Golden {
        until: 4.0,
        rms: [0.155_768, 0.146_572],
        max: [0.350_171, 0.500_327],
        saturated: 290,
    };
    // Its controller has no priority of the tilt.
    let rho = "controller.tilt_priority=0";
    flies(&folder, "quadcopter-loop", &[rho], 1e-4, &golden);
    without_lag(&folder, "quadcopter");
    let golden = Golden {
        until: 4.0,
        rms: [0.148_537, 0.135_497],
        max: [0.279_828, 0.560_914],
        saturated: 265,
    };
    flies(
        &folder,
        "quadcopter-loop",
        &["vehicle.file=quick.toml", rho],
        1e-4,
        &golden,
    );
}

#[test]
fn the_quadcopter_tracks_its_curve() {
    // The golden flight of this controller is continuous and has no lag: the start is the same, the rest is near.
    let folder = Folder::new();
    folder.flies(&[
        "--config",
        "quadcopter.toml",
        "--set",
        FIRST,
        "--log",
        "flight.mcap",
    ]);
    let all = measure(
        &folder,
        &["--config", "quadcopter.toml"],
        "flight.mcap",
        f64::INFINITY,
    );
    assert!(
        (all.position.max() - 0.788_421).abs() < 1e-3,
        "{}",
        all.position.max()
    );
    assert!(
        (all.attitude.max() - 0.896_33).abs() < 1e-3,
        "{}",
        all.attitude.max()
    );
    assert!(
        all.last_position < 0.02 && all.last_attitude < 0.02,
        "{} m, {} rad",
        all.last_position,
        all.last_attitude
    );
}

/// Two rounds at up to 4 m/s on a circle, from rest to rest.
const ROUNDS: &str = r#"[flight]
rate_hz = 500

[vehicle]
file = "quick.toml"

[controller.poles]
horizontal = [-5, -5, -5, -5]
yaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 }

[reference]
kind = "circle"
center = [-2, 0, 0]
radius = 2
period = 3
turns = 2
yaw_deg = 0

[backend]
plugin = "sim"
"#;

#[test]
fn drag_in_the_model_is_tracked_as_exactly_as_none() {
    let folder = Folder::new();
    without_lag(&folder, "quadcopter");
    folder.write("rounds.toml", ROUNDS);
    let error = |set: &[&str]| {
        let mut arguments = vec!["--config", "rounds.toml"];
        arguments.extend(set.iter().flat_map(|set| ["--set", set]));
        folder.flies(&[&arguments[..], &["--log", "flight.mcap"]].concat());
        let errors = measure(&folder, &arguments, "flight.mcap", f64::INFINITY);
        println!(
            "{set:?}: rms {} m, {} rad, max {} m, {} rad",
            errors.position.rms(),
            errors.attitude.rms(),
            errors.position.max(),
            errors.attitude.max()
        );
        [errors.position.max(), errors.attitude.max()]
    };
    let drag =
        "bodies.airframe.drag={ linear = [0.4, 0.25, 0.1], angular = [0.001, 0.001, 0.002] }";
    let [both, plant] = ["vehicle", "backend.sim.vehicle"].map(|key| format!("{key}.{drag}"));
    let (none, known, ignored) = (error(&[]), error(&[&both]), error(&[&plant]));
    for (known, none) in known.iter().zip(none) {
        // The rest is due to the input being held between two steps.
        assert!(*known < 1.2 * none, "{known} {none}");
    }
    // Drag of 1 m/s^2 against k/m of 5^2/4 1/s^2 or so.
    assert!(none[0] < 1e-3 && ignored[0] > 0.1, "{none:?} {ignored:?}");
}

#[test]
fn the_quadcopter_recovers_from_upside_down() {
    let folder = Folder::new();
    folder.flies(&[
        "--config",
        "quadcopter-upside-down.toml",
        "--log",
        "flight.mcap",
    ]);
    let all = measure(
        &folder,
        &["--config", "quadcopter-upside-down.toml"],
        "flight.mcap",
        f64::INFINITY,
    );
    assert!(
        (all.attitude.max() - 3.110_19).abs() < 0.04,
        "starts upside down: {}",
        all.attitude.max()
    );
    assert!(all.position.max() < 6.0, "falls by {}", all.position.max());
    assert!(
        all.last_position < 0.1 && all.last_attitude < 0.1,
        "{} m, {} rad",
        all.last_position,
        all.last_attitude
    );
}

#[test]
fn without_lag_it_recovers_as_the_golden_flight_does() {
    let folder = Folder::new();
    without_lag(&folder, "quadcopter");
    let poles = "controller.poles.horizontal=[-5, -5, -5, -5]";
    let set = [
        "vehicle.file=quick.toml",
        "flight.duration=5",
        "controller.tilt_priority=3",
        "controller.limits=false",
        poles,
    ];
    let golden = Golden {
        until: 5.0,
        rms: [0.988_739, 0.881_303],
        max: [2.425_48, 3.110_19],
        saturated: 407,
    };
    flies(&folder, "quadcopter-upside-down", &set, 1e-2, &golden);
}

#[test]
fn the_log_has_a_name_of_its_own_unless_one_is_given() {
    let folder = Folder::new();
    folder.flies(&["--config", "tricopter", "--set", "flight.duration=0.1"]);
    let files = folder.files();
    let [file] = files.as_slice() else {
        panic!("one file, found {files:?}")
    };
    // tricopter-20261120T121530Z.mcap
    let stamp = file
        .strip_prefix("tricopter-")
        .and_then(|rest| rest.strip_suffix("Z.mcap"))
        .expect(file);
    assert_eq!(stamp.len(), "20261120T121530".len(), "{file}");
    assert!(
        stamp
            .bytes()
            .enumerate()
            .all(|(index, byte)| if index == 8 {
                byte == b'T'
            } else {
                byte.is_ascii_digit()
            }),
        "{file}"
    );

    // A log that is there is replaced.
    std::fs::copy(folder.path(file), folder.path("flight.mcap")).unwrap();
    folder.flies(&[
        "--config",
        "tricopter",
        "--set",
        "flight.duration=0.1",
        "--log",
        "flight.mcap",
    ]);
    assert!(
        std::fs::read(folder.path("flight.mcap"))
            .expect("a log")
            .starts_with(b"\x89MCAP")
    );
    assert_eq!(folder.files().len(), 2);
}

#[test]
fn the_same_configuration_and_seed_give_the_same_log_but_for_the_record_of_the_run() {
    for config in ["tricopter-tilted.toml", "quadcopter-loop.toml"] {
        let folder = Folder::new();
        let fly = |log: &str, seed: &str, verbose: &[&str]| {
            let noise = "backend.sim.noise={ position = 0.002, attitude = 0.002, velocity = 0.01, angular_velocity = 0.01 }";
            // A dropout, so that there are messages in the log as well.
            let faults = "backend.sim.faults=[{ kind = \"missing\", from = 0.5, until = 0.53 }]";
            let arguments = [
                "--config",
                config,
                "--set",
                noise,
                "--set",
                faults,
                "--set",
                seed,
                "--set",
                "flight.duration=2",
            ];
            folder.flies(&[&arguments[..], &["--log", log], verbose].concat());
            let bytes = std::fs::read(folder.path(log)).expect("a log");
            let errors = measure(&folder, &["--config", config], log, 2.0);
            (
                fly_testing::mcap::without_run(&bytes),
                errors.position.rms(),
            )
        };
        let first = fly("a.mcap", "flight.seed=1", &[]);
        let second = fly("b.mcap", "flight.seed=1", &["-v"]);
        assert!(first.0 == second.0, "{config}: the logs differ");
        let (_, other) = fly("c.mcap", "flight.seed=2", &[]);
        assert!(
            (first.1 - other).abs() > 1e-9,
            "{config}: the seed changes nothing"
        );
    }
}

#[test]
fn from_far_away_the_quadcopter_is_led_to_its_reference() {
    let folder = Folder::new();
    let flight = [
        "--config",
        "quadcopter.toml",
        "--set",
        "reference.kind=hover",
        "--set",
        "backend.sim.initial.position=[30, -20, 12]",
        "--set",
        "backend.sim.noise={}",
        "--set",
        "flight.duration=25",
        "--log",
        "flight.mcap",
    ];
    let summary = folder.flies(&flight);
    common::contains(&summary, "led it to the reference in");
    let errors = common::measure(
        &folder,
        &flight[..flight.len() - 2],
        "flight.mcap",
        f64::INFINITY,
    );
    assert!(errors.last_position < 1e-2, "{summary}");
    // The law alone turns it over on the way.
    let alone = [&flight[..], &["--set", "controller.limits=false"]].concat();
    let tilt = |summary: &str| -> f64 {
        let line = summary.lines().find(|line| line.contains("attitude error"));
        let (_, most) = line.unwrap().split_once("max ").unwrap();
        most.split_whitespace().next().unwrap().parse().unwrap()
    };
    let (led, alone) = (tilt(&summary), tilt(&folder.flies(&alone)));
    assert!(led < 90.0 && alone > 150.0, "{led} {alone} deg");
}
