//! The mounting of a sensor.

use fly_lie::operators::{angular, linear};
use fly_lie::{SE3, SO3};
use nalgebra::{Vector3, Vector6};

/// Position and orientation of a sensor on the tracked body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mounting {
    /// m, body.
    pub(crate) arm: Vector3<f64>,
    /// Body from sensor: an unknown error alone.
    pub(crate) misalignment: SO3<f64>,
}

impl Mounting {
    /// World, m.
    pub(crate) fn position(&self, pose: &SE3<f64>) -> Vector3<f64> {
        pose.act(&self.arm)
    }

    /// World from sensor.
    pub(crate) fn attitude(&self, pose: &SE3<f64>) -> SO3<f64> {
        pose.rotation * self.misalignment
    }

    /// World, m/s.
    pub(crate) fn velocity(&self, pose: &SE3<f64>, twist: &Vector6<f64>) -> Vector3<f64> {
        let velocity = linear(twist) + angular(twist).cross(&self.arm);
        pose.rotation.act(&velocity)
    }
}
