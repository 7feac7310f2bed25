//! Decodes enumeration variants that carry values.

use std::borrow::Cow;

use serde::de::{self, DeserializeSeed, EnumAccess, IntoDeserializer, VariantAccess, Visitor};
use toml::Spanned;
use toml::de::DeValue;

use super::super::Problems;
use super::super::problem::Problem;
use super::{ValueDecoder, unexpected};

/// Decodes `{ variant = value }`.
pub(super) struct VariantDecoder<'a, 'i> {
    pub(super) key: &'a Spanned<Cow<'i, str>>,
    pub(super) value: &'a Spanned<DeValue<'i>>,
    pub(super) problems: &'a Problems,
}

impl<'de, 'a, 'i> EnumAccess<'de> for VariantDecoder<'a, 'i> {
    type Error = Problem;
    type Variant = ValueDecoder<'a, 'i>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), Problem> {
        let name: &str = self.key.get_ref();
        let decoder: de::value::StrDeserializer<'_, Problem> = name.into_deserializer();
        let variant = seed
            .deserialize(decoder)
            .map_err(|error| error.at(&self.key.span()))?;
        Ok((
            variant,
            ValueDecoder {
                value: self.value,
                path: name.to_owned(),
                infinite: false,
                problems: self.problems,
            },
        ))
    }
}

impl<'de> VariantAccess<'de> for ValueDecoder<'_, '_> {
    type Error = Problem;

    fn unit_variant(self) -> Result<(), Problem> {
        self.locate(|this| {
            Err(de::Error::invalid_type(
                unexpected(this.value.get_ref()),
                &"no value",
            ))
        })
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Problem> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        de::Deserializer::deserialize_tuple(self, length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        de::Deserializer::deserialize_struct(self, "variant", fields, visitor)
    }
}
