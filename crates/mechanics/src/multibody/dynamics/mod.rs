//! Dynamics in time proportional to the number of bodies.

mod articulated;
mod composite;
mod derivatives;
mod error;
mod forward;
mod inverse;
mod jacobians;
mod motion;
mod scratch;
mod spatial;
mod tree;

pub use derivatives::{ForwardDynamicsDerivatives, InverseDynamicsDerivatives};
pub use error::MasslessJoint;
pub use jacobians::BodyJacobians;
pub(super) use scratch::Scratch;
pub(super) use tree::Tree;
