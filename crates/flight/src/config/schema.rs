//! JSON schemas of the sections read here, each generated from the structure that reads it.

use fly_control::{ControllerSettings, ReferenceSettings};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::estimator::EstimatorSection;
pub use super::fleet::{CHANGED, INITIAL, WORLD};
use super::sections::{FlightSection, SafetySection};
use super::setpoints::SetpointsSection;
use super::tolerance::Tolerance;

/// A section's name, purpose and schema.
pub type Section = (&'static str, &'static str, Schema);

/// All sections of a flight except `vehicle`, `backend` and `serve`.
pub fn sections(generator: &mut SchemaGenerator) -> Vec<Section> {
    let reference = ReferenceSettings::json_schema(generator);
    let tolerance = generator.subschema_for::<Tolerance>();
    vec![
        section::<FlightSection>(generator, "flight", "Duration, control rate, seed and log."),
        section::<ControllerSettings>(
            generator,
            "controller",
            "The desired closed loop, and the allocation of inputs within their limits.",
        ),
        (
            "reference",
            "The desired motion of the vehicle.",
            with_tolerance(reference, &tolerance),
        ),
        section::<EstimatorSection>(
            generator,
            "estimator",
            "State estimation from the raw sensors of a backend.",
        ),
        section::<SafetySection>(
            generator,
            "safety",
            "The responses to frames that are stale, not finite or missing, and the limits of the flight.",
        ),
        section::<SetpointsSection>(
            generator,
            "setpoints",
            "The inner loops of an autopilot that receives attitudes or angular velocities.",
        ),
    ]
}

fn section<T: JsonSchema>(
    generator: &mut SchemaGenerator,
    name: &'static str,
    about: &'static str,
) -> Section {
    (name, about, generator.subschema_for::<T>())
}

/// Every kind has the key `tolerance` beside its own.
fn with_tolerance(mut reference: Schema, tolerance: &Schema) -> Schema {
    let kinds = reference
        .get_mut("oneOf")
        .and_then(|kinds| kinds.as_array_mut());
    for kind in kinds.into_iter().flatten() {
        let properties = kind
            .get_mut("properties")
            .and_then(|keys| keys.as_object_mut());
        if let Some(properties) = properties {
            properties.insert(super::keys::TOLERANCE.to_owned(), tolerance.clone().into());
        }
    }
    reference
}
