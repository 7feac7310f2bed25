//! Systems for small errors about a reference at rest, Konz (5.71), (5.81): the one linearisation on which analysis and design build.
//!
//! [`LinearModel`] is `M0 eps'' + D0 eps' + K0 eps = B du`: of a system with its inputs, or, without inputs, of the closed loop that a template asks
//! for.

mod double_shift;
mod eigenvalues;
mod model;

pub(crate) use eigenvalues::{complex_eigenvalues, eigenvalues};
pub(crate) use model::companion;
pub use model::{LinearMatching, LinearModel, NotAtRest};
