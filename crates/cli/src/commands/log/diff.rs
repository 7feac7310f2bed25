//! `fly log diff`: compares two logs.

use std::fmt::Write as _;

use fly_log::Differences;
use serde_json::json;

use super::options;
use crate::args::DiffArguments;
use crate::exit::{Exit, Failure};

/// Prints the differences.
///
/// # Errors
/// A log cannot be read.
pub fn run(arguments: &DiffArguments, as_data: bool) -> Result<Exit, Failure> {
    let logs = [arguments.first.as_path(), arguments.second.as_path()];
    let options = options(arguments.allow_damaged);
    let found = Differences::of(logs, &options, arguments.tolerance)?;
    let text = if as_data {
        as_json(&found)
    } else {
        as_text(&found)
    };
    crate::commands::print(text.as_bytes())?;
    Ok(if found.is_equal() {
        Exit::Flown
    } else {
        Exit::ProblemsFound
    })
}

fn as_json(found: &Differences) -> String {
    let columns = found.found.iter().map(|one| {
        json!({
            "column": one.column, "unit": one.unit, "rows": one.count, "first": one.first, "rms": one.rms, "max": one.max,
        })
    });
    let all = json!({
        "equal": found.is_equal(), "rows": found.rows, "rows_alone": found.alone, "columns_alone": found.columns,
        "columns": found.common, "differences": columns.collect::<Vec<_>>(),
    });
    format!("{all:#}\n")
}

fn as_text(found: &Differences) -> String {
    let mut text = String::new();
    let names = ["first", "second"];
    for (name, columns) in names.iter().zip(&found.columns) {
        if !columns.is_empty() {
            let _ = writeln!(text, "only in the {name} log: {}", columns.join(", "));
        }
    }
    for (name, rows) in names.iter().zip(found.alone) {
        if rows > 0 {
            let _ = writeln!(text, "only in the {name} log: {rows} ticks");
        }
    }
    if !found.found.is_empty() {
        let width = found.found.iter().map(|one| one.column.len()).max();
        let width = width.unwrap_or(0).max("column".len());
        let _ = writeln!(
            text,
            "{:width$} {:>10} {:>10} {:6} {:>9} {:>12}",
            "column", "rms", "largest", "unit", "ticks", "first at s"
        );
        for one in &found.found {
            let number =
                |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3e}"));
            let _ = writeln!(
                text,
                "{:width$} {:>10} {:>10} {:6} {:>9} {:>12.6}",
                one.column,
                number(one.rms),
                number(one.max),
                one.unit,
                one.count,
                one.first
            );
        }
    }
    let (rows, columns) = (found.rows, found.common);
    let verdict = if found.is_equal() {
        "equal"
    } else {
        "different"
    };
    let _ = writeln!(
        text,
        "{verdict}: {rows} common ticks, {columns} common columns, {} of them differ",
        found.found.len()
    );
    text
}
