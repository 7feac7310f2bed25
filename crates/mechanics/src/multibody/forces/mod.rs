//! Forces, energies and momenta of a whole system in a state.
//!
//! ```text
//! M ξ̇ + c + D ξ + ∇V = f          ∇V = f_K - f_G
//! d/dt (T + V) = ξ·f - 2 R          V = V_K + V_G,   R = 1/2 ξᵀ D ξ
//! ```
//!
//! Springs, dampers and gravity act on bodies; [`Workspace::spring_wrenches`], [`Workspace::damper_wrenches`] and
//! [`Workspace::gravity_wrenches`] compute their wrenches, which the recursive algorithms use. Projected onto the velocity coordinates
//! by the Jacobians, `sum 0J_bᵀ w_b`, they are the plain reference for those algorithms.
//!
//! Signs: resistances and gradients of energies are on the left-hand side, applied forces on the right-hand side. Konz's chapter 4
//! prints gravity as an applied force and calls it the gradient of a potential energy; put on the left-hand side as in (5.1) it would
//! pull upward.

mod centroidal;
mod elements;
mod energy;
mod equation;
mod generalized;
mod joint_springs;
mod lagrangian;

pub use equation::{EquationOfMotion, MasslessMotion};
pub(crate) use lagrangian::Recursion;
