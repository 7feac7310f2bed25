//! `[reference]` of a system.

use crate::bad_input::systems::{REFERENCE, spoiled};

#[test]
fn unknown_joint() {
    spoiled(
        "{ elbow",
        "{ elbo",
        "\
error: `reference.joints.elbo` cannot be used
  --> arm.toml:33:12
   |
33 | joints = { elbo = 1.5 }
   |            ^^^^ expected a joint of the system: `shoulder`, `elbow`; found `elbo`
   |
   = help: did you mean `elbow`?
",
    );
}

#[test]
fn unknown_joint_that_is_held() {
    spoiled(
        "joints = { elbow = 1.5 }",
        "held = [\"elbo\"]",
        "\
error: `reference.held[0]` cannot be used
  --> arm.toml:33:8
   |
33 | held = [\"elbo\"]
   |        ^^^^^^^^ expected a joint of the system: `shoulder`, `elbow`; found `elbo`
   |
   = help: did you mean `elbow`?
",
    );
}

#[test]
fn wrong_number_of_values() {
    spoiled(
        "{ elbow = 1.5 }",
        "{ elbow = [1, 2] }",
        "\
error: `reference.joints.elbow` cannot be used
  --> arm.toml:33:20
   |
33 | joints = { elbow = [1, 2] }
   |                    ^^^^^^ expected one number (angle), found 2
",
    );
}

#[test]
fn unknown_body() {
    spoiled(
        "body = \"fore\"",
        "body = \"for\"",
        "\
error: `reference.body` cannot be used
  --> arm.toml:31:8
   |
31 | body = \"for\"
   |        ^^^^^ there is no body named `for`; did you mean `fore`?
",
    );
}

#[test]
fn missing_path() {
    spoiled(
        "path = { kind = \"circle\", radius = 0.08, period = 2, center = [0.3, 0.2, 0] }\n",
        "",
        "\
error: missing key `reference.path`
  --> arm.toml:29:1
   |
29 | [reference]
   | ^^^^^^^^^^^ `path` is required in this table
",
    );
}

#[test]
fn kind_of_vehicles() {
    spoiled(
        REFERENCE,
        "kind = \"hover\"",
        "\
error: `reference.kind` cannot be used
  --> arm.toml:30:8
   |
30 | kind = \"hover\"
   |        ^^^^^^^ expected rest, joints, transfer, tool, two_masses, pvtol, planar; found hover, which needs one free body and no other moving bodies: the joints that move are `shoulder`, `elbow`
",
    );
}

#[test]
fn kind_of_other_systems() {
    spoiled(
        REFERENCE,
        "kind = \"pvtol\"\npath = { kind = \"line\", to = [0, 0, 0], duration = 1 }",
        "\
error: `reference.kind` cannot be used
  --> arm.toml:30:8
   |
30 | kind = \"pvtol\"
   |        ^^^^^^^ expected one body on a planar joint, driven by two independent thrusts in its plane, found 2 bodies that move
",
    );
}

#[test]
fn unknown_key_of_a_joint() {
    spoiled(
        REFERENCE,
        "kind = \"joints\"\njoints = { elbow = { amplitud = 1 } }",
        "\
error: unknown key `reference.joints.elbow.amplitud`
  --> arm.toml:31:22
   |
31 | joints = { elbow = { amplitud = 1 } }
   |                      ^^^^^^^^ expected `offset`, `rate`, `amplitude`, `angular_frequency` or `phase`
   |
   = help: did you mean `amplitude`?
",
    );
}

#[test]
fn wrong_number_of_amplitudes() {
    spoiled(
        REFERENCE,
        "kind = \"joints\"\njoints = { elbow = { amplitude = [1, 2] } }",
        "\
error: `reference.joints.elbow.amplitude` cannot be used
  --> arm.toml:31:34
   |
31 | joints = { elbow = { amplitude = [1, 2] } }
   |                                  ^^^^^^ expected one number (angle), found 2
",
    );
}

#[test]
fn beyond_the_limits_of_a_joint() {
    spoiled(
        REFERENCE,
        "kind = \"rest\"\njoints = { shoulder = 3.1 }",
        "\
error: `reference.joints` cannot be used
  --> arm.toml:31:10
   |
31 | joints = { shoulder = 3.1 }
   |          ^^^^^^^^^^^^^^^^^^ at 0 s joint `shoulder` would be at 3.100000: expected within its limits [-2.967060, 2.967060]
",
    );
}

#[test]
fn unknown_target() {
    spoiled(
        REFERENCE,
        "kind = \"transfer\"\nto = { sholder = 1 }\nduration = 1",
        "\
error: `reference.to.sholder` cannot be used
  --> arm.toml:31:8
   |
31 | to = { sholder = 1 }
   |        ^^^^^^^ expected a joint of the system: `shoulder`, `elbow`; found `sholder`
   |
   = help: did you mean `shoulder`?
",
    );
}
