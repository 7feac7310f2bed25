//! Parameters from poles and bandwidths against the closed loop that they make.

use crate::common;

use common::{QUADCOPTER, TRICOPTER, vehicle};
use fly_control::ControllerSettings;
use fly_control::analysis::{ClosedLoop, desired, modes};
use fly_control::settings::ApproachSettings;
use fly_control::settings::EnergySettings::{Moments, Number};
use fly_control::tuning::{PoleSpec, TuningError};
use fly_lie::SO3;
use fly_mechanics::System;
use nalgebra::Complex;

fn complex(re: f64, im: f64) -> Complex<f64> {
    Complex::new(re, im)
}

/// Energies for this vehicle.
fn tune(
    description: &str,
    motion: &PoleSpec,
    attitude: Option<&PoleSpec>,
) -> Result<ControllerSettings, TuningError> {
    tune_for(ApproachSettings::Energy, description, motion, attitude)
}

fn tune_for(
    approach: ApproachSettings,
    description: &str,
    motion: &PoleSpec,
    attitude: Option<&PoleSpec>,
) -> Result<ControllerSettings, TuningError> {
    let system = System::from_toml(description).expect("a system");
    let x = system.model.neutral_configuration();
    ControllerSettings::tuned(approach, &system, &x, motion, attitude)
}

/// The modes of the closed loop as `(pole, count)`.
fn tuned(
    description: &str,
    position: &PoleSpec,
    attitude: Option<&PoleSpec>,
) -> Vec<(Complex<f64>, usize)> {
    let vehicle = vehicle(description);
    let settings = tune(description, position, attitude).expect("parameters");
    settings.validate().expect("valid settings");
    let controller = settings.build(&vehicle).expect("a controller");
    let closed = common::closed_loop(description, &controller, &SO3::identity());
    let closed = closed.expect("an equilibrium");
    let modes = modes(&closed.poles().expect("poles"));
    modes.iter().map(|mode| (mode.pole, mode.count)).collect()
}

#[track_caller]
fn holds(found: &[(Complex<f64>, usize)], pole: Complex<f64>, count: usize) {
    assert!(
        found
            .iter()
            .any(|(p, c)| (p - pole).norm() < 1e-3 * pole.norm() && *c == count),
        "{pole} ({count} times) in {found:?}"
    );
}

#[test]
fn the_closed_loop_has_the_poles_that_were_asked_for() {
    let found = tuned(
        QUADCOPTER,
        &PoleSpec::Poles(vec![
            complex(-3.0, 1.0),
            complex(-3.0, -1.0),
            complex(-4.0, 0.0),
            complex(-6.0, 0.0),
        ]),
        Some(&PoleSpec::Poles(vec![
            complex(-2.0, 0.5),
            complex(-2.0, -0.5),
        ])),
    );
    // Two planes, the turn, and the height, which follows from the horizontal motion.
    for (pole, count) in [
        (complex(-3.0, 1.0), 2),
        (complex(-4.0, 0.0), 2),
        (complex(-6.0, 0.0), 2),
        (complex(-2.0, 0.5), 1),
    ] {
        holds(&found, pole, count);
    }

    let moved = TRICOPTER.replace(
        "mass = 1.0",
        "mass = 1.3\ncenter_of_mass = [0.01, -0.02, 0.03]",
    );
    for description in [TRICOPTER, &moved] {
        let found = tuned(
            description,
            &PoleSpec::Poles(vec![complex(-3.0, 2.0), complex(-3.0, -2.0)]),
            None,
        );
        assert_eq!(found.len(), 2, "{found:?}");
        holds(&found, complex(-3.0, 2.0), 3);
        holds(&found, complex(-6.0, 4.0), 3);
    }
}

#[test]
fn a_bandwidth_is_where_half_the_power_is_left() {
    for (description, order) in [(QUADCOPTER, 4), (TRICOPTER, 2)] {
        let vehicle = vehicle(description);
        let settings = tune(description, &PoleSpec::Bandwidth(2.5), None).expect("parameters");
        let controller = settings.build(&vehicle).expect("a controller");
        let poles = desired(controller.template().pair())
            .poles()
            .expect("poles");
        // The poles across, or those of the position: by size, all alike.
        let found = modes(&poles);
        let mode = found.iter().find(|mode| !mode.oscillates());
        let a = -mode.expect("real poles").pole.re;
        let gain = (a / complex(a, 2.5).norm()).powi(order);
        assert!((gain * gain - 0.5).abs() < 1e-4, "{description} {gain}");
    }
}

