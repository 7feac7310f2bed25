//! Forces, energies and momenta of a whole system in a state.
//!
//! ```text
//! M ξ̇ + c + D ξ + ∇V = f          ∇V = f_K - f_G
//! d/dt (T + V) = ξ·f - 2 R          V = V_K + V_G,   R = 1/2 ξᵀ D ξ
//! ```
//!
//! Springs, dampers and gravity act on bodies; [`Workspace::spring_wrenches`], [`Workspace::damper_wrenches`] and
//! [`Workspace::gravity_wrenches`] say how, and what works recursively along the tree takes these. What is projected onto the velocity
//! coordinates by the Jacobians, `sum 0J_bᵀ w_b`, is the plain reference for it.
//!
//! Signs: what resists the motion or is the gradient of an energy stands on the left-hand side, what is applied on the right-hand side.
//! Konz's chapter 4 prints gravity as an applied force and calls it the gradient of a potential energy; put on the left-hand side as in
//! (5.1) it would pull upward.

mod centroidal;
mod elements;
mod energy;
mod equation;
mod generalized;
mod joint_springs;
mod lagrangian;

pub use equation::{EquationOfMotion, MasslessMotion};
pub(crate) use lagrangian::Recursion;
