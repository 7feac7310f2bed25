//! Sensor noise.

use fly_mechanics::measurements::Quantity;
use nalgebra::Vector3;

use crate::random::Random;

/// Standard deviations of the measurements, per entry: m and rad, m/s and rad/s.
#[derive(Clone, Copy, Default)]
pub(crate) struct Deviations {
    pub(crate) position: f64,
    pub(crate) attitude: f64,
    pub(crate) velocity: f64,
    pub(crate) angular_velocity: f64,
    pub(crate) joint_position: f64,
    pub(crate) joint_velocity: f64,
}

impl Deviations {
    /// The deviations of a group's first entry and of the others.
    pub(crate) fn of(&self, quantity: Quantity) -> [f64; 2] {
        match quantity {
            Quantity::Joint => [self.joint_position, self.joint_velocity],
            Quantity::Translation => [self.position; 2],
            Quantity::Quaternion => [self.attitude; 2],
            Quantity::Linear => [self.velocity; 2],
            Quantity::Angular => [self.angular_velocity; 2],
        }
    }
}

/// Gaussian noise of one group.
pub(crate) struct Noise {
    /// For the first entry, and for the others.
    deviations: [f64; 2],
    random: Random,
}

impl Noise {
    /// The noise of the group with this index.
    pub(crate) fn new(deviations: [f64; 2], seed: u64, group: usize) -> Self {
        Self {
            deviations,
            random: Random::of_group(seed, group),
        }
    }

    /// Three independent numbers.
    pub(crate) fn vector(&mut self) -> Vector3<f64> {
        let [first, others] = self.deviations;
        if self.is_none() {
            return Vector3::zeros();
        }
        let scale = Vector3::new(first, others, others);
        self.random.vector().component_mul(&scale)
    }

    /// Two independent numbers.
    pub(crate) fn two(&mut self) -> [f64; 2] {
        if self.is_none() {
            return [0.0; 2];
        }
        let ([a, b], [first, second]) = (self.random.pair(), self.deviations);
        [a * first, b * second]
    }

    /// Whether it is always zero.
    pub(crate) fn is_none(&self) -> bool {
        self.deviations == [0.0; 2]
    }
}
