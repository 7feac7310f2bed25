//! Every mistake in the description of a vehicle gets one clear message, at the right place.

use fly_mechanics::Vehicle;

const GOOD: &str = r#"name = "test"

[bodies.airframe]
mass = 1.0
inertia = [0.01, 0.01, 0.015]

[[rotors]]
name = "left"
body = "airframe"
position = [0, 0.2, 0]
axis = [0, 0, 1]
thrust = [1, 8]

[rotors.tilt]
axis = [0, 1, 0]
limit_deg = 60

[[rotors]]
name = "right"
body = "airframe"
position = [0, -0.2, 0]
axis = [0, 0, 1]
thrust = [1, 8]
"#;

/// Replaces `from` by `to` in the good description and expects an error that reads `message`, points at `place` in
/// the text, and helps with `help`.
#[track_caller]
fn check(from: &str, to: &str, message: &str, place: &str, help: Option<&str>) {
    assert!(GOOD.contains(from), "the good description has no {from:?}");
    check_text(&GOOD.replacen(from, to, 1), message, place, help);
}

#[track_caller]
fn check_text(text: &str, message: &str, place: &str, help: Option<&str>) {
    let error = Vehicle::from_toml(text).expect_err("a mistake");
    assert_eq!(error.to_string(), message);
    assert_eq!(
        text.get(error.span.clone()),
        Some(place),
        "span {:?}",
        error.span
    );
    assert_eq!(error.help.as_deref(), help);
}

#[test]
fn the_good_description_is_good() {
    let vehicle = Vehicle::from_toml(GOOD).expect("no mistake");
    assert_eq!(vehicle.name, "test");
    assert_eq!(vehicle.body_name, "airframe");
    assert_eq!(vehicle.body.gravity().as_slice(), [0.0, 0.0, -9.81]);
    let names = vehicle.rotors.command_names();
    assert_eq!(names, ["rotor.0.thrust", "rotor.0.tilt", "rotor.1.thrust"]);
    assert_eq!(vehicle.rotors.as_slice()[1].name, "right");
}

#[test]
fn syntax() {
    check(
        "mass = 1.0",
        "mass = ",
        "string values must be quoted, expected literal string",
        "",
        None,
    );
}

#[test]
fn unknown_key() {
    check(
        "mass = 1.0",
        "masss = 1.0",
        "bodies.airframe: unknown key `masss`, expected one of `parent`, `joint`, `position`, `orientation`, `mass`, `density`, `center_of_mass`, `inertia`, `inertia_about_origin`, `shape`, `parts`, `drag`, `contacts`, `visuals`",
        "masss",
        Some("did you mean `mass`?"),
    );
    check(
        "limit_deg = 60",
        "limit_deg = 60\nxyz = 1",
        "rotors[0].tilt: unknown key `xyz`, expected one of `axis`, `limit_deg`, `time_constant`, `segments`, `servo`",
        "xyz",
        None,
    );
    check(
        "name = \"test\"",
        "name = \"test\"\ngravitiy = 9.81",
        "unknown key `gravitiy`, expected one of `name`, `gravity`, `bodies`, `rotors`, `motors`, `battery`, `springs`, `dampers`, `loops`, `couplings`, `rolling`, `ropes`",
        "gravitiy",
        Some("did you mean `gravity`?"),
    );
    check(
        "thrust = [1, 8]\n\n[rotors.tilt]",
        "trust = [1, 8]\n\n[rotors.tilt]",
        "rotors[0]: unknown key `trust`, expected one of `name`, `body`, `position`, `axis`, `drag_ratio`, `thrust`, `time_constant`, `tilt`, `thrust_coefficient`, `radius`, `aerodynamics`, `motor`",
        "trust",
        Some("did you mean `thrust`?"),
    );
}

#[test]
fn missing_key() {
    check(
        "mass = 1.0",
        "",
        "bodies.airframe: missing key `mass`",
        "[bodies.airframe]",
        None,
    );
    check(
        "inertia = [0.01, 0.01, 0.015]",
        "",
        "bodies.airframe: missing key `inertia`",
        "[bodies.airframe]",
        Some("give `inertia` (about the centre of mass), `inertia_about_origin` or a `shape`"),
    );
    check(
        "position = [0, 0.2, 0]",
        "",
        "rotors[0]: missing key `position`",
        "[[rotors]]",
        None,
    );
    check("name = \"test\"", "", "missing key `name`", "", None);
}

