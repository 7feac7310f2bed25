//! A description as the vehicle of a flight: one free body with rotors.

use std::ops::Range;

use toml::de::DeTable;

use super::reader::Table;
use super::{DescriptionError, table};
use crate::{Vehicle, VehicleError};

const HELP: &str =
    "a vehicle is one free body with rotors; `fly_mechanics::System` reads any system of bodies";

/// # Reading descriptions
impl Vehicle {
    /// Reads a description in TOML, see [`description`](crate::description) for the format.
    ///
    /// # Errors
    /// The first thing that is wrong, with where it stands in the text and what was expected.
    pub fn from_toml(text: &str) -> Result<Self, DescriptionError> {
        let document = table::document(text)?;
        vehicle(document.get_ref(), 0..0)
    }

    /// Reads a description that is a table of a larger document, which has been parsed. `span` is the table's place there;
    /// errors carry places in that document.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml).
    pub fn from_table(table: &DeTable<'_>, span: Range<usize>) -> Result<Self, DescriptionError> {
        vehicle(table, span)
    }
}

/// The vehicle that a table describes, which may be one of a larger document. `span` is the place of the table.
fn vehicle(table: &DeTable<'_>, span: Range<usize>) -> Result<Vehicle, DescriptionError> {
    let root = Table::root(table, span.clone(), None);
    if let Some(entry) = root.get("bodies")
        && let Ok(bodies) = entry.table()
    {
        // Before all else, so that a system is not first made complete and then refused.
        let bodies = bodies.entries();
        if bodies.len() != 1 {
            let names = bodies.iter().map(|(name, _)| (*name).to_owned());
            let error = VehicleError::Bodies(names.collect());
            // The second body is the one too many.
            let place = bodies.get(1).map_or(&entry, |(_, second)| second);
            return Err(place.error(error).helped(Some(HELP)));
        }
    }
    let system = table::system(table, span, None)?;
    Vehicle::try_from(system).map_err(|error| {
        let place = match &error {
            VehicleError::Bodies(_) => root.deepest(&["bodies"]),
            VehicleError::NotFree { body } => root.deepest(&["bodies", body, "joint"]),
            VehicleError::Placed { body, key } => root.deepest(&["bodies", body, key]),
            VehicleError::WithoutMass { body } | VehicleError::WithoutMoments { body } => {
                root.deepest(&["bodies", body])
            }
            VehicleError::Springs => root.deepest(&["springs"]),
            VehicleError::Dampers { body } => match root.get("dampers") {
                Some(_) => root.deepest(&["dampers"]),
                None => root.deepest(&["bodies", body, "joint", "damping"]),
            },
            VehicleError::Constraints { key } => root.deepest(&[key]),
            VehicleError::Motors => root.deepest(&["motors"]),
        };
        place.error(error).helped(Some(HELP))
    })
}
