//! The complete configuration of a flight, read from one [`Document`].

use std::sync::Arc;

use fly_control::analysis::ClosedLoop;
use fly_control::governor::Governor;
use fly_control::plant::SystemPlant;
use fly_control::settings::SettingsError;
use fly_control::{Controller, ControllerSettings, Reference, ReferenceSettings};
use fly_control::{StepError, SystemPoint, Trajectory};
use fly_mechanics::measurements::Measurements;
use fly_mechanics::{System, Vehicle};

use super::decode::hint;
use super::diagnostic::{ConfigError, Diagnostic, Problems};
use super::document::{Document, Fragment, Options};
use super::estimator::EstimatorSection;
use super::sections::{self, BackendSection, FlightSection, SafetySection};
use super::setpoints::SetpointsSection;
use super::source::SourceSpan;
use super::tolerance::Tolerance;
use super::vehicle::{self, Described};
use super::{controller, reference};
use crate::supervisor::Response;

/// The names of the sections.
const SECTIONS: &[&str] = &[
    "flight",
    "vehicle",
    "controller",
    "reference",
    "estimator",
    "safety",
    "setpoints",
    "backend",
    "serve",
];

/// A configuration in which every key has been checked.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The text it was read from, with the origin of every byte.
    pub document: Arc<Document>,
    /// `[flight]`.
    pub flight: FlightSection,
    /// `[vehicle]` as a separate document: the controller's model.
    pub vehicle_text: Fragment,
    /// The controller's model: the bodies, joints, rotors and motors that it describes.
    pub system: System,
    /// The controller's model as a vehicle of one free body with rotors, if it is one.
    pub vehicle: Option<Vehicle>,
    /// `[controller]`.
    pub controller: ControllerSettings,
    /// `[reference]`.
    pub reference: ReferenceSettings,
    /// `[reference] tolerance`.
    pub tolerance: Tolerance,
    /// `[estimator]`, if present.
    pub estimator: Option<EstimatorSection>,
    /// `[safety]`.
    pub safety: SafetySection,
    /// `[setpoints]`.
    pub setpoints: SetpointsSection,
    /// `[backend]` and the chosen plugin's table.
    pub backend: BackendSection,
}

impl Configuration {
    /// Reads and checks the configuration that the command line names.
    ///
    /// # Errors
    /// All problems found, section by section, each with its place.
    pub fn load(options: &Options) -> Result<Self, ConfigError> {
        Self::read(Document::load(options)?)
    }

