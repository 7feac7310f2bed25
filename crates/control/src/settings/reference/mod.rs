//! The section `[reference]`.

#[macro_use]
mod kinds;

mod build;
mod flat;
mod joints;
mod manoeuvre;
mod path;
mod through;
mod tool;

pub use build::Reference;
pub use flat::{AngleSettings, PlanarSettings, PvtolSettings, TwoMassesSettings};
pub use joints::{
    JointTable, JointsSettings, LegSettings, RestSettings, SineSettings, TransferSettings,
};
pub use manoeuvre::{
    BarrelRollSettings, FlipSettings, HelixSettings, LandingSettings, TakeoffSettings,
};
pub use path::{LineSettings, PathSettings};
pub use through::{MinimumSnapPointSettings, MinimumSnapSettings, SampledSettings};
pub use tool::ToolSettings;

use serde::Deserialize;

use super::{SettingsError, finite, not_negative, positive};
use crate::trajectory::AttitudeMode;

kinds! {
    /// The section `[reference]`: `kind` and the keys of that kind.
    ///
    /// Deserialised as a whole it is an internally tagged enumeration, whose errors have no position in the text. To get
    /// positions, read `kind` first and the other keys as the structure of that kind.
    ReferenceSettings {
        /// Standing still.
        Hover(HoverSettings) = "hover",
        /// Straight up.
        Takeoff(TakeoffSettings) = "takeoff",
        /// Straight down.
        Landing(LandingSettings) = "landing",
        /// A horizontal circle.
        Circle(HelixSettings) = "circle",
        /// A helix about the vertical.
        Helix(HelixSettings) = "helix",
        /// Sinusoids along the axes.
        Lissajous(LissajousSettings) = "lissajous",
        /// A vertical circle.
        Loop(LoopSettings) = "loop",
        /// A turn by 360 degrees in a hop.
        Flip(FlipSettings) = "flip",
        /// A roll by 360 degrees along a corkscrew.
        BarrelRoll(BarrelRollSettings) = "barrel_roll",
        /// From point to point.
        Waypoints(WaypointsSettings) = "waypoints",
        /// Through points without stopping.
        MinimumSnap(MinimumSnapSettings) = "minimum_snap",
        /// A path from a file.
        Sampled(SampledSettings) = "sampled",
        /// Position and attitude on their own.
        Independent(IndependentSettings) = "independent",
        /// The setpoints that the backend delivers.
        Recorded(RecordedSettings) = "recorded",
        /// A system at rest.
        Rest(RestSettings) = "rest",
        /// Sinusoids of joints.
        Joints(JointsSettings) = "joints",
        /// Joints from rest to rest.
        Transfer(TransferSettings) = "transfer",
        /// A body follows a path in the world.
        Tool(ToolSettings) = "tool",
        /// Two masses with a spring.
        TwoMasses(TwoMassesSettings) = "two_masses",
        /// The planar aircraft.
        Pvtol(PvtolSettings) = "pvtol",
        /// A body in a plane.
        Planar(PlanarSettings) = "planar",
    }
}

/// `kind = "hover"`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HoverSettings {
    /// Where, m. Default: the origin.
    #[serde(default)]
    pub position: [f64; 3],
    /// Yaw, degrees. This or `attitude_deg`; default 0.
    pub yaw_deg: Option<f64>,
    /// Roll, pitch and yaw (turned about z, then y, then x), degrees: a tilted hover needs a fully actuated vehicle.
    pub attitude_deg: Option<[f64; 3]>,
}

