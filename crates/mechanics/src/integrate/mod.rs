//! Lie group integration: configurations stay on their manifolds to rounding, however long the run.
//!
//! | item | integrates | |
//! |---|---|---|
//! | [`rk4`], [`Integrator`] | a free body, with the states of its actuators | fixed sizes, for real-time use |
//! | [`RungeKutta`] | any [`Model`](crate::multibody::Model) with other states | steps of order four or eight |
//! | [`Adaptive`] | the same | order eight, adaptive steps, to exact times, to events |
//! | [`Variational`] | any model | second order, symplectic: for long runs, the energy does not drift |
//!
//! A [`SystemState`] holds time, configuration and velocity; the integrators advance it. They need the rates in a state: those of [`unforced`] or
//! [`forced`] for a model, or a user-defined closure, with constraints, rotors, controllers.
//!
//! ```
//! use fly_mechanics::PseudoInertia;
//! use fly_mechanics::integrate::{Adaptive, SystemState, Tolerance, unforced};
//! use fly_mechanics::multibody::{Body, Joint, Model};
//! use nalgebra::{Matrix3, Vector3};
//!
//! // A pendulum with a length of 1 m, let go at 0.1 rad: it is back after 2 s and a bit.
//! let bob = PseudoInertia::from_center(1.0, -Vector3::z(), Matrix3::identity() * 1e-12)?;
//! let model = Model::builder()
//!     .body(Body::new("pendulum", Joint::revolute(Vector3::y())?).inertia(bob))
//!     .build()?;
//! let mut motion = SystemState::at_rest(&model);
//! motion.configuration[0] = 0.1;
//!
//! let mut integrator = Adaptive::new(&model, Tolerance::default());
//! let period = std::f64::consts::TAU / 9.81_f64.sqrt() * (1.0 + 0.01 / 16.0);
//! integrator.advance(&model, &mut motion, period, unforced(&model))?;
//! assert!((motion.configuration[0] - 0.1).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! All but the variational one are Runge-Kutta schemes in the form of Munthe-Kaas[^1]: within a step the configuration is `x exp(u)`, the
//! small velocity `u` is integrated like a vector with `u_dot = J_r(u)^-1 xi`, and vector states are integrated as usual.
//!
//! [^1]: H. Munthe-Kaas, High order Runge-Kutta methods on manifolds. *Applied Numerical Mathematics* 29 (1999).

mod adaptive;
mod constrained;
mod dynamics;
mod event;
mod free_body;
mod runge_kutta;
mod scheme;
mod secant;
mod state;
mod variational;

pub use adaptive::{Adaptive, StepUnderflow, Tolerance};
pub use constrained::constrained;
pub use dynamics::{forced, unforced};
pub use event::Direction;
pub use free_body::{Integrator, rk4};
pub use runge_kutta::RungeKutta;
pub use scheme::Scheme;
pub use state::SystemState;
pub use variational::{ImplicitStepError, Variational};
