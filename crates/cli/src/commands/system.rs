//! `fly system`: reads a system of bodies and prints it.

use fly_mechanics::description::{Unphysical, UrdfOptions, UrdfRoot};

use crate::args::SystemArguments;
use crate::config;
use crate::exit::{Exit, Failure};

/// Prints the tree of bodies, or the description.
///
/// # Errors
/// The file cannot be read, or is invalid.
pub fn run(arguments: &SystemArguments) -> Result<Exit, Failure> {
    let mut options = UrdfOptions::default();
    if arguments.free {
        options.root = UrdfRoot::Free;
    }
    if arguments.raise_inertias {
        options.unphysical = Unphysical::Raise;
    }
    let system = config::system(&arguments.file, &options)?;
    for note in &system.notes {
        tracing::warn!("{note}");
    }
    let text = if arguments.toml {
        system.to_toml()
    } else {
        system.to_string()
    };
    super::print(text.as_bytes())?;
    Ok(Exit::Flown)
}
