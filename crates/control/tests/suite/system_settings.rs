//! `[controller]` of multibody systems: what it builds, and every error message.

#![allow(non_snake_case)]

use crate::common;

use common::{QUADCOPTER, QUADCOPTER_POLES, Random, TRICOPTER, TRICOPTER_PAIR};
use fly_control::allocation::Outcome;
use fly_control::plant::SystemPlant;
use fly_control::system::SystemReference;
use fly_control::{Controller, ControllerSettings, StepError};
use fly_lie::SE3;
use fly_mechanics::multibody::Workspace;
use fly_mechanics::{State, System, Vehicle, integrate};
use fly_testing::allocations;
use nalgebra::{DVector, Vector3, Vector6};

/// A shoulder that slides and turns, and an elbow.
const ARM: &str = "
name = 'arm'
[bodies.upper]
joint = { name = 'shoulder', type = 'cylindrical', axis = [0, 1, 0] }
shape = { box = [0.05, 0.05, 0.6] }
mass = 2
center_of_mass = [0, 0, -0.3]
[bodies.lower]
parent = 'upper'
position = [0, 0, -0.6]
joint = { name = 'elbow', type = 'revolute', axis = [0, 1, 0] }
shape = { box = [0.05, 0.05, 0.5] }
mass = 1
center_of_mass = [0, 0, -0.25]
[[motors]]
joint = 'shoulder'
component = 0
effort = [-60, 60]
[[motors]]
joint = 'shoulder'
component = 1
effort = [-60, 60]
[[motors]]
joint = 'elbow'
effort = [-20, 20]
";

const GAINS: &str = "
allocation = 'active_set'
[gains.shoulder]
stiffness = [40, 36]
damping = 12
[gains.elbow]
stiffness = 36
damping = 12
";

const PAIRS: &str = "
[[pairs]]
to = 'upper'
stiffness = { weight = 40, moment = 36 }
damping = { weight = 12, moment = 12 }
inertia = { weight = 1, moment = 1 }
[[pairs]]
from = 'upper'
to = 'lower'
stiffness = 36
damping = 12
inertia = 1
";

fn system(text: &str) -> System {
    System::from_toml(text).unwrap_or_else(|error| panic!("{error}"))
}

fn build(system: &System, text: &str) -> Result<Controller<SystemPlant>, String> {
    let settings: ControllerSettings = toml::from_str(text).map_err(|error| error.to_string())?;
    settings
        .build_for_system(system)
        .map_err(|error| error.to_string())
}

#[track_caller]
fn refused(description: &str, text: &str, expected: &str) {
    match build(&system(description), text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => assert!(error.contains(expected), "{error}\nis not\n{expected}"),
    }
}

fn goal<'a>(x: &'a [f64], xi: &'a [f64], xi_dot: &'a [f64]) -> SystemReference<'a> {
    SystemReference {
        configuration: x,
        velocity: xi,
        acceleration: xi_dot,
    }
}

