//! `fly tune`: what it prints, and what it writes into a configuration.

use crate::common;

use common::{Folder, line};
use fly::config::shipped;

/// Runs `fly tune` on a shipped or written configuration: what it prints.
#[track_caller]
fn tune(folder: &Folder, arguments: &[&str], code: i32) -> String {
    let (stdout, stderr) = folder.ends(&[&["tune"], arguments].concat(), code);
    assert_eq!(stderr, "", "{arguments:?}");
    stdout
}

/// The lines below this heading up to the next one, with single spaces.
fn section(report: &str, heading: &str) -> Vec<String> {
    let lines = report.lines().skip_while(|line| *line != heading).skip(1);
    let below = lines.take_while(|line| line.starts_with(' '));
    below
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

fn copy(folder: &Folder, shipped_name: &str, name: &str) -> String {
    let text = shipped::find(shipped_name).unwrap().text.to_owned();
    folder.write(name, &text);
    text
}

fn read(folder: &Folder, name: &str) -> String {
    std::fs::read_to_string(folder.path(name)).unwrap()
}

#[test]
fn the_analysis_of_a_quadcopter_has_the_published_figures() {
    let report = tune(&Folder::new(), &["--config", "quadcopter"], 0);
    // Four poles at -5: k/m = 5, d/m = 4, h = 9.81/25, s = 9.81/125; the height has 5 (-0.4 +- 0.2 i).
    assert_eq!(
        section(&report, "parameters")[1..],
        [
            "stiffness 4.500 N/m [2.77, 2.77, 0.320] N m/rad [0, 0, 0.392]",
            "damping 3.600 N s/m [0, 0, 0.160] N m s/rad [0, 0, 0.392]",
            "inertia 0.9000 kg [0.0222, 0.0222, 0.0200] kg m^2 [0, 0, 0.0785]",
        ]
    );
    assert_eq!(
        section(&report, "closed loop")[1..],
        [
            "-2.00 +- 1.00i 1 0.894 0.500 s 2.24 rad/s",
            "-4.00 2 1.00 0.250 s 4.00 rad/s",
            "-5.00 8 1.00 0.200 s 5.00 rad/s",
        ]
    );
    assert!(
        line(&report, "common to all").starts_with("stable below 0.114 s"),
        "{report}"
    );
    // 0.1137 / 0.03.
    assert_eq!(
        line(&report, "the vehicle's own"),
        "up to 0.0300 s: stable up to 3.79 times as much"
    );
    // (28 - 8.829)/0.9, (8.829 - 0.8)/0.9, acos(8.829/28).
    assert_eq!(line(&report, "climb, sink"), "21.3 m/s^2  8.92 m/s^2");
    assert_eq!(
        line(&report, "lean"),
        "71.6 degrees until the weight is not carried"
    );
}

#[test]
fn the_analysis_of_a_tricopter_has_the_published_figures() {
    let report = tune(&Folder::new(), &["--config", "tricopter"], 0);
    assert_eq!(
        section(&report, "closed loop")[1..],
        [
            "-3.00 6 1.00 0.333 s 3.00 rad/s",
            "-6.00 6 1.00 0.167 s 6.00 rad/s",
        ]
    );
    assert_eq!(
        line(&report, "common to all"),
        "stable below 0.333 s (there it oscillates with 6.00 rad/s)"
    );
    assert_eq!(
        line(&report, "rotor.0.tilt"),
        "1.38 degrees  of -60.0 to 60.0"
    );
    assert_eq!(
        line(&report, "tilt at rest"),
        "38.1 degrees in every direction"
    );
}

#[test]
fn poles_are_written_between_the_comments() {
    let folder = Folder::new();
    let before = copy(&folder, "quadcopter.toml", "mine.toml");
    let arguments = ["--config", "mine.toml", "--poles", "-4,-4,-3,-3"];
    let turn = ["--attitude-poles", "-2,-3", "--write", "mine.toml"];
    let report = tune(&folder, &[&arguments[..], &turn].concat(), 0);
    assert!(report.ends_with("\nwritten to mine.toml\n"), "{report}");
    let after = read(&folder, "mine.toml");
    let changed: Vec<_> = before
        .lines()
        .zip(after.lines())
        .filter(|(before, after)| before != after)
        .collect();
    assert_eq!(before.lines().count(), after.lines().count());
    // 0.011 kg m^2 (l + 2)(l + 3).
    assert_eq!(
        changed,
        [
            (
                "horizontal = [-5.0, -5.0, -5.0, -5.0]  # 1/s",
                "horizontal = [-4.0, -4.0, -3.0, -3.0]  # 1/s",
            ),
            (
                "yaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 } # kg m^2, N m s/rad, N m/rad",
                "yaw = { inertia = 0.011, damping = 0.055, stiffness = 0.066 } # kg m^2, N m s/rad, N m/rad",
            ),
        ]
    );
    // What was written is what was analysed; once more changes nothing.
    let again = tune(&folder, &["--config", "mine.toml"], 0);
    assert_eq!(report, again + "written to mine.toml\n");
    tune(&folder, &[&arguments[..], &turn].concat(), 0);
    assert_eq!(read(&folder, "mine.toml"), after);
    assert_eq!(folder.files(), ["mine.toml"]);
    // So are those of an editor that ends its lines otherwise, and marks its files.
    let other = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    folder.write("mine.toml", &other(&before));
    tune(&folder, &[&arguments[..], &turn].concat(), 0);
    assert_eq!(read(&folder, "mine.toml"), other(&after));
    folder.flies(&["--config", "mine.toml", "--set", "flight.duration=0.1"]);

    // Complex poles are written as their polynomial: (l + 3)^2 (l^2 + 4 l + 5).
    let complex = ["--poles", "-3,-3,-2+1i,-2-1i", "--write", "mine.toml"];
    tune(
        &folder,
        &[&["--config", "mine.toml"], &complex[..]].concat(),
        0,
    );
    let after = read(&folder, "mine.toml");
    assert!(
        after.contains("polynomial = [45.0, 66.0, 38.0, 10.0]"),
        "{after}"
    );
    assert!(!after.contains("horizontal"), "{after}");
}

#[test]
fn energies_are_written_between_the_comments() {
    let folder = Folder::new();
    let before = copy(&folder, "tricopter.toml", "mine.toml");
    let arguments = [
        "--config",
        "mine.toml",
        "--poles",
        "-2,-2",
        "--attitude-poles",
        "-5,-5",
        "--write",
        "mine.toml",
    ];
    tune(&folder, &arguments, 0);
    let after = read(&folder, "mine.toml");
    let expected = before
        .replace(
            "weight = 9.0, moment = [0.432, 0.432, 0.792]",
            "weight = 4.0, moment = [0.3, 0.3, 0.55]",
        )
        .replace(
            "weight = 6.0, moment = [0.144, 0.144, 0.264]",
            "weight = 4.0, moment = [0.12, 0.12, 0.22]",
        );
    assert_eq!(after, expected);
}

#[test]
fn a_controller_may_be_written_in_any_way() {
    let folder = Folder::new();
    let rest = "[vehicle]\nfile = 'vehicles/tricopter.toml' # the model\n";
    let pair = "to = 'airframe', stiffness = { weight = 1 }, damping = {}, inertia = {}";
    for controller in [
        String::new(),
        "controller = { allocation = 'active_set' } # brief\n".to_owned(),
        format!("controller.pairs = [{{ {pair} }}]\n"),
        "controller.poles.horizontal = [-1, -1, -1, -1]\n".to_owned(),
        "[controller]\n# mine\nallocation = 'active_set'\n\n".to_owned(),
        "[controller.poles]\nhorizontal = [-1, -1, -1, -1]\nyaw = { inertia = 1, damping = 1, stiffness = 1 }\n\n"
            .to_owned(),
        "[[controller.pairs]]\nto = 'one'\n\n[[controller.pairs]]\nto = 'two'\n\n".to_owned(),
        "[[controller.pairs]]\nfrom = 'hill'\nto = 'one'\n[controller.pairs.stiffness]\nweight = 3 # N/m\n\
         moment_about_origin = [1, 1, 1]\ncenter = [1, 1, 1]\n\n"
            .to_owned(),
    ] {
        folder.write("any.toml", &format!("{controller}{rest}"));
        let arguments = ["--config", "any.toml", "--bandwidth", "2", "--write", "any.toml"];
        let report = tune(&folder, &arguments, 0);
        let after = read(&folder, "any.toml");
        assert!(after.contains("# the model"), "{after}");
        for kept in ["# brief", "# mine", "# N/m", "'active_set'"] {
            assert_eq!(after.contains(kept), controller.contains(kept), "{after}");
        }
        let again = tune(&folder, &["--config", "any.toml"], 0);
        assert_eq!(report, again + "written to any.toml\n", "{after}");
    }
}

#[test]
fn a_vehicle_file_is_enough() {
    let folder = Folder::new();
    copy(&folder, "vehicles/bicopter.toml", "craft.toml");
    let report = tune(
        &folder,
        &["--config", "craft.toml", "--poles", "-4,-4,-4,-4"],
        0,
    );
    assert!(
        line(&report, "common to all").starts_with("stable below 0.142 s"),
        "{report}"
    );
    let report = tune(
        &folder,
        &[
            "--config",
            "craft.toml",
            "--poles",
            "-4,-4,-4,-4",
            "--set",
            "gravity=[0,0,-1.62]",
        ],
        5,
    );
    // On the moon 0.81 N each, below the least thrust of 2 N.
    assert!(
        report.ends_with("PROBLEM: hover needs inputs 1.18 N beyond the limits of the actuators\n"),
        "{report}"
    );
    // An error in it is located at its place.
    let text = shipped::find("vehicles/bicopter.toml").unwrap().text;
    folder.write("craft.toml", &text.replace("mass = 1.0 ", "mass = -1.0"));
    let (_, stderr) = folder.ends(&["tune", "--config", "craft.toml", "--bandwidth", "1"], 2);
    assert!(stderr.contains("--> craft.toml:8:8"), "{stderr}");
}

#[test]
fn what_has_problems_is_not_written() {
    let folder = Folder::new();
    let before = copy(&folder, "quadcopter.toml", "mine.toml");
    for (arguments, problem) in [
        // Rotors of 0.03 s bear 0.57/46 s.
        (
            &["--bandwidth", "20"][..],
            "PROBLEM: the closed loop is not stable with the vehicle's own lags: expected at most 0.412 times those, up to 0.0300 s",
        ),
        (
            &[
                "--bandwidth",
                "2",
                "--set",
                "vehicle.bodies.airframe.mass=4",
            ],
            "PROBLEM: hover needs inputs 2.81 N beyond the limits of the actuators",
        ),
    ] {
        let all = [
            &["--config", "mine.toml", "--write", "mine.toml"],
            arguments,
        ]
        .concat();
        let report = tune(&folder, &all, 5);
        assert!(report.lines().any(|line| line == problem), "{report}");
        assert_eq!(read(&folder, "mine.toml"), before);
    }
    // Without damping about the vertical.
    let set = ["--set", "controller.poles.yaw.damping=0"];
    let report = tune(&folder, &[&["--config", "mine.toml"], &set[..]].concat(), 5);
    assert!(
        report.contains("PROBLEM: the closed loop is not stable even without a lag"),
        "{report}"
    );
}

#[test]
fn a_file_keeps_its_place_and_its_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Folder::new();
    copy(&folder, "quadcopter.toml", "real/mine.toml");
    let real = folder.path("real/mine.toml");
    let mode = |mode| std::fs::set_permissions(&real, PermissionsExt::from_mode(mode)).unwrap();
    mode(0o640);
    symlink("real/mine.toml", folder.path("link.toml")).unwrap();
    let arguments = [
        "--config",
        "quadcopter",
        "--bandwidth",
        "2",
        "--write",
        "link.toml",
    ];
    tune(&folder, &arguments, 0);
    assert!(folder.path("link.toml").is_symlink());
    assert!(read(&folder, "real/mine.toml").contains("-4.59"));
    let kept = std::fs::metadata(&real).unwrap().permissions().mode() & 0o777;
    assert_eq!(kept, 0o640);
    assert_eq!(folder.files(), ["link.toml", "real"]);

    mode(0o440);
    let (_, stderr) = folder.ends(&[&["tune"], &arguments[..]].concat(), 1);
    assert_eq!(
        stderr,
        "error: cannot replace `link.toml`: it is write-protected\n"
    );
}

