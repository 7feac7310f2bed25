//! Rigid-body mechanics: inertia, forces, energies, actuators, integration on the group.

// The sources' symbols are the local names here: M, W, J, M'.
#![allow(non_snake_case)]

pub mod actuators;
pub mod description;
mod free_body;
mod inertia;
pub mod integrate;
mod second_moment;
mod text;
mod vehicle;

pub use actuators::{ActuatorError, Actuators, Polytope, Rotor, Tilt};
pub use free_body::{FreeBody, State, velocity_of_point, wrench_of_force};
pub use inertia::{InertiaError, PseudoInertia};
pub use second_moment::SecondMoment;
pub use vehicle::Vehicle;
