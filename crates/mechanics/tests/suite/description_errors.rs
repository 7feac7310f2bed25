//! Every mistake in the description of a system gets one clear message, at the right place.

use fly_mechanics::System;

const GOOD: &str = r#"name = "test"

[bodies.base]
mass = 1.0
inertia = [1, 1, 1]

[bodies.arm]
parent = "base"
position = [0, 0, 1]
mass = 1.0
inertia = [1, 1, 1]

[bodies.arm.joint]
type = "revolute"
axis = [0, 1, 0]
damping = 0.1
limits = { position = [-1, 1], effort = 2 }

[bodies.hand]
parent = "arm"
joint = { name = "wrist", type = "universal", axis = [1, 0, 0], second_axis = [0, 1, 0] }
shape = { box = [1, 1, 1] }
density = 2

[[springs]]
from = "base"
to = "hand"
stiffness = { weight = 1 }

[[dampers]]
to = "hand"
points = [{ damping = 1, position = [0, 0, 1] }]

[[motors]]
joint = "wrist"
component = 1
effort = 3

[[loops]]
name = "rod"
type = "distance"
length = 0.5
from = "hand"
to = "base"
to_frame = { position = [0, 1, 0], axis = [0, 0, 1] }

[[rolling]]
type = "disc"
radius = 0.1
to = "hand"

[[couplings]]
terms = [{ joint = "arm" }, { joint = "wrist", component = 1, factor = -2 }]
"#;

/// Replaces `from` by `to` in the good description and expects an error that reads `message`, points at `place` in
/// the text, and helps with `help`.
#[track_caller]
fn check(from: &str, to: &str, message: &str, place: &str, help: &str) {
    assert!(GOOD.contains(from), "the good description has no {from:?}");
    let text = GOOD.replacen(from, to, 1);
    let error = System::from_toml(&text).expect_err("a mistake");
    assert_eq!(error.to_string(), message);
    assert_eq!(
        text.get(error.span.clone()),
        Some(place),
        "span {:?}",
        error.span
    );
    assert_eq!(error.help.as_deref().unwrap_or_default(), help);
}

#[test]
fn the_good_description_is_good() {
    let system = System::from_toml(GOOD).expect("no mistake");
    assert_eq!(system.model.dof(), 9);
    assert_eq!(system.model.springs().len(), 1);
    // One at the joint, one as a separate entry.
    assert_eq!(system.model.dampers().len(), 2);
}

#[test]
fn parents() {
    let parent = "parent = \"base\"";
    check(
        parent,
        "parent = \"bsae\"",
        "bodies.arm.parent: there is no body `bsae`",
        "\"bsae\"",
        "did you mean `base`?",
    );
    check(
        parent,
        "parent = \"xyz\"",
        "bodies.arm.parent: there is no body `xyz`",
        "\"xyz\"",
        "the bodies are named `base`, `arm`, `hand`",
    );
    // The hand is attached to the cycle, not part of it.
    check(
        "mass = 1.0\ninertia = [1, 1, 1]\n\n[bodies.arm]",
        "parent = \"arm\"\njoint = \"fixed\"\nmass = 1.0\ninertia = [1, 1, 1]\n\n[bodies.arm]",
        "bodies.base.parent: the parents of the bodies `base`, `arm` form a cycle; close loops with constraints instead",
        "\"arm\"",
        "",
    );
    check(
        parent,
        "parent = \"arm\"",
        "bodies.arm.parent: the parents of the bodies `arm` form a cycle; close loops with constraints instead",
        "\"arm\"",
        "",
    );
    check(
        "[bodies.hand]",
        "[bodies.world]",
        "bodies.world: a body must not be named `world`: this is the name of the inertial frame",
        "[bodies.world]",
        "",
    );
}

const WRIST: &str =
    "joint = { name = \"wrist\", type = \"universal\", axis = [1, 0, 0], second_axis = [0, 1, 0] }";

