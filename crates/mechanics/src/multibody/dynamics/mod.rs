//! Dynamics in time proportional to the number of bodies.

mod articulated;
mod composite;
mod derivatives;
mod error;
mod forward;
mod inverse;
mod motion;
mod scratch;
mod spatial;
mod tree;

pub use derivatives::{ForwardDynamicsDerivatives, InverseDynamicsDerivatives};
pub use error::MasslessJoint;
pub(super) use scratch::Scratch;
pub(super) use tree::Tree;
