//! From the section `[controller]` to the controllers that people fly multirotors with.

use fly_mechanics::{System, Vehicle};

use super::{AllocationMethod, ApproachSettings, ControllerSettings, PoleSettings, SettingsError};
use crate::baselines::{Multirotor, MultirotorGains, MultirotorLaw};

/// The bandwidth of the observer, rad/s; that of the filter of `indi` is 8 Hz.
const OBSERVER: f64 = 4.0;
const INDI: f64 = 50.0;

impl ControllerSettings {
    pub(super) fn check_multirotor(&self) -> Result<(), SettingsError> {
        // `transport` has no meaning here either, but may stay, so that `approach` alone switches a vehicle's configuration.
        self.refuse("pairs", !self.pairs.is_empty())?;
        self.refuse("gains", !self.gains.is_empty())?;
        let of_cascade = self.approach == ApproachSettings::Cascade;
        if let Some(cascade) = &self.cascade {
            self.refuse("cascade", !of_cascade)?;
            cascade.validate().map_err(|e| e.inside("cascade"))?;
        }
        match &self.poles {
            Some(PoleSettings::Vehicle(poles)) => {
                poles.validate().map_err(|e| e.inside("poles"))?;
                if of_cascade && poles.yaw.damping == 0.0 {
                    let message = "expected a positive damping for the approach cascade, found 0";
                    return Err(SettingsError::new("poles.yaw.damping", message));
                }
                let [p0, p1, p2, p3] = poles.poles(1.0).polynomial;
                // As of Hurwitz, of which positive coefficients are a part: the gains are their ratios.
                if [p0, p1, p2, p3].iter().all(|p| *p > 0.0) {
                    Ok(())
                } else {
                    let message =
                        format!("expected positive coefficients, found {p0}, {p1}, {p2}, {p3}");
                    Err(SettingsError::new("poles.polynomial", message))
                }
            }
            None if self.approach == ApproachSettings::RotorpySe3 => Ok(()),
            _ => Err(SettingsError::new(
                "poles",
                format!(
                    "expected a table with `horizontal` or `polynomial` and `yaw` for the approach {}",
                    self.approach.name()
                ),
            )),
        }
    }

    /// The multirotor's controller.
    pub(super) fn multirotor(&self, system: &System) -> Result<Multirotor, SettingsError> {
        let vehicle = Vehicle::try_from(system.clone()).map_err(|error| {
            let name = self.approach.name();
            let message =
                format!("expected a vehicle of one body for the approach {name}: {error}");
            SettingsError::new("approach", message)
        })?;
        let poles = match &self.poles {
            Some(PoleSettings::Vehicle(poles)) => Some(poles.poles(vehicle.body.inertia().mass())),
            Some(PoleSettings::List(_)) | None => None,
        };
        let gains = poles
            .as_ref()
            .map_or(MultirotorGains::ROTORPY, MultirotorGains::of_poles);
        let law = match (self.approach, &poles) {
            (ApproachSettings::RotorpySe3, _) => MultirotorLaw::RotorpySe3,
            (ApproachSettings::Indi, _) => MultirotorLaw::Indi,
            (ApproachSettings::Cascade, Some(poles)) => {
                MultirotorLaw::Cascade(self.cascade.unwrap_or_default().gains(poles))
            }
            _ => MultirotorLaw::Lee,
        };
        let limits =
            Some(vehicle.rotors.limits()).filter(|_| self.allocation != AllocationMethod::None);
        Ok(Multirotor::new(&vehicle, law, gains, limits))
    }

    /// The bandwidth of the observer, rad/s, which `indi` always has; `None` without one.
    pub fn observer(&self) -> Option<f64> {
        let is_filter = self.approach == ApproachSettings::Indi;
        let usual = if is_filter { INDI } else { OBSERVER };
        match &self.disturbance {
            Some(disturbance) => Some(disturbance.bandwidth.unwrap_or(usual)),
            None => is_filter.then_some(usual),
        }
    }
}
