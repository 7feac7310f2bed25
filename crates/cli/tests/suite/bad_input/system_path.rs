//! `path` in `[reference]` of a system.

use crate::bad_input::systems::{PATH, spoiled};

#[test]
fn kind_that_is_none() {
    spoiled(
        "\"circle\"",
        "\"circel\"",
        "\
error: there is no path of kind `circel`
  --> arm.toml:34:17
   |
34 | path = { kind = \"circel\", radius = 0.08, period = 2, center = [0.3, 0.2, 0] }
   |                 ^^^^^^^^ expected `line`, `lissajous`, `circle`, `helix`, `waypoints`, `minimum_snap`, `sampled` or `independent`
   |
   = help: did you mean `circle`?
",
    );
}

#[test]
fn no_kind() {
    spoiled(
        "kind = \"circle\", ",
        "",
        "\
error: missing key `reference.path.kind`
  --> arm.toml:34:8
   |
34 | path = { radius = 0.08, period = 2, center = [0.3, 0.2, 0] }
   |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ expected `kind`, one of `line`, `lissajous`, `circle`, `helix`, `waypoints`, `minimum_snap`, `sampled` or `independent`
",
    );
}

#[test]
fn kind_of_the_wrong_type() {
    spoiled(
        "\"circle\"",
        "3",
        "\
error: `reference.path.kind` has the wrong type
  --> arm.toml:34:17
   |
34 | path = { kind = 3, radius = 0.08, period = 2, center = [0.3, 0.2, 0] }
   |                 ^ expected a string, one of `line`, `lissajous`, `circle`, `helix`, `waypoints`, `minimum_snap`, `sampled` or `independent`
",
    );
}

#[test]
fn no_table() {
    spoiled(
        PATH,
        "\"circle\"",
        "\
error: `reference.path` has the wrong type
  --> arm.toml:34:8
   |
34 | path = \"circle\"
   |        ^^^^^^^^ expected a table, found the string \"circle\"
",
    );
}

#[test]
fn unknown_key() {
    spoiled(
        "radius =",
        "radus =",
        "\
error: unknown key `reference.path.radus`
  --> arm.toml:34:27
   |
34 | path = { kind = \"circle\", radus = 0.08, period = 2, center = [0.3, 0.2, 0] }
   |                           ^^^^^ expected `radius`, `period`, `center`, `climb`, `turns`, `ramp`, `clockwise`, `start_angle_deg`, `yaw_deg`, `posture` or `point_height`
   |
   = help: did you mean `radius`?

error: missing key `reference.path.radius`
  --> arm.toml:34:8
   |
34 | path = { kind = \"circle\", radus = 0.08, period = 2, center = [0.3, 0.2, 0] }
   |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `radius` is required in this table
",
    );
}

#[test]
fn missing_key() {
    spoiled(
        "radius = 0.08, ",
        "",
        "\
error: missing key `reference.path.radius`
  --> arm.toml:34:8
   |
34 | path = { kind = \"circle\", period = 2, center = [0.3, 0.2, 0] }
   |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `radius` is required in this table
",
    );
}

#[test]
fn wrong_type() {
    spoiled(
        "period = 2",
        "period = \"2 s\"",
        "\
error: `reference.path.period` has the wrong type
  --> arm.toml:34:51
   |
34 | path = { kind = \"circle\", radius = 0.08, period = \"2 s\", center = [0.3, 0.2, 0] }
   |                                                   ^^^^^ expected a number, found the string \"2 s\"
",
    );
}

#[test]
fn wrong_length() {
    spoiled(
        "[0.3, 0.2, 0]",
        "[0.3, 0.2]",
        "\
error: `reference.path.center` has the wrong length
  --> arm.toml:34:63
   |
34 | path = { kind = \"circle\", radius = 0.08, period = 2, center = [0.3, 0.2] }
   |                                                               ^^^^^^^^^^ expected an array of 3 values, found one of 2
",
    );
}

#[test]
fn not_positive() {
    spoiled(
        "0.08",
        "-1",
        "\
error: `reference.path.radius` cannot be used
  --> arm.toml:34:36
   |
34 | path = { kind = \"circle\", radius = -1, period = 2, center = [0.3, 0.2, 0] }
   |                                    ^^ expected a positive number, found -1
",
    );
}

#[test]
fn unknown_key_of_a_point() {
    spoiled(
        PATH,
        "{ kind = \"waypoints\", points = [{ position = [0.3, 0.2, 0] }, { position = [0.3, 0.1, 0], yaw = 3 }] }",
        "\
error: unknown key `reference.path.points[1].yaw`
  --> arm.toml:34:98
   |
34 | path = { kind = \"waypoints\", points = [{ position = [0.3, 0.2, 0] }, { position = [0.3, 0.1, 0], yaw = 3 }] }
   |                                                                                                  ^^^ expected `position`, `yaw_deg` or `hold`
   |
   = help: did you mean `yaw_deg`?
",
    );
}

#[test]
fn posture() {
    spoiled(
        "radius =",
        "posture = \"level\", radius =",
        "\
error: `reference.path.posture` cannot be used
  --> arm.toml:34:37
   |
34 | path = { kind = \"circle\", posture = \"level\", radius = 0.08, period = 2, center = [0.3, 0.2, 0] }
   |                                     ^^^^^^^ expected none: a path alone has no attitude
",
    );
}

#[test]
fn out_of_reach() {
    spoiled(
        PATH,
        "{ kind = \"line\", to = [0.8, 0, 0], duration = 2 }",
        "\
error: `reference.path` cannot be used
  --> arm.toml:34:8
   |
34 | path = { kind = \"line\", to = [0.8, 0, 0], duration = 2 }
   |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ at 1.02 s no configuration was found in which `fore` is at its target: the nearest leaves 6.34e-3 (m, rad); the target is out of reach, or reached only by joints that are held, or from another start of the search, away from singular configurations
",
    );
}

#[test]
fn singular() {
    spoiled(
        "joints = { elbow = 1.5 }\npath = { kind = \"circle\", radius = 0.08, period = 2, center = [0.3, 0.2, 0] }",
        "path = { kind = \"line\", to = [0.3, 0, 0], duration = 2 }",
        "\
error: `reference.path` cannot be used
  --> arm.toml:33:8
   |
33 | path = { kind = \"line\", to = [0.3, 0, 0], duration = 2 }
   |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ at 0 s the Jacobian of `fore` is singular: keep the target away from this configuration
",
    );
}
