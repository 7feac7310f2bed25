//! How mass, damping and stiffness are distributed over a body.

mod inertia;
mod inertia_error;
mod principal;
mod second_moment;
mod shapes;

pub use inertia::PseudoInertia;
pub use inertia_error::InertiaError;
pub use principal::PrincipalInertia;
pub use second_moment::SecondMoment;