#[test]
fn the_energies_of_a_fully_actuated_vehicle_have_one_centre() {
    let moved = TRICOPTER.replace(
        "mass = 1.0",
        "mass = 1.3\ncenter_of_mass = [0.01, -0.02, 0.03]",
    );
    let vehicle = vehicle(&moved);
    let settings = tune(&moved, &PoleSpec::Bandwidth(2.0), None).expect("parameters");
    let controller = settings.build(&vehicle).expect("a controller");
    let pair = controller.template().pair();
    // Mbar = M: the law adds nothing to what the desired forces ask for.
    let difference = pair.inertia_matrix() - vehicle.body.mass_matrix();
    assert!(difference.amax() < 1e-9, "{difference}");
    for moment in [pair.stiffness(), pair.damping()] {
        let center = moment.fixed_view::<3, 1>(0, 3) / moment[(3, 3)];
        assert!((center - vehicle.body.inertia().center_of_mass()).amax() < 1e-9);
    }
}

#[test]
fn wishes_that_cannot_be_met_are_refused() {
    let poles = |poles: &[(f64, f64)]| {
        PoleSpec::Poles(poles.iter().map(|(re, im)| complex(*re, *im)).collect())
    };
    let two = [(-1.0, 0.0), (-2.0, 0.0)];
    for (description, position, attitude, expected) in [
        (
            QUADCOPTER,
            poles(&two),
            None,
            "expected 4 poles of the horizontal motion, found 2",
        ),
        (
            TRICOPTER,
            poles(&[(-1.0, 0.0); 4]),
            None,
            "expected 2 poles of the position, found 4",
        ),
        (
            TRICOPTER,
            poles(&[(-1.0, 1.0), (-1.0, 0.5)]),
            None,
            "expected real poles and conjugate pairs of the position, such as -2+1i,-2-1i; found a complex pole without its \
             conjugate",
        ),
        (
            TRICOPTER,
            poles(&two),
            Some(poles(&[(-1.0, 0.0), (0.5, 0.0)])),
            "expected poles of the attitude with negative real parts, found 0.5+0i",
        ),
        (
            TRICOPTER,
            poles(&[(-1.0, 0.0), (f64::NAN, 0.0)]),
            None,
            "expected poles of the position with negative real parts, found NaN+0i",
        ),
        (
            QUADCOPTER,
            PoleSpec::Bandwidth(0.0),
            None,
            "expected a positive bandwidth of the horizontal motion, found 0 rad/s",
        ),
    ] {
        let error: TuningError =
            tune(description, &position, attitude.as_ref()).expect_err("no such parameters");
        assert_eq!(error.to_string(), expected);
    }
}

/// A slider, a hinge askew and a ball joint.
const ARM: &str = r#"
    name = "arm"
    [bodies.rail]
    joint = { type = "prismatic", axis = [1, 0, 0], damping = 0.7 }
    mass = 3
    inertia = [0.1, 0.1, 0.1]
    [bodies.arm]
    parent = "rail"
    joint = { type = "revolute", axis = [0.6, 0, 0.8] }
    mass = 2
    center_of_mass = [0, 0.3, -0.3]
    inertia = [0.02, 0.02, 0.01]
    [bodies.hand]
    parent = "arm"
    position = [0, 0, -0.6]
    joint = { type = "spherical" }
    mass = 1
    center_of_mass = [0.05, 0, -0.2]
    inertia = [0.01, 0.02, 0.01]
    [[motors]]
    joint = "rail"
    time_constant = 0.05
    [[motors]]
    joint = "arm"
    [[motors]]
    joint = "hand"
    component = 0
    [[motors]]
    joint = "hand"
    component = 1
    [[motors]]
    joint = "hand"
    component = 2
"#;

