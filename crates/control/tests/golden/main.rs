//! The golden data of the control chapter: numbers computed independently of this crate.
//!
//! Reads every JSON file below `testdata/golden`, or below the folder named by `FLY_GOLDEN_DIR`, whose `example` (or `kind`)
//! is a free body, one of the multicopters, a system of joints or the control law, builds vehicle, controller and reference from the file's `config`,
//! and compares everything that the file holds. Prints what it compared and the worst error of each; fails if there was none.

#![allow(non_snake_case)]

mod closed_loop;
mod data;
mod eleven;
mod example;
mod formulas;
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
        match family(&data) {
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

enum Family {
    Vehicle,
    Law,
    System,
    Eleven,
    Other,
}

fn family(data: &Value) -> Family {
    match data
        .get("example")
        .or_else(|| data.get("kind"))
        .and_then(Value::as_str)
    {
        Some("quad" | "bicopter" | "tricopter" | "freebody") if data.get("config").is_some() => {
            Family::Vehicle
        }
        Some("control_law_qp") => Family::Law,
        Some("multibody11") => Family::Eleven,
        Some(example) if systems::is_system(example) => Family::System,
        _ => Family::Other,
    }
}
