//! Problems with a value, and their messages.

use std::fmt;
use std::ops::Range;

use serde::de::{self, Expected, Unexpected};

use super::super::diagnostic::{Diagnostic, list};
use super::super::document::{Fragment, show_path};

/// Former names of keys, and their present ones.
const RENAMED: [(&str, &str); 1] = [("answer_time", "request_timeout")];

/// A problem that has no place in a file yet.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) kind: Kind,
    /// Keys from the decoded table down to the value.
    pub(super) path: Vec<String>,
    pub(super) span: Option<Range<usize>>,
}

#[derive(Debug)]
pub(super) enum Kind {
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
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            path: Vec::new(),
            span: None,
        }
    }

    /// Sets the place, unless there is a more exact one already.
    pub(super) fn at(mut self, span: &Range<usize>) -> Self {
        self.span.get_or_insert_with(|| span.clone());
        self
    }

    pub(super) fn below(mut self, key: &str) -> Self {
        self.path.insert(0, key.to_owned());
        self
    }

    pub(super) fn explain(self, fragment: &Fragment) -> Diagnostic {
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
                match fly_hal::nearest(&found, valid.iter().copied()) {
                    Some(near) => diagnostic.help(format!("did you mean \"{near}\"?")),
                    None => diagnostic,
                }
            }
            Kind::Missing { key } => {
                let title = format!("missing key `{}`", join(key));
                let label = format!("`{key}` is required in this table");
                match fragment.whole() {
                    Some(table) if self.path.is_empty() => Diagnostic::new(title).at(table, label),
                    _ => show(title, label),
                }
            }
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

/// Adds "did you mean" if a valid key is similar to the given one.
pub(in crate::config) fn hint(diagnostic: Diagnostic, key: &str, valid: &[&str]) -> Diagnostic {
    let is_here = |(old, new): &&(&str, &str)| *old == key && valid.contains(new);
    if let Some((_, new)) = RENAMED.iter().find(is_here) {
        return diagnostic.help(format!("its name is `{new}` now"));
    }
    match fly_hal::nearest(key, valid.iter().copied()) {
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

/// Translates Rust's type names for someone who writes TOML.
fn humane_expected(expected: &str) -> String {
    match expected {
        "f64" | "f32" => "a number".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, not negative".to_owned(),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number".to_owned(),
        "path string" => "a path".to_owned(),
        "a sequence" => "an array".to_owned(),
        "a map" => "a table".to_owned(),
        other if other.starts_with("struct ") || other.starts_with("internally tagged enum ") => {
            "a table".to_owned()
        }
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
