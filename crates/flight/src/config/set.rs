//! `--set key=value`, `--backend name` and the other options that set a value, read as if they were written in a separate file.

use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use super::assignment::Assignment;
use super::diagnostic::Diagnostic;
use super::given::{Given, Sets};
use super::keys::{KIND, TOLERANCE};
use super::source::{Origin, Source, SourceSpan};
use super::tree::{Entry, Node, Table, Value};

const SET: &str = "--set";
const BACKEND: &str = "--backend";

/// The table that `--set assignment` merges into the configuration.
pub(super) fn set(assignment: &str) -> Result<Node, Diagnostic> {
    assigned(SET, assignment)
}

/// The table that another option merges into the configuration.
pub(super) fn given(given: &Given) -> Result<Node, Diagnostic> {
    let key = match &given.sets {
        Sets::Assignment => return assigned(given.option, &given.argument),
        Sets::Text(key) | Sets::True(key) => key,
    };
    let (source, start) = flag_source(given.option, &given.argument);
    let is_text = matches!(given.sets, Sets::Text(_));
    let place = SourceSpan {
        span: if is_text { start } else { 0 }..source.text.len(),
        source,
    };
    let keys = read_key(key).ok_or_else(|| {
        Diagnostic::new(format!("`{key}` is not a key of a configuration"))
            .at(place.clone(), "expected names joined by dots")
    })?;
    let value = if is_text {
        Node::string(&given.argument, place.clone())
    } else {
        Node {
            value: Value::Leaf {
                text: "true".to_owned(),
                verbatim: false,
            },
            place: place.clone(),
        }
    };
    let steps = keys.into_iter().map(|(key, _)| (key, place.clone()));
    Ok(nest(steps.collect(), value, &place))
}

/// The table of an option whose argument is `KEY=VALUE`.
fn assigned(option: &'static str, assignment: &str) -> Result<Node, Diagnostic> {
    let (source, start) = flag_source(option, assignment);
    let place = |from: usize, to: usize| SourceSpan {
        source: Arc::clone(&source),
        span: start + from..start + to,
    };
    let everything = place(0, assignment.len());

    let Some(equals) = find_equals(assignment) else {
        return Err(
            Diagnostic::new(format!("`{option}` needs a key and a value"))
                .at(everything, "expected key=value, found no `=`")
                .help(format!("for example {option} flight.duration=5")),
        );
    };
    let key = &assignment[..equals];
    let keys = read_key(key).ok_or_else(|| {
        Diagnostic::new(format!("`{option}` needs a key before the `=`"))
            .at(place(0, equals.max(1)), "expected names joined by dots")
            .help(format!("for example {option} flight.duration=5"))
    })?;

    let from = equals + 1;
    let value_text = assignment[from..].trim();
    let from = from + assignment[from..].find(value_text).unwrap_or(0);
    let span = start + from..start + from + value_text.len();
    let value = match Node::parse_value(&source, span.clone()) {
        Ok(value) => value,
        Err(_) => Node::string(
            value_text,
            SourceSpan {
                source: Arc::clone(&source),
                span,
            },
        ),
    };
    let steps = keys
        .into_iter()
        .map(|(key, span)| (key, place(span.start, span.end)));
    Ok(nest(steps.collect(), value, &everything))
}

/// The table that a program's assignment merges into the configuration.
pub(super) fn assign(assignment: &Assignment) -> Result<Node, Diagnostic> {
    let (key, key_place, place) = (&assignment.key, &assignment.key_place, &assignment.place);
    let keys = read_key(key).ok_or_else(|| {
        Diagnostic::new(format!("`{key}` is not a key of a configuration")).at(
            key_place.clone(),
            "expected names joined by dots, such as \"flight.duration\"",
        )
    })?;
    let value = match &assignment.value {
        None => Node::parse_value(&place.source, place.span.clone())
            .map_err(|error| Diagnostic::syntax(&place.source, place.span.start, &error))?,
        Some(text) => Node {
            value: Value::Leaf {
                text: text.clone(),
                verbatim: false,
            },
            place: place.clone(),
        },
    };
    let steps = keys.into_iter().map(|(key, _)| (key, key_place.clone()));
    Ok(nest(steps.collect(), value, place))
}

