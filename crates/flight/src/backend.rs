//! Loads and configures the backend that a configuration selects, and locates its errors in the user's files.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use fly_hal::{ErrorKind, Instance, LoadError, Plugin, SearchPath, Text};

use crate::config::{
    BackendSection, Configuration, Diagnostic, Document, FleetConfiguration, FlightSection,
    Fragment, backend_table,
};
use crate::error::FlightError;
use crate::messages::Messages;

/// A configured backend that is not started yet, with the messages that it has emitted so far.
#[derive(Debug)]
pub struct Backend {
    pub(crate) instance: Instance,
    pub(crate) messages: Messages,
}

impl Backend {
    /// The backend itself.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }
}

/// From now on, collects the backend's messages for its flight.
impl From<Instance> for Backend {
    fn from(instance: Instance) -> Self {
        let messages = Messages::new();
        let current = messages.enter();
        instance.listen();
        drop(current);
        Self { instance, messages }
    }
}

/// The parts of a configuration that select and configure a backend, of a flight or of a fleet's world.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The configuration.
    pub document: &'a Document,
    /// Its `[flight]`.
    pub flight: &'a FlightSection,
    /// The vehicle's description.
    pub vehicle_text: &'a Fragment,
    /// Its `[backend]`.
    pub backend: &'a BackendSection,
}

impl<'a> From<&'a Configuration> for Setup<'a> {
    fn from(configuration: &'a Configuration) -> Self {
        Self {
            document: &configuration.document,
            flight: &configuration.flight,
            vehicle_text: &configuration.vehicle_text,
            backend: &configuration.backend,
        }
    }
}

impl<'a> From<&'a FleetConfiguration> for Setup<'a> {
    fn from(configuration: &'a FleetConfiguration) -> Self {
        Self {
            document: &configuration.document,
            flight: &configuration.flight,
            vehicle_text: &configuration.world_text,
            backend: &configuration.backend,
        }
    }
}

/// Loads and configures the plugin that the configuration selects. `armed`: the user allows a real vehicle to move.
///
/// # Errors
/// [`FlightError::Backend`] if it is not found or cannot be loaded; [`FlightError::Configuration`] if it rejects its
/// table or the vehicle.
pub fn load<'a>(
    configuration: impl Into<Setup<'a>>,
    search: &SearchPath,
    armed: bool,
) -> Result<Backend, FlightError> {
    let setup = configuration.into();
    configure_plugin(setup, &plugin(setup, search)?, armed)
}

/// Configures a plugin that is already loaded, instead of the one that [`load`] would load.
///
/// # Errors
/// [`FlightError::Configuration`] if it rejects its table or the vehicle; [`FlightError::Backend`] for any other
/// reason.
pub fn configure_plugin<'a>(
    configuration: impl Into<Setup<'a>>,
    plugin: &Plugin,
    armed: bool,
) -> Result<Backend, FlightError> {
    with_table(configuration.into(), armed, |given| plugin.configure(given))
}

/// Loads the plugin that the configuration selects.
///
/// # Errors
/// [`FlightError::Backend`] if it is not found or cannot be loaded.
pub fn plugin<'a>(
    configuration: impl Into<Setup<'a>>,
    search: &SearchPath,
) -> Result<Plugin, FlightError> {
    let configuration = configuration.into();
    let section = configuration.backend;
    if section.plugin.is_empty() {
        return Err(FlightError::Backend(BackendSection::missing().into()));
    }
    let plugin = match &section.path {
        Some(path) => Plugin::open(path),
        None => Plugin::load(&section.plugin, search),
    };
    let plugin = plugin.map_err(|error| not_loaded(configuration, error))?;
    let (own, known) = (&plugin.info().name, backend_table(&section.plugin));
    if *own != known
        && configuration
            .document
            .table(&format!("backend.{own}"))
            .is_some()
    {
        tracing::warn!(
            "`[backend.{own}]` is not used: the file of this plugin is called `{known}`, and so is its table"
        );
    }
    Ok(plugin)
}

