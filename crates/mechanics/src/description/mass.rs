//! The inertia of a body: by its numbers, its shape, or its parts.

use std::f64::consts::PI;

use fly_lie::{SE3, SO3};
use nalgebra::Vector3;

use super::keys::{Key, MATRIX, VECTOR, Value};
use super::mesh::{self, MESH};
use super::pose::{ORIENTATION, orientation, pose};
use super::reader::{Entry, Table};
use super::{DescriptionError, Problem};
use crate::text::nearest;
use crate::{InertiaError, PseudoInertia, SecondMoment};

pub(super) const MASS: Key = Key::new("mass", Value::Number, "kg.");
pub(super) const DENSITY: Key = Key::new(
    "density",
    Value::Number,
    "Instead of the mass of a `shape`, kg/m^3.",
);
pub(super) const CENTER_OF_MASS: Key = Key::new(
    "center_of_mass",
    VECTOR,
    "m in the body's frame (x forward, y left, z up). Default: its origin.",
);
pub(super) const INERTIA: Key = Key::new(
    "inertia",
    MATRIX,
    "About the centre of mass, kg m^2: the diagonal, or three rows.",
);
pub(super) const INERTIA_ABOUT_ORIGIN: Key = Key::new(
    "inertia_about_origin",
    MATRIX,
    "Instead of `inertia`: about the origin of the body's frame, kg m^2.",
);
pub(super) const SHAPE: Key = Key::new(
    "shape",
    Value::Table(&SOLID),
    "Instead of `inertia`: a homogeneous solid about the centre of mass, or a mesh in its own frame.",
);

/// The keys of one of the `parts` of a body.
pub(super) const PART: [Key; 8] = [
    MASS,
    DENSITY,
    CENTER_OF_MASS,
    INERTIA,
    INERTIA_ABOUT_ORIGIN,
    SHAPE,
    Key::new(
        "position",
        VECTOR,
        "Of the part in the body's frame, m. Default: its origin.",
    ),
    Key::new(
        "orientation",
        ORIENTATION,
        "Of the part in the body's frame. Default: its axes.",
    ),
];

/// The keys of a shape.
const SOLID: [Key; 6] = [
    Key::new("box", VECTOR, "Lengths along x, y and z, m."),
    Key::new("cylinder", Value::Table(&CYLINDER), "About the z axis."),
    Key::new(
        "mesh",
        Value::Table(&MESH),
        "The solid within a closed mesh of triangles, in the frame of the body.",
    ),
    Key::new("ellipsoid", VECTOR, "Semi-axes along x, y and z, m."),
    Key::new("sphere", Value::Table(&SPHERE), "A ball, or a hollow one."),
    Key::new(
        "orientation",
        ORIENTATION,
        "Of the shape in the body's frame. Default: its axes.",
    ),
];

const RADIUS: Key = Key::required("radius", Value::Number, "Outer radius, m.");
const INNER_RADIUS: Key = Key::new("inner_radius", Value::Number, "m. Default 0.");
const CYLINDER: [Key; 3] = [
    RADIUS,
    INNER_RADIUS,
    Key::required("height", Value::Number, "m."),
];
const SPHERE: [Key; 2] = [RADIUS, INNER_RADIUS];

/// The names of what says something of a body's inertia.
const KEYS: [&str; 7] = [
    "mass",
    "density",
    "center_of_mass",
    "inertia",
    "inertia_about_origin",
    "shape",
    "parts",
];

const SHAPES: [&str; 5] = ["box", "cylinder", "ellipsoid", "mesh", "sphere"];

/// The inertia of a body; `None` if no key says anything about it.
pub(super) fn inertia(table: &Table<'_>) -> Result<Option<PseudoInertia<f64>>, DescriptionError> {
    let given = table.present(&KEYS);
    let Some((first, _)) = given.first() else {
        return Ok(None);
    };
    if let Some(entry) = table.get("parts") {
        if *first != "parts" {
            let text = format!("a body that is made of `parts` has no `{first}` of its own");
            return Err(given[0].1.error(Problem::Keys(text)));
        }
        return parts(&entry).map(Some);
    }
    if table.get("shape").is_some() {
        return solid(table).map(Some);
    }
    numbers(table).map(Some)
}