    /// Reads and checks a configuration in TOML. `name` identifies it in messages, summary and log. Vehicle files are
    /// found as for a configuration file: relative to the current folder, then among the shipped ones. `[backend]` may
    /// be omitted if the program provides its own backend.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn from_toml(name: &str, text: &str) -> Result<Self, ConfigError> {
        let document = Document::from_toml(name, text)?;
        let own_backend = document.entry("backend").is_none();
        Self::read_with(document, own_backend)
    }

    /// Reads and checks a document.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    pub fn read(document: Document) -> Result<Self, ConfigError> {
        Self::read_with(document, false)
    }

    fn read_with(document: Document, own_backend: bool) -> Result<Self, ConfigError> {
        let mut problems = Problems::default();
        check_kind(&document)?;
        check_names(&document, &mut problems);
        let sections = sections::read(&document, own_backend, &mut problems);
        let vehicle = problems.take(vehicle::read(&document));
        let controller = problems.take(controller::read(&document));
        let reference = problems.take(reference::read(&document));
        let tolerance = problems.take(Tolerance::read(&document));
        let estimator = problems.take(EstimatorSection::read(&document));
        let setpoints = problems.take(SetpointsSection::read(&document));
        problems.finish()?;
        let (
            Some((flight, safety, backend)),
            Some(Described {
                text: vehicle_text,
                system,
                vehicle,
            }),
            Some(controller),
            Some(reference),
            Some(tolerance),
            Some(estimator),
            Some(setpoints),
        ) = (
            sections, vehicle, controller, reference, tolerance, estimator, setpoints,
        )
        else {
            return Err(Diagnostic::new("the configuration could not be read").into());
        };
        let configuration = Self {
            document: Arc::new(document),
            flight,
            vehicle_text,
            system,
            vehicle,
            controller,
            reference,
            tolerance,
            estimator,
            safety,
            setpoints,
            backend,
        };
        configuration.check_descent()?;
        configuration.check_estimator()?;
        configuration.check_ground()?;
        configuration.check_limits()?;
        Ok(configuration)
    }

    /// Rejects `safety.then = "descend"` unless the vehicle has one body.
    fn check_descent(&self) -> Result<(), ConfigError> {
        let (FlownModel::System(_), Some(Response::Descend)) =
            (self.flown_model(), self.safety.then)
        else {
            return Ok(());
        };
        let diagnostic = Diagnostic::new("`safety.then` is not possible");
        let label = format!(
            "expected \"hold\", \"land\" or \"terminate\", found \"descend\": {}",
            self.why_no_descent()
        );
        Err(match self.document.place("safety.then") {
            Some(place) => diagnostic.at(place, label),
            None => diagnostic.note(label),
        }
        .into())
    }

    /// Why a system cannot follow the descent, which is one of a vehicle of one body by its energies.
    fn why_no_descent(&self) -> String {
        let approach = self.controller.approach;
        if self.vehicle.is_some() && approach.template().is_none() {
            return format!("the approach {} flies no descent", approach.name());
        }
        format!(
            "`{}` is not flown as a vehicle of one body",
            self.system.name
        )
    }

    /// Rejects `[estimator]` unless there is a body whose pose it can estimate.
    fn check_estimator(&self) -> Result<(), ConfigError> {
        let tracked = Measurements::tracked(&self.system.model);
        if tracked.is_some() || self.estimator.is_none() {
            return Ok(());
        }
        let diagnostic = Diagnostic::new("`[estimator]` is not possible");
        let label = format!(
            "expected none: `{}` does not have exactly one free body, whose pose could be estimated",
            self.system.name
        );
        Err(match self.document.place("estimator") {
            Some(place) => diagnostic.at(place, label),
            None => diagnostic.note(label),
        }
        .into())
    }

    /// Rejects limits that this system cannot exceed, and responses that it cannot fly.
    fn check_limits(&self) -> Result<(), ConfigError> {
        let (limits, name) = (&self.safety.limits, &self.system.name);
        let tracked = Measurements::tracked(&self.system.model);
        let error = |path: &str, label: String| {
            let diagnostic = Diagnostic::new(format!("`{path}` is not possible"));
            Err(match self.document.place(path) {
                Some(place) => diagnostic.at(place, label),
                None => diagnostic.note(label),
            }
            .into())
        };
        if let (None, Some(key)) = (tracked, limits.of_a_body()) {
            let label = format!(
                "expected none: `{name}` does not have exactly one free body, to which the limit would apply"
            );
            return error(&format!("safety.limits.{key}"), label);
        }
        let FlownModel::System(_) = self.flown_model() else {
            return Ok(());
        };
        match limits
            .responses()
            .find(|(_, then)| *then == Response::Descend)
        {
            Some((path, _)) => error(
                &path,
                format!(
                    "expected \"warn\", \"hold\", \"land\" or \"terminate\", found \"descend\": {}",
                    self.why_no_descent()
                ),
            ),
            None => Ok(()),
        }
    }

    /// Rejects `safety.ground_height` unless there is a free body, which has a height.
    fn check_ground(&self) -> Result<(), ConfigError> {
        let tracked = Measurements::tracked(&self.system.model);
        if tracked.is_some() || self.safety.ground_height.is_none() {
            return Ok(());
        }
        let diagnostic = Diagnostic::new("`safety.ground_height` is not possible");
        let label = format!(
            "expected none: `{}` does not have exactly one free body, whose height it would be",
            self.system.name
        );
        Err(match self.document.place("safety.ground_height") {
            Some(place) => diagnostic.at(place, label),
            None => diagnostic.note(label),
        }
        .into())
    }
}