#[test]
fn joints() {
    let joint = WRIST;
    let types = "expected a type of joint: `fixed`, `revolute`, `prismatic`, `screw`, `cylindrical`, `universal`, `spherical`, `planar`, `schoenflies`, `free`";
    check(
        joint,
        "",
        "bodies.hand: missing key `joint`",
        "[bodies.hand]",
        "expected the joint on its parent: `joint = \"fixed\"`, `joint = { type = \"revolute\", axis = [0, 0, 1] }`, …",
    );
    check(
        joint,
        "joint = \"revolut\"",
        &format!("bodies.hand.joint: {types}, found `revolut`"),
        "\"revolut\"",
        "did you mean `revolute`?",
    );
    check(
        joint,
        "joint = { type = \"ball\" }",
        &format!("bodies.hand.joint.type: {types}, found `ball`"),
        "\"ball\"",
        "it is called `spherical` here",
    );
    check(
        joint,
        "joint = \"prismatic\"",
        "bodies.hand.joint: a prismatic joint needs an axis",
        "\"prismatic\"",
        "for example `joint = { type = \"prismatic\", axis = [0, 0, 1] }`",
    );
    check(
        joint,
        "joint = { type = \"prismatic\" }",
        "bodies.hand.joint: missing key `axis`",
        "{ type = \"prismatic\" }",
        "`axis` is a direction of any length in the joint's frame",
    );
    check(
        "axis = [0, 1, 0]",
        "axis = [0, 0, 0]",
        "bodies.arm.joint.axis: a joint's axis must have a length, found [0, 0, 0]",
        "[0, 0, 0]",
        "",
    );
    check(
        "second_axis = [0, 1, 0]",
        "second_axis = [-2, 0, 0]",
        "bodies.hand.joint.second_axis: the two axes of a universal joint must differ in direction",
        "[-2, 0, 0]",
        "",
    );
    check(
        joint,
        "joint = { type = \"universal\", axis = [0, 0, 0], second_axis = [0, 1, 0] }",
        "bodies.hand.joint.axis: a joint's axis must have a length, found [0, 0, 0]",
        "[0, 0, 0]",
        "",
    );
    check(
        joint,
        "joint = { type = \"screw\", axis = [1, 0, 0] }",
        "bodies.hand.joint: expected one of `pitch`, `lead`",
        "{ type = \"screw\", axis = [1, 0, 0] }",
        "",
    );
    check(
        joint,
        "joint = { type = \"screw\", axis = [1, 0, 0], pitch = 1, lead = 2 }",
        "bodies.hand.joint.lead: give `pitch` or `lead`, not both",
        "2",
        "",
    );
}

#[test]
fn keys_of_joints() {
    let joint = WRIST;
    check(
        "damping = 0.1",
        "dampings = 0.1",
        "bodies.arm.joint: unknown key `dampings`, expected one of `type`, `name`, `axis`, `coordinates`, `limits`, `spring`, `damping`",
        "dampings",
        "did you mean `damping`?",
    );
    check(
        "damping = 0.1",
        "damping = -0.1",
        "bodies.arm.joint.damping: expected a number of at least 0, found -0.1",
        "-0.1",
        "",
    );
    check(
        "damping = 0.1",
        "coordinates = \"quaternion\"",
        "bodies.arm.joint.coordinates: expected one of `angle`, `cos_sin`, found `quaternion`",
        "\"quaternion\"",
        "",
    );
    check(
        joint,
        "joint = { type = \"free\", damping = 1 }",
        "bodies.hand.joint.damping: expected a table, found an integer",
        "1",
        "write `damping = { linear = 0.1, angular = 0.01 }`: N s/m and N m s",
    );
    check(
        joint,
        "joint = { type = \"spherical\", velocity = \"absolute\" }\norientation = { rpy_deg = [1, 2, 3] }",
        "bodies.hand.orientation: a joint with absolute velocity has the world's axes, whatever its orientation",
        "{ rpy_deg = [1, 2, 3] }",
        "",
    );
    check(
        "name = \"wrist\"",
        "name = \"arm\"",
        "bodies.hand.joint.name: two joints are named `arm`; names must differ",
        "\"arm\"",
        "",
    );
    check(
        "position = [-1, 1]",
        "position = [1, -1]",
        "bodies.arm.joint.limits.position: expected the smallest value not above the largest, found [1, -1]",
        "[1, -1]",
        "",
    );
    check(
        "position = [-1, 1]",
        "position = [-1, 1], position_deg = [-90, 90]",
        "bodies.arm.joint.limits.position_deg: give `position` (rad) or `position_deg`, not both",
        "[-90, 90]",
        "",
    );
    check(
        "axis = [0, 1, 0]\ndamping",
        "axis = [0, 1, 0]\ncoordinates = \"cos_sin\"\ndamping",
        "bodies.arm.joint.limits.position: limits of `position` need `coordinates = \"angle\"`",
        "[-1, 1]",
        "",
    );
    check(
        "effort = 2",
        "effort = -2",
        "bodies.arm.joint.limits.effort: expected a number of at least 0, found -2",
        "-2",
        "",
    );
}

