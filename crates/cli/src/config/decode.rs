//! Reads a table into a settings struct with exact places in every error.
//!
//! toml's own deserializer reports one error as text. This one keeps it structured (which key, what was expected, what
//! was found), reports every unknown key of a table at once, refuses arrays that are too long, and numbers that are not
//! finite.

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, EnumAccess, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::diagnostic::{ConfigError, Diagnostic, list, nearest};
use super::document::{Fragment, show_path};

impl Fragment {
    /// Reads the whole table as `T`.
    ///
    /// # Errors
    /// Unknown keys with the nearest valid name, missing keys, wrong types and lengths, numbers that are not finite.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        self.decode_without(&[])
    }

    /// Reads the table as `T` as if the keys of `ignored` were not there.
    ///
    /// # Errors
    /// As for [`decode`](Self::decode).
    pub fn decode_without<T: DeserializeOwned>(&self, ignored: &[&str]) -> Result<T, ConfigError> {
        let table = DeTable::parse(self.text()).map_err(|error| {
            self.diagnostic(
                "not valid TOML",
                &error.span().unwrap_or(0..0),
                error.message(),
            )
        })?;
        let problems = RefCell::new(Vec::new());
        let span = table.span();
        let decoder = TableDecoder {
            table: table.get_ref(),
            span: span.clone(),
            ignored,
            problems: &problems,
        };
        let value = T::deserialize(decoder).map_err(|error| error.at(&span));
        let mut problems = problems.into_inner();
        match value {
            Ok(value) if problems.is_empty() => Ok(value),
            other => {
                problems.extend(other.err());
                let diagnostics: Vec<Diagnostic> = problems
                    .into_iter()
                    .map(|problem| problem.explain(self))
                    .collect();
                Err(diagnostics.into())
            }
        }
    }
}

/// What is wrong, before it has a place in a file.
#[derive(Debug)]
struct Problem {
    kind: Kind,
    /// Keys from the table that is read down to the value.
    path: Vec<String>,
    span: Option<Range<usize>>,
}

#[derive(Debug)]
enum Kind {
    UnknownKey {
        key: String,
        valid: &'static [&'static str],
    },
    UnknownValue {
        found: String,
        valid: &'static [&'static str],
    },
    Missing {
        key: &'static str,
    },
    WrongType {
        expected: String,
        found: String,
    },
    WrongLength {
        expected: usize,
        found: usize,
    },
    NotFinite {
        found: String,
    },
    Other(String),
}

impl Problem {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            path: Vec::new(),
            span: None,
        }
    }

    /// Gives it a place unless it has a better one already.
    fn at(mut self, span: &Range<usize>) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }

    fn below(mut self, key: &str) -> Self {
        self.path.insert(0, key.to_owned());
        self
    }

    fn explain(self, fragment: &Fragment) -> Diagnostic {
        let mut names: Vec<&str> = fragment
            .path()
            .split('.')
            .filter(|part| !part.is_empty())
            .collect();
        names.extend(self.path.iter().map(String::as_str));
        let path = show_path(&names.join("."));
        let join = |key: &str| {
            if path.is_empty() {
                key.to_owned()
            } else {
                format!("{path}.{key}")
            }
        };
        let span = self.span.unwrap_or(0..0);
        let show = |title: String, label: String| fragment.diagnostic(title, &span, label);
        match self.kind {
            Kind::UnknownKey { key, valid } => {
                let diagnostic = show(
                    format!("unknown key `{}`", join(&key)),
                    format!("expected {}", list(valid)),
                );
                hint(diagnostic, &key, valid)
            }
            Kind::UnknownValue { found, valid } => {
                let label = format!(
                    "expected {}",
                    list(&valid.iter().map(|v| format!("\"{v}\"")).collect::<Vec<_>>())
                );
                let diagnostic = show(
                    format!("`{path}` cannot be \"{found}\""),
                    label.replace('`', ""),
                );
                match nearest(&found, valid.iter().copied()) {
                    Some(near) => diagnostic.help(format!("did you mean \"{near}\"?")),
                    None => diagnostic,
                }
            }
            Kind::Missing { key } => show(
                format!("missing key `{}`", join(key)),
                format!("`{key}` must be given in this table"),
            ),
            Kind::WrongType { expected, found } => show(
                format!("`{path}` has the wrong type"),
                format!("expected {expected}, found {found}"),
            ),
            Kind::WrongLength { expected, found } => show(
                format!("`{path}` has the wrong length"),
                format!("expected an array of {expected} values, found one of {found}"),
            ),
            Kind::NotFinite { found } => show(
                format!("`{path}` is not finite"),
                format!("expected a finite number, found {found}"),
            ),
            Kind::Other(message) => show(format!("`{path}` is not valid"), message),
        }
    }
}

