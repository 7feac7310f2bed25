//! Every error in `[backend.sim]` is reported with its place, the expected and the found value.

use fly_hal::{Backend, Configuration, ErrorKind, Text};
use fly_plugin_sim::Simulation;

use super::run::CUBE;

/// The text with `[fault]`-like markers: what stands between `«` and `»` is the place that the error must name.
fn check(marked: &str, message: &str, help: Option<&str>) {
    let text = marked.replace(['«', '»'], "");
    let Err(error) = Simulation::configure(&Configuration::new(&text, CUBE)).map(|_| ()) else {
        panic!("accepted: {text}");
    };
    assert_eq!(
        (error.message.as_str(), error.help.as_deref()),
        (message, help),
        "{text}"
    );
    assert_eq!(error.kind, ErrorKind::Configuration);
    let location = error.location.unwrap();
    assert_eq!(location.text, Text::Configuration);
    if let (Some(start), Some(end)) = (marked.find('«'), marked.find('»')) {
        assert_eq!(
            location.span,
            start..end - '«'.len_utf8(),
            "{text}: at `{}`",
            &text[location.span.clone()]
        );
    }
}

#[test]
fn keys_and_types() {
    check(
        "«substep» = 3",
        "unknown key `substep`, expected one of `vehicle`, `body`, `substeps`, `initial`, `noise`, `faults`, `wind`, `ground`, `collisions`, `releases`, `sensors`, `actuators`",
        Some("did you mean `substeps`?"),
    );
    check(
        "«openings» = []",
        "unknown key `openings`",
        Some("its name is `releases` now"),
    );
    check(
        "substeps = «'two'»",
        "invalid type: string \"two\", expected u32",
        None,
    );
    check(
        "substeps = «0»",
        "expected 1 to 1000 substeps, found 0",
        None,
    );
    check(
        "initial.«postion» = [0, 0, 1]",
        "unknown key `postion`, expected one of `position`, `attitude`, `velocity`, `angular_velocity`, `bodies`, `joints`, `joint_velocities`, `commands`, `charge`",
        Some("did you mean `position`?"),
    );
    check(
        "initial.position = «[0, 1]»",
        "invalid length 2, expected an array of length 3",
        None,
    );
    check(
        "initial.position = «[0, -2e9, 1]»",
        "expected numbers of at most 1e9 in size, found -2e9",
        None,
    );
    check(
        "initial.velocity = «[0, 1, nan]»",
        "expected finite numbers, found NaN",
        None,
    );
    check("x = «=» 1", "extra `=`, expected nothing", None);
}

#[test]
fn attitudes() {
    check(
        "initial.attitude = «{}»",
        "expected one of `rpy_deg`, `rotation_vector`, `quaternion`, found none",
        None,
    );
    check(
        "initial.attitude = «{ rpy_deg = [0, 0, 0], quaternion = [1, 0, 0, 0] }»",
        "expected one of `rpy_deg`, `rotation_vector`, `quaternion`, found `rpy_deg` and `quaternion`",
        Some("where a file gives one of them, --set changes that one"),
    );
    check(
        "initial.attitude.quaternion = «[0, 0, 0, 0]»",
        "a zero quaternion is not an attitude",
        None,
    );
}

#[test]
fn initial_commands() {
    check(
        "initial.commands = «[1, 2]»",
        "expected 3 commands (`rotor.0.thrust`, `rotor.1.thrust`, `rotor.1.tilt`), found 2",
        None,
    );
    check(
        "initial.commands = «[1, 0.5, 0]»",
        "expected `rotor.1.thrust` from 1 to 20, found 0.5",
        None,
    );
    check(
        "initial.commands = «[nan, 1, 0]»",
        "expected `rotor.0.thrust` from 0 to 20, found NaN",
        None,
    );
    check(
        "initial.commands = «'last'»",
        "expected a list of numbers, or \"first\"",
        None,
    );
}

