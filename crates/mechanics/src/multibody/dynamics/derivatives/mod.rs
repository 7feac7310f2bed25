//! Analytic derivatives of inverse and forward dynamics.

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
