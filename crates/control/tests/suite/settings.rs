//! Settings as a user writes them, and every message about wrong ones.

use crate::common;

use common::{QUADCOPTER, QUADCOPTER_POLES, SKEWED_PAIR, TRICOPTER, TRICOPTER_PAIR, vehicle};
use fly_control::ControllerSettings;
use fly_control::settings::{
    AllocationMethod, ApproachSettings, EnergySettings, SecondMomentSettings,
};

fn parse(text: &str) -> Result<ControllerSettings, toml::de::Error> {
    toml::from_str(text)
}

/// The message about a controller that cannot be built.
fn refused(description: &str, text: &str) -> String {
    let settings = parse(text).unwrap_or_else(|error| panic!("{error}"));
    match settings.build(&vehicle(description)) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn defaults() {
    let settings = parse(TRICOPTER_PAIR).unwrap();
    assert_eq!(settings.approach, ApproachSettings::Energy);
    assert_eq!(settings.transport, None);
    let allocation = if cfg!(feature = "osqp") {
        AllocationMethod::Osqp
    } else {
        AllocationMethod::ActiveSet
    };
    assert_eq!(settings.allocation, allocation);
    assert_eq!(settings.tilt_priority, None);
    assert_eq!(settings.pairs[0].from, "world");
    settings.validate().unwrap();
}

#[test]
fn who_is_led_has_a_priority_of_tilt_unless_one_is_given() {
    let vehicle = vehicle(TRICOPTER);
    let priority = |text: &str| {
        let settings = parse(&format!("{text}\n{TRICOPTER_PAIR}")).unwrap();
        settings.governed(&vehicle).tilt_priority
    };
    assert_eq!(priority(""), Some(vehicle.body.inertia().mass()));
    assert_eq!(
        priority("limits = { speed = 3 }"),
        Some(vehicle.body.inertia().mass())
    );
    assert_eq!(priority("tilt_priority = 0"), Some(0.0));
    assert_eq!(priority("limits = false"), None);
}

#[test]
fn a_moment_about_the_origin_is_larger_by_the_offset() {
    let inertia = |text: &str| match &parse(text).unwrap().pairs[0].inertia {
        EnergySettings::Moments(moments) => moments.clone(),
        EnergySettings::Number(_) | EnergySettings::Matrix(_) => panic!("a table"),
    };
    let center = inertia(SKEWED_PAIR);
    // 1.2 (c^2 I - c c^T) with c = (0.04, 0, 0.08).
    let origin = inertia(&SKEWED_PAIR.replace(
        "moment = [[0.2, 0.01, 0.0], [0.01, 0.25, 0.02], [0.0, 0.02, 0.3]]",
        "moment_about_origin = [[0.20768, 0.01, -0.00384], [0.01, 0.2596, 0.02], [-0.00384, 0.02, 0.30192]]",
    ));
    assert!(origin.moment_about_origin.is_some());
    let matrix = |moments: &SecondMomentSettings| moments.second_moment(None).unwrap().matrix6();
    let difference = matrix(&center) - matrix(&origin);
    assert!(difference.amax() < 1e-15, "{difference}");
}

#[test]
fn what_cannot_be_read_says_what_was_expected() {
    for (text, expected) in [
        ("aproach = 'body'", "unknown field `aproach`"),
        (
            "projection_weight = 3",
            "projection_weight has a new name: tilt_priority",
        ),
        (
            "approach = 'bodi'",
            "unknown variant `bodi`, expected one of `particle`, `body`, `energy`",
        ),
        ("[[pairs]]\nto = 'a'", "missing field `stiffness`"),
        (
            &TRICOPTER_PAIR.replace("weight = 9.0", "weight = '9'"),
            "invalid type: string \"9\", expected f64",
        ),
        (
            &TRICOPTER_PAIR.replace("[0.432, 0.432, 0.792]", "[0.432, 0.432]"),
            "invalid length 2, expected three numbers (a diagonal) or three rows",
        ),
        (
            &TRICOPTER_PAIR.replace("[0.432, 0.432, 0.792]", "[[1, 2, 3], 0.432, 0.792]"),
            "found a mixture",
        ),
        (
            &TRICOPTER_PAIR.replace("[0.432, 0.432, 0.792]", "'3'"),
            "invalid type: string \"3\", expected three numbers (a diagonal)",
        ),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Builds every controller and compares the messages.
fn check(cases: &[(&str, String, &str)]) {
    for (description, text, expected) in cases {
        assert_eq!(&refused(description, text), expected);
    }
}

#[test]
fn pairs_that_cannot_be_used_name_the_key() {
    let pair = |from: &str, to: &str| TRICOPTER_PAIR.replace(from, to);
    check(&[
        (
            TRICOPTER,
            String::new(),
            "pairs: expected pairs or poles, found neither",
        ),
        (
            TRICOPTER,
            format!("{TRICOPTER_PAIR}{QUADCOPTER_POLES}"),
            "poles: expected pairs or poles, found both",
        ),
        (
            TRICOPTER,
            format!("{TRICOPTER_PAIR}{TRICOPTER_PAIR}"),
            "pairs: expected one pair for a vehicle of one body, found 2",
        ),
        (
            TRICOPTER,
            pair("airframe", "wing"),
            "pairs.0.to: expected \"airframe\", found \"wing\"",
        ),
        (
            TRICOPTER,
            pair("to =", "from = 'load'\nto ="),
            "pairs.0.from: expected \"world\", found \"load\"",
        ),
        (
            TRICOPTER,
            pair("weight = 9.0", "weight = -9.0"),
            "pairs.0.stiffness.weight: expected zero or a positive number, found -9",
        ),
        (
            TRICOPTER,
            pair("weight = 9.0", "weight = nan"),
            "pairs.0.stiffness.weight: expected finite numbers, found NaN",
        ),
        (
            TRICOPTER,
            pair("weight = 9.0, ", ""),
            "pairs.0.stiffness.weight: expected a number, found none: a free body needs it",
        ),
        (
            TRICOPTER,
            pair("[0.432, 0.432, 0.792]", "3"),
            "pairs.0.stiffness.moment: expected three numbers (a diagonal) or three rows of three numbers, found one: the joint that carries the body has no single axis of rotation",
        ),
        (
            TRICOPTER,
            pair("[0.144, 0.144, 0.264]", "[-0.144, 0.144, 0.264]"),
            "pairs.0.damping.moment: expected a positive semidefinite damping together with its weight, found the eigenvalue -1.440e-1",
        ),
        (
            TRICOPTER,
            pair("weight = 1.0", "weight = 0.0"),
            "pairs.0.inertia.moment: expected a positive definite inertia together with its weight, found the eigenvalue 0.000e0",
        ),
        (
            TRICOPTER,
            pair("[0.144, 0.144, 0.264]", "[[1, 2, 0], [0, 1, 0], [0, 0, 1]]"),
            "pairs.0.damping.moment: expected a symmetric matrix, found [[1, 2, 0], [0, 1, 0], [0, 0, 1]]",
        ),
        (
            TRICOPTER,
            pair(
                "moment = [0.144, 0.144, 0.264]",
                "moment = [1, 1, 1], moment_about_origin = [1, 1, 1]",
            ),
            "pairs.0.damping.moment_about_origin: expected this or moment, found both",
        ),
        (
            TRICOPTER,
            format!("tilt_priority = -1\n{TRICOPTER_PAIR}"),
            "tilt_priority: expected zero or a positive number, found -1",
        ),
        (
            TRICOPTER,
            format!("input_rate_limit = 0\n{TRICOPTER_PAIR}"),
            "input_rate_limit: expected a positive number, found 0",
        ),
        (
            TRICOPTER,
            format!("input_rate_limit = 100\nallocation = 'none'\n{TRICOPTER_PAIR}"),
            "input_rate_limit: expected an allocation of osqp or active_set beside it, found none, which ignores limits",
        ),
    ]);
}

#[test]
fn poles_of_a_vehicle_without_them_name_what_its_inputs_lack() {
    let lacks = |quadcopter: String, expected: &str| {
        let vehicles = "poles: poles are for vehicles with one thrust along body z and three torques (4 independent inputs): the inputs span";
        let found = refused(&quadcopter, QUADCOPTER_POLES);
        assert_eq!(found, format!("{vehicles} {expected}"));
    };
    let about_z =
        "a torque about z takes rotors whose `drag_ratio` have both signs, or that are tilted";
    lacks(
        QUADCOPTER.replace("drag_ratio = -0.016", "drag_ratio = 0.016"),
        &format!("3 directions, not each by itself: thrust along z, torque about z; {about_z}"),
    );
    lacks(
        QUADCOPTER.replace("drag_ratio", "# drag_ratio"),
        &format!("3 directions, without torque about z; {about_z}"),
    );
    lacks(
        QUADCOPTER
            .replace("position = [0.18,", "position = [0.0,")
            .replace("position = [-0.18,", "position = [0.0,"),
        "3 directions, without torque about y; torques about x and y take rotors on all sides of the centre of mass",
    );
}

#[test]
fn poles_that_cannot_be_used_name_the_key() {
    let poles = |from: &str, to: &str| QUADCOPTER_POLES.replace(from, to);
    check(&[
        (
            TRICOPTER,
            QUADCOPTER_POLES.into(),
            "poles: poles are for vehicles with one thrust along body z and three torques (4 independent inputs): the inputs span 6 \
             directions; give the desired energies of each pair instead",
        ),
        (
            QUADCOPTER,
            poles("[-5, -5, -5, -5]", "[-5, -5, 0, -5]"),
            "poles.horizontal: expected negative poles, found 0",
        ),
        (
            QUADCOPTER,
            poles("horizontal = [-5, -5, -5, -5]", ""),
            "poles.horizontal: expected horizontal or polynomial, found neither",
        ),
        (
            QUADCOPTER,
            poles("horizontal = [-5, -5, -5, -5]", "polynomial = [1, 1, 1, 1]"),
            "poles: the polynomial l^4 + 1 l^3 + 1 l^2 + 1 l + 1: expected all roots with negative real parts",
        ),
        (
            QUADCOPTER,
            poles("inertia = 0.02", "inertia = 0"),
            "poles.yaw.inertia: expected a positive number, found 0",
        ),
        (
            QUADCOPTER,
            poles("horizontal", "mass = -1\nhorizontal"),
            "poles.mass: expected a positive number, found -1",
        ),
    ]);
}

#[test]
fn real_poles_and_their_polynomial_are_the_same() {
    let vehicle = vehicle(QUADCOPTER);
    let template = |text: &str| {
        let controller = parse(text).unwrap().build(&vehicle).unwrap();
        controller.template().pair().clone()
    };
    let polynomial = QUADCOPTER_POLES.replace(
        "horizontal = [-5, -5, -5, -5]",
        "polynomial = [625, 500, 150, 20]",
    );
    assert_eq!(template(QUADCOPTER_POLES), template(&polynomial));
}

#[cfg(not(feature = "osqp"))]
#[test]
fn a_build_without_osqp_says_so() {
    let message = refused(TRICOPTER, &format!("allocation = 'osqp'\n{TRICOPTER_PAIR}"));
    assert_eq!(
        message,
        "allocation: expected active_set or none, found osqp, which this build does not contain"
    );
}