#[test]
fn noise_and_faults() {
    check(
        "noise.position = «-1.0»",
        "expected a standard deviation of at least 0, found -1",
        None,
    );
    check(
        "noise.velocity = «inf»",
        "expected a standard deviation of at least 0, found inf",
        None,
    );
    check(
        "noise.joint_velocity = «-0.1»",
        "expected a standard deviation of at least 0, found -0.1",
        None,
    );
    check(
        "noise.«joint_positions» = 0.1",
        "unknown key `joint_positions`, expected one of `position`, `attitude`, `velocity`, `angular_velocity`, `joint_position`, \
         `joint_velocity`",
        Some("did you mean `joint_position`?"),
    );
    check(
        "faults = [{ kind = «'stall'», from = 0, until = 1 }]",
        "unknown value `stall`, expected one of `missing`, `stale`, `non_finite`, `freeze`, `offset`, `dropout`, `late`, `dead`, `weak`, \
         `stuck`, `wind`, `mass`, `battery`, `link`",
        Some("did you mean `stale`?"),
    );
    check(
        "faults = [{ kind = «'late'», from = 0, until = 1 }]",
        "expected `delay` beside `kind = \"late\"`: how much later the samples come, s",
        None,
    );
    check(
        "faults = [{ kind = 'late', from = 0, until = 1, delay = «-0.1» }]",
        "`delay`: expected a time of 0 to 10 s, found -0.1",
        None,
    );
    check(
        "faults = [{ kind = 'stale', from = 2, until = «1» }]",
        "expected a time after 2 s, where the fault begins, found 1",
        None,
    );
    check(
        "faults = [{ kind = 'stale', from = «-2», until = 1 }]",
        "expected a time of at least 0 s, found -2",
        None,
    );
    check(
        "faults = [{ kind = 'stale', from = 0, until = 1, group = «'pose.positoin'» }]",
        "unknown group `pose.positoin`, expected one of `pose.position`, `pose.quaternion`, `twist.linear`, `twist.angular`",
        Some("did you mean `pose.position`?"),
    );
}

#[test]
fn its_own_vehicle() {
    check(
        "vehicle = «3»",
        "`vehicle`: expected a table, found integer",
        None,
    );
    check(
        "[vehicle]\nname = 'x'\n[vehicle.bodies.b]\nmass = «-1.0»\ninertia = [1, 1, 1]",
        "vehicle.bodies.b.mass: the mass must be positive, found -1 kg",
        None,
    );
}

#[test]
fn the_models_vehicle() {
    let vehicle = CUBE.replace("mass = 2.0", "mas = 2.0");
    let Err(error) = Simulation::configure(&Configuration::new("", &vehicle)) else {
        panic!("accepted")
    };
    let location = error.location.unwrap();
    assert_eq!(
        (location.text, &vehicle[location.span]),
        (Text::Vehicle, "mas")
    );
    assert_eq!(error.help.as_deref(), Some("did you mean `mass`?"));
}

#[test]
fn steps_that_are_too_long_for_a_lag() {
    let vehicle = CUBE.replace("time_constant = 0.05", "time_constant = 0.0004");
    let configuration = Configuration {
        rate_hz: 500.0,
        ..Configuration::new("substeps = 3", &vehicle)
    };
    let Err(error) = Simulation::configure(&configuration) else {
        panic!("accepted")
    };
    assert!(error.message.starts_with(
        "expected simulation steps no longer than the shortest time constant of an actuator, 0.0004 s, found 0.00066"
    ));
    assert_eq!(error.help.as_deref(), Some("`substeps = 5` is enough"));
    assert_eq!(error.location.unwrap().span, 11..12);
    let enough = Configuration {
        rate_hz: 500.0,
        ..Configuration::new("substeps = 5", &vehicle)
    };
    assert!(Simulation::configure(&enough).is_ok());
    let vehicle = CUBE.replace("time_constant = 0.05", "time_constant = 1e-320");
    let Err(error) = Simulation::configure(&Configuration {
        rate_hz: 500.0,
        ..Configuration::new("", &vehicle)
    }) else {
        panic!("accepted")
    };
    assert!(error.message.contains(" actuator, 1e-320 s, found"));
    let help = "take 0, an actuator without lag, for one that is so much faster than the flight";
    assert_eq!(error.help.as_deref(), Some(help));
}

