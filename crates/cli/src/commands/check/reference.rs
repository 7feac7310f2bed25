//! Checks that the reference can be followed within the limits of the inputs.

use fly_control::inputs::{FORCE_TOLERANCE, ReferenceInput, ReferenceInputs};
use fly_control::plant::SystemPlant;
use fly_control::trajectory::preview;
use fly_control::{Controller, Reference, ReferencePoint, SystemPoint, Trajectory};
use fly_flight::envelope::Exceeded;
use fly_flight::supervisor::{Limit, Response};
use fly_mechanics::{Polytope, System, Vehicle};

use super::Findings;
use crate::commands::sampling::{Worst, instants};
use crate::commands::slip::slip;
use crate::config::{ConfigError, Configuration};
use crate::telemetry::significant;

/// A vehicle that misses less than this fraction of the force still follows: like a disturbance of 10 % of its weight,
/// such as wind.
const NEARLY: f64 = 0.1;

/// A reference that ends no further than this below the ground lands, m.
const BELOW: f64 = 0.3;

/// For a vehicle.
pub(super) fn check(
    configuration: &Configuration,
    vehicle: &Vehicle,
    findings: &mut Findings,
) -> Result<(), ConfigError> {
    match configuration.build_reference(vehicle)? {
        Reference::Recorded(_) => {
            findings.passed("reference", "recorded: the setpoints of the backend");
        }
        Reference::Planned(mut trajectory) => {
            let mut inputs = ReferenceInputs::new(vehicle);
            let mut point = ReferencePoint::default();
            let duration = trajectory.duration();
            if configuration.backend.plugin != "replay" {
                configuration.check_end(duration)?;
            }
            let needed = |time| {
                trajectory
                    .at(time, &mut point)
                    .map_err(|error| error.to_string())?;
                Ok(inputs.at(&point))
            };
            let forces = ["wrench", "N"];
            let limits = vehicle.rotors.limits();
            look(configuration, limits, forces, duration, needed, findings);
            within_limits(configuration, &mut *trajectory, findings);
        }
    }
    Ok(())
}

/// Whether a reference whose place is known stays within `[safety.limits]`, which replays do not monitor.
fn within_limits(
    configuration: &Configuration,
    trajectory: &mut dyn Trajectory<ReferencePoint>,
    findings: &mut Findings,
) {
    if configuration.flight.relative || configuration.backend.plugin == "replay" {
        return;
    }
    let fences = configuration.safety.limits.regions();
    let value = |limit, point: &ReferencePoint| {
        let position = point.pose.translation;
        match limit {
            Limit::Height => Some(position.z),
            Limit::Floor => Some(-position.z),
            Limit::Fence(index) => Some(fences.get(index)?.distance(&position)),
            Limit::Speed => Some(point.twist.fixed_rows::<3>(0).norm()),
            Limit::Tilt => Some(point.pose.rotation.matrix()[(2, 2)].clamp(-1.0, 1.0).acos()),
            _ => None,
        }
    };
    trajectory.restart();
    let bounds = configuration.safety.limits.bounds(Response::Hold);
    let mut worst = vec![Worst::NONE; bounds.len()];
    let mut lowest = Worst::NONE;
    let (sampled, instants) = instants(configuration, trajectory.duration());
    let mut point = ReferencePoint::default();
    for time in instants {
        if trajectory.at(time, &mut point).is_err() {
            return;
        }
        lowest.meet(-point.pose.translation.z, time);
        for (bound, worst) in bounds.iter().zip(&mut worst) {
            if let Some(value) = value(bound.limit, &point) {
                worst.meet(value, time);
            }
        }
    }
    if let Some(ground) = configuration.safety.ground_height
        && ground + lowest.value > BELOW
    {
        let finding = format!(
            "{sampled}: is {:.2} m below `safety.ground_height` at {:.2} s",
            ground + lowest.value,
            lowest.time
        );
        findings.warning("", finding);
    }
    for (bound, Worst { value, time }) in bounds.into_iter().zip(worst) {
        if value > bound.max {
            let exceeded = Exceeded {
                bound,
                value,
                diverged: false,
            };
            let finding = format!("{sampled}: {exceeded} (`safety.limits`), at {time:.2} s");
            if bound.then == Some(Response::Warn) || bound.after > 0.0 {
                findings.warning("", finding);
            } else {
                findings.problem("", finding);
            }
        }
    }
}

