//! Continuous turbulence.

use nalgebra::{Matrix2, Vector2, Vector3};

use crate::random::Random;

/// Dryden turbulence of MIL-F-8785C, 3.7.1.2 and 3.7.3.4, below 1000 ft: along the mean wind (u), across it (v) and vertical (w).
///
/// ```text
/// Phi_u(Omega) = sigma_u^2 2 L_u / pi  1 / (1 + (L_u Omega)^2)
/// Phi_v(Omega) = sigma_v^2 L_v / pi  (1 + 3 (L_v Omega)^2) / (1 + (L_v Omega)^2)^2        w as v
/// L_w = h       L_u = L_v = h / (0.177 + 0.000823 h)^1.2                                  h and L in ft
/// sigma_w = 0.1 W_20       sigma_u = sigma_v = sigma_w / (0.177 + 0.000823 h)^0.4
/// ```
///
/// with one-sided spectra over Omega, rad per length: their integral over `Omega > 0` is the variance. The field is frozen and passes with
/// the airspeed V: `omega = Omega V`. The forming filters have the time constants `L / V` and are driven by white noise; their states, of
/// unit variance, are propagated with the exact transition over the step, so that variance and spectrum do not depend on the step. Angular
/// velocities of the air are neglected.
pub(crate) struct Turbulence {
    /// The wind at 20 ft, m/s.
    w20: f64,
    /// The least airspeed with which the field passes, m/s.
    least_airspeed: f64,
    /// The directions of u, v and w in the world.
    axes: [Vector3<f64>; 3],
    random: Random,
    along: f64,
    across: Transverse,
    vertical: Transverse,
    /// The turbulence at the beginning and at the end of the step, m/s, world.
    ends: [Vector3<f64>; 2],
}

/// m.
const FOOT: f64 = 0.3048;

/// Lengths and intensities at a height.
#[derive(Clone, Copy, Debug)]
struct Scales {
    /// `L_u = L_v` and `L_w`, m.
    lengths: [f64; 2],
    /// `sigma_u = sigma_v` and `sigma_w`, m/s.
    intensities: [f64; 2],
}

impl Scales {
    /// At this height above the ground, m, clamped to 10 to 1000 ft.
    fn at(height: f64, w20: f64) -> Self {
        let h = (height / FOOT).clamp(10.0, 1000.0);
        let stretch: f64 = 0.177 + 0.000_823 * h;
        let vertical = 0.1 * w20;
        Self {
            lengths: [h * FOOT / stretch.powf(1.2), h * FOOT],
            intensities: [vertical / stretch.powf(0.4), vertical],
        }
    }
}

/// The filter `(1 + sqrt(3) s) / (1 + s)^2` over time in units of its time constant, driven by white noise of unit intensity: the
/// output has unit variance. The states are the noise after one lag and after two.
#[derive(Clone, Copy, Debug)]
struct Transverse(Vector2<f64>);

/// The transition over a step: `x' = matrix x + factor n` with two independent normal numbers n.
#[derive(Clone, Copy, Debug)]
struct Transition {
    matrix: Matrix2<f64>,
    factor: Matrix2<f64>,
}

impl Transition {
    /// Over this fraction of the time constant.
    fn over(h: f64) -> Self {
        let e = (-h).exp();
        // The covariance P - F P F^T with that of the stationary process, P = [[1/2, 1/4], [1/4, 1/4]].
        let (lost, squared) = (-(-2.0 * h).exp_m1(), e * e);
        let a = 0.5 * lost;
        let b = 0.25 * lost - 0.5 * squared * h;
        let c = 0.25 * lost - 0.5 * squared * (h + h * h);
        Self {
            matrix: Matrix2::new(e, 0.0, h * e, e),
            factor: cholesky(a, b, c),
        }
    }

    /// From zero to the stationary process.
    fn start() -> Self {
        Self {
            matrix: Matrix2::zeros(),
            factor: cholesky(0.5, 0.25, 0.25),
        }
    }
}

