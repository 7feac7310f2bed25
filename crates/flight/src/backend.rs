//! Opens the backend that a configuration chooses, and says what is wrong in the user's own files.

use std::path::PathBuf;

use fly_hal::{ErrorKind, Instance, LoadError, Plugin, SearchPath, Text};

use crate::config::{Configuration, Diagnostic, Fragment};
use crate::error::FlightError;

/// The chosen backend, loaded and configured, not started.
#[derive(Debug)]
pub struct Backend {
    /// The library.
    pub plugin: Plugin,
    /// What it made of the configuration.
    pub instance: Instance,
}

/// Loads and configures the backend. `armed`: the user allows a real vehicle to move.
///
/// # Errors
/// It is not found or cannot be loaded , or it refuses its table or the vehicle .
pub fn open(
    configuration: &Configuration,
    plugin_dirs: &[PathBuf],
    armed: bool,
) -> Result<Backend, FlightError> {
    let section = &configuration.backend;
    let search = SearchPath::standard(plugin_dirs.iter().cloned());
    let plugin = match &section.path {
        Some(path) => Plugin::open(path),
        None => Plugin::load(&section.plugin, &search),
    };
    let plugin = plugin.map_err(|error| not_loaded(configuration, error))?;

    let table = &section.table;
    let resolve = |offset: usize, path: &str| resolve(table, offset, path);
    let instance = plugin.configure(&fly_hal::Configuration {
        text: table.text(),
        vehicle: configuration.vehicle_text.text(),
        rate_hz: configuration.flight.rate_hz,
        seed: configuration.flight.seed,
        armed,
        resolve: &resolve,
    });
    match instance {
        Ok(instance) => Ok(Backend { plugin, instance }),
        Err(error) => Err(explain(configuration, &error)),
    }
}

/// The file that a path in a plugin's table means.
///
/// # Errors
/// There is no current folder.
pub fn resolve(table: &Fragment, offset: usize, path: &str) -> Result<PathBuf, fly_hal::Error> {
    let path = table.resolve_path(offset, path);
    std::path::absolute(&path).map_err(|error| fly_hal::Error::io(path.display(), &error))
}

/// A backend's error, in the user's files where it points into the texts that the backend was given.
pub fn explain(configuration: &Configuration, error: &fly_hal::Error) -> FlightError {
    let section = &configuration.backend;
    let title = format!(
        "the backend `{}` reports: {}",
        section.plugin, error.message
    );
    let mut diagnostic = match &error.location {
        Some(location) => {
            let fragment: &Fragment = match location.text {
                Text::Configuration => &section.table,
                Text::Vehicle => &configuration.vehicle_text,
            };
            let title = format!(
                "the backend `{}` cannot be configured like this",
                section.plugin
            );
            fragment.diagnostic(title, &location.span, error.message.as_str())
        }
        None => Diagnostic::new(title),
    };
    if let Some(help) = &error.help {
        diagnostic = diagnostic.help(help.as_str());
    }
    if error.kind == ErrorKind::Configuration {
        FlightError::Configuration(diagnostic.into())
    } else {
        FlightError::Backend(diagnostic.into())
    }
}

/// Why a plugin could not be loaded, and where it was chosen.
pub fn not_loaded(configuration: &Configuration, error: LoadError) -> FlightError {
    let place = configuration.document.place("backend.plugin");
    let located = |title: String| match &place {
        Some(place) => Diagnostic::new(title).at(place.clone(), "chosen here"),
        None => Diagnostic::new(title),
    };
    let diagnostic = match error {
        LoadError::NotFound {
            name,
            searched,
            nearest,
        } => {
            let folders: Vec<String> = searched
                .iter()
                .map(|folder| folder.display().to_string())
                .collect();
            let file = fly_hal::loader::file_name(&name);
            let diagnostic = located(format!("there is no plugin `{name}`"))
                .note(format!("searched for {file} in {}", folders.join(", ")));
            match nearest {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic
                    .help("`fly backends` lists what is found; --plugin-dir adds a folder"),
            }
        }
        other => located(other.to_string()),
    };
    FlightError::Backend(diagnostic.into())
}
