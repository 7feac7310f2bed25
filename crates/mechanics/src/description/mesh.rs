//! Solids within closed meshes of triangles.

use super::keys::{Key, MATRIX, VECTOR, Value};
use super::reader::Table;
use super::{DescriptionError, Problem, write};
use crate::{PseudoInertia, SecondMoment, TriangleMesh};

/// The keys of a mesh.
pub(super) const MESH: [Key; 5] = [
    Key::new(
        "file",
        Value::Text,
        "Its file, STL or OBJ; the path is relative to the file that names it.",
    ),
    Key::new(
        "scale",
        Value::Number,
        "Scale from the file's unit to metres: 0.001 for millimetres. Default 1.",
    ),
    Key::new(
        "volume",
        Value::Number,
        "Its volume, m^3: with `center` and `inertia` instead of `file`, as in logs.",
    ),
    Key::new(
        "center",
        VECTOR,
        "Of the volume, in the frame of the mesh, m.",
    ),
    Key::new(
        "inertia",
        MATRIX,
        "Of the volume with the density 1, about its centre, m^5.",
    ),
];

/// The solid with the density 1, in the frame of its mesh.
pub(super) fn moment(table: &Table<'_>) -> Result<SecondMoment<f64>, DescriptionError> {
    table.only(&MESH)?;
    let scale = match table.get("scale") {
        Some(entry) => entry.positive()?,
        None => 1.0,
    };
    if table.present(&["volume", "center", "inertia"]).is_empty() {
        let entry = table.required("file")?;
        let mesh = read(&entry.file()?, scale).map_err(|problem| entry.error(problem))?;
        return Ok(mesh.second_moment(1.0));
    }
    if let Some(entry) = table.get("file") {
        let text = "give the `file` of the mesh, or its `volume`, `center` and `inertia`";
        return Err(entry.error(Problem::Keys(text.to_owned())));
    }
    let volume = table.required("volume")?.positive()?;
    let center = table.required("center")?.vector()?;
    let entry = table.required("inertia")?;
    PseudoInertia::from_center(volume, center, entry.matrix()?)
        .map(|solid| *solid.second_moment())
        .map_err(|error| entry.error(error))
}

#[cfg(feature = "mesh")]
fn read(path: &std::path::Path, scale: f64) -> Result<TriangleMesh, Problem> {
    Ok(TriangleMesh::from_file(path, scale)?)
}

#[cfg(not(feature = "mesh"))]
fn read(_: &std::path::Path, _: f64) -> Result<TriangleMesh, Problem> {
    let text =
        "this program reads no meshes: it was built without the feature `mesh` of fly-mechanics";
    Err(Problem::Keys(text.to_owned()))
}

/// What a description says of a mesh in the place of its file: keys of the table `mesh` with their values in TOML.
///
/// ```
/// use fly_mechanics::description::mesh_numbers;
/// use fly_mechanics::{System, TriangleMesh};
/// use nalgebra::Vector3;
///
/// let [o, x, y, z] = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
/// let mesh = TriangleMesh::new(vec![o, x, y, z], vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])?;
/// let numbers = mesh_numbers(&mesh).map(|(key, value)| format!("{key} = {value}"));
/// let text = format!("name = 'wedge'\n[bodies.wedge]\ndensity = 600\nshape.mesh = {{ {} }}", numbers.join(", "));
/// let system = System::from_toml(&text)?;
/// assert!((system.model.mass() - 100.0).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn mesh_numbers(mesh: &TriangleMesh) -> [(&'static str, String); 3] {
    let moment = mesh.second_moment(1.0);
    [
        ("volume", write::number(mesh.volume())),
        ("center", write::vector(&mesh.center())),
        ("inertia", write::matrix(&moment.moment_about_center())),
    ]
}
