//! Meshes that a description names: their numbers in the place of their files, so that the text of a flight says all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fly_mechanics::description::mesh_numbers;
use fly_mechanics::{MeshError, TriangleMesh};

use super::diagnostic::{ConfigError, Diagnostic};
use super::source::{Origin, Source, SourceSpan};
use super::tree::{Entry, Node, Table, Value};

/// Keys of a mesh with their values.
type Numbers = [(&'static str, String); 3];

/// The meshes that were read, by their paths and scales: each once, whatever becomes of the files later.
#[derive(Clone, Debug, Default)]
pub(super) struct Meshes(Arc<Mutex<BTreeMap<(PathBuf, u64), Numbers>>>);

impl Meshes {
    fn read(&self, path: &Path, scale: f64) -> Result<Numbers, MeshError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (path.to_owned(), scale.to_bits());
        if let Some(numbers) = known.get(&key) {
            return Ok(numbers.clone());
        }
        let numbers = mesh_numbers(&TriangleMesh::from_file(path, scale)?);
        known.insert(key, numbers.clone());
        Ok(numbers)
    }
}

/// Reads the mesh files of all bodies of a description and of their parts, and replaces each by its numbers.
///
/// # Errors
/// What is wrong with a file, at the place that names it.
pub(super) fn include(description: &mut Node, meshes: &Meshes) -> Result<(), ConfigError> {
    let bodies = description
        .as_table_mut()
        .and_then(|table| table.get_mut("bodies"));
    let Some(bodies) = bodies.and_then(|entry| entry.node.as_table_mut()) else {
        return Ok(());
    };
    for Entry { node, .. } in &mut bodies.entries {
        let Some(body) = node.as_table_mut() else {
            continue;
        };
        of_shape(body, meshes)?;
        if let Some(entry) = body.get_mut("parts")
            && let Value::Array(parts) = &mut entry.node.value
        {
            for part in parts.iter_mut().filter_map(Node::as_table_mut) {
                of_shape(part, meshes)?;
            }
        }
    }
    Ok(())
}

fn of_shape(solid: &mut Table, meshes: &Meshes) -> Result<(), ConfigError> {
    let shape = solid
        .get_mut("shape")
        .and_then(|entry| entry.node.as_table_mut());
    let mesh = shape.and_then(|shape| Some(shape.get_mut("mesh")?.node.as_table_mut()));
    let Some(mesh) = mesh.flatten() else {
        return Ok(());
    };
    // Other keys, and values of other types, are reported by the reader of the description.
    let is_known = |entry: &Entry| ["file", "scale"].contains(&entry.key.as_str());
    let scale = match mesh.get("scale") {
        Some(entry) => entry.node.as_number().filter(|scale| *scale > 0.0),
        None => Some(1.0),
    };
    let file = mesh.get("file");
    let name = file.and_then(|file| file.node.as_string());
    let (Some(scale), Some(file), Some(name), true) =
        (scale, file, name, mesh.entries.iter().all(is_known))
    else {
        return Ok(());
    };
    let place = &file.node.place;
    let path = place.source.resolve(&name);
    let numbers = meshes.read(&path, scale).map_err(|error| {
        Diagnostic::new(format!("the mesh `{name}` cannot be used"))
            .at(place.clone(), error.to_string())
    })?;
    // So that the flight knows it as one of its files.
    let place = SourceSpan {
        source: Arc::new(Source {
            name: path.display().to_string(),
            text: String::new(),
            origin: Origin::File(path),
            included_by: Some(place.clone()),
        }),
        span: 0..0,
    };
    let entries = numbers.map(|(key, text)| Entry {
        key: key.to_owned(),
        key_place: place.clone(),
        node: Node {
            value: Value::Leaf {
                text,
                verbatim: false,
            },
            place: place.clone(),
        },
    });
    mesh.entries = entries.into();
    Ok(())
}
