//! Dynamics in time proportional to the number of bodies.

mod articulated;
mod composite;
mod derivatives;
mod error;
mod forward;
mod inverse;
mod jacobians;
mod lanes;
mod motion;
mod place;
mod release;
mod scratch;
mod sines;
mod spatial;
mod tree;

pub use derivatives::{ForwardDynamicsDerivatives, InverseDynamicsDerivatives};
pub use error::MasslessJoint;
pub use jacobians::BodyJacobians;
pub(super) use scratch::Scratch;
pub(super) use tree::Tree;
