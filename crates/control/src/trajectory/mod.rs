//! References: where the vehicle should be at any time, with the velocity and acceleration that belong to it.
//!
//! A [`Path`] is a motion of the centre of mass with a heading, with all the derivatives that a reference needs. [`Along`]
//! turns it into the pose, twist and acceleration of the body: upright, or tilted so that the thrust of an
//! underactuated vehicle makes the motion ([`flat`], Konz 5.5.3). [`Independent`] moves position and attitude on their own,
//! as only a fully actuated vehicle can. [`Helix`], [`VerticalLoop`], [`Flip`] and [`BarrelRoll`] are manoeuvres in closed form,
//! [`MinimumSnap`] passes through points without stopping, [`Sampled`] through the rows of a file. [`Recorded`] follows
//! setpoints that arrive from outside.

mod along;
mod barrel_roll;
mod carried;
mod exact;
pub mod flat;
mod flip;
mod helix;
mod hover;
mod independent;
pub mod jet;
mod line;
mod lissajous;
mod minimum_snap;
mod moved;
mod path;
mod recorded;
mod sampled;
mod smooth;
mod table;
mod vertical_loop;
mod waypoints;

pub use along::{Along, Posture, Singular};
pub use barrel_roll::BarrelRoll;
pub use carried::Carried;
pub use flip::{Flip, FlipAxis};
pub use helix::Helix;
pub use hover::Hover;
pub use independent::Independent;
pub(crate) use independent::roll_pitch_yaw;
pub use line::Line;
pub use lissajous::Lissajous;
pub use minimum_snap::MinimumSnap;
pub use moved::{Headed, Moved};
pub use path::{Path, PathPoint};
pub use recorded::{Recorded, Setpoint};
pub use sampled::Sampled;
pub use smooth::{PEAK_SPEED, peak_acceleration, shortest_duration, smooth, smooth_integral};
pub use table::{SampleError, Table};
pub use vertical_loop::VerticalLoop;
pub use waypoints::{Waypoint, Waypoints};

pub use crate::template::ReferencePoint;

/// A reference over time.
pub trait Trajectory: Send {
    /// The reference at the time `t` (s) since the flight's start. No allocation; always finite.
    fn at(&mut self, t: f64) -> ReferencePoint;

    /// When it has come to its final rest, s; `None` if it goes on for ever or is not known in advance.
    fn duration(&self) -> Option<f64>;
}
