//! Reads a robot in URDF where a vehicle file is expected, and converts it to its description in TOML.

use std::path::Path;
use std::sync::Arc;

use fly_mechanics::System;
use fly_mechanics::description::{DescriptionError, MeshFolders, UrdfOptions};

use super::diagnostic::Diagnostic;
use super::source::{Origin, Source, SourceSpan};
use super::wording::wording;

/// The source as TOML; unchanged unless it is URDF. What the format leaves open is as in `fly system FILE --toml`. Its meshes, which become part of the text, are
/// looked for beside it and in `mesh_dir`.
pub(super) fn as_toml(
    source: Arc<Source>,
    mesh_dir: Option<&Path>,
) -> Result<Arc<Source>, Diagnostic> {
    let path = match &source.origin {
        Origin::File(path) => path.as_path(),
        _ => Path::new(""),
    };
    if !System::is_urdf(path, &source.text) {
        return Ok(source);
    }
    let options = UrdfOptions {
        meshes: MeshFolders {
            of_file: path.parent().map(Path::to_owned),
            others: mesh_dir.map(Path::to_owned).into_iter().collect(),
        },
        ..UrdfOptions::default()
    };
    let system =
        System::from_urdf(&source.text, &options).map_err(|error| explain(&source, error))?;
    for note in &system.notes {
        tracing::warn!("{}: {note}", source.name);
    }
    Ok(Arc::new(Source {
        name: format!("{} in TOML", source.name),
        text: system.to_toml(),
        origin: source.origin.clone(),
        included_by: source.included_by.clone(),
    }))
}

/// Explains an invalid description, located in its file.
pub(super) fn explain(source: &Arc<Source>, error: DescriptionError) -> Diagnostic {
    let (title, label) = wording(&error.path, &error.problem);
    let place = SourceSpan {
        source: Arc::clone(source),
        span: error.span,
    };
    let diagnostic = Diagnostic::new(title).at(place, label);
    match error.help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}
