//! Vehicles and systems, from the same tables of keys with which their reader rejects all others.

use fly_mechanics::description::{KEYS, Key, Value as Kind};
use serde_json::{Value, json};

use crate::shape::{DRAFT, described, table};

/// The schema of a vehicle file or a system file.
pub fn schema() -> Value {
    let mut schema = object(KEYS, "A vehicle, or a system of bodies.", true);
    let root = schema.as_object_mut().into_iter().flatten();
    let mut whole = json!({ "$schema": DRAFT, "title": "fly: a vehicle or a system of bodies" });
    if let Some(whole) = whole.as_object_mut() {
        whole.extend(root.map(|(key, value)| (key.clone(), value.clone())));
    }
    whole
}

/// The schema of a table that is a description, or changes the one in `file`.
pub fn included(about: &str) -> Value {
    let mut schema = object(KEYS, about, false);
    if let Some(keys) = schema["properties"].as_object_mut() {
        let about = "A vehicle file, TOML or URDF, relative to this one, or the name of a shipped one; the other keys change it.";
        let meshes = "Where the meshes of a URDF in `file` are, relative to this file: their folder, a package's, or one of packages. They are also looked for beside the URDF and above it.";
        for (key, about) in [("file", about), ("mesh_dir", meshes)] {
            keys.insert(
                key.to_owned(),
                json!({ "description": about, "type": "string" }),
            );
        }
    }
    schema
}

/// Some of the keys of a description.
pub fn some(names: &[&str], about: &str) -> Value {
    let keys = KEYS.iter().filter(|key| names.contains(&key.name));
    table(
        about,
        keys.map(|key| {
            (
                key.name.to_owned(),
                described(&value(&key.value, true), key.about),
            )
        }),
    )
}

/// A table with these keys. A table that changes another one may omit keys, except in arrays, which are replaced as a
/// whole.
fn object(keys: &[Key], about: &str, whole: bool) -> Value {
    let mut schema = table(
        about,
        keys.iter().map(|key| {
            (
                key.name.to_owned(),
                described(&value(&key.value, whole), key.about),
            )
        }),
    );
    let required: Vec<&str> = keys
        .iter()
        .filter(|key| key.required)
        .map(|key| key.name)
        .collect();
    if let (Some(object), true) = (schema.as_object_mut(), whole && !required.is_empty()) {
        object.insert("required".to_owned(), json!(required));
    }
    if about.is_empty()
        && let Some(object) = schema.as_object_mut()
    {
        object.remove("description");
    }
    schema
}

fn value(kind: &Kind, whole: bool) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Number => json!({ "type": "number" }),
        Kind::Count => json!({ "type": "integer", "minimum": 0 }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Word(words) => json!({ "type": "string", "enum": words }),
        Kind::Numbers(count) => several(*count, &json!({ "type": "number" })),
        Kind::Several(count, element) => several(*count, &value(element, true)),
        Kind::List(element) => json!({ "type": "array", "items": value(element, true) }),
        Kind::Table(keys) => object(keys, "", whole),
        Kind::Named(keys) => {
            json!({ "type": "object", "additionalProperties": object(keys, "", whole) })
        }
        Kind::Any(kinds) => {
            let kinds: Vec<Value> = kinds.iter().map(|kind| value(kind, whole)).collect();
            json!({ "anyOf": kinds })
        }
    }
}

fn several(count: usize, element: &Value) -> Value {
    json!({ "type": "array", "items": element, "minItems": count, "maxItems": count })
}
