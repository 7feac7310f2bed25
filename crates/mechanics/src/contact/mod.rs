//! Compliant contact with the ground, between bodies, and with the stops of joints: forces follow from the motion, and any number of contacts can act at
//! once.
//!
//! | item | model | type |
//! |---|---|---|
//! | normal force that never pulls | Hunt and Crossley: `k d^n (1 + c d_dot)` | [`Compliance`] |
//! | friction with stiction | a bristle, spring and damper, in series with a slider: Coulomb's cone | [`Friction`] |
//! | the ground | a plane | [`Ground`] |
//! | bodies among each other | the same forces along the line between the nearest points | [`BodyContact`] |
//! | contact shapes | points, balls and capsules of bodies | [`ContactShape`] |
//!
//! [`ActuatedDynamics`](crate::ActuatedDynamics) evaluates them; controllers and references ignore them. Bodies that roll on a rigid plane are
//! [constraints](crate::multibody::constraints::PlaneContact).

mod between;
mod compliance;
mod friction;
mod ground;
mod shape;

pub use between::BodyContact;
pub use compliance::{Compliance, ComplianceError};
pub use friction::{BristleMotion, Friction, FrictionError};
pub use ground::{Ground, GroundError};
pub use shape::ContactShape;
pub(crate) use shape::nearest_points;
