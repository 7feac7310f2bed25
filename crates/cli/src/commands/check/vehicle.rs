//! Checks that the vehicle can hover.
#![allow(non_snake_case)]

use fly_control::inputs::ReferenceInputs;
use fly_lie::SE3;
use fly_mechanics::{State, Vehicle};
use nalgebra::{DMatrix, Vector6};

use super::Findings;
use fly_control::inputs::rank;

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
    } else {
        findings.passed(
            "hover",
            format_args!("{thrusts}, {:.2} N inside the limits", -excess),
        );
    }
}
