//! Smooths sampled paths and differentiates them with local polynomials, which are symmetric in time and hence have no
//! lag.
//!
//! A cubic is fitted to the samples within a half-width of every sample (Savitzky and Golay[^1]). Near the ends the
//! window stops at the end, and the cubic is evaluated off its centre. Attitudes are fitted in the rotation vector
//! relative to the window's centre, so no attitude is singular.
//!
//! [^1]: Smoothing and Differentiation of Data by Simplified Least Squares Procedures, Analytical Chemistry 36(8), 1964.

use fly_lie::UnitQuaternion;
use nalgebra::{DMatrix, Vector3};

const DEGREE: usize = 3;
/// Largest number of samples on each side of a window: half a second at 1 kHz. At higher rates a window is shorter.
const MAX_HALF: usize = 500;

/// Fits cubics to windows of equally spaced samples.
#[derive(Debug)]
pub struct Smoother {
    /// Coefficients from a window's samples, (degree + 1) x window.
    fit: DMatrix<f64>,
    half: usize,
    step: f64,
}

impl Smoother {
    /// For samples `step` seconds apart and windows with a half-width of `reach` seconds (at least four samples);
    /// `None` if there are fewer samples than in a window.
    pub fn new(step: f64, reach: f64, samples: usize) -> Option<Self> {
        let mut half = 4;
        while (half as f64) * step < reach && half < samples.min(MAX_HALF) {
            half += 1;
        }
        half = half.min(samples.saturating_sub(1) / 2);
        if 2 * half < DEGREE + 1 {
            return None;
        }
        let vandermonde = DMatrix::from_fn(2 * half + 1, DEGREE + 1, |row, column| {
            (row as f64 - half as f64).powi(i32::try_from(column).unwrap_or(0))
        });
        let fit = vandermonde.pseudo_inverse(0.0).ok()?;
        Some(Self { fit, half, step })
    }

    /// Number of samples on each side of a window's centre.
    pub const fn half(&self) -> usize {
        self.half
    }

    /// Whether so many samples fill a window.
    pub const fn fits(&self, samples: usize) -> bool {
        samples > 2 * self.half
    }

    /// Value, first and second derivative of the fit at sample `index`.
    pub fn path(&self, samples: &[[f64; 3]], index: usize) -> [[f64; 3]; 3] {
        let (centre, at) = self.window(index, samples.len());
        let vectors = (0..=2 * self.half).map(|k| Vector3::from(samples[centre + k - self.half]));
        self.evaluate(vectors, at).map(Into::into)
    }

    /// Attitude and angular velocity in the body frame, rad/s, of the fit at sample `index`.
    pub fn attitude(
        &self,
        samples: &[UnitQuaternion<f64>],
        index: usize,
    ) -> (UnitQuaternion<f64>, [f64; 3]) {
        let (centre, at) = self.window(index, samples.len());
        let base = samples[centre];
        let window = &samples[centre - self.half..=centre + self.half];
        let vectors = window.iter().map(|&q| (base.inverse() * q).log());
        let [phi, rate, _] = self.evaluate(vectors, at);
        let omega = UnitQuaternion::right_jacobian(&phi) * rate;
        (base * UnitQuaternion::exp(&phi), omega.into())
    }

    /// Centre of the window for a sample, and the sample's position in the window.
    fn window(&self, index: usize, samples: usize) -> (usize, f64) {
        let centre = index.clamp(self.half, samples - 1 - self.half);
        (centre, index as f64 - centre as f64)
    }

    fn evaluate(&self, samples: impl Iterator<Item = Vector3<f64>>, at: f64) -> [Vector3<f64>; 3] {
        let mut c = [Vector3::zeros(); DEGREE + 1];
        for (k, sample) in samples.enumerate() {
            for (power, coefficient) in c.iter_mut().enumerate() {
                *coefficient += self.fit[(power, k)] * sample;
            }
        }
        [
            c[0] + (c[1] + (c[2] + c[3] * at) * at) * at,
            (c[1] + (2.0 * c[2] + 3.0 * c[3] * at) * at) / self.step,
            (2.0 * c[2] + 6.0 * c[3] * at) / (self.step * self.step),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cubic_and_its_derivatives_come_back_to_the_ends() {
        let f = |t: f64| [t * t * t - 2.0 * t, 1.0 - t * t, 5.0];
        let samples: Vec<_> = (0..60).map(|k| f(f64::from(k) * 0.02)).collect();
        let smoother = Smoother::new(0.02, 0.3, samples.len()).unwrap();
        for k in 0..60 {
            let t = k as f64 * 0.02;
            let [p, v, a] = smoother.path(&samples, k);
            let expected = [
                f(t),
                [3.0 * t * t - 2.0, -2.0 * t, 0.0],
                [6.0 * t, -2.0, 0.0],
            ];
            for (found, expected) in [p, v, a].as_flattened().iter().zip(expected.as_flattened()) {
                assert!(
                    (found - expected).abs() < 1e-8,
                    "{t}: {found} for {expected}"
                );
            }
        }
    }

    /// A sine of 1 rad/s is far below the window's cutoff: no delay in the value, little loss in the derivatives.
    #[test]
    fn a_slow_sine_is_neither_delayed_nor_damped_much() {
        let samples: Vec<_> = (0..500)
            .map(|k| [(f64::from(k) * 0.02).sin(), 0.0, 0.0])
            .collect();
        let smoother = Smoother::new(0.02, 0.4, samples.len()).unwrap();
        for k in 30..470 {
            let t = k as f64 * 0.02;
            let [p, v, a] = smoother.path(&samples, k);
            assert!(
                (p[0] - t.sin()).abs() < 1e-3
                    && (v[0] - t.cos()).abs() < 2e-2
                    && (a[0] + t.sin()).abs() < 3e-2
            );
        }
    }

    #[test]
    fn a_steady_turn_through_all_attitudes_has_its_rate() {
        let rate = Vector3::new(0.3, -2.0, 1.0);
        let start = UnitQuaternion::exp(&Vector3::new(0.1, 1.5, -3.0));
        let samples: Vec<_> = (0..300)
            .map(|k| {
                let q = start * UnitQuaternion::exp(&(rate * f64::from(k) * 0.02));
                // The sign of a quaternion is arbitrary: flip some.
                let sign = if k % 3 == 0 { -1.0 } else { 1.0 };
                UnitQuaternion::try_from_wxyz(&(sign * q.wxyz())).unwrap()
            })
            .collect();
        let smoother = Smoother::new(0.02, 0.2, samples.len()).unwrap();
        for (k, sample) in samples.iter().enumerate() {
            let (q, omega) = smoother.attitude(&samples, k);
            assert!(
                (Vector3::from(omega) - rate).norm() < 1e-9,
                "{k}: {omega:?}"
            );
            assert!((q.wxyz().dot(&sample.wxyz()).abs() - 1.0).abs() < 1e-12);
        }
    }
}
