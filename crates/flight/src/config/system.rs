//! A system of bodies by itself: a description in TOML or URDF, with its errors in the user's file.

use std::path::Path;
use std::sync::Arc;

use fly_mechanics::System;
use fly_mechanics::description::UrdfOptions;

use super::diagnostic::{ConfigError, Diagnostic};
use super::source::Place;
use super::{locate, vehicle};

/// Reads a file, or the shipped system or vehicle of this name.
///
/// # Errors
/// It does not exist, or is wrong: what, where, and what was expected.
pub fn system(path: &Path, options: &UrdfOptions) -> Result<System, ConfigError> {
    let source = locate::system(path)?;
    let read = System::from_file_text(path, &source.text, options).map_err(|error| {
        let (title, label) = vehicle::wording(&error.path, &error.problem);
        let place = Place {
            source: Arc::clone(&source),
            span: error.span,
        };
        let diagnostic = Diagnostic::new(title).at(place, label);
        match error.help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    });
    Ok(read?)
}
