//! Limits on the way to a distant goal, and their sources.

use fly_control::ControllerSettings;
use fly_control::analysis::{ClosedLoop, HoverMargins};
use fly_control::settings::{GovernorLimitSettings, GovernorSettings, SettingsError};
use fly_control::trajectory::AttitudeMode;
use fly_mechanics::Vehicle;

use crate::telemetry::{Table, significant};

/// The tilt, degrees, below which a vehicle's own limit is shown; the default is 35.
const USUAL_TILT: f64 = 34.999;

/// One row for each limit; `None` without a governor.
///
/// # Errors
/// Limits that the vehicle cannot have.
pub(super) fn table(
    settings: &ControllerSettings,
    vehicle: &Vehicle,
    closed: &ClosedLoop,
) -> Result<Option<Table>, SettingsError> {
    // Only controllers with energies of ten parameters have a governor.
    if !settings.is_of_body() {
        return Ok(None);
    }
    let mut table = Table::default();
    let Some(governor) = settings.governor(vehicle, Some(closed))? else {
        table.row(
            "",
            [if settings.limits == GovernorSettings::None {
                "none: `limits = false`"
            } else {
                "none: the vehicle does not come to rest in hover, or can move from there only one way"
            }],
        );
        return Ok(Some(table));
    };
    let (limits, reach) = (governor.limits(), governor.reach().position);
    let chosen = match settings.limits {
        GovernorSettings::Custom(chosen) => chosen,
        GovernorSettings::Default | GovernorSettings::None => GovernorLimitSettings::default(),
    };
    let usual = "usual";
    let tilt = limits.tilt.to_degrees();
    let of_tilt = if tilt < USUAL_TILT {
        "half of what it can hold"
    } else {
        usual
    };
    let across = match HoverMargins::new(vehicle) {
        Ok(margins) if margins.lateral_acceleration.is_some() => {
            "half of its acceleration without tilt"
        }
        _ => "from the tilt limit during the fastest descent",
    };
    let saturated = "1.5 times the error at which inputs saturate";
    let yaw_rate = limits.yaw_rate.to_degrees();
    let tilts =
        AttitudeMode::of_inputs(vehicle.rotors.input_matrix()) == AttitudeMode::ThrustAligned;
    // Otherwise the acceleration alone counts.
    let tilt_counts = tilts && (chosen.tilt_deg.is_some() || chosen.acceleration.is_none());
    for (key, unit, number, chosen, origin) in [
        ("speed", "m/s", limits.speed, chosen.speed, usual),
        ("climb", "m/s", limits.climb, chosen.climb, usual),
        ("descent", "m/s", limits.descent, chosen.descent, usual),
        (
            "acceleration",
            "m/s^2",
            limits.acceleration,
            chosen.acceleration,
            across,
        ),
        ("jerk", "m/s^3", limits.jerk, chosen.jerk, usual),
        ("tilt_deg", "degrees", tilt, chosen.tilt_deg, of_tilt),
        (
            "yaw_rate_deg",
            "degrees/s",
            yaw_rate,
            chosen.yaw_rate_deg,
            usual,
        ),
        ("reach", "m", reach, chosen.reach, saturated),
    ] {
        if key == "tilt_deg" && !tilt_counts {
            continue;
        }
        let origin = chosen.map_or(origin, |_| "as configured");
        table.row(
            key,
            [
                format!("{} {unit}", significant(number, 3)),
                origin.to_owned(),
            ],
        );
    }
    let [speed, acceleration] = governor.reach().largest_motion();
    table.row(
        "within reach",
        [
            format!("{} m/s", significant(speed, 3)),
            format!(
                "and {} m/s^2, of the law alone: a smaller `reach` or slower poles are slower",
                significant(acceleration, 3)
            ),
        ],
    );
    Ok(Some(table))
}
