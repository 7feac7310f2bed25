//! `[controller]` of a system, and what a controller cannot do without.

use crate::bad_input::systems::{CONTROLLER, spoiled};

#[test]
fn no_gains() {
    spoiled(
        CONTROLLER,
        "approach = \"computed_torque\"",
        "\
error: `controller.gains` cannot be used
  --> arm.toml:22:1
   |
22 | [controller]
   | ^^^^^^^^^^^^ expected the gains of every joint for the approach computed_torque, found none
",
    );
}

#[test]
fn gains_of_one_joint() {
    spoiled(
        CONTROLLER,
        "approach = \"computed_torque\"\ngains.shoulder = { stiffness = 9, damping = 6 }",
        "\
error: `controller.gains` cannot be used
  --> arm.toml:24:1
   |
24 | gains.shoulder = { stiffness = 9, damping = 6 }
   | ^^^^^ expected gains of every joint: `shoulder`, `elbow`; those of `elbow` are missing
",
    );
}

#[test]
fn gains_of_an_unknown_joint() {
    spoiled(
        CONTROLLER,
        "approach = \"computed_torque\"\ngains.shoulder = { stiffness = 9, damping = 6 }\ngains.elbo = { stiffness = 9, damping = 6 }",
        "\
error: `controller.gains.elbo` cannot be used
  --> arm.toml:25:7
   |
25 | gains.elbo = { stiffness = 9, damping = 6 }
   |       ^^^^ expected joints that move: `shoulder`, `elbow`; found `elbo`
   |
   = help: did you mean `elbow`?
",
    );
}

#[test]
fn no_poles() {
    spoiled(
        CONTROLLER,
        "approach = \"state_feedback\"",
        "\
error: `controller.poles` cannot be used
  --> arm.toml:22:1
   |
22 | [controller]
   | ^^^^^^^^^^^^ expected a list of poles, or a table [controller.lqr], for the approach state_feedback, found neither
",
    );
}

#[test]
fn wrong_number_of_poles() {
    spoiled(
        CONTROLLER,
        "approach = \"state_feedback\"\npoles = [-3, -3, -3]",
        "\
error: `controller.poles` cannot be used
  --> arm.toml:24:9
   |
24 | poles = [-3, -3, -3]
   |         ^^^^^^^^^^^^ found 3 poles; expected 4, two for each degree of freedom
",
    );
}

#[test]
fn unknown_approach() {
    spoiled(
        "\"energy\"",
        "\"enery\"",
        "\
error: `controller.approach` cannot be \"enery\"
  --> arm.toml:23:12
   |
23 | approach = \"enery\"
   |            ^^^^^^^ expected \"particle\", \"body\", \"energy\", \"joint_pd\", \"computed_torque\", \"linear\", \"state_feedback\", \"lee\", \"rotorpy_se3\", \"cascade\" or \"indi\"
   |
   = help: did you mean \"energy\"?
",
    );
}

