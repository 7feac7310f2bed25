//! `[vehicle]`: the description that `fly-mechanics` reads, with its errors in the user's files.

use fly_mechanics::description::{DescriptionError, Problem};
use fly_mechanics::{System, Vehicle, VehicleError};

use super::diagnostic::{ConfigError, Diagnostic};
use super::document::{Document, Fragment};
use super::section::section;

/// What `[vehicle]` describes.
#[derive(Clone, Debug)]
pub struct Described {
    /// Its text, a document of its own.
    pub text: Fragment,
    /// Its bodies, joints, rotors and motors.
    pub system: System,
    /// The same as a vehicle of one free body with rotors, if it is one.
    pub vehicle: Option<Vehicle>,
}

/// Reads `[vehicle]`.
pub(super) fn read(document: &Document) -> Result<Described, ConfigError> {
    let text = section(document, "vehicle")?.ok_or_else(|| {
        Diagnostic::new("no vehicle is described")
            .note("the configuration has no section `[vehicle]`")
            .help("add `[vehicle]` with `file = \"vehicles/quadcopter.toml\"`")
    })?;
    let wrong = |error: DescriptionError| explain(&text, &error);
    let system = System::from_toml(text.text()).map_err(wrong)?;
    let vehicle = match Vehicle::try_from(system.clone()) {
        Ok(vehicle) => Some(vehicle),
        // Read as a vehicle, the error has its place.
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

/// What is wrong at this key, and what was expected and found.
pub(super) fn wording(path: &str, problem: &Problem) -> (String, String) {
    match problem {
        Problem::UnknownKey { key, expected } => {
            // Some paths end with the key itself.
            let table = path.strip_suffix(&format!(".{key}")).unwrap_or(path);
            let key = [table, key].join(if table.is_empty() { "" } else { "." });
            (
                format!("unknown key `{key}`"),
                format!("expected one of {expected}"),
            )
        }
        Problem::MissingKey(key) => (
            format!(
                "missing key `{}`",
                [path, key].join(if path.is_empty() { "" } else { "." })
            ),
            format!("`{key}` must be given in this table"),
        ),
        Problem::Syntax(message) if path.is_empty() => {
            ("the text cannot be read".to_owned(), message.clone())
        }
        problem if path.is_empty() => ("not a system of bodies".to_owned(), problem.to_string()),
        Problem::WrongType { .. } => (format!("`{path}` has the wrong type"), problem.to_string()),
        Problem::WrongLength { .. } => (
            format!("`{path}` has the wrong length"),
            problem.to_string(),
        ),
        Problem::NotFinite(_) => (format!("`{path}` is not finite"), problem.to_string()),
        Problem::OutOfRange { .. } => (format!("`{path}` is out of range"), problem.to_string()),
        problem => (format!("`{path}` is not possible"), problem.to_string()),
    }
}
