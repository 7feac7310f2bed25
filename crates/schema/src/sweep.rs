//! Plans of campaigns.

use serde_json::{Value, json};

use crate::shape::{DRAFT, table};

/// The schema of a plan.
pub fn schema() -> Value {
    let number = json!({ "type": "number" });
    let two = json!({ "type": "array", "items": number, "minItems": 2, "maxItems": 2 });
    let three = json!({ "type": "array", "items": number, "minItems": 3, "maxItems": 3 });
    let variations = [
        (
            "values",
            json!({ "type": "array", "minItems": 1 }),
            "These values, one after the other.",
        ),
        (
            "linspace",
            three,
            "[from, to, count]: evenly spaced numbers.",
        ),
        ("uniform", two.clone(), "[from, to]: drawn, uniform."),
        (
            "log_uniform",
            two.clone(),
            "[from, to]: drawn, its logarithm uniform.",
        ),
        ("normal", two.clone(), "[mean, standard deviation]: drawn."),
        (
            "integers",
            two,
            "[from, to]: drawn, whole numbers, both ends included.",
        ),
        (
            "ball",
            number.clone(),
            "Radius: three numbers, drawn, uniform in a ball.",
        ),
        (
            "sphere",
            number.clone(),
            "Radius: three numbers, drawn, uniform on a sphere.",
        ),
        (
            "rotation_deg",
            number,
            "Largest angle, degrees: a rotation vector, drawn, uniform over all rotations by at most this.",
        ),
    ];
    let variations: Vec<Value> = variations
        .into_iter()
        .map(|(name, value, about)| {
            let mut variation = table(about, [(name.to_owned(), value)]);
            variation["required"] = json!([name]);
            variation
        })
        .collect();
    let count = |about: &str, least: u64| json!({ "description": about, "type": "integer", "minimum": least });
    let mut plan = table(
        "A campaign: the configuration and the varied keys.",
        [
            (
                "config".to_owned(),
                json!({ "description": "The configuration: a path relative to this file, or a shipped one.", "type": "string" }),
            ),
            (
                "flights".to_owned(),
                count("Flights per grid point. Default 1.", 1),
            ),
            (
                "seed".to_owned(),
                count("Seed of all random values. Default 0.", 0),
            ),
            (
                "set".to_owned(),
                json!({ "description": "Keys of the configuration with fixed values.", "type": "object" }),
            ),
            (
                "vary".to_owned(),
                json!({
                    "description": "Keys of the configuration with their variations; nested tables may replace dots.",
                    "type": "object",
                    "additionalProperties": { "$ref": "#/definitions/Variation" },
                }),
            ),
        ],
    );
    plan["$schema"] = DRAFT.into();
    plan["title"] = "fly: the plan of a campaign".into();
    let nested = json!({ "description": "A table on the way to a key.", "type": "object", "additionalProperties": { "$ref": "#/definitions/Variation" } });
    let forms: Vec<Value> = variations.into_iter().chain([nested]).collect();
    plan["definitions"] = json!({ "Variation": { "anyOf": forms } });
    plan
}
