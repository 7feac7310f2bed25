//! The drag of a body.

use nalgebra::Vector3;

use super::DescriptionError;
use super::reader::Table;
use crate::Drag;

/// `drag = { linear, angular }` of a body; `None` if it is not there.
pub(super) fn drag(body: &Table<'_>) -> Result<Option<Drag<f64>>, DescriptionError> {
    let Some(entry) = body.get("drag") else {
        return Ok(None);
    };
    let table = entry.table()?;
    table.only(&["linear", "angular"])?;
    let numbers = |key| table.get(key).map_or(Ok(Vector3::zeros()), |e| e.vector());
    let drag = Drag::new(numbers("linear")?, numbers("angular")?);
    drag.map(Some).map_err(|error| {
        let key = if error.turning { "angular" } else { "linear" };
        table.deepest(&[key]).error(error)
    })
}
