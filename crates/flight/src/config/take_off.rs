//! `flight.take_off`: `true`, `false`, or a height.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// Whether an armed vehicle that stands takes off by itself before it is commanded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum TakeOff {
    /// It does not: the reference lifts it.
    #[default]
    None,
    /// To the height at which the reference begins.
    ToReference,
    /// To this height above where it stands, m.
    To(f64),
}

impl<'de> Deserialize<'de> for TakeOff {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Key)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for TakeOff {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TakeOff".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["boolean", "number"] })
    }
}

/// Highest take-off, m.
const HIGHEST: f64 = 1000.0;

struct Key;

impl Visitor<'_> for Key {
    type Value = TakeOff;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, or a height in m")
    }

    fn visit_bool<E: Error>(self, wanted: bool) -> Result<TakeOff, E> {
        Ok(if wanted {
            TakeOff::ToReference
        } else {
            TakeOff::None
        })
    }

    fn visit_f64<E: Error>(self, height: f64) -> Result<TakeOff, E> {
        if height > 0.0 && height <= HIGHEST {
            return Ok(TakeOff::To(height));
        }
        Err(E::custom(format_args!(
            "expected true, false, or a height of more than 0, at most {HIGHEST} m, found {height}"
        )))
    }

    #[allow(clippy::cast_precision_loss)] // heights are small
    fn visit_i64<E: Error>(self, height: i64) -> Result<TakeOff, E> {
        self.visit_f64(height as f64)
    }

    #[allow(clippy::cast_precision_loss)]
    fn visit_u64<E: Error>(self, height: u64) -> Result<TakeOff, E> {
        self.visit_f64(height as f64)
    }
}
