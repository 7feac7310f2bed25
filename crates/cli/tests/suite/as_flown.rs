//! Findings about the loop as it will be flown: its step, the hold, the lags of its actuators.

use crate::common;

use common::Folder;

/// Settings whose loop is not stable as it is flown, each for another reason.
const UNSTABLE: [&[&str]; 3] = [
    // Too fast for the rotors.
    &["--set", "controller.poles.horizontal=[-40, -40, -40, -40]"],
    // A rotor that answers after half a minute.
    &["--set", "vehicle.rotors.0.time_constant=30"],
    // Poles to -5 1/s, computed twice a second.
    &[
        "--set",
        "flight.rate_hz=2",
        "--set",
        "backend.sim.substeps=40",
    ],
];

#[test]
fn check_finds_loops_that_are_not_stable_as_they_are_flown() {
    let folder = Folder::new();
    let config = ["--config", "quadcopter.toml"];
    for set in UNSTABLE {
        let (report, _) = folder.ends(&[&["check"], &config[..], set].concat(), 5);
        common::contains(&report, "PROBLEM: not stable: errors grow by a factor of ");
    }
    let (report, _) = folder.ends(&[&["check"], &config[..]].concat(), 0);
    common::contains(&report, "at 500 Hz       stable, with up to ");
    common::contains(&report, "inputs saturate for errors beyond ");
}

/// A mass of 1 kg on a rail under a stiffness and a damping, with an immediate motor.
fn slider(folder: &Folder, stiffness: f64, damping: f64) {
    folder.write(
        "slider.toml",
        &format!(
            "[vehicle]\nname = 'slider'\n[vehicle.bodies.cart]\n\
             joint = {{ type = 'prismatic', axis = [1, 0, 0] }}\nmass = 1\ninertia = [1, 1, 1]\n\
             [[vehicle.motors]]\njoint = 'cart'\n\
             [controller]\napproach = 'energy'\nallocation = 'none'\n\
             pairs = [{{ to = 'cart', stiffness = {stiffness:?}, damping = {damping:?}, inertia = 1 }}]\n\
             [flight]\nduration = 0.1\n[reference]\nkind = 'rest'\n[backend]\nplugin = 'sim'\n"
        ),
    );
}

/// With immediate motors continuous analysis finds nothing.
#[test]
fn a_joint_whose_poles_are_too_fast_for_the_rate_is_found() {
    let folder = Folder::new();
    slider(&folder, 6_786_025.0, 5210.0);
    let check = ["check", "--config", "slider.toml"];
    let (report, _) = folder.ends(&check, 5);
    common::contains(&report, "fastest -2605.");
    common::contains(&report, "at 500 Hz");
    common::contains(&report, "PROBLEM: not stable: errors grow by a factor of ");
    let (report, _) = folder.ends(
        &[&check[..], &["--set", "flight.rate_hz=10000"]].concat(),
        0,
    );
    common::contains(&report, "at 10000 Hz");
}

/// At 500 Hz a damping of d N s/m bears 2/(d h) times the gain: 1.11 of 900, 2.5 of 400.
#[test]
fn a_loop_with_little_to_spare_is_warned_of() {
    let folder = Folder::new();
    let warnings = [
        "an additional delay of 2 steps makes it unstable",
        "1.25 times the gain makes it unstable",
    ];
    slider(&folder, 202_500.0, 900.0);
    let (report, _) = folder.ends(&["check", "--config", "slider.toml"], 0);
    common::contains(&report, "with up to 1.11 times the gain");
    common::contains(&report, "it can fly, with 2 warnings");
    let (_, told) = folder.ends(&["--config", "slider.toml", "--log", "slider.mcap"], 0);
    let (_, refusal) = folder.ends(&["--config", "slider.toml", "--strict"], 5);
    for warning in warnings {
        common::contains(&report, &format!("WARNING: {warning}"));
        common::contains(&told, warning);
    }
    common::contains(&refusal, warnings[0]);
    slider(&folder, 10_000.0, 400.0);
    let (report, _) = folder.ends(&["check", "--config", "slider.toml"], 0);
    common::contains(&report, "with up to 2.50 times the gain");
    assert!(!report.contains(warnings[1]), "{report}");
}

#[test]
fn a_flight_says_so_at_its_start_and_is_refused_if_that_is_asked_for() {
    let folder = Folder::new();
    let flight = [
        &[
            "--config",
            "quadcopter.toml",
            "--set",
            "flight.duration=0.2",
        ],
        UNSTABLE[0],
    ]
    .concat();
    let before = folder.files();
    let (_, told) = folder.ends(&[&flight[..], &["--strict"]].concat(), 5);
    common::contains(&told, "the closed loop at 500 Hz: not stable");
    common::contains(&told, "Nothing was flown");
    assert_eq!(folder.files(), before);
    let output = folder.fly(&flight);
    let told = String::from_utf8(output.stderr).unwrap();
    common::contains(&told, "the closed loop at 500 Hz: not stable");
    // Nothing is reported for a sound loop.
    let fine = [
        "--config",
        "quadcopter.toml",
        "--strict",
        "--set",
        "flight.duration=0.2",
    ];
    let (_, told) = folder.ends(&fine, 0);
    assert!(!told.contains("the closed loop"), "{told}");
}

#[test]
fn check_says_what_of_a_long_flight_it_looked_at() {
    let folder = Folder::new();
    let long = [
        "check",
        "--config",
        "quadcopter-loop.toml",
        "--set",
        "flight.duration=1e9",
    ];
    let (report, _) = folder.ends(&long, 0);
    common::contains(&report, "2.1 s checked, then at rest: ");
    let long = [
        "check",
        "--config",
        "tricopter.toml",
        "--set",
        "flight.duration=1e9",
    ];
    let (report, _) = folder.ends(&long, 0);
    common::contains(&report, "the first 600 s of 1000000000 s checked: ");
}
