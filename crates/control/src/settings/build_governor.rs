//! From `[controller.limits]` to a governor.

use fly_mechanics::Vehicle;

use super::{ControllerSettings, GovernorSettings, SettingsError};
use crate::analysis::ClosedLoop;
use crate::governor::{Governor, GovernorLimits, Reach};
use crate::trajectory::AttitudeMode;

/// The error left to the law, relative to the error that saturates the first input: the law still follows with a briefly saturated input. The shipped
/// quadcopter was lost in some of 600 starts from twice that error on.
const BEYOND: f64 = 1.5;
/// The heading error left to the law, degrees: limited inputs sacrifice torque about the vertical first.
const HEADING_REACH: f64 = 60.0;

impl ControllerSettings {
    /// The governor that leads a vehicle to a distant goal, for its loop in hover; `None` if it is switched off, or if the vehicle
    /// cannot hover.
    ///
    /// # Errors
    /// Limits configured for a vehicle that cannot hover, or whose law has no reach.
    pub fn governor(
        &self,
        vehicle: &Vehicle,
        closed: Option<&ClosedLoop>,
    ) -> Result<Option<Governor>, SettingsError> {
        let chosen = match &self.limits {
            GovernorSettings::None => return Ok(None),
            GovernorSettings::Default => None,
            GovernorSettings::Custom(chosen) => Some(*chosen),
        };
        let usual = GovernorLimits::of_vehicle(vehicle)
            .ok()
            .filter(GovernorLimits::are_valid);
        let reach = closed.and_then(|closed| reach(closed, vehicle));
        let (Some(usual), Some(reach)) = (usual, reach) else {
            let message = "expected no such section: this vehicle does not come to rest in hover, or can move from there only one way";
            return match chosen {
                None => Ok(None),
                Some(_) => Err(SettingsError::new("limits", message)),
            };
        };
        let chosen = chosen.unwrap_or_default();
        let mode = AttitudeMode::of_inputs(vehicle.rotors.input_matrix());
        let limits = chosen.limits(usual, mode, vehicle.body.gravity().norm());
        let reach = Reach {
            position: chosen.reach.unwrap_or(reach.position),
            ..reach
        };
        Ok(Some(Governor::new(&vehicle.body, mode, limits, reach)))
    }
}

/// The errors that can be left to the law: not much more than those of position and velocity that alone saturate no
/// input.
fn reach(closed: &ClosedLoop, vehicle: &Vehicle) -> Option<Reach> {
    let limits = vehicle.rotors.limits();
    let [position, velocity] = [0..3, 6..9].map(|of| closed.unsaturated_error(limits, of));
    let is_stable = closed.poles().ok()?.iter().all(|pole| pole.re < 0.0);
    let known = [position, velocity]
        .iter()
        .all(|error| *error > 0.0 && error.is_finite());
    (is_stable && known).then_some(Reach {
        position: BEYOND * position,
        heading: HEADING_REACH.to_radians(),
        time: position / velocity,
    })
}
