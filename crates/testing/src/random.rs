//! Random numbers.

use nalgebra::{Vector3, Vector6};

/// Marsaglia's xorshift: the same numbers on every run and machine.
///
/// ```
/// let mut random = fly_testing::Random::new(7);
/// let (number, index) = (random.number(), random.below(5));
/// assert!((-1.0..1.0).contains(&number) && index < 5);
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers for this seed.
    ///
    /// # Panics
    /// The seed is 0, which gives nothing but zeros.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        assert!(seed != 0, "a seed of 0");
        Self(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A random byte.
    pub fn byte(&mut self) -> u8 {
        self.bits().to_le_bytes()[3]
    }

    /// Uniform in 0..`end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    /// Uniform among the indices of `length` elements.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the remainder is below a usize"
    )]
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Uniform in [-1, 1).
    #[expect(
        clippy::cast_precision_loss,
        reason = "53 bits are exact, as is the power of two"
    )]
    pub fn number(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Three numbers up to `size`.
    pub fn vector3(&mut self, size: f64) -> Vector3<f64> {
        Vector3::from_fn(|_, _| self.number()) * size
    }

    /// Six numbers up to `size`.
    pub fn vector6(&mut self, size: f64) -> Vector6<f64> {
        Vector6::from_fn(|_, _| self.number()) * size
    }
}
