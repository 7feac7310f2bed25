//! The golden data of the control chapter: numbers computed independently of this crate.
//!
//! Reads every JSON file below `testdata/golden`, or below the folder named by `FLY_GOLDEN_DIR`, whose `example` (or `kind`)
//! is a free body, one of the multicopters, a system of joints, the control law or a quadratic program, builds vehicle, controller and reference from the file's `config`,
//! and compares everything that the file holds. A file of an unknown kind or with an unknown key fails. Prints what it compared and the worst error
//! of each; fails if nothing was compared.

#![allow(non_snake_case)]

mod closed_loop;
mod data;
mod eleven;
mod example;
mod formulas;
mod keys;
mod qp;
mod samples;
#[path = "../suite/common/solve.rs"]
mod solve;
mod system_loops;
mod system_settings;
mod systems;

use fly_testing::golden::{Report, files, json, kind};

fn main() {
    let mut report = Report::default();
    for path in files(env!("CARGO_MANIFEST_DIR")) {
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let data = json(&path);
        let Some(kind) = kind(&path, &data, env!("CARGO_PKG_NAME")) else {
            continue;
        };
        let family = family(kind);
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
            // What has equalities alone is `fly-mechanics`'.
            Family::Programs if data["inequality"].is_null() => {}
            Family::Programs => qp::inequalities(&data, report.file(&path)),
            Family::System => {
                let file = report.file(&path);
                systems::samples(&data, file);
                system_settings::compare(&data, file);
                system_loops::compare(&data, file);
            }
            Family::Eleven => eleven::compare(&data, report.file(&path)),
        }
    }
    report.finish();
}

enum Family {
    Vehicle,
    Law,
    Programs,
    System,
    Eleven,
}

/// What of this crate a kind of file is about.
fn family(kind: &str) -> Family {
    match kind {
        "quad" | "bicopter" | "tricopter" | "freebody" => Family::Vehicle,
        "control_law_qp" => Family::Law,
        "qp" => Family::Programs,
        "multibody11" => Family::Eleven,
        kind if systems::is_system(kind) => Family::System,
        kind => panic!("no reader for `{kind}`"),
    }
}