/// For any system: its law must exist along the whole reference.
pub(super) fn check_system(
    configuration: &Configuration,
    system: &System,
    trajectory: &mut dyn Trajectory<SystemPoint>,
    controller: &mut Controller<SystemPlant>,
    findings: &mut Findings,
) {
    let mut inputs = match ReferenceInputs::of_system(system) {
        Ok(inputs) => inputs,
        Err(error) => return findings.problem("reference", error),
    };
    let mut point = SystemPoint::new(&system.model);
    trajectory.restart();
    let duration = trajectory.duration();
    let needed = |time| {
        trajectory
            .at(time, &mut point)
            .map_err(|error| error.to_string())?;
        let goal = point.as_reference();
        match controller.step(goal.configuration, goal.velocity, &goal) {
            Err(error) => {
                let place = configuration.place_of_step(&error);
                let place = place.map(|(key, place)| format!(" (`{key}`, {place})"));
                Err(format!(
                    "at {time:.2} s: {error}{}",
                    place.unwrap_or_default()
                ))
            }
            Ok(step) if !step.unconstrained.iter().all(|input| input.is_finite()) => {
                Err(format!("at {time:.2} s: no finite input follows it"))
            }
            Ok(_) => Ok(inputs.at(&goal)),
        }
    };
    let forces = ["forces", "N or N m"];
    let limits = system.inputs.limits();
    look(configuration, limits, forces, duration, needed, findings);
    // Where it is infeasible, that is told already.
    for found in preview::too_fast(trajectory, system).unwrap_or_default() {
        findings.warning("", format_args!("{found}"));
    }
    if let Some(slip) = slip(configuration, system, trajectory) {
        findings.problem("rolling", slip);
    }
}

/// Checks the inputs that the reference requires: whether they can generate its forces, (5.80), and whether they are
/// within their limits. `forces` names what they generate, with its unit.
fn look(
    configuration: &Configuration,
    limits: &Polytope,
    [forces, unit]: [&str; 2],
    duration: Option<f64>,
    mut needed: impl FnMut(f64) -> Result<ReferenceInput, String>,
    findings: &mut Findings,
) {
    let (sampled, instants) = instants(configuration, duration);
    let (mut missing, mut excess) = (Worst::NONE, Worst::NONE);
    let mut least_excess = f64::INFINITY;
    for time in instants {
        match needed(time) {
            Err(problem) => return findings.problem("reference", problem),
            Ok(needed) => {
                missing.meet(needed.missing_fraction(), time);
                let violation = limits.violation(needed.input.as_slice());
                excess.meet(violation, time);
                least_excess = least_excess.min(violation);
            }
        }
    }
    // A NaN counts as too much.
    let reached = missing.value <= FORCE_TOLERANCE;
    if !reached {
        let share = significant(100.0 * missing.value, 2);
        let when = missing.time;
        let finding = format!(
            "{sampled}: the inputs cannot make {share} % of the {forces} that it needs at {when:.2} s"
        );
        if missing.value <= NEARLY {
            let finding = format!("{finding}: it is followed nearly, not exactly");
            findings.warning("reference", finding);
        } else {
            findings.problem("reference", finding);
        }
    }
    let Worst { value, time } = excess;
    if limits.rows() > 0 && value > 0.0 {
        let beyond =
            format!("{sampled}: needs inputs {value:.2} {unit} beyond the limits at {time:.2} s");
        // Rounding errors keep nothing from flying.
        if least_excess > FORCE_TOLERANCE {
            let never = format!("{beyond}, and at least {least_excess:.2} {unit} at all times");
            findings.problem("reference", never);
        } else {
            findings.warning("reference", beyond);
        }
    } else if limits.rows() > 0 && reached {
        let inside = -value;
        let inside = format!(
            "{sampled}: inputs stay {inside:.2} {unit} inside the limits (least at {time:.2} s)"
        );
        findings.passed("reference", inside);
    } else if reached {
        findings.passed("reference", sampled);
    }
    match configuration.coarse_samples() {
        Ok(None) => {}
        Ok(Some(coarse)) => findings.warning("", coarse),
        Err(error) => findings.problem("", error),
    }
}