#[test]
fn every_joint_of_a_system_has_the_poles_that_were_asked_for() {
    let spec = PoleSpec::Poles(vec![complex(-3.0, 2.0), complex(-3.0, -2.0)]);
    let hinges = ARM
        .split("[bodies.hand]")
        .next()
        .expect("a text")
        .to_owned()
        + "[[motors]]\njoint = 'rail'\n[[motors]]\njoint = 'arm'\n";
    for (approach, description) in [
        (ApproachSettings::Particle, ARM),
        (ApproachSettings::Body, ARM),
        (ApproachSettings::Energy, ARM),
        (ApproachSettings::ComputedTorque, &hinges),
        (ApproachSettings::Linear, &hinges),
    ] {
        let system = System::from_toml(description).expect("a system");
        let settings = tune_for(approach, description, &spec, None).expect("parameters");
        settings.validate().expect("valid settings");
        let controller = settings.build_for_system(&system).expect("a controller");
        // Not only where it was tuned.
        let mut x = system.model.neutral_configuration();
        let along: Vec<f64> = (0..system.model.dof())
            .map(|i| 0.3 + 0.2 * i as f64)
            .collect();
        system.model.integrate(&mut x, &along);
        let closed = ClosedLoop::new(&system, &controller, &x).expect("an equilibrium");
        let modes = modes(&closed.poles().expect("poles"));
        let found: Vec<_> = modes.iter().map(|mode| (mode.pole, mode.count)).collect();
        assert_eq!(found.len(), 1, "{approach:?} {found:?}");
        holds(&found, complex(-3.0, 2.0), system.model.dof());
    }
    // One number for what a hinge or a slider carries: M at x = 0, (3 + 2 + 1) kg across the rail.
    let settings = tune_for(ApproachSettings::Energy, ARM, &spec, None).expect("parameters");
    assert_eq!(settings.pairs[0].inertia, Number(6.0));
    assert_eq!(settings.pairs[0].stiffness, Number(78.0));
    assert!(matches!(settings.pairs[1].damping, Number(_)));
    assert!(matches!(settings.pairs[2].damping, Moments(_)));
    assert_eq!(
        (&*settings.pairs[2].from, &*settings.pairs[2].to),
        ("arm", "hand")
    );
}

#[test]
fn state_feedback_takes_all_poles() {
    let poles: Vec<_> = (0..12)
        .map(|i| complex(-2.0 - 0.5 * f64::from(i), 0.0))
        .collect();
    let spec = PoleSpec::Poles(poles.clone());
    let approach = ApproachSettings::StateFeedback;
    let settings = tune_for(approach, QUADCOPTER, &spec, None).expect("parameters");
    let system = System::from_toml(QUADCOPTER).expect("a system");
    let controller = settings.build_for_system(&system).expect("a controller");
    let x = system.model.neutral_configuration();
    let closed = ClosedLoop::new(&system, &controller, &x).expect("an equilibrium");
    let mut found: Vec<f64> = closed
        .poles()
        .expect("poles")
        .iter()
        .map(|p| p.re)
        .collect();
    found.sort_by(|a, b| b.total_cmp(a));
    for (found, expected) in found.iter().zip(&poles) {
        // As well as they are conditioned.
        assert!((found - expected.re).abs() < 1e-3, "{found} {expected}");
    }
    for (approach, spec, attitude, expected) in [
        (
            approach,
            PoleSpec::Bandwidth(2.0),
            None,
            "state feedback needs its 12 poles one by one instead of a bandwidth, or the largest acceptable errors and inputs of an optimal one \
             ([controller.lqr], --lqr)",
        ),
        (
            approach,
            PoleSpec::Poles(poles[..4].to_vec()),
            None,
            "expected 12 poles of the system, found 4",
        ),
        (
            approach,
            spec.clone(),
            Some(&spec),
            "only a vehicle of one body has poles of its attitude; leave them out",
        ),
        (
            ApproachSettings::JointPd,
            spec.clone(),
            None,
            "the poles of joint PD change with the configuration, as the inertia of the model does: expected computed_torque, linear or energy, whose poles are constant",
        ),
        (
            ApproachSettings::ComputedTorque,
            PoleSpec::Bandwidth(1.0),
            None,
            "the inputs move the system in 4 of its 6 degrees of freedom: the joints cannot have independent poles. For energies that the \
             inputs can follow, list up to 12 poles of the whole system; state feedback (approach = \"state_feedback\") places all 12 for small errors about one \
             configuration, or has the gains of least cost ([controller.lqr], --lqr)",
        ),
    ] {
        let error = tune_for(approach, QUADCOPTER, &spec, attitude).expect_err("none");
        assert_eq!(error.to_string(), expected);
    }
}

