//! The golden data of the control chapter: numbers computed independently of this crate.
//!
//! Reads every JSON file below `testdata/golden`, or below the folder named by `FLY_GOLDEN_DIR`, whose `example` (or `kind`)
//! is a free body, one of the multicopters or the control law, builds vehicle, controller and reference from the file's `config`,
//! and compares everything that the file holds. Prints what it compared and the worst error of each; fails if there was none.

mod closed_loop;
mod data;
mod example;
mod formulas;
mod qp;
mod report;
mod samples;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use report::Report;
use serde_json::Value;

fn main() -> ExitCode {
    let folder = std::env::var_os("FLY_GOLDEN_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/golden"),
        PathBuf::from,
    );
    let mut paths = Vec::new();
    collect(&folder, &mut paths);
    paths.sort();
    let (mut files, mut values, mut failed) = (0, 0, 0);
    for path in &paths {
        let Some(file) = read(path) else { continue };
        let mut report = Report::default();
        match family(&file) {
            Family::Vehicle => {
                let example = example::Example::new(&file);
                formulas::compare(&example, &file, &mut report);
                samples::compare(&example, &file, &mut report);
                closed_loop::compare(&example, &file, &mut report);
            }
            Family::Law => qp::compare(&file, &mut report),
            Family::Other => continue,
        }
        files += 1;
        values += report.values();
        println!(
            "{}: {} values",
            path.strip_prefix(&folder).unwrap_or(path).display(),
            report.values()
        );
        println!("{report}");
        failed += report.failures();
    }
    println!("{files} files, {values} values compared, {failed} comparisons failed");
    if files == 0 {
        println!("no golden data of this crate below {}", folder.display());
    }
    if files > 0 && failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

enum Family {
    Vehicle,
    Law,
    Other,
}

fn family(file: &Value) -> Family {
    match file
        .get("example")
        .or_else(|| file.get("kind"))
        .and_then(Value::as_str)
    {
        Some("quad" | "bicopter" | "tricopter" | "freebody") if file.get("config").is_some() => {
            Family::Vehicle
        }
        Some("control_law_qp") => Family::Law,
        _ => Family::Other,
    }
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|e| e == "json") {
            paths.push(path);
        }
    }
}

fn read(path: &Path) -> Option<Value> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}