#[test]
fn wishes_and_files_that_are_wrong_are_refused() {
    let folder = Folder::new();
    let text = copy(&folder, "vehicles/quadcopter.toml", "craft.toml");
    folder.write("broken.toml", "[controller\n");
    let fails = |arguments: &[&str], expected: &str| {
        let all = [&["tune", "--config", "quadcopter"], arguments].concat();
        let before = folder.files();
        let (_, stderr) = folder.ends(&all, 2);
        assert!(stderr.starts_with(expected), "{expected}\nfound:\n{stderr}");
        assert_eq!(folder.files(), before);
    };
    fails(
        &["--poles", "-1,-2"],
        "error: expected 4 poles of the horizontal motion, found 2\n",
    );
    fails(
        &["--poles", "-1,-2,-3,+1"],
        "error: expected poles of the horizontal motion with negative real parts, found 1+0i\n",
    );
    fails(
        &["--poles", "-1,-2,-3,fast"],
        "error: invalid value 'fast' for '--poles <POLES>': expected numbers such as -3 or -2+1i\n",
    );
    fails(
        &["--poles", "-1,-1,-1,-1", "--bandwidth", "2"],
        "error: the argument '--poles <POLES>' cannot be used with '--bandwidth <RAD/S>'\n",
    );
    // What is found for them is not in the file.
    for bandwidth in ["1e-9", "1e6"] {
        fails(
            &["--bandwidth", bandwidth],
            "error: expected a --bandwidth of 0.01 to 1571 rad/s, the Nyquist frequency at 500 Hz, found ",
        );
    }
    fails(
        &["--bandwidth", "2", "--attitude-bandwidth", "1e-9"],
        "error: expected a --attitude-bandwidth of 0.01 to 1571 rad/s",
    );
    fails(
        &["--poles", "-1e-9,-1e-9,-1e-9,-1e-9"],
        "error: --poles asks for a controller that this vehicle cannot have: expected pairs that give",
    );
    fails(
        &["--write", "mine.toml"],
        "error: the following required arguments were not provided:\n",
    );
    let write = |file| ["--bandwidth", "2", "--write", file];
    fails(
        &write("mine.toml"),
        "error: the configuration `mine.toml` does not exist\n\nMake one first: fly configs quadcopter.toml > mine.toml\n",
    );
    fails(
        &write("broken.toml"),
        "error: broken.toml is not valid TOML\n",
    );
    fails(&write("craft.toml"), "error: unknown key `name`\n");
    assert_eq!(read(&folder, "craft.toml"), text);

    let (_, stderr) = folder.ends(&["tune", "--config", "craft.toml"], 2);
    assert_eq!(
        stderr,
        "error: there is nothing to analyse: craft.toml has no controller, and neither --poles nor --bandwidth was given\n\n\
         For example --bandwidth 2\n"
    );
    // Two rotors cannot do what four poles are for.
    let halves: Vec<&str> = text.split("[[rotors]]").collect();
    folder.write("craft.toml", &halves[..3].join("[[rotors]]"));
    let (_, stderr) = folder.ends(&["tune", "--config", "craft.toml", "--bandwidth", "1"], 2);
    assert!(
        stderr.contains("poles are for vehicles with one thrust along body z and three torques"),
        "{stderr}"
    );
}