/// `kind = "lissajous"`: `r_i = offset_i + amplitude_i sin(angular_frequency_i t + phase_i)`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LissajousSettings {
    /// Amplitudes, m.
    pub amplitude: [f64; 3],
    /// Angular frequencies, rad/s.
    pub angular_frequency: [f64; 3],
    /// Phases, rad. Default 0.
    #[serde(default)]
    pub phase: [f64; 3],
    /// Centre, m. Default: the origin.
    #[serde(default)]
    pub offset: [f64; 3],
    /// Yaw rate, rad/s. Default 0.
    #[serde(default)]
    pub yaw_rate: f64,
    /// `thrust` or `level`. Default `thrust`, or `level` for a fully actuated vehicle.
    pub posture: Option<AttitudeMode>,
    /// Height above the centre of mass, along body z, of the point that follows the path (shifted up by the same height), m. Default: the
    /// height at which the vehicle can follow the path exactly, 0 if there is none.
    pub point_height: Option<f64>,
}

/// `kind = "loop"`: a vertical circle from its lowest point, rest to rest.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopSettings {
    /// Radius, m, > 0.
    pub radius: f64,
    /// Time of the turn, s, > 0.
    pub duration: f64,
    /// When it starts, s. Default 0.
    #[serde(default)]
    pub start: f64,
    /// Lowest point, m. Default: the origin.
    #[serde(default)]
    pub position: [f64; 3],
    /// Horizontal direction in which it starts, degrees from x. Default 0.
    #[serde(default)]
    pub heading_deg: f64,
    /// `thrust` (turns over) or `level`. Default `thrust`.
    pub posture: Option<AttitudeMode>,
    /// Height above the centre of mass, along body z, of the point that follows the path (shifted up by the same height), m. Default: the
    /// height at which the vehicle can follow the path exactly, 0 if there is none.
    pub point_height: Option<f64>,
}

/// `kind = "waypoints"`: straight legs from rest to rest.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaypointsSettings {
    /// The points, at least one.
    pub points: Vec<WaypointSettings>,
    /// Largest speed on a leg, m/s, > 0. Default 1.
    #[serde(default = "one")]
    pub max_speed: f64,
    /// Largest acceleration along a leg, m/s^2, > 0. Default 1.
    #[serde(default = "one")]
    pub max_acceleration: f64,
    /// Largest yaw rate, rad/s, > 0. Default 1.
    #[serde(default = "one")]
    pub max_yaw_rate: f64,
    /// `thrust` or `level`. Default `thrust`, or `level` for a fully actuated vehicle.
    pub posture: Option<AttitudeMode>,
    /// Height above the centre of mass, along body z, of the point that follows the path (shifted up by the same height), m. Default: the
    /// height at which the vehicle can follow the path exactly, 0 if there is none.
    pub point_height: Option<f64>,
}

/// One of the `points`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaypointSettings {
    /// Where, m.
    pub position: [f64; 3],
    /// Yaw there, degrees. Default 0.
    #[serde(default)]
    pub yaw_deg: f64,
    /// How long to stay, s, >= 0. Default 0.
    #[serde(default)]
    pub hold: f64,
}

fn one() -> f64 {
    1.0
}

/// `kind = "independent"`: for fully actuated vehicles.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndependentSettings {
    /// Amplitudes of the position, m. Default 0.
    #[serde(default)]
    pub amplitude: [f64; 3],
    /// Its angular frequencies, rad/s. Default 0.
    #[serde(default)]
    pub angular_frequency: [f64; 3],
    /// Its phases, rad. Default 0.
    #[serde(default)]
    pub phase: [f64; 3],
    /// Its centre, m. Default: the origin.
    #[serde(default)]
    pub offset: [f64; 3],
    /// Amplitudes of roll, pitch, yaw, degrees. Default 0.
    #[serde(default)]
    pub attitude_amplitude_deg: [f64; 3],
    /// Their angular frequencies, rad/s. Default 0.
    #[serde(default)]
    pub attitude_angular_frequency: [f64; 3],
    /// Their phases, rad. Default 0.
    #[serde(default)]
    pub attitude_phase: [f64; 3],
    /// Constant yaw rate, in addition, rad/s. Default 0.
    #[serde(default)]
    pub yaw_rate: f64,
}

/// `kind = "recorded"`.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedSettings {
    /// The attitude for setpoints without one: `thrust` or `level`. Default `thrust`, or `level` for a
    /// fully actuated vehicle.
    pub posture: Option<AttitudeMode>,
}

