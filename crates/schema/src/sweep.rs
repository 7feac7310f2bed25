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
            "[from, to, count]: so many numbers, evenly spaced.",
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
        "A campaign: what is flown, and what is varied.",
        [
            (
                "config".to_owned(),
                json!({ "description": "The configuration: a path relative to this file, or a shipped one.", "type": "string" }),
            ),
            (
                "flights".to_owned(),
                count("Flights of every point of the grid. Default 1.", 1),
            ),
            (
                "seed".to_owned(),
                count("Of all that is drawn. Default 0.", 0),
            ),
            (
                "set".to_owned(),
                json!({ "description": "Keys of the configuration with the values that they have in every flight.", "type": "object" }),
            ),
            (
                "vary".to_owned(),
                json!({
                    "description": "Keys of the configuration with what they are varied over; tables may be nested instead of dots.",
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
