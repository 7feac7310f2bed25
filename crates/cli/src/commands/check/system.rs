//! Can a system of bodies do what it should?
#![allow(non_snake_case)]

use fly_control::Controller;
use fly_control::analysis::ClosedLoop;
use fly_control::plant::SystemPlant;
use fly_control::{SystemPoint, Trajectory};
use fly_mechanics::System;
use fly_mechanics::multibody::Workspace;
use nalgebra::{DMatrix, Matrix6xX};

use super::sampling::{Worst, instants};
use super::{Findings, poles};
use crate::config::{ConfigError, Configuration};
use crate::telemetry::significant;
use fly_control::inputs::rank;

pub(super) fn check(
    configuration: &Configuration,
    system: &System,
    findings: &mut Findings,
) -> Result<(), ConfigError> {
    let model = &system.model;
    findings.fine(
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
    let mut controller = configuration.build_system_controller(system)?;
    let mut start = SystemPoint::new(model);
    if let Err(error) = trajectory.at(0.0, &mut start) {
        findings.problem("reference", error);
        return Ok(());
    }
    inputs(system, &start, findings);

    let settings = &configuration.controller;
    let approach = settings.approach.name();
    if system.inputs.limits().rows() == 0 {
        findings.fine(
            "controller",
            format_args!("{approach}; inputs have no limits"),
        );
    } else {
        let allocation = settings.allocation.name();
        findings.fine(
            "controller",
            format_args!("{approach}, limits by {allocation}"),
        );
    }
    let closed = ClosedLoop::new(system, &controller, &start.configuration);
    match closed.and_then(|closed| closed.poles()) {
        Ok(found) => poles::tell("poles at the start", found, findings),
        // A moving system need not be able to rest.
        Err(error) => findings.warning("poles at the start", error),
    }
    reference(
        configuration,
        trajectory.as_mut(),
        &mut controller,
        findings,
    );
    Ok(())
}

fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// How many ways to move the inputs reach where the reference begins.
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
    if rank < p {
        findings.problem(
            "inputs",
            format_args!("{p} inputs, but they move it in {rank} ways only"),
        );
    } else {
        findings.fine("inputs", format_args!("{p}, rank {rank}: {kind}"));
    }
}

/// Follows the reference exactly, and looks at what the inputs would have to be.
fn reference(
    configuration: &Configuration,
    trajectory: &mut dyn Trajectory<SystemPoint>,
    controller: &mut Controller<SystemPlant>,
    findings: &mut Findings,
) {
    let (end, instants) = instants(configuration, trajectory.duration());
    let limits = configuration.system.inputs.limits();
    let mut point = SystemPoint::new(controller.model());
    let mut excess = Worst::NONE;
    trajectory.restart();
    for time in instants {
        if let Err(error) = trajectory.at(time, &mut point) {
            findings.problem("reference", error);
            return;
        }
        let goal = point.as_reference();
        match controller.step(&point.configuration, &point.velocity, &goal) {
            Err(error) => {
                findings.problem("reference", format_args!("at {time:.2} s: {error}"));
                return;
            }
            Ok(step) => {
                if !step.unconstrained.iter().all(|input| input.is_finite()) {
                    let message = format_args!("at {time:.2} s: no finite input follows it");
                    findings.problem("reference", message);
                    return;
                }
                excess.meet(limits.violation(step.unconstrained.as_slice()), time);
            }
        }
    }
    let Worst {
        value: worst,
        time: when,
    } = excess;
    let sampled = format!("{end} s looked at");
    if limits.rows() == 0 {
        findings.fine("reference", sampled);
    } else if worst > 0.0 {
        findings.warning(
            "reference",
            format_args!(
                "{sampled}: needs inputs {worst:.2} N or N m beyond the limits at {when:.2} s"
            ),
        );
    } else {
        findings.fine(
            "reference",
            format_args!(
                "{sampled}: inputs stay {:.2} N or N m inside the limits (least at {when:.2} s)",
                -worst
            ),
        );
    }
}
