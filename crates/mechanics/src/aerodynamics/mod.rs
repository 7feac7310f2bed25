//! Aerodynamic forces on bodies and rotors beyond linear [`Drag`](crate::Drag), and the motion of the air.
//!
//! None of this is part of the equation of motion used by controllers and references: it acts when a simulation sets the [`Air`] of a
//! system's dynamics, with [`ActuatedDynamics::set_air`](crate::ActuatedDynamics::set_air).
//!
//! | force | on | model |
//! |---|---|---|
//! | quadratic drag | a body | [`QuadraticDrag`] |
//! | rotor drag, inflow, translational lift, flapping | a rotor with its own speed | [`RotorAerodynamics`] |
//! | ground effect | a rotor near the ground | [`ground_effect`] |
//!
//! The *airspeed* of a point is its velocity relative to the air, m/s.

mod air;
mod ground_effect;
mod propeller;
mod quadratic_drag;

pub use air::{Air, WindProfile, WindProfileError};
pub use ground_effect::{LOWEST_HEIGHT_RATIO, ground_effect};
pub use propeller::{Propeller, PropellerError, RotorAerodynamics};
pub use quadratic_drag::QuadraticDrag;
