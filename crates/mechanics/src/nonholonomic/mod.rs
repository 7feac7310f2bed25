//! Bodies that roll.
//!
//! Rolling ties velocities, not positions: a ball can reach every place in every attitude, though it can only turn. The velocities that are
//! left are minimal coordinates, here the angular velocity; the constraint force never enters the equation of motion, Konz (B.10).

mod contact;
mod rolling;
mod surface;

pub use contact::{Contact, ContactCondition};
pub use rolling::RollingBody;
pub use surface::{Disc, Ellipsoid, Surface, SurfaceError};
