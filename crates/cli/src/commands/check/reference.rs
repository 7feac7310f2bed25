//! Can the vehicle follow the reference inside the limits of its inputs?

use fly_control::inputs::{REACH, ReferenceInputs};
use fly_control::{Reference, ReferencePoint, Trajectory};
use fly_mechanics::Vehicle;

use super::Findings;
use super::sampling::{Worst, instants};
use crate::config::{ConfigError, Configuration};
use crate::telemetry::significant;

/// A vehicle that misses less than this part of a wrench still follows: a disturbance of 10 % of its weight, as wind would be.
const NEARLY: f64 = 0.1;

pub(super) fn check(
    configuration: &Configuration,
    vehicle: &Vehicle,
    findings: &mut Findings,
) -> Result<(), ConfigError> {
    match configuration.build_reference(vehicle)? {
        Reference::Recorded(_) => findings.fine("reference", "recorded: what the backend delivers"),
        Reference::Planned(mut trajectory) => {
            planned(configuration, vehicle, trajectory.as_mut(), findings);
        }
    }
    Ok(())
}

fn planned(
    configuration: &Configuration,
    vehicle: &Vehicle,
    trajectory: &mut dyn Trajectory,
    findings: &mut Findings,
) {
    let inputs = ReferenceInputs::new(vehicle);
    let (end, instants) = instants(configuration, trajectory.duration());
    let (mut missing, mut excess) = (Worst::NONE, Worst::NONE);
    let mut point = ReferencePoint::default();
    for time in instants {
        if let Err(error) = trajectory.at(time, &mut point) {
            findings.problem("reference", error);
            return;
        }
        let needed = inputs.at(&point);
        missing.meet(needed.share(), time);
        let excess_now = vehicle.rotors.limits().violation(needed.input.as_slice());
        excess.meet(excess_now, time);
    }
    let sampled = format!("{end} s looked at");
    // Not above, so that what is not a number is too much.
    let reached = missing.value <= REACH;
    if !reached {
        let share = significant(100.0 * missing.value, 2);
        let when = missing.time;
        let finding = format!(
            "{sampled}: the inputs cannot make {share} % of the wrench that it needs at {when:.2} s"
        );
        if missing.value <= NEARLY {
            findings.warning(
                "reference",
                format_args!("{finding}: it is followed nearly, not exactly"),
            );
        } else {
            findings.problem("reference", finding);
        }
    }
    if excess.value > 0.0 {
        findings.warning(
            "reference",
            format_args!(
                "{sampled}: needs inputs {:.2} N beyond the limits at {:.2} s",
                excess.value, excess.time
            ),
        );
    } else if reached {
        findings.fine(
            "reference",
            format_args!(
                "{sampled}: inputs stay {:.2} N inside the limits (least at {:.2} s)",
                -excess.value, excess.time
            ),
        );
    }
}
