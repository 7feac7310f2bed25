//! How a reference is looked at in advance.

use crate::config::Configuration;

/// How finely, s.
const SAMPLE: f64 = 0.01;
/// How much of a reference that goes on for ever, s.
const HORIZON: f64 = 60.0;
/// At most this many samples, however long the flight.
const SAMPLES: f64 = 5000.0;

/// How long the flight is, s, and the instants at which its reference is looked at; `of_reference` is when that has come to rest.
pub(super) fn instants(
    configuration: &Configuration,
    of_reference: Option<f64>,
) -> (f64, impl Iterator<Item = f64>) {
    let configured = configuration.flight.duration;
    let end = configured.or(of_reference).unwrap_or(HORIZON);
    let step = SAMPLE.max(end / SAMPLES);
    let all = (0u32..).map(move |index| f64::from(index) * step);
    (end, all.take_while(move |time| *time <= end))
}

/// The worst that was met and when.
#[derive(Clone, Copy)]
pub(super) struct Worst {
    pub(super) value: f64,
    pub(super) time: f64,
}

impl Worst {
    pub(super) const NONE: Self = Self {
        value: f64::NEG_INFINITY,
        time: 0.0,
    };

    pub(super) fn meet(&mut self, value: f64, time: f64) {
        // A NaN is worse than anything.
        if value > self.value || value.is_nan() {
            *self = Self { value, time };
        }
    }
}