#[test]
fn steps_that_are_too_long_for_a_damped_joint() {
    // A link of a robot as its URDF has it: it decays in 0.1 ms.
    let keys = |substeps| {
        format!(
            "substeps = {substeps}\nvehicle = {{ name = 'arm', bodies = {{ link = {{ \
             joint = {{ type = 'revolute', axis = [0, 0, 1], damping = 0.1 }}, mass = 0.02, inertia = [1e-5, 1e-5, 1e-5] }} }} }}"
        )
    };
    let (few, enough) = (keys(9), keys(10));
    let [few, enough] = [&few, &enough].map(|keys| Configuration {
        rate_hz: 500.0,
        ..Configuration::new(keys, CUBE)
    });
    let Err(error) = Simulation::configure(&few) else {
        panic!("accepted")
    };
    assert!(
        error.message.starts_with(
            "expected simulation steps of at most 2.000e-4 s for the stiffness and damping of joints, springs and dampers, found"
        ),
        "{}",
        error.message
    );
    let help = "`substeps = 10` is enough; so is less stiffness or damping";
    assert_eq!(error.help.as_deref(), Some(help));
    assert!(Simulation::configure(&enough).is_ok());
}

/// A cube, a second free body, and a rod on a hinge.
const PAIR: &str = "vehicle = { name = 'pair', bodies = { \
    cube = { mass = 2, inertia = [0.02, 0.03, 0.04] }, \
    ball = { mass = 1, inertia = [0.01, 0.01, 0.01] }, \
    rod = { parent = 'cube', joint = { name = 'hinge', type = 'revolute', axis = [0, 1, 0] }, mass = 0.1, inertia = [0.1, 0.1, 0.1] } } }\n";

#[test]
fn bodies_and_joints() {
    let check = |keys: &str, message: &str, help: Option<&str>| {
        check(&format!("{keys}\n{PAIR}"), message, help);
    };
    check(
        "body = «'bal'»",
        "expected a free body, one of `cube`, `ball`; found `bal`",
        Some("did you mean `ball`?"),
    );
    check(
        "body = «'rod'»",
        "expected a free body, one of `cube`, `ball`; found `rod`",
        None,
    );
    check(
        "body = 'cube'\ninitial.joints.«hing» = 0.1",
        "there is no joint `hing`, expected one of `ball`, `hinge`",
        Some("did you mean `hinge`?"),
    );
    check(
        "body = 'cube'\ninitial.joints.hinge = «[0.1, 0.2]»",
        "the joint `hinge` has 1 degree of freedom: expected as many finite numbers, rad or m",
        None,
    );
    check(
        "body = 'cube'\ninitial.joints.hinge = «1e200»",
        "the joint `hinge`: expected numbers of at most 1e9 in size, found 1e200",
        None,
    );
    check(
        "body = 'cube'\ninitial.joints.ball = «nan»",
        "the joint `ball` has 6 degrees of freedom: expected as many finite numbers, rad or m",
        None,
    );
    check(
        "body = 'cube'\ninitial.joint_velocities.«cube» = [0, 0, 0, 0, 0, 0]",
        "there is no joint `cube`, expected one of `ball`, `hinge`",
        None,
    );
    check(
        "body = 'cube'\ninitial.joint_velocities.hinge = «[]»",
        "the joint `hinge` has 1 degree of freedom: expected as many finite numbers, rad/s or m/s",
        None,
    );
    check(
        "body = 'cube'\nfaults = [{ kind = 'stale', from = 0, until = 1, group = «'joint.3'» }]",
        "unknown group `joint.3`, expected one of `pose.position`, `pose.quaternion`, `twist.linear`, `twist.angular`, \
         `joint.1.translation`, `joint.1.quaternion`, `joint.1.linear`, `joint.1.angular`, `joint.2`",
        Some("did you mean `joint.2`?"),
    );
}