#[test]
fn approaches_and_what_they_need() {
    let gains = |text: &str| GAINS.replace("allocation = 'active_set'", text);
    for (text, expected) in [
        (String::new(), "pairs: expected pairs or poles, found neither"),
        (format!("approach = 'joint_pd'\n{PAIRS}"), "pairs: the approach joint_pd has no pairs: it needs gains"),
        (format!("approach = 'energy'\n{GAINS}"), "gains: the approach energy has no gains: it needs pairs or poles"),
        ("approach = 'linear'".into(), "gains: expected the gains of every joint for the approach linear, found none"),
        (gains("approach = 'linear'"), "gains.elbow.inertia: expected the desired inertia beside stiffness and damping, found none"),
        (
            gains("approach = 'joint_pd'").replace("damping = 12\n[gains.elbow]", "damping = 12\ninertia = 1\n[gains.elbow]"),
            "gains.shoulder.inertia: expected none for the approach joint_pd, which uses the model's inertia",
        ),
        (
            gains("approach = 'computed_torque'").replace("[gains.elbow]", "[gains.elbo]"),
            "gains.elbo: expected joints that move: `shoulder`, `elbow`; found `elbo`",
        ),
        (
            "approach = 'joint_pd'\n[gains.elbow]\nstiffness = 1\ndamping = 1".into(),
            "gains: expected gains of every joint: `shoulder`, `elbow`; those of `shoulder` are missing",
        ),
        (
            gains("approach = 'joint_pd'").replace("[40, 36]", "[40, 36, 1]"),
            "gains.shoulder.stiffness: expected one number, or one for each of the joint's 2 degrees of freedom, found 3",
        ),
        (
            gains("approach = 'joint_pd'").replace("[40, 36]", "-1"),
            "gains.shoulder.stiffness: expected zero or a positive number, found -1",
        ),
        ("approach = 'state_feedback'".into(), "poles: expected a list of poles, or a table [controller.lqr], for the approach state_feedback, found neither"),
        (
            "approach = 'state_feedback'\npoles = [-1, -2]".into(),
            "poles: found 2 poles; expected 6, two for each degree of freedom",
        ),
        (
            "approach = 'state_feedback'\npoles = [[-1, 2], -2, -3, -4, -5, -6]".into(),
            "poles: the poles are not those of a real system",
        ),
        (
            "approach = 'state_feedback'\npoles = [-1, -2, -3, 4, -5, -6]".into(),
            "poles: expected poles with negative real parts, found 4",
        ),
        (
            "approach = 'state_feedback'\npoles = [[-1, 2, 3]]".into(),
            "expected a number or [re, im]",
        ),
        (format!("poles = [-1, -2]\n{PAIRS}"), "poles: expected pairs or poles, found both"),
        ("poles = [-1, -2]".into(), "poles: expected a table with `horizontal` or `polynomial` and `yaw`, found a list"),
        (
            "poles = { horizontal = [-1, -1, -1, -1], yaw = { inertia = 1, damping = 1, stiffness = 1 } }".into(),
            "poles: expected pairs, found poles, from which they follow for a vehicle of one body only",
        ),
    ] {
        refused(ARM, &text, expected);
    }
}

#[test]
fn pairs_of_bodies_that_are_there_and_together_move_everything() {
    let pairs = |from: &str, to: &str| PAIRS.replace(from, to);
    let elbow_alone = &PAIRS[PAIRS.rfind("[[pairs]]").unwrap()..];
    for (text, expected) in [
        (pairs("to = 'lower'", "to = 'lover'"), "pairs.1.to: "),
        (
            pairs("from = 'upper'", "from = 'lower'"),
            "pairs.1.from: expected another body than `to`",
        ),
        (
            pairs("to = 'upper'", "to = 'world'"),
            "pairs.0.to: expected a body that moves, found the world",
        ),
        (
            pairs("stiffness = { weight = 40, moment = 36 }", "stiffness = 36"),
            "pairs.0.stiffness: expected a table with `weight` and `moment`, found one number, which is for revolute and prismatic joints",
        ),
        (
            elbow_alone.into(),
            "pairs: expected pairs that give every degree of freedom a desired inertia, found none for the joint of `upper`: add a pair",
        ),
        (
            pairs("stiffness = 36", "stiffness = -36"),
            "pairs: expected pairs whose stiffness together is positive semidefinite, found the eigenvalue",
        ),
        (
            pairs("inertia = 1", "inertia = -3"),
            "pairs: expected pairs whose inertia together is positive definite, found the eigenvalue",
        ),
        (
            format!("transport = 'centred'\n{PAIRS}"),
            "transport: expected one pair for this map",
        ),
        (
            format!("transport = {{ map = 'centred', of = 'lower' }}\n{PAIRS}"),
            "transport.of: expected one of the pairs, found none from \"world\" to \"lower\"",
        ),
        (
            format!("transport = {{ point = [0, 0, -0.5], of = 'hand' }}\n{PAIRS}"),
            "transport.of: ",
        ),
        (
            format!("transport = {{ of = 'lower' }}\n{PAIRS}"),
            "expected `map` or `point`, found neither",
        ),
        (
            format!("transport = 'bodily'\n{PAIRS}"),
            "unknown variant `bodily`, expected one of `joint`, `adjoint`, `centred`",
        ),
        (
            format!("transport = {{ point = [0, 0, -0.5], of = 'lower' }}\n{PAIRS}"),
            "transport: expected a map that fits the stiffness of the pairs, or the total energy would not decrease, Konz (5.43); it does not fit the pair",
        ),
        (
            format!("tilt_priority = 1\n{PAIRS}"),
            "tilt_priority: expected 0 (the default)",
        ),
        (
            format!("input_rate_limit = [1, 2]\n{PAIRS}"),
            "input_rate_limit: expected one number, or one for each of 3 inputs, found 2",
        ),
    ] {
        refused(ARM, &text, expected);
    }
}

