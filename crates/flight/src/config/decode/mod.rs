//! Decodes a table into a settings struct, with an exact place in every error.
//!
//! toml's own deserializer reports one error as text. This decoder keeps errors structured (which key, what was
//! expected, what was found), reports all unknown keys of a table at once, and rejects arrays that are too long and
//! numbers that are not finite.

mod problem;
mod value;

use std::cell::RefCell;

use serde::de::DeserializeOwned;
use toml::de::DeTable;

use super::diagnostic::{ConfigError, SHOWN};
use super::document::Fragment;
use problem::Problem;
use value::TableDecoder;

pub(super) use problem::hint;

/// Problems found so far; one run reports all of them.
type Problems = RefCell<Vec<Problem>>;

impl Fragment {
    /// Decodes the whole table as `T`.
    ///
    /// # Errors
    /// Unknown keys with the nearest valid name, missing keys, wrong types and lengths, numbers that are not finite.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, ConfigError> {
        self.decode_without(&[])
    }

    /// Decodes the table as `T`, ignoring the keys in `ignored`.
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
                // Locating each of them costs a search.
                let more = problems.len().saturating_sub(SHOWN);
                problems.truncate(SHOWN);
                let diagnostics = problems.into_iter().map(|problem| problem.explain(self));
                Err(ConfigError::new(diagnostics.collect(), more))
            }
        }
    }
}