#[test]
fn nobody_is_tracked() {
    let two = |keys: &str, key: &str| {
        check(
            &format!("{keys}\n{PAIR}"),
            &format!(
                "`{key}` belongs to the tracked body, and there is none: the bodies `cube`, `ball` of `pair` are free"
            ),
            Some("choose one: `body = \"cube\"`"),
        );
    };
    two("initial.position = «[0, 0, 1]»", "position");
    two("initial.attitude = «{ rpy_deg = [0, 0, 1] }»", "attitude");
    let hinged = HINGED.replace('\n', "");
    for key in ["velocity", "angular_velocity"] {
        check(
            &format!("initial.{key} = «[0, 0, 0]»\n{hinged}"),
            &format!(
                "`{key}` belongs to the tracked body, and there is none: `rods` has no free body"
            ),
            Some("give the initial state with `joints` and `joint_velocities`"),
        );
    }
    check(
        &format!("body = «'rod'»\n{hinged}"),
        "expected a free body, but `rods` has none: its bodies are measured in their joints; found `rod`",
        None,
    );
    check(
        "initial.joints.«hinge» = 0.1",
        "there is no joint `hinge`: in `cube` only the tracked body moves",
        None,
    );
}

/// A rod on a hinge.
const HINGED: &str = "vehicle = { name = 'rods', bodies = { \
    rod = { joint = { type = 'revolute', axis = [0, 1, 0] }, mass = 0.1, inertia = [0.1, 0.1, 0.1] } } }\n";

/// Where nothing in the text is to blame there is no place.
fn refused(text: &str) -> (String, Option<String>) {
    let Err(error) = Simulation::configure(&Configuration::new(text, CUBE)).map(|_| ()) else {
        panic!("accepted: {text}");
    };
    assert!(error.location.is_none());
    (error.message, error.help)
}

#[test]
fn systems_that_cannot_fly() {
    let fixed = HINGED.replace("{ type = 'revolute', axis = [0, 1, 0] }", "'fixed'");
    assert_eq!(
        refused(&fixed),
        (
            "`rods` has no degrees of freedom: all joints are fixed".to_owned(),
            None
        )
    );
    let massless = "vehicle = { name = 'x', bodies = { cube = { mass = 1, inertia = [1, 1, 1] }, \
        rod = { parent = 'cube', joint = { type = 'revolute', axis = [0, 1, 0] } } } }";
    let (message, _) = refused(massless);
    assert!(
        message.starts_with("`x` cannot be simulated: "),
        "{message}"
    );
    assert!(message.contains("`rod`"), "{message}");
}

#[test]
fn air() {
    check(
        "wind.shear = «{ roughness = 0.03 }»",
        "expected `wind.velocity`, the wind at the reference height, beside `wind.shear`",
        None,
    );
    check(
        "wind = { velocity = [1, 0, 0], shear = { roughness = «7.0» } }",
        "`wind.shear.roughness`: expected a roughness length above 0 and below the reference height of 6.096 m, found 7",
        None,
    );
    check(
        "wind = { velocity = [1, 0, 0], shear = { exponent = 0.1, reference_height = «0.0» } }",
        "`wind.shear.reference_height`: expected a reference height above 0 m, found 0",
        None,
    );
    check(
        "wind = { velocity = [1, 0, 0], shear = «{}» }",
        "`wind.shear`: expected either `roughness` (m) or `exponent`",
        None,
    );
    check(
        "wind.gusts = [«{ start = 1.0, amplitude = [1, 0, 0], time = 1.0, length = 1.0 }»]",
        "a gust grows over either a `time` (s) or a `length` (m)",
        None,
    );
    check(
        "wind.gusts = [{ start = 1.0, amplitude = [1, 0, 0], time = «0.0» }]",
        "`time`: expected a time above 0 s, found 0",
        None,
    );
    check(
        "wind.turbulence = { w20 = «-1.0» }",
        "`w20`: expected a wind speed of at least 0 m/s, found -1",
        None,
    );
    check(
        "wind.turbulence = { w20 = 5.0, least_airspeed = «0.0» }",
        "`least_airspeed`: expected a speed above 0 m/s, found 0",
        None,
    );
    check(
        "ground.height = «inf»",
        "`ground.height`: expected a finite number, found inf",
        None,
    );
}

