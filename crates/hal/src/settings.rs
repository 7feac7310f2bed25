//! Decodes the plugin's own table into a struct; errors have a location.

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::DeTable;

use crate::{Configuration, Error, nearest};

impl<'a> Configuration<'a> {
    /// Decodes [`text`](Self::text) into a struct. If the struct has `#[serde(deny_unknown_fields)]`, an unknown key is
    /// an error, with the nearest valid key as help. An error in a `#[serde(tag = "…")]` enum is located only at the
    /// whole table, so prefer a struct.
    ///
    /// ```
    /// # use fly_hal::Configuration;
    /// #[derive(Debug, serde::Deserialize)]
    /// #[serde(deny_unknown_fields)]
    /// struct Settings { substeps: u32 }
    ///
    /// let error = Configuration::new("substep = 2", "").settings::<Settings>().unwrap_err();
    /// assert_eq!(error.message, "unknown key `substep`, expected `substeps`");
    /// assert_eq!(error.help.as_deref(), Some("did you mean `substeps`?"));
    /// assert_eq!(error.location.unwrap().span, 0..7);
    /// ```
    ///
    /// # Errors
    /// The text is invalid; the error has its location.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.settings_from(self.document()?)
    }

    /// Parses [`text`](Self::text) into a document that can be inspected before it is decoded.
    ///
    /// # Errors
    /// The text is not TOML.
    pub fn document(&self) -> Result<Spanned<DeTable<'a>>, Error> {
        DeTable::parse(self.text).map_err(|error| explain(self.text, &error))
    }

    /// Decodes a [`document`](Self::document), or a part of it, into a struct.
    ///
    /// # Errors
    /// As [`settings`](Self::settings).
    pub fn settings_from<T: DeserializeOwned>(
        &self,
        document: Spanned<DeTable<'a>>,
    ) -> Result<T, Error> {
        T::deserialize(toml::de::Deserializer::from(document))
            .map_err(|error| explain(self.text, &error))
    }
}

/// Translates a `toml` error into the words of this crate.
fn explain(text: &str, error: &toml::de::Error) -> Error {
    let message = error.message().trim_end();
    // serde says: unknown field `a`, expected one of `b`, `c`.
    let unknown = [("unknown field ", "key"), ("unknown variant ", "value")];
    let unknown = unknown
        .iter()
        .find_map(|(prefix, word)| Some((message.strip_prefix(prefix)?, word)));
    let span = error.span().unwrap_or(0..text.len());
    let Some((rest, word)) = unknown else {
        return Error::configuration(message).in_configuration(span);
    };
    let mut quoted = rest.split('`').skip(1).step_by(2);
    let near = quoted.next().and_then(|written| nearest(written, quoted));
    let ours = Error::configuration(format!("unknown {word} {rest}")).in_configuration(span);
    match near {
        Some(near) => ours.with_help(format!("did you mean `{near}`?")),
        None => ours,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code)]
    struct Settings {
        substeps: u32,
        kind: Option<Kind>,
        gains: Option<[f64; 3]>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Missing,
        Stale,
    }

    #[test]
    fn every_fault_has_a_place_and_words() {
        for (text, message, help, place) in [
            (
                "substeps = 'two'",
                "invalid type: string \"two\", expected u32",
                None,
                "'two'",
            ),
            ("", "missing field `substeps`", None, ""),
            (
                "substeps = 1\nkind = 'stall'",
                "unknown value `stall`, expected `missing` or `stale`",
                Some("did you mean `stale`?"),
                "'stall'",
            ),
            (
                "substeps = 1\ngains = [1, 2]",
                "invalid length 2, expected an array of length 3",
                None,
                "[1, 2]",
            ),
            (
                "substeps = 1\ncolour = 1",
                "unknown key `colour`, expected one of `substeps`, `kind`, `gains`",
                None,
                "colour",
            ),
            (
                "substeps = 1\nx = = 1",
                "extra `=`, expected nothing",
                None,
                "=",
            ),
        ] {
            let error = Configuration::new(text, "")
                .settings::<Settings>()
                .unwrap_err();
            assert_eq!(
                (error.message.as_str(), error.help.as_deref()),
                (message, help),
                "{text}"
            );
            assert_eq!(&text[error.location.unwrap().span], place, "{text}");
        }
    }
}
