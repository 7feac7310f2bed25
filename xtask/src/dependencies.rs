//! Whether ARCHITECTURE.md says why each dependency is here.

use crate::workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;

/// The heading of the table.
const HEADING: &str = "## Why each dependency is here";

/// Fails with the dependencies that the table lacks.
pub fn check() -> Result<()> {
    let read = |name: &str| {
        let file = workspace::root().join(name);
        fs::read_to_string(&file).with_context(|| format!("{}", file.display()))
    };
    let page = read("ARCHITECTURE.md")?;
    let told = told(&page).with_context(|| format!("ARCHITECTURE.md has no `{HEADING}`"))?;
    let mut missing = BTreeSet::new();
    for name in workspace::crates()? {
        let text = read(&format!("{name}/Cargo.toml"))?;
        let all = dependencies(&text).filter(|one| !one.starts_with("fly-"));
        missing.extend(all.filter(|one| !told.contains(one)).map(str::to_owned));
    }
    if missing.is_empty() {
        println!("{} names in the table of dependencies", told.len());
        return Ok(());
    }
    let missing: Vec<String> = missing.into_iter().collect();
    bail!(
        "the table \"{HEADING}\" of ARCHITECTURE.md lacks {}",
        missing.join(", ")
    )
}

/// The words of the table's first column.
fn told(page: &str) -> Option<BTreeSet<&str>> {
    let (_, below) = page.split_once(HEADING)?;
    let section = below.split("\n## ").next()?;
    let rows = section.lines().filter_map(|line| line.strip_prefix('|'));
    let cells = rows.filter_map(|row| row.split('|').next());
    let is_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    Some(
        cells
            .flat_map(|cell| cell.split(move |c| !is_name(c)))
            .collect(),
    )
}

/// The names in all tables of dependencies of a `Cargo.toml`.
fn dependencies(text: &str) -> impl Iterator<Item = &str> {
    let mut is_among = false;
    text.lines().filter_map(move |line| {
        if line.starts_with('[') {
            is_among = line.ends_with("dependencies]");
            return None;
        }
        let begins = line.starts_with(|c: char| c.is_alphanumeric());
        let name = line.split(['.', ' ', '=']).next();
        name.filter(|_| is_among && begins)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_both_files() {
        let text = "[package]\nname = \"a\"\n[dependencies]\n# toml.workspace = true\ntoml.workspace = true\nserde = {\n  x = 1 }\n\
            [target.'cfg(unix)'.dev-dependencies]\nfly-lie = \"1\"\n[lints]\nworkspace = true\n";
        assert_eq!(
            dependencies(text).collect::<Vec<_>>(),
            ["toml", "serde", "fly-lie"]
        );
        let page = format!(
            "| a | b |\n{HEADING}\n\n| crate | why |\n| osqp 0.6.3, toml_edit | x |\n\n## Next\n| c | d |"
        );
        let told = told(&page).unwrap();
        for (name, expected) in [
            ("osqp", true),
            ("toml_edit", true),
            ("toml", false),
            ("a", false),
            ("c", false),
        ] {
            assert_eq!(told.contains(name), expected, "{name}");
        }
    }
}