#[test]
fn systems_without_a_controller() {
    let still = &ARM[..ARM.find("[[motors]]").unwrap()];
    refused(
        still,
        PAIRS,
        "`arm` has no actuators: a controller needs rotors or motors",
    );
    let terms = "[{ joint = 'elbow' }, { joint = 'shoulder', component = 1, factor = 2 }]";
    let coupled = format!("{ARM}\n[[couplings]]\nname = 'belt'\nterms = {terms}\n");
    let error = build(&system(&coupled), PAIRS).err().unwrap();
    assert!(error.contains("`arm` has couplings"), "{error}");
    let looped = format!(
        "{ARM}\n[[loops]]\nname = 'rod'\ntype = 'distance'\nlength = 0.5\nfrom = 'world'\nfrom_frame = {{ position = [0.6, 0, 0] }}\nto = 'lower'\n"
    );
    let error = build(&system(&looped), PAIRS).err().unwrap();
    assert!(
        error.contains("`arm` has loops") && error.contains("write `loops = []`"),
        "{error}"
    );
}

#[test]
fn a_vehicle_has_no_coordinates_for_joint_pd() {
    for approach in ["joint_pd", "computed_torque"] {
        let gains = "[gains.airframe]\nstiffness = 1\ndamping = 1";
        let text = format!("approach = '{approach}'\n{gains}");
        refused(QUADCOPTER, &text, "approach: ");
        refused(
            QUADCOPTER,
            &text,
            "a quadratic potential needs one coordinate per degree of freedom, but the joint of `airframe`",
        );
        let settings: ControllerSettings = toml::from_str(&text).unwrap();
        let vehicle = Vehicle::from_toml(QUADCOPTER).unwrap();
        let error = settings.build(&vehicle).err().unwrap().to_string();
        assert_eq!(
            error,
            format!(
                "approach: expected particle, body or energy, found {approach}, which is for whole systems"
            )
        );
    }
}

/// The same table as a vehicle and as a system: the same inputs, limited or not.
#[test]
fn a_vehicle_is_a_system_of_one_body() {
    for (description, tables) in [(QUADCOPTER, QUADCOPTER_POLES), (TRICOPTER, TRICOPTER_PAIR)] {
        for keys in [
            "",
            "approach = 'particle'",
            "transport = 'adjoint'",
            "tilt_priority = 3",
            "input_rate_limit = 40",
        ] {
            let text = format!("allocation = 'active_set'\n{keys}\n{tables}");
            let mut as_system = build(&system(description), &text).unwrap();
            let mut as_vehicle = common::controller(
                description,
                &format!("allocation = 'active_set'\n{keys}"),
                tables,
            );
            let mut random = Random::new(8);
            let mut limited = 0;
            for _ in 0..50 {
                let (state, point) = (random.state(), random.reference());
                let x = |pose: &SE3<f64>| -> Vec<f64> {
                    let rotation = pose.rotation.matrix().iter();
                    pose.translation.iter().chain(rotation).copied().collect()
                };
                let (x, x_R) = (x(&state.pose), x(&point.pose));
                let goal = goal(&x_R, point.twist.as_slice(), point.acceleration.as_slice());
                let one = as_vehicle.step_after(0.01, &state, &point);
                let other = as_system
                    .step_after(0.01, &x, state.twist.as_slice(), &goal)
                    .unwrap();
                let scale = 1.0 + one.unconstrained.amax();
                assert!(
                    (&one.unconstrained - &other.unconstrained).amax() < 1e-11 * scale,
                    "{text}"
                );
                assert!((&one.input - &other.input).amax() < 1e-9 * scale, "{text}");
                let [a, b] = [&one, &other].map(|step| step.energies.expect("energies").total);
                assert!((a - b).abs() < 1e-12 * scale);
                limited += usize::from(other.saturated());
            }
            assert!(limited > 10, "{limited}");
        }
    }
}

