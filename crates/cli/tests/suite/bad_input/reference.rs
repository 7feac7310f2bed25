//! `[reference]` of a vehicle.

use crate::bad_input::{set, spoiled};

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

/// Any of its values may be the one that is too large.
#[test]
fn reference_that_is_not_finite() {
    let arguments = [
        "check",
        "--config",
        "quadcopter.toml",
        "--set",
        "reference.yaw_rate=1e308",
    ];
    crate::common::Folder::new().fails(&arguments, 2, "\
error: `reference` cannot be used
  --> <shipped>/quadcopter.toml:23:1
   |
23 | [reference]
   | ^^^^^^^^^^^ at 0 s the motion is not finite: expected times, points, limits and parameters that are finite and not too large
");
}

/// A flight would last for as long as its reference: not at all.
#[test]
fn reference_that_ends_at_once() {
    let folder = crate::common::Folder::new();
    let point = "reference={ kind = \"waypoints\", points = [{ position = [0, 0, 1] }] }";
    let base = ["--config", "quadcopter.toml", "--set", point];
    for command in [&["check"][..], &[]] {
        let text = include_str!("../../../../../configs/quadcopter.toml");
        let text: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("duration"))
            .collect();
        folder.write("endless.toml", &text.join("\n"));
        let arguments = [command, &["--config", "endless.toml", "--set", point]].concat();
        let (_, stderr) = folder.ends(&arguments, 2);
        crate::common::contains(
            &stderr,
            "it ends as it begins, and the flight would end with it",
        );
    }
    folder.flies(&[&base[..], &["--set", "flight.duration=1"]].concat());
}