#[test]
fn parameters_are_written_for_the_vehicle_and_the_approach_that_were_tuned() {
    let folder = Folder::new();
    let fails = |arguments: &[&str], expected: &[&str]| {
        let before = read(&folder, "mine.toml");
        let (_, stderr) = folder.ends(
            &[&["tune"], arguments, &["--write", "mine.toml"]].concat(),
            2,
        );
        for part in expected {
            common::contains(&stderr, part);
        }
        assert_eq!(read(&folder, "mine.toml"), before);
    };
    let other = ["--config", "hexacopter", "--bandwidth", "2"];
    let same = ["--config", "quadcopter", "--bandwidth", "2"];
    let text = copy(&folder, "quadcopter.toml", "mine.toml");
    fails(
        &other,
        &[
            "error: `mine.toml` is for another vehicle\n",
            "mine.toml:9:2",
            "expected the vehicle that was tuned, `hexacopter` of hexacopter, found another one, `quadcopter`",
            "tune that vehicle, with --config mine.toml instead",
        ],
    );
    // Values of the command line count, unless they change the file itself.
    let heavier = ["--set", "vehicle.bodies.airframe.mass=1.5"];
    fails(
        &[&same[..], &heavier].concat(),
        &["error: `mine.toml` is for another vehicle\n"],
    );
    let own = [
        "--config",
        "./mine.toml",
        "--bandwidth",
        "2",
        "--write",
        "mine.toml",
    ];
    tune(&folder, &[&own[..], &heavier].concat(), 0);
    // Of a copy, and of the vehicle's file; names and looks do not matter.
    let named = text.replace("[vehicle]\n", "[vehicle]\nname = \"mine\"\n");
    for config in ["quadcopter", "vehicles/quadcopter.toml"] {
        folder.write("mine.toml", &named);
        let arguments = [
            "--config",
            config,
            "--bandwidth",
            "2",
            "--write",
            "mine.toml",
        ];
        tune(&folder, &arguments, 0);
        assert_ne!(read(&folder, "mine.toml"), named);
    }
    folder.write("mine.toml", &text.replace("\"energy\"", "\"particle\""));
    fails(
        &same,
        &[
            "error: `mine.toml` has another control law\n",
            "expected the approach that was tuned, `energy`, found `particle`",
            "--set controller.approach=particle",
        ],
    );
    let chosen = [
        "--set",
        "controller.approach=energy",
        "--write",
        "mine.toml",
    ];
    tune(&folder, &[&same[..], &chosen].concat(), 0);
    assert!(read(&folder, "mine.toml").contains("approach = \"energy\""));
}

