//! Power spectral densities by Welch's method.

use std::f64::consts::PI;
use std::ops::Range;

/// Shortest and longest segment of a transform, in samples.
pub const LENGTHS: [usize; 2] = [64, 4096];
/// Duration of a segment, s, which sets the resolution to half a hertz.
const STRETCH: f64 = 2.0;

/// Accumulates the spectrum of one quantity from segments that overlap by half, each without its mean and with a Hann
/// window. A gap begins a new stretch.
///
/// The last segment of a stretch ends with it, overlaps by more, and counts as far as its samples are new. Any weights
/// average to the density of a steady quantity; these give the end of a stretch no more weight than its duration. Where no
/// stretch has a whole segment, segments are as long as the longest power of two that one has.
#[derive(Clone, Debug)]
pub struct Welch {
    rate: f64,
    /// Samples in a whole segment.
    length: usize,
    /// The samples of the present stretch, at the most those of the last segment and half a segment more.
    stretch: Vec<f64>,
    /// Weighted sum over all segments of the longest length so far, for the frequencies from 0 to half the rate.
    sum: Vec<f64>,
    weight: f64,
}

impl Welch {
    /// For samples at this rate, Hz.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and is bounded on the next line"
    )]
    pub fn new(rate: f64) -> Self {
        let samples = (rate * STRETCH).max(1.0) as usize;
        let length = samples.clamp(LENGTHS[0], LENGTHS[1]).next_power_of_two();
        Self {
            rate,
            length: length.min(LENGTHS[1]),
            stretch: Vec::new(),
            sum: Vec::new(),
            weight: 0.0,
        }
    }

    /// Adds the next sample.
    pub fn add(&mut self, sample: f64) {
        if !sample.is_finite() {
            return self.gap();
        }
        self.stretch.push(sample);
        let (known, half) = (self.stretch.len(), self.length / 2);
        if known == self.length {
            self.take(0..known, 1.0);
        } else if known == self.length + half {
            self.take(half..known, 1.0);
            self.stretch.drain(..half);
        }
    }

    /// Ends a stretch: samples are missing.
    pub fn gap(&mut self) {
        let known = self.stretch.len();
        if known >= LENGTHS[0] {
            let length = 1 << known.ilog2().min(self.length.ilog2());
            let half = length / 2;
            if length < self.length {
                for first in (0..=known - length).step_by(half) {
                    self.take(first..first + length, 1.0);
                }
            }
            let new = (known - length) % half;
            if new > 0 {
                self.take(known - length..known, new as f64 / half as f64);
            }
        }
        self.stretch.clear();
    }

    /// Adds a segment of the stretch. Longer ones replace all before.
    fn take(&mut self, segment: Range<usize>, weight: f64) {
        let samples = &self.stretch[segment];
        let length = samples.len();
        if length / 2 + 1 < self.sum.len() {
            return;
        }
        if length / 2 + 1 > self.sum.len() {
            self.sum = vec![0.0; length / 2 + 1];
            self.weight = 0.0;
        }
        // From the first one on: equal samples leave nothing.
        let shift = |sample: &f64| sample - samples[0];
        let mean = samples.iter().map(shift).sum::<f64>() / length as f64;
        let window = |i: usize| 0.5 - 0.5 * (2.0 * PI * i as f64 / length as f64).cos();
        let mut transformed: Vec<[f64; 2]> = (samples.iter().enumerate())
            .map(|(i, sample)| [(shift(sample) - mean) * window(i), 0.0])
            .collect();
        transform(&mut transformed);
        let power: f64 = (0..length).map(|i| window(i).powi(2)).sum();
        for (k, (sum, [re, im])) in self.sum.iter_mut().zip(transformed).enumerate() {
            // One-sided: the negative frequencies are folded onto the positive ones.
            let sides = if k == 0 || k == length / 2 { 1.0 } else { 2.0 };
            *sum += weight * sides * (re * re + im * im) / (self.rate * power);
        }
        self.weight += weight;
    }

    /// Frequencies (Hz) and densities (square of the unit per Hz), without that of the mean. Empty if there are never
    /// 64 samples without a gap that are not all equal.
    pub fn finish(mut self) -> (Vec<f32>, Vec<f32>) {
        self.gap();
        if self.sum.iter().all(|sum| *sum == 0.0) {
            return (Vec::new(), Vec::new());
        }
        #[expect(clippy::cast_possible_truncation, reason = "to single precision")]
        let single = |value: f64| value as f32;
        let length = 2 * (self.sum.len() - 1);
        let frequency = |k: usize| single(k as f64 * self.rate / length as f64);
        let densities = self.sum[1..].iter();
        (
            (1..self.sum.len()).map(frequency).collect(),
            (densities.map(|sum| single(sum / self.weight))).collect(),
        )
    }
}

