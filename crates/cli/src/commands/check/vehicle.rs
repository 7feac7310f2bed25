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
