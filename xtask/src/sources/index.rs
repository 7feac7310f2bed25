//! `docs/equations.md`: what is cited where.

use super::citation::{Citation, Equation};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Files and, of each, the items.
type Places = BTreeMap<String, BTreeSet<String>>;

/// Code, tests, and what shows it.
#[derive(Default)]
struct Entry([Places; 3]);

/// How many equations are cited.
pub fn equations(citations: &[Citation]) -> usize {
    let all = citations.iter().map(|citation| &citation.equation);
    all.collect::<BTreeSet<_>>().len()
}

/// The file; `about` tells an equation's topic and whether its print is wrong.
pub fn write(citations: &[Citation], about: impl Fn(&Equation) -> (String, bool)) -> String {
    let mut entries: BTreeMap<&Equation, Entry> = BTreeMap::new();
    for citation in citations {
        let Some(column) = column(&citation.file) else {
            continue;
        };
        let file = citation
            .file
            .strip_prefix("crates/")
            .unwrap_or(&citation.file);
        let entry = entries.entry(&citation.equation).or_default();
        let items = entry.0[column].entry(file.to_owned()).or_default();
        items.extend(citation.item.clone());
    }
    let mut text = String::from(
        "# Equations\n\n\
         Every numbered equation that the code, its tests, examples and documents cite, and where. `cargo xtask sources --write` writes this page. \
         [sources.md](sources.md) has all sections of the sources by topic, with what is missing; a star marks an equation whose print is wrong, \
         see [errata.md](errata.md).\n\n\
         Konz is the dissertation, From I and II are the two papers; titles in [sources.md](sources.md). Paths are below `crates/` or the root. \
         Where no test cites an equation, those of its topic's row in [sources.md](sources.md) hold it.\n\n\
         | equation | topic | code | tests | shown in |\n|---|---|---|---|---|\n",
    );
    for (equation, Entry([code, tests, shown])) in entries {
        let (topic, misprinted) = about(equation);
        let star = if misprinted { "\\*" } else { "" };
        let [code, tests, shown] = [code, tests, shown].map(cell);
        let _ = writeln!(
            text,
            "| {equation}{star} | {topic} | {code} | {tests} | {shown} |"
        );
    }
    text
}

fn column(file: &str) -> Option<usize> {
    let has = |part: &str| file.contains(part);
    if has("/tests/") {
        Some(1)
    } else if has("/examples/") || file.starts_with("configs/") {
        Some(2)
    } else if file.starts_with("docs/") {
        (file != super::ERRATA).then_some(2)
    } else {
        // READMEs, the map of the code and the changes lead to code that is cited itself.
        let kind = std::path::Path::new(file).extension();
        kind.is_none_or(|kind| kind != "md").then_some(0)
    }
}

fn cell(places: Places) -> String {
    let files = places.into_iter().map(|(file, items)| {
        let names: Vec<_> = items.into_iter().map(|item| format!("`{item}`")).collect();
        format!("`{file}` {}", names.join(", "))
            .trim_end()
            .to_owned()
    });
    files.collect::<Vec<_>>().join("; ")
}