#[test]
fn wrong_type() {
    check(
        "mass = 1.0",
        "mass = \"1 kg\"",
        "bodies.airframe.mass: expected a number, found a string",
        "\"1 kg\"",
        None,
    );
    check(
        "name = \"left\"",
        "name = 1",
        "rotors[0].name: expected a string, found an integer",
        "1",
        None,
    );
    check(
        "axis = [0, 1, 0]",
        "axis = true",
        "rotors[0].tilt.axis: expected an array of 3 numbers, found a boolean",
        "true",
        None,
    );
    check(
        "axis = [0, 1, 0]",
        "axis = [0, 1, \"0\"]",
        "rotors[0].tilt.axis[2]: expected a number, found a string",
        "\"0\"",
        None,
    );
    check_text(
        "name = \"x\"\nbodies = 1",
        "bodies: expected a table, found an integer",
        "1",
        None,
    );
    check_text(
        &GOOD
            .split("[[rotors]]")
            .next()
            .map(|body| format!("{body}[rotors]\nname = \"x\""))
            .unwrap_or_default(),
        "rotors: expected an array of tables, [[rotors]], found a table",
        "[rotors]",
        None,
    );
}

#[test]
fn wrong_length() {
    check(
        "thrust = [1, 8]",
        "thrust = [1, 8, 9]",
        "rotors[0].thrust: expected an array of 2 numbers, found one of 3",
        "[1, 8, 9]",
        None,
    );
    check(
        "inertia = [0.01, 0.01, 0.015]",
        "inertia = [0.01, 0.01]",
        "bodies.airframe.inertia: expected an array of 3 numbers, found one of 2",
        "[0.01, 0.01]",
        None,
    );
    check(
        "inertia = [0.01, 0.01, 0.015]",
        "inertia = [[1, 0, 0], [0, 1, 0]]",
        "bodies.airframe.inertia: expected 3 rows, found 2",
        "[[1, 0, 0], [0, 1, 0]]",
        None,
    );
}

#[test]
fn not_finite() {
    check(
        "mass = 1.0",
        "mass = nan",
        "bodies.airframe.mass: expected a finite number, found NaN",
        "nan",
        None,
    );
    check(
        "limit_deg = 60",
        "limit_deg = inf",
        "rotors[0].tilt.limit_deg: expected a finite number, found inf",
        "inf",
        None,
    );
    check(
        "position = [0, 0.2, 0]",
        "position = [0, -inf, 0]",
        "rotors[0].position[1]: expected a finite number, found -inf",
        "-inf",
        None,
    );
    check(
        "mass = 1.0",
        "mass = 1e999",
        "bodies.airframe.mass: expected a finite number, found inf",
        "1e999",
        None,
    );
}

#[test]
fn inertia() {
    check(
        "mass = 1.0",
        "mass = -1.0",
        "bodies.airframe.mass: the mass must be positive, found -1 kg",
        "-1.0",
        None,
    );
    check(
        "mass = 1.0",
        "mass = 0",
        "bodies.airframe.mass: the mass must be positive, found 0 kg",
        "0",
        None,
    );
    let inertia = "inertia = [0.01, 0.01, 0.015]";
    check(
        inertia,
        "inertia = [0.01, 0.01, 0.025]",
        "bodies.airframe.inertia: the largest principal moment of inertia must not exceed the sum of the two others, but 0.025 > 0.01 + 0.01 kg m^2 about the centre of mass",
        "[0.01, 0.01, 0.025]",
        None,
    );
    check(
        inertia,
        "inertia = [0.01, -0.01, 0.015]",
        "bodies.airframe.inertia: the principal moments of inertia must be positive, found -0.01, 0.01, 0.015 kg m^2 about the centre of mass",
        "[0.01, -0.01, 0.015]",
        None,
    );
    check(
        inertia,
        "inertia = [[0.01, 0.001, 0], [0, 0.01, 0], [0, 0, 0.015]]",
        "bodies.airframe.inertia: the matrix of inertia must be symmetric, but entry (1, 2) is 0.001 and entry (2, 1) is 0",
        "[[0.01, 0.001, 0], [0, 0.01, 0], [0, 0, 0.015]]",
        None,
    );
    // About the origin these moments are possible, about the centre of mass too little is left of one of them.
    check(
        inertia,
        "center_of_mass = [0, 0, 0.2]\ninertia_about_origin = [0.03, 0.05, 0.015]",
        "bodies.airframe.inertia_about_origin: the principal moments of inertia must be positive, found -0.01, 0.01, 0.015 kg m^2 about the centre of mass",
        "[0.03, 0.05, 0.015]",
        None,
    );
    check(
        inertia,
        "inertia = [0.01, 0.01, 0.015]\ninertia_about_origin = [0.04, 0.05, 0.015]",
        "bodies.airframe.inertia_about_origin: give `inertia` (about the centre of mass) or `inertia_about_origin`, not both",
        "[0.04, 0.05, 0.015]",
        None,
    );
}

