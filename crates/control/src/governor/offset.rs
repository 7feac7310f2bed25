//! An offset that goes to zero within limits.

use nalgebra::SVector;

/// How far a vector of N coordinates is from its goal, with three derivatives; it goes to zero along a curve that is four times differentiable.
///
/// Without limits it obeys `(d/dt + lambda)^4 e = 0`, written as a cascade whose inner stages are limited (nested saturations):
///
/// ```text
/// v_c = v_R - clip(shape(|e|) e/|e|)          shape(s) = lambda/4 s, but at most the speed that a braking of a/2 takes to zero within s
/// a_c = a_R + clip(2/3 lambda (v_c - v))      v, a: of the goal and the offset together
/// e'''' = 6 lambda^2 (a_c - a) - 4 lambda e'''
/// ```
///
/// The limits are those of the whole motion. Clipped is what the way adds to the goal's own motion, never that itself; where the goal alone comes near the limits
/// or is beyond them, a quarter of it is left for the way.
///
/// Far away lambda is that with which the cascade keeps to the jerk while the acceleration goes from one of its limits to the other. The nearer the goal, the less there
/// is to take away, and the quicker may it be: the largest lambda with which the way back from e, from e' and from e'' alone stays within the jerk, but no quicker than the
/// law that follows it. So the last part of the way takes as long as the law, not as the limits, would have it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Offset<const N: usize> {
    /// e, e', e'', e'''.
    pub derivatives: [SVector<f64, N>; 4],
    /// e''''.
    pub fourth: SVector<f64, N>,
    zero: bool,
}

/// Bounds of a motion along some coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    /// In the positive and in the negative direction; the length of a vector of several coordinates is bounded by the first.
    pub speed: [f64; 2],
    /// The same.
    pub acceleration: [f64; 2],
    /// Length of the derivative of the acceleration.
    pub jerk: f64,
    /// lambda near the goal, 1/s; no less than that far away.
    pub quickest: f64,
}

impl Bounds {
    /// lambda far away, 1/s.
    pub fn slowest(&self) -> f64 {
        self.jerk / (PEAK_JERK * (self.acceleration[0] + self.acceleration[1]))
    }
}

/// An offset with nothing larger than this (in units of the coordinate and seconds) is dropped.
const NOTHING: f64 = 1e-9;
/// The part of the acceleration with which it brakes: the rest is for what the cascade lags behind.
const BRAKING: f64 = 0.5;
/// Largest jerk of the cascade in units of lambda times the acceleration by which `a_c` changes.
const PEAK_JERK: f64 = 1.032;
/// Largest jerk of `(d/dt + lambda)^4 e = 0` from e, e' or e'' alone, in units of `lambda^3 e`, `lambda^2 e'` and `lambda e''`.
const PEAK_JERKS: [f64; 3] = [0.168_206, 0.724_975, 1.254_443];
/// A goal that is itself near the limits, or beyond them, may be exceeded by this factor: what is left for the way there.
const SPARE: f64 = 1.25;
/// Longest step in units of 1/lambda.
const LONGEST_STEP: f64 = 0.05;
/// The most steps at once.
const MOST_STEPS: f64 = 1000.0;

impl<const N: usize> Offset<N> {
    pub fn zero() -> Self {
        Self {
            derivatives: [SVector::zeros(); 4],
            fourth: SVector::zeros(),
            zero: true,
        }
    }

    /// With these derivatives: e, e', e'', e'''.
    pub fn new(derivatives: [SVector<f64, N>; 4]) -> Self {
        Self {
            derivatives,
            fourth: SVector::zeros(),
            zero: false,
        }
    }

    /// Whether there is none.
    pub fn is_zero(&self) -> bool {
        self.zero
    }

    /// Moves on by `elapsed` s to a goal with this velocity and acceleration. Of a gap longer than [`MOST_STEPS`] steps, in which it would
    /// settle, the rest is skipped.
    pub fn advance(
        &mut self,
        elapsed: f64,
        bounds: &Bounds,
        velocity: &SVector<f64, N>,
        acceleration: &SVector<f64, N>,
    ) {
        if self.zero {
            return;
        }
        let longest = LONGEST_STEP / bounds.quickest.max(bounds.slowest());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small count"
        )]
        let count = (elapsed / longest).ceil().clamp(1.0, MOST_STEPS) as u32;
        let step = (elapsed / f64::from(count)).min(longest);
        for _ in 0..count {
            self.steer(bounds, velocity, acceleration);
            self.integrate(step);
        }
        let [e, v, a, j] = &self.derivatives;
        if [e, v, a, j].iter().all(|x| x.amax() < NOTHING) {
            *self = Self::zero();
        }
    }

    /// lambda.
    fn quickness(&self, bounds: &Bounds) -> f64 {
        let [e, v, a] =
            [0, 1, 2].map(|k| bounds.jerk / (PEAK_JERKS[k] * self.derivatives[k].norm()));
        let near = e.cbrt().min(v.sqrt()).min(a);
        near.min(bounds.quickest).max(bounds.slowest())
    }

    /// Chooses e''''.
    fn steer(
        &mut self,
        bounds: &Bounds,
        velocity: &SVector<f64, N>,
        acceleration: &SVector<f64, N>,
    ) {
        let lambda = self.quickness(bounds);
        let [e, v, a, j] = &self.derivatives;
        let distance = e.norm();
        let slope = lambda / 4.0;
        let braking = BRAKING * bounds.acceleration[0].min(bounds.acceleration[1]);
        let linear = braking / (slope * slope);
        let speed = if distance <= linear {
            slope * distance
        } else {
            (2.0 * braking * (distance - 0.5 * linear)).sqrt()
        };
        let towards = if distance > 0.0 {
            e * (-speed / distance)
        } else {
            SVector::zeros()
        };
        let v_c = clip(towards, bounds.speed, velocity);
        let a_c = (v_c - v) * (2.0 / 3.0 * lambda);
        let a_c = clip(a_c, bounds.acceleration, acceleration);
        self.fourth = (a_c - a) * (6.0 * lambda * lambda) - j * (4.0 * lambda);
    }

    /// The fourth derivative is constant over a step, so this is exact.
    fn integrate(&mut self, h: f64) {
        let [e, v, a, j] = self.derivatives;
        let s = self.fourth;
        self.derivatives = [
            e + (v + (a / 2.0 + (j / 6.0 + s * (h / 24.0)) * h) * h) * h,
            v + (a + (j / 2.0 + s * (h / 6.0)) * h) * h,
            a + (j + s * (h / 2.0)) * h,
            j + s * h,
        ];
    }
}

/// What is added to the goal's own motion: as much of `x` as keeps the sum within the limits, or within [`SPARE`] times the goal.
fn clip<const N: usize>(
    x: SVector<f64, N>,
    limits: [f64; 2],
    goal: &SVector<f64, N>,
) -> SVector<f64, N> {
    if N == 1 {
        let ([up, down], goal) = (limits, goal[0]);
        let (low, high) = (-down.max(-SPARE * goal), up.max(SPARE * goal));
        return x.map(|x| x.clamp(low - goal, high - goal));
    }
    let limit = limits[0].max(SPARE * goal.norm());
    let (squared, along) = (x.norm_squared(), x.dot(goal));
    // |goal + part x| = limit.
    let remaining = limit * limit - goal.norm_squared();
    let part = ((along * along + squared * remaining).sqrt() - along) / squared;
    // Nothing is left of no vector.
    if part < 1.0 { x * part } else { x }
}
