//! `[safety.limits]`: what a flight must not exceed, and what follows.

use nalgebra::Vector3;
use serde::Deserialize;

use super::diagnostic::{Diagnostic, Problems};
use super::document::Document;
use super::section::out_of_range;
use crate::envelope::{Bound, Fence};
use crate::supervisor::{Limit, Response};

/// A position jumps by more than a fix of satellite navigation moves an estimate that begins, m.
const JUMP: f64 = 1.0;

/// `[safety.limits]`. Each limit may have a time for which it may be exceeded, and a response; the default is the failsafe of the vehicle.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsSection {
    /// Distance from the reference, m.
    pub position_error: Option<LimitKeys>,
    /// Angle from the reference.
    pub attitude_error: Option<AngleKeys>,
    /// Angle between the body's z axis and the vertical.
    pub tilt: Option<AngleKeys>,
    /// Speed, m/s.
    pub speed: Option<LimitKeys>,
    /// Height, m.
    pub height: Option<HeightKeys>,
    /// Boxes and cylinders; the vehicle must stay inside all of them.
    pub fences: Vec<FenceKeys>,
    /// Velocity in every joint, rad/s or m/s.
    pub joint_speed: Option<LimitKeys>,
    /// How long inputs may be at their limits without interruption, s.
    pub saturated: Option<LimitKeys>,
    /// Speed at which the ground may be touched, m/s. Default: twice `descent_rate`. Its response is `terminate` in simulation and `warn` with a real
    /// vehicle by default.
    pub touchdown: Option<EventKeys>,
    /// Distance by which the measured position may jump against its velocity, m. Default: 1, and a warning.
    pub position_jump: Option<EventKeys>,
}

/// A largest value.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitKeys {
    /// >= 0.
    pub max: f64,
    /// How long it may be exceeded, s.
    #[serde(default)]
    pub after: f64,
    /// What follows.
    pub then: Option<Response>,
}

/// A largest value of what happens in an instant.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventKeys {
    /// >= 0.
    pub max: f64,
    /// What follows.
    pub then: Option<Response>,
}

/// A largest angle.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AngleKeys {
    /// >= 0, degrees.
    pub max_deg: f64,
    /// How long it may be exceeded, s.
    #[serde(default)]
    pub after: f64,
    /// What follows.
    pub then: Option<Response>,
}

/// Heights, m, world frame.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeightKeys {
    /// The smallest.
    pub min: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
    /// What follows.
    pub then: Option<Response>,
}

/// One geofence: either a box or a cylinder.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FenceKeys {
    /// Two corners.
    #[serde(rename = "box")]
    pub corners: Option<BoxKeys>,
    /// A vertical cylinder.
    pub cylinder: Option<CylinderKeys>,
    /// What follows.
    pub then: Option<Response>,
}

/// A box, world frame, m.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoxKeys {
    /// Smallest x, y and z.
    pub min: [f64; 3],
    /// Largest x, y and z.
    pub max: [f64; 3],
}

/// A vertical cylinder, world frame, m.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CylinderKeys {
    /// x and y of its axis. Default: the world's.
    #[serde(default)]
    pub center: [f64; 2],
    /// Its radius.
    pub radius: f64,
    /// Smallest height. Default: any.
    pub min: Option<f64>,
    /// Largest height. Default: any.
    pub max: Option<f64>,
}

/// The keys of a limit of one largest value.
struct Single {
    limit: Limit,
    key: &'static str,
    value: Value,
}

/// A largest value, whatever its unit.
struct Value {
    /// Its key, and what it is multiplied by for SI units.
    key: &'static str,
    scale: f64,
    max: f64,
    after: f64,
    then: Option<Response>,
}

impl LimitKeys {
    fn value(&self) -> Value {
        Value {
            key: "max",
            scale: 1.0,
            max: self.max,
            after: self.after,
            then: self.then,
        }
    }
}

impl EventKeys {
    fn value(&self) -> Value {
        Value {
            key: "max",
            scale: 1.0,
            max: self.max,
            after: 0.0,
            then: self.then,
        }
    }
}

impl AngleKeys {
    fn value(&self) -> Value {
        Value {
            key: "max_deg",
            scale: 1f64.to_radians(),
            max: self.max_deg,
            after: self.after,
            then: self.then,
        }
    }
}

