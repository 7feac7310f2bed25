//! How mass, damping and stiffness are distributed over a body, and the drag on it.

mod drag;
mod inertia;
mod inertia_error;
mod principal;
mod second_moment;
mod shapes;

pub use drag::{Drag, DragError};
pub use inertia::PseudoInertia;
pub use inertia_error::InertiaError;
pub use principal::PrincipalInertia;
pub use second_moment::SecondMoment;
