//! Solids by their surface: closed meshes of triangles.

use std::collections::BTreeMap;

use fly_lie::{SE3, SO3};
use nalgebra::{Matrix3, Vector3};

use super::mesh_error::MeshError;
use crate::{InertiaError, PseudoInertia, SecondMoment};

/// The surface of a solid, closed and with every triangle counterclockwise as seen from outside; m.
///
/// It may have holes through it, hollows inside and several parts. Where parts overlap, what is in both counts twice.
///
/// ```
/// use fly_mechanics::{SecondMoment, TriangleMesh};
/// use nalgebra::Vector3;
///
/// // A tetrahedron of 1 m by its corners.
/// let [o, x, y, z] = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
/// let mesh = TriangleMesh::new(vec![o, x, y, z], vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])?;
/// assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-16);
/// let body = mesh.inertia(600.0)?;
/// assert!((body.mass() - 100.0).abs() < 1e-13);
/// assert!((body.center_of_mass() - Vector3::repeat(0.25)).norm() < 1e-15);
///
/// // One triangle is missing: the message says where.
/// let open = TriangleMesh::new(vec![o, x, y, z], vec![[0, 2, 1], [0, 1, 3], [0, 3, 2]]);
/// assert!(open.unwrap_err().to_string().starts_with("the mesh has a hole: no triangle beside triangle 0 "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TriangleMesh {
    vertices: Vec<Vector3<f64>>,
    triangles: Vec<[usize; 3]>,
    /// Of the solid with the density 1.
    moment: SecondMoment<f64>,
}

/// # Construction
impl TriangleMesh {
    /// From vertices (m) and triangles of them, counterclockwise as seen from outside.
    ///
    /// # Errors
    /// See [`MeshError`].
    pub fn new(vertices: Vec<Vector3<f64>>, triangles: Vec<[usize; 3]>) -> Result<Self, MeshError> {
        if triangles.is_empty() {
            return Err(MeshError::Empty);
        }
        if let Some(vertex) = vertices
            .iter()
            .position(|v| !v.iter().all(|x| x.is_finite()))
        {
            return Err(MeshError::NotFinite {
                vertex,
                place: vertices[vertex].into(),
            });
        }
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(vertex) = corners.iter().find(|vertex| **vertex >= vertices.len()) {
                return Err(MeshError::Vertex {
                    triangle,
                    vertex: *vertex,
                    count: vertices.len(),
                });
            }
        }
        check_edges(&vertices, &triangles)?;
        let moment = moment(&vertices, &triangles);
        let volume = moment.weight();
        // Written so that what is not a number fails.
        if !(volume > 0.0 && volume.is_finite()) {
            return Err(MeshError::InsideOut { volume });
        }
        Ok(Self {
            vertices,
            triangles,
            moment,
        })
    }

    /// From triangles that name no vertices, as in STL files: corners at exactly the same place are one.
    ///
    /// # Errors
    /// See [`MeshError`].
    pub fn from_triangles(
        triangles: impl IntoIterator<Item = [Vector3<f64>; 3]>,
    ) -> Result<Self, MeshError> {
        let mut known: BTreeMap<[u64; 3], usize> = BTreeMap::new();
        let mut vertices = Vec::new();
        let named = triangles.into_iter().map(|corners| {
            corners.map(|corner| {
                // Adding zero makes the two zeros one.
                let key: [u64; 3] = std::array::from_fn(|k| (corner[k] + 0.0).to_bits());
                *known.entry(key).or_insert_with(|| {
                    vertices.push(corner);
                    vertices.len() - 1
                })
            })
        });
        let named = named.collect();
        Self::new(vertices, named)
    }
}

/// # The solid
impl TriangleMesh {
    /// m³
    pub fn volume(&self) -> f64 {
        self.moment.weight()
    }

    /// The centre of the volume, m.
    pub fn center(&self) -> Vector3<f64> {
        self.moment.center()
    }

    /// Of the solid with this density (kg/m³ for a mass): mass, centre, moments.
    pub fn second_moment(&self, density: f64) -> SecondMoment<f64> {
        SecondMoment::from_matrix4(self.moment.matrix4() * density)
    }

    /// Of the solid with this density, kg/m³.
    ///
    /// # Errors
    /// [`InertiaError`], for a density that is not positive.
    pub fn inertia(&self, density: f64) -> Result<PseudoInertia<f64>, InertiaError<f64>> {
        PseudoInertia::new(self.second_moment(density))
    }

