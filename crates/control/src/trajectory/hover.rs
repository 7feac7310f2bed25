//! At rest at one pose.

use fly_lie::SE3;

use super::{Infeasible, Trajectory};
use crate::ReferencePoint;

/// A pose that never changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hover {
    pose: SE3<f64>,
}

impl Hover {
    /// At this pose. An underactuated vehicle can only hover upright.
    pub fn new(pose: SE3<f64>) -> Self {
        Self { pose }
    }
}

impl Trajectory for Hover {
    fn at(&mut self, t: f64, point: &mut ReferencePoint) -> Result<(), Infeasible> {
        Infeasible::replace(t, point, ReferencePoint::at_rest(self.pose))
    }

    fn duration(&self) -> Option<f64> {
        None
    }
}