#[test]
fn places() {
    let ways = "`rpy_deg`, `quaternion`, `rotation_vector`, `axis`";
    let place = "position = [0, 0, 1]";
    for (orientation, message, at, help) in [
        (
            "[1, 0, 0, 0]",
            "bodies.arm.orientation: expected a table, found an array".to_owned(),
            "[1, 0, 0, 0]",
            "write `{ rpy_deg = [roll, pitch, yaw] }` or `{ quaternion = [w, x, y, z] }`",
        ),
        (
            "{}",
            format!("bodies.arm.orientation: expected one of {ways}"),
            "{}",
            "",
        ),
        (
            "{ rpy_deg = [1, 2, 3], quaternion = [1, 0, 0, 0] }",
            "bodies.arm.orientation.quaternion: give `rpy_deg` or `quaternion`, not both".to_owned(),
            "[1, 0, 0, 0]",
            "",
        ),
        (
            "{ quaternion = [1, 0, 0, 1] }",
            "bodies.arm.orientation.quaternion: expected a quaternion w, x, y, z of length 1, found one of length 1.41421".to_owned(),
            "[1, 0, 0, 1]",
            "",
        ),
        (
            "{ axis = [0, 0, 0], angle_deg = 3 }",
            "bodies.arm.orientation.axis: expected a direction, found [0, 0, 0]".to_owned(),
            "[0, 0, 0]",
            "",
        ),
        (
            "{ axis = [0, 0, 1] }",
            "bodies.arm.orientation: missing key `angle_deg`".to_owned(),
            "{ axis = [0, 0, 1] }",
            "",
        ),
        (
            "{ rpy_deg = [0, 0, 1], angle_deg = 3 }",
            "bodies.arm.orientation.angle_deg: `angle_deg` belongs to `axis`, not to `rpy_deg`".to_owned(),
            "3",
            "",
        ),
        (
            "{ rotation_vector = [1e308, 1e308, 1e308] }",
            "bodies.arm.orientation.rotation_vector: expected an angle, found a number that is too large".to_owned(),
            "[1e308, 1e308, 1e308]",
            "",
        ),
    ] {
        check(
            place,
            &format!("{place}\norientation = {orientation}"),
            &message,
            at,
            help,
        );
    }
}

