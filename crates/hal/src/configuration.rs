//! The configuration of a backend.

use std::path::PathBuf;

use crate::Error;

/// Resolves a path in the configuration: `(offset, path) -> absolute path`, where `offset` is that of
/// the value in [`Configuration::text`].
pub type ResolvePath<'a> = dyn Fn(usize, &str) -> Result<PathBuf, Error> + Send + Sync + 'a;

/// The configuration that the host passes to a backend.
///
/// A host creates one for [`Plugin::configure`](crate::Plugin::configure); a backend receives it in
/// [`Backend::configure`](crate::Backend::configure); a test creates one to call the latter directly:
///
/// ```
/// use fly_hal::Configuration;
///
/// let configuration = Configuration { rate_hz: 250.0, seed: 7, ..Configuration::new("substeps = 4", "name = 'brick'") };
/// assert!(!configuration.armed);
/// ```
#[derive(Clone, Copy)]
pub struct Configuration<'a> {
    /// The plugin's own table, `[backend.NAME]`, as a separate TOML document.
    pub text: &'a str,
    /// The controller's model of the vehicle: a TOML document.
    pub vehicle: &'a str,
    /// Rate of the control loop, Hz.
    pub rate_hz: f64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Whether the user allowed a real vehicle to be armed and commanded.
    pub armed: bool,
    /// The function behind [`resolve_path`](Self::resolve_path).
    pub resolve: &'a ResolvePath<'a>,
}

impl<'a> Configuration<'a> {
    /// These texts with 500 Hz, seed 0, not armed; paths are relative to the current folder.
    pub fn new(text: &'a str, vehicle: &'a str) -> Self {
        Self {
            text,
            vehicle,
            rate_hz: 500.0,
            seed: 0,
            armed: false,
            resolve: &resolve_in_current_folder,
        }
    }

    /// Resolves a path in [`text`](Self::text): relative to the file in which it was written, or to the current folder
    /// if it comes from the command line. The host distinguishes these by `offset`, the path's position in the text.
    ///
    /// # Errors
    /// The host cannot resolve the path.
    pub fn resolve_path(&self, offset: usize, path: &str) -> Result<PathBuf, Error> {
        (self.resolve)(offset, path)
    }
}

impl std::fmt::Debug for Configuration<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Configuration")
            .field("text", &self.text)
            .field("vehicle", &self.vehicle)
            .field("rate_hz", &self.rate_hz)
            .field("seed", &self.seed)
            .field("armed", &self.armed)
            .finish_non_exhaustive()
    }
}

pub(crate) fn resolve_in_current_folder(_: usize, path: &str) -> Result<PathBuf, Error> {
    std::path::absolute(path)
        .map_err(|error| Error::io(format_args!("cannot find `{path}`"), &error))
}
