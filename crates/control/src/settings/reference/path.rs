//! Paths in the world: `path` of the kinds for systems.

use nalgebra::Vector3;
use serde::Deserialize;

use super::manoeuvre::HelixSettings;
use super::through::{MinimumSnapSettings, SampledSettings};
use crate::settings::{
    IndependentSettings, LissajousSettings, SettingsError, WaypointsSettings, finite, not_negative,
    positive,
};
use crate::trajectory::{AttitudeMode, Path, Waypoints};

kinds! {
    /// A path in the world: `kind` and the keys of that kind, as those of vehicles but for `posture`.
    ///
    /// Errors inside know no place in the text, as those of [`ReferenceSettings`](super::ReferenceSettings).
    PathSettings {
        /// Straight, from rest to rest.
        Line(LineSettings) = "line",
        /// Sinusoids along the axes.
        Lissajous(LissajousSettings) = "lissajous",
        /// A horizontal circle.
        Circle(HelixSettings) = "circle",
        /// A helix about the vertical.
        Helix(HelixSettings) = "helix",
        /// From point to point.
        Waypoints(WaypointsSettings) = "waypoints",
        /// Through points without stopping, at most at `max_speed`.
        MinimumSnap(MinimumSnapSettings) = "minimum_snap",
        /// From a file.
        Sampled(SampledSettings) = "sampled",
        /// Position and attitude on their own: only where a whole pose is asked for.
        Independent(IndependentSettings) = "independent",
    }
}

/// `kind = "line"`: straight, from rest to rest.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineSettings {
    /// Where it begins, m. Default: where the body is in the beginning.
    pub from: Option<[f64; 3]>,
    /// Where it ends, m.
    pub to: [f64; 3],
    /// When it starts, s. Default 0.
    #[serde(default)]
    pub start: f64,
    /// How long it takes, s, > 0.
    pub duration: f64,
    /// Yaw, degrees. Default 0.
    #[serde(default)]
    pub yaw_deg: f64,
}

impl LineSettings {
    fn validate(&self) -> Result<(), SettingsError> {
        finite("from", self.from.as_ref().map_or(&[][..], |from| from))?;
        finite("to", &self.to)?;
        not_negative("start", self.start)?;
        positive("duration", self.duration)?;
        finite("yaw_deg", &[self.yaw_deg])
    }
}

impl PathSettings {
    /// The requested attitude mode and point height.
    fn held(&self) -> (Option<AttitudeMode>, Option<f64>) {
        match self {
            Self::Line(_) | Self::Independent(_) => (None, None),
            Self::Lissajous(s) => (s.posture, s.point_height),
            Self::Circle(s) | Self::Helix(s) => (s.posture, s.point_height),
            Self::Waypoints(s) => (s.posture, s.point_height),
            Self::MinimumSnap(s) => (s.posture, s.point_height),
            Self::Sampled(s) => (s.posture, s.point_height),
        }
    }

    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        let own = match self {
            Self::Line(s) => s.validate(),
            Self::Lissajous(s) => s.validate(),
            Self::Circle(s) => s.validate(false),
            Self::Helix(s) => s.validate(true),
            Self::Waypoints(s) => s.validate(),
            Self::MinimumSnap(s) => s.validate(),
            Self::Independent(s) => s.validate(),
            Self::Sampled(s) => s.validate(),
        };
        own.map_err(|error| error.inside("path"))?;
        let (posture, height) = self.held();
        for (key, given) in [
            ("path.posture", posture.is_some()),
            ("path.point_height", height.is_some()),
        ] {
            if given {
                let expected = "expected none: a path alone has no attitude";
                return Err(SettingsError::new(key, expected));
            }
        }
        Ok(())
    }

    /// The path, which starts at `here` unless it specifies a start.
    pub(super) fn path(&self, here: Vector3<f64>) -> Result<Box<dyn Path>, SettingsError> {
        Ok(match self {
            Self::Line(s) => Box::new(Waypoints::line(
                s.from.map_or(here, Vector3::from),
                s.to.into(),
                s.yaw_deg.to_radians(),
                s.start,
                s.duration,
            )),
            Self::Lissajous(s) => Box::new(s.lissajous()),
            Self::Circle(s) | Self::Helix(s) => Box::new(s.path()),
            Self::Waypoints(s) => Box::new(s.path()),
            Self::MinimumSnap(s) => {
                let curve = s.curve().map_err(|error| error.inside("path"))?;
                Box::new(curve.within_speed(s.max_speed))
            }
            Self::Sampled(s) => Box::new(s.path().map_err(|error| error.inside("path"))?),
            Self::Independent(_) => {
                return Err(SettingsError::new(
                    "path.kind",
                    "expected a path of a point, found independent, which moves position and attitude",
                ));
            }
        })
    }
}
