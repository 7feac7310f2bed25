//! Several vehicles in one world.

use fly_flight::config::schema::{CHANGED, INITIAL, WORLD};
use serde_json::{Map, Value, json};

use crate::description;
use crate::flight::{Sections, sections};
use crate::shape::{DRAFT, described, partial, table};

/// The schema of a fleet.
pub fn schema() -> Value {
    let Sections { keys, definitions } = sections();
    let keys: Map<String, Value> = keys.into_iter().collect();
    let initial = &definitions["InitialKeys"]["properties"];
    let initial = table(
        "Its initial state; else as in its file.",
        INITIAL.map(|key| (key.to_owned(), initial[key].clone())),
    );
    let text = |about: &str| json!({ "description": about, "type": "string" });
    let mut vehicle = table(
        "A vehicle.",
        [
            ("name".to_owned(), text("Its name: letters, digits, `-` and `_`. Its bodies are `NAME/BODY` in the world.")),
            ("config".to_owned(), text("Its configuration: a path relative to this file, or a shipped one.")),
            ("initial".to_owned(), initial),
        ]
        .into_iter()
        .chain(CHANGED.map(|key| (key.to_owned(), changed(&keys[key])))),
    );
    vehicle["required"] = json!(["name", "config"]);
    json!({
        "$schema": DRAFT,
        "title": "fly: several vehicles in one world",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "flight": keys["flight"],
            "vehicles": { "description": "The vehicles.", "type": "array", "items": vehicle },
            "world": description::some(WORLD, "Bodies without a controller."),
            "backend": keys["backend"],
        },
        "required": ["flight", "vehicles", "backend"],
        "definitions": definitions_of(definitions),
    })
}

/// A section that changes that of the vehicle's file.
fn changed(section: &Value) -> Value {
    let mut section = partial(section.clone());
    rename(&mut section);
    let about = section["description"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    described(
        &section,
        &format!("{about} Its keys change those of the file."),
    )
}

/// The definitions, and a copy of each in which all keys are optional.
fn definitions_of(definitions: Map<String, Value>) -> Map<String, Value> {
    let mut all = definitions.clone();
    for (name, schema) in definitions {
        let mut schema = partial(schema);
        rename(&mut schema);
        all.insert(format!("{name}Changed"), schema);
    }
    all
}

/// References to the definitions with optional keys.
fn rename(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(target) if key == "$ref" => target.push_str("Changed"),
                    value => rename(value),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(rename),
        _ => {}
    }
}
