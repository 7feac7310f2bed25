//! `cargo xtask sources`: what `docs/sources.md` and `docs/errata.md` say of the code is there.
//!
//! Every file, item and test that the two name exists; a row without a gap has a test; every equation that a comment or a document cites stands in
//! a row, and every equation of the sources in exactly one. `docs/equations.md`, the index of what is cited where, is written by `--write` and
//! must be up to date. Nothing is compiled.

mod citation;
mod index;
mod table;

use crate::{Failure, Outcome, workspace};
use anyhow::{Context, Result};
use citation::{Citation, Equation};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use table::{Erratum, Row};

const MAP: &str = "docs/sources.md";
const ERRATA: &str = "docs/errata.md";
const INDEX: &str = "docs/equations.md";

/// The last equation of every chapter of Konz and of both papers of From.
const LAST: [(&str, u32); 7] = [
    ("3", 93),
    ("4", 103),
    ("5", 177),
    ("A", 190),
    ("B", 53),
    ("I", 112),
    ("II", 60),
];

pub fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [] => check()?,
        [only] if only == "--write" => {
            let text = Sources::read()?.index();
            let path = workspace::root().join(INDEX);
            fs::write(&path, text).with_context(|| format!("{}", path.display()))?;
            check()?;
        }
        [extra, ..] => {
            let message = format!("`sources` takes nothing but `--write`, found `{extra}`");
            return Err(Failure::Usage(message));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails with everything that does not hold.
pub fn check() -> Result<()> {
    let sources = Sources::read()?;
    let mut wrong = sources.problems();
    let index = fs::read_to_string(workspace::root().join(INDEX)).unwrap_or_default();
    if index != sources.index() {
        wrong.push(format!(
            "{INDEX} is stale: run `cargo xtask sources --write`"
        ));
    }
    let done = sources.rows.iter().filter(|row| row.gap.is_none()).count();
    println!(
        "{} rows, {done} of them without a gap; {} equations cited {} times; {} errata",
        sources.rows.len(),
        index::equations(&sources.citations),
        sources.citations.len(),
        sources.errata.len()
    );
    if wrong.is_empty() {
        return Ok(());
    }
    anyhow::bail!("{} things do not hold:\n{}", wrong.len(), wrong.join("\n"))
}

/// All that is read.
struct Sources {
    rows: Vec<Row>,
    errata: Vec<Erratum>,
    citations: Vec<Citation>,
}

impl Sources {
    fn read() -> Result<Self> {
        let root = workspace::root();
        let text = |name: &str| {
            fs::read_to_string(root.join(name)).with_context(|| format!("{name} cannot be read"))
        };
        let mut citations = Vec::new();
        for path in files(root)? {
            let name = path.strip_prefix(root).unwrap_or(&path);
            let name = name.to_string_lossy().replace('\\', "/");
            if name == INDEX || name == MAP {
                continue;
            }
            let text = fs::read_to_string(&path).with_context(|| name.clone())?;
            citations.extend(citation::of_file(&name, &text));
        }
        Ok(Self {
            rows: table::rows(&text(MAP)?)?,
            errata: table::errata(&text(ERRATA)?),
            citations,
        })
    }

    fn index(&self) -> String {
        let misprinted = |equation: &Equation| {
            let mut all = self.errata.iter().flat_map(|erratum| &erratum.equations);
            all.any(|of_erratum| of_erratum.covers(equation))
        };
        let row = |equation: &Equation| self.rows.iter().find(|row| row.holds(equation));
        index::write(&self.citations, |equation| {
            let topic = row(equation).map_or("", |row| row.topic.as_str());
            (topic.to_owned(), misprinted(equation))
        })
    }

    fn problems(&self) -> Vec<String> {
        let mut wrong = self.gaps_and_twins();
        for row in &self.rows {
            let place = format!("{MAP}:{}, {}", row.line, row.source);
            for item in row.code.iter().chain(&row.tests).chain(&row.shown) {
                wrong.extend(item.missing().map(|what| format!("{place}: {what}")));
            }
            if row.gap.is_none() && row.code.is_empty() {
                wrong.push(format!("{place}: no gap is stated, but no code"));
            }
            if row.gap.is_none() && !row.tests.iter().any(table::Item::is_test) {
                wrong.push(format!("{place}: no gap is stated, but no test"));
            }
        }
        for erratum in &self.errata {
            let place = format!("{ERRATA}:{}", erratum.line);
            for item in &erratum.tests {
                wrong.extend(item.missing().map(|what| format!("{place}: {what}")));
                if item.name.is_some() && !item.is_test() {
                    wrong.push(format!("{place}: `{}` is no test", item.text()));
                }
            }
        }
        for citation in &self.citations {
            if !self.rows.iter().any(|row| row.holds(&citation.equation)) {
                let Citation { file, line, .. } = citation;
                let equation = &citation.equation;
                wrong.push(format!("{file}:{line}: {equation} is in no row of {MAP}"));
            }
        }
        wrong
    }

    /// Equations of the sources that are in no row, or in two.
    fn gaps_and_twins(&self) -> Vec<String> {
        let mut counts = BTreeMap::new();
        for row in &self.rows {
            for (chapter, from, to) in &row.equations {
                for number in *from..=*to {
                    *counts.entry((chapter.clone(), number)).or_insert(0) += 1;
                }
            }
        }
        let mut wrong = Vec::new();
        for (chapter, last) in LAST {
            for number in 1..=last {
                let count = counts.remove(&(chapter.to_owned(), number)).unwrap_or(0);
                if count != 1 {
                    let equation = Equation::new(chapter, number, "");
                    wrong.push(format!("{MAP}: {equation} is in {count} rows"));
                }
            }
        }
        for (chapter, number) in counts.into_keys() {
            let equation = Equation::new(&chapter, number, "");
            wrong.push(format!("{MAP}: there is no {equation}"));
        }
        wrong
    }
}

/// What may cite: sources, documents, configurations; sorted.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = ["crates", "configs", "docs", "contrib"]
        .map(|name| root.join(name))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let ending = path.extension().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                if !["target", "testdata", "generated"].contains(&&*name) {
                    folders.push(path);
                }
            } else if ["rs", "md", "toml"].contains(&&*ending) {
                found.push(path);
            }
        }
    }
    found.extend(["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| root.join(name)));
    found.sort();
    Ok(found)
}
