//! `fly new`: every frame is tuned, checked, and flies at once.

use std::fs;

use crate::common::{self, Folder};

const FRAMES: [&str; 7] = [
    "quadcopter-x",
    "quadcopter-plus",
    "hexacopter",
    "octocopter",
    "y6",
    "x8",
    "tricopter",
];

/// Mass (kg) and arm length (m) from a toy to what carries a person.
fn flies(frame: &str, mass: &str, arm: &str) {
    let folder = Folder::new();
    let made = folder.fly(&[
        "new",
        "mine",
        "--frame",
        frame,
        "--mass",
        mass,
        "--arm-length",
        arm,
    ]);
    let told = String::from_utf8_lossy(&made.stderr).into_owned();
    assert_eq!(made.status.code(), Some(0), "{frame}: {told}");
    assert_eq!(
        folder.files(),
        ["mine-vehicle.toml", "mine.toml"],
        "{frame}"
    );
    let told = String::from_utf8(made.stdout).unwrap();
    common::contains(&told, "written     mine.toml and mine-vehicle.toml\n");

    let checked = folder.fly(&["check", "--config", "mine.toml"]);
    let report = String::from_utf8(checked.stdout).unwrap();
    assert_eq!(checked.status.code(), Some(0), "{frame}\n{report}");
    assert_eq!(
        report.lines().last(),
        Some("everything is in order"),
        "{frame}\n{report}"
    );

    let flown = folder.fly(&["--config", "mine.toml", "--log", "mine.mcap", "--json"]);
    assert_eq!(flown.status.code(), Some(0), "{frame}");
    let summary: serde_json::Value = serde_json::from_slice(&flown.stdout).unwrap();
    assert_eq!(summary["verdict"], "flown", "{frame}: {summary}");
    let rms = summary["position_error"]["rms"].as_f64().unwrap();
    assert!(
        rms < 0.02 * (1.0 + arm.parse::<f64>().unwrap()),
        "{frame}: {rms} m"
    );
}

#[test]
fn every_frame_flies_at_once() {
    for frame in FRAMES {
        flies(frame, "1.5", "0.25");
    }
}

#[test]
fn small_and_large_ones_fly_as_well() {
    for (frame, mass, arm) in [
        ("quadcopter", "0.03", "0.046"),
        ("hexacopter", "12", "0.8"),
        ("x8", "300", "2.5"),
        ("tricopter", "0.3", "0.1"),
        ("tricopter", "20", "1"),
    ] {
        flies(frame, mass, arm);
    }
}

/// Their rotors lag by a tenth of a second: a tumble of half a turn per second is more than they catch with torques about where the body was.
#[test]
fn a_heavy_one_recovers_from_a_tumble() {
    for (mass, arm, turn) in [("25", "0.8", "[2, -2, 6]"), ("100", "1.6", "[6, 0, 6]")] {
        let folder = Folder::new();
        let made = ["new", "mine", "--frame", "hexacopter"];
        let made = folder.fly(&[&made[..], &["--mass", mass, "--arm-length", arm]].concat());
        assert_eq!(made.status.code(), Some(0), "{made:?}");
        let turn = format!("backend.sim.initial.angular_velocity={turn}");
        let mut arguments = vec!["--config", "mine.toml", "--log", "mine.mcap", "--json"];
        for value in [
            "reference={ kind = 'hover', position = [0, 0, 1] }",
            "flight.duration=30",
            &turn,
        ] {
            arguments.extend(["--set", value]);
        }
        let flown = folder.fly(&arguments);
        let summary: serde_json::Value = serde_json::from_slice(&flown.stdout).unwrap();
        assert_eq!(summary["verdict"], "flown", "{mass} kg: {summary}");
        let end = summary["position_error"]["steady_offset"].as_f64().unwrap();
        assert!(end < 0.1, "{mass} kg: {end} m");
    }
}