#[test]
#[allow(clippy::too_many_lines)] // a list of cases
fn masses() {
    let shape = "shape = { box = [1, 1, 1] }";
    check(
        "density = 2",
        "",
        "bodies.hand: expected one of `mass`, `density`",
        "[bodies.hand]",
        "",
    );
    check(
        "density = 2",
        "density = 2\nmass = 3",
        "bodies.hand.density: give `mass` or `density`, not both",
        "2",
        "",
    );
    check(
        "density = 2",
        "density = 0",
        "bodies.hand.density: expected a number above 0, found 0",
        "0",
        "",
    );
    check(
        "density = 2",
        "mass = 2\ninertia = [1, 1, 1]",
        "bodies.hand.inertia: the `shape` says what `inertia` is; give one of the two",
        "[1, 1, 1]",
        "",
    );
    check(
        shape,
        "",
        "bodies.hand.density: `density` needs a `shape`; else give `mass`",
        "2",
        "",
    );
    check(
        shape,
        "shape = \"cylinder\"",
        "bodies.hand.shape: expected a table, found a string",
        "\"cylinder\"",
        "for example `shape = { cylinder = { radius = 0.1, height = 0.3 } }`",
    );
    check(
        shape,
        "shape = { cyl = { radius = 1 } }",
        "bodies.hand.shape: unknown key `cyl`, expected one of `box`, `cylinder`, `mesh`, `ellipsoid`, `sphere`, `orientation`",
        "cyl",
        "did you mean `cylinder`?",
    );
    check(
        shape,
        "shape = { cylinder = { radius = 1 } }",
        "bodies.hand.shape.cylinder: missing key `height`",
        "{ radius = 1 }",
        "",
    );
    check(
        shape,
        "shape = { sphere = { radius = 1, inner_radius = 1 } }",
        "bodies.hand.shape.sphere.inner_radius: expected less than the radius, 1, found 1",
        "1",
        "",
    );
    check(
        shape,
        "shape = { box = [1, 0, 1] }",
        "bodies.hand.shape.box: expected three lengths above 0, found [1, 0, 1]",
        "[1, 0, 1]",
        "",
    );
    check(
        "mass = 1.0\ninertia = [1, 1, 1]",
        "mass = 1.0\nparts = [{ mass = 1 }]",
        "bodies.base.mass: a body that is made of `parts` has no `mass` of its own",
        "1.0",
        "",
    );
    let points = "parts = [{ mass = 1 }, { mass = 1, position = [0, 0, 1] }]";
    check(
        "mass = 1.0\ninertia = [1, 1, 1]",
        points,
        "bodies.base.parts: the principal moments of inertia must be positive, found 0, 0.5, 0.5 kg m^2 about the centre of mass",
        points.strip_prefix("parts = ").unwrap(),
        "",
    );
    check(
        "mass = 1.0\ninertia = [1, 1, 1]",
        "parts = [{ mass = 0 }]",
        "bodies.base.parts[0].mass: expected a number above 0, found 0",
        "0",
        "",
    );
    check(
        "mass = 1.0\ninertia = [1, 1, 1]",
        "parts = []",
        "bodies.base.parts: expected at least one part, found none",
        "[]",
        "",
    );
    check(
        "mass = 1.0\ninertia = [1, 1, 1]",
        "parts = [{ mass = 1, inertia = [1, 1, 3] }]",
        "bodies.base.parts[0].inertia: the largest principal moment of inertia must not exceed the sum of the two others, but 3 > 1 + 1 kg m^2 about the centre of mass",
        "[1, 1, 3]",
        "",
    );
}

#[test]
fn springs_and_dampers() {
    check(
        "to = \"hand\"\nstiffness",
        "to = \"had\"\nstiffness",
        "springs[0].to: there is no body `had`",
        "\"had\"",
        "did you mean `hand`?",
    );
    check(
        "from = \"base\"",
        "from = \"hand\"",
        "springs[0].to: a spring connects `hand` with itself",
        "\"hand\"",
        "",
    );
    check(
        "from = \"base\"",
        "to_body = \"base\"",
        "springs[0]: unknown key `to_body`, expected one of `from`, `to`, `rest`, `stiffness`, `points`",
        "to_body",
        "did you mean `to`?",
    );
    check(
        "stiffness = { weight = 1 }",
        "",
        "springs[0]: expected one of `stiffness`, `points`",
        "[[springs]]",
        "",
    );
    check(
        "stiffness = { weight = 1 }",
        "points = [{ stiffness = -1, position = [0, 0, 1], anchor = [0, 0, 0] }]",
        "springs[0].points: the springs' stiffnesses must sum to a positive number, found -1 N/m",
        "[{ stiffness = -1, position = [0, 0, 1], anchor = [0, 0, 0] }]",
        "",
    );
    check(
        "stiffness = { weight = 1 }",
        "stiffness = { moment = [[1, 2, 0], [0, 1, 0], [0, 0, 1]] }",
        "springs[0].stiffness.moment: expected a symmetric matrix, found one that is not",
        "[[1, 2, 0], [0, 1, 0], [0, 0, 1]]",
        "",
    );
    check(
        "points = [{ damping = 1, position = [0, 0, 1] }]",
        "damping = { moment = [1, -1, 1] }",
        "dampers[0].damping: expected a damper that takes energy out of every motion, found one that feeds energy into some",
        "{ moment = [1, -1, 1] }",
        "",
    );
    check(
        "points = [{ damping = 1, position = [0, 0, 1] }]",
        "points = [{ damping = -1, position = [0, 0, 1] }]",
        "dampers[0].points[0].damping: expected a number of at least 0, found -1",
        "-1",
        "",
    );
    check(
        "points = [{ damping = 1, position = [0, 0, 1] }]",
        "points = [{ damping = 1, position = [0, 0, 1e300] }]",
        "dampers[0].points: expected a finite number, found products that overflow",
        "[{ damping = 1, position = [0, 0, 1e300] }]",
        "",
    );
}