// ---- As fast as the actuators allow

/// The number behind the label in this section.
#[track_caller]
fn found(report: &str, label: &str) -> f64 {
    let rows = section(report, "as fast as the margins allow");
    let row = rows.iter().find_map(|row| row.strip_prefix(label));
    let number = row.and_then(|row| row.split_whitespace().next());
    number
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("{label}: {report}"))
}

/// Two or four poles, and what comes of them.
fn shipped_names(folder: &str) -> Vec<&'static str> {
    let all = shipped::SHIPPED.iter().map(|shipped| shipped.name);
    all.filter(|name| name.starts_with(folder)).collect()
}

/// Every shipped vehicle by a wish; one that leans for its forces by another.
#[track_caller]
fn every_shipped_vehicle_is_tuned(wish: &[&str], wish_of_leaning: &[&str]) {
    let folder = Folder::new();
    let names = shipped_names("vehicles/");
    assert_eq!(names.len(), 10);
    for name in names {
        let leans = ![
            "vehicles/tricopter.toml",
            "vehicles/hexacopter_canted.toml",
            "vehicles/octocopter_canted.toml",
        ]
        .contains(&name);
        let wish = if leans { wish_of_leaning } else { wish };
        let report = tune(&folder, &[&["--config", name], wish].concat(), 0);
        let flown = section(&report, "as it is flown, at 500 Hz");
        assert!(
            flown[0].starts_with("stable, with up to "),
            "{name}: {report}"
        );
        assert!(!report.contains("WARNING"), "{name}: {report}");
        // Everything is said that belongs to a vehicle.
        let limits = if leans { 9 } else { 8 };
        assert_eq!(section(&report, "governor limits").len(), limits, "{name}");
        let is_redundant = !section(&report, "redundant inputs").is_empty();
        let expected = [
            "vehicles/hexacopter.toml",
            "vehicles/octocopter.toml",
            "vehicles/coaxial_x8.toml",
            "vehicles/y6.toml",
            "vehicles/octocopter_canted.toml",
        ]
        .contains(&name);
        assert_eq!(is_redundant, expected, "{name}: {report}");
        if wish[0] == "--fastest" {
            // Rotors of 0.03 to 0.05 s.
            let [motion, attitude, observer] =
                ["motion", "attitude", "observer"].map(|what| found(&report, what));
            assert!((1.0..4.0).contains(&motion), "{name}: {motion}");
            assert!(
                attitude >= motion && (1.0..13.0).contains(&observer),
                "{name}: {report}"
            );
        }
    }
}