#[test]
fn pair_of_an_unknown_body() {
    spoiled(
        "{ to = \"upper\"",
        "{ to = \"uper\"",
        "\
error: `controller.pairs[0].to` cannot be used
  --> arm.toml:25:12
   |
25 |     { to = \"uper\", stiffness = 9, damping = 6, inertia = 1 },
   |            ^^^^^^ there is no body named `uper`; did you mean `upper`?
",
    );
}

#[test]
fn pair_from_an_unknown_body() {
    spoiled(
        "from = \"upper\"",
        "from = \"uppr\"",
        "\
error: `controller.pairs[1].from` cannot be used
  --> arm.toml:26:14
   |
26 |     { from = \"uppr\", to = \"fore\", stiffness = 9, damping = 6, inertia = 1 },
   |              ^^^^^^ there is no body named `uppr`; did you mean `upper`?
",
    );
}

#[test]
fn unknown_key_of_a_pair() {
    spoiled(
        "{ to = \"upper\", stiffness",
        "{ to = \"upper\", stifness",
        "\
error: unknown key `controller.pairs[0].stifness`
  --> arm.toml:25:21
   |
25 |     { to = \"upper\", stifness = 9, damping = 6, inertia = 1 },
   |                     ^^^^^^^^ expected `from`, `to`, `stiffness`, `damping` or `inertia`
   |
   = help: did you mean `stiffness`?

error: missing key `controller.pairs[0].stiffness`
  --> arm.toml:25:5
   |
25 |     { to = \"upper\", stifness = 9, damping = 6, inertia = 1 },
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `stiffness` is required in this table
",
    );
}

#[test]
fn unknown_key_inside_a_pair() {
    spoiled(
        "{ to = \"upper\", stiffness = 9",
        "{ to = \"upper\", stiffness = { wight = 9 }",
        "\
error: unknown key `controller.pairs[0].stiffness.wight`
  --> arm.toml:25:35
   |
25 |     { to = \"upper\", stiffness = { wight = 9 }, damping = 6, inertia = 1 },
   |                                   ^^^^^ expected `weight`, `center`, `moment`, `moment_about_origin` or `matrix`
   |
   = help: did you mean `weight`?
",
    );
}

#[test]
fn a_joint_without_inertia() {
    spoiled(
        "    { from = \"upper\", to = \"fore\", stiffness = 9, damping = 6, inertia = 1 },\n",
        "",
        "\
error: `controller.pairs` cannot be used
  --> arm.toml:24:9
   |
24 | pairs = [
   |         ^ expected pairs that give every degree of freedom a desired inertia, found none for the joint of `fore`: add a pair whose inertia moves with it
",
    );
}

#[test]
fn unknown_transport() {
    spoiled(
        "approach = \"energy\"",
        "approach = \"energy\"\ntransport = \"adjont\"",
        "\
error: `controller.transport` cannot be \"adjont\"
  --> arm.toml:24:13
   |
24 | transport = \"adjont\"
   |             ^^^^^^^^ expected \"joint\", \"adjoint\" or \"centred\"
   |
   = help: did you mean \"adjoint\"?
",
    );
}

#[test]
fn transport_of_an_unknown_body() {
    spoiled(
        "approach = \"energy\"",
        "approach = \"energy\"\ntransport = { map = \"adjoint\", of = \"fre\" }",
        "\
error: `controller.transport.of` cannot be used
  --> arm.toml:24:37
   |
24 | transport = { map = \"adjoint\", of = \"fre\" }
   |                                     ^^^^^ there is no body named `fre`; did you mean `fore`?
",
    );
}

#[test]
fn transport_of_neither_map_nor_point() {
    spoiled(
        "approach = \"energy\"",
        "approach = \"energy\"\ntransport = { of = \"fore\" }",
        "\
error: `controller.transport` is not valid
  --> arm.toml:24:13
   |
24 | transport = { of = \"fore\" }
   |             ^^^^^^^^^^^^^^^ expected `map` or `point`, found neither
",
    );
}

#[test]
fn transport_of_what_is_no_pair() {
    spoiled(
        "approach = \"energy\"",
        "approach = \"energy\"\ntransport = { map = \"adjoint\", of = \"fore\" }",
        "\
error: `controller.transport.of` cannot be used
  --> arm.toml:24:37
   |
24 | transport = { map = \"adjoint\", of = \"fore\" }
   |                                     ^^^^^^ expected one of the pairs, found none from \"world\" to \"fore\"
",
    );
}

#[test]
fn loops() {
    spoiled(
        "[[vehicle.motors]]\njoint = \"shoulder\"",
        "[[vehicle.loops]]\nto = \"fore\"\ntype = \"point_on_plane\"\n\n[[vehicle.motors]]\njoint = \"shoulder\"",
        "\
error: this controller cannot fly this vehicle
  --> arm.toml:16:1
   |
16 | [[vehicle.loops]]
   | ^^^^^^^^^^^^^^^^^ a controller's model is a tree of bodies, but `arm` has loops: write `loops = []` in `[vehicle]`, and name the whole system in `[backend.sim] vehicle`
",
    );
}

#[test]
fn no_inputs() {
    spoiled(
        "[[vehicle.motors]]\njoint = \"shoulder\"\n\n[[vehicle.motors]]\njoint = \"elbow\"\n\n",
        "",
        "\
error: this controller cannot fly this vehicle
  --> arm.toml:16:1
   |
16 | [controller]
   | ^^^^^^^^^^^^ `arm` has no actuators: a controller needs rotors or motors in the description
",
    );
}

/// The vehicle has one body, but this approach does not fly it by its energies.
#[test]
fn descent_of_a_multirotor_controller() {
    let folder = crate::common::Folder::new();
    let approach = "controller={ approach = \"lee\", poles = { horizontal = [-5, -5, -5, -5], yaw = { inertia = 0.02, damping = 0.16, stiffness = 0.32 } } }";
    let (_, error) = folder.ends(
        &[
            "--config",
            "quadcopter.toml",
            "--set",
            approach,
            "--set",
            "safety.then=descend",
        ],
        2,
    );
    crate::common::contains(
        &error,
        "found \"descend\": the approach lee flies no descent",
    );
}

#[test]
fn descent() {
    spoiled(
        "[backend]",
        "[safety]\nthen = \"descend\"\n\n[backend]",
        "\
error: `safety.then` is not possible
  --> arm.toml:37:8
   |
37 | then = \"descend\"
   |        ^^^^^^^^^ expected \"hold\", \"land\" or \"terminate\", found \"descend\": `arm` is not flown as a vehicle of one body
",
    );
}