/// Adds "did you mean" when a valid key is like the one that was written.
pub(super) fn hint(diagnostic: Diagnostic, key: &str, valid: &[&str]) -> Diagnostic {
    match nearest(key, valid.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)
    }
}

impl std::error::Error for Problem {}

impl de::Error for Problem {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Kind::Other(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(Kind::WrongType {
            expected: humane_expected(&expected.to_string()),
            found: humane_found(found),
        })
    }

    fn invalid_length(found: usize, expected: &dyn Expected) -> Self {
        let expected = humane_expected(&expected.to_string());
        Self::new(Kind::WrongType {
            expected,
            found: format!("an array of {found}"),
        })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(found: &str, valid: &'static [&'static str]) -> Self {
        Self::new(Kind::UnknownValue {
            found: found.to_owned(),
            valid,
        })
    }

    fn unknown_field(key: &str, valid: &'static [&'static str]) -> Self {
        Self::new(Kind::UnknownKey {
            key: key.to_owned(),
            valid,
        })
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(Kind::Missing { key })
    }
}

/// Rust's names of types in the words of someone who writes TOML.
fn humane_expected(expected: &str) -> String {
    match expected {
        "f64" | "f32" => "a number".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, not negative".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "path string" => "a path".to_owned(),
        "a sequence" => "an array".to_owned(),
        "a map" => "a table".to_owned(),
        other if other.starts_with("struct ") => "a table".to_owned(),
        other
            if other.starts_with("an array of length ")
                || other.starts_with("a tuple of size ") =>
        {
            let length = other.rsplit(' ').next().unwrap_or_default();
            format!("an array of {length} values")
        }
        other => other.to_owned(),
    }
}

fn humane_found(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("{value}"),
        Unexpected::Unsigned(value) => format!("{value}"),
        Unexpected::Signed(value) => format!("{value}"),
        Unexpected::Float(value) => format!("{value:?}"),
        Unexpected::Str(text) => format!("the string \"{text}\""),
        Unexpected::Seq => "an array".to_owned(),
        Unexpected::Map => "a table".to_owned(),
        other => other.to_string(),
    }
}

type Problems = RefCell<Vec<Problem>>;

/// Reads a table.
struct TableDecoder<'a, 'i> {
    table: &'a DeTable<'i>,
    span: Range<usize>,
    ignored: &'a [&'a str],
    problems: &'a Problems,
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
    /// Entries still to come; taken from the front.
    entries: Vec<(
        &'a Spanned<std::borrow::Cow<'i, str>>,
        &'a Spanned<DeValue<'i>>,
    )>,
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
            problems: self.problems,
        })
    }
}

/// Reads any value.
struct ValueDecoder<'a, 'i> {
    value: &'a Spanned<DeValue<'i>>,
    /// The key or index under which it stands.
    path: String,
    problems: &'a Problems,
}

impl ValueDecoder<'_, '_> {
    /// Runs `read` and gives its error this value's place and name.
    fn locate<T>(self, read: impl FnOnce(&Self) -> Result<T, Problem>) -> Result<T, Problem> {
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
        let finite = number.is_finite();
        Some(if finite {
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
                        expected: "a number of at most 64 bits".to_owned(),
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
                    problems: this.problems,
                };
                let value = visitor.visit_seq(&mut access)?;
                // Whoever reads three numbers and stops would let a fourth pass.
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
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
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

fn unexpected<'a>(value: &'a DeValue<'_>) -> Unexpected<'a> {
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
    /// Elements still to come; taken from the front.
    elements: Vec<(usize, &'a Spanned<DeValue<'i>>)>,
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
            problems: self.problems,
        })
        .map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

/// Reads `{ variant = value }`.
struct VariantDecoder<'a, 'i> {
    key: &'a Spanned<std::borrow::Cow<'i, str>>,
    value: &'a Spanned<DeValue<'i>>,
    problems: &'a Problems,
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