/// By mass, centre of mass and moments of inertia.
fn numbers(table: &Table<'_>) -> Result<PseudoInertia<f64>, DescriptionError> {
    if let Some(density) = table.get("density") {
        let text = "`density` needs a `shape`; else give `mass`";
        return Err(density.error(Problem::Keys(text.to_owned())));
    }
    let mass_entry = table.required("mass")?;
    let mass = mass_entry.number()?;
    let center = center_of_mass(table)?;
    let (entry, result) = match (table.get("inertia"), table.get("inertia_about_origin")) {
        (Some(entry), None) => {
            let result = PseudoInertia::from_center(mass, center, entry.matrix()?);
            (entry, result)
        }
        (None, Some(entry)) => {
            let result = PseudoInertia::from_origin(mass, center, entry.matrix()?);
            (entry, result)
        }
        (None, None) => {
            let missing = table.error(Problem::MissingKey("inertia".to_owned()));
            return Err(missing.helped(Some(
                "give `inertia` (about the centre of mass), `inertia_about_origin` or a `shape`",
            )));
        }
        (Some(_), Some(second)) => {
            let text =
                "give `inertia` (about the centre of mass) or `inertia_about_origin`, not both";
            return Err(second.error(Problem::Keys(text.to_owned())));
        }
    };
    result.map_err(|error| match error {
        InertiaError::MassNotPositive { .. } => mass_entry.error(error),
        _ => entry.error(error),
    })
}

/// By its shape, with a mass or a density.
fn solid(table: &Table<'_>) -> Result<PseudoInertia<f64>, DescriptionError> {
    for key in ["inertia", "inertia_about_origin"] {
        if let Some(entry) = table.get(key) {
            let text = format!("the `shape` says what `{key}` is; give one of the two");
            return Err(entry.error(Problem::Keys(text)));
        }
    }
    let shape_entry = table.required("shape")?;
    let shape = Shape::read(&shape_entry)?;
    let (key, weight) = table.one_of(&["mass", "density"])?;
    let mass = match key {
        "mass" => weight.positive()?,
        _ => weight.positive()? * shape.volume(),
    };
    let center = match (&shape.solid, table.get("center_of_mass")) {
        (Solid::Mesh(_), Some(entry)) => {
            let text = "the mesh says where the centre of mass is; to move it make it one of the `parts`, with a `position`";
            return Err(entry.error(Problem::Keys(text.to_owned())));
        }
        (Solid::Mesh(_), None) => Vector3::zeros(),
        _ => center_of_mass(table)?,
    };
    let place = SE3::new(shape.orientation, center);
    PseudoInertia::new(shape.moment(mass).placed(&place)).map_err(|error| shape_entry.error(error))
}

/// The sum of its parts, each at its pose in the body's frame. A body with one point as its only part is a point mass.
fn parts(entry: &Entry<'_>) -> Result<PseudoInertia<f64>, DescriptionError> {
    let parts = entry.array("an array of tables, one for each part")?;
    if let [only] = parts.as_slice()
        && let table = only.table()?
        && is_point(&table)
    {
        let moment = part(&table)?;
        return PseudoInertia::point_mass(moment.weight(), moment.center())
            .map_err(|error| only.error(error));
    }
    let mut sum: Option<SecondMoment<f64>> = None;
    for part in parts {
        let moment = self::part(&part.table()?)?;
        sum = Some(sum.map_or(moment, |sum| sum + moment));
    }
    let sum = sum.ok_or_else(|| {
        entry.error(Problem::OutOfRange {
            expected: "at least one part".to_owned(),
            found: "none".to_owned(),
        })
    })?;
    PseudoInertia::new(sum).map_err(|error| entry.error(error))
}

/// A part with nothing but a mass is a point.
fn part(table: &Table<'_>) -> Result<SecondMoment<f64>, DescriptionError> {
    table.only(&PART)?;
    let moment = if table.get("shape").is_some() {
        *solid(table)?.second_moment()
    } else if is_point(table) {
        SecondMoment::point(table.required("mass")?.positive()?, center_of_mass(table)?)
    } else {
        *numbers(table)?.second_moment()
    };
    Ok(moment.placed(&pose(table)?))
}

fn is_point(table: &Table<'_>) -> bool {
    let extended = ["shape", "density", "inertia", "inertia_about_origin"];
    table.present(&extended).is_empty()
}

fn center_of_mass(table: &Table<'_>) -> Result<Vector3<f64>, DescriptionError> {
    match table.get("center_of_mass") {
        Some(entry) => entry.vector(),
        None => Ok(Vector3::zeros()),
    }
}

/// A homogeneous solid about its centre, or in the frame of its mesh.
struct Shape {
    solid: Solid,
    orientation: SO3<f64>,
}

