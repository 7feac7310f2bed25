//! `[controller]`: the settings defined by `fly-control`, with errors located in the user's files.

use std::collections::BTreeMap;

use fly_control::plant::PlantError;
use fly_control::settings::{
    ActuatorSettings, ApproachSettings, DisturbanceSettings, GovernorSettings, Numbers,
    PreferredInput,
};
use fly_control::{ControllerError, ControllerSettings, SettingsError, StepError};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::decode::hint;
use super::diagnostic::{ConfigError, Diagnostic};
use super::document::{Document, show_path};
use super::section::section;
use super::source::SourceSpan;

pub(super) fn read(document: &Document) -> Result<ControllerSettings, ConfigError> {
    let fragment = section(document, "controller")?.ok_or_else(|| {
        Diagnostic::new("no controller is described")
            .note("the configuration has no section `[controller]`")
            .help("`fly configs quadcopter.toml` prints one to begin with")
    })?;
    let settings: ControllerSettings = fragment.decode()?;
    settings
        .validate()
        .map_err(|error| explain(document, "controller", &error))?;
    Ok(settings)
}

/// Locates an invalid setting, or the table from which it is missing.
pub(super) fn explain(document: &Document, section: &str, error: &SettingsError) -> Diagnostic {
    let path = match error.key.as_str() {
        "" => section.to_owned(),
        key => format!("{section}.{key}"),
    };
    let diagnostic = Diagnostic::new(format!("`{}` cannot be used", show_path(&path)));
    let named =
        (error.unknown.as_ref()).filter(|unknown| path.ends_with(&format!(".{}", unknown.name)));
    let place = match named {
        Some(_) => document.entry(&path).map(|entry| entry.key_place.clone()),
        None => document.nearest_place(&path),
    };
    let diagnostic = match place {
        Some(place) => diagnostic.at(place, error.message.as_str()),
        None => diagnostic.note(error.message.as_str()),
    };
    let diagnostic = Diagnostic {
        unreadable: error.unreadable,
        ..diagnostic
    };
    match &error.unknown {
        Some(unknown) => {
            let known: Vec<&str> = unknown.known.iter().map(String::as_str).collect();
            hint(diagnostic, &unknown.name, &known)
        }
        None => diagnostic,
    }
}

/// Explains why the settings do not fit the vehicle.
pub(super) fn explain_controller(document: &Document, error: &ControllerError) -> Diagnostic {
    if let ControllerError::Settings(error) = error {
        return explain(document, "controller", error);
    }
    let diagnostic = Diagnostic::new("this controller cannot fly this vehicle");
    let place = match error {
        ControllerError::NoMass { body } => {
            document.nearest_place(&format!("vehicle.bodies.{body}"))
        }
        ControllerError::Plant(PlantError::Constrained { key, .. }) => {
            document.nearest_place(&format!("vehicle.{key}"))
        }
        _ => document.nearest_place("controller"),
    };
    match place {
        Some(place) => diagnostic.at(place, error.to_string()),
        None => diagnostic.note(error.to_string()),
    }
}

/// The key that a failed step is about, and where it stands: state feedback computes its gains from the settings of
/// `[controller]`, where the reference is at rest.
pub(super) fn place_of_step(
    document: &Document,
    error: &StepError,
) -> Option<(&'static str, SourceSpan)> {
    let gains = ["controller.lqr", "controller.poles"];
    let key = match error {
        StepError::NotAtRest(_) => "reference",
        StepError::Placement(_) => (gains.into_iter())
            .find(|key| document.entry(key).is_some())
            .unwrap_or("controller"),
        _ => "controller",
    };
    Some((key, document.nearest_place(key)?))
}

/// Reads the settings that a controller keeps when its parameters are replaced, whatever else the section contains.
pub(super) fn read_kept(document: &Document) -> Result<ControllerSettings, ConfigError> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    #[allow(clippy::zero_sized_map_values)] // serde flattens into maps alone
    struct Section {
        approach: ApproachSettings,
        actuators: ActuatorSettings,
        disturbance: Option<DisturbanceSettings>,
        preferred_input: PreferredInput,
        input_weights: Option<Numbers>,
        limits: GovernorSettings,
        #[serde(flatten)]
        _others: BTreeMap<String, IgnoredAny>,
    }
    let kept = match section(document, "controller")? {
        Some(fragment) => fragment.decode::<Section>()?,
        None => Section::default(),
    };
    Ok(ControllerSettings {
        approach: kept.approach,
        actuators: kept.actuators,
        disturbance: kept.disturbance,
        preferred_input: kept.preferred_input,
        input_weights: kept.input_weights,
        limits: kept.limits,
        ..ControllerSettings::default()
    })
}
