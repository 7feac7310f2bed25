//! Gains of the baselines.

use serde::Deserialize;

use super::{ApproachSettings, Numbers, SettingsError, not_negative, positive};

/// The gains of one joint: one number for all its degrees of freedom, or a list with one for each.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GainSettings {
    /// N m/rad or N/m, >= 0; in 1/s^2 for `computed_torque`.
    pub stiffness: Numbers,
    /// N m s/rad or N s/m, >= 0; in 1/s for `computed_torque`.
    pub damping: Numbers,
    /// kg m^2 or kg, > 0: for `linear`, which must have it, and no other.
    pub inertia: Option<Numbers>,
}

impl GainSettings {
    /// Checks the numbers; errors name the key below the joint.
    pub(super) fn validate(&self, approach: ApproachSettings) -> Result<(), SettingsError> {
        for (key, numbers) in [("stiffness", &self.stiffness), ("damping", &self.damping)] {
            for number in numbers.as_slice() {
                not_negative(key, *number)?;
            }
        }
        match (&self.inertia, approach) {
            (Some(numbers), ApproachSettings::Linear) => {
                (numbers.as_slice().iter()).try_for_each(|number| positive("inertia", *number))
            }
            (None, ApproachSettings::Linear) => Err(SettingsError::new(
                "inertia",
                "expected the desired inertia beside stiffness and damping, found none",
            )),
            (Some(_), other) => Err(SettingsError::new(
                "inertia",
                format!(
                    "expected none for the approach {}, which uses {} inertia; only the approach linear has a desired inertia",
                    other.name(),
                    if other == ApproachSettings::JointPd {
                        "the model's"
                    } else {
                        "the unit"
                    },
                ),
            )),
            (None, _) => Ok(()),
        }
    }
}
