//! The golden data of the control chapter: numbers computed independently of this crate.
//!
//! Reads every JSON file below `testdata/golden`, or below the folder named by `FLY_GOLDEN_DIR`, whose `example` (or `kind`)
//! is a free body, one of the multicopters, a system of joints or the control law, builds vehicle, controller and reference from the file's `config`,
//! and compares everything that the file holds. A file of an unknown kind or with an unknown key fails. Prints what it compared and the worst error of each; fails if there was none.

#![allow(non_snake_case)]

mod closed_loop;
mod data;
mod eleven;
mod example;
mod formulas;
mod keys;
mod qp;
mod samples;
mod system_loops;
mod system_settings;
mod systems;

use fly_testing::golden::{Report, files, json};
use serde_json::Value;

fn main() {
    let mut report = Report::default();
    for path in files(env!("CARGO_MANIFEST_DIR")) {
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let data = json(&path);
        let family = family(&data);
        if let Err(unknown) = keys::check(&family, &data) {
            panic!("{}: unknown keys {unknown:?}", path.display());
        }
        match family {
            Family::Vehicle => {
                let example = example::Example::new(&data);
                let file = report.file(&path);
                formulas::compare(&example, &data, file);
                samples::compare(&example, &data, file);
                closed_loop::compare(&example, &data, file);
            }
            Family::Law => qp::compare(&data, report.file(&path)),
            Family::System => {
                let file = report.file(&path);
                systems::samples(&data, file);
                system_settings::compare(&data, file);
                system_loops::compare(&data, file);
            }
            Family::Eleven => eleven::compare(&data, report.file(&path)),
            Family::Other => {}
        }
    }
    report.finish();
}

/// Kinds of golden files that other crates read.
const OF_OTHER_CRATES: &[&str] = &[
    "attitude",
    "constraints",
    "lie",
    "linearization",
    "operators",
    "qp",
    "rigid_body",
    "rigid_body_trajectory",
    "rnea",
    "rolling_ellipsoid",
    "stiffness",
    "system",
    "trajectory",
];

enum Family {
    Vehicle,
    Law,
    System,
    Eleven,
    Other,
}

fn family(data: &Value) -> Family {
    let example = data.get("example").or_else(|| data.get("kind"));
    match example.and_then(Value::as_str) {
        Some("quad" | "bicopter" | "tricopter" | "freebody") => Family::Vehicle,
        Some("control_law_qp") => Family::Law,
        Some("multibody11") => Family::Eleven,
        Some(example) if systems::is_system(example) => Family::System,
        // Of `fly-lie` and `fly-mechanics`; descriptions of models have no kind.
        None => Family::Other,
        Some(kind) if OF_OTHER_CRATES.contains(&kind) => Family::Other,
        Some(kind) => panic!("unknown kind of golden file: {kind}"),
    }
}