/// With the model's inertia and energies in single coordinates both are one: u = M xi_dot_R + .. at the reference, and the same poles.
#[test]
fn gains_become_the_matrices_of_their_joints() {
    let arm = system(ARM);
    let (x, xi) = ([0.1, 0.4, -0.7], [0.3, -0.2, 0.5]);
    let (x_R, xi_R, xi_dot_R) = ([0.2, 0.1, -0.2], [0.1, 0.4, 0.2], [1.0, -0.5, 0.7]);
    let at = goal(&x_R, &xi_R, &xi_dot_R);
    let mut computed = build(&arm, &format!("approach = 'computed_torque'\n{GAINS}")).unwrap();
    let mut linear = build(
        &arm,
        &format!("approach = 'linear'\n{GAINS}")
            .replace("damping = 12", "damping = 12\ninertia = 1"),
    )
    .unwrap();
    let u = computed.step(&x, &xi, &at).unwrap().unconstrained.clone();
    assert_eq!(u, linear.step(&x, &xi, &at).unwrap().unconstrained);
    // u = M (xi_dot_R - D e' - K e) + b.
    let (K, D) = ([40.0, 36.0, 36.0], [12.0; 3]);
    let wanted = DVector::from_fn(3, |i, _| {
        xi_dot_R[i] - D[i] * (xi[i] - xi_R[i]) - K[i] * (x[i] - x_R[i])
    });
    let expected = computed.mass_matrix() * wanted + computed.bias();
    assert!((u - &expected).amax() < 1e-12 * expected.amax());
}

#[test]
fn no_step_allocates_and_the_same_calls_give_the_same_bits() {
    let arm = system(ARM);
    let texts = [
        format!("input_rate_limit = [500, 400, 300]\nallocation = 'active_set'\n{PAIRS}"),
        format!("approach = 'joint_pd'\n{GAINS}"),
        format!("approach = 'computed_torque'\n{GAINS}"),
        "approach = 'state_feedback'\nallocation = 'active_set'\npoles = [-4, -4, -5, [-6, 1], [-6, -1], -3]".to_owned(),
    ];
    for text in texts {
        let run = || {
            let mut controller = build(&arm, &text).unwrap();
            controller.place_at_rest(&[0.0, 0.3, 0.2]).unwrap();
            let mut random = Random::new(77);
            let mut bits = Vec::new();
            let mut limited = 0;
            for _ in 0..100 {
                let mut three = || [random.next(), random.next(), random.next()];
                let (x, xi, x_R, xi_R, xi_dot_R) = (three(), three(), three(), three(), three());
                let goal = goal(&x_R, &xi_R, &xi_dot_R);
                let count = allocations(|| {
                    let step = controller.step_after(0.01, &x, &xi, &goal).unwrap();
                    limited += usize::from(step.saturated());
                });
                assert_eq!(count, 0, "{text}");
                bits.extend(controller.last().input.iter().map(|u| u.to_bits()));
            }
            assert!(limited > 5, "{limited} {text}");
            bits
        };
        assert_eq!(run(), run());
    }
}

#[test]
fn each_input_keeps_its_own_rate() {
    let text = format!("input_rate_limit = [100, 50, 10]\nallocation = 'active_set'\n{PAIRS}");
    let mut controller = build(&system(ARM), &text).unwrap();
    let (rest, far) = ([0.0; 3], [0.0, 2.0, -1.5]);
    let before = controller
        .step(&rest, &rest, &goal(&rest, &rest, &rest))
        .unwrap()
        .input
        .clone();
    let step = controller
        .step_after(0.1, &rest, &rest, &goal(&far, &rest, &rest))
        .unwrap();
    let change = &step.input - before;
    for (change, most) in change.iter().zip([10.0, 5.0, 1.0]) {
        assert!(change.abs() <= most * (1.0 + 1e-12), "{change} {most}");
    }
    assert!((change[1].abs() - 5.0).abs() < 1e-9, "{change}");
}

