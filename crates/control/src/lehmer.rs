//! Lehmer's generator.

/// Numbers between -1 and 1, the same on every machine: Lehmer's generator.
pub(crate) struct Lehmer(pub u64);

impl Lehmer {
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0 * 48_271 % 2_147_483_647;
        self.0 as f64 / 1_073_741_823.5 - 1.0
    }
}
