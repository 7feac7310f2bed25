//! `cargo xtask layers`: no cycles of imports between the modules of a crate.
//!
//! The children of every module form a layer each: an import from below `a::b` of something below `a::c` is an arrow from
//! `b` to `c`. These arrows must not form a cycle. What a module and its own children import from each other does not
//! count, nor do tests. A name that a module re-exports counts as the module that it comes from.

use crate::{Failure, Outcome, workspace};
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// Names of nested modules, or of a module and something in it, outermost first.
type Names = Vec<String>;

/// The arrows between the children of one module, each with an example of its place.
type Layer = BTreeMap<String, BTreeMap<String, String>>;

pub fn run(arguments: &[String]) -> Outcome {
    if let Some(extra) = arguments.first() {
        let message = format!("`layers` takes no arguments, found `{extra}`");
        return Err(Failure::Usage(message));
    }
    check()?;
    Ok(ExitCode::SUCCESS)
}

/// Fails with one cycle of each layer that has any.
pub fn check() -> Result<()> {
    let (mut cycles, mut arrows) = (Vec::new(), 0);
    for name in workspace::crates()? {
        let modules = modules(&workspace::root().join(&name).join("src"))?;
        for (parent, layer) in layers(&modules) {
            arrows += layer.values().map(BTreeMap::len).sum::<usize>();
            if let Some(cycle) = cycle(&layer) {
                let within = [&["crate".to_owned()], &parent[..]].concat().join("::");
                let places = cycle.join("\n  ");
                cycles.push(format!("{name}, {within}:\n  {places}"));
            }
        }
    }
    println!("{arrows} imports between modules");
    if cycles.is_empty() {
        return Ok(());
    }
    anyhow::bail!("cycles of imports between modules:\n{}", cycles.join("\n"))
}

/// The text of every module below `src`, without comments and tests.
fn modules(folder: &Path) -> Result<BTreeMap<Names, String>> {
    let mut modules = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if name == "tests" {
            continue;
        }
        if path.is_dir() {
            for (mut names, text) in self::modules(&path)? {
                names.insert(0, name.to_string());
                modules.insert(names, text);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).with_context(|| format!("{}", path.display()))?;
            let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or("");
            let lines = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let names = match &*name {
                "lib" | "main" | "mod" => Vec::new(),
                name => vec![name.to_owned()],
            };
            modules.insert(names, lines.collect::<Vec<_>>().join("\n"));
        }
    }
    Ok(modules)
}

/// The arrows below every module that has children.
fn layers(modules: &BTreeMap<Names, String>) -> BTreeMap<Names, Layer> {
    let exports: BTreeMap<Names, Names> = modules.iter().flat_map(reexports).collect();
    let mut layers: BTreeMap<Names, Layer> = BTreeMap::new();
    for (from, text) in modules {
        for mut to in imports(from, text) {
            // Resolves names of names a few times; a loop of re-exports must not loop for ever.
            for _ in 0..4 {
                let exported = (1..=to.len()).find_map(|n| Some((n, exports.get(&to[..n])?)));
                let Some((n, origin)) = exported else { break };
                to = [&origin[..], &to[n..]].concat();
            }
            while !modules.contains_key(&to) && to.pop().is_some() {}
            let common = (from.iter().zip(&to)).take_while(|(a, b)| a == b).count();
            if let (Some(user), Some(used)) = (from.get(common), to.get(common)) {
                let layer = layers.entry(from[..common].to_vec()).or_default();
                let place = format!("{} imports {}", from.join("::"), to.join("::"));
                let arrows = layer.entry(user.clone()).or_default();
                arrows.entry(used.clone()).or_insert(place);
            }
        }
    }
    layers
}

/// A module's re-exports under its own names: the new path and the old one.
fn reexports((module, text): (&Names, &String)) -> Vec<(Names, Names)> {
    let statements = text.split("\npub").skip(1).filter_map(|rest| {
        let (visibility, tree) = rest.split_once("use ")?;
        (visibility.len() < 10 && !visibility.contains('\n')).then_some(tree)
    });
    let trees = statements.flat_map(|tree| tree_of(tree.split(';').next().unwrap_or("")));
    let pairs = trees.filter_map(|(path, name)| {
        let origin = match path[0].as_str() {
            "crate" | "super" | "self" => absolute(module, &path)?,
            _ => [&module[..], &path[..]].concat(),
        };
        Some(([&module[..], &[name]].concat(), origin))
    });
    pairs.filter(|(new, old)| new != old).collect()
}

/// The paths in a module that start with `crate::` or `super::`, from the crate's root.
fn imports(module: &Names, text: &str) -> Vec<Names> {
    let starts = ["crate::", "super::"].into_iter().flat_map(|word| {
        text.match_indices(word)
            .map(|(at, _)| at)
            .filter(|&at| !text[..at].ends_with(|c: char| c.is_alphanumeric() || "_:$".contains(c)))
    });
    let trees = starts.flat_map(|at| tree_of(&text[at..]));
    trees
        .filter_map(|(path, _)| absolute(module, &path))
        .collect()
}

