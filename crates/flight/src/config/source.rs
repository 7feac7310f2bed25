//! Sources of configuration text, and places in them.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kind of a [`Source`], which determines how its relative paths are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file; relative paths are relative to its folder.
    File(PathBuf),
    /// A configuration inside the executable, by its name below `configs/`.
    Shipped(&'static str),
    /// Text passed by the program; relative paths are relative to the current folder.
    Text,
    /// A command line flag such as `--set`; relative paths are relative to the current folder.
    Flag(&'static str),
}

/// A text from which configuration was read.
#[derive(Debug)]
pub struct Source {
    /// Its name in messages: the path as the user gave it, `<shipped>/tricopter.toml`, or the flag's name.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// Its kind.
    pub origin: Origin,
    /// The value that named this file, if another file or a flag included it.
    pub included_by: Option<SourceSpan>,
}

impl Source {
    /// Resolves `path`, written in this source: relative to the folder of a file, or to the current folder for flags
    /// and shipped configurations.
    pub fn resolve(&self, path: &str) -> PathBuf {
        match &self.origin {
            Origin::File(file) => file.parent().unwrap_or(Path::new("")).join(path),
            Origin::Shipped(_) | Origin::Text | Origin::Flag(_) => PathBuf::from(path),
        }
    }
}

/// A byte range in a source.
#[derive(Clone, Debug)]
pub struct SourceSpan {
    /// The text.
    pub source: Arc<Source>,
    /// The bytes in it.
    pub span: Range<usize>,
}

impl SourceSpan {
    /// Line and column (both from 1, columns in characters) where the place begins.
    pub fn line_column(&self) -> (usize, usize) {
        let before = &self.source.text[..floor_boundary(&self.source.text, self.span.start)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }
}

/// `file:line:column`, or the flag's name alone.
impl fmt::Display for SourceSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Origin::Flag(name) = self.source.origin {
            return f.write_str(name);
        }
        let (line, column) = self.line_column();
        write!(f, "{}:{line}:{column}", self.source.name)
    }
}

/// The last character boundary at or before `offset`.
pub(super) fn floor_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}
