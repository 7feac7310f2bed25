//! Common functions of all sections.

use super::diagnostic::{ConfigError, Diagnostic};
use super::document::{Document, Fragment};

/// A top-level table; an error if the name holds another type.
pub(super) fn section(document: &Document, name: &str) -> Result<Option<Fragment>, ConfigError> {
    match (document.entry(name), document.table(name)) {
        (Some(entry), None) => Err(Diagnostic::new(format!("`{name}` has the wrong type"))
            .at(
                entry.node.place.clone(),
                format!("expected a table [{name}]"),
            )
            .into()),
        (_, table) => Ok(table),
    }
}

/// The error for a number out of range.
pub(super) fn out_of_range(
    document: &Document,
    path: &str,
    expected: &str,
    found: f64,
) -> Diagnostic {
    let title = format!("`{path}` is out of range");
    let label = format!("{expected}, found {found}");
    match document.place(path) {
        Some(place) => Diagnostic::new(title).at(place, label),
        None => Diagnostic::new(title).note(label),
    }
}
