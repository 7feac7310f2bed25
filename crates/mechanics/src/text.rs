//! Numbers in messages.

use nalgebra::RealField;

/// A computed number with six significant digits, without the noise of its rounding: 0.01, not 0.009999999999999988.
pub(crate) fn short<T: RealField + Copy>(x: T) -> f64 {
    let x: f64 = x.to_subset_unchecked();
    format!("{x:.5e}").parse().unwrap_or(x)
}