impl LimitsSection {
    /// Those of one value that are given.
    fn singles(&self) -> impl Iterator<Item = Single> + '_ {
        use Limit::{
            AttitudeError, JointSpeed, PositionError, PositionJump, Saturated, Speed, Tilt,
            Touchdown,
        };
        let value = |keys: &Option<LimitKeys>| keys.as_ref().map(LimitKeys::value);
        let event = |keys: &Option<EventKeys>| keys.as_ref().map(EventKeys::value);
        let angle = |keys: &Option<AngleKeys>| keys.as_ref().map(AngleKeys::value);
        let all = [
            (PositionError, "position_error", value(&self.position_error)),
            (Speed, "speed", value(&self.speed)),
            (JointSpeed, "joint_speed", value(&self.joint_speed)),
            (Saturated, "saturated", value(&self.saturated)),
            (Touchdown, "touchdown", event(&self.touchdown)),
            (PositionJump, "position_jump", event(&self.position_jump)),
            (AttitudeError, "attitude_error", angle(&self.attitude_error)),
            (Tilt, "tilt", angle(&self.tilt)),
        ];
        all.into_iter().filter_map(|(limit, key, value)| {
            let value = value?;
            Some(Single { limit, key, value })
        })
    }

    /// The limits that are watched in every step; `usual` follows where nothing is said.
    pub fn bounds(&self, usual: Response) -> Vec<Bound> {
        let mut bounds = Vec::new();
        let mut add = |limit, max: f64, after: f64, then: Option<Response>| {
            let then = Some(then.unwrap_or(usual));
            bounds.push(Bound {
                limit,
                max,
                after,
                then,
            });
        };
        let is_event = |limit| matches!(limit, Limit::Touchdown | Limit::PositionJump);
        for single in self.singles().filter(|single| !is_event(single.limit)) {
            let value = single.value;
            add(
                single.limit,
                value.max * value.scale,
                value.after,
                value.then,
            );
        }
        if let Some(HeightKeys { min, max, then }) = self.height {
            for (limit, most) in [(Limit::Height, max), (Limit::Floor, min.map(|min| -min))] {
                if let Some(most) = most {
                    add(limit, most, 0.0, then);
                }
            }
        }
        for (index, keys) in self.fences.iter().enumerate() {
            add(Limit::Fence(index), 0.0, 0.0, keys.then);
        }
        bounds
    }

    /// That of jumps of the measured position; `usual` follows where nothing is said of what is given.
    pub fn of_jumps(&self, usual: Response) -> Bound {
        let given = self.position_jump.as_ref();
        let (max, then) = given.map_or((JUMP, Response::Warn), |keys| {
            (keys.max, keys.then.unwrap_or(usual))
        });
        Bound {
            limit: Limit::PositionJump,
            max,
            after: 0.0,
            then: Some(then),
        }
    }

    /// The regions that must not be left.
    pub fn regions(&self) -> Vec<Fence> {
        self.fences.iter().filter_map(FenceKeys::fence).collect()
    }

    /// Whether there are limits that need a body that is free in the world; the key of one.
    pub(super) fn of_a_body(&self) -> Option<&'static str> {
        [
            ("tilt", self.tilt.is_some()),
            ("speed", self.speed.is_some()),
            ("height", self.height.is_some()),
            ("fences", !self.fences.is_empty()),
            ("touchdown", self.touchdown.is_some()),
            ("position_jump", self.position_jump.is_some()),
        ]
        .into_iter()
        .find_map(|(key, given)| given.then_some(key))
    }

    /// All responses, each with its key.
    pub(super) fn responses(&self) -> impl Iterator<Item = (String, Response)> + '_ {
        let height = self.height.as_ref().map(|keys| ("height", keys.then));
        let singles = self.singles().map(|single| (single.key, single.value.then));
        let single = singles.chain(height);
        let single = single.map(|(key, then)| (key.to_owned(), then));
        let fences = self.fences.iter().enumerate();
        let fences = fences.map(|(i, keys)| (format!("fences[{i}]"), keys.then));
        let all = single.chain(fences);
        all.filter_map(|(key, then)| Some((format!("safety.limits.{key}.then"), then?)))
    }

    /// Checks the values.
    pub(super) fn validate(&self, document: &Document, problems: &mut Problems) {
        let mut check = |key: &str, value: f64, holds: bool, expected: &str| {
            if !holds {
                let path = format!("safety.limits.{key}");
                problems.push(out_of_range(document, &path, expected, value));
            }
        };
        for single in self.singles() {
            let Single { key, value, .. } = single;
            check(
                &format!("{key}.{}", value.key),
                value.max,
                value.max >= 0.0,
                "expected at least 0",
            );
            check(
                &format!("{key}.after"),
                value.after,
                value.after >= 0.0,
                "expected at least 0 s",
            );
        }
        if let Some(HeightKeys {
            min: Some(min),
            max: Some(max),
            ..
        }) = self.height
        {
            check("height.max", max, max > min, "expected more than `min`");
        }
        for (i, keys) in self.fences.iter().enumerate() {
            if let Some(BoxKeys { min, max }) = &keys.corners {
                for (min, max) in min.iter().zip(max) {
                    check(
                        &format!("fences[{i}].box.max"),
                        *max,
                        max > min,
                        "expected more than `min`",
                    );
                }
            }
            if let Some(cylinder) = &keys.cylinder {
                let key = format!("fences[{i}].cylinder");
                let radius = cylinder.radius;
                check(
                    &format!("{key}.radius"),
                    radius,
                    radius > 0.0,
                    "expected more than 0 m",
                );
                if let (Some(min), Some(max)) = (cylinder.min, cylinder.max) {
                    check(
                        &format!("{key}.max"),
                        max,
                        max > min,
                        "expected more than `min`",
                    );
                }
            }
        }
        for (i, keys) in self.fences.iter().enumerate() {
            if keys.corners.is_some() == keys.cylinder.is_some() {
                let path = format!("safety.limits.fences[{i}]");
                let label = "expected either `box` or `cylinder`";
                let diagnostic = Diagnostic::new(format!("`{path}` is no fence"));
                problems.push(match document.place(&path) {
                    Some(place) => diagnostic.at(place, label),
                    None => diagnostic.note(label),
                });
            }
        }
    }
}

impl FenceKeys {
    fn fence(&self) -> Option<Fence> {
        match (&self.corners, &self.cylinder) {
            (Some(BoxKeys { min, max }), None) => Some(Fence::Box {
                min: Vector3::from(*min),
                max: Vector3::from(*max),
            }),
            (None, Some(cylinder)) => Some(Fence::Cylinder {
                center: cylinder.center,
                radius: cylinder.radius,
                height: [
                    cylinder.min.unwrap_or(f64::NEG_INFINITY),
                    cylinder.max.unwrap_or(f64::INFINITY),
                ],
            }),
            _ => None,
        }
    }
}
