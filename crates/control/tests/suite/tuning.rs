//! Parameters from poles and bandwidths against the closed loop that they make.

use crate::common;

use common::{QUADCOPTER, TRICOPTER, vehicle};
use fly_control::analysis::{desired, modes};
use fly_control::tuning::{PoleSpec, TuningError, tune};
use fly_lie::SO3;
use nalgebra::Complex;

fn complex(re: f64, im: f64) -> Complex<f64> {
    Complex::new(re, im)
}

/// The modes of the closed loop as `(pole, count)`.
fn tuned(
    description: &str,
    position: &PoleSpec,
    attitude: Option<&PoleSpec>,
) -> Vec<(Complex<f64>, usize)> {
    let vehicle = vehicle(description);
    let settings = tune(&vehicle, position, attitude).expect("parameters");
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
        let settings = tune(&vehicle, &PoleSpec::Bandwidth(2.5), None).expect("parameters");
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
    let settings = tune(&vehicle, &PoleSpec::Bandwidth(2.0), None).expect("parameters");
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
        let error: TuningError = tune(&vehicle(description), &position, attitude.as_ref())
            .expect_err("no such parameters");
        assert_eq!(error.to_string(), expected);
    }
}