#[test]
fn rotors() {
    check(
        "thrust = [1, 8]",
        "thrust = [8, 1]",
        "rotors[0].thrust: rotor `left`: the smallest thrust must be below the largest, found [8, 1] N",
        "[8, 1]",
        None,
    );
    check(
        "thrust = [1, 8]",
        "thrust = [-1, 8]",
        "rotors[0].thrust: rotor `left` tilts, so its smallest thrust must not be negative, found -1 N",
        "[-1, 8]",
        None,
    );
    check(
        "axis = [0, 0, 1]",
        "axis = [0, 0, 0]",
        "rotors[0].axis: rotor `left`: `axis` must have a direction, found a zero vector",
        "[0, 0, 0]",
        None,
    );
    check(
        "thrust = [1, 8]",
        "thrust = [1, 8]\ntime_constant = -0.1",
        "rotors[0].time_constant: rotor `left`: `time_constant` must not be negative, found -0.1 s",
        "-0.1",
        None,
    );
    check(
        "name = \"right\"",
        "name = \"left\"",
        "rotors[1].name: two rotors are named `left`; names must differ",
        "\"left\"",
        None,
    );
    check(
        "body = \"airframe\"",
        "body = \"airfame\"",
        "rotors[0].body: there is no body `airfame`",
        "\"airfame\"",
        Some("did you mean `airframe`?"),
    );
    check(
        "body = \"airframe\"",
        "body = \"xyz\"",
        "rotors[0].body: there is no body `xyz`",
        "\"xyz\"",
        Some("the body is named `airframe`"),
    );
}

#[test]
fn tilt() {
    for (limit, found) in [("90", "90"), ("95.5", "95.5"), ("0", "0"), ("-10", "-10")] {
        check(
            "limit_deg = 60",
            &format!("limit_deg = {limit}"),
            &format!(
                "rotors[0].tilt.limit_deg: rotor `left`: the tilt limit must be above 0 and below 90 degrees, found {found} degrees"
            ),
            limit,
            None,
        );
    }
    check(
        "axis = [0, 1, 0]",
        "axis = [0, 1, 1]",
        "rotors[0].tilt.axis: rotor `left`: `tilt.axis` must be perpendicular to `axis`, found an angle of 45 degrees between them",
        "[0, 1, 1]",
        None,
    );
    check(
        "axis = [0, 1, 0]",
        "axis = [0, 0, 0]",
        "rotors[0].tilt.axis: rotor `left`: `tilt.axis` must have a direction, found a zero vector",
        "[0, 0, 0]",
        None,
    );
    check(
        "limit_deg = 60",
        "limit_deg = 60\nsegments = 0",
        "rotors[0].tilt.segments: rotor `left`: `tilt.segments` must be from 1 to 64, found 0",
        "0",
        None,
    );
    check(
        "limit_deg = 60",
        "limit_deg = 60\nsegments = -1",
        "rotors[0].tilt.segments: expected a count, found -1",
        "-1",
        None,
    );
    check(
        "thrust = [1, 8]\n\n[rotors.tilt]",
        "thrust = [5, 8]\n\n[rotors.tilt]\nsegments = 1",
        "rotors[0].tilt.segments: rotor `left`: with 1 segments the limit polygon reaches only 4 N along the axis, which is not above the smallest thrust 5 N; use more segments",
        "1",
        None,
    );
}

