//! Triangles that something looks like.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use nalgebra::Vector3;

use crate::MeshError;

/// Triangles that something looks like. Other than those of a [`TriangleMesh`](crate::TriangleMesh) they need not enclose anything.
///
/// ```
/// use fly_mechanics::visual::Surface;
/// use nalgebra::Vector3;
///
/// let [o, x, y, z] = [Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z()];
/// let corner = Surface::from_triangles([[o, x, y], [o, y, z], [o, z, x]])?;
/// assert_eq!((corner.vertices().len(), corner.triangles().len()), (4, 3));
/// assert_eq!(Surface::from_obj_text(&corner.to_obj_text())?, corner);
/// # Ok::<(), fly_mechanics::MeshError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    vertices: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
}

/// What is smaller than this part of the whole is not seen.
const SEEN: f64 = 1e-4;
/// Most cells along the longest edge of the box around a surface that is simplified.
const FINEST: u32 = 2048;

impl Surface {
    /// From triangles by their corners, m: corners at the same place are one.
    ///
    /// # Errors
    /// [`MeshError::Empty`] without a triangle of some extent, [`MeshError::NotFinite`].
    pub fn from_triangles(
        triangles: impl IntoIterator<Item = [Vector3<f64>; 3]>,
    ) -> Result<Self, MeshError> {
        let (mut vertices, mut named) = (Vec::new(), Vec::new());
        for triangle in triangles {
            named.push([0, 1, 2].map(|corner| index(vertices.len() + corner)));
            vertices.extend(triangle.map(<[f64; 3]>::from));
        }
        Self::new(vertices, named)
    }

    fn new(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        let finite = |v: &[f64; 3]| v.iter().all(|x| x.is_finite());
        if let Some(vertex) = vertices.iter().position(|v| !finite(v)) {
            return Err(MeshError::NotFinite {
                vertex,
                place: vertices[vertex],
            });
        }
        let all = Self {
            vertices,
            triangles,
        };
        let rounded = all.rounded();
        if rounded.triangles.is_empty() {
            return Err(MeshError::Empty);
        }
        Ok(rounded)
    }

    /// Its corners, m.
    pub fn vertices(&self) -> &[[f64; 3]] {
        &self.vertices
    }

    /// Three vertices each, from 0.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The smallest coordinates, and the length of the longest edge of the box around it.
    fn extent(&self) -> ([f64; 3], f64) {
        let fold = |k: usize, pick: fn(f64, f64) -> f64, from: f64| {
            self.vertices.iter().map(|v| v[k]).fold(from, pick)
        };
        let low = [0, 1, 2].map(|k| fold(k, f64::min, f64::INFINITY));
        let high = [0, 1, 2].map(|k| fold(k, f64::max, f64::NEG_INFINITY));
        let longest = (0..3).map(|k| high[k] - low[k]).fold(0.0, f64::max);
        (low, longest)
    }

    /// With coordinates in decimals that are as many as anybody sees, so that they are short as text.
    fn rounded(&self) -> Self {
        let (low, longest) = self.extent();
        let reach = (low.iter()).fold(longest, |reach, x| reach.max(x.abs()));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the logarithm of a finite number"
        )]
        let digits = -(SEEN * reach).log10().floor().clamp(-12.0, 12.0) as i32;
        let scale = 10_f64.powi(digits);
        // Adding zero makes the two zeros one.
        let round = |x: f64| (x * scale).round() / scale + 0.0;
        let places = self.vertices.iter().map(|v| v.map(round));
        self.joined(places.map(|place| (place.map(f64::to_bits), place)))
    }

    /// One vertex in place of all with the same key: the mean of their places.
    fn joined<K: Eq + std::hash::Hash>(&self, keyed: impl Iterator<Item = (K, [f64; 3])>) -> Self {
        let mut known: HashMap<K, u32> = HashMap::new();
        let mut sums: Vec<(Vector3<f64>, f64)> = Vec::new();
        let mut first: Vec<[f64; 3]> = Vec::new();
        let names: Vec<u32> = keyed
            .map(|(key, place)| {
                let name = *known.entry(key).or_insert_with(|| {
                    sums.push((Vector3::zeros(), 0.0));
                    first.push(place);
                    index(sums.len() - 1)
                });
                let (sum, count) = &mut sums[name as usize];
                *sum += Vector3::from(place);
                *count += 1.0;
                name
            })
            .collect();
        // A triangle and its back are one.
        let mut seen: HashSet<[u32; 3]> = HashSet::new();
        let triangles = self.triangles.iter().filter_map(|triangle| {
            let [a, b, c] = triangle.map(|vertex| names[vertex as usize]);
            let mut sorted = [a, b, c];
            sorted.sort_unstable();
            (a != b && b != c && c != a && seen.insert(sorted)).then_some([a, b, c])
        });
        let triangles: Vec<[u32; 3]> = triangles.collect();
        // Vertices of no triangle are left out.
        let mut order: HashMap<u32, u32> = HashMap::new();
        let mut vertices = Vec::new();
        let triangles = triangles.into_iter().map(|triangle| {
            triangle.map(|vertex| {
                *order.entry(vertex).or_insert_with(|| {
                    let (sum, count) = sums[vertex as usize];
                    let place = first[vertex as usize];
                    // The mean of equal numbers may be another one.
                    let mean = sum / count;
                    vertices.push(
                        if (mean - Vector3::from(place)).amax() < 1e-12 * mean.amax() {
                            place
                        } else {
                            mean.into()
                        },
                    );
                    index(vertices.len() - 1)
                })
            })
        });
        let triangles = triangles.collect();
        Self {
            vertices,
            triangles,
        }
    }

    /// The same with at most so many triangles: vertices in the same cell of a grid become one, in the finest grid that does it. Empty where there is none.
    #[must_use]
    pub fn simplified(&self, most: usize) -> Self {
        if self.triangles.len() <= most {
            return self.clone();
        }
        let mut best = Self {
            vertices: Vec::new(),
            triangles: Vec::new(),
        };
        // Finer grids keep more, but for a few triangles.
        let (mut coarse, mut fine) = (0, FINEST);
        while coarse + 1 < fine {
            let cells = u32::midpoint(coarse, fine);
            let candidate = self.in_cells(cells);
            if candidate.triangles.len() > most {
                fine = cells;
            } else {
                coarse = cells;
                best = candidate;
            }
        }
        best.rounded()
    }

    fn in_cells(&self, cells: u32) -> Self {
        let (low, longest) = self.extent();
        let edge = longest / f64::from(cells);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, and there are no more cells than that"
        )]
        let cell = |place: &[f64; 3]| {
            std::array::from_fn::<u32, 3, _>(|k| ((place[k] - low[k]) / edge) as u32)
        };
        self.joined(self.vertices.iter().map(|place| (cell(place), *place)))
    }
}

