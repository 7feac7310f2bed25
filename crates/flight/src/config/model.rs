//! A system and its controller, for analysis without a flight.

use std::path::Path;
use std::sync::Arc;

use fly_control::plant::SystemPlant;
use fly_control::{Controller, ControllerSettings, SystemPoint};
use fly_mechanics::{System, Vehicle};

use super::configuration::check_names;
use super::controller;
use super::diagnostic::{ConfigError, Diagnostic, Problems};
use super::document::{Document, Options};
use super::reference;
use super::sections::FlightSection;
use super::source::{Origin, Source};
use super::vehicle::{self, Described};

/// `[vehicle]` and, where there is one, `[controller]`.
#[derive(Clone, Debug)]
pub struct Model {
    document: Document,
    /// The system.
    pub system: System,
    /// The same as a vehicle of one free body with rotors, if it is one.
    pub vehicle: Option<Vehicle>,
    /// How often its controller computes, Hz.
    pub rate_hz: f64,
    /// What its controller keeps when its parameters are replaced: the approach, what commands make up for, the observer of disturbances, what redundant inputs prefer, limits of the
    /// way to a goal that is far away.
    pub kept: ControllerSettings,
    /// The settings of its controller.
    pub controller: Option<ControllerSettings>,
}

impl Model {
    /// Reads both from a configuration, or a system alone from its description; of the controller only what is [kept](Self::kept) unless all of it is asked for.
    ///
    /// # Errors
    /// What is wrong with these sections, with its place; the others are not looked at.
    pub fn load(options: &Options, with_controller: bool) -> Result<Self, ConfigError> {
        let document = Document::load(options)?.with_vehicle()?;
        let mut problems = Problems::default();
        let vehicle = problems.take(vehicle::read(&document));
        let (kept, controller) = match document.entry("controller") {
            Some(_) if with_controller => {
                let controller = problems.take(controller::read(&document));
                (controller.clone(), controller)
            }
            Some(_) => (problems.take(controller::read_kept(&document)), None),
            None => (None, None),
        };
        let flight = problems.take(FlightSection::read(&document));
        problems.finish()?;
        let Some(Described {
            system, vehicle, ..
        }) = vehicle
        else {
            return Err(Diagnostic::new("the vehicle could not be read").into());
        };
        Ok(Self {
            document,
            system,
            vehicle,
            rate_hz: flight.unwrap_or_default().rate_hz,
            kept: kept.unwrap_or_default(),
            controller,
        })
    }

    /// Where the reference begins, if there is one for a system, else the neutral configuration; of a vehicle level.
    pub fn start(&self) -> Vec<f64> {
        let mut start = SystemPoint::new(&self.system.model);
        if self.vehicle.is_none()
            && self.document.entry("reference").is_some()
            && let Ok(settings) = reference::read(&self.document)
            && let Ok(mut trajectory) = settings.build_for_system(&self.system)
            && trajectory.at(0.0, &mut start).is_err()
        {
            start = SystemPoint::new(&self.system.model);
        }
        start.configuration
    }

    /// The controller of the system with these settings.
    ///
    /// # Errors
    /// The settings do not fit the system; with the place of the setting at fault.
    pub fn build_controller(
        &self,
        settings: &ControllerSettings,
    ) -> Result<Controller<SystemPlant>, ConfigError> {
        settings
            .build_for_system(&self.system)
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
