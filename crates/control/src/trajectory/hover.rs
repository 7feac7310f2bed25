//! Standing still.

use fly_lie::SE3;

use super::{ReferencePoint, Trajectory};

/// A pose that never changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hover {
    pose: SE3<f64>,
}

impl Hover {
    /// At this pose. An underactuated vehicle can only stand upright.
    pub fn new(pose: SE3<f64>) -> Self {
        Self { pose }
    }
}

impl Trajectory for Hover {
    fn at(&mut self, _t: f64) -> ReferencePoint {
        ReferencePoint::at_rest(self.pose)
    }

    fn duration(&self) -> Option<f64> {
        None
    }
}
