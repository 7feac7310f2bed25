//! What stops bodies: the ground, and the stops of joints. Compliant, so that forces follow from the motion and any number of contacts acts at once.
//!
//! | of | model | type |
//! |---|---|---|
//! | a normal force that never pulls | Hunt and Crossley: `k d^n (1 + c d_dot)` | [`Compliance`] |
//! | friction that sticks | a bristle, spring and damper, behind a slider: Coulomb's cone | [`Friction`] |
//! | the ground | a plane | [`Ground`] |
//! | what touches it | balls and points of bodies | [`ContactPoint`] |
//!
//! [`ActuatedDynamics`](crate::ActuatedDynamics) let them act. No controller and no reference knows of them. Bodies that roll on a plane without compliance
//! are [constraints](crate::multibody::constraints::PlaneContact).

mod compliance;
mod friction;
mod ground;

pub use compliance::{Compliance, ComplianceError};
pub use friction::{BristleMotion, Friction};
pub use ground::{ContactPoint, Ground, GroundError};
