//! Finds, reads and compares golden files: reference numbers that were computed by other means.
//!
//! A crate's `tests/golden.rs` processes every file of [`files`]: it compares those of its own [`kind`] in a [`Report`]
//! and calls [`Report::finish`], which prints the worst errors and fails if one is too large or nothing was compared. A
//! kind that no crate reads is an error, and so is a key that the reader does not know ([`only`]): numbers that are
//! never compared would look like numbers that are correct.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use nalgebra::{Dim, Matrix, RawStorage, SMatrix};
use serde_json::Value;

/// Every `.json` and `.txt` file under `testdata/golden` of a crate (`env!("CARGO_MANIFEST_DIR")`), or under the folder
/// named by the environment variable `FLY_GOLDEN_DIR`, sorted.
///
/// # Panics
/// If a folder cannot be read.
pub fn files(crate_root: &str) -> Vec<PathBuf> {
    let root = std::env::var_os("FLY_GOLDEN_DIR").map_or_else(
        || Path::new(crate_root).join("testdata/golden"),
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

/// The text of a file.
///
/// # Panics
/// If it cannot be read.
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The contents of a JSON file.
///
/// # Panics
/// If it cannot be read or is not JSON.
pub fn json(path: &Path) -> Value {
    serde_json::from_str(&read(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The kinds of files, with the crates that read them.
const KINDS: [(&str, &[&str]); 29] = [
    ("arm_joint", &["fly-control"]),
    ("arm_work", &["fly-control"]),
    ("attitude", &["fly-lie"]),
    ("bicopter", &["fly-mechanics", "fly-control"]),
    ("constraints", &["fly-mechanics"]),
    ("control_law_qp", &["fly-control"]),
    ("freebody", &["fly-mechanics", "fly-control"]),
    ("lie", &["fly-lie"]),
    ("linearization", &["fly-mechanics"]),
    ("multibody11", &["fly-control"]),
    ("operators", &["fly-lie", "fly-mechanics"]),
    ("orientation", &["fly-control"]),
    ("planar", &["fly-control"]),
    ("prismatic", &["fly-control"]),
    ("pvtol", &["fly-control"]),
    ("qp", &["fly-mechanics", "fly-control"]),
    ("quad", &["fly-mechanics", "fly-control"]),
    ("revolute", &["fly-control"]),
    ("rigid_body", &["fly-mechanics"]),
    ("rigid_body_trajectory", &["fly-mechanics"]),
    ("rnea", &["fly-mechanics"]),
    ("rolling_ellipsoid", &["fly-mechanics"]),
    ("scara_par1", &["fly-control"]),
    ("scara_par2", &["fly-control"]),
    ("stiffness", &["fly-lie", "fly-mechanics"]),
    ("system", &["fly-mechanics"]),
    ("trajectory", &["fly-mechanics"]),
    ("tricopter", &["fly-mechanics", "fly-control"]),
    ("two_masses", &["fly-control"]),
];

/// The kind of a file, from its `kind` or `example`, if this crate's tests read it. The benches read the files in
/// folders named `bench`.
///
/// # Panics
/// If no crate reads files of this kind.
pub fn kind<'a>(path: &Path, data: &'a Value, reader: &str) -> Option<&'a str> {
    let named = data["kind"].as_str().or(data["example"].as_str());
    if named.is_none()
        && path
            .parent()
            .is_some_and(|folder| folder.ends_with("bench"))
    {
        return None;
    }
    let name = named.unwrap_or_else(|| panic!("{}: neither `kind` nor `example`", path.display()));
    let known = KINDS.iter().find(|(kind, _)| *kind == name);
    let (_, readers) =
        known.unwrap_or_else(|| panic!("{}: no crate reads the kind `{name}`", path.display()));
    readers.contains(&reader).then_some(name)
}

/// Keys for prose and origin, which any object may have.
const PROSE: [&str; 12] = [
    "schema",
    "kind",
    "example",
    "name",
    "label",
    "note",
    "source",
    "seed",
    "conventions",
    "units",
    "tolerance",
    "definition",
];

/// Checks that a value has only the listed keys, given as `t x cases[state[R q] expected{M c}]`: brackets after a key
/// list the keys of the objects below it, and `*` matches anything.
///
/// # Panics
/// At the first key that is not listed, with its path.
pub fn only(value: &Value, known: &str) {
    let spaced: String = known
        .chars()
        .flat_map(|c| {
            if "[]{}".contains(c) {
                vec![' ', c, ' ']
            } else {
                vec![c]
            }
        })
        .collect();
    let words: Vec<&str> = spaced.split_whitespace().collect();
    check_keys(value, &words, "");
}

fn check_keys(value: &Value, known: &[&str], path: &str) {
    match value {
        Value::Array(entries) => entries
            .iter()
            .for_each(|entry| check_keys(entry, known, path)),
        Value::Object(object) => {
            for (key, below) in object {
                let path = format!("{path}.{key}");
                let inside = below_key(known, key);
                if PROSE.contains(&key.as_str()) && inside.is_none() {
                    continue;
                }
                let inside = inside.unwrap_or_else(|| panic!("`{path}` is not read"));
                if inside != ["*"] {
                    check_keys(below, inside, &path);
                }
            }
        }
        _ => {}
    }
}

/// The keys allowed below a key: those in the brackets after it; `None` if the key is unknown.
fn below_key<'k>(known: &'k [&'k str], key: &str) -> Option<&'k [&'k str]> {
    let mut depth = 0_usize;
    for (i, word) in known.iter().enumerate() {
        match *word {
            "[" | "{" => depth += 1,
            "]" | "}" => depth -= 1,
            word if depth == 0 && word == key => {
                let inside = &known[i + 1..];
                if !inside.first().is_some_and(|word| ["[", "{"].contains(word)) {
                    return Some(&[]);
                }
                let mut depth = 0_usize;
                let end = inside.iter().position(|word| {
                    match *word {
                        "[" | "{" => depth += 1,
                        "]" | "}" => depth -= 1,
                        _ => {}
                    }
                    depth == 0
                });
                return Some(&inside[1..end.expect("a closing bracket")]);
            }
            _ => {}
        }
    }
    None
}

/// The tolerances of a file: the numbers in its `tolerance`, in order, which is prose such as `abs 1e-13 for exp; 1e-12
/// for Jacobians`; the given ones if there are none.
pub fn tolerances<const N: usize>(data: &Value, mut given: [f64; N]) -> [f64; N] {
    let text = match &data["tolerance"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let words = text.split(|c: char| c.is_whitespace() || "();,:".contains(c));
    let numbers = words.filter_map(|word| word.parse::<f64>().ok());
    for (given, number) in given.iter_mut().zip(numbers.filter(|n| n.is_finite())) {
        *given = number;
    }
    given
}

/// The entries of a JSON array; empty for anything else.
pub fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// One number.
///
/// # Panics
/// If the value is not a number.
pub fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("not a number: {value}"))
}

/// A count.
///
/// # Panics
/// If the value is not a non-negative integer.
pub fn count(value: &Value) -> usize {
    let count = value.as_u64().and_then(|count| count.try_into().ok());
    count.unwrap_or_else(|| panic!("not a count: {value}"))
}

/// All numbers of a nested array, in order.
///
/// # Panics
/// If there is anything else.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        _ => vec![number(value)],
    }
}

/// A matrix written as a list of rows.
///
/// # Panics
/// If the number of entries differs.
pub fn matrix<const R: usize, const C: usize>(value: &Value) -> SMatrix<f64, R, C> {
    SMatrix::from_row_slice(&numbers(value))
}

/// A vector.
///
/// # Panics
/// If the number of entries differs.
pub fn vector<const R: usize>(value: &Value) -> SMatrix<f64, R, 1> {
    SMatrix::from_column_slice(&numbers(value))
}

/// The comparisons, file by file.
#[derive(Default)]
pub struct Report {
    files: Vec<(String, File)>,
}

/// The comparisons of one file: the worst error of every quantity relative to its tolerance.
#[derive(Default)]
pub struct File {
    values: usize,
    worst: BTreeMap<String, (f64, f64)>,
}

impl Report {
    /// Starts a file.
    pub fn file(&mut self, path: &Path) -> &mut File {
        let name = path.display().to_string();
        self.files.push((name, File::default()));
        let last = self.files.len() - 1;
        &mut self.files[last].1
    }

    /// Prints everything.
    ///
    /// # Panics
    /// If an error is too large, or nothing was compared.
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
    ///
    /// # Panics
    /// If their number differs.
    pub fn compare(&mut self, what: &str, got: &[f64], expected: &Value, tolerance: f64) {
        let expected = numbers(expected);
        assert_eq!(got.len(), expected.len(), "{what}: length");
        for (g, e) in got.iter().zip(&expected) {
            self.error(what, (g - e).abs(), tolerance);
        }
    }

    /// Compares a matrix with the expected list of rows.
    ///
    /// # Panics
    /// If the number of entries differs.
    pub fn rows<R: Dim, C: Dim, S: RawStorage<f64, R, C>>(
        &mut self,
        what: &str,
        got: &Matrix<f64, R, C, S>,
        expected: &Value,
        tolerance: f64,
    ) {
        let rows: Vec<f64> = got
            .row_iter()
            .flat_map(|row| row.iter().copied().collect::<Vec<_>>())
            .collect();
        self.compare(what, &rows, expected, tolerance);
    }

    /// The quantities of one case, with the expected values under their names in a JSON object.
    pub fn case<'a>(&'a mut self, expected: &'a Value, tolerance: f64) -> Case<'a> {
        Case {
            file: self,
            expected,
            tolerance,
        }
    }

    /// Records one value's error.
    pub fn error(&mut self, what: &str, error: f64, tolerance: f64) {
        self.values += 1;
        let entry = self
            .worst
            .entry(what.to_owned())
            .or_insert((0.0, tolerance));
        // The largest fraction of the tolerance. A NaN must win, which f64::max would hide.
        if error.is_nan() || error * entry.1 > entry.0 * tolerance {
            *entry = (error, tolerance);
        }
    }
}

/// See [`File::case`].
pub struct Case<'a> {
    file: &'a mut File,
    expected: &'a Value,
    tolerance: f64,
}