fn index(vertex: usize) -> u32 {
    u32::try_from(vertex).unwrap_or(u32::MAX)
}

/// # Text
impl Surface {
    /// As the text of an OBJ file: `v x y z` in m, `f a b c` from 1.
    pub fn to_obj_text(&self) -> String {
        let mut text = String::new();
        // Nothing fails that writes to a string.
        for [x, y, z] in &self.vertices {
            let _ = writeln!(text, "v {x} {y} {z}");
        }
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|vertex| vertex + 1);
            let _ = writeln!(text, "f {a} {b} {c}");
        }
        text
    }

    /// From such a text. Lines that begin with anything but `v` and `f` are passed over.
    ///
    /// # Errors
    /// [`MeshError::File`] with the line, [`MeshError::Vertex`], and those of [`from_triangles`](Self::from_triangles).
    pub fn from_obj_text(text: &str) -> Result<Self, MeshError> {
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for (line, number) in text.lines().zip(1..) {
            let mut words = line.split_whitespace();
            let wrong = |expected: &str| {
                MeshError::File(format!(
                    "line {number}: expected `{expected}`, found `{line}`"
                ))
            };
            let kind = words.next();
            match kind {
                Some("v") => {
                    let place: Option<Vec<f64>> = words.map(|word| word.parse().ok()).collect();
                    let place = place.and_then(|place| <[f64; 3]>::try_from(place).ok());
                    vertices.push(place.ok_or_else(|| wrong("v x y z"))?);
                }
                Some("f") => {
                    let names: Option<Vec<u32>> = words
                        .map(|word| word.parse::<u32>().ok()?.checked_sub(1))
                        .collect();
                    let names = names.and_then(|names| <[u32; 3]>::try_from(names).ok());
                    triangles.push(names.ok_or_else(|| wrong("f a b c"))?);
                }
                _ => {}
            }
        }
        for (triangle, names) in triangles.iter().enumerate() {
            let found = names.iter().find(|name| **name as usize >= vertices.len());
            if let Some(vertex) = found {
                return Err(MeshError::Vertex {
                    triangle,
                    vertex: *vertex as usize,
                    count: vertices.len(),
                });
            }
        }
        Self::new(vertices, triangles)
    }
}

/// # Files
#[cfg(feature = "mesh")]
impl Surface {
    /// From a file, STL (binary or text) or OBJ, told by its ending; `scale` makes metres of its unit along each axis.
    ///
    /// # Errors
    /// [`MeshError::File`], and those of [`from_triangles`](Self::from_triangles).
    pub fn from_file(
        path: impl AsRef<std::path::Path>,
        scale: &Vector3<f64>,
    ) -> Result<Self, MeshError> {
        let triangles = crate::body::mesh_file::triangles(path.as_ref())?;
        let mirrored = scale.product() < 0.0;
        Self::from_triangles(triangles.into_iter().map(|triangle| {
            let [a, b, c] = triangle.map(|corner| corner.component_mul(scale));
            if mirrored { [a, c, b] } else { [a, b, c] }
        }))
    }
}
