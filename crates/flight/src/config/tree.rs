//! A TOML document as a tree in which every key and value has its place.
//!
//! Scalars keep their source text, so printed values are what the user wrote, digit for digit.

use std::collections::HashMap;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::diagnostic::Diagnostic;
use super::source::{Source, SourceSpan};

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub value: Value,
    pub place: SourceSpan,
}

/// The content of a [`Node`].
#[derive(Clone, Debug)]
pub(super) enum Value {
    Table(Table),
    /// An array that contains tables at any depth; any other array is a leaf.
    Array(Vec<Node>),
    /// The TOML text of a value. `verbatim`: it equals the text at its place.
    Leaf {
        text: String,
        verbatim: bool,
    },
}

/// Entries in the order in which they were written.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    pub key_place: SourceSpan,
    pub node: Node,
}

/// Explains the errors. Where `[rotors]` is written for `[[rotors]]`, every header from the second on is one, and all keys below it are: this is said once.
fn explain(source: &Arc<Source>, errors: &[toml::de::Error]) -> Vec<Diagnostic> {
    let mut repeated = Vec::new();
    let explain = |error: &toml::de::Error| {
        let diagnostic = Diagnostic::syntax(source, 0, error);
        let Some((header, is_header)) = repetition(&source.text, error) else {
            return Some(diagnostic);
        };
        if repeated.contains(&header) {
            return None;
        }
        if !is_header {
            return Some(diagnostic);
        }
        repeated.push(header);
        Some(diagnostic.help(format!(
            "tables of a list have double brackets, also the first: write `[[{header}]]`; any other table stands there once"
        )))
    };
    errors.iter().filter_map(explain).collect()
}

/// Of an error about a repeated key: the table `[header]` in which it stands, and whether it is this header.
fn repetition<'a>(text: &'a str, error: &toml::de::Error) -> Option<(&'a str, bool)> {
    let at = error
        .span()
        .filter(|_| error.message() == "duplicate key")?;
    let (above, line) = text.get(..at.end)?.rsplit_once('\n')?;
    let mut lines = iter::once(line).chain(above.lines().rev()).enumerate();
    let (distance, header) = lines.find(|(_, line)| line.trim_start().starts_with('['))?;
    let header = header.trim_start().strip_prefix('[')?;
    let header = header.split(']').next().unwrap_or(header);
    (!header.starts_with('[')).then_some((header.trim(), distance == 0))
}

impl Node {
    /// Reads a whole source as a TOML document.
    pub fn parse(source: &Arc<Source>) -> Result<Self, Vec<Diagnostic>> {
        let (table, errors) = DeTable::parse_recoverable(&source.text);
        if !errors.is_empty() {
            return Err(explain(source, &errors));
        }
        let reader = Reader { source, shift: 0 };
        Ok(Self {
            value: Value::Table(reader.table(table.get_ref())),
            place: reader.place(0..0),
        })
    }

    /// Reads one TOML value at `span` of a source.
    pub fn parse_value(source: &Arc<Source>, span: Range<usize>) -> Result<Self, toml::de::Error> {
        let value = DeValue::parse(&source.text[span.clone()])?;
        Ok(Reader {
            source,
            shift: span.start,
        }
        .node(&value))
    }

    /// A string that was not written as TOML, such as the value in `--set key=text`.
    pub fn string(text: &str, place: SourceSpan) -> Self {
        let text = toml::Value::from(text).to_string();
        Self {
            value: Value::Leaf {
                text,
                verbatim: false,
            },
            place,
        }
    }

    /// The string in this leaf, if it is one.
    pub fn as_string(&self) -> Option<String> {
        let Value::Leaf { text, .. } = &self.value else {
            return None;
        };
        DeValue::parse(text)
            .ok()?
            .get_ref()
            .as_str()
            .map(str::to_owned)
    }

    /// The number this leaf holds, if it holds one.
    pub fn as_number(&self) -> Option<f64> {
        let Value::Leaf { text, .. } = &self.value else {
            return None;
        };
        match DeValue::parse(text).ok()?.get_ref() {
            DeValue::Float(number) => number.as_str().parse().ok(),
            DeValue::Integer(number) => number.as_str().parse().ok(),
            _ => None,
        }
    }