/// Lengths in m.
enum Solid {
    Box([f64; 3]),
    Cylinder {
        radii: [f64; 2],
        height: f64,
    },
    Ellipsoid([f64; 3]),
    Sphere {
        radii: [f64; 2],
    },
    /// For the density 1, in the frame of the mesh.
    Mesh(SecondMoment<f64>),
}

impl Shape {
    fn read(entry: &Entry<'_>) -> Result<Self, DescriptionError> {
        if let Ok(name) = entry.string() {
            let example = match nearest(name, SHAPES) {
                Some("cylinder") => "{ cylinder = { radius = 0.1, height = 0.3 } }",
                Some("sphere") => "{ sphere = { radius = 0.1 } }",
                Some("ellipsoid") => "{ ellipsoid = [0.3, 0.2, 0.1] }",
                Some("mesh") => "{ mesh = { file = \"hull.stl\", scale = 0.001 } }",
                _ => "{ box = [0.3, 0.2, 0.1] }",
            };
            let error = entry.wrong_type("a table");
            return Err(error.helped(Some(format!("for example `shape = {example}`"))));
        }
        let table = entry.table()?;
        table.only(&SOLID)?;
        let (kind, value) = table.one_of(&SHAPES)?;
        let solid = match kind {
            "box" => Solid::Box(lengths(&value)?),
            "ellipsoid" => Solid::Ellipsoid(lengths(&value)?),
            "mesh" => Solid::Mesh(mesh::moment(&value.table()?)?),
            "cylinder" => {
                let keys = value.table()?;
                keys.only(&CYLINDER)?;
                Solid::Cylinder {
                    radii: radii(&keys)?,
                    height: keys.required("height")?.positive()?,
                }
            }
            _ => {
                let keys = value.table()?;
                keys.only(&SPHERE)?;
                Solid::Sphere {
                    radii: radii(&keys)?,
                }
            }
        };
        let orientation = match table.get("orientation") {
            Some(entry) => orientation(&entry)?,
            None => SO3::identity(),
        };
        Ok(Self { solid, orientation })
    }

    fn volume(&self) -> f64 {
        match self.solid {
            Solid::Box([x, y, z]) => x * y * z,
            Solid::Cylinder {
                radii: [inner, outer],
                height,
            } => PI * (outer * outer - inner * inner) * height,
            Solid::Ellipsoid([a, b, c]) => 4.0 / 3.0 * PI * a * b * c,
            Solid::Sphere {
                radii: [inner, outer],
            } => 4.0 / 3.0 * PI * (outer.powi(3) - inner.powi(3)),
            Solid::Mesh(moment) => moment.weight(),
        }
    }

    fn moment(&self, mass: f64) -> SecondMoment<f64> {
        match self.solid {
            Solid::Box(lengths) => SecondMoment::solid_box(mass, lengths),
            Solid::Cylinder {
                radii: [inner, outer],
                height,
            } => SecondMoment::hollow_cylinder(mass, inner, outer, height),
            Solid::Ellipsoid(semi_axes) => SecondMoment::solid_ellipsoid(mass, semi_axes),
            Solid::Sphere {
                radii: [inner, outer],
            } => SecondMoment::hollow_sphere(mass, inner, outer),
            Solid::Mesh(moment) => {
                SecondMoment::from_matrix4(moment.matrix4() * (mass / moment.weight()))
            }
        }
    }
}

/// Three lengths above zero.
fn lengths(entry: &Entry<'_>) -> Result<[f64; 3], DescriptionError> {
    let lengths = entry.numbers()?;
    if lengths.iter().all(|length| *length > 0.0) {
        return Ok(lengths);
    }
    let [x, y, z] = lengths;
    Err(entry.error(Problem::OutOfRange {
        expected: "three lengths above 0".to_owned(),
        found: format!("[{x}, {y}, {z}]"),
    }))
}

/// The inner and the outer radius.
fn radii(table: &Table<'_>) -> Result<[f64; 2], DescriptionError> {
    let outer = table.required("radius")?.positive()?;
    let Some(entry) = table.get("inner_radius") else {
        return Ok([0.0, outer]);
    };
    let inner = entry.not_negative()?;
    if inner < outer {
        return Ok([inner, outer]);
    }
    Err(entry.error(Problem::OutOfRange {
        expected: format!("less than the radius, {outer}"),
        found: inner.to_string(),
    }))
}