    /// m
    pub fn vertices(&self) -> &[Vector3<f64>] {
        &self.vertices
    }

    /// Three vertices each, from 0.
    pub fn triangles(&self) -> &[[usize; 3]] {
        &self.triangles
    }
}

/// Every edge is run along as often in one direction as in the other.
fn check_edges(vertices: &[Vector3<f64>], triangles: &[[usize; 3]]) -> Result<(), MeshError> {
    // By the lower vertex first: the triangles that go up, and those that go down.
    let mut edges: BTreeMap<[usize; 2], [Vec<usize>; 2]> = BTreeMap::new();
    for (triangle, [a, b, c]) in triangles.iter().enumerate() {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            let edge = [*from.min(to), *from.max(to)];
            edges.entry(edge).or_default()[usize::from(from > to)].push(triangle);
        }
    }
    for ([low, high], [up, down]) in &edges {
        if low == high || up.len() == down.len() {
            continue;
        }
        let ends = |turned: bool| {
            let (from, to) = if turned { (high, low) } else { (low, high) };
            (vertices[*from].into(), vertices[*to].into())
        };
        let (more, turned) = if up.len() > down.len() {
            (up, false)
        } else {
            (down, true)
        };
        let (from, to) = ends(turned);
        return Err(match more.as_slice() {
            [first, second, ..] if (up.len() + down.len()) % 2 == 0 => {
                MeshError::InconsistentWinding {
                    triangles: [*first, *second],
                    from,
                    to,
                }
            }
            many => MeshError::Hole {
                triangle: many[0],
                from,
                to,
            },
        });
    }
    Ok(())
}

/// The sum over tetrahedra with their tips in the middle of the vertices, so that what is far from the origin loses no digits.
fn moment(vertices: &[Vector3<f64>], triangles: &[[usize; 3]]) -> SecondMoment<f64> {
    let middle = vertices.iter().sum::<Vector3<f64>>() / vertices.len() as f64;
    let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
    for triangle in triangles {
        let [a, b, c] = triangle.map(|vertex| vertices[vertex] - middle);
        let part = a.dot(&b.cross(&c)) / 6.0;
        let sum = a + b + c;
        volume += part;
        first += sum * (part / 4.0);
        let products = a * a.transpose() + b * b.transpose() + c * c.transpose();
        second += (products + sum * sum.transpose()) * (part / 20.0);
    }
    SecondMoment::of_moments(volume, first, second).placed(&SE3::new(SO3::identity(), middle))
}

/// # Files
#[cfg(feature = "mesh")]
impl TriangleMesh {
    /// From a file, STL (binary or text) or OBJ, told by its ending. `scale` makes metres of its unit: 0.001 for the usual millimetres.
    ///
    /// ```
    /// use fly_mechanics::TriangleMesh;
    ///
    /// # let path = std::env::temp_dir().join(format!("fly-mesh-{}.obj", std::process::id()));
    /// std::fs::write(&path, "v 0 0 0\nv 10 0 0\nv 0 10 0\nv 0 0 10\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")?;
    /// let mesh = TriangleMesh::from_file(&path, 0.001)?;
    /// assert!((mesh.volume() - 1e-6 / 6.0).abs() < 1e-20);
    /// # std::fs::remove_file(path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MeshError::File`], and those of [`from_triangles`](Self::from_triangles).
    pub fn from_file(path: impl AsRef<std::path::Path>, scale: f64) -> Result<Self, MeshError> {
        let triangles = super::mesh_file::triangles(path.as_ref())?;
        Self::from_triangles(scaled(triangles, scale))
    }

    /// Binary or text. See [`from_file`](Self::from_file).
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file).
    pub fn from_stl(
        reader: &mut (impl std::io::Read + std::io::Seek),
        scale: f64,
    ) -> Result<Self, MeshError> {
        Self::from_triangles(scaled(super::mesh_file::stl(reader)?, scale))
    }

    /// All objects of the file together; faces with more corners are cut into triangles. See [`from_file`](Self::from_file).
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file).
    pub fn from_obj(reader: &mut impl std::io::BufRead, scale: f64) -> Result<Self, MeshError> {
        Self::from_triangles(scaled(super::mesh_file::obj(reader)?, scale))
    }
}

#[cfg(feature = "mesh")]
fn scaled(
    triangles: Vec<[Vector3<f64>; 3]>,
    scale: f64,
) -> impl Iterator<Item = [Vector3<f64>; 3]> {
    triangles
        .into_iter()
        .map(move |triangle| triangle.map(|corner| corner * scale))
}