#[test]
fn numbers_that_are_none_keep_the_last_input() {
    for text in [
        format!("allocation = 'active_set'\n{PAIRS}"),
        format!("approach = 'joint_pd'\n{GAINS}"),
        "approach = 'state_feedback'\nallocation = 'active_set'\npoles = [-4, -4, -5, -6, -6, -3]"
            .to_owned(),
    ] {
        let mut controller = build(&system(ARM), &text).unwrap();
        let rest = [0.0; 3];
        let last = controller
            .step(&[0.1, 0.2, 0.3], &rest, &goal(&rest, &rest, &rest))
            .unwrap()
            .input
            .clone();
        for wrong in [f64::NAN, f64::INFINITY] {
            let bad = [0.0, wrong, 0.0];
            for (x, xi, x_R) in [
                (&bad, &rest, &rest),
                (&rest, &bad, &rest),
                (&rest, &rest, &bad),
            ] {
                let step = controller.step(x, xi, &goal(x_R, &rest, &rest)).unwrap();
                assert_eq!(step.input, last);
                assert!(step.unconstrained.iter().all(|u| !u.is_finite()));
                assert_eq!(step.allocation.outcome, Outcome::NotFinite);
            }
        }
        let after = controller
            .step(&[0.1, 0.2, 0.3], &rest, &goal(&rest, &rest, &rest))
            .unwrap();
        assert_eq!(after.input, last);
    }
}

const HOVER: &str = "approach = 'state_feedback'\nallocation = 'active_set'\n\
    poles = [-3, -3, -4, -4, -5, -5, -6, -6, [-3, 1], [-3, -1], [-4, 1], [-4, -1]]";

/// Flies the quadcopter from a pose back to the origin; the distance and angle that are left.
fn hover(start: Vector6<f64>, seconds: f64) -> f64 {
    let quadcopter = system(QUADCOPTER);
    let vehicle = Vehicle::from_toml(QUADCOPTER).unwrap();
    let mut controller = build(&quadcopter, HOVER).unwrap();
    let x_R = quadcopter.model.neutral_configuration();
    let zero = [0.0; 6];
    let mut state = State::at_rest(SE3::exp(&start));
    let mut time = 0.0;
    while time < seconds && state.pose.translation.norm() < 1e3 {
        let rotation = state.pose.rotation.matrix().iter();
        let x: Vec<f64> = state
            .pose
            .translation
            .iter()
            .chain(rotation)
            .copied()
            .collect();
        let step = controller
            .step_after(2e-3, &x, state.twist.as_slice(), &goal(&x_R, &zero, &zero))
            .unwrap();
        let wrench = vehicle.rotors.input_matrix() * &step.input;
        state = integrate::rk4(&state, 2e-3, |state| {
            vehicle.body.acceleration(state, &wrench)
        });
        time += 2e-3;
    }
    state.pose.log().norm()
}

/// The baseline is linearised about one reference: from 2 decimetres and a tenth of a radian it comes back, from ten metres away it does not.
#[test]
fn state_feedback_hovers_and_does_not_return_from_far_away() {
    let small = hover(Vector6::new(0.2, -0.1, 0.15, 0.1, -0.05, 0.1), 6.0);
    assert!(small < 1e-3, "{small}");
    let far = hover(Vector6::new(10.0, 0.0, 0.0, 0.0, 0.0, 0.0), 12.0);
    assert!(far > 10.0, "{far}");
}

