//! Power spectral densities by Welch's method, from every sample of a flight.

use std::f64::consts::PI;

/// Shortest and longest segment of a transform, in samples.
const LENGTHS: [usize; 2] = [64, 4096];
/// Duration of a segment, s, which sets the resolution to half a hertz.
const STRETCH: f64 = 2.0;

/// Accumulates the spectrum of one quantity from segments that overlap by half, each without its mean and with a Hann
/// window. A gap begins a new segment.
#[derive(Clone, Debug)]
pub struct Welch {
    rate: f64,
    length: usize,
    stretch: Vec<f64>,
    /// Sum over all segments, for the frequencies from 0 to half the rate.
    sum: Vec<f64>,
    count: usize,
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
            count: 0,
        }
    }

    /// Adds the next sample.
    pub fn add(&mut self, sample: f64) {
        if !sample.is_finite() {
            return self.gap();
        }
        self.stretch.push(sample);
        if self.stretch.len() == self.length {
            self.take(self.length);
            self.stretch.drain(..self.length / 2);
        }
    }

    /// Marks missing samples.
    pub fn gap(&mut self) {
        self.stretch.clear();
    }

    fn take(&mut self, length: usize) {
        let samples = &self.stretch[..length];
        let mean = samples.iter().sum::<f64>() / length as f64;
        let window = |i: usize| 0.5 - 0.5 * (2.0 * PI * i as f64 / length as f64).cos();
        let mut transformed: Vec<[f64; 2]> = (samples.iter().enumerate())
            .map(|(i, sample)| [(sample - mean) * window(i), 0.0])
            .collect();
        transform(&mut transformed);
        let power: f64 = (0..length).map(|i| window(i).powi(2)).sum();
        self.sum.resize(length / 2 + 1, 0.0);
        for (k, (sum, [re, im])) in self.sum.iter_mut().zip(transformed).enumerate() {
            // One-sided: the negative frequencies are folded onto the positive ones.
            let sides = if k == 0 || k == length / 2 { 1.0 } else { 2.0 };
            *sum += sides * (re * re + im * im) / (self.rate * power);
        }
        self.count += 1;
    }

    /// Frequencies (Hz) and densities (square of the unit per Hz), without that of the mean. Empty if there are never
    /// 64 samples without a gap.
    pub fn finish(mut self) -> (Vec<f32>, Vec<f32>) {
        if self.count == 0 && self.stretch.len() >= LENGTHS[0] {
            // The largest power of two available.
            let length = (self.stretch.len() + 1).next_power_of_two() / 2;
            self.take(length);
        }
        if self.count == 0 {
            return (Vec::new(), Vec::new());
        }
        #[expect(clippy::cast_possible_truncation, reason = "to single precision")]
        let single = |value: f64| value as f32;
        let length = 2 * (self.sum.len() - 1);
        let frequency = |k: usize| single(k as f64 * self.rate / length as f64);
        let densities = self.sum[1..].iter();
        (
            (1..self.sum.len()).map(frequency).collect(),
            (densities.map(|sum| single(sum / self.count as f64))).collect(),
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
