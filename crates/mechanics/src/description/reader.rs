//! Typed access to a TOML table whose every value knows where it stands.

use std::ops::Range;
use std::path::{Path, PathBuf};

use nalgebra::{Matrix3, Vector3};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::Key;
use super::{DescriptionError, Problem};
use crate::text::nearest;

/// A table of a document with its path.
pub(super) struct Table<'a> {
    entries: &'a DeTable<'a>,
    path: String,
    span: Range<usize>,
    /// That of files it names; `None` of a text that is no file.
    folder: Option<&'a Path>,
}

/// A value with its path.
pub(super) struct Entry<'a> {
    value: &'a Spanned<DeValue<'a>>,
    path: String,
    folder: Option<&'a Path>,
}

/// Where something stands.
pub(super) struct SourceSpan {
    path: String,
    span: Range<usize>,
}

impl SourceSpan {
    /// An error about it.
    pub fn error(self, problem: impl Into<Problem>) -> DescriptionError {
        DescriptionError {
            problem: problem.into(),
            path: self.path,
            span: self.span,
            help: None,
        }
    }
}

impl<'a> Table<'a> {
    /// The description itself. The span is the place of a missing key.
    pub fn root(table: &'a DeTable<'a>, span: Range<usize>, folder: Option<&'a Path>) -> Self {
        Self {
            entries: table,
            path: String::new(),
            span,
            folder,
        }
    }

    /// Fails at the first key that is not among these.
    pub fn only<'k>(
        &self,
        keys: impl IntoIterator<Item = &'k Key>,
    ) -> Result<(), DescriptionError> {
        let known: Vec<&str> = keys.into_iter().map(|key| key.name).collect();
        let mut unknown: Vec<_> = (self.entries.keys())
            .filter(|key| !known.contains(&key.get_ref().as_ref()))
            .collect();
        // The table is sorted by name, a reader starts at the top.
        unknown.sort_by_key(|key| key.span().start);
        let Some(key) = unknown.first() else {
            return Ok(());
        };
        let name = key.get_ref().to_string();
        Err(DescriptionError {
            path: self.path.clone(),
            span: key.span(),
            help: suggestion(&name, &known),
            problem: Problem::UnknownKey {
                key: name,
                expected: list(&known),
            },
        })
    }

    /// The value of a key, if it is there.
    pub fn get(&self, key: &str) -> Option<Entry<'a>> {
        let value = self.entries.get(key)?;
        Some(self.entry(key, value))
    }

    /// The value of a key that must be there.
    pub fn required(&self, key: &str) -> Result<Entry<'a>, DescriptionError> {
        self.get(key).ok_or_else(|| DescriptionError {
            problem: Problem::MissingKey(key.to_owned()),
            path: self.path.clone(),
            span: self.span.clone(),
            help: None,
        })
    }

    /// All entries in the order of the text: key and value.
    pub fn entries(&self) -> Vec<(&'a str, Entry<'a>)> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
            .into_iter()
            .map(|(key, value)| {
                let key = key.get_ref().as_ref();
                (key, self.entry(key, value))
            })
            .collect()
    }

    /// A number that may be left out.
    pub fn number_or_zero(&self, key: &str) -> Result<f64, DescriptionError> {
        self.get(key).map_or(Ok(0.0), |entry| entry.number())
    }

    /// `name`, else its number among its like.
    pub fn name_or(&self, index: usize) -> Result<String, DescriptionError> {
        match self.get("name") {
            Some(entry) => entry.string().map(str::to_owned),
            None => Ok(index.to_string()),
        }
    }

    /// The place of the value under these keys, as deep as they lead.
    pub fn deepest(&self, keys: &[&str]) -> SourceSpan {
        let below = keys
            .split_first()
            .and_then(|(key, rest)| Some((self.get(key)?, rest)));
        match below {
            Some((entry, rest)) => match entry.table() {
                Ok(table) => table.deepest(rest),
                Err(_) => SourceSpan {
                    span: entry.value.span(),
                    path: entry.path,
                },
            },
            None => SourceSpan {
                path: self.path.clone(),
                span: self.span.clone(),
            },
        }
    }

    /// The keys of these that are there, with their values.
    pub fn present<'k>(&self, keys: &[&'k str]) -> Vec<(&'k str, Entry<'a>)> {
        let present = keys.iter().map(|key| Some((*key, self.get(key)?)));
        present.flatten().collect()
    }

    /// The tables of an array of tables, `[[key]]`; none, if it is not there.
    pub fn tables(&self, key: &str) -> Result<Vec<Self>, DescriptionError> {
        let Some(entry) = self.get(key) else {
            return Ok(Vec::new());
        };
        let entries = entry.array(&format!("an array of tables, [[{key}]]"))?;
        entries.iter().map(Entry::table).collect()
    }

    /// The only one of these keys that is there.
    pub fn one_of<'k>(&self, keys: &[&'k str]) -> Result<(&'k str, Entry<'a>), DescriptionError> {
        let mut present = self.present(keys);
        match present.len() {
            1 => Ok(present.remove(0)),
            0 => Err(self.error(Problem::Keys(format!("expected one of {}", list(keys))))),
            _ => {
                let (first, second) = (present[0].0, present.remove(1));
                let text = format!("give `{first}` or `{}`, not both", second.0);
                Err(second.1.error(Problem::Keys(text)))
            }
        }
    }

    /// An error about the table.
    pub fn error(&self, problem: impl Into<Problem>) -> DescriptionError {
        DescriptionError {
            problem: problem.into(),
            path: self.path.clone(),
            span: self.span.clone(),
            help: None,
        }
    }

    fn entry(&self, key: &str, value: &'a Spanned<DeValue<'a>>) -> Entry<'a> {
        Entry {
            value,
            path: self.join(key),
            folder: self.folder,
        }
    }

    fn join(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }
}

