//! A vehicle and its controller, for analysis without a flight.

use std::path::Path;
use std::sync::Arc;

use fly_control::{Controller, ControllerSettings};
use fly_mechanics::{System, Vehicle};

use super::configuration::check_names;
use super::controller;
use super::diagnostic::{ConfigError, Diagnostic, Problems};
use super::document::{Document, Options};
use super::source::{Origin, Source};
use super::vehicle::{self, Described};

/// `[vehicle]` and, where there is one, `[controller]`.
#[derive(Clone, Debug)]
pub struct Model {
    document: Document,
    /// The vehicle.
    pub vehicle: Vehicle,
    /// The same as a system of one body.
    pub system: System,
    /// The settings of its controller.
    pub controller: Option<ControllerSettings>,
}

impl Model {
    /// Reads both from a configuration, or a vehicle alone from a vehicle file; the controller only if it is asked for.
    ///
    /// # Errors
    /// What is wrong with these sections, with its place; the others are not looked at.
    pub fn load(options: &Options, with_controller: bool) -> Result<Self, ConfigError> {
        let document = Document::load(options)?.with_vehicle()?;
        let mut problems = Problems::default();
        let vehicle = problems.take(vehicle::read(&document));
        let controller = match document.entry("controller") {
            Some(_) if with_controller => problems.take(controller::read(&document)),
            _ => None,
        };
        problems.finish()?;
        let Some(Described {
            system, vehicle, ..
        }) = vehicle
        else {
            return Err(Diagnostic::new("the vehicle could not be read").into());
        };
        let Some(vehicle) = vehicle else {
            let title = format!("`{}` is no vehicle of one body", system.name);
            let diagnostic = match Vehicle::try_from(system.clone()) {
                Err(why) => Diagnostic::new(title).note(why.to_string()),
                Ok(_) => Diagnostic::new(title),
            };
            return Err(diagnostic
                .help("`fly check` tells the poles of any system under its controller")
                .into());
        };
        Ok(Self {
            document,
            vehicle,
            system,
            controller,
        })
    }

    /// The controller of the vehicle with these settings.
    ///
    /// # Errors
    /// The settings do not fit the vehicle; with the place of the setting at fault.
    pub fn build_controller(
        &self,
        settings: &ControllerSettings,
    ) -> Result<Controller, ConfigError> {
        settings
            .build(&self.vehicle)
            .map_err(|error| controller::explain_controller(&self.document, &error).into())
    }
}

/// Checks that the text of this file is a configuration: TOML with known sections, and the vehicle files that it names exist.
///
/// # Errors
/// What is wrong, with its place.
pub fn check_sections(file: &Path, text: &str) -> Result<(), ConfigError> {
    document(file, text).map(|_| ())
}

/// The settings of `[controller]` in the text of this configuration file.
///
/// # Errors
/// The text is not a configuration, or its controller is invalid.
pub fn controller_in(file: &Path, text: &str) -> Result<ControllerSettings, ConfigError> {
    controller::read(&document(file, text)?)
}

fn document(file: &Path, text: &str) -> Result<Document, ConfigError> {
    let source = Arc::new(Source {
        name: file.to_string_lossy().into_owned(),
        text: text.to_owned(),
        origin: Origin::File(file.to_owned()),
        included_by: None,
    });
    let document = Document::build(&source, &Options::default())?;
    let mut problems = Problems::default();
    check_names(&document, &mut problems);
    problems.finish()?;
    Ok(document)
}
