//! A system of bodies on its own: a description in TOML or URDF, with errors located in the user's file.

use std::path::Path;

use fly_mechanics::System;
use fly_mechanics::description::UrdfOptions;

use super::diagnostic::ConfigError;
use super::{locate, urdf};

/// Reads a file, or the shipped system or vehicle of this name.
///
/// # Errors
/// The file does not exist or is invalid: what is wrong, where, and what was expected.
pub fn system(path: &Path, options: &UrdfOptions) -> Result<System, ConfigError> {
    let source = locate::system(path)?;
    let read = System::from_file_text(path, &source.text, options);
    Ok(read.map_err(|error| urdf::explain(&source, error))?)
}
