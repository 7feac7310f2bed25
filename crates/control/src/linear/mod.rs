//! Linearisation about a reference at rest, Konz (5.71), (5.81): the basis of analysis and design.
//!
//! [`LinearModel`] is `M0 eps'' + D0 eps' + K0 eps = B du`: a system with its inputs or, without inputs, the closed loop of a template.

mod double_shift;
mod eigenvalues;
mod model;

pub(crate) use eigenvalues::{complex_eigenvalues, eigenvalues};
pub(crate) use model::companion;
pub use model::{LinearMatching, LinearModel, NotAtRest};
