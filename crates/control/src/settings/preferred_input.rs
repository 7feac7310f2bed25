//! What redundant inputs are while they make no difference.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

/// The input that redundant inputs keep to where accelerations leave them a choice, see [`Law`](crate::law::Law).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum PreferredInput {
    /// `"hover"`: the input that holds a vehicle level, or a system at rest in its neutral configuration, as far from all limits as it can be.
    #[default]
    Hover,
    /// `"previous"`: that of the step before, at first that of `"hover"`. Changes least, but keeps what limits once made of it.
    Previous,
    /// A number for each input, in its unit.
    Each(Vec<f64>),
}

/// The words.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[allow(dead_code, reason = "only its schema is used")]
enum Word {
    /// What holds a vehicle level, or a system at rest, as far from all limits as it can be.
    Hover,
    /// That of the step before.
    Previous,
}

written_as!(PreferredInput: Word, Vec<f64>);

impl<'de> Deserialize<'de> for PreferredInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PreferredInputVisitor;
        impl<'de> Visitor<'de> for PreferredInputVisitor {
            type Value = PreferredInput;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("`hover`, `previous` or a list with a number for each input")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<PreferredInput, E> {
                match name {
                    "hover" => Ok(PreferredInput::Hover),
                    "previous" => Ok(PreferredInput::Previous),
                    _ => Err(E::unknown_variant(name, &["hover", "previous"])),
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<PreferredInput, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = seq.next_element()? {
                    numbers.push(number);
                }
                Ok(PreferredInput::Each(numbers))
            }
        }
        deserializer.deserialize_any(PreferredInputVisitor)
    }
}