/// A path that starts with `crate`, `super` or `self`, from the crate's root; `None` if it leaves the crate.
fn absolute(module: &Names, path: &[String]) -> Option<Names> {
    let mut base = module.clone();
    let mut rest = path;
    while let Some((first, after)) = rest.split_first() {
        match first.as_str() {
            "crate" => base.clear(),
            "super" => drop(base.pop()?),
            "self" => {}
            _ => break,
        }
        rest = after;
    }
    Some([&base[..], rest].concat())
}

/// The paths of a tree such as `a::{b, c::D as E}` at the start of a text, each with its local name.
fn tree_of(text: &str) -> Vec<(Names, String)> {
    let (mut found, mut open, mut path) = (Vec::new(), Vec::new(), Names::new());
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let (name, after) = rest.split_at(word.unwrap_or(rest.len()));
        rest = after.trim_start();
        if !name.is_empty() && name != "self" || path.is_empty() {
            path.push(name.to_owned());
        }
        if let Some(after) = rest.strip_prefix("::") {
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix('{') {
            open.push(path.len());
            rest = after;
            continue;
        }
        let mut renamed = path.last().cloned().unwrap_or_default();
        if let Some(after) = rest.strip_prefix("as ") {
            let end = after.find([',', ';', '}', '\n']).unwrap_or(after.len());
            (renamed, rest) = (after[..end].trim().to_owned(), &after[end..]);
        }
        let depth = open.last().copied().unwrap_or(0);
        if path.len() > depth || name == "self" {
            found.push((path.clone(), renamed));
        }
        path.truncate(depth);
        while let (Some(after), false) = (rest.trim_start().strip_prefix('}'), open.is_empty()) {
            rest = after;
            open.pop();
            path.truncate(open.last().copied().unwrap_or(0));
        }
        match rest.trim_start().strip_prefix([',', '*']) {
            Some(after) if !open.is_empty() => rest = after,
            _ => return found,
        }
    }
}

/// A cycle of arrows, as their places; `None` without a cycle.
fn cycle(layer: &Layer) -> Option<Vec<String>> {
    fn way(
        layer: &Layer,
        from: &str,
        to: &str,
        seen: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        layer.get(from)?.iter().find_map(|(used, place)| {
            let rest = if used == to {
                Vec::new()
            } else if seen.insert(used.clone()) {
                way(layer, used, to, seen)?
            } else {
                return None;
            };
            Some([std::slice::from_ref(place), &rest].concat())
        })
    }
    layer
        .keys()
        .find_map(|start| way(layer, start, start, &mut BTreeSet::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(modules: &[(&str, &str)]) -> Option<Vec<String>> {
        let modules = modules.iter().map(|(path, text)| {
            let names = path.split("::").filter(|name| !name.is_empty());
            (names.map(str::to_owned).collect(), format!("\n{text}"))
        });
        layers(&modules.collect()).values().find_map(cycle)
    }

    #[test]
    fn a_cycle_is_found_and_a_way_down_is_none() {
        let down = [
            ("", ""),
            ("a", "use crate::b::B;"),
            ("b", "use crate::c;"),
            ("c", ""),
        ];
        assert_eq!(found(&down), None);
        let up = [
            ("a", "use crate::b::B;"),
            ("b", "fn f() { crate::c::g() }"),
            ("c", "use super::{a::A, x};"),
        ];
        let expected = ["a imports b", "b imports c", "c imports a"];
        assert_eq!(found(&up).unwrap(), expected);
    }

    #[test]
    fn names_count_as_the_module_that_they_come_from() {
        let root = "pub use a::{deep::{self, Deep as D}, A};";
        let through = |used: &str| {
            found(&[
                ("", root),
                ("a", "use crate::b::B;"),
                ("a::deep", ""),
                ("b", used),
            ])
        };
        for used in [
            "use crate::A;",
            "use crate::{D, other};",
            "use crate::deep::x;",
            "use crate::{\n    x::Y,\n    A,\n};",
        ] {
            assert!(through(used).is_some(), "{used}");
        }
        assert_eq!(through("use crate::Other; // crate::"), None);
    }

    #[test]
    fn a_module_and_its_children_may_know_each_other() {
        let family = [
            ("a", "use crate::a::b::B;"),
            ("a::b", "use super::A;\nuse super::c::C;"),
            ("a::c", "use crate::a::A;"),
        ];
        assert_eq!(found(&family), None);
        let siblings = [
            ("a", ""),
            ("a::b", "use super::c::C;"),
            ("a::c", "use crate::a::b::B;"),
        ];
        assert_eq!(
            found(&siblings).unwrap(),
            ["a::b imports a::c", "a::c imports a::b"]
        );
    }
}
