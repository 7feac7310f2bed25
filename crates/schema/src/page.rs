//! The reference page of all keys.

use std::cell::RefCell;
use std::fmt::Write as _;

use serde_json::Value;

const VEHICLE: &str = "text, or the keys of [a vehicle](#vehicles-and-systems) and `file`";
const SECTION: &str = "as of [a flight](#flights)";

/// Parts that are described elsewhere on the page, by the names of the schemas.
fn elsewhere(name: &str) -> &'static [(&'static str, &'static str)] {
    match name {
        "flight" => &[
            ("vehicle", VEHICLE),
            ("backend.sim.vehicle", VEHICLE),
            ("backend.tricopter", "as `backend.quadcopter`"),
        ],
        "fleet" => &[
            ("flight", SECTION),
            ("backend", SECTION),
            ("vehicles[].vehicle", SECTION),
            ("vehicles[].controller", SECTION),
            ("vehicles[].reference", SECTION),
            ("vehicles[].safety", SECTION),
            ("world", "some keys of [a system](#vehicles-and-systems)"),
        ],
        _ => &[],
    }
}

/// The page, generated from the schemas.
pub fn markdown() -> String {
    let mut page = "\
# Every key

All keys of all files, from the schemas that `fly schema` prints and editors complete by ([how](schema.md)). What the keys do together stands in
[the configuration](configuration.md). A key in bold must be there. This page is made by `cargo xtask generate`.
"
    .to_owned();
    for (name, files, schema) in crate::all() {
        let _ = write!(page, "\n## {files}\n");
        let mut writer = Writer {
            elsewhere: elsewhere(name),
            definitions: &schema["definitions"],
            sections: Vec::new(),
            met: RefCell::default(),
        };
        writer.section(&schema, "", "");
        for (path, about, rows) in writer.sections {
            if !path.is_empty() {
                let _ = write!(page, "\n### `{path}`\n");
            }
            if !about.is_empty() {
                let _ = write!(page, "\n{about}\n");
            }
            let _ = write!(page, "\n| key | value | |\n|---|---|---|\n{rows}");
        }
    }
    page
}

/// Writes tables of keys by path, each with its purpose.
struct Writer<'a> {
    /// Paths whose tables are described elsewhere, with the place of each.
    elsewhere: &'static [(&'static str, &'static str)],
    definitions: &'a Value,
    sections: Vec<(String, String, String)>,
    /// The tables written so far, each with its path: a repeated table is written once.
    met: RefCell<Vec<(&'a Value, String)>>,
}

impl<'a> Writer<'a> {
    /// The schema that a chain of references leads to.
    fn resolve(&self, mut schema: &'a Value) -> &'a Value {
        loop {
            if let Some(name) = schema["$ref"]
                .as_str()
                .and_then(|path| path.rsplit('/').next())
            {
                schema = &self.definitions[name];
            } else if let Some([one]) = schema["allOf"].as_array().map(Vec::as_slice) {
                schema = one;
            } else {
                return schema;
            }
        }
    }

    /// A schema's table of keys, and the tables in it.
    fn section(&mut self, schema: &'a Value, path: &str, about: &str) {
        let mut rows = String::new();
        let mut inner = Vec::new();
        let required = schema["required"].as_array();
        for (key, value) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = required.is_some_and(|keys| keys.iter().any(|name| name == key));
            let shown = if is_required {
                format!("**`{key}`**")
            } else {
                format!("`{key}`")
            };
            let below = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            let form = self.form(value, &below, &mut inner);
            let _ = writeln!(rows, "| {shown} | {form} | {} |", cell(&about_of(value)));
        }
        let place = self.sections.len();
        self.sections
            .insert(place, (path.to_owned(), cell(about), rows));
        for (path, schema, about) in inner {
            // Ends the recursion of tables that may contain each other, such as variations of variations.
            if path.matches('.').count() < 7 {
                self.section(schema, &path, &about);
            }
        }
    }