/// What flies is one free body with rotors.
#[test]
fn vehicles() {
    let help = Some(
        "a vehicle is one free body with rotors; `fly_mechanics::System` reads any system of bodies",
    );
    check(
        "[[rotors]]",
        "[bodies.load]\nmass = 1\ninertia = [1, 1, 1]\n\n[[rotors]]",
        "bodies.load: expected exactly one body, found 2: `airframe`, `load`",
        "[bodies.load]",
        help,
    );
    check_text(
        "name = \"x\"\n[bodies]\n",
        "bodies: expected exactly one body, found none",
        "[bodies]",
        help,
    );
    check(
        "mass = 1.0",
        "mass = 1.0\njoint = { type = \"revolute\", axis = [0, 0, 1] }",
        "bodies.airframe.joint: expected a free joint, but body `airframe` has another joint",
        "{ type = \"revolute\", axis = [0, 0, 1] }",
        help,
    );
    check(
        "mass = 1.0",
        "mass = 1.0\nposition = [0, 0, 1]",
        "bodies.airframe.position: a free body has its `position` in its configuration, not in its description",
        "[0, 0, 1]",
        help,
    );
    check(
        "mass = 1.0",
        "mass = 1.0\norientation = { rpy_deg = [0, 0, 1] }",
        "bodies.airframe.orientation: a free body has its `orientation` in its configuration, not in its description",
        "{ rpy_deg = [0, 0, 1] }",
        help,
    );
    check(
        "mass = 1.0\ninertia = [0.01, 0.01, 0.015]",
        "",
        "bodies.airframe: body `airframe` has no mass",
        "[bodies.airframe]",
        help,
    );
    check(
        "name = \"test\"",
        "name = \"test\"\nsprings = [{ to = \"airframe\", stiffness = { weight = 1 } }]",
        "springs: springs act on the body: the controller of a single free body does not model springs",
        "[{ to = \"airframe\", stiffness = { weight = 1 } }]",
        help,
    );
    check(
        "name = \"test\"",
        "name = \"test\"\ndampers = [{ to = \"airframe\", damping = { weight = 1 } }]",
        "dampers: dampers act on body `airframe`: the controller of a single free body models only the body's `drag`",
        "[{ to = \"airframe\", damping = { weight = 1 } }]",
        help,
    );
    check(
        "mass = 1.0",
        "mass = 1.0\njoint = { type = \"free\", damping = { linear = 0.1 } }",
        "bodies.airframe.joint.damping: dampers act on body `airframe`: the controller of a single free body models only the body's `drag`",
        "{ linear = 0.1 }",
        help,
    );
    check(
        "name = \"test\"",
        "name = \"test\"\nloops = [{ to = \"airframe\", type = \"spherical\" }]",
        "loops: a free body cannot have `loops`: nothing may constrain its motion",
        "[{ to = \"airframe\", type = \"spherical\" }]",
        help,
    );
    check(
        "name = \"test\"",
        "name = \"test\"\nmotors = [{ joint = \"airframe\", component = 1 }]",
        "motors: a free body has no motors in its joint",
        "[{ joint = \"airframe\", component = 1 }]",
        help,
    );
}

#[test]
fn a_body_without_rotors_is_a_vehicle() {
    let text = GOOD.split("[[rotors]]").next().unwrap_or_default();
    let vehicle = Vehicle::from_toml(text).expect("no mistake");
    assert_eq!(vehicle.rotors.input_dim(), 0);
}

#[test]
fn integers_of_any_base_are_numbers() {
    let vehicle =
        Vehicle::from_toml(&GOOD.replacen("mass = 1.0", "mass = 0x1_0", 1)).expect("no mistake");
    assert_eq!(vehicle.body.inertia().mass(), 16.0);
}

/// A description inside a larger document: its errors carry places in that document.
#[test]
fn a_table_of_a_larger_document() {
    use toml::de::{DeTable, DeValue};

    let text = "[plant]\nname = \"x\"\n[plant.bodies.a]\nmass = -1\ninertia = [1, 1, 1]\n";
    let document = DeTable::parse(text).expect("a document");
    let value = &document.get_ref()["plant"];
    let DeValue::Table(table) = value.get_ref() else {
        panic!("not a table")
    };
    let error = Vehicle::from_table(table, value.span()).expect_err("a negative mass");
    assert_eq!(&text[error.span], "-1");
    assert_eq!(error.path, "bodies.a.mass");
}