#[test]
fn every_shipped_vehicle_has_a_bandwidth() {
    let wish = ["--bandwidth", "1.2"];
    every_shipped_vehicle_is_tuned(&wish, &wish);
}

#[test]
fn every_shipped_vehicle_has_poles() {
    every_shipped_vehicle_is_tuned(&["--poles", "-3,-3"], &["--poles", "-3,-3,-2.5,-2.5"]);
}

#[test]
fn every_shipped_vehicle_is_as_fast_as_it_can() {
    let wish = ["--fastest", "--observer"];
    every_shipped_vehicle_is_tuned(&wish, &wish);
}

#[test]
fn every_shipped_system_is_tuned_or_says_why_not() {
    let folder = Folder::new();
    let names = shipped_names("systems/");
    assert_eq!(names.len(), 15);
    for name in names {
        for wish in [
            &["--bandwidth", "2"][..],
            &["--poles", "-3,-4"],
            &["--fastest"],
        ] {
            let arguments = [&["tune", "--config", name], wish].concat();
            let ends = |code| folder.ends(&arguments, code);
            match name {
                "systems/arm6.toml"
                | "systems/arm_two_motors.toml"
                | "systems/double_pendulum_driven.toml"
                | "systems/scara_two_links.toml"
                | "systems/welding_arm.toml" => {
                    let (report, stderr) = ends(0);
                    let flown = section(&report, "as it is flown, at 500 Hz");
                    assert!(
                        flown[0].starts_with("stable, with up to ") && stderr.is_empty(),
                        "{name}: {report}"
                    );
                }
                // Its law takes so much of the quill's own damping away that no bandwidth bears twice the gain.
                "systems/scara.toml" if wish[0] == "--fastest" => {
                    let (_, stderr) = ends(5);
                    assert!(stderr.starts_with("error: no bandwidth of the motion between 0.010 and 500 rad/s keeps the margins: at 0.010 rad/s 2.000 times the gain makes it unstable; "), "{stderr}");
                    let (report, _) =
                        folder.ends(&[&arguments[..], &["--gain-margin", "1.01"]].concat(), 0);
                    assert!(found(&report, "motion") > 5.0, "{report}");
                }
                "systems/scara.toml" => drop(ends(0)),
                "systems/four_bar.toml" => {
                    let (_, stderr) = ends(2);
                    assert!(
                        stderr.contains("four_bar.toml:")
                            && stderr.contains(
                                "a controller's model is a tree of bodies, but `four_bar` has loops"
                            ),
                        "{stderr}"
                    );
                }
                _ => {
                    let (_, stderr) = ends(2);
                    let is_why = stderr.starts_with("error: the inputs move the system in ")
                        || stderr.starts_with("error: no input moves the system: expected rotors or motors")
                        || stderr.starts_with("error: no energies were found that the inputs can follow with these poles")
                        || stderr.starts_with("error: the system cannot rest there")
                        || stderr.contains("`differential drive` rolls: no smooth law stabilises it at rest");
                    assert!(is_why, "{name} {wish:?}: {stderr}");
                }
            }
        }
    }
}

