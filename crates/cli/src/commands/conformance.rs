//! `fly conformance PLUGIN`: runs the conformance suite on a plugin.

use std::sync::Arc;

use fly_hal::SearchPath;
use fly_hal::conformance::{self, Setup};

use crate::args::ConfigurationArguments;
use crate::backend;
use crate::config::{Configuration, Options, shipped};
use crate::exit::{Exit, Failure};

/// The configuration for a plugin without `--config`, if none with the plugin's name is shipped.
const DEFAULT: &str = "quadcopter.toml";

/// Runs the suite with the configuration's table and vehicle; [`Exit::ProblemsFound`] when a check fails.
///
/// # Errors
/// The configuration cannot be read or the plugin not be found.
pub fn run(plugin: &str, arguments: &ConfigurationArguments) -> Result<Exit, Failure> {
    let config = match (arguments.config.clone(), shipped::find(plugin)) {
        (Some(config), _) => config,
        (None, Some(shipped)) => shipped.name.into(),
        (None, None) => DEFAULT.into(),
    };
    let configuration = Configuration::load(&Options {
        config,
        backend: Some(plugin.to_owned()),
        set: arguments.set.clone(),
        allow_plugin: arguments.allow_plugin,
    })?;
    let path = match &configuration.backend.path {
        Some(path) => path.clone(),
        None => SearchPath::standard(arguments.plugin_dir.iter().cloned())
            .find(plugin)
            .map_err(|error| backend::not_loaded(&configuration, error))?,
    };
    let table = configuration.backend.table.clone();
    let setup = Setup {
        rate_hz: configuration.flight.rate_hz,
        resolve: Arc::new(move |offset, path: &str| backend::resolve(&table, offset, path)),
        ..Setup::new(
            configuration.backend.table.text(),
            configuration.vehicle_text.text(),
        )
    };
    let report = conformance::run(&path, &setup);
    super::print(format!("{report}\n").as_bytes())?;
    Ok(if report.passed() {
        Exit::Flown
    } else {
        Exit::ProblemsFound
    })
}
