//! Distributions of mass, damping and stiffness over a body, and its drag.

mod drag;
mod inertia;
mod inertia_error;
mod mesh;
mod mesh_error;
#[cfg(feature = "mesh")]
pub(crate) mod mesh_file;
mod principal;
mod second_moment;
mod shapes;

use fly_lie::operators::{angular, linear};
use nalgebra::{RealField, Vector3, Vector6};

pub use drag::{Drag, DragError};
pub use inertia::PseudoInertia;
pub use inertia_error::InertiaError;
pub use mesh::TriangleMesh;
pub use mesh_error::MeshError;
pub use principal::PrincipalInertia;
pub use second_moment::SecondMoment;

/// The velocity of a point of the body (m, body coordinates), in body components, m/s.
pub fn velocity_of_point<T: RealField + Copy>(
    twist: &Vector6<T>,
    point: &Vector3<T>,
) -> Vector3<T> {
    linear(twist) + angular(twist).cross(point)
}
