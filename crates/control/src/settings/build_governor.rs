//! From `[controller.limits]` to a governor.

use fly_mechanics::Vehicle;

use super::{ControllerSettings, GovernorSettings, SettingsError};
use crate::analysis::ClosedLoop;
use crate::governor::{Governor, GovernorLimits, Reach};
use crate::trajectory::AttitudeMode;

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
        let reach = closed.and_then(|closed| Reach::of_loop(closed, vehicle));
        let (Some(usual), Some(reach)) = (usual, reach) else {
            let message = "expected no such section: this vehicle does not come to rest in hover, can move from there only one way, or its law saturates no input";
            return match chosen {
                None => Ok(None),
                Some(_) => Err(SettingsError::new("limits", message)),
            };
        };
        let chosen = chosen.unwrap_or_default();
        let mode = AttitudeMode::of_inputs(vehicle.rotors.input_matrix());
        if mode == AttitudeMode::Level && chosen.tilt_deg.is_some() {
            let message = "expected no such key: this vehicle moves without tilting; `acceleration` limits it";
            return Err(SettingsError::new("tilt_deg", message).inside("limits"));
        }
        let limits = chosen.limits(usual, mode, vehicle.body.gravity().norm());
        let reach = Reach {
            position: chosen.reach.unwrap_or(reach.position),
            ..reach
        };
        Ok(Some(Governor::new(&vehicle.body, mode, limits, reach)))
    }
}