impl<'a> Entry<'a> {
    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        self.value.get_ref().is_array()
    }

    /// A table.
    pub fn table(&self) -> Result<Table<'a>, DescriptionError> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(Table {
                entries: table,
                path: self.path.clone(),
                span: self.value.span(),
                folder: self.folder,
            }),
            _ => Err(self.wrong_type("a table")),
        }
    }

    /// The elements of an array; `what` says what was expected instead of anything else.
    pub fn array(&self, what: &str) -> Result<Vec<Entry<'a>>, DescriptionError> {
        let DeValue::Array(array) = self.value.get_ref() else {
            return Err(self.wrong_type(what));
        };
        let entries = array.iter().enumerate().map(|(i, value)| Entry {
            value,
            path: format!("{}[{i}]", self.path),
            folder: self.folder,
        });
        Ok(entries.collect())
    }

    /// A string.
    pub fn string(&self) -> Result<&'a str, DescriptionError> {
        match self.value.get_ref() {
            DeValue::String(string) => Ok(string),
            _ => Err(self.wrong_type("a string")),
        }
    }

    /// The path of a file, relative to the one that is read.
    pub fn file(&self) -> Result<PathBuf, DescriptionError> {
        let name = self.string()?;
        self.folder.map(|folder| folder.join(name)).ok_or_else(|| {
            let text =
                "a description that was not read from a file cannot name one: it has no folder";
            self.error(Problem::Keys(text.to_owned()))
        })
    }

    /// `true` or `false`.
    pub fn boolean(&self) -> Result<bool, DescriptionError> {
        match self.value.get_ref() {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    /// A finite number; an integer is one too.
    pub fn number(&self) -> Result<f64, DescriptionError> {
        let number = self.number_or_infinite()?;
        if number.is_finite() {
            Ok(number)
        } else {
            Err(self.error(Problem::NotFinite(number.to_string())))
        }
    }

    /// A number that may be infinite.
    pub fn number_or_infinite(&self) -> Result<f64, DescriptionError> {
        let parsed = match self.value.get_ref() {
            DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
            DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix())
                .ok()
                .map(|integer| integer as f64),
            _ => None,
        };
        let number = parsed.ok_or_else(|| self.wrong_type("a number"))?;
        if number.is_nan() {
            return Err(self.error(Problem::NotFinite(number.to_string())));
        }
        Ok(number)
    }

    /// A finite number above zero.
    pub fn positive(&self) -> Result<f64, DescriptionError> {
        self.bounded("a number above 0", |number| number > 0.0)
    }

    /// A finite number that is not negative.
    pub fn not_negative(&self) -> Result<f64, DescriptionError> {
        self.bounded("a number of at least 0", |number| number >= 0.0)
    }

    fn bounded(&self, expected: &str, is: fn(f64) -> bool) -> Result<f64, DescriptionError> {
        let number = self.number()?;
        if is(number) {
            return Ok(number);
        }
        Err(self.error(Problem::OutOfRange {
            expected: expected.to_owned(),
            found: number.to_string(),
        }))
    }

    /// Two numbers, the first not above the second.
    pub fn range(&self) -> Result<[f64; 2], DescriptionError> {
        let [low, high] = self.numbers()?;
        if low <= high {
            return Ok([low, high]);
        }
        Err(self.error(Problem::OutOfRange {
            expected: "the smallest value not above the largest".to_owned(),
            found: format!("[{low}, {high}]"),
        }))
    }

    /// One of these words, as its index.
    pub fn word(&self, words: &[&str]) -> Result<usize, DescriptionError> {
        let found = self.string()?;
        words.iter().position(|word| *word == found).ok_or_else(|| {
            let problem = Problem::OutOfRange {
                expected: format!("one of {}", list(words)),
                found: format!("`{found}`"),
            };
            self.error(problem).helped(suggestion(found, words))
        })
    }

    /// A number of things.
    pub fn count(&self) -> Result<usize, DescriptionError> {
        match self.value.get_ref() {
            DeValue::Integer(integer) => usize::from_str_radix(integer.as_str(), integer.radix())
                .map_err(|_| {
                    self.error(Problem::OutOfRange {
                        expected: "a count".to_owned(),
                        found: integer.as_str().to_owned(),
                    })
                }),
            _ => Err(self.wrong_type("an integer")),
        }
    }

    /// An array of `N` numbers.
    pub fn numbers<const N: usize>(&self) -> Result<[f64; N], DescriptionError> {
        self.numbers_by(Self::number)
    }

    /// Two numbers that may be infinite.
    pub fn bounds(&self) -> Result<[f64; 2], DescriptionError> {
        self.numbers_by(Self::number_or_infinite)
    }

    fn numbers_by<const N: usize>(
        &self,
        read: fn(&Self) -> Result<f64, DescriptionError>,
    ) -> Result<[f64; N], DescriptionError> {
        let entries = self.array(&format!("an array of {N} numbers"))?;
        if entries.len() != N {
            return Err(self.error(Problem::WrongLength {
                expected: N,
                found: entries.len(),
            }));
        }
        let mut numbers = [0.0; N];
        for (number, entry) in numbers.iter_mut().zip(entries) {
            *number = read(&entry)?;
        }
        Ok(numbers)
    }

    /// A vector.
    pub fn vector(&self) -> Result<Vector3<f64>, DescriptionError> {
        Ok(self.numbers::<3>()?.into())
    }

    /// A 3x3 matrix: its diagonal, or three rows.
    pub fn matrix(&self) -> Result<Matrix3<f64>, DescriptionError> {
        let entries = self.array("an array of 3 numbers or of 3 rows")?;
        let has_rows = entries
            .first()
            .is_some_and(|entry| entry.value.get_ref().is_array());
        if !has_rows {
            return Ok(Matrix3::from_diagonal(&self.vector()?));
        }
        let [x, y, z] = entries.as_slice() else {
            return Err(self.error(Problem::OutOfRange {
                expected: "3 rows".to_owned(),
                found: entries.len().to_string(),
            }));
        };
        let rows = [x.vector()?, y.vector()?, z.vector()?];
        Ok(Matrix3::from_columns(&rows).transpose())
    }

    /// An error about the value.
    pub fn error(&self, problem: impl Into<Problem>) -> DescriptionError {
        DescriptionError {
            problem: problem.into(),
            path: self.path.clone(),
            span: self.value.span(),
            help: None,
        }
    }

    pub fn wrong_type(&self, expected: &str) -> DescriptionError {
        let found = match self.value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        self.error(Problem::WrongType {
            expected: expected.to_owned(),
            found: found.to_owned(),
        })
    }
}

/// A question after the known name that is most like this one, if any is like it.
pub(super) fn suggestion(name: &str, known: &[&str]) -> Option<String> {
    nearest(name, known.iter().copied()).map(|near| format!("did you mean `{near}`?"))
}

/// `a`, `b`, `c`
pub(super) fn list(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
