//! Random numbers, from the flight's seed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of independent numbers with the standard normal distribution. Streams of the same seed do not overlap.
pub(crate) struct Normal {
    generator: Xoshiro256PlusPlus,
}

impl Normal {
    /// The stream of the group of measurements with that index. Those of the groups are 2^192 numbers apart.
    pub(crate) fn of_group(seed: u64, group: usize) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..group).for_each(|_| generator.long_jump());
        Self { generator }
    }

    /// The stream of the turbulence: 2^128 numbers behind that of the first group, however many there are.
    pub(crate) fn of_turbulence(seed: u64) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        generator.jump();
        Self { generator }
    }

    /// Two independent normal numbers, by Box and Muller[^1].
    ///
    /// [^1]: G. E. P. Box, M. E. Muller, A note on the generation of random normal deviates, 1958.
    pub(crate) fn pair(&mut self) -> [f64; 2] {
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
