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
    let (mut term, mut sum) = (1.0, 0.0);
    for i in 0..freedom / 2 {
        sum += term;
        let i = i as f64;
        term *= if odd {
            x / (2.0 * i + 3.0)
        } else {
            x / (2.0 * i + 2.0)
        };
    }
    let decay = ComplexField::exp(-0.5 * x);
    if odd {
        let root = ComplexField::sqrt(x * core::f64::consts::FRAC_2_PI);
        libm::erfc(ComplexField::sqrt(0.5 * x)) + root * decay * sum
    } else {
        decay * sum
    }
}

/// The `x` exceeded with probability `1 - confidence`, to rounding, by bisection of [`survival`].
///
/// ```
/// use fly_control::estimator::chi_square::quantile;
///
/// // Two degrees of freedom: -2 ln(1 - confidence).
/// assert!((quantile(2, 0.99) + 2.0 * 0.01_f64.ln()).abs() < 1e-12);
/// ```
pub fn quantile(freedom: usize, confidence: f64) -> f64 {
    let tail = 1.0 - confidence;
    let (mut low, mut high) = (0.0, 1.0);
    while survival(freedom, high) > tail && high < 1e6 {
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
