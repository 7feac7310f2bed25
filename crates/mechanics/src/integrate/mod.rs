//! Integration on the group: configurations stay on their manifolds to rounding, however long the run.
//!
//! | what | of | |
//! |---|---|---|
//! | [`rk4`], [`Integrator`] | a free body, with the states of its actuators | fixed sizes, for the flight path |
//! | [`RungeKutta`] | any [`Model`](crate::multibody::Model) with other states | steps of order four or eight |
//! | [`Adaptive`] | the same | steps of order eight as long as a tolerance allows, to exact times, to events |
//! | [`Variational`] | any model | second order, symplectic: for long runs, the energy does not drift |
//!
//! All but the last are schemes of Runge and Kutta in the form of Munthe-Kaas[^1]: within a step the configuration is `x exp(u)`, the small
//! velocity `u` is integrated like a vector with `u_dot = J_r(u)^-1 xi`, and what is a vector is integrated as usual.
//!
//! [^1]: H. Munthe-Kaas, High order Runge-Kutta methods on manifolds. *Applied Numerical Mathematics* 29 (1999).

mod adaptive;
mod event;
mod free_body;
mod motion;
mod runge_kutta;
mod scheme;
mod variational;

pub use adaptive::{Adaptive, StepUnderflow, Tolerance};
pub use event::Direction;
pub use free_body::{Integrator, rk4};
pub use motion::Motion;
pub use runge_kutta::RungeKutta;
pub use scheme::Scheme;
pub use variational::{NotConverged, Variational};
