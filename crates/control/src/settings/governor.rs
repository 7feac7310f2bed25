//! `[controller.limits]`: how fast a vehicle flies to a goal that is far away.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::{SettingsError, positive};
use crate::governor::GovernorLimits;
use crate::trajectory::AttitudeMode;

/// Limits of the reference governor, which leads a vehicle to a distant goal; each has a default that the vehicle can fly.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum GovernorSettings {
    /// The defaults.
    #[default]
    Default,
    /// `false`: the law has the goal, however far it is.
    None,
    /// Some of them set by the user.
    Custom(GovernorLimitSettings),
}

/// The keys of `[controller.limits]`; all are positive.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GovernorLimitSettings {
    /// Horizontal speed, m/s. Default 10.
    pub speed: Option<f64>,
    /// Speed upwards, m/s. Default 3.
    pub climb: Option<f64>,
    /// Speed downwards, m/s. Default 2.
    pub descent: Option<f64>,
    /// Horizontal acceleration, m/s^2. Default: that of the tilt limit; for a vehicle that need not tilt, half of its lateral acceleration.
    pub acceleration: Option<f64>,
    /// Derivative of the acceleration, m/s^3. Default 30.
    pub jerk: Option<f64>,
    /// Tilt, degrees, below 90. Default 35, at most half of the largest tilt that it can hold.
    pub tilt_deg: Option<f64>,
    /// Rate of the heading, degrees/s. Default 90.
    pub yaw_rate_deg: Option<f64>,
    /// The largest distance from the vehicle to the reference that the law is given, m. Default: 1.5 times the error at which inputs saturate.
    pub reach: Option<f64>,
}

impl GovernorLimitSettings {
    fn validate(&self) -> Result<(), SettingsError> {
        let keys = [
            ("speed", self.speed),
            ("climb", self.climb),
            ("descent", self.descent),
            ("acceleration", self.acceleration),
            ("jerk", self.jerk),
            ("tilt_deg", self.tilt_deg),
            ("yaw_rate_deg", self.yaw_rate_deg),
            ("reach", self.reach),
        ];
        for (key, value) in keys {
            value.map_or(Ok(()), |value| positive(key, value))?;
        }
        match self.tilt_deg {
            Some(tilt) if tilt >= 90.0 => Err(SettingsError::new(
                "tilt_deg",
                format!("expected less than 90 degrees, found {tilt}"),
            )),
            _ => Ok(()),
        }
    }

    /// These in place of the usual ones of a vehicle, which tilts to move sideways or keeps the attitude of its goal.
    pub(super) fn limits(
        &self,
        usual: GovernorLimits,
        mode: AttitudeMode,
        gravity: f64,
    ) -> GovernorLimits {
        let tilt = self.tilt_deg.map_or(usual.tilt, f64::to_radians);
        let limits = GovernorLimits {
            speed: self.speed.unwrap_or(usual.speed),
            climb: self.climb.unwrap_or(usual.climb),
            descent: self.descent.unwrap_or(usual.descent),
            jerk: self.jerk.unwrap_or(usual.jerk),
            yaw_rate: self.yaw_rate_deg.map_or(usual.yaw_rate, f64::to_radians),
            tilt,
            ..usual
        };
        let acceleration = match (mode, self.tilt_deg) {
            (AttitudeMode::ThrustAligned, Some(_)) => limits.acceleration_from_tilt(gravity),
            _ => usual.acceleration,
        };
        let acceleration = match (self.acceleration, self.tilt_deg) {
            (Some(chosen), Some(_)) => chosen.min(acceleration),
            (chosen, _) => chosen.unwrap_or(acceleration),
        };
        GovernorLimits {
            acceleration,
            ..limits
        }
    }
}

impl GovernorSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        match self {
            Self::Custom(chosen) => chosen.validate().map_err(|error| error.inside("limits")),
            Self::Default | Self::None => Ok(()),
        }
    }
}

written_as!(GovernorSettings: bool, GovernorLimitSettings);

impl<'de> Deserialize<'de> for GovernorSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LimitsVisitor)
    }
}

struct LimitsVisitor;

impl<'de> Visitor<'de> for LimitsVisitor {
    type Value = GovernorSettings;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a table of limits, or false")
    }

    fn visit_bool<E: Error>(self, limited: bool) -> Result<GovernorSettings, E> {
        Ok(if limited {
            GovernorSettings::Default
        } else {
            GovernorSettings::None
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GovernorSettings, A::Error> {
        GovernorLimitSettings::deserialize(MapAccessDeserializer::new(map))
            .map(GovernorSettings::Custom)
    }
}
