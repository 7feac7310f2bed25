//! Messages that name the joint, the body or the pair at fault.

use std::fmt::Write as _;

use crate::common::{Folder, contains};

/// Checks this configuration, which must be refused with these words.
#[track_caller]
fn refused(folder: &Folder, arguments: &[&str], parts: &[&str]) {
    let (stdout, stderr) = folder.ends(&[&["check"], arguments].concat(), 2);
    for part in parts {
        contains(&(stdout.clone() + &stderr), part);
    }
}

/// Two rods on ball joints, with motors about all axes, and no pairs yet.
fn balls() -> String {
    let mut text = "\
[flight]
duration = 1
[reference]
kind = 'rest'
[backend]
plugin = 'sim'
[vehicle]
name = 'balls'
[controller]
"
    .to_owned();
    for (body, rest) in [
        ("upper", ""),
        ("lower", "parent = 'upper'\nposition = [0, 0, -0.5]\n"),
    ] {
        let _ = writeln!(
            text,
            "[vehicle.bodies.{body}]\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n{rest}joint = {{ type = 'spherical', velocity = 'absolute' }}"
        );
        for component in 0..3 {
            let _ = writeln!(
                text,
                "[[vehicle.motors]]\nname = '{body} {component}'\njoint = '{body}'\ncomponent = {component}\neffort = 50"
            );
        }
    }
    text
}

/// Pairs of ball joints with absolute velocities are those from the world; others are named.
#[test]
fn a_pair_of_absolute_ball_joints_is_named() {
    let pair = |from: &str, to: &str| {
        let three = |key: &str, number: u32| {
            format!("{key} = {{ moment = [{number}, {number}, {number}] }}\n")
        };
        let energies = three("stiffness", 16) + &three("damping", 8) + &three("inertia", 1);
        format!("[[controller.pairs]]\nfrom = '{from}'\nto = '{to}'\n{energies}")
    };
    let folder = Folder::new();
    folder.write(
        "balls.toml",
        &(balls() + &pair("world", "upper") + &pair("upper", "lower")),
    );
    refused(
        &folder,
        &["--config", "balls.toml"],
        &[
            "error: `controller.transport` cannot be used\n",
            "it does not fit the pair `upper` to `lower`: `lower` has a ball joint whose velocity is absolute, for which pairs from the world fit alone; \
             write the pair from `world`, or give the joint `velocity = \"relative\"`",
        ],
    );
    folder.write(
        "balls.toml",
        &(balls() + &pair("world", "upper") + &pair("world", "lower")),
    );
    folder.flies(&["check", "--config", "balls.toml"]);
}

#[test]
fn a_joint_that_moves_no_mass_is_named() {
    let folder = Folder::new();
    folder.write(
        "hub.toml",
        "\
[vehicle]
name = 'hub'
[vehicle.bodies.hub]
joint = { type = 'revolute', axis = [0, 0, 1] }
[[vehicle.motors]]
joint = 'hub'
effort = 5
[controller]
approach = 'joint_pd'
gains.hub = { stiffness = 1, damping = 1 }
[reference]
kind = 'rest'
[backend]
plugin = 'sim'
",
    );
    refused(
        &folder,
        &["--config", "hub.toml"],
        &[
            " --> hub.toml:3:1\n",
            "the model's mass matrix is not positive definite: expected mass or inertia that every joint moves, found none for the joint of `hub`; give \
             `hub`, or a body that it carries, a mass and moments of inertia",
        ],
    );
}

#[test]
fn columns_of_samples_are_the_joints_of_the_system() {
    let folder = Folder::new();
    folder.write("s.csv", "# of a camera\ntime,elbo\n0,0\n");
    let samples = "reference={kind=\"sampled\",file=\"s.csv\"}";
    refused(
        &folder,
        &["--config", "examples/scara-joints", "--set", samples],
        &[
            "s.csv: line 2: expected the columns time, then each at most once `upper_arm`, `forearm`, found `time,elbo`",
        ],
    );
}

/// The arm is 0.6 m long.
#[test]
fn a_target_at_the_end_of_the_reach() {
    let path = "reference.path={kind=\"line\",to=[0.6000000001,0,0],duration=3}";
    refused(
        &Folder::new(),
        &["--config", "examples/scara-joints", "--set", path],
        &[
            "the nearest leaves 2.64e-10 (m, rad); the target is at the very end of the reach, where the configuration is singular",
        ],
    );
}

#[test]
fn a_motor_of_a_joint_that_bears_no_effort() {
    let folder = Folder::new();
    folder.write(
        "arm.urdf",
        "<robot name='arm'><link name='base'/><link name='upper'><inertial><mass value='1'/>\
         <inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link>\
         <joint name='shoulder' type='revolute'><parent link='base'/><child link='upper'/>\
         <limit lower='-1' upper='1' effort='0' velocity='1'/></joint></robot>",
    );
    let text = "vehicle.file = 'arm.urdf'\nbackend.plugin = 'sim'\nreference.kind = 'rest'\n\
                [controller]\n[[vehicle.motors]]\nname = 'm'\njoint = 'shoulder'\n";
    folder.write("arm.toml", text);
    refused(
        &folder,
        &["--config", "arm.toml"],
        &[
            " --> arm.toml:5:1\n",
            "expected a joint that bears an effort, or a motor with its own `effort`; the effort of `shoulder` is limited to 0",
        ],
    );
}

/// Without gravity and a cost of the cart, nothing determines its gain.
#[test]
fn gains_that_do_not_exist_are_placed() {
    let folder = Folder::new();
    let changes = [
        "--set",
        "vehicle.gravity=[0,0,0]",
        "--set",
        "controller.lqr.errors.cart=inf",
    ];
    let arguments = [&["--config", "examples/cart-pole.toml"], &changes[..]].concat();
    let why = "the gains of state feedback cannot be computed: there are no optimal gains";
    let (_, stderr) = folder.ends(&arguments, 2);
    contains(&stderr, "error: `controller.lqr` cannot be used\n");
    contains(&stderr, "examples/cart-pole.toml:");
    contains(&stderr, why);
    let (stdout, _) = folder.ends(&[&["check"], &arguments[..]].concat(), 5);
    contains(
        &stdout,
        "(`controller.lqr`, <shipped>/examples/cart-pole.toml:",
    );
}
