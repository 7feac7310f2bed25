//! Bad input, through the real command: the exit code and every word of the message.

use crate::common;

mod backend;
mod causes;
mod controller;
mod flags;
mod reference;
mod sections;
mod system_controller;
mod system_path;
mod system_reference;
mod systems;
mod vehicle;

use common::Folder;

/// A flight with nothing wrong in its text; the cases below spoil one thing each.
const FLIGHT: &str = "\
[flight]
duration = 2.0
rate_hz = 500

[vehicle]
file = \"brick.toml\"

[controller]
approach = \"particle\"
pairs = [{ to = \"core\", stiffness.weight = 9, damping.weight = 6, inertia = { weight = 1, moment = [1, 1, 1] } }]

[reference]
kind = \"hover\"

[safety]
hold_ms = 50

[backend]
plugin = \"sim\"
";

const BRICK: &str = "\
name = \"brick\"

[bodies.core]
mass = 1.0
inertia = [0.01, 0.01, 0.02]

[[rotors]]
name = \"left\"
body = \"core\"
position = [0, 0.1, 0]
axis = [0, 0, 1]
thrust = [0.5, 8]
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("flight.toml", FLIGHT);
    folder.write("brick.toml", BRICK);
    folder
}

/// Replaces `old` by `new` in a file, checks the flight, and compares what is printed on standard error.
#[track_caller]
fn spoiled(file: &str, old: &str, new: &str, expected: &str) {
    let folder = folder();
    let text = if file == "brick.toml" { BRICK } else { FLIGHT };
    assert_eq!(text.matches(old).count(), 1, "{old:?} must occur once");
    folder.write(file, &text.replace(old, new));
    folder.fails(&["check", "--config", "flight.toml"], 2, expected);
}

#[track_caller]
fn set(assignment: &str, expected: &str) {
    folder().fails(
        &["check", "--config", "flight.toml", "--set", assignment],
        2,
        expected,
    );
}
