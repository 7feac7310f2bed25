//! What a body looks like.

use std::sync::Arc;

use fly_lie::SE3;

use super::keys::{Key, VECTOR, Value};
use super::pose::{ORIENTATION, pose};
use super::reader::{Entry, Table};
use super::{DescriptionError, Problem};
use crate::visual::{MAX_TRIANGLES, Surface, VisualShape};

/// All but the body.
pub(super) type Seen = (SE3<f64>, VisualShape, Option<[f64; 4]>);

/// The keys of one of the `visuals` of a body.
pub(super) const VISUAL: [Key; 7] = [
    Key::new("box", VECTOR, "Lengths along x, y and z, m."),
    Key::new("cylinder", Value::Table(&CYLINDER), "About the z axis."),
    Key::new("sphere", Value::Table(&SPHERE), "A ball."),
    Key::new(
        "mesh",
        Value::Text,
        "Triangles as the text of an OBJ file, lines of `v x y z` (m) and `f a b c`; the meshes of a URDF are converted to this. At most 5000 in all bodies together.",
    ),
    Key::new(
        "position",
        VECTOR,
        "Of its middle, or of the mesh's origin, in the body's frame, m. Default: its origin.",
    ),
    Key::new(
        "orientation",
        ORIENTATION,
        "In the body's frame. Default: its axes.",
    ),
    Key::new(
        "color",
        Value::Numbers(4),
        "Red, green, blue and opacity, each from 0 to 1. Default: chosen by the viewer.",
    ),
];

const RADIUS: Key = Key::required("radius", Value::Number, "m.");
const CYLINDER: [Key; 2] = [RADIUS, Key::required("height", Value::Number, "m.")];
const SPHERE: [Key; 1] = [RADIUS];

const SHAPES: [&str; 4] = ["box", "cylinder", "sphere", "mesh"];

/// `[[bodies.<name>.visuals]]`. `triangles` counts those of all meshes so far.
pub(super) fn visuals(
    body: &Table<'_>,
    triangles: &mut usize,
) -> Result<Vec<Seen>, DescriptionError> {
    let visuals = body.tables("visuals")?.into_iter().map(|table| {
        table.only(&VISUAL)?;
        let (kind, value) = table.one_of(&SHAPES)?;
        let shape = match kind {
            "box" => {
                let lengths = value.numbers()?;
                if lengths.iter().any(|length| *length <= 0.0) {
                    return Err(out_of_range(
                        &value,
                        "three lengths above 0",
                        format!("{lengths:?}"),
                    ));
                }
                VisualShape::Box(lengths)
            }
            "cylinder" => {
                let keys = value.table()?;
                keys.only(&CYLINDER)?;
                VisualShape::Cylinder {
                    radius: keys.required("radius")?.positive()?,
                    height: keys.required("height")?.positive()?,
                }
            }
            "sphere" => {
                let keys = value.table()?;
                keys.only(&SPHERE)?;
                VisualShape::Sphere {
                    radius: keys.required("radius")?.positive()?,
                }
            }
            _ => VisualShape::Mesh(Arc::new(mesh(&value, triangles)?)),
        };
        let color = table.get("color").map(|entry| color(&entry)).transpose()?;
        Ok((pose(&table)?, shape, color))
    });
    visuals.collect()
}

fn mesh(entry: &Entry<'_>, triangles: &mut usize) -> Result<Surface, DescriptionError> {
    let surface = Surface::from_obj_text(entry.string()?).map_err(|error| {
        let expected = "the text of an OBJ file: lines of `v x y z` and `f a b c`";
        out_of_range(entry, expected, error.to_string())
    })?;
    *triangles += surface.triangles().len();
    if *triangles > MAX_TRIANGLES {
        let expected = format!("at most {MAX_TRIANGLES} triangles in all meshes together");
        return Err(out_of_range(entry, &expected, triangles.to_string()));
    }
    Ok(surface)
}

fn color(entry: &Entry<'_>) -> Result<[f64; 4], DescriptionError> {
    let color = entry.numbers()?;
    if color.iter().all(|part| (0.0..=1.0).contains(part)) {
        return Ok(color);
    }
    let expected = "red, green, blue and opacity, each from 0 to 1";
    Err(out_of_range(entry, expected, format!("{color:?}")))
}

fn out_of_range(entry: &Entry<'_>, expected: &str, found: String) -> DescriptionError {
    let expected = expected.to_owned();
    entry.error(Problem::OutOfRange { expected, found })
}