impl ReferenceSettings {
    /// The names of the kinds for systems, see [`build_for_system`](Self::build_for_system).
    pub const SYSTEM_KINDS: [&'static str; 7] = [
        "rest",
        "joints",
        "transfer",
        "tool",
        "two_masses",
        "pvtol",
        "planar",
    ];

    /// Checks everything that does not depend on the vehicle.
    ///
    /// # Errors
    /// The first invalid key.
    pub fn validate(&self) -> Result<(), SettingsError> {
        match self {
            Self::Hover(s) => s.validate(),
            Self::Lissajous(s) => s.validate(),
            Self::Loop(s) => s.validate(),
            Self::Waypoints(s) => s.validate(),
            Self::MinimumSnap(s) => s.validate(),
            Self::Circle(s) => s.validate(false),
            Self::Helix(s) => s.validate(true),
            Self::Takeoff(s) => s.validate(),
            Self::Landing(s) => s.validate(),
            Self::Flip(s) => s.validate(),
            Self::BarrelRoll(s) => s.validate(),
            Self::Independent(s) => s.validate(),
            Self::Rest(s) => s.validate(),
            Self::Joints(s) => s.validate(),
            Self::Transfer(s) => s.validate(),
            Self::Tool(s) => s.validate(),
            Self::TwoMasses(s) => s.validate(),
            Self::Pvtol(s) => s.validate(),
            Self::Planar(s) => s.validate(),
            Self::Sampled(s) => s.validate(),
            Self::Recorded(_) => Ok(()),
        }
    }
}

impl HoverSettings {
    fn validate(&self) -> Result<(), SettingsError> {
        finite("position", &self.position)?;
        finite("yaw_deg", self.yaw_deg.as_slice())?;
        if let Some(attitude) = &self.attitude_deg {
            finite("attitude_deg", attitude)?;
            if self.yaw_deg.is_some() {
                return Err(SettingsError::new(
                    "yaw_deg",
                    "expected yaw_deg or attitude_deg, found both",
                ));
            }
        }
        Ok(())
    }
}

impl LissajousSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        finite("amplitude", &self.amplitude)?;
        finite("angular_frequency", &self.angular_frequency)?;
        finite("phase", &self.phase)?;
        finite("offset", &self.offset)?;
        finite("point_height", self.point_height.as_slice())?;
        finite("yaw_rate", &[self.yaw_rate])
    }
}

impl LoopSettings {
    fn validate(&self) -> Result<(), SettingsError> {
        positive("radius", self.radius)?;
        positive("duration", self.duration)?;
        not_negative("start", self.start)?;
        finite("position", &self.position)?;
        finite("point_height", self.point_height.as_slice())?;
        finite("heading_deg", &[self.heading_deg])
    }
}

impl WaypointsSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        if self.points.is_empty() {
            return Err(SettingsError::new(
                "points",
                "expected at least one point, found none",
            ));
        }
        for (i, point) in self.points.iter().enumerate() {
            finite(&format!("points.{i}.position"), &point.position)?;
            finite(&format!("points.{i}.yaw_deg"), &[point.yaw_deg])?;
            not_negative(&format!("points.{i}.hold"), point.hold)?;
        }
        finite("point_height", self.point_height.as_slice())?;
        positive("max_speed", self.max_speed)?;
        positive("max_acceleration", self.max_acceleration)?;
        positive("max_yaw_rate", self.max_yaw_rate)
    }
}

impl IndependentSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        finite("amplitude", &self.amplitude)?;
        finite("angular_frequency", &self.angular_frequency)?;
        finite("phase", &self.phase)?;
        finite("offset", &self.offset)?;
        finite("attitude_amplitude_deg", &self.attitude_amplitude_deg)?;
        finite(
            "attitude_angular_frequency",
            &self.attitude_angular_frequency,
        )?;
        finite("attitude_phase", &self.attitude_phase)?;
        finite("yaw_rate", &[self.yaw_rate])
    }
}
