//! The manoeuvres of the section `[reference]`.

use serde::Deserialize;

use crate::settings::{SettingsError, finite, not_negative, positive};
use crate::trajectory::{AttitudeMode, BarrelRoll, Flip, FlipAxis, Helix, Waypoint, Waypoints};

/// `kind = "circle"` and `kind = "helix"`: turns about the vertical, from rest.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HelixSettings {
    /// Radius, m, > 0.
    pub radius: f64,
    /// Time of one turn, s, > 0.
    pub period: f64,
    /// A point of the axis, as high as the beginning, m. Default: the origin.
    #[serde(default)]
    pub center: [f64; 3],
    /// Height gained in one turn, m; a helix only. Default 0.
    #[serde(default)]
    pub climb: f64,
    /// How many turns. Default: without an end.
    pub turns: Option<f64>,
    /// Time from rest to the full speed, and back, s, > 0. Default: the period.
    pub ramp: Option<f64>,
    /// Whether it turns clockwise, seen from above. Default false.
    #[serde(default)]
    pub clockwise: bool,
    /// Where it begins, degrees from x towards y. Default 0.
    #[serde(default)]
    pub start_angle_deg: f64,
    /// Yaw, degrees. Default: along the motion.
    pub yaw_deg: Option<f64>,
    /// `thrust` or `level`. Default `thrust`, or `level` for a fully actuated vehicle.
    pub posture: Option<AttitudeMode>,
    /// Height above the centre of mass, along body z, of the point that follows the path (shifted up by the same height), m. Default: the
    /// height at which the vehicle can follow the path exactly, 0 if there is none.
    pub point_height: Option<f64>,
}

/// `kind = "flip"`: a turn by 360 degrees in a hop.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlipSettings {
    /// Time from rest to rest, s, > 0.
    pub duration: f64,
    /// How far it moves aside, m, > 0. Default: 2 m/s^2 times the square of the duration.
    pub distance: Option<f64>,
    /// Specific thrust while the body is upside-down, m/s^2, > 0. Default 8.
    #[serde(default = "eight")]
    pub inverted_thrust: f64,
    /// `pitch`, along body x, or `roll`, along body y. Default `pitch`.
    #[serde(default)]
    pub axis: FlipAxis,
    /// The direction in which it moves, degrees from x. Default 0.
    #[serde(default)]
    pub heading_deg: f64,
    /// Where it begins, m. Default: the origin.
    #[serde(default)]
    pub position: [f64; 3],
    /// When it starts, s. Default 0.
    #[serde(default)]
    pub start: f64,
}

/// `kind = "barrel_roll"`: a roll by 360 degrees along a corkscrew.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BarrelRollSettings {
    /// Radius, m, > 0.
    pub radius: f64,
    /// How far it goes along the axis, m, >= 0.
    pub distance: f64,
    /// Time from rest to rest, s, > 0.
    pub duration: f64,
    /// Direction of the axis, degrees from x. Default 0.
    #[serde(default)]
    pub heading_deg: f64,
    /// The lowest point, where it begins, m. Default: the origin.
    #[serde(default)]
    pub position: [f64; 3],
    /// When it starts, s. Default 0.
    #[serde(default)]
    pub start: f64,
}

/// `kind = "takeoff"`: straight up, and hover.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakeoffSettings {
    /// How high, m, > 0.
    pub height: f64,
    /// From where, m. Default: the origin.
    #[serde(default)]
    pub position: [f64; 3],
    /// Yaw, degrees. Default 0.
    #[serde(default)]
    pub yaw_deg: f64,
    /// When it starts, s. Default 0.
    #[serde(default)]
    pub start: f64,
    /// Largest speed, m/s, > 0. Default 1.
    #[serde(default = "one")]
    pub max_speed: f64,
    /// Largest acceleration, m/s^2, > 0. Default 1.
    #[serde(default = "one")]
    pub max_acceleration: f64,
}

/// `kind = "landing"`: straight down to the ground.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LandingSettings {
    /// From where, m.
    pub position: [f64; 3],
    /// Height of the origin of the body when it stands, m. Default 0.
    #[serde(default)]
    pub ground: f64,
    /// Yaw, degrees. Default 0.
    #[serde(default)]
    pub yaw_deg: f64,
    /// When it starts, s. Default 0.
    #[serde(default)]
    pub start: f64,
    /// Largest speed, m/s, > 0. Default 0.5.
    #[serde(default = "half")]
    pub max_speed: f64,
    /// Largest acceleration, m/s^2, > 0. Default 0.5.
    #[serde(default = "half")]
    pub max_acceleration: f64,
}