/// With the lag of its actuators the loop has the poles that were asked for, and those that the lag adds.
#[test]
fn poles_with_the_lag_are_those_that_were_asked_for() {
    let wanted = [
        complex(-3.0, 1.0),
        complex(-3.0, -1.0),
        complex(-4.0, 0.0),
        complex(-2.5, 0.0),
    ];
    let four = PoleSpec::Poles(wanted.to_vec());
    let two = PoleSpec::Poles(wanted[..2].to_vec());
    let slow = PoleSpec::Poles(vec![complex(-2.0, 0.5), complex(-2.0, -0.5)]);
    let lag = 0.05;
    for (description, motion, attitude, count) in [
        (
            common::lagging(QUADCOPTER, [lag; 2], 0.0),
            four,
            Some(slow.clone()),
            2,
        ),
        (
            common::lagging(TRICOPTER, [lag; 2], lag),
            two.clone(),
            Some(slow),
            3,
        ),
    ] {
        let system = System::from_toml(&description).expect("a system");
        let poles = motion
            .poles("motion", if count == 2 { 4 } else { 2 })
            .unwrap();
        let motion = motion.with_lag(&system).expect("a common lag");
        let attitude = attitude.map(|attitude| attitude.with_lag(&system).expect("the same"));
        let settings = tune(&description, &motion, attitude.as_ref()).expect("parameters");
        let controller = settings.build_for_system(&system).expect("a controller");
        let x = system.model.neutral_configuration();
        let closed = ClosedLoop::new(&system, &controller, &x).expect("an equilibrium");
        let lags = system.inputs.time_constants();
        assert!(lags.iter().all(|own| *own == lag));
        let modes = modes(&closed.poles_with_lags(lags).expect("poles"));
        let found: Vec<_> = modes.iter().map(|mode| (mode.pole, mode.count)).collect();
        let added = -1.0 / lag - poles.iter().map(|pole| pole.re).sum::<f64>();
        // Conjugates count as one.
        for pole in poles.iter().filter(|pole| pole.im >= 0.0) {
            holds(&found, *pole, count);
        }
        holds(&found, complex(added, 0.0), count);
    }
}

#[test]
fn poles_that_a_lag_does_not_allow_are_refused() {
    let lagging = |lags| System::from_toml(&common::lagging(QUADCOPTER, lags, 0.0)).unwrap();
    let fast = PoleSpec::Poles(vec![complex(-5.1, 0.0); 4]);
    let spec = fast
        .clone()
        .with_lag(&lagging([0.05; 2]))
        .expect("a common lag");
    let error = spec.poles("horizontal motion", 4).expect_err("none");
    // -1/0.05 + 4 * 5.1
    let expected = TuningError::Lag {
        motion: "horizontal motion",
        lag: 0.05,
        added: 0.4,
    };
    match (&error, &expected) {
        (TuningError::Lag { added, .. }, TuningError::Lag { added: known, .. }) => {
            assert!((added - known).abs() < 1e-9, "{error}");
        }
        _ => panic!("{error}"),
    }
    let error = fast
        .clone()
        .with_lag(&lagging([0.03, 0.05]))
        .expect_err("two lags");
    assert_eq!(
        error,
        TuningError::Lags {
            least: 0.03,
            most: 0.05
        }
    );
    // What holds a joint against its weight lags, and the weight does not.
    let arm = System::from_toml(ARM).unwrap();
    let x = arm.model.neutral_configuration();
    let spec = PoleSpec::WithLag(0.05, Box::new(PoleSpec::Bandwidth(2.0)));
    let error = fly_control::tuning::tune(&arm, &x, &spec, None);
    assert_eq!(error, Err(TuningError::LagOfJoints));
    // Without lags there is nothing to do.
    assert_eq!(fast.clone().with_lag(&lagging([0.0; 2])), Ok(fast));
}
