//! Transmission of a sensor's samples to the frames.

use crate::random::Random;

/// Of a time in frames, as products of times and rates are rounded.
const ROUNDING: f64 = 1e-6;
/// Of a time, as frames come at whole nanoseconds, ns.
const ROUNDED: i64 = 2;

/// When a sensor samples, and when its samples arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Timing {
    /// The number of frames per sample, at least 1.
    pub(crate) period: u64,
    /// The least latency of a sample, s.
    pub(crate) delay: f64,
    /// The largest additional latency, s: uniformly distributed.
    pub(crate) jitter: f64,
    /// The fraction of lost samples.
    pub(crate) dropout: f64,
}

impl Timing {
    /// Every frame, without latency.
    pub(crate) const IDEAL: Self = Self {
        period: 1,
        delay: 0.0,
        jitter: 0.0,
        dropout: 0.0,
    };
}

/// Samples in transit. A frame has room for one: of those that have arrived the newest counts, and one that was overtaken is lost, so that stamps
/// never decrease.
pub(crate) struct Link {
    timing: Timing,
    random: Random,
    slots: Vec<Option<Sample>>,
    /// The values of each slot.
    values: Vec<f64>,
    dim: usize,
    /// The stamp of the newest sample that has arrived, ns.
    newest: i64,
    /// The next one arrives at most this long after that stamp, ns, unless it is lost.
    longest: i64,
    count: Count,
}

/// Statistics of the samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) sent: u64,
    pub(crate) dropped: u64,
    pub(crate) overtaken: u64,
}

/// A sample in transit, times in ns.
#[derive(Clone, Copy)]
struct Sample {
    stamp: i64,
    arrival: i64,
    valid: bool,
}

/// A sample that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// When it was measured, ns.
    pub(crate) stamp: i64,
    /// Whether the sensor had something to measure.
    pub(crate) valid: bool,
}

impl Link {
    /// For samples with this number of values, for frames at this rate, Hz.
    pub(crate) fn new(timing: Timing, dim: usize, rate_hz: f64, random: Random) -> Self {
        let longest = (timing.delay + timing.jitter) * rate_hz / timing.period as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // limited by the settings
        let capacity = longest.ceil() as usize + 2;
        // A sample appears in the first frame at or after its arrival.
        let frames = ((timing.delay + timing.jitter) * rate_hz - ROUNDING).ceil();
        #[expect(clippy::cast_possible_truncation)] // limited by the settings
        let longest = (1e9 * (timing.period as f64 + frames) / rate_hz).round() as i64;
        Self {
            timing,
            longest,
            random,
            slots: vec![None; capacity],
            values: vec![0.0; capacity * dim],
            dim,
            newest: i64::MIN,
            count: Count::default(),
        }
    }

    /// Whether the sensor samples at this frame.
    pub(crate) fn is_due(&self, frame: u64) -> bool {
        frame.is_multiple_of(self.timing.period)
    }

    /// The number of frames per sample.
    pub(crate) fn period(&self) -> u64 {
        self.timing.period
    }

    /// Whether a sample should have arrived by now that has not: the first one, or the next one after the newest.
    pub(crate) fn is_overdue(&self, time: i64) -> bool {
        let age = time.saturating_sub(self.newest);
        self.newest == i64::MIN || age > self.longest - ROUNDED
    }

    /// Sends a sample measured at `stamp`.
    pub(crate) fn send(&mut self, stamp: i64, values: &[f64], valid: bool) {
        self.count.sent += 1;
        let (mut late, mut is_dropped) = (self.timing.delay, false);
        if self.timing.jitter > 0.0 || self.timing.dropout > 0.0 {
            // Both are always drawn, so that they are independent of each other.
            late += self.timing.jitter * self.random.uniform();
            is_dropped = self.random.uniform() <= self.timing.dropout;
        }
        let free = self.slots.iter().position(Option::is_none);
        let Some(slot) = free.filter(|_| !is_dropped) else {
            self.count.dropped += 1;
            return;
        };
        self.values[slot * self.dim..][..self.dim].copy_from_slice(values);
        #[expect(clippy::cast_possible_truncation)] // limited by the settings
        let arrival = stamp + (late * 1e9).round() as i64;
        self.slots[slot] = Some(Sample {
            stamp,
            arrival,
            valid,
        });
    }

    /// Receives what has arrived by now; of several samples the newest.
    pub(crate) fn receive(&mut self, time: i64, values: &mut [f64]) -> Option<Arrival> {
        let mut found = None;
        for (slot, place) in self.slots.iter_mut().enumerate() {
            let Some(sample) = place.take_if(|sample| sample.arrival <= time) else {
                continue;
            };
            if sample.stamp <= self.newest {
                self.count.overtaken += 1;
                continue;
            }
            self.count.overtaken += u64::from(found.is_some());
            self.newest = sample.stamp;
            values.copy_from_slice(&self.values[slot * self.dim..][..self.dim]);
            let Sample { stamp, valid, .. } = sample;
            found = Some(Arrival { stamp, valid });
        }
        found
    }

    /// The statistics of the samples so far.
    pub(crate) fn count(&self) -> Count {
        self.count
    }
}
