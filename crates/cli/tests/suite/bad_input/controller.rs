//! `[controller]` of a vehicle.

use crate::bad_input::spoiled;
use crate::common::{Folder, contains};

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
  |            ^^^^^^^^^^^ expected \"particle\", \"body\", \"energy\", \"joint_pd\", \"computed_torque\", \"linear\", \"state_feedback\", \"lee\", \"rotorpy_se3\", \"cascade\" or \"indi\"
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
   |                                                       ^^^^^ expected `weight`, `center`, `moment`, `moment_about_origin` or `matrix`
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
fn limits_of_the_way_that_cannot_be() {
    let cases = [
        ("limits.speed=0", "expected a positive number, found 0"),
        (
            "limits.tilt_deg=95",
            "expected less than 90 degrees, found 95",
        ),
        ("limits.sped=3", "unknown key `controller.limits.sped`"),
        ("limits=3", "expected a table of limits, or false"),
    ];
    let folder = Folder::new();
    for (key, expected) in cases {
        let set = format!("controller.{key}");
        let arguments = ["check", "--config", "quadcopter.toml", "--set", &set];
        let (_, stderr) = folder.ends(&arguments, 2);
        contains(&stderr, expected);
    }
    // A vehicle that moves without tilting.
    let tilt = ["--set", "controller.limits.tilt_deg=5"];
    let check = ["check", "--config", "tricopter.toml"];
    let (_, stderr) = folder.ends(&[&check[..], &tilt].concat(), 2);
    contains(&stderr, "`controller.limits.tilt_deg` cannot be used");
    // Of a system there is nothing to lead.
    let limited = ["--set", "controller.limits.speed=3"];
    let arm = ["check", "--config", "examples/arm-joints.toml"];
    let (_, stderr) = folder.ends(&[&arm[..], &limited].concat(), 2);
    contains(&stderr, "`controller.limits` cannot be used");
}

/// Slower poles do not help.
#[test]
fn poles_without_gravity() {
    let arguments = [
        "check",
        "--config",
        "quadcopter.toml",
        "--set",
        "vehicle.gravity=[0, 0, 0]",
    ];
    Folder::new().fails(&arguments, 2, "\
error: `controller.poles` cannot be used
  --> <shipped>/quadcopter.toml:19:1
   |
19 | [controller.poles]
   | ^^^^^^^^^^^^^^^^^^ without gravity, tilting the vehicle does not move it sideways: expected `gravity`, or a vehicle whose inputs produce every wrench, with the desired energies of each pair
");
}