#[test]
fn a_urdf_says_what_the_body_weighs() {
    let folder = Folder::new();
    // A plate that is askew, and a ball fixed 0.1 m below it.
    let robot = r#"<robot name="r">
  <link name="base"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.018" ixy="0" ixz="0.001" iyz="0"/></inertial></link>
  <joint name="j" type="JOINT"><parent link="base"/><child link="ball"/><origin xyz="0 0 -0.1"/><axis xyz="0 1 0"/></joint>
  <link name="ball"><inertial><mass value="0.25"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.01"/><geometry><box size="0.02 0.02 0.02"/></geometry><material name="m"><color rgba="1 0 0 1"/></material></visual>
    <visual><geometry><mesh filename="package://r/ball.obj"/></geometry></visual></link>
</robot>"#;
    std::fs::create_dir(folder.path("meshes")).unwrap();
    folder.write(
        "meshes/ball.obj",
        "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nf 1 2 3\n",
    );
    folder.write("fixed.urdf", &robot.replace("JOINT", "fixed"));
    folder.write("hinge.urdf", &robot.replace("JOINT", "continuous"));
    let arguments = [
        "new",
        "mine",
        "--frame",
        "quadcopter",
        "--arm-length",
        "0.2",
        "--mesh-dir",
        "meshes",
        "--urdf",
    ];
    let made = folder.fly(&[&arguments[..], &["fixed.urdf"]].concat());
    assert_eq!(
        made.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let text = fs::read_to_string(folder.path("mine-vehicle.toml")).unwrap();
    let vehicle = fly_mechanics::Vehicle::from_toml(&text).unwrap();
    let inertia = vehicle.body.inertia();
    assert!((inertia.mass() - 1.25).abs() < 1e-12);
    // 0.25 * -0.1 / 1.25
    let center = inertia.center_of_mass();
    assert!(
        (center.z + 0.02).abs() < 1e-12 && center.xy().norm() < 1e-12,
        "{center}"
    );
    // What the links look like is where they are.
    let system = fly_mechanics::System::from_toml(&text).unwrap();
    let [cuboid, mesh] = system.visuals.as_slice() else {
        panic!("{:?}", system.visuals);
    };
    assert!((cuboid.pose.translation.z + 0.09).abs() < 1e-12);
    assert_eq!(cuboid.color, Some([1.0, 0.0, 0.0, 1.0]));
    assert!((mesh.pose.translation.z + 0.1).abs() < 1e-12);
    // 0.01 + 1 * 0.02^2 + 1e-4 + 0.25 * 0.08^2 = 0.0121
    let about = inertia.second_moment().matrix6();
    let expected = 0.0121 + 1.25 * 0.02 * 0.02;
    assert!((about[(3, 3)] - expected).abs() < 1e-9, "{about}");

    fs::remove_file(folder.path("mine.toml")).unwrap();
    fs::remove_file(folder.path("mine-vehicle.toml")).unwrap();
    folder.fails(
        &[&arguments[..], &["hinge.urdf"]].concat(),
        2,
        "\
error: `hinge.urdf` cannot be the body of a multirotor: expected one rigid body, found 7 degrees of freedom

Make its joints fixed; or write it as a system with `fly system hinge.urdf --toml` and add [[rotors]]
",
    );
}

#[test]
fn nothing_is_overwritten_and_nothing_is_left_behind() {
    let folder = Folder::new();
    let good = [
        "new",
        "mine",
        "--frame",
        "y6",
        "--mass",
        "1.4",
        "--arm-length",
        "0.22",
    ];
    folder.write("mine-vehicle.toml", "mine");
    folder.fails(
        &good,
        2,
        "error: `./mine-vehicle.toml` exists already and is not overwritten: choose another name, or remove the file\n",
    );
    assert_eq!(folder.files(), ["mine-vehicle.toml"]);
    assert_eq!(
        fs::read_to_string(folder.path("mine-vehicle.toml")).unwrap(),
        "mine"
    );
    fs::remove_file(folder.path("mine-vehicle.toml")).unwrap();

    let weak = [&good[..], &["--thrust", "2"]].concat();
    // 2 N * (3 + 3 * 0.8) = 10.8 N of 13.734 N; 1.2 * 13.734 / 5.4 = 3.052.
    folder.fails(
        &weak,
        2,
        "error: this vehicle cannot fly: its rotors lift 0.786 times its weight, expected at least 1.2 times: a --thrust of at least 3.05 N, or less mass\n",
    );
    // Grams for newtons: 938 * 5.4 / 13.734, of which 3 % are 11 times the weight.
    let grams = [&good[..], &["--thrust", "938"]].concat();
    folder.fails(
        &grams,
        2,
        "error: this vehicle cannot hover: its rotors lift 369 times its weight, and 3 % of that when they idle; expected at most 30 times: a --thrust of at most 76.3 N\n",
    );
    folder.fails(
        &[
            "new",
            "a/b",
            "--frame",
            "y6",
            "--mass",
            "1",
            "--arm-length",
            "0.2",
        ],
        2,
        "error: the folder `a` does not exist\n",
    );
    folder.fails(
        &["new", "my hexacopter", "--frame", "y6", "--mass", "1", "--arm-length", "0.2"],
        2,
        "error: `my hexacopter` cannot be the name of a vehicle: expected letters, digits, `-` and `_`\n",
    );
    for (name, why) in [
        ("-dash", "it begins with `-`, like an option"),
        ("./-dash", "it begins with `-`, like an option"),
        ("-there/y6", "it begins with `-`, like an option"),
        ("there/", "it is a folder; add a name: `there/NAME`"),
        ("other/", "it is a folder; add a name: `other/NAME`"),
    ] {
        let size = ["--frame", "y6", "--mass", "1", "--arm-length", "0.2"];
        folder.fails(
            &[&["new"], &size[..], &["--", name]].concat(),
            2,
            &format!("error: `{name}` cannot be the name of a vehicle: {why}\n"),
        );
    }
    folder.fails(
        &["new", "--mass", "1"],
        2,
        "\
error: expected --frame, --arm-length: missing values are asked for on a terminal, and there is none

For example fly new my-hexacopter --frame hexacopter --mass 1.5 --arm-length 0.25
",
    );
    assert!(folder.files().is_empty());
}

#[test]
fn wrong_flags_tell_what_is_expected() {
    let folder = Folder::new();
    for (arguments, expected) in [
        (
            ["--frame", "septocopter"],
            "[possible values: quadcopter-x, quadcopter-plus, hexacopter, octocopter, y6, x8, tricopter]",
        ),
        (["--mass", "0"], "expected a mass from 0.01 to 1000 kg"),
        (
            ["--arm-length", "25 cm"],
            "expected a length from 0.02 to 10 m",
        ),
        (
            ["--thrust", "-1"],
            "expected a thrust above 0, at most 100000 N",
        ),
    ] {
        let output = folder.fly(&[&["new"][..], &arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        common::contains(&String::from_utf8_lossy(&output.stderr), expected);
    }
}

/// There is no configuration yet, nor one that other commands would read.
#[test]
fn options_of_a_configuration_are_refused() {
    let folder = Folder::new();
    let made = [
        "new",
        "mine",
        "--frame",
        "y6",
        "--mass",
        "1",
        "--arm-length",
        "0.2",
    ];
    for option in [
        "--set=flight.duration=2",
        "--config=quadcopter.toml",
        "--backend=replay",
    ] {
        let (name, _) = option.split_once('=').unwrap();
        folder.fails(
            &[&made[..], &[option]].concat(),
            2,
            &format!(
                "error: `fly new` reads no configuration, so `{name}` has no effect: change the files that it writes, or give options when you fly them: fly --config NAME.toml\n"
            ),
        );
    }
    folder.fails(
        &["report", "flight.mcap", "--set", "flight.duration=2"],
        2,
        "error: `fly report` reads no configuration, so `--set` has no effect: leave it out\n",
    );
    folder.fails(
        &["report", "a.mcap", "--allow-plugin"],
        2,
        "error: `fly report` reads no configuration, so `--allow-plugin` has no effect: leave it out\n",
    );
    folder.fails(
        &["log", "info", "a.mcap", "--plugin-dir", "."],
        2,
        "error: `fly log` reads no configuration, so `--plugin-dir` has no effect: leave it out\n",
    );
    folder.fails(
        &["backends", "--backend", "sim"],
        2,
        "error: `fly backends` reads no configuration, so `--backend` has no effect: leave it out\n",
    );
}

/// Its files are made in a folder of their own.
#[test]
fn an_interrupted_one_leaves_nothing_behind() {
    let folder = Folder::new();
    let made = [
        "new",
        "mine",
        "--frame",
        "x8",
        "--mass",
        "3",
        "--arm-length",
        "0.3",
    ];
    let signal = folder.interrupted(&made, ".fly-new-");
    assert_eq!(folder.files(), [""; 0]);
    assert_eq!(signal, Some(2));
}

/// Its reference needs more than its rotors give.
#[test]
fn a_warning_of_the_check_is_shown() {
    let folder = Folder::new();
    let made = [
        "new",
        "large",
        "--frame",
        "hexacopter",
        "--mass",
        "1000",
        "--arm-length",
        "10",
    ];
    let (told, _) = folder.ends(&made, 0);
    common::contains(&told, "check       it can fly, with 1 warning\n");
    common::contains(&told, "WARNING: reference: ");
    common::contains(&told, "N beyond the limits at ");
}
