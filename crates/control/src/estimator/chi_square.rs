//! Quantiles of the chi-square distribution, from its closed forms.

use nalgebra::ComplexField;

/// The probability that the sum of `freedom` squared standard normal numbers exceeds `x`.
///
/// ```text
/// even   e^(-x/2) Σ_{i < k/2} (x/2)^i / i!
/// odd    erfc(sqrt(x/2)) + sqrt(2 x/π) e^(-x/2) Σ_{i < (k-1)/2} x^i / (2i + 1)!!
/// ```
///
/// Returns one without degrees of freedom, and if `x` is not positive.
pub fn survival(freedom: usize, x: f64) -> f64 {
    if freedom == 0 || x <= 0.0 {
        return 1.0;
    }
    let odd = freedom % 2 == 1;
    let (tail, first) = if odd {
        let root = ComplexField::sqrt(x * core::f64::consts::FRAC_2_PI);
        (libm::erfc(ComplexField::sqrt(0.5 * x)), root)
    } else {
        (0.0, 1.0)
    };
    // e^(-x/2) enters in parts: with many degrees of freedom it vanishes long before its products with the terms.
    let mut left = 0.5 * x;
    let mut part = || {
        let exponent = left.min(700.0);
        left -= exponent;
        ComplexField::exp(-exponent)
    };
    let (mut term, mut sum) = (first * part(), 0.0);
    for i in 0..freedom / 2 {
        sum += term;
        let i = i as f64;
        term *= x / if odd { 2.0 * i + 3.0 } else { 2.0 * i + 2.0 };
        if sum > 1.0 {
            let part = part();
            (term, sum) = (term * part, sum * part);
        }
    }
    tail + sum * ComplexField::exp(-left)
}

/// The `x` exceeded with probability `1 - confidence`, to the rounding of that, by bisection of [`survival`]: 0 for a confidence that is not positive and without
/// degrees of freedom, infinite from 1 on, NaN for NaN.
///
/// ```
/// use fly_control::estimator::chi_square::quantile;
///
/// // Two degrees of freedom: -2 ln(1 - confidence).
/// assert!((quantile(2, 0.99) + 2.0 * 0.01_f64.ln()).abs() < 1e-12);
/// ```
pub fn quantile(freedom: usize, confidence: f64) -> f64 {
    if confidence.is_nan() {
        return f64::NAN;
    }
    if freedom == 0 || confidence <= 0.0 {
        return 0.0;
    }
    let tail = 1.0 - confidence;
    if tail <= 0.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while survival(freedom, high) > tail {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if survival(freedom, middle) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
