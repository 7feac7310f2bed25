//! Every shipped file names its schema, and is valid by it.

use fly_flight::config::shipped::{self, SHIPPED, Shipped};
use jsonschema::Validator;
use serde_json::Value;

/// The name of the schema of a shipped file.
pub fn schema_of(shipped: &Shipped) -> &'static str {
    let is = |mut all: Box<dyn Iterator<Item = &'static Shipped>>| {
        all.any(|one| one.name == shipped.name)
    };
    if is(Box::new(shipped::fleets())) {
        "fleet"
    } else if is(Box::new(shipped::sweeps())) {
        "sweep"
    } else if is(Box::new(shipped::systems())) {
        "system"
    } else {
        "flight"
    }
}

fn validator(name: &str) -> Validator {
    let all = fly_schema::all();
    let (_, _, schema) = all.iter().find(|(other, ..)| *other == name).unwrap();
    jsonschema::validator_for(schema).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::to_value(text.parse::<toml::Table>().unwrap()).unwrap()
}

#[test]
fn every_shipped_file_is_valid_by_the_schema_that_it_names() {
    for shipped in SHIPPED {
        let name = schema_of(shipped);
        let up = "../".repeat(shipped.name.matches('/').count());
        let first = shipped.text.lines().next();
        assert_eq!(
            first,
            Some(format!("#:schema {up}schema/{name}.json").as_str()),
            "{}",
            shipped.name
        );
        let document = json(shipped.text);
        let errors: Vec<String> = (validator(name).iter_errors(&document))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(
            errors.is_empty(),
            "{}:\n{}",
            shipped.name,
            errors.join("\n")
        );
    }
}

#[test]
fn a_wrong_type_and_a_missing_key_are_refused() {
    let flight = shipped::find("quadcopter.toml").unwrap().text;
    let validator = validator("flight");
    for (from, to) in [
        ("duration = 12.0", "duration = \"long\""),
        ("rate_hz = 500", "rate = 500"),
        ("plugin = \"sim\"", ""),
        ("kind = \"lissajous\"", "kind = \"lissajou\""),
    ] {
        let wrong = flight.replace(from, to);
        assert_ne!(wrong, flight, "{from}");
        assert!(!validator.is_valid(&json(&wrong)), "{to}");
    }
}
