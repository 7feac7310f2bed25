//! The tables of `docs/sources.md` and `docs/errata.md`, as people read them.

use super::citation::{Equation, equations};
use crate::workspace;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;

/// A row of the map.
pub struct Row {
    pub line: usize,
    /// Sections and equations, as printed.
    pub source: String,
    pub topic: String,
    /// Chapter, first and last number.
    pub equations: Vec<(String, u32, u32)>,
    pub code: Vec<Item>,
    pub tests: Vec<Item>,
    pub shown: Vec<Item>,
    /// What is missing.
    pub gap: Option<String>,
}

impl Row {
    pub fn holds(&self, equation: &Equation) -> bool {
        self.equations.iter().any(|(chapter, from, to)| {
            *chapter == equation.chapter && (from..=to).contains(&&equation.number)
        })
    }
}

/// A misprinted equation.
pub struct Erratum {
    pub line: usize,
    pub equations: Vec<Equation>,
    pub tests: Vec<Item>,
}

/// A file, or a name that it defines.
pub struct Item {
    file: String,
    pub name: Option<String>,
}

impl Item {
    pub fn text(&self) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        format!("{} {name}", self.file).trim_end().to_owned()
    }

    fn path(&self) -> PathBuf {
        let root = workspace::root();
        let of_crate = root.join("crates").join(&self.file);
        if of_crate.exists() {
            of_crate
        } else {
            root.join(&self.file)
        }
    }

    /// What of it is not there.
    pub fn missing(&self) -> Option<String> {
        let path = self.path();
        if !path.exists() {
            return Some(format!("there is no file `{}`", self.file));
        }
        let name = self.name.as_ref()?;
        let text = fs::read_to_string(path).unwrap_or_default();
        let absent = name
            .split("::")
            .find(|part| definition(&text, part).is_none())?;
        Some(format!("`{}` defines no `{absent}`", self.file))
    }

    /// Whether it is run by `cargo test`: a function marked as a test, or the main function of a test without harness.
    pub fn is_test(&self) -> bool {
        let (Some(name), Ok(text)) = (&self.name, fs::read_to_string(self.path())) else {
            return false;
        };
        let Some(at) = definition(&text, name) else {
            return false;
        };
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let mut attributes = text[..start].lines().rev().take_while(|line| {
            let line = line.trim_start();
            line.starts_with("#[") || line.starts_with("//")
        });
        attributes.any(|line| line.trim() == "#[test]")
            || (name == "main" && self.file.contains("/tests/"))
    }
}

/// Where a name is defined.
fn definition(text: &str, name: &str) -> Option<usize> {
    let kinds = [
        "fn", "struct", "trait", "enum", "type", "mod", "const", "static",
    ];
    kinds.into_iter().find_map(|kind| {
        let start = format!("{kind} {name}");
        text.match_indices(&start).find_map(|(at, found)| {
            let after = text[at + found.len()..].chars().next();
            let ends = after.is_none_or(|c| !(c.is_alphanumeric() || c == '_'));
            let begins = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            (ends && begins).then_some(at)
        })
    })
}

/// The cells of every line of a table, with the line's number.
fn cells(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    text.lines().enumerate().filter_map(|(i, line)| {
        let inner = line.trim().strip_prefix("| ")?.strip_suffix('|')?;
        // A bar inside of code is written `\|`.
        let mut cells = vec![""];
        let (mut start, bytes) = (0, inner.as_bytes());
        for at in 0..bytes.len() {
            if bytes[at] == b'|' && (at == 0 || bytes[at - 1] != b'\\') {
                *cells.last_mut()? = inner[start..at].trim();
                cells.push("");
                start = at + 1;
            }
        }
        *cells.last_mut()? = inner[start..].trim();
        Some((i + 1, cells))
    })
}

