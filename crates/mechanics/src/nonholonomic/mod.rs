//! Bodies that roll, and other systems whose velocities are constrained (Konz, appendix B).
//!
//! Rolling ties velocities, not positions: a ball can reach every place in every attitude, though it can only turn. Choose the
//! velocity coordinates so that the last of them, `eta`, are those that the constraint sets to zero; then the others are minimal
//! and the constraint force does not enter their equation of motion, [`HamelEquation`]. A [`RollingBody`] is the closed form of it
//! for any convex body on a plane.

mod contact;
mod hamel;
mod rolling;
mod surface;

pub use contact::{Contact, ContactCondition};
pub use hamel::HamelEquation;
pub use rolling::RollingBody;
pub use surface::{Disc, Ellipsoid, Surface, SurfaceError};
