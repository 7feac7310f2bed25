//! Zero crossings of a function of time.

use nalgebra::{RealField, convert};

/// The direction of a zero crossing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From below zero to zero or above.
    Rising,
    /// From above zero to zero or below, such as a distance at the start of a contact.
    Falling,
    /// Both.
    Any,
}

impl Direction {
    /// Whether a function with these values before and after crosses zero in this direction. A start at zero does not
    /// count.
    pub(super) fn crosses<T: RealField + Copy>(self, before: T, after: T) -> bool {
        let zero = T::zero();
        let rising = before < zero && after >= zero;
        let falling = before > zero && after <= zero;
        match self {
            Self::Rising => rising,
            Self::Falling => falling,
            Self::Any => rising || falling,
        }
    }
}

/// The end of an interval, at most `tolerance` long, in which `f` crosses zero between `0`, with the value `before`, and `end`, with the
/// value `after`: at the returned time the function has crossed.
///
/// The ITP method (I. F. D. Oliveira, R. H. C. Takahashi, *ACM Transactions on Mathematical Software* 47, 2020): never more than one
/// evaluation beyond bisection, and superlinear.
pub(super) fn locate<T: RealField + Copy>(
    before: T,
    after: T,
    end: T,
    tolerance: T,
    mut f: impl FnMut(T) -> T,
) -> T {
    let half: T = convert(0.5);
    // Choose the sign such that the function increases.
    let sign = if before < T::zero() {
        T::one()
    } else {
        -T::one()
    };
    let (mut a, mut b, mut fa, mut fb) = (T::zero(), end, before * sign, after * sign);
    let shrink: T = convert::<f64, T>(0.2) / end;
    let mut reach = tolerance;
    while reach < end {
        reach *= convert(2.0);
    }
    while b - a > tolerance {
        let middle = (a + b) * half;
        let radius = (reach - (b - a) * half).max(T::zero());
        let falsi = (fb * a - fa * b) / (fb - fa);
        let towards = if middle > falsi { T::one() } else { -T::one() };
        let delta = shrink * (b - a) * (b - a);
        let truncated = if delta <= (middle - falsi).abs() {
            falsi + towards * delta
        } else {
            middle
        };
        let next = if (truncated - middle).abs() <= radius {
            truncated
        } else {
            middle - towards * radius
        };
        let value = f(next) * sign;
        if value >= T::zero() {
            (b, fb) = (next, value);
        } else {
            (a, fa) = (next, value);
        }
        reach *= half;
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crossings_are_found_quickly_and_on_their_far_side() {
        type Function = fn(f64) -> f64;
        let cases: [(Function, f64); 4] = [
            (|t| t - 0.3, 0.3),
            (|t| 0.09 - t * t, 0.3),
            (|t| (t - 0.7).powi(3), 0.7),
            (|t| if t < 0.123 { -1.0 } else { 5.0 }, 0.123),
        ];
        for (f, root) in cases {
            let mut evaluations = 0;
            let found = locate(f(0.0), f(1.0), 1.0, 1e-12, |t| {
                evaluations += 1;
                f(t)
            });
            assert!(found >= root && found - root <= 1e-12, "{found} {root}");
            assert!(evaluations <= 42, "{evaluations}");
        }
    }

    #[test]
    fn directions_differ() {
        assert!(Direction::Falling.crosses(1.0, 0.0) && !Direction::Falling.crosses(0.0, -1.0));
        assert!(Direction::Rising.crosses(-1.0, 1.0) && !Direction::Rising.crosses(1.0, -1.0));
        assert!(Direction::Any.crosses(-1.0, 1.0) && Direction::Any.crosses(1.0, -1.0));
    }
}
