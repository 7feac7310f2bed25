//! Analytic derivatives of inverse and forward dynamics.
//!
//! All vectors of a branch are expressed in the axes of its root, the node on the world, so that interactions between joints are plain
//! products without transformations; they are about their own node's origin or, once per coordinate, about the root's. The inertial wrench
//! of a moving body needs twelve numbers, the moments of its momenta ([`MomentumMoments`](crate::multibody::spatial::MomentumMoments)), and
//! both derivatives both ways between two coordinates are the four lanes of one sum of nine products ([`column::Column::lanes`]).

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