/// The discrete Fourier transform of a power of two of complex numbers, in place: Cooley and Tukey, decimation in time.
fn transform(values: &mut [[f64; 2]]) {
    let n = values.len();
    for i in 1..n {
        let j = i.reverse_bits() >> (usize::BITS - n.trailing_zeros());
        if i < j {
            values.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        for k in 0..half {
            let (sin, cos) = (-PI * k as f64 / half as f64).sin_cos();
            for even in (k..n).step_by(2 * half) {
                let [re, im] = values[even + half];
                let turned = [re * cos - im * sin, re * sin + im * cos];
                let [re, im] = values[even];
                values[even] = [re + turned[0], im + turned[1]];
                values[even + half] = [re - turned[0], im - turned[1]];
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transform_is_the_sum_that_defines_it() {
        let values: Vec<[f64; 2]> = (0..16)
            .map(|i| [(f64::from(i) * 1.3).sin(), (f64::from(i * i) * 0.7).cos()])
            .collect();
        let mut fast = values.clone();
        transform(&mut fast);
        for (k, found) in fast.iter().enumerate() {
            let mut sum = [0.0; 2];
            for (i, [re, im]) in values.iter().enumerate() {
                let (sin, cos) = (-2.0 * PI * (i * k) as f64 / 16.0).sin_cos();
                sum = [sum[0] + re * cos - im * sin, sum[1] + re * sin + im * cos];
            }
            let error = (found[0] - sum[0]).hypot(found[1] - sum[1]);
            assert!(error < 1e-13, "{k}: {error:e}");
        }
    }

    /// The density of a sine integrates to its mean square and peaks at its frequency.
    #[test]
    fn a_sine_has_its_power_at_its_frequency() {
        let (rate, frequency, amplitude) = (500.0, 31.25, 3.0);
        let mut welch = Welch::new(rate);
        for i in 0..5000 {
            welch.add(7.0 + amplitude * (2.0 * PI * frequency * f64::from(i) / rate).sin());
        }
        let (frequencies, densities) = welch.finish();
        let step = f64::from(frequencies[1] - frequencies[0]);
        let power: f64 = densities.iter().map(|d| f64::from(*d) * step).sum();
        assert!(
            (power / (amplitude * amplitude / 2.0) - 1.0).abs() < 1e-3,
            "{power}"
        );
        let peak = (0..densities.len()).max_by(|&a, &b| densities[a].total_cmp(&densities[b]));
        assert!((f64::from(frequencies[peak.unwrap()]) - frequency).abs() < step);
    }

    /// Uniform noise of variance 1.
    fn noise(seed: u64) -> impl Iterator<Item = f64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        std::iter::repeat_with(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5) * 12_f64.sqrt()
        })
    }

    /// Adds stretches with a gap after each, and returns frequencies and densities.
    fn of_stretches(rate: f64, stretches: &[&[f64]]) -> (Vec<f32>, Vec<f32>) {
        let mut welch = Welch::new(rate);
        for stretch in stretches {
            stretch.iter().for_each(|sample| welch.add(*sample));
            welch.gap();
        }
        welch.finish()
    }

    /// White noise has its variance over half the rate at all frequencies, however many samples are left after the last
    /// whole segment.
    #[test]
    fn noise_has_its_variance_whatever_the_length() {
        let rate = 100.0;
        for count in [256, 257, 300, 383, 500, 1000] {
            let mut power = 0.0;
            for seed in 1..=400 {
                let samples: Vec<f64> = noise(seed).take(count).collect();
                let (frequencies, densities) = of_stretches(rate, &[&samples]);
                assert_eq!(frequencies.len(), 128);
                // Without the lowest ones, which the mean is taken from.
                let inner = densities[2..127].iter().map(|d| f64::from(*d));
                power += inner.sum::<f64>() / 125.0 * rate / 2.0;
            }
            assert!(
                (power / 400.0 - 1.0).abs() < 0.01,
                "{count}: {}",
                power / 400.0
            );
        }
    }

    /// A tone of the last samples alone, in a stretch with a rest beyond its last whole segment, or in one that is shorter
    /// than a segment and not the last.
    #[test]
    fn the_end_of_every_stretch_counts() {
        let tone = |i: usize| (0.5 * PI * i as f64).sin();
        let ends_loud = |count: usize| -> Vec<f64> {
            let sample = |i| if i + 90 < count { 0.0 } else { tone(i) };
            (0..count).map(sample).collect()
        };
        for (length, first, then) in [(256, 356, 0), (256, 356, 40), (128, 200, 150)] {
            let (frequencies, densities) =
                of_stretches(100.0, &[&ends_loud(first), &vec![0.0; then]]);
            assert_eq!(frequencies.len(), length / 2, "{first} {then}");
            let step = 100.0 / length as f64;
            let power: f64 = densities.iter().map(|d| f64::from(*d) * step).sum();
            assert!(power > 0.02, "{first} {then}: {power}");
            let peak = (0..densities.len()).max_by(|&a, &b| densities[a].total_cmp(&densities[b]));
            assert_eq!(frequencies[peak.unwrap()], 25.0);
        }
    }

    #[test]
    fn short_and_broken_stretches_are_used_as_far_as_they_go() {
        let mut short = Welch::new(500.0);
        (0..100).for_each(|i| short.add(f64::from(i % 7)));
        assert_eq!(short.finish().0.len(), 32);
        let mut broken = Welch::new(500.0);
        for i in 0..1000 {
            if i % 50 == 0 {
                broken.gap();
            }
            broken.add(f64::from(i));
        }
        assert!(broken.finish().0.is_empty());
    }
}