/// The rows of the map.
pub fn rows(text: &str) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (line, cells) in cells(text) {
        let source = cells[0];
        let author = source.split(' ').next().unwrap_or_default();
        if !["K", "I", "II", "RN", "MR"].contains(&author) {
            continue;
        }
        let [_, topic, code, tests, shown, gap] = cells[..] else {
            bail!("line {line}: expected six cells, found {}", cells.len());
        };
        let gap = match gap {
            "" | "–" => None,
            gap if gap.starts_with("not yet: ") => Some(gap.to_owned()),
            gap => bail!("line {line}: expected `–` or `not yet: …`, found `{gap}`"),
        };
        let ranges = ranges(source, author).with_context(|| format!("line {line}: `{source}`"))?;
        rows.push(Row {
            line,
            source: source.to_owned(),
            topic: topic.to_owned(),
            equations: ranges,
            code: items(code),
            tests: items(tests),
            shown: items(shown),
            gap,
        });
    }
    Ok(rows)
}

/// `(3.13-3.20)`, `(4.60-4.68; A.8-A.18)`, `(5.83)`, and of From `(12-31)`.
fn ranges(source: &str, author: &str) -> Result<Vec<(String, u32, u32)>> {
    let mut found = Vec::new();
    for list in source.split('(').skip(1) {
        let list = list.split(')').next().unwrap_or_default();
        for range in list.split([';', ',']) {
            let (from, to) = range
                .trim()
                .split_once('-')
                .unwrap_or((range.trim(), range.trim()));
            let parse = |label: &str| -> Result<(String, u32)> {
                let (chapter, number) = label.split_once('.').unwrap_or((author, label));
                Ok((chapter.to_owned(), number.parse()?))
            };
            let ((chapter, from), (same, to)) = (parse(from)?, parse(to)?);
            if chapter != same || from > to {
                bail!("`{range}` is no range");
            }
            found.push((chapter, from, to));
        }
    }
    Ok(found)
}

/// The misprinted equations.
pub fn errata(text: &str) -> Vec<Erratum> {
    let mut found = Vec::new();
    for (line, cells) in cells(text) {
        let [equation, _, _, tests] = cells[..] else {
            continue;
        };
        if equation == "equation" || equation.starts_with("---") {
            continue;
        }
        found.push(Erratum {
            line,
            equations: equations(equation)
                .into_iter()
                .map(|(_, equation)| equation)
                .collect(),
            tests: items(tests),
        });
    }
    found
}

/// What the code spans of a cell name: a file, then names that it defines.
fn items(cell: &str) -> Vec<Item> {
    let mut found: Vec<Item> = Vec::new();
    for span in cell.split('`').skip(1).step_by(2) {
        let is_file = span.contains('/');
        match found.last().map(|item| item.file.clone()) {
            _ if is_file => found.push(Item {
                file: span.to_owned(),
                name: None,
            }),
            Some(file) => found.push(Item {
                file,
                name: Some(span.to_owned()),
            }),
            None => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{cells, definition, items, ranges};

    #[test]
    fn definitions_are_whole_words() {
        let text = "fn force_at() {}\npub struct Force;\n";
        assert!(definition(text, "force").is_none());
        assert!(definition(text, "Force").is_some());
        assert!(definition(text, "at").is_none());
    }

    #[test]
    fn ranges_have_chapters() {
        let found = ranges("K 4.2.2, A.1.4 (4.60-4.68; A.8-A.18)", "K").unwrap();
        let expected = [("4".to_owned(), 60, 68), ("A".to_owned(), 8, 18)];
        assert_eq!(found, expected);
        assert_eq!(
            ranges("I 2.2 (12-31), Prop 2.1", "I").unwrap(),
            [("I".to_owned(), 12, 31)]
        );
        assert!(ranges("K 3 (3.9-3.2)", "K").is_err());
    }

    #[test]
    fn names_are_of_the_file_before_them() {
        let found = items("`lie/src/a.rs` `f`, `g`; `lie/src/b.rs`");
        let texts: Vec<_> = found.iter().map(super::Item::text).collect();
        assert_eq!(
            texts,
            [
                "lie/src/a.rs",
                "lie/src/a.rs f",
                "lie/src/a.rs g",
                "lie/src/b.rs"
            ]
        );
    }

    #[test]
    fn a_bar_in_code_is_no_border() {
        let text = "| `a \\| b` | c |\nno row\n";
        let found: Vec<_> = cells(text).collect();
        assert_eq!(found, [(1, vec!["`a \\| b`", "c"])]);
    }
}
