//! Finding, reading and comparing golden files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use nalgebra::SMatrix;
use serde_json::Value;

/// Every file under the golden folder, sorted.
pub fn files() -> Vec<PathBuf> {
    let root = std::env::var_os("FLY_GOLDEN_DIR").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/golden"),
        PathBuf::from,
    );
    let mut found = Vec::new();
    collect(&root, &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|e| e == "json" || e == "txt") {
            found.push(path);
        }
    }
}

/// The entries of a JSON array.
pub fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// All numbers of a nested array, in the order in which they are written.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        _ => vec![
            value
                .as_f64()
                .unwrap_or_else(|| panic!("not a number: {value}")),
        ],
    }
}

/// A matrix written as a list of rows.
pub fn matrix<const R: usize, const C: usize>(value: &Value) -> SMatrix<f64, R, C> {
    SMatrix::from_row_slice(&numbers(value))
}

/// A vector.
pub fn vector<const R: usize>(value: &Value) -> SMatrix<f64, R, 1> {
    SMatrix::from_column_slice(&numbers(value))
}

/// What was compared, file by file.
#[derive(Default)]
pub struct Report {
    files: Vec<(String, File)>,
}

/// What was compared in one file: the worst error of every quantity against its tolerance.
#[derive(Default)]
pub struct File {
    values: usize,
    worst: BTreeMap<String, (f64, f64)>,
}

impl Report {
    /// Starts a file.
    pub fn file(&mut self, name: &str) -> &mut File {
        self.files.push((name.to_owned(), File::default()));
        &mut self.files.last_mut().expect("just pushed").1
    }

    /// Prints everything and fails if anything was off, or if nothing was compared.
    pub fn finish(self) {
        let mut failures = Vec::new();
        let mut total = 0;
        for (name, file) in &self.files {
            total += file.values;
            println!("{name}: {} values", file.values);
            assert!(file.values > 0, "{name}: nothing was compared");
            for (what, (error, tolerance)) in &file.worst {
                println!("    {what:<20} worst error {error:.2e} (tolerance {tolerance:.0e})");
                if error.is_nan() || error > tolerance {
                    failures.push(format!("{name}: {what}: {error:e} > {tolerance:e}"));
                }
            }
        }
        println!("{} files, {total} values compared", self.files.len());
        assert!(total > 0, "no golden file of this crate was found");
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}

impl File {
    /// Compares numbers with the expected ones, entry by entry.
    pub fn compare(&mut self, what: &str, got: &[f64], expected: &Value, tolerance: f64) {
        let expected = numbers(expected);
        assert_eq!(got.len(), expected.len(), "{what}: length");
        for (g, e) in got.iter().zip(&expected) {
            self.error(what, (g - e).abs(), tolerance);
        }
    }

    /// Counts one value with its error.
    pub fn error(&mut self, what: &str, error: f64, tolerance: f64) {
        self.values += 1;
        let entry = self
            .worst
            .entry(what.to_owned())
            .or_insert((0.0, tolerance));
        // NaN must win, which f64::max would hide.
        if error.is_nan() || error > entry.0 {
            entry.0 = error;
        }
        entry.1 = entry.1.max(tolerance);
    }
}
