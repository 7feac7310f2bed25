//! `fly system`: reads a system of bodies and prints it.

use std::path::Path;

use fly_mechanics::System;
use fly_mechanics::description::{NonPhysicalInertia, UrdfOptions, UrdfRoot};

use serde_json::{Value, json};

use crate::args::{AsData, SystemArguments};
use crate::config;
use crate::exit::{Exit, Failure};

/// Prints the tree of bodies, or the description.
///
/// # Errors
/// The file cannot be read, or is invalid.
pub fn run(
    arguments: &SystemArguments,
    mesh_dir: Option<&Path>,
    data: AsData,
) -> Result<Exit, Failure> {
    let mut options = UrdfOptions::default();
    options.meshes.others.extend(mesh_dir.map(Path::to_owned));
    if arguments.free {
        options.root = UrdfRoot::Free;
    }
    if arguments.raise_inertias {
        options.non_physical_inertia = NonPhysicalInertia::Raise;
    }
    let system = config::system(&arguments.file, &options)?;
    for note in &system.notes {
        tracing::warn!("{}: {note}", arguments.file.display());
    }
    if data.json {
        super::print_data(&as_json(&system))?;
        return Ok(Exit::Flown);
    }
    let text = if arguments.toml {
        system.to_toml()
    } else {
        system.to_string()
    };
    super::print(text.as_bytes())?;
    Ok(Exit::Flown)
}

/// The head of the tree, and the whole description.
fn as_json(system: &System) -> Value {
    let model = &system.model;
    let description: Option<Value> = toml::from_str(&system.to_toml()).ok();
    json!({
        "name": system.name,
        "bodies": model.body_count(),
        "mass": model.mass(),
        "degrees_of_freedom": model.dof(),
        "coordinates": model.config_dim(),
        "inputs": system.inputs.input_dim(),
        "loops": system.loops.len(),
        "couplings": system.couplings.len(),
        "notes": system.notes,
        "description": description,
    })
}