/// The Cholesky factor of `[[a, b], [b, c]]`, which may be singular up to rounding.
fn cholesky(a: f64, b: f64, c: f64) -> Matrix2<f64> {
    let first = a.sqrt();
    let below = if first > 0.0 { b / first } else { 0.0 };
    Matrix2::new(first, 0.0, below, (c - below * below).max(0.0).sqrt())
}

impl Transverse {
    fn advance(&mut self, transition: &Transition, normal: [f64; 2]) {
        self.0 = transition.matrix * self.0 + transition.factor * Vector2::from(normal);
    }

    fn output(&self) -> f64 {
        let root = 3.0_f64.sqrt();
        root * self.0.x + (1.0 - root) * self.0.y
    }
}

impl Turbulence {
    /// For the mean wind (m/s, world; its horizontal direction counts, x if it is zero) and the wind at 20 ft, at this height above the
    /// ground, m.
    pub(crate) fn new(
        w20: f64,
        least_airspeed: f64,
        mean: &Vector3<f64>,
        height: f64,
        random: Random,
    ) -> Self {
        let horizontal = Vector3::new(mean.x, mean.y, 0.0);
        let u = horizontal.try_normalize(0.0).unwrap_or_else(Vector3::x);
        let mut turbulence = Self {
            w20,
            least_airspeed,
            axes: [u, Vector3::z().cross(&u), Vector3::z()],
            random,
            along: 0.0,
            across: Transverse(Vector2::zeros()),
            vertical: Transverse(Vector2::zeros()),
            ends: [Vector3::zeros(); 2],
        };
        let start = Transition::start();
        turbulence.draw([0.0, 1.0], &start, &start);
        turbulence.ends = [turbulence.output(&Scales::at(height, w20)); 2];
        turbulence
    }

    /// Begins a step of this duration, s, at this height above the ground (m), with this airspeed (m/s).
    pub(crate) fn advance(&mut self, step: f64, height: f64, airspeed: f64) {
        let scales = Scales::at(height, self.w20);
        let way = step * airspeed.max(self.least_airspeed);
        let [longitudinal, vertical] = scales.lengths.map(|length| way / length);
        let along = [
            (-longitudinal).exp(),
            (-(-2.0 * longitudinal).exp_m1()).sqrt(),
        ];
        self.draw(
            along,
            &Transition::over(longitudinal),
            &Transition::over(vertical),
        );
        self.ends = [self.ends[1], self.output(&scales)];
    }

    /// At this fraction of the step, 0 to 1: m/s, world. Interpolated linearly between the ends of a step.
    pub(crate) fn velocity(&self, part: f64) -> Vector3<f64> {
        self.ends[0].lerp(&self.ends[1], part)
    }

    /// Advances the states. Always draws three pairs of numbers.
    fn draw(&mut self, [kept, new]: [f64; 2], transverse: &Transition, vertical: &Transition) {
        let [first, _] = self.random.pair();
        self.along = kept * self.along + new * first;
        let pairs = [self.random.pair(), self.random.pair()];
        self.across.advance(transverse, pairs[0]);
        self.vertical.advance(vertical, pairs[1]);
    }

