//! What is wrong with a mesh.

use crate::InertiaError;

/// Why triangles cannot be read, or enclose no solid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// There are none.
    #[error("the mesh has no triangles")]
    Empty,
    /// A triangle names a vertex that is not there.
    #[error("triangle {triangle} names vertex {vertex}, but there are {count} (counted from 0)")]
    Vertex {
        /// From 0.
        triangle: usize,
        /// From 0.
        vertex: usize,
        /// The number of vertices.
        count: usize,
    },
    /// A coordinate is infinite or not a number.
    #[error("vertex {vertex} is at {place:?}; expected finite coordinates")]
    NotFinite {
        /// From 0.
        vertex: usize,
        /// Where.
        place: [f64; 3],
    },
    /// An edge has a triangle on one side only.
    #[error(
        "the mesh has a hole: no triangle beside triangle {triangle} (counted from 0) at its edge from {from:?} to {to:?} m"
    )]
    Hole {
        /// The triangle at its rim, from 0.
        triangle: usize,
        /// Where its edge begins, m.
        from: [f64; 3],
        /// Where it ends, m.
        to: [f64; 3],
    },
    /// Neighbours are turned against each other.
    #[error(
        "triangles {} and {} (counted from 0) run along their common edge from {from:?} to {to:?} m in the same direction: one of them is inside out",
        triangles[0], triangles[1]
    )]
    InconsistentWinding {
        /// Both, from 0.
        triangles: [usize; 2],
        /// Where the edge begins, m.
        from: [f64; 3],
        /// Where it ends, m.
        to: [f64; 3],
    },
    /// The surface as a whole is turned around.
    #[error(
        "the mesh encloses {volume} m³: its triangles are clockwise as seen from outside. Exchange two vertices of each"
    )]
    InsideOut {
        /// Negative, or zero of a surface that encloses nothing.
        volume: f64,
    },
    /// The file cannot be read.
    #[error("{0}")]
    File(String),
    /// The solid has no inertia.
    #[error(transparent)]
    Inertia(#[from] InertiaError<f64>),
}
