//! Does the controller exist for this vehicle, and is the closed loop stable?

use fly_control::{Controller, ReferencePoint};
use fly_lie::SE3;
use fly_mechanics::{State, Vehicle};
use nalgebra::{Complex, SMatrix, Vector6};

use super::Findings;
use crate::config::{ConfigError, Configuration};

/// Step of the central differences, in metres, radians, and their rates: errors are of the order of its square.
const STEP: f64 = 1e-5;
/// Poles to the right of this, 1/s, do not come back within any flight.
const SLOWEST: f64 = -1e-3;

pub(super) fn check(
    configuration: &Configuration,
    findings: &mut Findings,
) -> Result<(), ConfigError> {
    let settings = &configuration.controller;
    let mut controller = configuration.build_controller()?;
    let name = format!("{:?}", settings.approach).to_lowercase();
    let allocation = format!("{:?}", settings.allocation).to_lowercase();
    findings.fine(
        "controller",
        format_args!("{name}-based, limits by {allocation}"),
    );

    let mut poles = closed_loop_poles(&configuration.vehicle, &mut controller);
    poles.sort_by(|a, b| b.re.total_cmp(&a.re));
    if let (Some(slowest), Some(fastest)) = (poles.first(), poles.last()) {
        let poles = format!("slowest {}, fastest {} 1/s", show(*slowest), show(*fastest));
        if slowest.re < SLOWEST {
            findings.fine("poles in hover", poles);
        } else {
            findings.problem(
                "poles in hover",
                format_args!("{poles}: the closed loop is not stable"),
            );
        }
    }
    Ok(())
}

/// Poles of the closed loop about level hover, inputs unlimited: vehicle and controller as they will be flown, linearised by
/// central differences in the error `[delta; xi]`, pose `G exp(delta)`, with `delta' = xi` at rest.
fn closed_loop_poles(vehicle: &Vehicle, controller: &mut Controller) -> Vec<Complex<f64>> {
    let reference = ReferencePoint::at_rest(SE3::identity());
    let mut acceleration = |delta: Vector6<f64>, twist: Vector6<f64>| {
        let state = State {
            pose: SE3::exp(&delta),
            twist,
        };
        let input = &controller.step(&state, &reference).unconstrained;
        let wrench = vehicle.actuators.input_matrix() * input;
        vehicle.body.acceleration(&state, &wrench)
    };
    let mut matrix = SMatrix::<f64, 12, 12>::zeros();
    matrix.fixed_view_mut::<6, 6>(0, 6).fill_with_identity();
    for column in 0..12 {
        let mut shift = [Vector6::zeros(); 2];
        shift[column / 6][column % 6] = STEP;
        let [delta, twist] = shift;
        let slope = (acceleration(delta, twist) - acceleration(-delta, -twist)) / (2.0 * STEP);
        matrix.fixed_view_mut::<6, 1>(6, column).copy_from(&slope);
    }
    matrix.complex_eigenvalues().iter().copied().collect()
}

fn show(pole: Complex<f64>) -> String {
    if pole.im.abs() < 0.02 * pole.re.abs() {
        format!("{:.2}", pole.re)
    } else {
        format!("{:.2} +- {:.2}i", pole.re, pole.im.abs())
    }
}
