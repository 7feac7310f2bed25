//! `[vehicle]`: the description read by `fly-mechanics`, with errors located in the user's files.

use fly_mechanics::description::DescriptionError;
use fly_mechanics::{System, Vehicle, VehicleError};

use super::diagnostic::{ConfigError, Diagnostic};
use super::document::{Document, Fragment};
use super::section::section;
use super::wording::wording;

/// The content of `[vehicle]`.
#[derive(Clone, Debug)]
pub struct Described {
    /// Its text, as a separate document.
    pub text: Fragment,
    /// Its bodies, joints, rotors and motors.
    pub system: System,
    /// The system as a vehicle of one free body with rotors, if it is one.
    pub vehicle: Option<Vehicle>,
}

/// Rejects a configuration of several vehicles.
pub(super) fn refuse_several(document: &Document) -> Result<(), Diagnostic> {
    if let (Some(vehicles), None) = (document.entry("vehicles"), document.entry("vehicle")) {
        return Err(
            Diagnostic::new("this describes several vehicles, not one flight")
                .at(
                    vehicles.key_place.clone(),
                    "expected a configuration with one [vehicle]",
                )
                .help("`fly --config` flies such a file, `fly check` checks it"),
        );
    }
    Ok(())
}

/// Reads `[vehicle]`.
pub(super) fn read(document: &Document) -> Result<Described, ConfigError> {
    refuse_several(document)?;
    let text = section(document, "vehicle")?.ok_or_else(|| {
        Diagnostic::new("no vehicle is described")
            .note("the configuration has no section `[vehicle]`")
            .help("add `[vehicle]` with `file = \"vehicles/quadcopter.toml\"`")
    })?;
    let wrong = |error: DescriptionError| explain(&text, &error);
    let system = System::from_toml(text.text()).map_err(wrong)?;
    let vehicle = match Vehicle::try_from(system.clone()) {
        Ok(vehicle) => Some(vehicle),
        // Read as a vehicle, the error has a place.
        Err(VehicleError::WithoutMass { .. } | VehicleError::WithoutMoments { .. }) => {
            Some(Vehicle::from_toml(text.text()).map_err(wrong)?)
        }
        Err(_) => None,
    };
    Ok(Described {
        text,
        system,
        vehicle,
    })
}

/// The system that a table describes.
pub(super) fn system(fragment: &Fragment) -> Result<System, ConfigError> {
    let read = System::from_toml(fragment.text());
    Ok(read.map_err(|error| explain(fragment, &error))?)
}

fn explain(fragment: &Fragment, error: &DescriptionError) -> Diagnostic {
    let path = if error.path.is_empty() {
        fragment.path().to_owned()
    } else {
        format!("{}.{}", fragment.path(), error.path)
    };
    let (title, label) = wording(&path, &error.problem);
    let diagnostic = fragment.diagnostic(title, &error.span, label);
    match &error.help {
        Some(help) => diagnostic.help(help.as_str()),
        None => diagnostic,
    }
}
