//! What the air does to bodies and rotors beyond linear [`Drag`](crate::Drag), and how the air itself moves.
//!
//! Nothing here is part of the equation of motion that controllers and references know: it acts where a simulation gives the dynamics of a
//! system [`Air`], with [`ActuatedDynamics::set_air`](crate::ActuatedDynamics::set_air).
//!
//! | force | of | model |
//! |---|---|---|
//! | quadratic drag | a body | [`QuadraticDrag`] |
//! | rotor drag, inflow, translational lift, flapping | a rotor with its own speed | [`RotorAerodynamics`] |
//! | ground effect | a rotor near the ground | [`ground_effect`] |
//!
//! The *airspeed* of a point is its velocity less that of the air, m/s.

mod air;
mod ground_effect;
mod propeller;
mod quadratic_drag;

pub use air::{Air, WindProfile, WindProfileError};
pub use ground_effect::{LOWEST_HEIGHT_RATIO, ground_effect};
pub use propeller::{Propeller, PropellerError, RotorAerodynamics};
pub use quadratic_drag::QuadraticDrag;
