//! Paths: motions of a point with a heading.
//!
//! [`Lissajous`], [`Helix`], [`Waypoints`], [`MinimumSnap`] and [`Sampled`] suit any vehicle; [`VerticalLoop`], [`Flip`] and [`BarrelRoll`] are
//! aerobatic manoeuvres.

mod barrel_roll;
mod flip;
mod helix;
mod lissajous;
mod minimum_snap;
mod sampled;
mod transformed;
mod vertical_loop;
mod waypoints;

pub use barrel_roll::BarrelRoll;
pub use flip::{Flip, FlipAxis};
pub use helix::Helix;
pub use lissajous::Lissajous;
pub use minimum_snap::MinimumSnap;
pub use sampled::Sampled;
pub use transformed::{LeavesSubspace, TransformedPath, WithYaw};
pub use vertical_loop::VerticalLoop;
pub use waypoints::{Waypoint, Waypoints};

use super::jet::{Jet, Jet3};

/// A motion of a point with a heading, differentiable four times.
pub trait Path: Send {
    /// Position and heading at the time `t`, s.
    fn at(&self, t: f64) -> PathPoint;

    /// If the side direction would become singular: the direction that body x should approach as closely as the attitude allows,
    /// with two derivatives, in place of [`PathPoint::side`].
    fn forward(&self, _t: f64) -> Option<Jet3<3>> {
        None
    }

    /// When it comes to its final rest, s; `None` if it never does.
    fn duration(&self) -> Option<f64>;

    /// The time after which nothing new follows: its duration, or a period. For checks before the flight.
    fn horizon(&self) -> f64;
}

/// A point of a [`Path`] with its derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathPoint {
    /// Position in the world, m, with four derivatives.
    pub position: Jet3<5>,
    /// The direction that body y should approach as closely as the attitude allows, with two derivatives; need not have
    /// length 1. When upright, body x is to its right, seen from above.
    pub side: Jet3<3>,
}

impl PathPoint {
    /// Whether all derivatives are finite.
    pub fn is_finite(&self) -> bool {
        self.position.iter().all(Jet::is_finite) && self.side.iter().all(Jet::is_finite)
    }
}

/// The side direction `(-sin psi, cos psi, 0)` of a yaw angle psi.
pub fn side_of_yaw(yaw: Jet<3>) -> Jet3<3> {
    let (s, c) = yaw.sin_cos();
    [-s, c, Jet::constant(0.0)]
}
