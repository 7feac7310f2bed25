//! Samples a reference before the flight.

use crate::config::Configuration;

/// Sampling interval, s.
const SAMPLE: f64 = 0.01;
/// Horizon of a flight without an end, s.
const HORIZON: f64 = 60.0;
/// Longest part of any flight that is sampled, s.
const LONGEST: f64 = 600.0;

/// The part of the reference to be sampled, in words, and its instants; `of_reference` is when it comes to rest.
pub(super) fn instants(
    configuration: &Configuration,
    of_reference: Option<f64>,
) -> (String, impl Iterator<Item = f64>) {
    let configured = configuration.flight.duration;
    let whole = match (configured, of_reference) {
        // A reference at rest needs no further samples.
        (Some(flight), Some(reference)) => Some(flight.min(reference + SAMPLE)),
        (flight, reference) => flight.or(reference),
    };
    let end = whole.unwrap_or(HORIZON).min(LONGEST);
    // Rounded to milliseconds, but a positive time is never shown as 0.
    let shown = |time: f64| {
        if time < 1e-3 {
            time
        } else {
            (time * 1e3).round() / 1e3
        }
    };
    let looked_at = match configured.or(of_reference) {
        Some(flight) if end < flight => match of_reference.filter(|rest| *rest <= end) {
            Some(rest) => format!("{} s checked, then at rest", shown(rest)),
            None => {
                format!("the first {} s of {} s checked", shown(end), shown(flight))
            }
        },
        Some(flight) => format!("{} s checked", shown(flight)),
        None => format!("the first {} s checked", shown(end)),
    };
    let all = (0u32..).map(|index| f64::from(index) * SAMPLE);
    (looked_at, all.take_while(move |time| *time <= end))
}

/// The worst value so far, and its time.
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