/// The kind of vehicle or system that flies.
#[derive(Clone, Copy, Debug)]
pub enum FlownModel<'a> {
    /// One free body with rotors; its controller has constant matrices.
    Vehicle(&'a Vehicle),
    /// A system of bodies, whose controller has configuration-dependent matrices; also a vehicle under a textbook
    /// controller.
    System(&'a System),
}

/// # Controller and reference
impl Configuration {
    /// The kind of vehicle or system that flies.
    pub fn flown_model(&self) -> FlownModel<'_> {
        match &self.vehicle {
            Some(vehicle) if self.controller.is_of_body() => FlownModel::Vehicle(vehicle),
            _ => FlownModel::System(&self.system),
        }
    }

    /// The controller for a vehicle of one body.
    ///
    /// # Errors
    /// The settings do not fit the vehicle; located at the setting at fault.
    pub fn build_controller(&self, vehicle: &Vehicle) -> Result<Controller, ConfigError> {
        let controller = self.controller.governed(vehicle).build(vehicle);
        controller.map_err(|error| controller::explain_controller(&self.document, &error).into())
    }

    /// The governor that leads a vehicle of one body to a distant reference.
    ///
    /// # Errors
    /// The limits do not fit the vehicle; located at the limit at fault.
    pub fn build_governor(
        &self,
        vehicle: &Vehicle,
        closed: Option<&ClosedLoop>,
    ) -> Result<Option<Governor>, ConfigError> {
        let governor = self.controller.governor(vehicle, closed);
        governor.map_err(|error| controller::explain(&self.document, "controller", &error).into())
    }

    /// The controller for a system.
    ///
    /// # Errors
    /// The settings do not fit the system; located at the setting at fault.
    pub fn build_system_controller(
        &self,
        system: &System,
    ) -> Result<Controller<SystemPlant>, ConfigError> {
        self.controller
            .build_for_system(system)
            .map_err(|error| controller::explain_controller(&self.document, &error).into())
    }

    /// The key that a failed step of the controller is about, and where it stands.
    pub fn place_of_step(&self, error: &StepError) -> Option<(&'static str, SourceSpan)> {
        controller::place_of_step(&self.document, error)
    }

    /// Why the controller cannot begin; located at the setting at fault.
    pub(crate) fn explain_step(&self, error: &StepError) -> ConfigError {
        match self.place_of_step(error) {
            Some((key, place)) => Diagnostic::new(format!("`{key}` cannot be used"))
                .at(place, error.to_string())
                .into(),
            None => Diagnostic::new(format!("the controller: {error}")).into(),
        }
    }

    /// The reference for a vehicle of one body.
    ///
    /// # Errors
    /// The vehicle cannot follow it; located at the setting at fault.
    pub fn build_reference(&self, vehicle: &Vehicle) -> Result<Reference, ConfigError> {
        let reference = self.reference.build(vehicle);
        reference.map_err(|error| controller::explain(&self.document, "reference", &error).into())
    }

    /// Rejects a reference that ends as it begins, as one point does (`end`, s), if the flight ends with it.
    ///
    /// # Errors
    /// Located at the reference.
    pub fn check_end(&self, end: Option<f64>) -> Result<(), ConfigError> {
        let is_over = end.is_some_and(|end| end < 1.0 / self.flight.rate_hz);
        if !is_over || self.flight.duration.is_some() {
            return Ok(());
        }
        let error = SettingsError::new(
            "kind",
            "it ends as it begins, and the flight would end with it: expected `flight.duration`, a `hold` at the last point, or another point",
        );
        Err(controller::explain(&self.document, "reference", &error).into())
    }

    /// Where the reference swings between samples that are too coarse.
    ///
    /// # Errors
    /// Their file cannot be read.
    pub fn coarse_samples(&self) -> Result<Option<String>, ConfigError> {
        let swing = self.reference.swing();
        let swing =
            swing.map_err(|error| controller::explain(&self.document, "reference", &error))?;
        Ok(swing.map(|(file, swing)| format!("{}: {swing}", file.display())))
    }

    /// The reference for a system.
    ///
    /// # Errors
    /// The system cannot follow it; located at the setting at fault.
    pub fn build_system_reference(
        &self,
        system: &System,
    ) -> Result<Box<dyn Trajectory<SystemPoint>>, ConfigError> {
        let reference = self.reference.build_for_system(system);
        reference.map_err(|error| controller::explain(&self.document, "reference", &error).into())
    }
}

/// Rejects a description of a vehicle or system that is not a flight's configuration.
fn check_kind(document: &Document) -> Result<(), Diagnostic> {
    vehicle::refuse_several(document)?;
    let (Some(bodies), None) = (document.entry("bodies"), document.entry("vehicle")) else {
        return Ok(());
    };
    Err(
        Diagnostic::new("this describes bodies, not a flight")
            .at(
                bodies.key_place.clone(),
                format!("expected the sections {}", SECTIONS.join(", ")),
            )
            .help(
                "`fly system` prints such a file, `fly tune` designs a controller for it; a flight names it: `[vehicle]` with `file = \"PATH\"`",
            ),
    )
}

/// Reports unknown sections.
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
