//! The scalar functions of the angle in exponentials, logarithms and Jacobians.
//!
//! Every one of them is analytic in `θ²` and is evaluated as a polynomial in it up to a little more than a half turn: nothing
//! cancels, no square root, division or trigonometric function is called, and dual numbers pass through zero. Beyond a half turn the closed
//! forms take over, in half angles, where they lose nothing. Up to a tenth of a radian, more than what integrators turn by in a step, five terms of the
//! Taylor series are as exact. The inverse functions, which the logarithms need, are quotients of two
//! polynomials, which run at the same time: half the terms of one, and one division.

mod tables;

use nalgebra::{RealField, convert};

/// The polynomials are valid up to this `θ²` (`θ = 3.146`).
const POLYNOMIAL_UP_TO: f64 = 9.9;
/// Up to this `θ²` the next term of the Taylor series would be lost in rounding.
const TAYLOR_UP_TO: f64 = 0.01;

/// `sin(θ/2) / θ` and `cos(θ/2)` at `t2 = θ²`: the vector part (per unit of the rotation vector) and scalar part of a quaternion.
#[inline]
pub(crate) fn half_angle<T: RealField + Copy>(t2: T) -> (T, T) {
    if t2 <= convert(TAYLOR_UP_TO) {
        (
            taylor(t2, &tables::taylor::SIN_HALF),
            taylor(t2, &tables::taylor::COS_HALF),
        )
    } else if t2 <= convert(POLYNOMIAL_UP_TO) {
        (
            polynomial(t2, &tables::SIN_HALF),
            polynomial(t2, &tables::COS_HALF),
        )
    } else {
        let t = t2.sqrt();
        let (s, k) = (t * convert(0.5)).sin_cos();
        (s / t, k)
    }
}

/// Coefficients of the exponential `I + a W + b W²` of SO(3) and of its left Jacobian `I + b W + c W²`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coefficients<T> {
    /// `sin θ / θ`
    pub a: T,
    /// `(1 - cos θ) / θ²`
    pub b: T,
    /// `(θ - sin θ) / θ³`
    pub c: T,
}

impl<T: RealField + Copy> Coefficients<T> {
    /// The coefficients at the squared angle `t2`.
    #[inline]
    pub fn new(t2: T) -> Self {
        let (a, b) = exponential(t2);
        let c = if t2 <= convert(TAYLOR_UP_TO) {
            taylor(t2, &tables::taylor::C)
        } else if t2 <= convert(POLYNOMIAL_UP_TO) {
            polynomial(t2, &tables::C)
        } else {
            (T::one() - a) / t2
        };
        Self { a, b, c }
    }

    /// The last two coefficients, those of the left Jacobian.
    #[inline]
    pub fn of_left_jacobian(t2: T) -> (T, T) {
        if t2 <= convert(TAYLOR_UP_TO) {
            (
                taylor(t2, &tables::taylor::B),
                taylor(t2, &tables::taylor::C),
            )
        } else if t2 <= convert(POLYNOMIAL_UP_TO) {
            let rest = convert::<f64, T>(POLYNOMIAL_UP_TO) - t2;
            (polynomial(rest, &tables::B), polynomial(t2, &tables::C))
        } else {
            let Self { b, c, .. } = Self::new(t2);
            (b, c)
        }
    }
}

/// The first two coefficients of [`Coefficients`], those of the exponential.
#[inline]
pub(crate) fn exponential<T: RealField + Copy>(t2: T) -> (T, T) {
    if t2 <= convert(TAYLOR_UP_TO) {
        return (
            taylor(t2, &tables::taylor::A),
            taylor(t2, &tables::taylor::B),
        );
    }
    let (s, k) = half_angle(t2);
    let two_s = s + s;
    let b = if t2 <= convert(POLYNOMIAL_UP_TO) {
        polynomial(convert::<f64, T>(POLYNOMIAL_UP_TO) - t2, &tables::B)
    } else {
        // 1 - cos θ would lose digits.
        two_s * s
    };
    (two_s * k, b)
}

/// Twice the derivatives of `b` and `c` of [`Coefficients`] with respect to `θ²`, which the Jacobian of SE(3) needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Derivatives<T> {
    /// `2 db/dθ² = (a - 2 b) / θ²`
    pub db: T,
    /// `2 dc/dθ² = (b - 3 c) / θ²`
    pub dc: T,
}