    /// Describes the value of a key; adds the tables in it to `inner`.
    fn form(
        &self,
        value: &'a Value,
        path: &str,
        inner: &mut Vec<(String, &'a Value, String)>,
    ) -> String {
        if let Some((_, link)) = self.elsewhere.iter().find(|(there, _)| *there == path) {
            return (*link).to_owned();
        }
        let schema = self.resolve(value);
        if let Some(constant) = schema.get("const") {
            return format!("`{constant}`");
        }
        let choices = ["anyOf", "oneOf"]
            .iter()
            .find_map(|key| schema[*key].as_array());
        if let Some(choices) = choices {
            let mut forms: Vec<String> = Vec::new();
            for choice in choices.iter().filter(|choice| choice["type"] != "null") {
                let choice = self.resolve(choice);
                let named = choice["title"]
                    .as_str()
                    .map(|kind| format!("{path}, kind \"{kind}\""));
                let form = self.form(choice, named.as_deref().unwrap_or(path), inner);
                if !forms.contains(&form) {
                    forms.push(form);
                }
            }
            return forms.join(", ");
        }
        if let Some(words) = schema["enum"].as_array() {
            let words: Vec<String> = words
                .iter()
                .filter(|word| !word.is_null())
                .map(|word| format!("`{word}`"))
                .collect();
            return words.join(", ");
        }
        if let Some(kinds) = schema["type"].as_array() {
            let kinds = kinds
                .iter()
                .filter_map(Value::as_str)
                .filter(|kind| *kind != "null");
            let forms: Vec<String> = kinds
                .map(|kind| self.plain(kind, schema, path, inner))
                .collect();
            return forms.join(", ");
        }
        self.plain(
            schema["type"].as_str().unwrap_or("any"),
            schema,
            path,
            inner,
        )
    }

    fn plain(
        &self,
        kind: &str,
        schema: &'a Value,
        path: &str,
        inner: &mut Vec<(String, &'a Value, String)>,
    ) -> String {
        match kind {
            "string" => "text".to_owned(),
            "integer" => "whole number".to_owned(),
            "boolean" => "true, false".to_owned(),
            "any" => "any value".to_owned(),
            "array" => {
                let element = &schema["items"];
                let element = if element.is_null() {
                    "values".to_owned()
                } else {
                    self.form(element, &format!("{path}[]"), inner)
                };
                match schema["minItems"]
                    .as_u64()
                    .filter(|least| Some(*least) == schema["maxItems"].as_u64())
                {
                    Some(count) => format!("{count} of: {element}"),
                    None => format!("list of: {element}"),
                }
            }
            "object" if schema["properties"].is_object() => {
                let keys = &schema["properties"];
                let mut met = self.met.borrow_mut();
                if let Some((_, there)) = met.iter().find(|(other, _)| *other == keys) {
                    return format!("[as `{there}`](#{})", anchor(there));
                }
                met.push((keys, path.to_owned()));
                inner.push((path.to_owned(), schema, about_of(schema)));
                format!("[table](#{})", anchor(path))
            }
            "object" if schema["additionalProperties"].is_object() => {
                let named = &schema["additionalProperties"];
                if path.ends_with("NAME")
                    || named["type"] == "object" && named["properties"].is_null()
                {
                    return "table".to_owned();
                }
                format!(
                    "by name: {}",
                    self.form(named, &format!("{path}.NAME"), inner)
                )
            }
            "object" => "table".to_owned(),
            other => other.to_owned(),
        }
    }
}

fn about_of(schema: &Value) -> String {
    schema["description"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// Text for a table cell: on one line, without rustdoc links.
fn cell(text: &str) -> String {
    let text = text.split("\n\n").next().unwrap_or_default();
    let text = text
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|");
    let mut plain = String::new();
    let mut rest = text.as_str();
    // [`Name`](path) and [`Name`].
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, after)) = after.split_once("`]") else {
            break;
        };
        plain.push_str(before);
        let _ = write!(plain, "`{name}`");
        rest = match after
            .strip_prefix('(')
            .and_then(|after| after.split_once(')'))
        {
            Some((_, after)) => after,
            None => after,
        };
    }
    plain.push_str(rest);
    plain
}

/// The anchor that Markdown pages generate for a heading of code.
fn anchor(path: &str) -> String {
    let kept = path
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| {
        if c == ' ' {
            '-'
        } else {
            c.to_ascii_lowercase()
        }
    })
    .collect()
}
