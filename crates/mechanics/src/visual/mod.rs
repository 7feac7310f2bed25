//! What bodies look like, for those who show them. It means nothing to their motion.

mod surface;

use std::sync::Arc;

use fly_lie::SE3;

use crate::multibody::BodyId;

pub use surface::Surface;

/// Most triangles of all meshes of a system together: more would make logs and reports large, and nobody would see them. They make a log larger by less than 1 MB.
pub const MAX_TRIANGLES: usize = 5000;

/// Something of a body that is seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Visual {
    /// The body.
    pub body: BodyId,
    /// Where it is in the body's frame.
    pub pose: SE3<f64>,
    /// What it is.
    pub shape: VisualShape,
    /// Red, green, blue and opacity, each from 0 to 1; `None`: whoever shows it chooses.
    pub color: Option<[f64; 4]>,
}

/// A shape about the origin of its frame.
#[derive(Clone, Debug, PartialEq)]
pub enum VisualShape {
    /// A box by its lengths along x, y and z, m.
    Box([f64; 3]),
    /// A cylinder about the z axis.
    Cylinder {
        /// m
        radius: f64,
        /// m
        height: f64,
    },
    /// A ball.
    Sphere {
        /// m
        radius: f64,
    },
    /// Triangles.
    Mesh(Arc<Surface>),
}

/// So many triangles each of these meshes may keep, for all of them together to have no more than [`MAX_TRIANGLES`]: small ones stay, large ones get equal shares.
pub(crate) fn shares(counts: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|mesh| counts[*mesh]);
    let mut shares = vec![0; counts.len()];
    let mut left = MAX_TRIANGLES;
    for (done, mesh) in order.into_iter().enumerate() {
        shares[mesh] = counts[mesh].min(left / (counts.len() - done));
        left -= shares[mesh];
    }
    shares
}
