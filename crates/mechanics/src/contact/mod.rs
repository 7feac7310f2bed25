//! Compliant contact with the ground and with the stops of joints: forces follow from the motion, and any number of contacts can act at once.
//!
//! | item | model | type |
//! |---|---|---|
//! | normal force that never pulls | Hunt and Crossley: `k d^n (1 + c d_dot)` | [`Compliance`] |
//! | friction with stiction | a bristle, spring and damper, in series with a slider: Coulomb's cone | [`Friction`] |
//! | the ground | a plane | [`Ground`] |
//! | contact points | balls and points of bodies | [`ContactPoint`] |
//!
//! [`ActuatedDynamics`](crate::ActuatedDynamics) evaluates them; controllers and references ignore them. Bodies that roll on a rigid plane are
//! [constraints](crate::multibody::constraints::PlaneContact).

mod compliance;
mod friction;
mod ground;

pub use compliance::{Compliance, ComplianceError};
pub use friction::{BristleMotion, Friction};
pub use ground::{ContactPoint, Ground, GroundError};
