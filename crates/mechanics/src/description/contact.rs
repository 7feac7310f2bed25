//! The contact shapes of bodies, and the stops of joints.

use nalgebra::Vector3;

use super::keys::{Key, VECTOR, Value};
use super::pose::{ORIENTATION, pose};
use super::reader::{Entry, Table};
use super::{DescriptionError, Problem};
use crate::contact::Compliance;

/// The ends of a segment and the radius about it, m.
pub(super) type Shape = ([Vector3<f64>; 2], f64);

/// The keys of a contact.
pub(super) const CONTACT: [Key; 5] = [
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
        "Of a ball or capsule, or of the corners of a box, m. Default 0: a point.",
    ),
    Key::new(
        "capsule",
        Value::Several(2, &VECTOR),
        "A capsule: everything within `radius` of the line between these two points in the body's frame, m.",
    ),
    Key::new("box", VECTOR, "The corners of a box with these lengths, m."),
];

/// The keys of the stop of a joint.
pub(super) const STOP: [Key; 2] = [
    Key::required("stiffness", Value::Number, "N m/rad, N/m."),
    Key::new("damping", Value::Number, "s/rad, s/m. Default 0."),
];

/// `[[bodies.<name>.contacts]]`: points, balls, capsules, and boxes by their corners.
pub(super) fn shapes(body: &Table<'_>) -> Result<Vec<Shape>, DescriptionError> {
    let mut shapes = Vec::new();
    for table in body.tables("contacts")? {
        table.only(&CONTACT)?;
        let radius = match table.get("radius") {
            Some(entry) => entry.not_negative()?,
            None => 0.0,
        };
        if let Some(entry) = table.get("capsule") {
            let mut others = table
                .present(&["position", "orientation", "box"])
                .into_iter();
            if let Some((key, other)) = others.next() {
                let text =
                    format!("expected no `{key}` beside `capsule`, which has its own points");
                return Err(other.error(Problem::Keys(text)));
            }
            shapes.push((ends(&entry)?, radius));
            continue;
        }
        let pose = pose(&table)?;
        if let Some(entry) = table.get("box") {
            let corners = corners(sides(&entry, radius)? * 0.5);
            shapes.extend(corners.map(|corner| ([pose.act(&corner); 2], radius)));
            continue;
        }
        if let Some(entry) = table.get("orientation") {
            let text = "a ball has no `orientation`: expected it beside `box`";
            return Err(entry.error(Problem::Keys(text.to_owned())));
        }
        shapes.push(([pose.translation; 2], radius));
    }
    Ok(shapes)
}

/// The ends of a capsule.
fn ends(entry: &Entry<'_>) -> Result<[Vector3<f64>; 2], DescriptionError> {
    let ends = entry.array("an array of two points")?;
    let [start, end] = ends.as_slice() else {
        return Err(entry.error(Problem::OutOfRange {
            expected: "two points".to_owned(),
            found: ends.len().to_string(),
        }));
    };
    Ok([start.vector()?, end.vector()?])
}

/// Of a box about the origin.
fn corners(half: Vector3<f64>) -> impl Iterator<Item = Vector3<f64>> {
    (0..8).map(move |corner| {
        Vector3::from_fn(|i, _| {
            if corner >> i & 1 == 1 {
                half[i]
            } else {
                -half[i]
            }
        })
    })
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
