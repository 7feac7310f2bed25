//! Finds configuration and vehicle files: at the given path, then among the shipped ones.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fly_mechanics::description::read_text;

use super::diagnostic::{ConfigError, Diagnostic};
use super::shipped::{self, SHIPPED, Shipped};
use super::source::{Origin, Source, SourceSpan};

/// The configuration named on the command line.
pub(super) fn configuration(path: &Path) -> Result<Arc<Source>, Diagnostic> {
    named(path, "configuration", shipped::flights())
}

/// The description of a system named on the command line.
pub(super) fn system(path: &Path) -> Result<Arc<Source>, Diagnostic> {
    named(path, "description", shipped::systems())
}

/// The text of a campaign's plan: a file or, failing that, a shipped one.
///
/// # Errors
/// The plan does not exist or cannot be read.
pub fn sweep(path: &Path) -> Result<Arc<Source>, ConfigError> {
    Ok(named(path, "plan", shipped::sweeps())?)
}

/// A file or, failing that, a shipped one; `likely` lists those of the wanted kind.
fn named(
    path: &Path,
    what: &str,
    likely: impl Iterator<Item = &'static Shipped> + Clone,
) -> Result<Arc<Source>, Diagnostic> {
    let name = path.to_string_lossy();
    match (read(path, &name, None), shipped::find(&name)) {
        (Ok(source), _) => Ok(source),
        (Err(Unread::Missing), Some(shipped)) => Ok(shipped_source(shipped, None)),
        (Err(Unread::Missing), None) => {
            let names: Vec<&str> = likely.clone().map(|one| one.name).collect();
            Err(missing(what, &name, path, &names, &shipped::listed(likely)))
        }
        (Err(Unread::Failed(diagnostic)), _) => Err(diagnostic),
    }
}

/// The vehicle file named by a value in another source.
pub(super) fn vehicle(name: &str, by: &SourceSpan) -> Result<Arc<Source>, Diagnostic> {
    let vehicles = SHIPPED
        .iter()
        .filter(|one| one.name.starts_with("vehicles/"));
    included(name, by, "vehicle file", vehicles)
}

/// The configuration named by a value in another source.
pub(super) fn flight(name: &str, by: &SourceSpan) -> Result<Arc<Source>, Diagnostic> {
    included(name, by, "configuration", shipped::flights())
}

/// The file that a value in another source names; `likely` lists the shipped ones of the wanted kind.
fn included(
    name: &str,
    by: &SourceSpan,
    what: &str,
    likely: impl Iterator<Item = &'static Shipped> + Clone,
) -> Result<Arc<Source>, Diagnostic> {
    if let Origin::Shipped(from) = by.source.origin {
        // Shipped files name each other relative to their own folder.
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let full = joined(folder, name);
        if let Some(shipped) = shipped::find(&full) {
            return Ok(shipped_source(shipped, Some(by)));
        }
    }
    let path = by.source.resolve(name);
    // A copy of a shipped file in another folder names the others as that does.
    match (
        read(&path, &path.to_string_lossy(), Some(by)),
        shipped::find(&joined("", name)),
    ) {
        (Ok(source), _) => Ok(source),
        (Err(Unread::Missing), Some(shipped)) => Ok(shipped_source(shipped, Some(by))),
        (Err(Unread::Missing), None) => {
            let names: Vec<&str> = likely.clone().map(|one| one.name).collect();
            let listed = shipped::listed(likely);
            Err(missing(what, name, &path, &names, &listed).at(by.clone(), "named here"))
        }
        (Err(Unread::Failed(diagnostic)), _) => Err(diagnostic.at(by.clone(), "named here")),
    }
}

enum Unread {
    Missing,
    Failed(Diagnostic),
}

fn read(path: &Path, name: &str, by: Option<&SourceSpan>) -> Result<Arc<Source>, Unread> {
    let failed =
        |why: String| Unread::Failed(Diagnostic::new(format!("cannot read `{name}`: {why}")));
    let text = read_text(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Unread::Missing,
        ErrorKind::IsADirectory => failed("it is a folder, expected a TOML file".to_owned()),
        _ => failed(error.to_string()),
    })?;
    Ok(Arc::new(Source {
        name: name.to_owned(),
        text,
        origin: Origin::File(path.to_owned()),
        included_by: by.cloned(),
    }))
}

fn shipped_source(shipped: &'static Shipped, by: Option<&SourceSpan>) -> Arc<Source> {
    Arc::new(Source {
        name: format!("<shipped>/{}", shipped.name),
        text: shipped.text.to_owned(),
        origin: Origin::Shipped(shipped.name),
        included_by: by.cloned(),
    })
}

/// The path of a file named relative to this folder, without any `..`.
fn joined(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." => _ = parts.pop(),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// The error for a name that is neither a file nor shipped: what was searched, and which of the shipped `names` is
/// similar.
fn missing(what: &str, name: &str, path: &Path, names: &[&str], listed: &str) -> Diagnostic {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    let diagnostic = Diagnostic::new(format!("the {what} `{name}` does not exist")).note(format!(
        "searched {}, then the shipped configurations",
        absolute.display()
    ));
    // `quad.toml` should find `vehicles/quadcopter.toml`: compare file names and ignore folders.
    let bare = |path: &'_ str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let files: Vec<String> = names.iter().map(|full| bare(full)).collect();
    let near = fly_hal::nearest(&bare(name), files.iter().map(String::as_str));
    let similar = near.and_then(|near| names.iter().find(|full| full.ends_with(near)));
    match similar {
        Some(similar) => diagnostic.help(format!("`{similar}` is shipped; did you mean that one?")),
        None => diagnostic.help(format!("shipped are {listed}")),
    }
}