#[test]
fn the_fastest_and_its_observer_are_written() {
    let folder = Folder::new();
    let before = copy(&folder, "quadcopter.toml", "mine.toml");
    let arguments = [
        "--config",
        "mine.toml",
        "--fastest",
        "--observer",
        "--write",
        "mine.toml",
    ];
    let report = tune(&folder, &arguments, 0);
    let after = read(&folder, "mine.toml");
    let observer = found(&report, "observer");
    assert!(
        after.contains(&format!(
            "[controller.disturbance]\nbandwidth = {observer}\n"
        )),
        "{after}"
    );
    // What was written is what was analysed.
    let again = tune(&folder, &["--config", "mine.toml"], 0);
    let (_, of_search) = report.split_once("parameters\n").unwrap();
    assert_eq!(
        of_search,
        again.split_once("parameters\n").unwrap().1.to_owned() + "written to mine.toml\n"
    );
    folder.flies(&["--config", "mine.toml", "--set", "flight.duration=2"]);
    // A bandwidth that is typed in is the same, with the observer that stands in the file.
    let motion = found(&report, "motion").to_string();
    let attitude = found(&report, "attitude").to_string();
    let typed = [
        "--config",
        "mine.toml",
        "--bandwidth",
        &motion,
        "--attitude-bandwidth",
        &attitude,
    ];
    let typed = tune(&folder, &typed, 0);
    assert_eq!(
        of_search,
        typed.split_once("parameters\n").unwrap().1.to_owned() + "written to mine.toml\n"
    );
    // Of the configured controller the observer alone: nothing else changes.
    folder.write("mine.toml", &before);
    let arguments = [
        "--config",
        "mine.toml",
        "--observer",
        "--write",
        "mine.toml",
    ];
    let report = tune(&folder, &arguments, 0);
    let after = read(&folder, "mine.toml");
    let (kept, written) = after
        .split_once("\n[controller.disturbance]\n")
        .expect("a table");
    let rest = written.split_once('\n').unwrap();
    assert_eq!(
        rest.0,
        format!("bandwidth = {:?}", found(&report, "observer"))
    );
    assert_eq!(
        format!("{kept}{}", rest.1).replace('\n', ""),
        before.replace('\n', "")
    );
}

