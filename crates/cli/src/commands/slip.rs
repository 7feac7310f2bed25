//! Checks that the reference of a system that rolls does not slip.

use fly_control::{SystemPoint, Trajectory};
use fly_mechanics::System;
use fly_mechanics::multibody::Workspace;
use fly_mechanics::multibody::constraints::{ConstraintWorkspace, EvaluatedState};

use super::sampling::{Worst, instants};
use crate::config::Configuration;
use crate::telemetry::significant;

/// A slip up to this is a rounding error of the reference, m/s or rad/s.
const ROUNDING: f64 = 1e-3;

/// The worst slip along a reference, in words; `None` if everything rolls.
pub(super) fn slip(
    configuration: &Configuration,
    system: &System,
    trajectory: &mut dyn Trajectory<SystemPoint>,
) -> Option<String> {
    let model = &system.model;
    if system.rolling.is_empty() {
        return None;
    }
    // The controller was built with the same constraints.
    let set = system.constraints().build(model).ok()?;
    let (mut at, mut workspace) = (ConstraintWorkspace::new(&set), Workspace::new(model));
    let names = system.rolling.iter().map(|rolling| &rolling.name);
    let mut worst: Vec<_> = (names.filter_map(|name| set.id(name)))
        .map(|id| (id, Worst::NONE))
        .collect();
    trajectory.restart();
    let (sampled, instants) = instants(configuration, trajectory.duration());
    let mut point = SystemPoint::new(model);
    for time in instants {
        // Why there is no point is said where the forces are checked.
        trajectory.at(time, &mut point).ok()?;
        let (x, xi) = (&point.configuration, &point.velocity);
        let state = EvaluatedState::new(model, &mut workspace, x, xi, time);
        at.update(&set, &state);
        for (id, worst) in &mut worst {
            let rows = set.rows(*id);
            worst.meet(at.rate().rows(rows.start, rows.len()).amax(), time);
        }
    }
    let (id, Worst { value, time }) =
        (worst.into_iter()).max_by(|a, b| a.1.value.total_cmp(&b.1.value))?;
    // A NaN is no rolling.
    let rolls = value <= ROUNDING;
    (!rolls).then(|| {
        let (name, speed) = (set.name(id), significant(value, 3));
        format!("{sampled}: slips by {speed} (m/s, rad/s) at `{name}`, which rolls, at {time:.2} s")
    })
}
