//! Finds configuration and vehicle files: as given, then among the shipped ones.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::diagnostic::{Diagnostic, nearest};
use super::shipped::{self, SHIPPED, Shipped};
use super::source::{Origin, Place, Source};

/// The configuration named on the command line.
pub(super) fn configuration(path: &Path) -> Result<Arc<Source>, Diagnostic> {
    let name = path.to_string_lossy();
    match read(path, &name, None) {
        Ok(source) => Ok(source),
        Err(Unread::Missing) => match shipped::find(&name) {
            Some(shipped) => Ok(shipped_source(shipped, None)),
            None => Err(missing("configuration", &name, path, shipped::flights())),
        },
        Err(Unread::Failed(diagnostic)) => Err(diagnostic),
    }
}

/// The vehicle file named by a value in another source.
pub(super) fn vehicle(name: &str, by: &Place) -> Result<Arc<Source>, Diagnostic> {
    if let Origin::Shipped(from) = by.source.origin {
        // Shipped files name each other relative to `configs/`.
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let full = if folder.is_empty() {
            name.to_owned()
        } else {
            format!("{folder}/{name}")
        };
        if let Some(shipped) = shipped::find(&full) {
            return Ok(shipped_source(shipped, Some(by)));
        }
    }
    let path = by.source.resolve(name);
    match read(&path, &path.to_string_lossy(), Some(by)) {
        Ok(source) => Ok(source),
        Err(Unread::Missing) => match shipped::find(name) {
            Some(shipped) => Ok(shipped_source(shipped, Some(by))),
            None => {
                let candidates = SHIPPED
                    .iter()
                    .filter(|one| one.name.starts_with("vehicles/"));
                Err(missing("vehicle file", name, &path, candidates).at(by.clone(), "named here"))
            }
        },
        Err(Unread::Failed(diagnostic)) => Err(diagnostic.at(by.clone(), "named here")),
    }
}

enum Unread {
    Missing,
    Failed(Diagnostic),
}

fn read(path: &Path, name: &str, by: Option<&Place>) -> Result<Arc<Source>, Unread> {
    let failed =
        |why: String| Unread::Failed(Diagnostic::new(format!("cannot read `{name}`: {why}")));
    let bytes = std::fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Unread::Missing,
        ErrorKind::IsADirectory => failed("it is a folder, expected a TOML file".to_owned()),
        _ => failed(error.to_string()),
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        failed(format!(
            "byte {} is not UTF-8 text",
            error.utf8_error().valid_up_to()
        ))
    })?;
    Ok(Arc::new(Source {
        name: name.to_owned(),
        text,
        origin: Origin::File(path.to_owned()),
        included_by: by.cloned(),
    }))
}

fn shipped_source(shipped: &'static Shipped, by: Option<&Place>) -> Arc<Source> {
    Arc::new(Source {
        name: format!("<shipped>/{}", shipped.name),
        text: shipped.text.to_owned(),
        origin: Origin::Shipped(shipped.name),
        included_by: by.cloned(),
    })
}

fn missing<'a>(
    what: &str,
    name: &str,
    path: &Path,
    candidates: impl Iterator<Item = &'a Shipped> + Clone,
) -> Diagnostic {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
    let diagnostic = Diagnostic::new(format!("the {what} `{name}` does not exist")).note(format!(
        "searched {}, then the shipped configurations",
        absolute.display()
    ));
    let file_name = Path::new(name)
        .file_name()
        .map_or(name.into(), |file| file.to_string_lossy());
    let names = candidates.clone().map(|one| one.name);
    // `quad.toml` should find `vehicles/quadcopter.toml`: compare the file names alone as well.
    let similar = nearest(name, names.clone()).or_else(|| {
        let bare = names
            .clone()
            .map(|full| full.rsplit('/').next().unwrap_or(full));
        let near = nearest(&file_name, bare)?;
        names.clone().find(|full| full.ends_with(near))
    });
    match similar {
        Some(similar) => diagnostic.help(format!("`{similar}` is shipped; did you mean that one?")),
        None => {
            let names: Vec<&str> = names.collect();
            diagnostic.help(format!("shipped are {}", names.join(", ")))
        }
    }
}
