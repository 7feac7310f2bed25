//! Analytic derivatives of inverse and forward dynamics.
//!
//! All vectors of a branch are in the axes of its root, the node that stands on the world, so that what joints cause on each other are plain
//! products, with no transformation between them; and about their own node's origin or, once for each coordinate, about the root's. The
//! inertial wrench of a body that moves takes twelve numbers, the moments of its momenta
//! ([`MomentumMoments`](crate::multibody::spatial::MomentumMoments)), and both derivatives both ways between two coordinates are the four
//! lanes of one sum of nine products ([`column::Column::lanes`]).

mod aba;
mod column;
mod elements;
mod entries;
mod inverse_mass;
mod probe;
mod product;
mod rnea;

pub use aba::ForwardDynamicsDerivatives;
pub use rnea::InverseDynamicsDerivatives;
