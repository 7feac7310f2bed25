//! Building blocks of schemas.

use serde_json::{Map, Value, json};

/// The dialect of all schemas.
pub const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

/// A table with these keys and no others.
pub fn table(about: &str, keys: impl IntoIterator<Item = (String, Value)>) -> Value {
    let properties: Map<String, Value> = keys.into_iter().collect();
    json!({ "description": about, "type": "object", "additionalProperties": false, "properties": properties })
}

/// The schema with this description.
pub fn described(schema: &Value, about: &str) -> Value {
    let mut schema = schema.clone();
    let Some(object) = schema.as_object_mut() else {
        return schema;
    };
    if object.contains_key("$ref") {
        return json!({ "description": about, "allOf": [schema] });
    }
    object.insert("description".to_owned(), about.into());
    schema
}

/// The schema with all keys optional, for a table that changes another one.
pub fn partial(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(object) => {
            if object.get("required").is_some_and(Value::is_array) {
                object.remove("required");
            }
            for value in object.values_mut() {
                *value = partial(value.take());
            }
        }
        Value::Array(elements) => {
            for value in elements {
                *value = partial(value.take());
            }
        }
        _ => {}
    }
    schema
}
