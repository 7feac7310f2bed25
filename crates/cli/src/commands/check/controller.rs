//! Checks that the controller fits this vehicle and that the closed loop is stable.

use fly_control::analysis::ClosedLoop;
use fly_mechanics::Vehicle;

use super::{Findings, closed_loop};
use crate::config::{ConfigError, Configuration};

pub(super) fn check(
    configuration: &Configuration,
    vehicle: &Vehicle,
    findings: &mut Findings,
) -> Result<(), ConfigError> {
    let settings = &configuration.controller;
    let controller = configuration.build_controller(vehicle)?;
    let name = settings.approach.name();
    let allocation = settings.allocation.name();
    findings.passed(
        "controller",
        format_args!("{name}-based, limits by {allocation}"),
    );

    let system = &configuration.system;
    let level = system.model.neutral_configuration();
    let closed = ClosedLoop::new(system, &controller, &level);
    configuration.build_governor(vehicle, closed.as_ref().ok())?;
    let told = closed
        .and_then(|closed| closed_loop::tell("poles in hover", &closed, configuration, findings));
    if let Err(error) = told {
        findings.problem("poles in hover", error);
    }
    Ok(())
}
