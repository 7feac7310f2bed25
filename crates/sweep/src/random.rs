//! Random numbers that depend only on the campaign's seed, the flight's index and the varied key.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// The random numbers of one key in one flight. They differ for every key, flight and seed, and are independent of
/// threads and shards.
#[derive(Debug)]
pub(crate) struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `key` in the flight of this index.
    pub fn new(seed: u64, index: u64, key: &str) -> Self {
        // Each step is a bijection of the previous number, so no two flights of a key share a stream.
        let mixed = mix(mix(mix(seed) ^ fnv(key)) ^ index);
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// Uniform in [0, 1), in steps of 2^-53.
    pub fn uniform(&mut self) -> f64 {
        self.bits53() as f64 * (-53.0_f64).exp2()
    }

    /// 53 random bits, which every program's numbers hold exactly.
    pub fn bits53(&mut self) -> u64 {
        self.0.next_u64() >> 11
    }

    /// Uniform below `count`: the few numbers at the end that would favour small values are drawn again.
    pub fn below(&mut self, count: u64) -> u64 {
        let end = u64::MAX - u64::MAX % count;
        loop {
            let number = self.0.next_u64();
            if number < end {
                return number % count;
            }
        }
    }

    /// Standard normal, by Box and Muller (A note on the generation of random normal deviates, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A direction, uniform on the sphere.
    pub fn direction(&mut self) -> [f64; 3] {
        let z = 2.0 * self.uniform() - 1.0;
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        let across = (1.0 - z * z).sqrt();
        [across * cos, across * sin, z]
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014).
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The hash of Fowler, Noll and Vo, 1a, 64 bits.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published test vectors: FNV-1a of "foobar"; SplitMix64's first number from the seed 0.
    #[test]
    fn hashes_are_the_published_ones() {
        assert_eq!(fnv("foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn streams_depend_on_seed_index_and_key() {
        let first = |seed, index, key| Stream::new(seed, index, key).bits53();
        let base = first(1, 2, "a");
        assert_eq!(base, first(1, 2, "a"));
        assert!(
            [first(2, 2, "a"), first(1, 3, "a"), first(1, 2, "b")]
                .iter()
                .all(|other| *other != base)
        );
    }

    /// Of consecutive flights: means and variances within five standard errors of the closed forms.
    #[test]
    fn consecutive_flights_are_independent_draws() {
        const COUNT: u64 = 40_000;
        let check =
            |name: &str, mean: f64, variance: f64, fourth: f64, draw: &dyn Fn(u64) -> f64| {
                let values: Vec<f64> = (0..COUNT).map(draw).collect();
                let count = COUNT as f64;
                let found = values.iter().sum::<f64>() / count;
                let spread = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
                assert!(
                    (found - mean).abs() < 5.0 * (variance / count).sqrt(),
                    "{name}: {found}"
                );
                let error = ((fourth - variance * variance) / count).sqrt();
                assert!((spread - variance).abs() < 5.0 * error, "{name}: {spread}");
                let next: f64 = values
                    .windows(2)
                    .map(|w| (w[0] - mean) * (w[1] - mean))
                    .sum();
                assert!(
                    (next / count).abs() < 5.0 * variance / count.sqrt(),
                    "{name}: correlated"
                );
            };
        check("uniform", 0.5, 1.0 / 12.0, 1.0 / 80.0, &|i| {
            Stream::new(7, i, "u").uniform()
        });
        check("normal", 0.0, 1.0, 3.0, &|i| {
            Stream::new(7, i, "n").normal()
        });
        for axis in 0..3 {
            check("direction", 0.0, 1.0 / 3.0, 1.0 / 5.0, &|i| {
                Stream::new(7, i, "d").direction()[axis]
            });
        }
    }

    #[test]
    fn whole_numbers_are_all_reached() {
        let mut counts = [0; 6];
        for index in 0..6000 {
            counts[usize::try_from(Stream::new(3, index, "i").below(6)).unwrap()] += 1;
        }
        // Five standard deviations of a binomial count: sqrt(6000 / 6 * 5 / 6) = 29.
        assert!(
            counts.iter().all(|count| (855..1145).contains(count)),
            "{counts:?}"
        );
    }
}
