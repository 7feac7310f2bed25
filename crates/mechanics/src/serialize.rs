//! Serialisation of systems and models with serde: as the text of their description, which preserves the order of the bodies
//! in any format.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::System;
use crate::multibody::Model;

/// As [`System::to_toml`].
impl Serialize for System {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_toml())
    }
}

/// By [`System::from_toml`].
impl<'de> Deserialize<'de> for System {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::from_toml(&text).map_err(|error| {
            let (line, column) = error.line_column(&text);
            de::Error::custom(format_args!("{line}:{column}: {error}"))
        })
    }
}

/// As a [`System`] without actuators.
impl Serialize for Model<f64> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        System::new("model", self.clone()).serialize(serializer)
    }
}

/// The model of a [`System`].
impl<'de> Deserialize<'de> for Model<f64> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        System::deserialize(deserializer).map(|system| system.model)
    }
}
