//! Checks that the vehicle can hover.
#![allow(non_snake_case)]

use fly_control::inputs::ReferenceInputs;
use fly_lie::SE3;
use fly_mechanics::{Polytope, State, Vehicle};
use nalgebra::{DMatrix, DVector, Vector6};

use super::Findings;
use crate::telemetry::significant;
use fly_control::inputs::rank;

/// A vehicle that can lift less than this many times its weight has hardly anything left to correct errors.
const LEAST_LIFT: f64 = 1.1;

/// Less of the mass than this is not at the place of a rotor with its motor.
const LEAST_SHARE: f64 = 1e-3;

pub(super) fn check(vehicle: &Vehicle, findings: &mut Findings) {
    let rotors = &vehicle.rotors;
    let inputs = rotors.input_dim();
    findings.passed(
        "vehicle",
        format_args!(
            "{}: {} kg, {} rotors",
            vehicle.name,
            vehicle.body.inertia().mass(),
            rotors.as_slice().len()
        ),
    );
    implausible(vehicle, findings);
    let B = rotors.input_matrix();
    let rank = rank(&DMatrix::from_fn(6, inputs, |i, j| B[(i, j)]));
    let kind = if rank == 6 {
        "fully actuated"
    } else {
        "underactuated"
    };
    if rank == 0 {
        let finding = format!("{inputs} inputs, but they make no force and no torque");
        findings.problem("inputs", finding);
        return;
    }
    findings.passed(
        "inputs",
        format_args!("{inputs}, rank {rank}: {kind}{}", redundant(inputs, rank)),
    );
    hover(vehicle, findings);
}

/// Numbers that no vehicle has, as those in another unit are.
fn implausible(vehicle: &Vehicle, findings: &mut Findings) {
    let inertia = vehicle.body.inertia();
    let moments = inertia.inertia_about_center().symmetric_eigenvalues();
    // So much of the mass, at most, is where a rotor is: a mass m at the distance d adds m d² to the moments of inertia.
    let shares = vehicle.rotors.as_slice().iter().map(|rotor| {
        let distance = (rotor.position - inertia.center_of_mass()).norm();
        (
            moments.max() / (inertia.mass() * distance * distance),
            distance,
            rotor,
        )
    });
    if let Some((share, distance, rotor)) = shares.min_by(|(a, ..), (b, ..)| a.total_cmp(b))
        && share < LEAST_SHARE
    {
        findings.warning(
            "",
            format_args!(
                "rotor `{}` is {} m from the centre of mass, where the inertia leaves at most {} % of the mass: expected positions in m, the inertia in kg m^2",
                rotor.name,
                significant(distance, 3),
                significant(100.0 * share, 2)
            ),
        );
    }
    for rotor in vehicle.rotors.as_slice() {
        if let Some(radius) = rotor.propeller.radius
            && rotor.drag_ratio.abs() > radius
        {
            findings.warning(
                "",
                format_args!(
                    "rotor `{}` has a drag torque of {} N m per N of thrust, more than its radius of {} m: expected `drag_ratio` in m, about an eighth of the radius",
                    rotor.name,
                    significant(rotor.drag_ratio.abs(), 3),
                    significant(radius, 3)
                ),
            );
            break;
        }
    }
}

/// Describes how many more inputs there are than needed.
pub(super) fn redundant(inputs: usize, rank: usize) -> String {
    match inputs - rank {
        0 => String::new(),
        more => format!(", {more} redundant"),
    }
}

/// The commands that carry the level vehicle; `None` if none do.
pub(super) fn hover_commands(vehicle: &Vehicle) -> Option<Vec<f64>> {
    let held = ReferenceInputs::new(vehicle).central(&weight(vehicle));
    let mut commands = vec![0.0; vehicle.rotors.command_names().len()];
    vehicle
        .rotors
        .commands_from_input(held.input.as_slice(), &mut commands);
    held.is_exact().then_some(commands)
}

/// The wrench that the rotors must generate in hover.
fn weight(vehicle: &Vehicle) -> Vector6<f64> {
    vehicle.body.bias(&State::at_rest(SE3::identity()))
}

/// The input that carries the level vehicle, and its distance from the limits.
fn hover(vehicle: &Vehicle, findings: &mut Findings) {
    let held = ReferenceInputs::new(vehicle).central(&weight(vehicle));
    if !held.is_exact() {
        let missing = held.missing;
        let finding = format!(
            "no input carries the level vehicle: {missing:.3} N or N m of its weight stay unbalanced"
        );
        findings.problem("hover", finding);
        return;
    }
    let mut commands = vec![0.0; vehicle.rotors.command_names().len()];
    vehicle
        .rotors
        .commands_from_input(held.input.as_slice(), &mut commands);
    let text: Vec<String> = vehicle
        .rotors
        .command_names()
        .iter()
        .zip(&commands)
        .filter(|(name, _)| name.ends_with(".thrust"))
        .map(|(_, thrust)| format!("{thrust:.2}"))
        .collect();
    let thrusts = format!("thrusts {} N", text.join(", "));
    let excess = vehicle.rotors.limits().violation(held.input.as_slice());
    if excess > 0.0 {
        findings.problem(
            "hover",
            format_args!("{thrusts}: {excess:.2} N beyond the limits"),
        );
        return;
    }
    let inside = format!("{thrusts}, {:.2} N inside the limits", -excess);
    let lift = lift(vehicle.rotors.limits(), &held.input);
    if lift < LEAST_LIFT {
        let lift = significant(lift, 3);
        findings.warning(
            "hover",
            format_args!("{inside}: it can lift {lift} times its weight; less than {LEAST_LIFT} leaves hardly anything to correct errors"),
        );
    } else {
        findings.passed("hover", inside);
    }
}

/// By what factor the inputs of a hover can be multiplied within the limits.
fn lift(limits: &Polytope, hover: &DVector<f64>) -> f64 {
    let rows = &limits.matrix * hover;
    (rows.iter().zip(limits.bound.iter()))
        .filter(|(row, _)| **row > 0.0)
        .map(|(row, bound)| bound / row)
        .fold(f64::INFINITY, f64::min)
}
