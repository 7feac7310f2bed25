//! A system and its controller, for analysis without a flight.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use fly_control::plant::SystemPlant;
use fly_control::settings::ApproachSettings;
use fly_control::{Controller, ControllerError, ControllerSettings, SystemPoint};
use fly_mechanics::{System, Vehicle};

use super::configuration::check_names;
use super::controller;
use super::diagnostic::{ConfigError, Diagnostic, Problems};
use super::document::{Document, Options};
use super::reference;
use super::sections::FlightSection;
use super::source::{Origin, Source};
use super::vehicle::{self, Described};

/// `[vehicle]` and, if present, `[controller]`.
#[derive(Clone, Debug)]
pub struct Model {
    document: Document,
    /// The system.
    pub system: System,
    /// The system as a vehicle of one free body with rotors, if it is one.
    pub vehicle: Option<Vehicle>,
    /// Control rate, Hz.
    pub rate_hz: f64,
    /// The settings that its controller keeps when its parameters are replaced: the approach, the compensation of actuator lag and delay,
    /// the disturbance observer, the preferred values of redundant inputs, and the limits on the way to a distant goal.
    pub kept: ControllerSettings,
    /// The settings of its controller, if they were read.
    pub controller: Option<ControllerSettings>,
}

impl Model {
    /// Reads both from a configuration, or a system alone from its description. Unless the whole controller is
    /// requested, reads only its [kept](Self::kept) settings.
    ///
    /// # Errors
    /// Problems in these sections, with their places; other sections are not checked.
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

    /// The start of the reference or, if there is none for a system or it has no start, the neutral configuration; for a vehicle, a
    /// level one.
    ///
    /// # Errors
    /// The reference of a system is invalid; located at the setting at fault.
    pub fn start(&self) -> Result<Vec<f64>, ConfigError> {
        let neutral = || SystemPoint::new(&self.system.model);
        if self.vehicle.is_some() || self.document.entry("reference").is_none() {
            return Ok(neutral().configuration);
        }
        let reference = reference::read(&self.document)?.build_for_system(&self.system);
        let mut trajectory =
            reference.map_err(|error| controller::explain(&self.document, "reference", &error))?;
        let mut start = neutral();
        if trajectory.at(0.0, &mut start).is_err() {
            start = neutral();
        }
        Ok(start.configuration)
    }

    /// The controller of the system with these settings.
    ///
    /// # Errors
    /// The settings do not fit the system; located at the setting at fault.
    pub fn build_controller(
        &self,
        settings: &ControllerSettings,
    ) -> Result<Controller<SystemPlant>, ConfigError> {
        settings
            .build_for_system(&self.system)
            .map_err(|error| self.explain(&error))
    }

    /// Why there is no controller with settings of this configuration; located at the setting at fault.
    pub fn explain(&self, error: &ControllerError) -> ConfigError {
        controller::explain_controller(&self.document, error).into()
    }

    /// Why no parameters can be found; located at the key that prevents it.
    pub fn refuse(&self, key: &str, error: impl fmt::Display) -> ConfigError {
        let diagnostic = Diagnostic::new("no parameters can be found for this vehicle");
        match self.document.nearest_place(key) {
            Some(place) => diagnostic.at(place, error.to_string()).into(),
            None => diagnostic.note(error.to_string()).into(),
        }
    }

    /// Checks that the text of this configuration file can take parameters found for this model: its system is the
    /// same except for names and looks, and so is its controller's approach, unless the parameters bring `their_own` or the
    /// command line sets it.
    ///
    /// # Errors
    /// The file is for another system or has another approach, or these parts of it are invalid; with their places.
    pub fn check_same(&self, file: &Path, text: &str, their_own: bool) -> Result<(), ConfigError> {
        let other = document(file, text)?;
        let name = file.display();
        let tuned = self.document.name();
        let mut problems = Problems::default();
        if let Some(described) = problems.take(vehicle::read(&other))
            && !is_same(&self.system, &described.system)
        {
            let found = &described.system.name;
            let diagnostic = Diagnostic::new(format!("`{name}` is for another vehicle"));
            let label = format!(
                "expected the vehicle that was tuned, `{}` of {tuned}, found another one, `{found}`",
                self.system.name
            );
            let diagnostic = match other.entry("vehicle") {
                Some(entry) => diagnostic.at(entry.key_place.clone(), label),
                None => diagnostic.note(label),
            };
            problems.push(diagnostic.help(format!(
                "tune that vehicle, with --config {name} instead, or write to a file whose `[vehicle]` is the tuned one: files, keys and values of --set"
            )));
        }
        let is_set = self
            .document
            .set_keys("controller")
            .any(|key| key == "approach");
        if let Some(kept) = problems.take(controller::read_kept(&other))
            && !their_own
            && !is_set
            && kept.approach != self.kept.approach
        {
            let [expected, found] = [self.kept.approach, kept.approach].map(ApproachSettings::name);
            let diagnostic = Diagnostic::new(format!("`{name}` has another control law"));
            let label =
                format!("expected the approach that was tuned, `{expected}`, found `{found}`");
            let diagnostic = match other.nearest_place("controller.approach") {
                Some(place) => diagnostic.at(place, label),
                None => diagnostic.note(label),
            };
            problems.push(diagnostic.help(format!(
                "tune with its approach, with --set controller.approach={found}, or change it there with --set controller.approach={expected}"
            )));
        }
        problems.finish()
    }
}

/// Whether both systems move alike under the same controller.
fn is_same(one: &System, other: &System) -> bool {
    let unnamed = |system: &System| System {
        name: String::new(),
        visuals: Vec::new(),
        notes: Vec::new(),
        ..system.clone()
    };
    unnamed(one) == unnamed(other)
}

/// Checks that the text of this file is a configuration: TOML with known sections, naming vehicle files that exist.
///
/// # Errors
/// All problems found, with their places.
pub fn check_sections(file: &Path, text: &str) -> Result<(), ConfigError> {
    document(file, text).map(|_| ())
}

/// The settings of `[controller]` in the text of a configuration file.
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