impl<T: RealField + Copy> Derivatives<T> {
    /// The derivatives at the squared angle `t2`, given the coefficients `k` there.
    #[inline]
    pub fn new(t2: T, k: &Coefficients<T>) -> Self {
        if t2 <= convert(POLYNOMIAL_UP_TO) {
            Self {
                db: polynomial(t2, &tables::DB),
                dc: polynomial(t2, &tables::DC),
            }
        } else {
            Self {
                db: (k.a - k.b - k.b) / t2,
                dc: (k.b - k.c * convert(3.0)) / t2,
            }
        }
    }
}

/// The coefficient `d = (1 - (θ/2) cot(θ/2)) / θ²` of the inverse left Jacobian `I - W/2 + d W²` of SO(3); it has a pole at `θ = 2π`.
///
/// The other common form, `1/θ² - (1 + cos θ)/(2 θ sin θ)`, loses half the digits near π.
#[inline]
pub(crate) fn inverse_coefficient<T: RealField + Copy>(t2: T) -> T {
    if t2 <= convert(TAYLOR_UP_TO) {
        taylor(t2, &tables::taylor::D)
    } else if t2 <= convert(POLYNOMIAL_UP_TO) {
        polynomial(t2, &tables::D)
    } else {
        let (s, k) = half_angle(t2);
        (T::one() - k / (s + s)) / t2
    }
}

/// `2 dd/dθ²` of the coefficient `d` of [`inverse_coefficient`].
#[inline]
pub(crate) fn inverse_derivative<T: RealField + Copy>(t2: T, d: T) -> T {
    if t2 <= convert(TAYLOR_UP_TO) {
        taylor(t2, &tables::taylor::DD)
    } else if t2 <= convert(POLYNOMIAL_UP_TO) {
        polynomial(t2, &tables::DD)
    } else {
        let (s, k) = half_angle(t2);
        let g = k / (s + s);
        // dg/dθ² = g/(2 θ²) - 1/(8 sin²(θ/2)), and 2 dd/dθ² = -2 (dg/dθ² + d)/θ².
        let quarter: T = convert(0.25);
        ((quarter / (s * s) - g) / t2 - d - d) / t2
    }
}

/// `2 atan2(s, w) / s` with `s2 = s²` and `w >= 0`: the factor from a quaternion's vector part to a rotation vector.
///
/// The quaternion need not be normalised: with norm `n` the factor is divided by `n`.
#[inline]
pub(crate) fn log_factor<T: RealField + Copy>(s2: T, w: T) -> T {
    let w2 = w * w;
    if s2 <= w2 {
        // Up to a quarter turn; no square root, so that dual numbers pass through zero.
        let y = s2 / w2;
        let numerator = polynomial(y, &tables::ATAN_NUMERATOR);
        (numerator + numerator) / (w * polynomial(y, &tables::ATAN_DENOMINATOR))
    } else {
        // Beyond it the angle is measured back from the half turn.
        let y = w2 / s2;
        let s = s2.sqrt();
        let atan =
            polynomial(y, &tables::ATAN_NUMERATOR) / polynomial(y, &tables::ATAN_DENOMINATOR);
        (T::pi() - (w + w) / s * atan) / s
    }
}

/// Down to this trace of a rotation matrix (`θ = 1.82`) [`log_factor_of_trace`] is used, below it
/// [`log_factor_beyond`].
pub(crate) const LOG_FROM_TRACE: f64 = 0.5;

/// `θ / (2 sin θ)`, from the vector `vee2(R)` to the rotation vector, where `1 + trace R = (2 cos(θ/2))²`.
///
/// The trace alone is not accurate enough near a half turn, but here it saves most of the time.
#[inline]
pub(crate) fn log_factor_of_trace<T: RealField + Copy>(trace: T) -> T {
    let u = (T::one() + trace).sqrt();
    let x = convert::<f64, T>(2.0) - u;
    polynomial(x, &tables::LOG_NUMERATOR) / (u * polynomial(x, &tables::LOG_DENOMINATOR))
}