#[test]
fn demands_that_are_wrong_are_refused() {
    let folder = Folder::new();
    let fails = |arguments: &[&str], code: i32, expected: &str| {
        let all = [&["tune", "--config", "quadcopter"], arguments].concat();
        let (_, stderr) = folder.ends(&all, code);
        assert!(stderr.starts_with(expected), "{expected}\nfound:\n{stderr}");
    };
    fails(
        &["--fastest", "--bandwidth", "2"],
        2,
        "error: the argument '--fastest' cannot be used with '--bandwidth <RAD/S>'\n",
    );
    fails(
        &["--fastest", "--gain-margin", "0.5"],
        2,
        "error: invalid value '0.5' for '--gain-margin <FACTOR>': expected a number from 1 to 100\n",
    );
    fails(
        &["--bandwidth", "2", "--damping", "0.7"],
        2,
        "error: the following required arguments were not provided:\n",
    );
    fails(
        &["--fastest", "--error", "1e6"],
        5,
        "error: no bandwidth of the motion between 0.010 and 500 rad/s keeps the margins: at 0.010 rad/s ",
    );
    fails(
        &["--fastest", "--set", "controller.approach=joint_pd"],
        2,
        "error: the poles of joint PD change with the configuration",
    );
    fails(
        &["--fastest", "--set", "controller.approach=state_feedback"],
        2,
        "error: state feedback needs its 12 poles one by one instead of a bandwidth, or the largest acceptable errors",
    );
}

#[test]
fn controllers_that_people_know_take_poles_too() {
    let folder = Folder::new();
    for approach in ["lee", "rotorpy_se3", "cascade", "indi"] {
        let set = format!("controller.approach={approach}");
        let report = tune(
            &folder,
            &["--config", "quadcopter", "--set", &set, "--bandwidth", "2"],
            0,
        );
        // Four poles at -4.6.
        assert!(
            report.contains("-4.6") || report.contains("-4.59"),
            "{approach}: {report}"
        );
    }
    let arguments = [
        "tune",
        "--config",
        "examples/arm-joints.toml",
        "--set",
        "controller.approach=lee",
        "--bandwidth",
        "2",
    ];
    let (_, stderr) = folder.ends(&arguments, 2);
    assert!(
        stderr.contains("lee") && stderr.contains("one body"),
        "{stderr}"
    );
}

/// A system is tuned where its reference begins: one that cannot be read must not be replaced by another configuration.
#[test]
fn a_wrong_reference_of_a_system_is_no_other_configuration() {
    let folder = Folder::new();
    let fails = |set: &str, expected: &str| {
        let arguments = [
            "tune",
            "--config",
            "examples/arm-joints.toml",
            "--bandwidth",
            "2",
            "--set",
            set,
        ];
        let (_, stderr) = folder.ends(&arguments, 2);
        assert!(stderr.contains(expected), "{set}: {stderr}");
    };
    fails(
        "reference.joints.flange.amplitud=1",
        "unknown key `reference.joints.flange.amplitud`",
    );
    fails("reference.joints.nosuch.offset=1", "nosuch");
}

/// In a file as on the command line.
fn infinite_errors_have_no_cost(folder: &Folder, file: &str) {
    let free = [
        "--lqr",
        "cart = 0.3, pole = inf",
        "--lqr-inputs",
        "5",
        "--lqr-rates",
        "cart = inf, pole = 1",
    ];
    let report = tune(
        folder,
        &[&["--config", file, "--write", file], &free[..]].concat(),
        0,
    );
    let again = tune(folder, &["--config", file], 0);
    assert!(report.starts_with(&again), "{report}");
    let nan = "controller.lqr.errors.pole=[nan]";
    let (_, stderr) = folder.ends(&["check", "--config", file, "--set", nan], 2);
    let refused = "error: `controller.lqr.errors.pole[0]` is not finite";
    assert!(stderr.starts_with(refused), "{stderr}");
}

// ---- The least cost

