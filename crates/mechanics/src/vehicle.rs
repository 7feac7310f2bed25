//! A vehicle: a body with rotors.

use crate::{Actuators, FreeBody, description::DescriptionError};

/// A vehicle as its description gives it: one free rigid body with rotors.
///
/// ```
/// use fly_mechanics::Vehicle;
///
/// let vehicle = Vehicle::from_toml(
///     r#"
///     name = "seesaw"
///
///     [bodies.beam]
///     mass = 0.5
///     inertia = [1e-4, 2e-3, 2e-3]
///
///     [[rotors]]
///     body = "beam"
///     position = [0.2, 0, 0]
///     axis = [0, 0, 1]
///     thrust = [0, 5]
///
///     [[rotors]]
///     body = "beam"
///     position = [-0.2, 0, 0]
///     axis = [0, 0, 1]
///     thrust = [0, 5]
///     "#,
/// )?;
/// assert_eq!(vehicle.body.inertia().mass(), 0.5);
/// assert_eq!(vehicle.actuators.input_dim(), 2);
/// # Ok::<(), fly_mechanics::description::DescriptionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Vehicle {
    /// The vehicle's name.
    pub name: String,
    /// The name of its body.
    pub body_name: String,
    /// Its inertia in the field of gravity.
    pub body: FreeBody<f64>,
    /// Its rotors.
    pub actuators: Actuators,
}

impl Vehicle {
    /// Reads a description in TOML, see [`description`](crate::description) for the format.
    ///
    /// # Errors
    /// The first thing that is wrong, with where it stands in the text and what was expected.
    pub fn from_toml(text: &str) -> Result<Self, DescriptionError> {
        crate::description::parse(text)
    }

    /// Reads a description that is a table of a larger document, which has been parsed. `span` is the table's place there;
    /// errors carry places in that document.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml).
    pub fn from_table(
        table: &toml::de::DeTable<'_>,
        span: std::ops::Range<usize>,
    ) -> Result<Self, DescriptionError> {
        crate::description::parse_table(table, span)
    }
}