/// Merges a flag's table into the configuration. If it changes the `kind` of a table, the keys of the old kind are
/// removed, except those given by flags. Returns notes that name the removed keys.
///
/// # Errors
/// An index of an element that an array does not have, with its place.
pub(super) fn merge(root: &mut Node, over: Node) -> Result<Vec<String>, Diagnostic> {
    let mut notes = Vec::new();
    change_kinds(root, &over, "", &mut notes);
    move_tables(root, &over);
    root.overlay(over)?;
    Ok(notes)
}

/// Moves the place of every table that the flag writes as a whole, `key={…}`, to the flag: what is said of the table, such
/// as a key that it lacks, is said of that.
fn move_tables(base: &mut Node, over: &Node) {
    let Some(table) = over.as_table() else {
        return;
    };
    let written = over.place.source.text.get(over.place.span.clone());
    if base.as_table().is_some() && written.is_some_and(|text| text.starts_with('{')) {
        base.place = over.place.clone();
    }
    for entry in &table.entries {
        let below = match &mut base.value {
            Value::Table(base) => base.get_mut(&entry.key).map(|below| &mut below.node),
            Value::Array(elements) => {
                (entry.key.parse().ok()).and_then(|index: usize| elements.get_mut(index))
            }
            Value::Leaf { .. } => None,
        };
        if let Some(below) = below {
            move_tables(below, &entry.node);
        }
    }
}

fn change_kinds(base: &mut Node, over: &Node, path: &str, notes: &mut Vec<String>) {
    let Some(over) = over.as_table() else {
        return;
    };
    if let Value::Array(elements) = &mut base.value {
        for entry in &over.entries {
            let element = entry
                .key
                .parse()
                .ok()
                .and_then(|i: usize| elements.get_mut(i));
            if let Some(element) = element {
                change_kinds(
                    element,
                    &entry.node,
                    &format!("{path}.{}", entry.key),
                    notes,
                );
            }
        }
        return;
    }
    let Some(base) = base.as_table_mut() else {
        return;
    };
    let kind = |table: &Table| table.get(KIND).and_then(|entry| entry.node.as_string());
    if let (Some(old), Some(new)) = (kind(base), kind(over))
        && old != new
    {
        let stays = |entry: &Entry| {
            [KIND, TOLERANCE].contains(&entry.key.as_str())
                || matches!(entry.key_place.source.origin, Origin::Flag(_))
        };
        let dropped = base.entries.extract_if(.., |entry| !stays(entry));
        let dropped: Vec<String> = dropped.map(|entry| format!("`{}`", entry.key)).collect();
        if !dropped.is_empty() {
            notes.push(format!(
                "`{path}.{KIND}` is \"{new}\" in place of \"{old}\": the other keys of `{path}` are dropped ({})",
                dropped.join(", ")
            ));
        }
    }
    for entry in &over.entries {
        let path = if path.is_empty() {
            entry.key.clone()
        } else {
            format!("{path}.{}", entry.key)
        };
        if let Some(below) = base.get_mut(&entry.key) {
            change_kinds(&mut below.node, &entry.node, &path, notes);
        }
    }
}

/// The table that `--backend name` merges into the configuration.
pub(super) fn backend(name: &str) -> Node {
    let (source, start) = flag_source(BACKEND, name);
    let place = SourceSpan {
        span: start..source.text.len(),
        source,
    };
    let steps = ["backend", "plugin"].map(|key| (key.to_owned(), place.clone()));
    nest(steps.into(), Node::string(name, place.clone()), &place)
}