#[test]
fn optimal_gains_are_tried_out_and_written() {
    let folder = Folder::new();
    copy(&folder, "systems/cart_pole.toml", "systems/cart_pole.toml");
    let before = copy(&folder, "examples/cart-pole.toml", "examples/mine.toml");
    let file = "examples/mine.toml";
    let report = tune(&folder, &["--config", file], 0);
    // As scipy has them, see the tests of fly-control.
    assert_eq!(
        section(&report, "gains, in SI units"),
        [
            "input 1",
            "cart -16.67",
            "cart, rate -17.56",
            "pole -101.6",
            "pole, rate -22.83"
        ]
    );
    let wish = ["--lqr", "cart = 0.3, pole = 0.1", "--lqr-inputs", "5"];
    let same = tune(
        &folder,
        &[&["--config", file, "--write", file], &wish[..]].concat(),
        0,
    );
    assert_eq!(same, report.clone() + "written to examples/mine.toml\n");
    assert_eq!(read(&folder, file), before);
    let rates = [
        "--lqr",
        "cart = 0.3, pole = 0.1",
        "--lqr-inputs",
        "5",
        "--lqr-rates",
        "cart=1, pole=0.5",
    ];
    let report = tune(
        &folder,
        &[&["--config", file, "--write", file], &rates[..]].concat(),
        0,
    );
    assert!(
        section(&report, "gains, in SI units").contains(&"pole -116.8".to_owned()),
        "{report}"
    );
    let after = read(&folder, file);
    assert!(
        after.contains("rates = { cart = 1.0, pole = 0.5 }"),
        "{after}"
    );
    folder.flies(&["--config", file, "--set", "flight.duration=0.5"]);
    infinite_errors_have_no_cost(&folder, file);
    // Of another approach: it becomes state feedback.
    folder.write("examples/other.toml", "[vehicle]\nfile = '../systems/cart_pole.toml'\n\n[controller]\ntransport = 'joint' # gone\npairs = []\n");
    let file = "examples/other.toml";
    tune(
        &folder,
        &[&["--config", file, "--write", file], &wish[..]].concat(),
        0,
    );
    let after = read(&folder, file);
    assert!(
        after.contains("approach = \"state_feedback\"")
            && !after.contains("pairs")
            && !after.contains("transport"),
        "{after}"
    );
    assert!(
        after.contains("[controller.lqr]\nerrors = { cart = 0.3, pole = 0.1 }\ninputs = 5.0\n"),
        "{after}"
    );

    for (arguments, expected) in [
        (
            &["--lqr", "cart 0.3"][..],
            "error: invalid value 'cart 0.3' for '--lqr': expected joints with numbers, such as",
        ),
        (
            &["--lqr", "cart = 0.3"],
            "error: --lqr asks for a controller that this vehicle cannot have: expected the largest acceptable error of every joint: `cart`, `pole`; that of `pole` is missing",
        ),
        (
            &["--lqr-inputs", "5"],
            "error: the following required arguments were not provided:\n",
        ),
    ] {
        let (_, stderr) = folder.ends(
            &[&["tune", "--config", "systems/cart_pole.toml"], arguments].concat(),
            2,
        );
        assert!(stderr.starts_with(expected), "{stderr}");
    }
    // A load on a ball joint below a vehicle: its spin is uncontrollable, so no gains stabilise it.
    let errors = "airframe = 0.1, load = 0.1";
    let (_, stderr) = folder.ends(
        &[
            "tune",
            "--config",
            "systems/tricopter_carrying.toml",
            "--lqr",
            errors,
        ],
        5,
    );
    let _ = stderr;
}

#[test]
fn energies_are_found_that_an_underactuated_system_can_follow() {
    let folder = Folder::new();
    let file = "examples/two-masses.toml";
    copy(&folder, file, file);
    let arguments = [
        "--config",
        file,
        "--poles",
        "-3,-3.5,-4,-5",
        "--write",
        file,
    ];
    let report = tune(&folder, &arguments, 0);
    let poles = section(&report, "closed loop")[1..].join("\n");
    for pole in ["-3.00 1", "-3.50 1", "-4.00 1", "-5.00 1"] {
        assert!(poles.contains(pole), "{report}");
    }
    folder.flies(&["--config", file]);
    let (_, stderr) = folder.ends(&["tune", "--config", file, "--bandwidth", "2"], 2);
    assert!(
        stderr.contains("For energies that the inputs can follow, list up to 4 poles"),
        "{stderr}"
    );
}