/// The poles are where they should be, thrust that turns with the boom included: by differences of the closed loop itself.
#[test]
fn state_feedback_places_the_poles_of_the_closed_loop() {
    // A boom with a rotor on a second link that is held askew.
    let boom = system(
        "name = 'boom'
         [bodies.boom]
         joint = { type = 'revolute', axis = [0, 1, 0] }
         shape = { box = [1, 0.05, 0.05] }
         mass = 0.5
         center_of_mass = [0.5, 0, 0]
         [bodies.tip]
         parent = 'boom'
         position = [1, 0, 0]
         joint = { type = 'revolute', axis = [0, 1, 0] }
         shape = { box = [0.3, 0.05, 0.05] }
         mass = 0.3
         center_of_mass = [0.1, 0, 0]
         [[rotors]]
         body = 'tip'
         position = [0.2, 0, 0]
         axis = [0, 0, 1]
         thrust = [0, 20]
         [[motors]]
         joint = 'tip'
         effort = [-5, 5]",
    );
    let text =
        "approach = 'state_feedback'\nallocation = 'none'\npoles = [-2, -3, [-4, 1], [-4, -1]]";
    let mut controller = build(&boom, text).unwrap();
    let (x_R, zero) = ([0.2, 0.4], [0.0; 2]);
    let model = &boom.model;
    let mut acceleration = |x: [f64; 2], xi: [f64; 2]| {
        let u = controller
            .step(&x, &xi, &goal(&x_R, &zero, &zero))
            .unwrap()
            .input
            .clone();
        let mut workspace = Workspace::new(model);
        let mut bias = DVector::zeros(2);
        model.bias(&mut workspace, &x, &xi, bias.as_mut_slice());
        let force = controller.input_matrix() * u - bias;
        controller
            .mass_matrix()
            .clone()
            .cholesky()
            .unwrap()
            .solve(&force)
    };
    assert!(acceleration(x_R, zero).amax() < 1e-9);
    let h = 1e-5;
    let mut F = nalgebra::DMatrix::zeros(4, 4);
    F.view_mut((0, 2), (2, 2)).fill_with_identity();
    for j in 0..2 {
        let moved = |mut of: [f64; 2], by: f64| {
            of[j] += by;
            of
        };
        let slope =
            (acceleration(moved(x_R, h), zero) - acceleration(moved(x_R, -h), zero)) / (2.0 * h);
        F.view_mut((2, j), (2, 1)).copy_from(&slope);
        let slope =
            (acceleration(x_R, moved(zero, h)) - acceleration(x_R, moved(zero, -h))) / (2.0 * h);
        F.view_mut((2, 2 + j), (2, 1)).copy_from(&slope);
    }
    let mut found: Vec<_> = F
        .complex_eigenvalues()
        .iter()
        .map(|s| (s.re, s.im.abs()))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (found, wished) in found
        .iter()
        .zip([(-4.0, 1.0), (-4.0, 1.0), (-3.0, 0.0), (-2.0, 0.0)])
    {
        assert!(
            (found.0 - wished.0).hypot(found.1 - wished.1) < 1e-4,
            "{found:?} {wished:?}"
        );
    }
}

#[test]
fn state_feedback_needs_a_reference_at_which_something_holds_the_system() {
    let mut controller = build(&system(QUADCOPTER), HOVER).unwrap();
    let tilted = SE3::exp(&Vector6::new(0.0, 0.0, 0.0, 0.5, 0.0, 0.0));
    let rotation = tilted.rotation.matrix().iter();
    let x: Vec<f64> = Vector3::zeros().iter().chain(rotation).copied().collect();
    assert!(matches!(
        controller.place_at_rest(&x),
        Err(StepError::NotAtRest(_))
    ));
}

#[test]
fn a_place_to_rest_is_near() {
    let hover = system(QUADCOPTER);
    let controller = toml::from_str::<ControllerSettings>(HOVER)
        .unwrap()
        .build_for_system(&hover)
        .unwrap();
    let body = hover.model.bodies().next().unwrap();
    let joint = hover.model.joint(body).unwrap();
    let turn = |x, y, z| fly_lie::SO3::exp(&Vector3::new(x, y, z));
    let place = Vector3::new(3.0, -2.0, 5.0);
    for (tilt, yaw) in [(0.6, 0.0), (-1.0, 2.0), (1.4, -3.0)] {
        let mut x = hover.model.neutral_configuration();
        let tilted = SE3::new(turn(0.0, 0.0, yaw) * turn(0.0, tilt, 0.0), place);
        joint.coordinates(&tilted, &mut x);
        assert!(controller.nearest_equilibrium(&mut x));
        let found = joint.pose(&x);
        let level = SE3::new(turn(0.0, 0.0, yaw), place);
        let error = (level.inverse() * found).log().norm();
        assert!(error < 1e-6, "tilted by {tilt}: {error}");
    }
    // Upside down the rotors would have to pull.
    let mut x = hover.model.neutral_configuration();
    joint.coordinates(&SE3::new(turn(3.0, 0.0, 0.0), place), &mut x);
    let before = x.clone();
    assert!(!controller.nearest_equilibrium(&mut x));
    assert_eq!(x, before);

    // Everything has its motor: the place is as good as any.
    let arm = system(ARM);
    let controller = toml::from_str::<ControllerSettings>(PAIRS)
        .unwrap()
        .build_for_system(&arm)
        .unwrap();
    let mut x = [0.3, 0.5, -0.7];
    assert!(controller.nearest_equilibrium(&mut x));
    assert_eq!(x, [0.3, 0.5, -0.7]);
}