impl Case<'_> {
    /// Compares a matrix or vector with the one of this name.
    ///
    /// # Panics
    /// If the case has none of this name, or one of another size.
    pub fn is<R: Dim, C: Dim, S: RawStorage<f64, R, C>>(
        &mut self,
        name: &str,
        got: &Matrix<f64, R, C, S>,
    ) {
        self.file
            .rows(name, got, &self.expected[name], self.tolerance);
    }

    /// Compares a number with the one of this name.
    ///
    /// # Panics
    /// If the case has none of this name.
    pub fn is_number(&mut self, name: &str, got: f64) {
        let expected = &self.expected[name];
        self.file.compare(name, &[got], expected, self.tolerance);
    }

    /// Changes the tolerance from here on.
    pub fn within(&mut self, tolerance: f64) -> &mut Self {
        self.tolerance = tolerance;
        self
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{kind, only, tolerances};

    fn panics(action: impl FnOnce() + std::panic::UnwindSafe) -> bool {
        std::panic::catch_unwind(action).is_err()
    }

    #[test]
    fn keys_that_nobody_reads_fail() {
        let data = serde_json::json!({ "kind": "x", "t": 1, "cases": [{ "a": { "b": [1] } }, { "free": { "x": 1 } }] });
        only(&data, "t cases[a{b} free{*}]");
        for known in [
            "cases[a{b} free{*}]",
            "t cases[a free{*}]",
            "t cases[a{b}]",
            "t cases b a free",
        ] {
            assert!(panics(|| only(&data, known)), "{known}");
        }
    }

    #[test]
    fn kinds_that_nobody_reads_fail() {
        let of = |data, reader| kind(Path::new("golden/x.json"), &data, reader).map(str::to_owned);
        let system = || serde_json::json!({ "kind": "system" });
        assert_eq!(of(system(), "fly-mechanics").as_deref(), Some("system"));
        assert_eq!(of(system(), "fly-lie"), None);
        assert!(panics(|| drop(of(
            serde_json::json!({ "kind": "sytem" }),
            "fly-lie"
        ))));
        assert!(panics(|| drop(of(serde_json::json!({}), "fly-lie"))));
    }

    #[test]
    fn tolerances_are_read_from_prose() {
        let of = |text: &str| tolerances(&serde_json::json!({ "tolerance": text }), [1.0, 2.0]);
        assert_eq!(of("abs 1e-13 for exp,Ad; 1e-12 (all)"), [1e-13, 1e-12]);
        assert_eq!(of("relative 1e-11 of max-norm"), [1e-11, 2.0]);
        assert_eq!(tolerances(&serde_json::json!({}), [1.0]), [1.0]);
    }
}
