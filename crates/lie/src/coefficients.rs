//! The scalar functions of the angle that the exponential and its derivatives are made of.
//!
//! Every one of them is analytic in `t2 = theta^2`, so that it is written as a function of `t2`: below a stated angle by
//! its Taylor series, which loses nothing to cancellation and lets dual numbers pass through zero (`sqrt` would not), and above it in closed form.

use nalgebra::{RealField, convert};

/// Below this `theta^2` the series of [`Coefficients`] is used. There both branches are exact to rounding; the first omitted
/// term is below 1e-20.
const SERIES_BELOW: f64 = 4.0;

/// Below this `theta^2` the series of [`InverseCoefficients`] is used, whose terms fall by `(2π)²`.
const INVERSE_SERIES_BELOW: f64 = 1.0;

/// Coefficients of the left Jacobian `I + b W + c W²` of SO(3), of the exponential `I + a W + b W²`,
/// and twice the derivatives of `b` and `c` with respect to `theta^2`, which SE(3) needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coefficients<T> {
    /// `sin θ / θ`
    pub a: T,
    /// `(1 - cos θ) / θ²`
    pub b: T,
    /// `(θ - sin θ) / θ³`
    pub c: T,
    /// `2 db/dθ² = (a - 2 b) / θ²`
    pub db: T,
    /// `2 dc/dθ² = (b - 3 c) / θ²`
    pub dc: T,
}

impl<T: RealField + Copy> Coefficients<T> {
    /// The coefficients at the squared angle `t2`.
    pub fn new(t2: T) -> Self {
        if t2 < convert(SERIES_BELOW) {
            Self::series(t2)
        } else {
            Self::closed(t2)
        }
    }

    fn series(t2: T) -> Self {
        Self {
            a: polynomial(t2, &A),
            b: polynomial(t2, &B),
            c: polynomial(t2, &C),
            db: polynomial(t2, &DB),
            dc: polynomial(t2, &DC),
        }
    }

    fn closed(t2: T) -> Self {
        let two: T = convert(2.0);
        let three: T = convert(3.0);
        let t = t2.sqrt();
        let (s, k) = (t / two).sin_cos();
        let a = two * s * k / t;
        // Half-angle form: 1 - cos θ would lose digits.
        let b = two * s * s / t2;
        let c = (T::one() - a) / t2;
        Self {
            a,
            b,
            c,
            db: (a - two * b) / t2,
            dc: (b - three * c) / t2,
        }
    }
}

/// Coefficients of the inverse left Jacobian `I - W/2 + d W²` of SO(3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct InverseCoefficients<T> {
    /// `(1 - (θ/2) cot(θ/2)) / θ²`; the other common form, `1/θ² - (1 + cos θ)/(2 θ sin θ)`, loses half the digits near π.
    pub d: T,
    /// `2 dd/dθ²`
    pub dd: T,
}

impl<T: RealField + Copy> InverseCoefficients<T> {
    /// The coefficients at the squared angle `t2`; they have a pole at `θ = 2π`.
    pub fn new(t2: T) -> Self {
        if t2 < convert(INVERSE_SERIES_BELOW) {
            Self {
                d: polynomial(t2, &D),
                dd: polynomial(t2, &DD),
            }
        } else {
            Self::closed(t2)
        }
    }

    fn closed(t2: T) -> Self {
        let half: T = convert(0.5);
        let quarter: T = convert(0.25);
        let two: T = convert(2.0);
        let (s, k) = (t2.sqrt() * half).sin_cos();
        let g = t2.sqrt() * half * k / s;
        let d = (T::one() - g) / t2;
        // dg/dθ² = g/(2 θ²) - 1/(8 sin²(θ/2)), and 2 dd/dθ² = -2 (dg/dθ² + d)/θ².
        let dd = (quarter / (s * s) - g / t2 - two * d) / t2;
        Self { d, dd }
    }
}

/// `2 atan2(s, w) / s` with `s2 = s^2` and `w >= 0`: the factor from a quaternion's vector part to a rotation vector.
///
/// The quaternion need not be normalised: with one of norm `n` the factor comes out divided by `n`.
pub(crate) fn log_factor<T: RealField + Copy>(s2: T, w: T) -> T {
    let two: T = convert(2.0);
    if s2 < w * w * convert(ATAN_SERIES_BELOW) {
        two / w * polynomial(s2 / (w * w), &ATAN)
    } else {
        let s = s2.sqrt();
        two * s.atan2(w) / s
    }
}

/// Below this `tan²(θ/2)` the arc tangent's series is used.
const ATAN_SERIES_BELOW: f64 = 0.01;