/// `2 atan2(s, w) / s` for a rotation matrix's quaternion `(w, s)`, both multiplied by `n`, where `n2 = n²` and `s2 = s²`.
///
/// The angle is measured back from the half turn: `π - 2 asin(w/n)`. The square of that sine, which only a small correction
/// needs, is computed from the trace, which is available earlier.
#[inline]
pub(crate) fn log_factor_beyond<T: RealField + Copy>(trace: T, s2: T, w: T, n2: T) -> T {
    let y = convert::<f64, T>(LOG_FROM_TRACE) - trace;
    let asin = w * polynomial(y, &tables::ASIN_NUMERATOR)
        / (n2.sqrt() * polynomial(y, &tables::ASIN_DENOMINATOR));
    (T::pi() - (asin + asin)) / s2.sqrt()
}

/// The first terms of a Taylor series.
#[inline]
fn taylor<T: RealField + Copy>(x: T, coefficients: &[f64; 5]) -> T {
    let c = |k: usize| convert::<f64, T>(coefficients[k]);
    (((c(4) * x + c(3)) * x + c(2)) * x + c(1)) * x + c(0)
}

/// A polynomial, the coefficient of the lowest power first.
///
/// The lowest two are added last, as in Horner's scheme, so that the rounding is the same; the others are summed in four
/// interleaved chains, which the processor executes in parallel.
#[inline]
fn polynomial<T: RealField + Copy, const N: usize>(x: T, coefficients: &[f64; N]) -> T {
    let x2 = x * x;
    let x4 = x2 * x2;
    // The topmost block of four may be incomplete; below it no index is checked and every chain stays in its register.
    let blocks = (N - 2).div_ceil(4);
    let mut sums = core::array::from_fn::<T, 4, _>(|chain| {
        let k = 4 * blocks - 2 + chain;
        convert(if k < N { coefficients[k] } else { 0.0 })
    });
    for block in (0..blocks - 1).rev() {
        for (chain, sum) in sums.iter_mut().enumerate() {
            *sum = *sum * x4 + convert(coefficients[2 + 4 * block + chain]);
        }
    }
    let rest = (sums[0] + sums[1] * x) + (sums[2] + sums[3] * x) * x2;
    (rest * x + convert(coefficients[1])) * x + convert(coefficients[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of a Taylor series in `x`, whose coefficients `next(k)` gives.
    fn series(x: f64, mut next: impl FnMut(i32) -> f64) -> f64 {
        (0..60).rev().fold(0.0, |sum, k| sum * x + next(k))
    }

    fn factorial(n: i32) -> f64 {
        (1..=n).map(f64::from).product()
    }

    fn sign(k: i32) -> f64 {
        if k % 2 == 0 { 1.0 } else { -1.0 }
    }

    /// Compares every table with the Taylor series of its function, over the whole interval.
    #[test]
    fn polynomials_are_their_functions() {
        for i in 0..=990 {
            let x = 0.01 * f64::from(i);
            let cases = [
                (
                    polynomial(x, &tables::SIN_HALF),
                    series(x / 4.0, |k| sign(k) / factorial(2 * k + 1) / 2.0),
                ),
                (
                    polynomial(x, &tables::COS_HALF),
                    series(x / 4.0, |k| sign(k) / factorial(2 * k)),
                ),
                (
                    polynomial(POLYNOMIAL_UP_TO - x, &tables::B),
                    series(x, |k| sign(k) / factorial(2 * k + 2)),
                ),
                (
                    polynomial(x, &tables::C),
                    series(x, |k| sign(k) / factorial(2 * k + 3)),
                ),
                (
                    polynomial(x, &tables::DB),
                    series(x, |k| {
                        -2.0 * sign(k) * f64::from(k + 1) / factorial(2 * k + 4)
                    }),
                ),
                (
                    polynomial(x, &tables::DC),
                    series(x, |k| {
                        -2.0 * sign(k) * f64::from(k + 1) / factorial(2 * k + 5)
                    }),
                ),
            ];
            for (j, (got, expected)) in cases.into_iter().enumerate() {
                assert!(
                    (got - expected).abs() < 3e-16,
                    "{j} at {x}: {got} {expected}"
                );
            }
        }
    }

    /// Where the Taylor series begin and end they are what the polynomials are.
    #[test]
    fn first_terms_are_enough_nearby() {
        for i in 0..=1000 {
            let x = 1e-5 * f64::from(i);
            let rest = POLYNOMIAL_UP_TO - x;
            let (s, k) = (
                polynomial(x, &tables::SIN_HALF),
                polynomial(x, &tables::COS_HALF),
            );
            let cases = [
                (&tables::taylor::SIN_HALF, s),
                (&tables::taylor::COS_HALF, k),
                (&tables::taylor::A, 2.0 * s * k),
                (&tables::taylor::B, polynomial(rest, &tables::B)),
                (&tables::taylor::C, polynomial(x, &tables::C)),
                (&tables::taylor::D, polynomial(x, &tables::D)),
                (&tables::taylor::DD, polynomial(x, &tables::DD)),
            ];
            for (j, (terms, expected)) in cases.into_iter().enumerate() {
                let got = taylor(x, terms);
                assert!(
                    (got - expected).abs() < 3e-16,
                    "{j} at {x}: {got} {expected}"
                );
            }
        }
    }

    /// `(1 - (θ/2) cot(θ/2)) / θ²` and its derivative from the other tables: `(θ/2) cot(θ/2) = cos(θ/2) / (2 sin(θ/2)/θ)`.
    #[test]
    fn inverse_coefficients_invert() {
        for i in 0..=990 {
            let x = 0.01 * f64::from(i);
            let (s, k) = half_angle(x);
            let d = inverse_coefficient(x);
            assert!((1.0 - x * d - k / (2.0 * s)).abs() < 1e-15, "{x}");
            // The derivative of 1 - θ² d - g = 0.
            let (g, dd) = (k / (2.0 * s), inverse_derivative(x, d));
            let dg = (g - 0.25 / (s * s)) / 2.0;
            assert!((x * d + 0.5 * x * x * dd + dg).abs() < 3e-15, "{x}");
        }
    }

    /// Polynomials and closed forms agree at the transition.
    #[test]
    fn branches_agree_across_the_threshold() {
        let (below, above) = (POLYNOMIAL_UP_TO, POLYNOMIAL_UP_TO.next_up());
        let (k, l) = (Coefficients::new(below), Coefficients::new(above));
        let (dk, dl) = (Derivatives::new(below, &k), Derivatives::new(above, &l));
        let (d, e) = (inverse_coefficient(below), inverse_coefficient(above));
        for (x, y) in [
            (k.a, l.a),
            (k.b, l.b),
            (k.c, l.c),
            (dk.db, dl.db),
            (dk.dc, dl.dc),
            (d, e),
            (inverse_derivative(below, d), inverse_derivative(above, e)),
        ] {
            assert!((x - y).abs() < 3e-16, "{x} {y}");
        }
    }

    #[test]
    fn log_factor_is_the_arc_tangent() {
        for i in 1..=2000_u32 {
            let (s, w) = (0.5e-3 * f64::from(i) * std::f64::consts::PI).sin_cos();
            let w = w.abs();
            for n in [1.0, 0.3, 2.0] {
                let expected = 2.0 * s.atan2(w) / (s * n);
                let got = log_factor(n * n * s * s, n * w);
                assert!(
                    (got - expected).abs() < 1e-15 * expected,
                    "{i}: {got} {expected}"
                );
            }
        }
        assert_eq!(log_factor(0.0, 1.0), 2.0);
    }

    /// The same two factors from a trace, on both sides of [`LOG_FROM_TRACE`] and slightly across it.
    #[test]
    fn log_factors_of_a_trace_are_the_arc_tangent() {
        for i in 0..=3000_u32 {
            let angle = 1e-3 * f64::from(i) * std::f64::consts::PI / 3.0;
            let trace = 1.0 + 2.0 * angle.cos();
            if trace > LOG_FROM_TRACE - 0.01 {
                let expected = if i == 0 {
                    0.5
                } else {
                    angle / (2.0 * angle.sin())
                };
                let got = log_factor_of_trace(trace);
                assert!(
                    (got / expected - 1.0).abs() < 2e-15,
                    "{i}: {got} {expected}"
                );
            }
            if trace < LOG_FROM_TRACE + 0.01 {
                let (s, w) = (angle / 2.0).sin_cos();
                for n in [1.0, 0.3, 2.0] {
                    let expected = angle / (s * n);
                    let got = log_factor_beyond(trace, n * n * s * s, n * w, n * n);
                    assert!(
                        (got / expected - 1.0).abs() < 5e-16,
                        "{i}: {got} {expected}"
                    );
                }
            }
        }
    }
}
