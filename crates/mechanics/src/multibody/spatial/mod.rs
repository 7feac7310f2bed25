//! Spatial algebra: twists, wrenches and inertias, and their transformations.
//!
//! | type | meaning | Featherstone, RBDA |
//! |---|---|---|
//! | [`SpatialVector`] | a twist `[v; ω]` or a wrench `[f; τ]` | 2.2, there with the angular part first |
//! | [`Placement`] | a frame in another frame: `R`, `p` | 2.8, Plücker transforms |
//! | [`RigidInertia`] | mass, first and second moment: ten numbers | 2.13 |
//! | [`ArticulatedInertia`] | a symmetric 6x6 matrix in blocks | 7.1 |
//! | [`MomentumMoments`] | `Σ q` and `Σ q h^T` of vectors `q` at points `h`: twelve numbers | |

mod articulated_inertia;
mod moments;
mod placement;
mod rigid_inertia;
mod vector;

pub use articulated_inertia::ArticulatedInertia;
pub use moments::MomentumMoments;
pub use placement::Placement;
pub use rigid_inertia::RigidInertia;
pub use vector::SpatialVector;