#[test]
fn keys_and_rates_of_sensors() {
    check(
        "sensors.«gps» = {}",
        "unknown key `gps`, expected one of `ideal`, `encoders`, `imu`, `motion_capture`, `gnss`, `barometer`, `magnetometer`, \
         `airspeed`, `range`",
        None,
    );
    check(
        "sensors.barometer = { «nois» = 1 }",
        "unknown key `nois`, expected one of `rate`, `delay`, `jitter`, `dropout`, `position`, `noise`, `drift`, `drift_time`, `absolute`",
        Some("did you mean `noise`?"),
    );
    check(
        "sensors.imu = { rate = «300» }",
        "`rate`: expected the control rate of 500 Hz or a whole fraction of it, found 300",
        Some("the nearest are 500 and 250 Hz"),
    );
    for rate in ["«1000»", "«0»", "«-5.0»", "«nan»", "«inf»"] {
        let found = rate.trim_matches(['«', '»']).trim_end_matches(".0");
        let found = if found == "nan" { "NaN" } else { found };
        check(
            &format!("sensors.gnss.rate = {rate}"),
            &format!(
                "`rate`: expected the control rate of 500 Hz or a whole fraction of it, found {found}"
            ),
            None,
        );
    }
}

#[test]
fn numbers_of_sensors() {
    for (key, found, expected) in [
        ("imu.delay", "-0.1", "a time from 0 to 10 s"),
        ("imu.jitter", "11", "a time from 0 to 10 s"),
        ("imu.dropout", "1.5", "a part from 0 to 1"),
        ("imu.gyro_noise", "-1", "a number of at least 0"),
        ("imu.gyro_bias_walk", "-1", "a number of at least 0"),
        ("imu.gyro_bias_deviation", "-1", "a number of at least 0"),
        ("imu.gyro_scale_deviation", "-1", "a number of at least 0"),
        ("imu.gyro_range", "0", "a number above 0"),
        ("imu.gyro_vibration", "-1", "a number of at least 0"),
        ("imu.accelerometer_noise", "-1", "a number of at least 0"),
        (
            "imu.accelerometer_bias_walk",
            "inf",
            "a number of at least 0",
        ),
        (
            "imu.accelerometer_bias_deviation",
            "-1",
            "a number of at least 0",
        ),
        (
            "imu.accelerometer_scale_deviation",
            "-1",
            "a number of at least 0",
        ),
        ("imu.accelerometer_range", "-2", "a number above 0"),
        (
            "imu.accelerometer_vibration",
            "-1",
            "a number of at least 0",
        ),
        (
            "motion_capture.position_noise",
            "-1",
            "a number of at least 0",
        ),
        (
            "motion_capture.attitude_noise",
            "-1",
            "a number of at least 0",
        ),
        ("gnss.drift_time", "0", "a number above 0"),
        ("barometer.noise", "-1", "a number of at least 0"),
        ("barometer.drift", "-1", "a number of at least 0"),
        ("barometer.drift_time", "-1", "a number above 0"),
        ("magnetometer.noise", "-1", "a number of at least 0"),
        ("magnetometer.strength", "-1", "a number of at least 0"),
        (
            "magnetometer.inclination_deg",
            "91",
            "an angle from -90 to 90",
        ),
        (
            "magnetometer.declination_deg",
            "181",
            "an angle from -180 to 180",
        ),
        ("airspeed.noise", "-1", "a number of at least 0"),
        ("airspeed.bias_deviation", "-1", "a number of at least 0"),
        ("airspeed.density", "0", "a number above 0"),
        ("range.noise", "-1", "a number of at least 0"),
        ("range.min", "-1", "a number of at least 0"),
        ("range.max", "0.05", "a distance above `min`, 0.1 m"),
    ] {
        let (_, name) = key.split_once('.').unwrap();
        check(
            &format!("sensors.{key} = «{found}»"),
            &format!("`{name}`: expected {expected}, found {found}"),
            None,
        );
    }
    for key in ["position_noise", "drift", "velocity_noise"] {
        check(
            &format!("sensors.gnss.{key} = «[1, -2, 1]»"),
            &format!("`{key}`: expected numbers of at least 0, found -2"),
            None,
        );
    }
    for key in [
        "imu.position",
        "imu.misalignment_deg",
        "imu.gyro_bias",
        "imu.accelerometer_bias",
        "magnetometer.hard_iron",
    ] {
        check(
            &format!("sensors.{key} = «[1, nan, 1]»"),
            "expected finite numbers, found NaN",
            None,
        );
    }
}

