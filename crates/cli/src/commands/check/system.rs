//! Checks what a system of bodies can do.
#![allow(non_snake_case)]

use fly_control::SystemPoint;
use fly_control::analysis::{AnalysisError, ClosedLoop};
use fly_mechanics::System;
use fly_mechanics::multibody::{Joint, JointKind, Workspace};
use nalgebra::{DMatrix, Matrix6xX};

use super::vehicle::redundant;
use super::{Findings, closed_loop, count, encoders, reference};
use crate::commands::as_flown;
use crate::config::{ConfigError, Configuration};
use crate::telemetry::significant;
use fly_control::inputs::rank;

pub(super) fn check(
    configuration: &Configuration,
    system: &System,
    findings: &mut Findings,
) -> Result<(), ConfigError> {
    let model = &system.model;
    findings.passed(
        "system",
        format_args!(
            "{}: {}, {}, {} kg",
            system.name,
            count(model.body_count(), "body", "bodies"),
            count(model.dof(), "degree of freedom", "degrees of freedom"),
            significant(model.mass(), 4)
        ),
    );
    for note in &system.notes {
        findings.warning("", note);
    }
    let mut trajectory = configuration.build_system_reference(system)?;
    if configuration.backend.plugin != "replay" {
        configuration.check_end(trajectory.duration())?;
    }
    let mut controller = configuration.build_system_controller(system)?;
    let mut start = SystemPoint::new(model);
    if let Err(error) = trajectory.at(0.0, &mut start) {
        findings.problem("reference", error);
        return Ok(());
    }
    inputs(system, &start, findings);
    simulated_start(configuration, system, findings);

    let settings = &configuration.controller;
    let approach = settings.approach.name();
    if system.inputs.limits().rows() == 0 {
        findings.passed(
            "controller",
            format_args!("{approach}; inputs have no limits"),
        );
    } else {
        let allocation = settings.allocation.name();
        findings.passed(
            "controller",
            format_args!("{approach}, limits by {allocation}"),
        );
    }
    let (at_rest, what) = as_flown::rest(configuration, &start);
    let closed = ClosedLoop::new(system, &controller, &at_rest);
    let poles = closed.as_ref().ok().and_then(|closed| closed.poles().ok());
    let told = closed.and_then(|closed| closed_loop::tell(what, &closed, configuration, findings));
    match told {
        Err(AnalysisError::Rolls(_)) if start.velocity.iter().any(|&v| v != 0.0) => {
            findings.passed(what, "none: it rolls, and begins on its way");
        }
        // A moving system need not be able to rest.
        Err(error) => findings.warning(what, error),
        Ok(()) => {}
    }
    encoders::check(
        configuration,
        poles.as_deref().unwrap_or_default(),
        findings,
    );
    reference::check_system(
        configuration,
        system,
        trajectory.as_mut(),
        &mut controller,
        findings,
    );
    Ok(())
}

/// Joints whose simulation begins outside their limits.
fn simulated_start(configuration: &Configuration, system: &System, findings: &mut Findings) {
    if configuration.backend.plugin != "sim" {
        return;
    }
    let table: toml::Table = toml::from_str(configuration.backend.table.text()).unwrap_or_default();
    let joints = table.get("initial").and_then(|it| it.get("joints"));
    // Of the others, loops and couplings move those that they hold.
    let is_tree = system.loops.is_empty() && system.couplings.is_empty();
    let is_at_zero = is_tree && !table.contains_key("vehicle");
    for (body, joint) in system.model.bodies().zip(&system.joints) {
        let given = joints.and_then(|joints| joints.get(&joint.name));
        let given =
            given.and_then(|value| value.as_float().or(value.as_integer().map(|i| i as f64)));
        let begins = given.or(is_at_zero.then_some(0.0));
        if let (Some([low, high]), Some(begins)) = (joint.limits.position, begins)
            && !(low..=high).contains(&begins)
        {
            let unit = match system.model.joint(body).map(Joint::kind) {
                Some(JointKind::Prismatic) => "m",
                _ => "rad",
            };
            let [begins, low, high] = [begins, low, high].map(|number| significant(number, 4));
            findings.warning(
                "start",
                format_args!(
                    "joint `{}` begins at {begins}, outside its limits from {low} to {high} {unit} (`backend.sim.initial.joints`)",
                    joint.name
                ),
            );
        }
    }
}

/// The number of degrees of freedom that the inputs reach at the start of the reference.
fn inputs(system: &System, start: &SystemPoint, findings: &mut Findings) {
    let (model, inputs) = (&system.model, &system.inputs);
    let (n, p) = (model.dof(), inputs.input_dim());
    let mut workspace = Workspace::new(model);
    workspace.update(model, &start.configuration, &start.velocity);
    workspace.update_jacobians(model);
    let mut B = DMatrix::zeros(n, p);
    inputs.input_matrix(&workspace, &mut Matrix6xX::zeros(n), &mut B);
    let rank = rank(&B);
    let kind = if rank == n {
        "fully actuated"
    } else {
        "underactuated"
    };
    if rank == 0 {
        findings.problem(
            "inputs",
            format_args!("{p} inputs, but they do not move it"),
        );
    } else {
        let redundant = redundant(p, rank);
        findings.passed(
            "inputs",
            format_args!("{p}, rank {rank}: {kind}{redundant}"),
        );
    }
}