#[test]
fn motors() {
    check(
        "joint = \"wrist\"",
        "joint = \"wirst\"",
        "motors[0].joint: there is no joint `wirst`",
        "\"wirst\"",
        "did you mean `wrist`?",
    );
    check(
        "joint = \"wrist\"",
        "joint = \"hand\"",
        "motors[0].joint: there is no joint `hand`",
        "\"hand\"",
        "the joints are named `base`, `arm`, `wrist`",
    );
    check(
        "component = 1",
        "",
        "motors[0]: missing key `component`",
        "[[motors]]",
        "the joint has 2 degrees of freedom; specify which one, counted from 0",
    );
    check(
        "component = 1",
        "component = 2",
        "motors[0].component: motor `0`: there is no component 2, the joint has 2 degrees of freedom, counted from 0",
        "2",
        "",
    );
    check(
        "effort = 3",
        "effort = [3, -3]",
        "motors[0].effort: motor `0`: the smallest effort must be below the largest, found [3, -3]",
        "[3, -3]",
        "",
    );
    check(
        "effort = 3",
        "time_constant = -1",
        "motors[0].time_constant: motor `0`: `time_constant` must be finite and not negative, found -1 s",
        "-1",
        "",
    );
    check(
        "effort = 3",
        "effort = 3\n[[motors]]\njoint = \"arm\"\nname = \"0\"",
        "motors[1].name: two motors are named `0`; names must differ",
        "\"0\"",
        "",
    );
    check(
        "joint = { name = \"wrist\", type = \"universal\", axis = [1, 0, 0], second_axis = [0, 1, 0] }",
        "joint = { name = \"wrist\", type = \"fixed\" }",
        "motors[0].joint: a fixed joint does not move",
        "\"wrist\"",
        "",
    );
}

#[test]
fn loops() {
    check(
        "type = \"distance\"",
        "type = \"distanc\"",
        "loops[0].type: expected one of `fixed`, `revolute`, `prismatic`, `cylindrical`, `universal`, `spherical`, `planar`, `orientation`, `point_on_line`, `point_on_plane`, `distance`, found `distanc`",
        "\"distanc\"",
        "did you mean `distance`?",
    );
    check(
        "length = 0.5",
        "length = -0.5",
        "loops[0].length: expected a number above 0, found -0.5",
        "-0.5",
        "",
    );
    check(
        "type = \"distance\"",
        "type = \"revolute\"",
        "loops[0]: unknown key `length`, expected one of `name`, `type`, `from`, `from_frame`, `to`, `to_frame`",
        "length",
        "",
    );
    check(
        "to = \"base\"",
        "to = \"hand\"",
        "loops[0].to: a loop connects `hand` with itself",
        "\"hand\"",
        "",
    );
    check(
        "to = \"base\"",
        "to = \"basis\"",
        "loops[0].to: there is no body `basis`",
        "\"basis\"",
        "did you mean `base`?",
    );
    check(
        "axis = [0, 0, 1] }",
        "axis = [0, 0, 0] }",
        "loops[0].to_frame.axis: a joint's axis must have a length, found [0, 0, 0]",
        "[0, 0, 0]",
        "",
    );
    check(
        "axis = [0, 0, 1] }",
        "axis = [0, 0, 1], orientation = { rpy_deg = [1, 2, 3] } }",
        "loops[0].to_frame.axis: give `orientation` or `axis`, not both",
        "[0, 0, 1]",
        "",
    );
}