    /// The table, if this is one.
    pub fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The table, if this is one.
    pub fn as_table_mut(&mut self) -> Option<&mut Table> {
        match &mut self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The values of the array, if this is one that contains tables.
    pub fn as_array(&self) -> Option<&[Self]> {
        match &self.value {
            Value::Array(nodes) => Some(nodes),
            _ => None,
        }
    }

    /// The table, or an empty one.
    pub fn into_table(self) -> Table {
        match self.value {
            Value::Table(table) => table,
            _ => Table::default(),
        }
    }

    /// Visits this value and every value below it.
    pub fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Node)) {
        visit(self);
        match &self.value {
            Value::Table(table) => table.visit(visit),
            Value::Array(elements) => elements.iter().for_each(|element| element.visit(visit)),
            Value::Leaf { .. } => {}
        }
    }

    /// The elements of an array without tables; `None` for anything else.
    fn elements(&self) -> Option<Vec<Node>> {
        let Value::Leaf { text, verbatim } = &self.value else {
            return None;
        };
        let parsed = DeValue::parse(text).ok()?;
        let elements = parsed.get_ref().as_array()?.iter().map(|element| {
            let span = element.span();
            let start = self.place.span.start;
            let place = match verbatim {
                true => start + span.start..start + span.end,
                false => self.place.span.clone(),
            };
            Node {
                value: Value::Leaf {
                    text: text[span].to_owned(),
                    verbatim: *verbatim,
                },
                place: SourceSpan {
                    source: Arc::clone(&self.place.source),
                    span: place,
                },
            }
        });
        Some(elements.collect())
    }

    /// Merges `over`: tables key by key; anything else is replaced.
    ///
    /// # Errors
    /// An index of an element that the array does not have, with its place.
    pub fn overlay(&mut self, over: Node) -> Result<(), Diagnostic> {
        // `position.0`: numbers index the elements of any array.
        if let Value::Table(keys) = &over.value
            && keys.are_indexes()
        {
            if let Some(elements) = self.elements() {
                self.value = Value::Array(elements);
            }
            if let Value::Array(elements) = &self.value {
                keys.expect_indexes(elements.len())?;
            }
        }
        match (&mut self.value, over) {
            (
                Value::Table(base),
                Node {
                    value: Value::Table(over),
                    ..
                },
            ) => base.overlay(over),
            // `rotors.0.thrust`: numbers index the elements of an array of tables.
            (
                Value::Array(base),
                Node {
                    value: Value::Table(over),
                    ..
                },
            ) if over.are_indexes() => {
                for entry in over.entries {
                    if let Some(element) = entry.index().and_then(|index| base.get_mut(index)) {
                        element.overlay(entry.node)?;
                    }
                }
                Ok(())
            }
            (_, over) => {
                *self = over;
                Ok(())
            }
        }
    }
}

impl Entry {
    /// The key as an index into an array, if it is one.
    fn index(&self) -> Option<usize> {
        self.key.parse().ok()
    }
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }

    /// Visits every value below this table.
    pub fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Node)) {
        for entry in &self.entries {
            entry.node.visit(visit);
        }
    }

    /// Removes the entry.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        Some(self.entries.remove(at))
    }

    /// Whether there are keys, all of them numbers.
    fn are_indexes(&self) -> bool {
        !self.entries.is_empty() && self.entries.iter().all(|entry| entry.index().is_some())
    }

    /// Checks that every key is an index into an array of this length.
    fn expect_indexes(&self, length: usize) -> Result<(), Diagnostic> {
        let beyond = |entry: &&Entry| entry.index().is_none_or(|index| index >= length);
        let Some(entry) = self.entries.iter().find(beyond) else {
            return Ok(());
        };
        let expected = match length {
            0 => "the array is empty".to_owned(),
            1 => "expected 0, the index of its only element".to_owned(),
            _ => format!("expected an index from 0 to {}", length - 1),
        };
        let title = format!("the array has no element {}", entry.key);
        Err(Diagnostic::new(title).at(entry.key_place.clone(), expected))
    }

    fn overlay(&mut self, over: Table) -> Result<(), Diagnostic> {
        let keys = self.entries.iter().enumerate();
        let places: HashMap<String, usize> = keys
            .map(|(place, entry)| (entry.key.clone(), place))
            .collect();
        for entry in over.entries {
            match places
                .get(&entry.key)
                .map(|&place| &mut self.entries[place])
            {
                Some(base) => {
                    base.key_place = entry.key_place;
                    base.node.overlay(entry.node)?;
                }
                None => self.entries.push(entry),
            }
        }
        Ok(())
    }
}

/// Converts toml's tree into ours.
struct Reader<'a> {
    source: &'a Arc<Source>,
    /// Offset in the source at which the parsed text begins.
    shift: usize,
}

impl Reader<'_> {
    fn place(&self, span: Range<usize>) -> SourceSpan {
        SourceSpan {
            source: Arc::clone(self.source),
            span: span.start + self.shift..span.end + self.shift,
        }
    }

    fn table(&self, table: &DeTable<'_>) -> Table {
        let mut entries: Vec<Entry> = table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref().to_string(),
                key_place: self.place(key.span()),
                node: self.node(value),
            })
            .collect();
        // toml's map is sorted by name; the written order reads better.
        entries.sort_by_key(|entry| entry.key_place.span.start);
        Table { entries }
    }

    fn node(&self, value: &Spanned<DeValue<'_>>) -> Node {
        let place = self.place(value.span());
        let value = match value.get_ref() {
            DeValue::Table(table) => Value::Table(self.table(table)),
            DeValue::Array(array) if holds_table(array) => {
                Value::Array(array.iter().map(|element| self.node(element)).collect())
            }
            _ => Value::Leaf {
                text: self.source.text[place.span.clone()].to_owned(),
                verbatim: true,
            },
        };
        Node { value, place }
    }
}

fn holds_table(array: &DeArray<'_>) -> bool {
    array.iter().any(|element| match element.get_ref() {
        DeValue::Table(_) => true,
        DeValue::Array(inner) => holds_table(inner),
        _ => false,
    })
}
