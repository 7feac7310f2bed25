//! A smooth step from 0 to 1: a polynomial whose first four derivatives vanish at both ends.

use super::jet::Jet;

/// Largest first derivative of [`smooth`] with respect to s: 630 / 256, at s = 1/2.
pub const PEAK_SPEED: f64 = 630.0 / 256.0;

/// Largest second derivative: 2520 (s (1 - s))^3 (1 - 2 s) at s = (1 - 1/sqrt 7)/2.
pub fn peak_acceleration() -> f64 {
    let root = 7.0_f64.sqrt().recip();
    2520.0 * ((1.0 - root * root) / 4.0).powi(3) * root
}

/// `70 s^9 - 315 s^8 + 540 s^7 - 420 s^6 + 126 s^5` for s in [0, 1]; 0 before and 1 after.
pub fn smooth(s: Jet<5>) -> Jet<5> {
    smooth_to(s)
}

/// The same with N - 1 derivatives.
pub(super) fn smooth_to<const N: usize>(s: Jet<N>) -> Jet<N> {
    if s.value() <= 0.0 {
        return Jet::constant(0.0);
    }
    if s.value() >= 1.0 {
        return Jet::constant(1.0);
    }
    if s.value() > 0.5 {
        // By symmetry; near the end the terms of the polynomial would cancel.
        return Jet::constant(1.0) - smooth_to(Jet::constant(1.0) - s);
    }
    let polynomial = [70.0, -315.0, 540.0, -420.0, 126.0];
    let upper = polynomial
        .iter()
        .fold(Jet::constant(0.0), |sum, c| sum * s + Jet::constant(*c));
    let squared = s * s;
    upper * squared * squared * s
}

/// The integral of [`smooth`] from 0 to s: zero before, `s - 1/2` from 1 on.
pub fn smooth_integral(s: Jet<5>) -> Jet<5> {
    if s.value() <= 0.0 {
        return Jet::constant(0.0);
    }
    if s.value() >= 1.0 {
        return s - Jet::constant(0.5);
    }
    let polynomial = [7.0, -35.0, 67.5, -60.0, 21.0];
    let upper = polynomial
        .iter()
        .fold(Jet::constant(0.0), |sum, c| sum * s + Jet::constant(*c));
    let squared = s * s;
    upper * squared * squared * squared
}

/// The shortest time for a distance of this length along [`smooth`] within both limits.
///
/// `length` in m (rad), `speed` in m/s (rad/s), `acceleration` in m/s^2 (rad/s^2); infinite means no limit. Infinite if a limit is not positive, unless
/// the distance is zero.
pub fn shortest_duration(length: f64, speed: f64, acceleration: f64) -> f64 {
    if length == 0.0 {
        return 0.0;
    }
    if !(speed > 0.0 && acceleration > 0.0) {
        return f64::INFINITY;
    }
    let by_speed = length * PEAK_SPEED / speed;
    let by_acceleration = (length * peak_acceleration() / acceleration).sqrt();
    by_speed.max(by_acceleration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_at_rest_at_both_ends() {
        for (s, value) in [(1e-9, 0.0), (1.0 - 1e-9, 1.0)] {
            let f = smooth(Jet::linear(s, 1.0));
            assert!((f.value() - value).abs() < 1e-15);
            // The fifth derivative does not vanish: the fourth grows like 15120 s.
            assert!((1..5).all(|k| f.derivative(k).abs() < 2e-5), "{f:?}");
        }
        let middle = smooth(Jet::linear(0.5, 1.0));
        assert!((middle.value() - 0.5).abs() < 1e-15);
        assert!((middle.derivative(1) - PEAK_SPEED).abs() < 1e-13);
    }

    #[test]
    fn the_peaks_are_reached_and_not_exceeded() {
        let samples = (0..=10_000).map(|i| smooth(Jet::linear(f64::from(i) / 1e4, 1.0)));
        let peaks = samples.fold((0.0_f64, 0.0_f64), |p, f| {
            (p.0.max(f.derivative(1)), p.1.max(f.derivative(2)))
        });
        assert!(
            (peaks.0 - PEAK_SPEED).abs() < 1e-6 && (peaks.1 - peak_acceleration()).abs() < 1e-5,
            "{peaks:?}"
        );
    }

    #[test]
    fn the_integral_is_one() {
        for i in -5..=25 {
            let s = Jet::<5>::linear(f64::from(i) * 0.05 + 1e-3, 1.0);
            let (integral, f) = (smooth_integral(s), smooth(s));
            for k in 0..4 {
                let error = integral.derivative(k + 1) - f.derivative(k);
                assert!(error.abs() < 1e-9, "{i} {k} {error}");
            }
        }
        // Continuous where the pieces meet.
        assert!((smooth_integral(Jet::linear(1.0 - 1e-9, 1.0)).value() - 0.5).abs() < 1e-8);
    }

    #[test]
    fn durations_meet_the_limit_that_binds() {
        let slow = shortest_duration(10.0, 2.0, f64::INFINITY);
        assert!((10.0 * PEAK_SPEED / slow - 2.0).abs() < 1e-12);
        // Nothing moves within limits that are none.
        for limits in [
            [0.0, 1.0],
            [-2.0, 1.0],
            [1.0, -2.0],
            [f64::NAN, 1.0],
            [1.0, f64::NAN],
        ] {
            assert_eq!(shortest_duration(10.0, limits[0], limits[1]), f64::INFINITY);
            assert_eq!(shortest_duration(0.0, limits[0], limits[1]), 0.0);
        }
        let gentle = shortest_duration(10.0, f64::INFINITY, 1.5);
        assert!((10.0 * peak_acceleration() / gentle.powi(2) - 1.5).abs() < 1e-12);
    }
}
