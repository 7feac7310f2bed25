//! `fly schema`: prints the JSON Schema of a kind of file, or writes those of all.

use std::fs;

use clap::ValueEnum;

use crate::args::{SchemaArguments, SchemaKind};
use crate::exit::{Exit, Failure};

/// Prints it, or writes all.
///
/// # Errors
/// The folder or a file cannot be written.
pub fn run(arguments: &SchemaArguments) -> Result<Exit, Failure> {
    let Some(folder) = &arguments.dir else {
        super::print(text(arguments.kind).as_bytes())?;
        return Ok(Exit::Flown);
    };
    super::product::make_folder(folder)?;
    for kind in SchemaKind::value_variants() {
        let Some(name) = kind.to_possible_value() else {
            continue;
        };
        let path = folder.join(format!("{}.json", name.get_name()));
        fs::write(&path, text(*kind)).map_err(|error| {
            let path = path.display();
            Failure::new(Exit::Internal, format_args!("cannot write {path}: {error}"))
        })?;
    }
    Ok(Exit::Flown)
}

/// As `fly-schema` makes them of what reads these files; its tests compare the two.
fn text(kind: SchemaKind) -> &'static str {
    match kind {
        SchemaKind::Flight => include_str!("../../../../configs/schema/flight.json"),
        SchemaKind::System => include_str!("../../../../configs/schema/system.json"),
        SchemaKind::Fleet => include_str!("../../../../configs/schema/fleet.json"),
        SchemaKind::Sweep => include_str!("../../../../configs/schema/sweep.json"),
    }
}
