//! How redundant inputs use their freedom, and the remaining distance to their limits.

use fly_control::ControllerSettings;
use fly_control::analysis::input_rank;
use fly_control::settings::{Numbers, PreferredInput};
use fly_control::system::SystemReference;
use fly_mechanics::System;

use crate::telemetry::{Table, significant};

/// For a system at rest in this configuration; `None` without redundant inputs.
pub(super) fn table(system: &System, settings: &ControllerSettings, rest: &[f64]) -> Option<Table> {
    let inputs = system.inputs.input_dim();
    let rank = input_rank(&system.model, &system.inputs);
    if inputs == rank {
        return None;
    }
    let told = |numbers: &[f64]| {
        let numbers: Vec<_> = numbers.iter().map(|x| significant(*x, 3)).collect();
        numbers.join(", ")
    };
    let mut table = Table::default();
    let count = format!("{inputs}, rank {rank}: {} redundant", inputs - rank);
    table.row("inputs", [count]);
    let preferred = match &settings.preferred_input {
        PreferredInput::Hover => "hover, farthest inside the limits".to_owned(),
        PreferredInput::Previous => "that of the previous step".to_owned(),
        PreferredInput::Each(numbers) => told(numbers),
    };
    table.row("preferred", [preferred]);
    if let Some(Numbers::Each(weights)) = &settings.input_weights {
        table.row("weights", [told(weights)]);
    }
    let still = vec![0.0; system.model.dof()];
    let goal = SystemReference {
        configuration: rest,
        velocity: &still,
        acceleration: &still,
    };
    let mut controller = settings.build_for_system(system).ok()?;
    let held = &controller.step(rest, &still, &goal).ok()?.unconstrained;
    table.row("at rest, N or N m", [told(held.as_slice())]);
    let inside = -system.inputs.limits().violation(held.as_slice());
    if inside.is_finite() {
        let inside = format!("{} N or N m", significant(inside, 3));
        table.row("inside the limits", [inside]);
    }
    Some(table)
}
