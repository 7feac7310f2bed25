//! Decodes tables: structures, and maps of any values.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::{self, DeserializeSeed, IntoDeserializer, MapAccess, Visitor};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::Problems;
use super::super::problem::{Kind, Problem};
use super::ValueDecoder;

/// Decodes a table.
pub(in super::super) struct TableDecoder<'a, 'i> {
    pub(in super::super) table: &'a DeTable<'i>,
    pub(in super::super) span: Range<usize>,
    pub(in super::super) ignored: &'a [&'a str],
    pub(in super::super) problems: &'a Problems,
}

impl<'de> de::Deserializer<'de> for TableDecoder<'_, '_> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let access = TableAccess {
            entries: self
                .table
                .iter()
                .filter(|(key, _)| !self.ignored.contains(&key.get_ref().as_ref()))
                .collect(),
            value: None,
            problems: self.problems,
        };
        visitor.visit_map(access)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let (known, unknown): (Vec<_>, Vec<_>) = self
            .table
            .iter()
            .filter(|(key, _)| !self.ignored.contains(&key.get_ref().as_ref()))
            .partition(|(key, _)| fields.contains(&key.get_ref().as_ref()));
        for (key, _) in unknown {
            let problem =
                <Problem as de::Error>::unknown_field(key.get_ref(), fields).at(&key.span());
            self.problems.borrow_mut().push(problem);
        }
        let span = self.span;
        visitor
            .visit_map(TableAccess {
                entries: known,
                value: None,
                problems: self.problems,
            })
            .map_err(|error| error.at(&span))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct TableAccess<'a, 'i> {
    /// Remaining entries, taken from the front.
    entries: Vec<(&'a Spanned<Cow<'i, str>>, &'a Spanned<DeValue<'i>>)>,
    value: Option<(&'a str, &'a Spanned<DeValue<'i>>)>,
    problems: &'a Problems,
}

impl<'de> MapAccess<'de> for TableAccess<'_, '_> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Problem> {
        if self.entries.is_empty() {
            return Ok(None);
        }
        let (key, value) = self.entries.remove(0);
        let name: &str = key.get_ref();
        self.value = Some((name, value));
        let name: de::value::StrDeserializer<'_, Problem> = name.into_deserializer();
        seed.deserialize(name)
            .map(Some)
            .map_err(|error| error.at(&key.span()))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Problem> {
        let (key, value) = self
            .value
            .take()
            .ok_or_else(|| Problem::new(Kind::Other("a value without key".into())))?;
        seed.deserialize(ValueDecoder {
            value,
            path: key.to_owned(),
            infinite: false,
            problems: self.problems,
        })
    }
}
