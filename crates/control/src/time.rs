//! Times, ns, and durations, s.

/// A time in seconds.
pub(crate) fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 * 1e-9
}

/// A duration in nanoseconds, rounded.
#[cfg(feature = "systems")]
#[allow(clippy::cast_possible_truncation)] // saturates
pub(crate) fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

/// A duration in nanoseconds, rounded up.
#[allow(clippy::cast_possible_truncation)] // saturates
pub(crate) fn nanoseconds_up(seconds: f64) -> i64 {
    nalgebra::ComplexField::ceil(seconds * 1e9) as i64
}