/// Horner's scheme; the coefficient of the lowest power first.
fn polynomial<T: RealField + Copy, const N: usize>(x: T, coefficients: &[f64; N]) -> T {
    let mut sum = T::zero();
    for &c in coefficients.iter().rev() {
        sum = sum * x + convert(c);
    }
    sum
}

/// Terms of each series: enough for double precision below [`SERIES_BELOW`].
const TERMS: usize = 14;

const A: [f64; TERMS] = alternating(1, false);
const B: [f64; TERMS] = alternating(2, false);
const C: [f64; TERMS] = alternating(3, false);
const DB: [f64; TERMS] = alternating(4, true);
const DC: [f64; TERMS] = alternating(5, true);

/// `(-1)^k / (2k + first)!`, or its derivative's `-2 (-1)^k (k + 1) / (2k + first)!`.
const fn alternating(first: u32, derivative: bool) -> [f64; TERMS] {
    let mut coefficients = [0.0; TERMS];
    let (mut k, mut sign, mut n) = (0, 1.0, first);
    while k < TERMS {
        let factor = if derivative {
            -2.0 * (k as f64 + 1.0)
        } else {
            1.0
        };
        coefficients[k] = sign * factor / factorial(n);
        (k, sign, n) = (k + 1, -sign, n + 2);
    }
    coefficients
}

const fn factorial(n: u32) -> f64 {
    let mut product = 1.0;
    let mut i = 2;
    while i <= n {
        product *= i as f64;
        i += 1;
    }
    product
}

/// `|B_2k| / (2k)!`, k = 1, 2, …: the series of `(1 - (θ/2) cot(θ/2)) / θ²`; the ratio of its terms tends to `1/(2π)²`.
const D: [f64; 12] = [
    1.0 / 12.0,
    1.0 / 720.0,
    1.0 / 30_240.0,
    1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
    3617.0 / 10_670_622_842_880_000.0,
    43_867.0 / 5_109_094_217_170_944_000.0,
    174_611.0 / 802_857_662_698_291_200_000.0,
    77_683.0 / 14_101_100_039_391_805_440_000.0,
    236_364_091.0 / 1_693_824_136_731_743_669_452_800_000.0,
];

/// Twice the derivative of [`D`].
const DD: [f64; 11] = {
    let mut coefficients = [0.0; 11];
    let mut k = 0;
    while k < 11 {
        coefficients[k] = 2.0 * (k as f64 + 1.0) * D[k + 1];
        k += 1;
    }
    coefficients
};

/// `(-1)^k / (2k + 1)`: the series of `atan(x)/x` in `x²`.
const ATAN: [f64; 9] = {
    let mut coefficients = [0.0; 9];
    let mut k = 0;
    while k < 9 {
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        coefficients[k] = sign / (2.0 * k as f64 + 1.0);
        k += 1;
    }
    coefficients
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The series and the closed form agree on both sides of the threshold.
    #[test]
    fn branches_agree_across_the_threshold() {
        for i in 0..=20 {
            let t2 = SERIES_BELOW * (0.9 + 0.01 * f64::from(i));
            let (s, c) = (Coefficients::series(t2), Coefficients::closed(t2));
            for (s, c) in [
                (s.a, c.a),
                (s.b, c.b),
                (s.c, c.c),
                (s.db, c.db),
                (s.dc, c.dc),
            ] {
                assert!((s - c).abs() < 5e-16, "{t2}: {s} {c}");
            }
            let t2 = INVERSE_SERIES_BELOW * (0.9 + 0.01 * f64::from(i));
            let c = InverseCoefficients::closed(t2);
            assert!((polynomial(t2, &D) - c.d).abs() < 5e-16, "{t2}");
            assert!((polynomial(t2, &DD) - c.dd).abs() < 1e-15, "{t2}");
        }
    }

    /// The Bernoulli numbers are not typed wrong: `(1 - g) = t2 d` satisfies the defining product with the sine.
    #[test]
    fn inverse_series_inverts_the_jacobian_coefficients() {
        for i in 0..=40 {
            let t2 = 0.025 * f64::from(i);
            let Coefficients { a, b, .. } = Coefficients::series(t2);
            // (θ/2) cot(θ/2) = a / (2 b)
            let expected = a / (2.0 * b);
            assert!(
                (1.0 - t2 * polynomial(t2, &D) - expected).abs() < 4e-16,
                "{t2}"
            );
        }
    }

    #[test]
    fn log_factor_is_continuous() {
        for w in [0.3, 1.0, 2.0] {
            for y in [0.0099_f64, 0.01, 0.0101] {
                let s = w * y.sqrt();
                let closed = 2.0 * s.atan2(w) / s;
                assert!((log_factor(s * s, w) - closed).abs() < 1e-15 * closed);
            }
        }
    }
}
