//! The section `[serve]`, for `fly serve`, `fly check` and `--mavlink-out`.

use fly_mavlink::hil::ServeSettings;
use fly_mavlink::outputs::{Autopilot, OutputMap};

use crate::config::{Configuration, Diagnostic, Document};
use crate::exit::{Exit, Failure};

/// Reads the section.
pub(super) fn read(document: &Document) -> Result<ServeSettings, Failure> {
    let Some(table) = document.table("serve") else {
        return Ok(ServeSettings::default());
    };
    let section: ServeSettings = table.decode()?;
    if let Some(rate) = section.rate_hz
        && !(1.0..=10_000.0).contains(&rate)
    {
        let label = format!("expected 1 to 10000 Hz, found {rate}");
        return Err(refused(
            document,
            "serve.rate_hz",
            "is out of range",
            &label,
        ));
    }
    if !section.origin.is_valid() {
        let label = "expected a latitude within 89 and a longitude within 180 degrees, an altitude of -1000 to 100000 m";
        let title = "is not a place that can be served";
        return Err(refused(document, "serve.origin", title, label));
    }
    Ok(section)
}

/// The outputs of this autopilot.
pub(super) fn outputs(
    configuration: &Configuration,
    section: &ServeSettings,
    autopilot: Autopilot,
) -> Result<OutputMap, Failure> {
    let inputs = &configuration.system.inputs;
    OutputMap::new(inputs, autopilot, section.thrust_curve, &section.outputs).map_err(|error| {
        let (title, label) = ("does not fit the vehicle", error.to_string());
        refused(&configuration.document, "serve.outputs", title, &label)
    })
}

/// Checks the section, if there is one.
///
/// # Errors
/// The first value that no autopilot could be served with.
pub fn check(configuration: &Configuration) -> Result<(), Failure> {
    let document = &configuration.document;
    if document.place("serve").is_none() {
        return Ok(());
    }
    let section = read(document)?;
    // What is given must fit; without outputs they are numbered as the autopilot does, which may suit only one.
    let px4 = outputs(configuration, &section, Autopilot::Px4);
    px4.or_else(|_| outputs(configuration, &section, Autopilot::ArduPilot))
        .map(drop)
}

/// An error at the place of a value.
fn refused(document: &Document, path: &str, what: &str, label: &str) -> Failure {
    let diagnostic = Diagnostic::new(format!("`{path}` {what}"));
    let diagnostic = match document.place(path).or_else(|| document.place("serve")) {
        Some(place) => diagnostic.at(place, label),
        None => diagnostic.note(label),
    };
    Failure::diagnosed(Exit::Usage, diagnostic)
}
