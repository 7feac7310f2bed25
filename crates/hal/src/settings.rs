//! The plugin's own table, read into a struct, with errors that point at the fault.

use serde::de::DeserializeOwned;

use crate::{Configuration, Error, nearest};

impl Configuration<'_> {
    /// Reads [`text`](Self::text) into a struct. An unknown key is an error if the struct says
    /// `#[serde(deny_unknown_fields)]`, with the nearest valid key as help. Of a `#[serde(tag = "…")]` enum the place of
    /// a fault is the whole table: prefer a struct.
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
    /// Whatever is wrong with the text, with its place.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T, Error> {
        toml::from_str(self.text).map_err(|error| explain(self.text, &error))
    }
}

/// A `toml` error in the words of this crate.
fn explain(text: &str, error: &toml::de::Error) -> Error {
    let message = error.message().trim_end();
    let unknown = message.strip_prefix("unknown field ");
    let mut ours = Error::configuration(match unknown {
        Some(rest) => format!("unknown key {rest}"),
        None => message.to_owned(),
    });
    if unknown.is_some() {
        // serde says: unknown field `a`, expected one of `b`, `c`.
        let mut quoted = message.split('`').skip(1).step_by(2);
        if let Some(near) = quoted.next().and_then(|written| nearest(written, quoted)) {
            ours = ours.with_help(format!("did you mean `{near}`?"));
        }
    }
    let span = error.span().unwrap_or(0..text.len());
    ours.in_configuration(span)
}
