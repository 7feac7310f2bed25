//! Values that a program sets.

use super::source::SourceSpan;

/// A value that a program sets in a configuration, as `--set` does.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Its dotted key; numbers are indices of arrays.
    pub key: String,
    /// Where the key was written.
    pub key_place: SourceSpan,
    /// The value in TOML; `None`: the text at `place`.
    pub value: Option<String>,
    /// Where the value was written, or what it was computed from.
    pub place: SourceSpan,
}
