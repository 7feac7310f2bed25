//! What of a body touches the ground, and the stops of joints.

use nalgebra::Vector3;

use super::keys::{Key, VECTOR, Value};
use super::pose::{ORIENTATION, pose};
use super::reader::{Entry, Table};
use super::{DescriptionError, Problem};
use crate::contact::Compliance;

/// A centre and a radius, m.
pub(super) type Point = (Vector3<f64>, f64);

/// The keys of a contact.
pub(super) const CONTACT: [Key; 4] = [
    Key::new(
        "position",
        VECTOR,
        "Of the point, ball or box in the body's frame, m. Default: its origin.",
    ),
    Key::new(
        "orientation",
        ORIENTATION,
        "Of a box. Default: the body's axes.",
    ),
    Key::new(
        "radius",
        Value::Number,
        "Of a ball, or of the corners of a box, m. Default 0: a point.",
    ),
    Key::new("box", VECTOR, "The corners of a box with these lengths, m."),
];

/// The keys of the stop of a joint.
pub(super) const STOP: [Key; 2] = [
    Key::required("stiffness", Value::Number, "N m/rad, N/m."),
    Key::new("damping", Value::Number, "s/rad, s/m. Default 0."),
];

/// `[[bodies.<name>.contacts]]`: points, balls, and boxes by their corners.
pub(super) fn points(body: &Table<'_>) -> Result<Vec<Point>, DescriptionError> {
    let mut points = Vec::new();
    for table in body.tables("contacts")? {
        table.only(&CONTACT)?;
        let radius = match table.get("radius") {
            Some(entry) => entry.not_negative()?,
            None => 0.0,
        };
        let pose = pose(&table)?;
        let Some(entry) = table.get("box") else {
            if let Some(entry) = table.get("orientation") {
                let text = "a ball has no `orientation`: expected it beside `box`";
                return Err(entry.error(Problem::Keys(text.to_owned())));
            }
            points.push((pose.translation, radius));
            continue;
        };
        let half = sides(&entry, radius)? * 0.5;
        for corner in 0..8 {
            let side = |i: usize| {
                if corner >> i & 1 == 1 {
                    half[i]
                } else {
                    -half[i]
                }
            };
            points.push((pose.act(&Vector3::from_fn(|i, _| side(i))), radius));
        }
    }
    Ok(points)
}

/// The lengths of a box, without what rounds its corners.
fn sides(entry: &Entry<'_>, radius: f64) -> Result<Vector3<f64>, DescriptionError> {
    let sides = entry.vector()?;
    match sides.iter().find(|side| **side < 2.0 * radius) {
        None => Ok(sides.map(|side| side - 2.0 * radius)),
        Some(side) => Err(entry.error(Problem::OutOfRange {
            expected: "lengths of at least 0 and of twice the `radius` of the corners".to_owned(),
            found: side.to_string(),
        })),
    }
}

/// `stop = { stiffness, damping }` beside the position limits of a joint.
pub(super) fn stop(entry: &Entry<'_>) -> Result<Compliance, DescriptionError> {
    let table = entry.table()?;
    table.only(&STOP)?;
    compliance(&table)
}

/// `stiffness` and `damping` of what is linear.
pub(super) fn compliance(table: &Table<'_>) -> Result<Compliance, DescriptionError> {
    let stiffness = table.required("stiffness")?.positive()?;
    let damping = match table.get("damping") {
        Some(entry) => entry.not_negative()?,
        None => 0.0,
    };
    Compliance::new(stiffness, 1.0, damping).map_err(|error| {
        let expected = error.expected.to_owned();
        let found = error.found.to_string();
        table.error(Problem::OutOfRange { expected, found })
    })
}
