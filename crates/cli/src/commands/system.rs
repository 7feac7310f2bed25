//! `fly system`: reads a system of bodies and prints it.

use std::path::Path;

use fly_mechanics::System;
use fly_mechanics::description::{NonPhysicalInertia, UrdfOptions, UrdfRoot, read_text};

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
    refuse_other_than_urdf(arguments)?;
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

/// Options that a description in TOML has no use for: it says itself how its root moves and what its bodies weigh.
fn refuse_other_than_urdf(arguments: &SystemArguments) -> Result<(), Failure> {
    let file = &arguments.file;
    let given = [
        (arguments.free, "--free"),
        (arguments.raise_inertias, "--raise-inertias"),
    ];
    let Some((_, option)) = given.into_iter().find(|(given, _)| *given) else {
        return Ok(());
    };
    // A shipped description is no file.
    if read_text(file).is_ok_and(|text| System::is_urdf(file, &text)) {
        return Ok(());
    }
    let message = format!(
        "`{option}` is for URDF, and `{}` is a description in TOML: change its joints and bodies instead",
        file.display()
    );
    Err(Failure::new(Exit::Usage, message))
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