/// The flag as the user typed it, and the offset of its argument.
fn flag_source(flag: &'static str, argument: &str) -> (Arc<Source>, usize) {
    let text = if argument.is_empty() {
        flag.to_owned()
    } else {
        format!("{flag} {argument}")
    };
    let source = Source {
        name: flag.to_owned(),
        text,
        origin: Origin::Flag(flag),
        included_by: None,
    };
    let start = source.text.len() - argument.len();
    (Arc::new(source), start)
}

/// The first `=` outside quotes.
fn find_equals(assignment: &str) -> Option<usize> {
    let mut quote = None;
    assignment.char_indices().find_map(|(at, character)| {
        match (quote, character) {
            (None, '=') => return Some(at),
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
        None
    })
}

/// The parts of a dotted TOML key, without quotes, and their bytes; `None` if it is not a key and nothing else.
pub fn read_key(key: &str) -> Option<Vec<(String, std::ops::Range<usize>)>> {
    if key.contains('\n') {
        return None;
    }
    let text = format!("{key} = 0");
    let document = DeTable::parse(&text).ok()?;
    let mut parts = Vec::new();
    let mut table = document.get_ref();
    loop {
        let (name, value) = table.iter().next()?;
        parts.push((name.get_ref().to_string(), name.span()));
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            // A value that the key itself contains ends earlier.
            _ => return (value.span().end == text.len()).then_some(parts),
        }
    }
}

fn nest(steps: Vec<(String, SourceSpan)>, value: Node, whole: &SourceSpan) -> Node {
    steps
        .into_iter()
        .rev()
        .fold(value, |node, (key, key_place)| Node {
            value: Value::Table(Table {
                entries: vec![Entry {
                    key,
                    key_place,
                    node,
                }],
            }),
            place: whole.clone(),
        })
}

/// Replaces the name of a vehicle in a flag's `vehicles` by its index, so that the flag is merged into that element.
pub(super) fn by_name(root: &Node, over: &mut Node) -> Result<(), Diagnostic> {
    let given = root.as_table().and_then(|table| table.get("vehicles"));
    let Some(Value::Array(elements)) = given.map(|entry| &entry.node.value) else {
        return Ok(());
    };
    let entry = over
        .as_table_mut()
        .and_then(|table| table.get_mut("vehicles"));
    let Some(flagged) = entry.and_then(|entry| entry.node.as_table_mut()) else {
        return Ok(());
    };
    let name = |node: &Node| node.as_table()?.get("name")?.node.as_string();
    let names: Vec<_> = elements.iter().map(name).collect();
    for entry in &mut flagged.entries {
        let by_index = entry
            .key
            .parse()
            .is_ok_and(|index: usize| index < names.len());
        if by_index {
            continue;
        }
        let of_this_name = |name: &Option<String>| name.as_ref() == Some(&entry.key);
        let Some(index) = names.iter().position(of_this_name) else {
            let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
            let diagnostic = Diagnostic::new(format!("there is no vehicle `{}`", entry.key)).at(
                entry.key_place.clone(),
                format!(
                    "expected an index below {} or one of the names {}",
                    names.len(),
                    known.join(", ")
                ),
            );
            return Err(match fly_hal::nearest(&entry.key, known) {
                Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                None => diagnostic,
            });
        };
        entry.key = index.to_string();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_toml_reads_it() {
        let names = |key: &str| -> Option<Vec<String>> {
            Some(read_key(key)?.into_iter().map(|(name, _)| name).collect())
        };
        let found = |names: &[&str]| Some(names.iter().copied().map(str::to_owned).collect());
        assert_eq!(names("flight.duration"), found(&["flight", "duration"]));
        assert_eq!(names("a . 'b'"), found(&["a", "b"]));
        assert_eq!(names("a.\"b=c\""), found(&["a", "b=c"]));
        assert_eq!(names("\"a#\".b"), found(&["a#", "b"]));
        for none in [
            "",
            "a.",
            "a = 1 #",
            "\"a\" = 1 #",
            "[a]\nb",
            "a = {b",
            "a b",
        ] {
            assert_eq!(names(none), None, "{none}");
        }
    }
}