fn one() -> f64 {
    1.0
}

fn half() -> f64 {
    0.5
}

fn eight() -> f64 {
    8.0
}

impl HelixSettings {
    pub(super) fn validate(&self, climbs: bool) -> Result<(), SettingsError> {
        positive("radius", self.radius)?;
        positive("period", self.period)?;
        finite("center", &self.center)?;
        finite("climb", &[self.climb])?;
        if !climbs && self.climb != 0.0 {
            return Err(SettingsError::new(
                "climb",
                "expected kind = \"helix\" beside it, found a circle",
            ));
        }
        finite("start_angle_deg", &[self.start_angle_deg])?;
        finite("yaw_deg", self.yaw_deg.as_slice())?;
        finite("point_height", self.point_height.as_slice())?;
        let ramp = self.ramp.unwrap_or(self.period);
        positive("ramp", ramp)?;
        if let Some(turns) = self.turns {
            positive("turns", turns)?;
            let least = ramp / self.period;
            if turns < least {
                return Err(SettingsError::new(
                    "turns",
                    format!(
                        "expected at least {least}, the ramp of {ramp} s by the period, found {turns}"
                    ),
                ));
            }
        }
        Ok(())
    }

    pub(super) fn path(&self) -> Helix {
        Helix {
            center: self.center.into(),
            radius: self.radius,
            period: self.period,
            climb: self.climb,
            turns: self.turns,
            ramp: self.ramp.unwrap_or(self.period),
            clockwise: self.clockwise,
            start_angle: self.start_angle_deg.to_radians(),
            yaw: self.yaw_deg.map(f64::to_radians),
        }
    }
}

impl FlipSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        positive("duration", self.duration)?;
        positive("distance", self.distance())?;
        positive("inverted_thrust", self.inverted_thrust)?;
        finite("heading_deg", &[self.heading_deg])?;
        finite("position", &self.position)?;
        not_negative("start", self.start)
    }

    fn distance(&self) -> f64 {
        self.distance.unwrap_or(2.0 * self.duration * self.duration)
    }

    pub(super) fn path(&self, gravity: f64) -> Flip {
        Flip {
            position: self.position.into(),
            heading: self.heading_deg.to_radians(),
            distance: self.distance(),
            duration: self.duration,
            start: self.start,
            inverted_thrust: self.inverted_thrust,
            gravity,
            axis: self.axis,
        }
    }
}

impl BarrelRollSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        positive("radius", self.radius)?;
        not_negative("distance", self.distance)?;
        positive("duration", self.duration)?;
        finite("heading_deg", &[self.heading_deg])?;
        finite("position", &self.position)?;
        not_negative("start", self.start)
    }

    pub(super) fn path(&self) -> BarrelRoll {
        BarrelRoll {
            position: self.position.into(),
            heading: self.heading_deg.to_radians(),
            radius: self.radius,
            distance: self.distance,
            duration: self.duration,
            start: self.start,
        }
    }
}

impl TakeoffSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        positive("height", self.height)?;
        finite("position", &self.position)?;
        finite("yaw_deg", &[self.yaw_deg])?;
        not_negative("start", self.start)?;
        positive("max_speed", self.max_speed)?;
        positive("max_acceleration", self.max_acceleration)
    }

    pub(super) fn path(&self) -> Waypoints {
        let from = Waypoint {
            position: self.position.into(),
            yaw: self.yaw_deg.to_radians(),
            hold: self.start,
        };
        let top = self.position[2] + self.height;
        Waypoints::vertical(from, top, self.max_speed, self.max_acceleration)
    }
}

impl LandingSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        finite("position", &self.position)?;
        finite("ground", &[self.ground])?;
        if self.ground >= self.position[2] {
            let (ground, height) = (self.ground, self.position[2]);
            return Err(SettingsError::new(
                "ground",
                format!("expected less than the height {height} of position, found {ground}"),
            ));
        }
        finite("yaw_deg", &[self.yaw_deg])?;
        not_negative("start", self.start)?;
        positive("max_speed", self.max_speed)?;
        positive("max_acceleration", self.max_acceleration)
    }

    pub(super) fn path(&self) -> Waypoints {
        let from = Waypoint {
            position: self.position.into(),
            yaw: self.yaw_deg.to_radians(),
            hold: self.start,
        };
        Waypoints::vertical(from, self.ground, self.max_speed, self.max_acceleration)
    }
}
