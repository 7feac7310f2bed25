//! Decodes values: numbers, strings and arrays here; tables and enumerations, which contain values again, in the
//! submodules.

mod table;
mod variant;

use fly_control::settings::OR_INFINITE;
use serde::de::{self, DeserializeSeed, IntoDeserializer, SeqAccess, Unexpected, Visitor};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::diagnostic::list;
use super::Problems;
use super::problem::{Kind, Problem};
pub(super) use table::TableDecoder;
use variant::VariantDecoder;

/// Decodes any value.
pub(super) struct ValueDecoder<'a, 'i> {
    pub(super) value: &'a Spanned<DeValue<'i>>,
    /// The key or index of the value.
    pub(super) path: String,
    /// Whether its numbers may be infinite.
    pub(super) infinite: bool,
    pub(super) problems: &'a Problems,
}

impl ValueDecoder<'_, '_> {
    /// Runs `read` and adds this value's place and name to its error.
    pub(super) fn locate<T>(
        self,
        read: impl FnOnce(&Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let before = self.problems.borrow().len();
        let result = read(&self).map_err(|error| error.at(&self.value.span()).below(&self.path));
        for problem in &mut self.problems.borrow_mut()[before..] {
            problem.path.insert(0, self.path.clone());
        }
        result
    }

    fn number(&self) -> Option<Result<f64, Problem>> {
        let (text, number) = match self.value.get_ref() {
            DeValue::Integer(integer) => {
                let whole = i64::from_str_radix(integer.as_str(), integer.radix()).ok()?;
                (integer.as_str(), whole as f64)
            }
            DeValue::Float(float) => (float.as_str(), float.as_str().parse().ok()?),
            _ => return None,
        };
        let allowed = number.is_finite() || self.infinite && number.is_infinite();
        Some(if allowed {
            Ok(number)
        } else {
            Err(Problem::new(Kind::NotFinite {
                found: text.to_owned(),
            }))
        })
    }
}

impl<'de> de::Deserializer<'de> for ValueDecoder<'_, '_> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.locate(|this| match this.value.get_ref() {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Boolean(value) => visitor.visit_bool(*value),
            DeValue::Integer(integer) => {
                match i64::from_str_radix(integer.as_str(), integer.radix()) {
                    Ok(value) => visitor.visit_i64(value),
                    Err(_) => Err(Problem::new(Kind::WrongType {
                        expected: format!("a number from {} to {}", i64::MIN, i64::MAX),
                        found: integer.to_string(),
                    })),
                }
            }
            DeValue::Float(_) => match this.number() {
                Some(number) => visitor.visit_f64(number?),
                None => Err(de::Error::invalid_type(
                    Unexpected::Other("a number that cannot be read"),
                    &visitor,
                )),
            },
            DeValue::Datetime(_) => Err(de::Error::invalid_type(
                Unexpected::Other("a date or time"),
                &visitor,
            )),
            DeValue::Array(array) => {
                let mut access = ArrayAccess {
                    elements: array.iter().enumerate().collect(),
                    infinite: this.infinite,
                    problems: this.problems,
                };
                let value = visitor.visit_seq(&mut access)?;
                // A visitor that stops after three numbers would ignore a fourth.
                match access.elements.len() {
                    0 => Ok(value),
                    left => Err(Problem::new(Kind::WrongLength {
                        expected: array.len() - left,
                        found: array.len(),
                    })),
                }
            }
            DeValue::Table(table) => this.table(table).deserialize_any(visitor),
        })
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.number() {
            Some(number) => self.locate(|_| visitor.visit_f64(number?)),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        if let DeValue::Array(array) = self.value.get_ref()
            && array.len() != length
        {
            let found = array.len();
            return self.locate(|_| {
                Err(Problem::new(Kind::WrongLength {
                    expected: length,
                    found,
                }))
            });
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        let infinite = self.infinite || name == OR_INFINITE;
        visitor.visit_newtype_struct(Self { infinite, ..self })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match self.value.get_ref() {
            DeValue::Table(table) => {
                self.locate(|this| this.table(table).deserialize_struct(name, fields, visitor))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        self.locate(|this| match this.value.get_ref() {
            DeValue::String(text) => {
                let name: de::value::StrDeserializer<'_, Problem> =
                    text.as_ref().into_deserializer();
                visitor.visit_enum(name)
            }
            DeValue::Table(table) => match table.iter().next() {
                Some((key, value)) if table.len() == 1 => visitor.visit_enum(VariantDecoder {
                    key,
                    value,
                    problems: this.problems,
                }),
                _ => Err(Problem::new(Kind::WrongType {
                    expected: format!("a table with one key, {}", list(variants)),
                    found: format!("{} keys", table.len()),
                })),
            },
            _ => Err(de::Error::invalid_type(
                unexpected(this.value.get_ref()),
                &"a string",
            )),
        })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 char str string bytes byte_buf unit unit_struct
        seq tuple_struct map identifier ignored_any
    }
}

impl<'a, 'i> ValueDecoder<'a, 'i> {
    fn table(&self, table: &'a DeTable<'i>) -> TableDecoder<'a, 'i> {
        TableDecoder {
            table,
            span: self.value.span(),
            ignored: &[],
            problems: self.problems,
        }
    }
}

pub(super) fn unexpected<'a>(value: &'a DeValue<'_>) -> Unexpected<'a> {
    match value {
        DeValue::String(text) => Unexpected::Str(text),
        DeValue::Boolean(value) => Unexpected::Bool(*value),
        DeValue::Array(_) => Unexpected::Seq,
        DeValue::Table(_) => Unexpected::Map,
        DeValue::Integer(_) | DeValue::Float(_) => Unexpected::Other("a number"),
        DeValue::Datetime(_) => Unexpected::Other("a date or time"),
    }
}

struct ArrayAccess<'a, 'i> {
    /// Remaining elements, taken from the front.
    elements: Vec<(usize, &'a Spanned<DeValue<'i>>)>,
    infinite: bool,
    problems: &'a Problems,
}

impl<'de> SeqAccess<'de> for ArrayAccess<'_, '_> {
    type Error = Problem;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Problem> {
        if self.elements.is_empty() {
            return Ok(None);
        }
        let (index, value) = self.elements.remove(0);
        seed.deserialize(ValueDecoder {
            value,
            path: index.to_string(),
            infinite: self.infinite,
            problems: self.problems,
        })
        .map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}
