//! A flight of a system, which the tests of its sections spoil.

use crate::bad_input::Folder;

/// An arm of two links that leads its tool along a circle.
const ARM: &str = "\
[vehicle]
name = \"arm\"

[vehicle.bodies.upper]
joint = { name = \"shoulder\", type = \"revolute\", axis = [0, 0, 1], limits = { position_deg = [-170, 170] } }
mass = 1
inertia = [0.1, 0.1, 0.1]

[vehicle.bodies.fore]
parent = \"upper\"
position = [0.35, 0, 0]
joint = { name = \"elbow\", type = \"revolute\", axis = [0, 0, 1] }
mass = 1
inertia = [0.1, 0.1, 0.1]

[[vehicle.motors]]
joint = \"shoulder\"

[[vehicle.motors]]
joint = \"elbow\"

[controller]
approach = \"energy\"
pairs = [
    { to = \"upper\", stiffness = 9, damping = 6, inertia = 1 },
    { from = \"upper\", to = \"fore\", stiffness = 9, damping = 6, inertia = 1 },
]

[reference]
kind = \"tool\"
body = \"fore\"
point = [0.25, 0, 0]
joints = { elbow = 1.5 }
path = { kind = \"circle\", radius = 0.08, period = 2, center = [0.3, 0.2, 0] }

[backend]
plugin = \"sim\"
";

/// What stands in its section `[reference]`.
pub const REFERENCE: &str = "kind = \"tool\"\nbody = \"fore\"\npoint = [0.25, 0, 0]\njoints = { elbow = 1.5 }\npath = { kind = \"circle\", radius = 0.08, period = 2, center = [0.3, 0.2, 0] }";
/// What stands in its section `[controller]`.
pub const CONTROLLER: &str = "approach = \"energy\"\npairs = [\n    { to = \"upper\", stiffness = 9, damping = 6, inertia = 1 },\n    { from = \"upper\", to = \"fore\", stiffness = 9, damping = 6, inertia = 1 },\n]";
/// The way of its tool.
pub const PATH: &str = "{ kind = \"circle\", radius = 0.08, period = 2, center = [0.3, 0.2, 0] }";

/// Replaces `old` by `new`, checks the flight, and compares what is printed on standard error.
#[track_caller]
pub fn spoiled(old: &str, new: &str, expected: &str) {
    assert_eq!(ARM.matches(old).count(), 1, "{old:?} must occur once");
    let folder = Folder::new();
    folder.write("arm.toml", &ARM.replace(old, new));
    folder.fails(&["check", "--config", "arm.toml"], 2, expected);
}

#[test]
fn it_is_in_order_before_it_is_spoiled() {
    let folder = Folder::new();
    folder.write("arm.toml", ARM);
    folder.ends(&["check", "--config", "arm.toml"], 0);
}
