//! The drag of a body.

use nalgebra::Vector3;

use super::DescriptionError;
use super::keys::{Key, VECTOR};
use super::reader::Table;
use crate::{Drag, DragError, QuadraticDrag};

/// The keys of a drag.
pub(super) const DRAG: [Key; 3] = [
    Key::new(
        "linear",
        VECTOR,
        "Along the body's axes, at the centre of mass, N s/m. Default 0.",
    ),
    Key::new(
        "angular",
        VECTOR,
        "About the body's axes, N m s. Default 0.",
    ),
    Key::new(
        "quadratic",
        VECTOR,
        "Along the body's axes, N/(m/s)^2, in the simulation alone. Default 0.",
    ),
];

/// `drag = { linear, angular, quadratic }` of a body: the linear drag, which is part of its equation of motion, and the quadratic one, of
/// which only simulations know. `None` for what is not there; a drag with `quadratic` alone is not linear.
pub(super) fn drag(
    body: &Table<'_>,
) -> Result<(Option<Drag<f64>>, Option<QuadraticDrag>), DescriptionError> {
    let Some(entry) = body.get("drag") else {
        return Ok((None, None));
    };
    let table = entry.table()?;
    table.only(&DRAG)?;
    let placed = |error: DragError<f64>| table.deepest(&[error.part]).error(error);
    let numbers = |key| table.get(key).map_or(Ok(Vector3::zeros()), |e| e.vector());
    let has = |key| table.get(key).is_some();
    let quadratic = match table.get("quadratic") {
        Some(entry) => Some(QuadraticDrag::new(entry.vector()?).map_err(placed)?),
        None => None,
    };
    let linear = if has("linear") || has("angular") || quadratic.is_none() {
        Some(Drag::new(numbers("linear")?, numbers("angular")?).map_err(placed)?)
    } else {
        None
    };
    Ok((linear, quadratic))
}