#[test]
fn rolling() {
    check(
        "type = \"disc\"",
        "type = \"disk\"",
        "rolling[0].type: expected one of `disc`, `sphere`, `ellipsoid`, `blade`, found `disk`",
        "\"disk\"",
        "did you mean `disc`?",
    );
    check(
        "type = \"disc\"",
        "type = \"blade\"",
        "rolling[0]: unknown key `radius`, expected one of `name`, `type`, `from`, `to`, `to_frame`",
        "radius",
        "",
    );
    check(
        "radius = 0.1",
        "radius = 0",
        "rolling[0].radius: expected a number above 0, found 0",
        "0",
        "",
    );
    check(
        "radius = 0.1",
        "radius = 0.1\nrim = -1",
        "rolling[0].rim: the rim of a disc must be zero or a positive number, found -1 m",
        "-1",
        "",
    );
    check(
        "radius = 0.1",
        "radius = 0.1\nrim = 0.2",
        "rolling[0].rim: the rim of a disc must be at most its radius, 0.1 m, found 0.2 m",
        "0.2",
        "",
    );
    check(
        "radius = 0.1",
        "radius = 0.1\nslides = 1",
        "rolling[0].slides: expected true or false, found an integer",
        "1",
        "",
    );
    check(
        "type = \"disc\"\nradius = 0.1",
        "type = \"ellipsoid\"\nsemi_axes = [1, 0, 1]",
        "rolling[0].semi_axes: the semi-axis of an ellipsoid must be a positive number, found 0 m",
        "[1, 0, 1]",
        "",
    );
    check(
        "radius = 0.1\nto = \"hand\"",
        "radius = 0.1\nto = \"world\"",
        "rolling[0].to: a rolling body connects `world` with itself",
        "\"world\"",
        "",
    );
    check(
        "radius = 0.1",
        "name = \"rod\"\nradius = 0.1",
        "rolling[0].name: two constraints are named `rod`; every constraint needs a name of its own",
        "\"rod\"",
        "",
    );
}

#[test]
fn couplings() {
    let terms = "terms = [{ joint = \"arm\" }, { joint = \"wrist\", component = 1, factor = -2 }]";
    check(
        terms,
        "name = \"rod\"\nterms = [{ joint = \"arm\" }]",
        "couplings[0].name: two constraints are named `rod`; every constraint needs a name of its own",
        "\"rod\"",
        "",
    );
    check(
        terms,
        "terms = [{ joint = \"wirst\" }]",
        "couplings[0].terms[0].joint: there is no joint `wirst`",
        "\"wirst\"",
        "did you mean `wrist`?",
    );
    check(
        terms,
        "terms = [{ joint = \"wrist\" }]",
        "couplings[0].terms[0]: missing key `component`",
        "{ joint = \"wrist\" }",
        "the joint has 2 degrees of freedom; specify which one, counted from 0",
    );
    check(
        terms,
        "terms = []",
        "couplings[0].terms: constraint `coupling 0` couples nothing: give at least one term with a factor other than 0",
        "[]",
        "",
    );
    check(
        terms,
        "terms = [{ joint = \"wrist\", component = 1, factor = 2 }, { joint = \"wrist\", component = 1, factor = -2 }]",
        "couplings[0].terms: constraint `coupling 0` couples nothing: give at least one term with a factor other than 0",
        "[{ joint = \"wrist\", component = 1, factor = 2 }, { joint = \"wrist\", component = 1, factor = -2 }]",
        "",
    );
    check(
        terms,
        "terms = [{ joint = \"base\", component = 0 }]",
        "couplings[0].terms: constraint `coupling 0` couples coordinate 0 of the joint of body `base`, which is neither a translation nor an unbounded angle; angles by cosine and sine, attitudes and positions in a rotating frame cannot be coupled: constrain frames instead",
        "[{ joint = \"base\", component = 0 }]",
        "",
    );
}
