//! Flights: a table for each section.

use fly_flight::config::schema;
use fly_mavlink::hil::ServeSettings;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::description;
use crate::shape::{DRAFT, described, table};

/// The sections and their shared definitions.
pub struct Sections {
    /// The schemas, by section name.
    pub keys: Vec<(String, Value)>,
    /// Definitions referenced as `#/definitions/…`.
    pub definitions: Map<String, Value>,
}

/// The schema of a flight.
pub fn schema() -> Value {
    let Sections { keys, definitions } = sections();
    json!({
        "$schema": DRAFT,
        "title": "fly: a flight",
        "type": "object",
        "additionalProperties": false,
        "properties": Map::from_iter(keys),
        "required": ["vehicle", "controller", "reference", "backend"],
        "definitions": definitions,
    })
}

/// All sections of a flight.
pub fn sections() -> Sections {
    let mut generator = SchemaSettings::draft07().into_generator();
    let mut keys = vec![("vehicle".to_owned(), vehicle("The controller's model."))];
    for (name, about, schema) in schema::sections(&mut generator) {
        let schema = described(&schema.to_value(), about);
        keys.push((
            name.to_owned(),
            if name == "reference" {
                or_word(&schema)
            } else {
                schema
            },
        ));
    }
    keys.push(("backend".to_owned(), backend(&mut generator)));
    let serve = generator.subschema_for::<ServeSettings>();
    keys.push((
        "serve".to_owned(),
        described(
            &serve.to_value(),
            "The vehicle as seen by an autopilot or a ground station.",
        ),
    ));
    let mut all =
        json!({ "keys": Map::from_iter(keys), "definitions": generator.take_definitions(true) });
    for transform in &mut SchemaSettings::draft07().transforms {
        if let Ok(schema) = <&mut Schema>::try_from(&mut all) {
            transform.transform(schema);
        }
    }
    let take = |value: &mut Value| value.take().as_object().cloned().unwrap_or_default();
    let mut definitions = take(&mut all["definitions"]);
    let about = "A description, or changes of the one in `file`.";
    definitions.insert(VEHICLE.to_owned(), description::included(about));
    Sections {
        keys: take(&mut all["keys"]).into_iter().collect(),
        definitions,
    }
}

/// The name of the definition of a table that is a description, or changes one.
const VEHICLE: &str = "Vehicle";

/// A file's name, or a table.
fn vehicle(about: &str) -> Value {
    json!({
        "description": about,
        "anyOf": [
            { "description": "A vehicle file, relative to this one, or the name of a shipped one.", "type": "string" },
            { "$ref": format!("#/definitions/{VEHICLE}") },
        ],
    })
}

/// `reference = "recorded"` is short for setting only the kind.
fn or_word(reference: &Value) -> Value {
    json!({ "description": reference["description"], "anyOf": [{ "const": "recorded" }, reference] })
}

/// The tables of the plugins that come with the command; those of other plugins may contain anything.
pub fn backend(generator: &mut SchemaGenerator) -> Value {
    let mut sim = fly_plugin_sim::schema(generator).to_value();
    if let Some(keys) = sim["properties"].as_object_mut() {
        let own = "The plant, if it differs from the controller's model.";
        keys.insert("vehicle".to_owned(), vehicle(own));
    }
    let mavlink = fly_mavlink::backend::schema(generator).to_value();
    let replay =
        <crate::replay::Settings as schemars::JsonSchema>::json_schema(generator).to_value();
    let plugin = json!({ "description": "The name of a plugin, or with --allow-plugin the path of a library.", "type": "string" });
    let mut keys = table(
        "The backend: the chosen plugin, and a table for each plugin.",
        [
            ("plugin".to_owned(), plugin),
            ("sim".to_owned(), described(&sim, "The simulation.")),
            (
                "replay".to_owned(),
                described(&replay, "A recorded flight."),
            ),
            (
                "quadcopter".to_owned(),
                described(&mavlink, "A multicopter over MAVLink."),
            ),
            (
                "tricopter".to_owned(),
                described(&mavlink, "A tricopter over MAVLink."),
            ),
        ],
    );
    keys["additionalProperties"] = json!({ "type": "object" });
    keys["required"] = json!(["plugin"]);
    keys
}