#[test]
fn sensors_that_cannot_be_fitted() {
    check(
        "sensors.magnetometer = { field = [1, 0, 0], strength = «1.0» }",
        "expected either `field` or `strength`, found both",
        None,
    );
    check(
        "sensors.range.direction = «[0, 0, 0]»",
        "`direction`: expected a vector that is not zero",
        None,
    );
    check(
        "sensors.range.min = «12.5»",
        "`min`: expected a distance below `max`, 12 m, found 12.5",
        None,
    );
    check(
        "sensors.imu.gyro_vibration = «1e-9»",
        "expected no vibration: the speed of the rotor `0` is not known",
        Some("give the rotor a `thrust_coefficient`"),
    );
    check(
        "sensors.ideal = «false»",
        "expected a sensor beside `sensors.ideal = false`, such as `[sensors.imu]`: nothing else measures the tracked body",
        None,
    );
    check(
        "sensors.encoders = «{}»",
        "expected no `sensors.encoders`: no joint of `cube` is measured",
        None,
    );
    let hinged = HINGED.replace('\n', "");
    for (key, given) in [("imu", "{}"), ("range", "{}"), ("ideal", "false")] {
        check(
            &format!("sensors.{key} = «{given}»\n{hinged}"),
            &format!(
                "`sensors.{key}` belongs to the tracked body, and there is none: `rods` has no free body"
            ),
            Some("give the initial state with `joints` and `joint_velocities`"),
        );
    }
    for key in ["resolution", "velocity_resolution"] {
        check(
            &format!("sensors.encoders.{key} = «-1»\n{hinged}"),
            &format!("`{key}`: expected a number of at least 0, found -1"),
            None,
        );
    }
}