/// Configures a backend of this program from its table and the vehicle.
///
/// # Errors
/// [`FlightError::Configuration`] if it rejects them; [`FlightError::Backend`] for any other reason.
pub fn configure<'a, B: fly_hal::Backend + 'static>(
    configuration: impl Into<Setup<'a>>,
    armed: bool,
) -> Result<Backend, FlightError> {
    with_table(configuration.into(), armed, |given| {
        let instance = Instance::of(B::configure(given)?)?;
        Ok(if armed { instance.armed() } else { instance })
    })
}

fn with_table(
    configuration: Setup<'_>,
    armed: bool,
    configure: impl FnOnce(&fly_hal::Configuration) -> Result<Instance, fly_hal::Error>,
) -> Result<Backend, FlightError> {
    let messages = Messages::new();
    let _current = messages.enter();
    let table = &configuration.backend.table;
    let named = Mutex::new(Vec::new());
    let resolve = |offset: usize, path: &str| {
        named
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(offset);
        resolve(table, offset, path)
    };
    let instance = configure(&fly_hal::Configuration {
        text: table.text(),
        vehicle: configuration.vehicle_text.text(),
        rate_hz: configuration.flight.rate_hz,
        seed: configuration.flight.seed,
        armed,
        resolve: &resolve,
    })
    .and_then(without_faults)
    .map_err(|error| {
        let named = named.lock().unwrap_or_else(PoisonError::into_inner);
        match explain(configuration, &error) {
            // The configuration names a file that cannot be read: another value of this key may do.
            FlightError::Backend(found) if names_file(&error, &named) => {
                FlightError::Configuration(found)
            }
            found => found,
        }
    })?;
    Ok(Backend { instance, messages })
}

/// Whether it is about a file that the backend's table names at one of these bytes, and that cannot be read.
fn names_file(error: &fly_hal::Error, named: &[usize]) -> bool {
    error.kind == ErrorKind::Io
        && (error.location.as_ref()).is_some_and(|location| {
            location.text == Text::Configuration && named.contains(&location.span.start)
        })
}

/// Refuses an instance whose signals are not what their names say.
fn without_faults(instance: Instance) -> Result<Instance, fly_hal::Error> {
    let faults = instance.description().faults();
    if faults.is_empty() {
        return Ok(instance);
    }
    let error = fly_hal::Error::internal(format!("its signals are wrong: {}", faults.join("; ")));
    Err(error.with_help(
        "`fly conformance PLUGIN` checks a plugin; docs/signals.md lists names and units",
    ))
}

/// Resolves a path in a plugin's table.
///
/// # Errors
/// There is no current folder.
pub fn resolve(table: &Fragment, offset: usize, path: &str) -> Result<PathBuf, fly_hal::Error> {
    let path = table.resolve_path(offset, path);
    std::path::absolute(&path).map_err(|error| fly_hal::Error::io(path.display(), &error))
}

/// Locates a backend's error in the user's files, if it has a span in one of the texts that the backend received.
pub fn explain<'a>(configuration: impl Into<Setup<'a>>, error: &fly_hal::Error) -> FlightError {
    let configuration = configuration.into();
    let section = configuration.backend;
    let title = format!(
        "the backend `{}` reports: {}",
        section.plugin, error.message
    );
    let mut diagnostic = match &error.location {
        Some(location) => {
            let fragment: &Fragment = match location.text {
                Text::Configuration => &section.table,
                Text::Vehicle => configuration.vehicle_text,
            };
            let title = format!(
                "the configuration of the backend `{}` is invalid",
                section.plugin
            );
            fragment.diagnostic(title, &location.span, error.message.as_str())
        }
        None => Diagnostic::new(title),
    };
    if let Some(help) = &error.help {
        diagnostic = diagnostic.help(help.as_str());
    }
    diagnostic.unreadable = error.kind == ErrorKind::Io;
    if error.kind == ErrorKind::Configuration {
        FlightError::Configuration(diagnostic.into())
    } else {
        FlightError::Backend(diagnostic.into())
    }
}

/// Locates the error of a plugin that cannot be loaded where the plugin is selected.
pub fn not_loaded<'a>(configuration: impl Into<Setup<'a>>, error: LoadError) -> FlightError {
    let place = configuration.into().document.place("backend.plugin");
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
    FlightError::Backend(diagnostic.unreadable().into())
}
