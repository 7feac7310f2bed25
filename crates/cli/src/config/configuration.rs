//! Everything that a flight needs, read from one [`Document`].

use std::sync::Arc;

use fly_control::{Controller, ControllerSettings, Reference, ReferenceSettings};
use fly_mechanics::Vehicle;

use super::decode::hint;
use super::diagnostic::{ConfigError, Diagnostic, Problems};
use super::document::{Document, Fragment, Options};
use super::sections::{self, BackendSection, FlightSection, SafetySection};
use super::{controller, reference, vehicle};

/// The names of the sections.
const SECTIONS: &[&str] = &[
    "flight",
    "vehicle",
    "controller",
    "reference",
    "safety",
    "backend",
];

/// A configuration in which every key has been checked.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The text it was read from, with the origin of every byte.
    pub document: Arc<Document>,
    /// `[flight]`.
    pub flight: FlightSection,
    /// `[vehicle]` as a document of its own: the controller's model.
    pub vehicle_text: Fragment,
    /// The vehicle that it describes.
    pub vehicle: Vehicle,
    /// `[controller]`.
    pub controller: ControllerSettings,
    /// `[reference]`.
    pub reference: ReferenceSettings,
    /// `[safety]`.
    pub safety: SafetySection,
    /// `[backend]` and the chosen plugin's table.
    pub backend: BackendSection,
}

impl Configuration {
    /// Reads and checks the configuration that the command line names.
    ///
    /// # Errors
    /// Everything that is wrong with it, section by section, each with its place.
    pub fn load(options: &Options) -> Result<Self, ConfigError> {
        Self::read(Document::load(options)?)
    }

    /// Reads and checks a document.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn read(document: Document) -> Result<Self, ConfigError> {
        let mut problems = Problems::default();
        check_names(&document, &mut problems);
        let sections = sections::read(&document, &mut problems);
        let vehicle = problems.take(vehicle::read(&document));
        let controller = problems.take(controller::read(&document));
        let reference = problems.take(reference::read(&document));
        problems.finish()?;
        let (
            Some((flight, safety, backend)),
            Some((vehicle_text, vehicle)),
            Some(controller),
            Some(reference),
        ) = (sections, vehicle, controller, reference)
        else {
            return Err(Diagnostic::new("the configuration could not be read").into());
        };
        let document = Arc::new(document);
        Ok(Self {
            document,
            flight,
            vehicle_text,
            vehicle,
            controller,
            reference,
            safety,
            backend,
        })
    }

    /// The controller for the vehicle.
    ///
    /// # Errors
    /// These settings and this vehicle make none, with the place of the setting at fault.
    pub fn build_controller(&self) -> Result<Controller, ConfigError> {
        Controller::new(&self.vehicle, &self.controller)
            .map_err(|error| controller::explain_controller(&self.document, &error).into())
    }

    /// The reference for the vehicle.
    ///
    /// # Errors
    /// The vehicle cannot follow it at all, with the place of the setting at fault.
    pub fn build_reference(&self) -> Result<Reference, ConfigError> {
        let reference = self.reference.build(&self.vehicle);
        reference.map_err(|error| controller::explain(&self.document, "reference", &error).into())
    }
}

/// Notes every section that there is not.
pub(super) fn check_names(document: &Document, problems: &mut Problems) {
    for entry in document
        .root_table()
        .entries
        .iter()
        .filter(|entry| !SECTIONS.contains(&entry.key.as_str()))
    {
        let diagnostic = Diagnostic::new(format!("unknown key `{}`", entry.key)).at(
            entry.key_place.clone(),
            format!("expected one of the sections {}", SECTIONS.join(", ")),
        );
        problems.push(hint(diagnostic, &entry.key, SECTIONS));
    }
}
