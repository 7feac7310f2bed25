//! Histogram of durations in constant memory: percentiles without storing every sample.

use std::fmt::Write as _;

/// Sub-buckets per power of two: the relative error of a reading is at most `1 / (2 * 128)`.
const SUB_BUCKETS: u64 = 1 << SUB_BITS;
const SUB_BITS: u32 = 7;
/// Samples of 2^40 ns (18 minutes) and more share the last bucket.
const TOP_BITS: u32 = 40;
const BUCKETS: usize = ((TOP_BITS - SUB_BITS + 1) as usize) << SUB_BITS;

/// Counts of durations in nanoseconds, in logarithmic buckets with linear sub-buckets.
///
/// Durations below 128 ns are exact; longer ones are known to 0.4 %. The largest is exact. [`Histogram::record`] never
/// allocates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64]>,
    total: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS].into_boxed_slice(),
            total: 0,
            max: 0,
        }
    }
}

impl Histogram {
    /// Counts one duration in nanoseconds.
    pub fn record(&mut self, nanoseconds: u64) {
        self.counts[bucket(nanoseconds)] += 1;
        self.total += 1;
        self.max = self.max.max(nanoseconds);
    }

    /// The number of durations counted.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The longest duration in nanoseconds, exact; 0 without values.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The duration in nanoseconds that a `fraction` (0 to 1) of all counted durations does not exceed; `None` without
    /// values.
    pub fn percentile(&self, fraction: f64) -> Option<u64> {
        if self.total == 0 {
            return None;
        }
        // Nearest-rank definition: the smallest sample with at least `fraction` of all samples at or below it.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let rank = ((fraction.clamp(0.0, 1.0) * self.total as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Some(middle(index).min(self.max));
            }
        }
        Some(self.max)
    }

    /// The non-empty buckets, shortest durations first: the middle of each in nanoseconds, and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.counts.iter().enumerate();
        counts
            .filter(|(_, count)| **count > 0)
            .map(|(index, count)| (middle(index), *count))
    }

    /// As text: the longest duration, then `MIDDLE:COUNT` for each [bucket](Self::buckets), separated by spaces.
    pub(crate) fn to_text(&self) -> String {
        let mut text = self.max.to_string();
        for (middle, count) in self.buckets() {
            // Writing to a string cannot fail.
            let _ = write!(text, " {middle}:{count}");
        }
        text
    }

    /// The inverse of [`to_text`](Self::to_text); `None` for another text.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let mut histogram = Self {
            max: words.next()?.parse().ok()?,
            ..Self::default()
        };
        for word in words {
            let (middle, count) = word.split_once(':')?;
            let count = count.parse().ok()?;
            histogram.counts[bucket(middle.parse().ok()?)] = count;
            histogram.total = histogram.total.checked_add(count)?;
        }
        Some(histogram)
    }
}

/// The bucket of a duration: below `SUB_BUCKETS` one each, then `SUB_BUCKETS` for every power of two.
fn bucket(nanoseconds: u64) -> usize {
    let value = nanoseconds.min((1 << TOP_BITS) - 1);
    // In octave 0 the value is its own index; above it, the leading SUB_BITS + 1 bits select octave and sub-bucket.
    let octave = value.checked_ilog2().unwrap_or(0).saturating_sub(SUB_BITS);
    let index = u64::from(octave) * SUB_BUCKETS + (value >> octave);
    usize::try_from(index).map_or(BUCKETS - 1, |index| index.min(BUCKETS - 1))
}

/// The duration in the middle of a bucket; the inverse of [`bucket`].
fn middle(index: usize) -> u64 {
    let index = index as u64;
    if index < 2 * SUB_BUCKETS {
        return index;
    }
    let octave = index / SUB_BUCKETS - 1;
    let leading = index - octave * SUB_BUCKETS;
    (leading << octave) + (1 << octave) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use fly_testing::Random;

    #[test]
    fn buckets_cover_the_range_without_a_gap() {
        let mut last = 0;
        for value in 0..100_000 {
            let index = bucket(value);
            assert!(
                index == last || index == last + 1,
                "{value} ns falls in bucket {index} after {last}"
            );
            last = index;
        }
        assert_eq!(bucket((1 << TOP_BITS) - 1), BUCKETS - 1);
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn the_middle_of_a_bucket_is_within_half_a_bucket() {
        for exponent in 0..4000 {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let value = 1.007_f64.powi(exponent).min(1e12) as u64;
            let error = middle(bucket(value)).abs_diff(value) as f64;
            assert!(
                error <= value as f64 / 256.0 + 0.5,
                "{value} ns reads as {} ns",
                middle(bucket(value))
            );
        }
    }

    #[test]
    fn percentiles_agree_with_sorted_samples() {
        // A long-tailed sample.
        let mut random = Random::new(12_345);
        let mut samples: Vec<u64> = (0..20_000)
            .map(|_| {
                let uniform = 0.5 * (random.number() + 1.0);
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let sample = (2000.0 / (1.0 - 0.9999 * uniform)) as u64;
                sample
            })
            .collect();
        let mut histogram = Histogram::default();
        for sample in &samples {
            histogram.record(*sample);
        }
        samples.sort_unstable();
        for (fraction, rank) in [(0.5, 9_999), (0.99, 19_799), (0.999, 19_979)] {
            let exact = samples[rank] as f64;
            let read = histogram
                .percentile(fraction)
                .expect("samples were counted") as f64;
            assert!(
                (read - exact).abs() <= exact / 200.0,
                "{fraction}: {read} against {exact}"
            );
        }
        assert_eq!(histogram.max(), samples[19_999]);
        assert_eq!(
            histogram
                .percentile(1.0)
                .map(|p| p.abs_diff(samples[19_999]) as f64 <= samples[19_999] as f64 / 256.0),
            Some(true)
        );
    }

    #[test]
    fn an_empty_histogram_has_no_percentile() {
        assert_eq!(Histogram::default().percentile(0.5), None);
    }

    #[test]
    fn a_histogram_is_read_as_it_was_written() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.to_text(), "0");
        for exponent in 0..60 {
            histogram.record(3_u64.saturating_pow(exponent));
            histogram.record(3_u64.saturating_pow(exponent));
        }
        let text = histogram.to_text();
        assert_eq!(Histogram::from_text(&text), Some(histogram));
        assert_eq!(Histogram::from_text("0"), Some(Histogram::default()));
        let too_many = format!("9 1:{} 2:1", u64::MAX);
        for damaged in ["", "x", "9 1", "9 1:-1", "9 1:1:1", "-1", &too_many] {
            assert_eq!(Histogram::from_text(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn one_sample_is_every_percentile() {
        let mut histogram = Histogram::default();
        histogram.record(77);
        for fraction in [0.0, 0.5, 0.99, 1.0] {
            assert_eq!(histogram.percentile(fraction), Some(77));
        }
    }
}
