//! Prints a tree as TOML and records the origin of every part of it.

use std::ops::Range;

use super::source::SourceSpan;
use super::tree::{Node, Table, Value};

/// Maps bytes of a canonical text to their origin.
#[derive(Clone, Debug, Default)]
pub(super) struct SourceMap {
    /// In the order of the text; a table's header comes before the keys in it.
    segments: Vec<Segment>,
    /// Origin of the whole text.
    root: Option<SourceSpan>,
}

#[derive(Clone, Debug)]
struct Segment {
    text: Range<usize>,
    place: SourceSpan,
    /// The text equals the source's text, so offsets inside it carry over.
    verbatim: bool,
}

impl SourceMap {
    /// Origin of the bytes of `span`; `None` for the map of an empty document.
    pub fn place(&self, span: &Range<usize>) -> Option<SourceSpan> {
        let last = span.end.saturating_sub(1).max(span.start);
        let Some(start) = self.at(span.start).or_else(|| self.first_after(span)) else {
            return self.root.clone();
        };
        let from = start.offset(span.start);
        let mut place = SourceSpan {
            source: start.place.source.clone(),
            span: from,
        };
        // A span over several pieces (a key and its value) is joined if they are adjacent in one source.
        if let Some(end) = self.at(last)
            && std::sync::Arc::ptr_eq(&end.place.source, &place.source)
        {
            let to = end.offset(last);
            let to = if end.verbatim { to.start + 1 } else { to.end };
            if start.verbatim || !std::ptr::eq(start, end) {
                place.span.end = to.max(place.span.start);
            }
        }
        Some(place)
    }

    /// Origin of the whole text.
    pub fn whole(&self) -> Option<SourceSpan> {
        self.root.clone()
    }

    fn at(&self, offset: usize) -> Option<&Segment> {
        self.segments
            .iter()
            .filter(|segment| segment.text.contains(&offset))
            .min_by_key(|segment| segment.text.len())
    }

    fn first_after(&self, span: &Range<usize>) -> Option<&Segment> {
        self.segments
            .iter()
            .find(|segment| span.contains(&segment.text.start))
    }
}

impl Segment {
    fn offset(&self, at: usize) -> Range<usize> {
        if self.verbatim && at >= self.text.start {
            self.place.span.start + (at - self.text.start)..self.place.span.end
        } else {
            self.place.span.clone()
        }
    }
}

/// Prints a table: headers for tables, `[[…]]` for arrays of tables, inline for everything that cannot have a header.
pub(super) fn print(table: &Table, root: SourceSpan) -> (String, SourceMap) {
    let mut printer = Printer {
        text: String::new(),
        map: SourceMap {
            segments: Vec::new(),
            root: Some(root),
        },
    };
    printer.table(table, &mut Vec::new());
    (printer.text, printer.map)
}

struct Printer {
    text: String,
    map: SourceMap,
}

/// A key on the way to a table, and the place where it was written.
type Step<'a> = (&'a str, &'a SourceSpan);

impl Printer {
    fn table<'a>(&mut self, table: &'a Table, path: &mut Vec<Step<'a>>) {
        let (below, plain): (Vec<_>, Vec<_>) = table
            .entries
            .iter()
            .partition(|entry| has_header(&entry.node));
        for entry in plain {
            self.key(&entry.key, &entry.key_place);
            self.text.push_str(" = ");
            self.inline(&entry.node);
            self.text.push('\n');
        }
        for entry in below {
            path.push((&entry.key, &entry.key_place));
            match &entry.node.value {
                Value::Table(inner) => {
                    self.header("[", path, "]", &entry.node.place);
                    self.table(inner, path);
                }
                Value::Array(elements) => {
                    for element in elements {
                        self.header("[[", path, "]]", &element.place);
                        if let Value::Table(inner) = &element.value {
                            self.table(inner, path);
                        }
                    }
                }
                Value::Leaf { .. } => {}
            }
            path.pop();
        }
    }

    fn header(&mut self, open: &str, path: &[Step<'_>], close: &str, place: &SourceSpan) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let start = self.text.len();
        self.text.push_str(open);
        for (index, (key, key_place)) in path.iter().enumerate() {
            if index > 0 {
                self.text.push('.');
            }
            self.key(key, key_place);
        }
        self.text.push_str(close);
        self.mark(start, place, false);
        self.text.push('\n');
    }

    fn inline(&mut self, node: &Node) {
        let start = self.text.len();
        match &node.value {
            Value::Leaf { text, verbatim } => {
                self.text.push_str(text);
                self.mark(start, &node.place, *verbatim);
                return;
            }
            Value::Array(elements) => {
                self.text.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        self.text.push_str(", ");
                    }
                    self.inline(element);
                }
                self.text.push(']');
            }
            Value::Table(table) => {
                self.text.push('{');
                for (index, entry) in table.entries.iter().enumerate() {
                    self.text.push_str(if index > 0 { ", " } else { " " });
                    self.key(&entry.key, &entry.key_place);
                    self.text.push_str(" = ");
                    self.inline(&entry.node);
                }
                self.text.push_str(" }");
            }
        }
        self.mark(start, &node.place, false);
    }

    fn key(&mut self, key: &str, place: &SourceSpan) {
        let start = self.text.len();
        let bare = !key.is_empty()
            && key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if bare {
            self.text.push_str(key);
        } else {
            self.text.push_str(&toml::Value::from(key).to_string());
        }
        self.mark(start, place, false);
    }

    fn mark(&mut self, start: usize, place: &SourceSpan, verbatim: bool) {
        self.map.segments.push(Segment {
            text: start..self.text.len(),
            place: place.clone(),
            verbatim,
        });
    }
}

/// Whether it is printed under its own header: a table, or an array of tables only.
fn has_header(node: &Node) -> bool {
    match &node.value {
        Value::Table(_) => true,
        Value::Array(elements) => elements
            .iter()
            .all(|element| matches!(element.value, Value::Table(_))),
        Value::Leaf { .. } => false,
    }
}
