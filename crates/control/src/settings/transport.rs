//! Transport maps as a user names them.

use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, Error, IntoDeserializer, MapAccess, Visitor};

use super::pair::world;
use super::{SettingsError, finite};
use crate::template::Transport;

/// The transport map of the energy-based approach.
///
/// ```
/// # use fly_control::settings::ControllerSettings;
/// for transport in [
///     r#""joint""#,
///     r#""centred""#,
///     r#"{ map = "adjoint", of = "tool" }"#,
///     r#"{ point = [0.25, 0, 0], of = "lower" }"#,
/// ] {
///     let pair = "{ to = 'lower', stiffness = 25, damping = 8, inertia = 1 }";
///     let settings: ControllerSettings = toml::from_str(&format!("transport = {transport}\npairs = [{pair}]"))?;
///     settings.validate()?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum TransportSettings {
    /// `"joint"`: every joint for itself, [`JointMap`](crate::transport::JointMap).
    Joint,
    /// `"adjoint"`, `"centred"`, or a table that names the pair: [`PairMap`](crate::transport::PairMap).
    Pair(Transport, Option<BodyPairSettings>),
    /// `{ point = [x, y, z], of = "body" }`: [`PointMap`](crate::transport::PointMap) of a point of a body.
    Point([f64; 3], BodyPairSettings),
}

/// A body seen from another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyPairSettings {
    /// The body.
    pub of: String,
    /// The body, or `world`, relative to which it moves. Default `world`.
    pub from: String,
}

impl TransportSettings {
    pub(super) fn validate(&self) -> Result<(), SettingsError> {
        match self {
            Self::Point(point, _) => finite("transport.point", point),
            Self::Joint | Self::Pair(..) => Ok(()),
        }
    }
}

#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
/// That of the only pair.
#[cfg_attr(feature = "schema", schemars(rename = "TransportName"))]
enum Name {
    /// Every joint for itself.
    Joint,
    /// Konz (5.64).
    Adjoint,
    /// About the centre of stiffness, Konz (5.67).
    Centred,
}

#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
/// That of one pair, or of a point of a body.
#[cfg_attr(feature = "schema", schemars(rename = "TransportTable"))]
struct Table {
    /// `adjoint` or `centred`. This, or `point`.
    map: Option<Transport>,
    /// The point of the body, m. This, or `map`.
    point: Option<[f64; 3]>,
    /// The body.
    of: String,
    /// The body, or `world`, relative to which it moves. Default `world`.
    #[serde(default = "world")]
    from: String,
}

written_as!(TransportSettings: Name, Table);

impl<'de> Deserialize<'de> for TransportSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const KEYS: &[&str] = &["map", "point", "of", "from"];
        deserializer.deserialize_struct("transport", KEYS, TransportVisitor)
    }
}

struct TransportVisitor;

impl<'de> Visitor<'de> for TransportVisitor {
    type Value = TransportSettings;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(
            "\"joint\", \"adjoint\", \"centred\", or a table with `map` or `point`, and `of`",
        )
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<TransportSettings, E> {
        let name: StrDeserializer<'_, E> = name.into_deserializer();
        Ok(match Name::deserialize(name)? {
            Name::Joint => TransportSettings::Joint,
            Name::Adjoint => TransportSettings::Pair(Transport::Adjoint, None),
            Name::Centred => TransportSettings::Pair(Transport::Centred, None),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TransportSettings, A::Error> {
        let Table {
            map,
            point,
            of,
            from,
        } = Table::deserialize(MapAccessDeserializer::new(map))?;
        let seen = BodyPairSettings { of, from };
        match (map, point) {
            (Some(map), None) => Ok(TransportSettings::Pair(map, Some(seen))),
            (None, Some(point)) => Ok(TransportSettings::Point(point, seen)),
            (None, None) => Err(Error::custom("expected `map` or `point`, found neither")),
            (Some(_), Some(_)) => Err(Error::custom("expected `map` or `point`, found both")),
        }
    }
}
