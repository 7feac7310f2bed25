//! Times in nanoseconds and in seconds.

/// Converts nanoseconds to seconds.
pub(crate) fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 * 1e-9
}

/// Converts seconds to nanoseconds.
#[allow(clippy::cast_possible_truncation)] // saturates
pub(crate) fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}