#[test]
fn faults_have_their_own_keys() {
    let fault = |keys: &str| format!("faults = [{{ from = 1, until = 2, {keys} }}]");
    for (keys, message) in [
        (
            "kind = 'missing', actuator = «'rotor.0.thrust'»",
            "`actuator` does not belong to `kind = \"missing\"`, whose keys are `group`",
        ),
        (
            "kind = 'dead', actuator = 'rotor.0.thrust', group = «'twist.linear'»",
            "`group` does not belong to `kind = \"dead\"`, whose keys are `actuator`, `reported`",
        ),
        (
            "kind = 'link', ramp = «1»",
            "`kind = \"link\"` has no keys of its own; found `ramp`",
        ),
        (
            "kind = «'dead'»",
            "expected `actuator` beside `kind = \"dead\"`: the command of what fails, such as `rotor.0.thrust`",
        ),
        (
            "kind = 'dead', actuator = «[]»",
            "expected at least one command, found none",
        ),
        (
            "kind = 'weak', actuator = «'rotor.1.tilt'», effectiveness = 0.5",
            "`rotor.1.tilt` is an angle, of which no part can be given: expected a thrust or an effort",
        ),
        (
            "kind = «'weak'», actuator = 'rotor.1.thrust'",
            "expected `effectiveness` beside `kind = \"weak\"`: the part that the actuator gives, 0 to 1",
        ),
        (
            "kind = 'weak', actuator = 'rotor.1.thrust', effectiveness = «1.5»",
            "`effectiveness`: expected a number from 0 to 1, found 1.5",
        ),
        (
            "kind = «'offset'», offset = [1, 2, 3]",
            "expected `group` beside `kind = \"offset\"`: the one whose values are offset",
        ),
        (
            "kind = «'offset'», group = 'pose.position'",
            "expected `offset` beside `kind = \"offset\"`: what is added to the values of the group",
        ),
        (
            "kind = 'offset', group = 'pose.quaternion', offset = «[1, 0, 0, 0]»",
            "`offset`: expected 3 finite numbers for `pose.quaternion`, a rotation vector, found 4",
        ),
        (
            "kind = 'offset', group = 'pose.position', offset = [1, 0, 0], ramp = «-1»",
            "`ramp`: expected a time of at least 0 s, found -1",
        ),
        (
            "kind = «'dropout'»",
            "expected `part` beside `kind = \"dropout\"`: of the samples, 0 to 1",
        ),
        (
            "kind = 'dropout', part = «2»",
            "`part`: expected a number from 0 to 1, found 2",
        ),
        (
            "kind = «'wind'»",
            "expected `velocity` beside `kind = \"wind\"`: m/s, world",
        ),
        (
            "kind = «'mass'»",
            "expected `masses` beside `kind = \"mass\"`: what is added, such as `[{ mass = -0.2, position = [0, 0, -0.1] }]`",
        ),
        (
            "kind = 'mass', body = «'cub'», masses = [{ mass = 1 }]",
            "there is no body named `cub`; did you mean `cube`?",
        ),
        (
            "kind = «'battery'», cells = 1",
            "`cube` has no battery that could fail",
        ),
        (
            "kind = 'link', probability = «1.5»",
            "`probability`: expected a number from 0 to 1, found 1.5",
        ),
        (
            "kind = 'link', mean_time = «0»",
            "`mean_time`: expected a time above 0 s, found 0",
        ),
    ] {
        let help = message
            .contains("is an angle")
            .then_some("`kind = \"stuck\"` holds a servo");
        check(&fault(keys), message, help);
    }
}

#[test]
fn faults_have_times() {
    for (keys, message) in [
        (
            "kind = «'link'», from = 1",
            "expected either `until`, when the fault ends, or its `duration`, s",
        ),
        (
            "kind = «'link'», from = 1, until = 2, duration = 1",
            "expected either `until`, when the fault ends, or its `duration`, s",
        ),
        (
            "kind = 'link', from = 1, duration = «0»",
            "`duration`: expected a time above 0 s, found 0",
        ),
        (
            "kind = 'link', from = «[3, 2]», until = 5",
            "expected the earliest and the latest time, found 3 and 2 s",
        ),
        (
            "kind = 'link', from = [1, 3], until = «2»",
            "expected a time after 3 s, where the fault begins, found 2",
        ),
        (
            "kind = 'link', from = «'now'», until = 2",
            "expected a time, or the earliest and the latest one",
        ),
    ] {
        check(&format!("faults = [{{ {keys} }}]"), message, None);
    }
}
