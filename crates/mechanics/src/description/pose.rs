//! Where something is: `position` and `orientation`.

use fly_lie::attitude::{Euler, EulerSequence};
use fly_lie::{SE3, SO3};
use nalgebra::{Vector3, Vector4};

use super::keys::{Key, VECTOR, Value};
use super::reader::{Entry, Table};
use super::{DescriptionError, Problem};

/// How far from 1 the length of a quaternion may be written.
const UNIT: f64 = 1e-3;

/// The value of an orientation.
pub(super) const ORIENTATION: Value = Value::Table(&ROTATION);

/// The ways to write a rotation.
const ROTATION: [Key; 5] = [
    Key::new(
        "rpy_deg",
        VECTOR,
        "Roll, pitch and yaw about the parent's x, y, z in this order, degrees.",
    ),
    Key::new("quaternion", Value::Numbers(4), "w, x, y, z."),
    Key::new("rotation_vector", VECTOR, "Axis times angle, rad."),
    Key::new(
        "axis",
        VECTOR,
        "With `angle_deg`: a direction of any length.",
    ),
    Key::new("angle_deg", Value::Number, "Angle about `axis`, degrees."),
];

/// `position` and `orientation`.
pub(super) const POSE: [Key; 2] = [
    Key::new("position", VECTOR, "m. Default: the origin."),
    Key::new("orientation", ORIENTATION, "Default: the same axes."),
];

/// The pose that `position` and `orientation` of a table give; both are optional.
pub(super) fn pose(table: &Table<'_>) -> Result<SE3<f64>, DescriptionError> {
    let position = match table.get("position") {
        Some(entry) => entry.vector()?,
        None => Vector3::zeros(),
    };
    let rotation = match table.get("orientation") {
        Some(entry) => orientation(&entry)?,
        None => SO3::identity(),
    };
    Ok(SE3::new(rotation, position))
}

/// One of the ways to write a rotation.
pub(super) fn orientation(entry: &Entry<'_>) -> Result<SO3<f64>, DescriptionError> {
    if !entry.is_table() {
        let help = "write `{ rpy_deg = [roll, pitch, yaw] }` or `{ quaternion = [w, x, y, z] }`";
        return Err(entry.wrong_type("a table").helped(Some(help)));
    }
    let table = entry.table()?;
    table.only(&ROTATION)?;
    let ways = ["rpy_deg", "quaternion", "rotation_vector", "axis"];
    let (way, value) = table.one_of(&ways)?;
    if let (Some(angle), true) = (table.get("angle_deg"), way != "axis") {
        let text = format!("`angle_deg` belongs to `axis`, not to `{way}`");
        return Err(angle.error(Problem::Keys(text)));
    }
    let rotation = match way {
        "rpy_deg" => {
            let [roll, pitch, yaw] = value.numbers()?.map(f64::to_radians);
            rpy(roll, pitch, yaw)
        }
        "quaternion" => quaternion(&value)?,
        "rotation_vector" => SO3::exp(&value.vector()?),
        _ => {
            let angle = table.required("angle_deg")?.number()?.to_radians();
            SO3::exp(&(direction(&value)? * angle))
        }
    };
    if !rotation.matrix().iter().all(|number| number.is_finite()) {
        return Err(value.error(Problem::OutOfRange {
            expected: "an angle".to_owned(),
            found: "a number that is too large".to_owned(),
        }));
    }
    Ok(rotation)
}

/// The rotation about the fixed axes x, y, z in this order, rad.
pub(super) fn rpy(roll: f64, pitch: f64, yaw: f64) -> SO3<f64> {
    Euler::new(EulerSequence::ZYX, [yaw, pitch, roll]).rotation()
}

fn quaternion(entry: &Entry<'_>) -> Result<SO3<f64>, DescriptionError> {
    let wxyz = Vector4::from(entry.numbers()?);
    let length = wxyz.norm();
    if (length - 1.0).abs() > UNIT {
        return Err(entry.error(Problem::OutOfRange {
            expected: "a quaternion w, x, y, z of length 1".to_owned(),
            found: format!("one of length {}", crate::text::short(length)),
        }));
    }
    Ok(SO3::from_quaternion(&(wxyz / length)))
}

fn direction(entry: &Entry<'_>) -> Result<Vector3<f64>, DescriptionError> {
    entry.vector()?.try_normalize(0.0).ok_or_else(|| {
        entry.error(Problem::OutOfRange {
            expected: "a direction".to_owned(),
            found: "[0, 0, 0]".to_owned(),
        })
    })
}