    fn output(&self, scales: &Scales) -> Vector3<f64> {
        let ([u, v, w], [sigma, vertical]) = (self.axes, scales.intensities);
        u * (sigma * self.along)
            + v * (sigma * self.across.output())
            + w * (vertical * self.vertical.output())
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::random::Stream;

    /// m, m/s, m/s: of all tests.
    const HEIGHT: f64 = 30.0;
    const W20: f64 = 15.0;
    const AIRSPEED: f64 = 10.0;

    fn turbulence(seed: u64) -> Turbulence {
        let mean = Vector3::new(-3.0, 4.0, 1.0);
        Turbulence::new(
            W20,
            1.0,
            &mean,
            HEIGHT,
            Random::of_stream(seed, Stream::Turbulence),
        )
    }

    /// u, v and w.
    fn components(turbulence: &Turbulence) -> [f64; 3] {
        let along = Vector3::new(-0.6, 0.8, 0.0);
        let axes = [along, Vector3::new(-0.8, -0.6, 0.0), Vector3::z()];
        axes.map(|axis| axis.dot(&turbulence.velocity(1.0)))
    }

    /// The scales in the standard's feet: at 1000 ft all are alike, at 20 ft by hand.
    #[test]
    fn scales_are_those_of_the_standard() {
        let high = Scales::at(1000.0 * FOOT, W20);
        assert!(high.lengths.iter().all(|l| (l - 304.8).abs() < 1e-9));
        assert!(high.intensities.iter().all(|s| (s - 1.5).abs() < 1e-12));
        let low = Scales::at(20.0 * FOOT, W20);
        assert!((low.lengths[1] - 6.096).abs() < 1e-12);
        // 20 / 0.19346^1.2 ft and 1.5 / 0.19346^0.4 m/s.
        let [length, intensity] = [1.2, 0.4].map(|power: f64| (power * 0.193_46_f64.ln()).exp());
        assert!((low.lengths[0] - 6.096 / length).abs() < 1e-9);
        assert!((low.intensities[0] - 1.5 / intensity).abs() < 1e-9);
        for (height, limit) in [(0.0, 10.0), (1e5, 1000.0)] {
            let (found, limit) = (Scales::at(height, W20), Scales::at(limit * FOOT, W20));
            assert!((found.lengths[0] - limit.lengths[0]).abs() < 1e-12);
        }
    }

    /// Two steps are one of the sum, and the stationary covariance stays: both to rounding.
    #[test]
    fn transitions_compose() {
        let stationary = Matrix2::new(0.5, 0.25, 0.25, 0.25);
        let covariance = |t: &Transition| t.factor * t.factor.transpose();
        for (a, b) in [
            (1e-5, 1e-5),
            (1e-4, 3e-3),
            (0.02, 0.3),
            (1.0, 2.0),
            (0.1, 30.0),
        ] {
            let [first, second, both] = [a, b, a + b].map(Transition::over);
            assert!((second.matrix * first.matrix - both.matrix).norm() < 1e-14);
            let after = second.matrix * covariance(&first) * second.matrix.transpose();
            assert!((after + covariance(&second) - covariance(&both)).norm() < 1e-14);
            let kept = both.matrix * stationary * both.matrix.transpose() + covariance(&both);
            assert!((kept - stationary).norm() < 1e-14, "{a} {b}");
        }
    }

    /// Mean square and product over independent seeds, after steps of all sizes: five standard errors of a normal distribution's.
    #[test]
    fn the_variance_is_that_of_the_standard_for_any_step() {
        const SEEDS: u64 = 8000;
        let [horizontal, vertical] = Scales::at(HEIGHT, W20).intensities;
        let expected = [horizontal, horizontal, vertical].map(|sigma| sigma * sigma);
        for (step, count) in [(0.0, 0), (1e-3, 20), (0.02, 10), (0.7, 5), (20.0, 1)] {
            let mut squares = [0.0; 3];
            let mut products = [0.0; 3];
            for seed in 0..SEEDS {
                let mut turbulence = turbulence(seed);
                (0..count).for_each(|_| turbulence.advance(step, HEIGHT, AIRSPEED));
                let found = components(&turbulence);
                for i in 0..3 {
                    squares[i] += found[i] * found[i] / SEEDS as f64;
                    products[i] += found[i] * found[(i + 1) % 3] / SEEDS as f64;
                }
            }
            let error = 5.0 / (SEEDS as f64).sqrt();
            for i in 0..3 {
                let found = squares[i] / expected[i];
                assert!(
                    (found - 1.0).abs() < error * 2.0_f64.sqrt(),
                    "{step}: {i} {found}"
                );
                let scale = (expected[i] * expected[(i + 1) % 3]).sqrt();
                assert!(
                    products[i].abs() < error * scale,
                    "{step}: {i} {products:?}"
                );
            }
        }
    }

    /// Spectral densities over the seeds, from the scale length's ten-fold to a tenth of it, for two steps.
    #[test]
    fn the_spectrum_is_that_of_the_standard_for_any_step() {
        const SEEDS: u64 = 300;
        let scales = Scales::at(HEIGHT, W20);
        let [length, height] = scales.lengths;
        let [horizontal, vertical] = scales.intensities;
        let longitudinal =
            |omega: f64| horizontal.powi(2) * 2.0 * length / PI / (1.0 + (length * omega).powi(2));
        let transverse = |sigma: f64, length: f64, omega: f64| {
            let x = (length * omega).powi(2);
            sigma.powi(2) * length / PI * (1.0 + 3.0 * x) / (1.0 + x).powi(2)
        };
        for (step, samples) in [(0.1, 4096), (0.2, 2048)] {
            // Frequencies by their number of periods in the record.
            let periods = [4, 5, 6, 10, 11, 12, 30, 31, 32, 80, 81, 82];
            let mut found = vec![[0.0; 3]; periods.len()];
            for seed in 0..SEEDS {
                let mut turbulence = turbulence(seed);
                let mut sums = vec![[[0.0; 2]; 3]; periods.len()];
                for k in 0..samples {
                    let angle = 2.0 * PI * f64::from(k) / f64::from(samples);
                    let window = 1.0 - angle.cos();
                    let values = components(&turbulence).map(|value| value * window);
                    for (sums, period) in sums.iter_mut().zip(periods) {
                        let (sin, cos) = (angle * f64::from(period)).sin_cos();
                        for (sum, value) in sums.iter_mut().zip(values) {
                            sum[0] += value * cos;
                            sum[1] += value * sin;
                        }
                    }
                    turbulence.advance(step, HEIGHT, AIRSPEED);
                }
                // One-sided, over Omega = omega / V; the window's mean square is 3/2.
                let scale = step * AIRSPEED / (PI * 1.5 * f64::from(samples)) / SEEDS as f64;
                for (found, sums) in found.iter_mut().zip(&sums) {
                    for (found, [a, b]) in found.iter_mut().zip(sums) {
                        *found += scale * (a * a + b * b);
                    }
                }
            }
            for (found, periods) in found.chunks(3).zip(periods.chunks(3)) {
                let omega = |period: i32| {
                    2.0 * PI * f64::from(period) / (f64::from(samples) * step * AIRSPEED)
                };
                for i in 0..3 {
                    let ratio: f64 = (found.iter().zip(periods))
                        .map(|(found, period)| {
                            let omega = omega(*period);
                            found[i]
                                / match i {
                                    0 => longitudinal(omega),
                                    1 => transverse(horizontal, length, omega),
                                    _ => transverse(vertical, height, omega),
                                }
                        })
                        .sum::<f64>()
                        / 3.0;
                    // Behind this window the densities of neighbours correlate by 4/9 and 1/36, so that three count as
                    // 3 / (1 + 2/3 (2 * 4/9 + 1/36)) = 1.86 independent ones; a density's deviation is its mean. Leakage and aliasing are
                    // below 3 %.
                    let bound = 5.0 / (1.85 * SEEDS as f64).sqrt() + 0.03;
                    let l_omega = length * omega(periods[1]);
                    assert!(
                        (ratio - 1.0).abs() < bound,
                        "step {step}, L Omega {l_omega}: {i} {ratio}"
                    );
                }
            }
        }
    }

    #[test]
    fn seeds_differ_and_repeat() {
        let run = |seed| {
            let mut turbulence = turbulence(seed);
            (0..100).for_each(|_| turbulence.advance(0.01, HEIGHT, AIRSPEED));
            components(&turbulence)
        };
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
        let ends = turbulence(1);
        assert_eq!(ends.velocity(0.0), ends.velocity(1.0));
    }

    /// In still air the field passes with the least airspeed, so that it changes.
    #[test]
    fn the_least_airspeed_counts() {
        let after = |airspeed| {
            let mut turbulence = turbulence(5);
            turbulence.advance(0.5, HEIGHT, airspeed);
            components(&turbulence)
        };
        assert_eq!(after(0.0), after(1.0));
        assert_ne!(after(0.0), after(2.0));
    }
}
