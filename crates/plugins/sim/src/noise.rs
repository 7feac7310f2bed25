//! Sensor noise.

use fly_mechanics::measurements::Quantity;
use nalgebra::Vector3;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Standard deviations of the measurements, for each number: m and rad, m/s and rad/s.
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
    /// Those of the first number of a group, and of the others.
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
    /// Of the first number, and of the others.
    deviations: [f64; 2],
    generator: Xoshiro256PlusPlus,
}

impl Noise {
    /// The noise of the group with that index. The generators of the groups are 2^192 numbers apart.
    pub(crate) fn new(deviations: [f64; 2], seed: u64, group: usize) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..group).for_each(|_| generator.long_jump());
        Self {
            deviations,
            generator,
        }
    }

    /// Three independent numbers.
    pub(crate) fn vector(&mut self) -> Vector3<f64> {
        let [first, others] = self.deviations;
        if self.is_none() {
            return Vector3::zeros();
        }
        let ([x, y], [z, _]) = (self.pair(), self.pair());
        Vector3::new(x * first, y * others, z * others)
    }

    /// Two independent numbers.
    pub(crate) fn two(&mut self) -> [f64; 2] {
        if self.is_none() {
            return [0.0; 2];
        }
        let ([a, b], [first, second]) = (self.pair(), self.deviations);
        [a * first, b * second]
    }

    fn is_none(&self) -> bool {
        self.deviations == [0.0; 2]
    }

    /// Two independent normal numbers, by Box and Muller[^1].
    ///
    /// [^1]: G. E. P. Box, M. E. Muller, A note on the generation of random normal deviates, 1958.
    fn pair(&mut self) -> [f64; 2] {
        let (radius, angle) = (
            (-2.0 * self.uniform().ln()).sqrt(),
            std::f64::consts::TAU * self.uniform(),
        );
        let (sin, cos) = angle.sin_cos();
        [radius * cos, radius * sin]
    }

    /// Above 0, up to and including 1, in steps of 2^-53.
    fn uniform(&mut self) -> f64 {
        ((self.generator.next_u64() >> 11) + 1) as f64 * (-53.0_f64).exp2()
    }
}
