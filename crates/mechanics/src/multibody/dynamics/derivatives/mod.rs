//! Analytic derivatives of inverse and forward dynamics.
//!
//! All vectors of a branch are in the axes of its root, the node that stands on the world, so that what joints cause on each other are plain
//! products, with no transformation between them; and about their own node's origin or, once for each coordinate, about the root's, so that
//! nothing large cancels however far away the world's origin is. What an inertia resists with because it moves takes twelve numbers, the
//! moments of its momenta ([`composite::VectorMoments`]), and both derivatives both ways between two coordinates are the four lanes of
//! one sum of nine products ([`column::Column::lanes`]). Matrices are multiplied in blocks that stay in registers.

mod carried;
mod column;
mod composite;
mod elements;
mod entries;
mod factor;
mod forward;
mod inverse;
mod pairs;
mod passes;
mod probe;
mod scratch;

pub use forward::ForwardDynamicsDerivatives;
pub use inverse::InverseDynamicsDerivatives;
pub(super) use scratch::Scratch;
