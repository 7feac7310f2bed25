//! Adaptive integration to exact times and to events.

use nalgebra::{RealField, convert};

use super::event::locate;
use super::{Direction, RungeKutta, Scheme, SystemState};
use crate::multibody::Model;

/// The error tolerance of a step.
///
/// The error is measured in units of `absolute + relative |y|`, where `y` is a velocity, another state, or the step in a
/// velocity coordinate; the root mean square over all of them must stay below 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance<T> {
    /// In the units of the coordinates: m, rad, m/s, rad/s.
    pub absolute: T,
    /// Relative to the value itself.
    pub relative: T,
    /// The longest step, s. An event that starts and ends within one step is missed.
    pub longest_step: T,
}

impl<T: RealField + Copy> Default for Tolerance<T> {
    /// 1e-9 absolute and relative, or 64 units of rounding (7.6e-6 for `f32`); steps of any length.
    fn default() -> Self {
        let least = convert::<f64, T>(1e-9).max(T::default_epsilon() * convert(64.0));
        Self {
            absolute: least,
            relative: least,
            longest_step: convert(1e30),
        }
    }
}

/// The step became too short to advance the time: the tolerance is below rounding, or the dynamics are discontinuous, unbounded or not
/// finite.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "at {time} s a step of {step} s is needed for the tolerance, shorter than the time's own rounding: \
     loosen the tolerance, or check whether the dynamics are discontinuous or not finite there"
)]
pub struct StepUnderflow<T: std::fmt::Display + std::fmt::Debug> {
    /// The time that was reached, s.
    pub time: T,
    /// The step that is too short, s.
    pub step: T,
}

/// Integrates a system of bodies by [`Scheme::DormandPrince8`], with step sizes controlled by a [`Tolerance`].
///
/// It stores the scratch arrays, so that nothing allocates; with other states, the first step does. An event is a zero crossing of a function of the state;
/// the integration stops there, and the caller changes the state (an impact), counts, or continues:
///
/// ```
/// use fly_mechanics::integrate::{Adaptive, Direction, SystemState, Tolerance};
/// use fly_mechanics::multibody::{Body, Joint, Model};
/// use nalgebra::Vector3;
///
/// // A ball falls from 1 m and bounces with half its speed.
/// let model = Model::builder().body(Body::new("ball", Joint::prismatic(Vector3::z())?)).build()?;
/// let mut ball = SystemState::at_rest(&model);
/// ball.configuration[0] = 1.0;
///
/// let events = [Direction::Falling];
/// let mut integrator = Adaptive::new(&model, Tolerance::default()).with_events(&events);
/// let mut bounces = Vec::new();
/// let fall = |_: &SystemState<f64>, xi_dot: &mut [f64]| xi_dot[0] = -9.81;
/// let height = |ball: &SystemState<f64>, value: &mut [f64]| value[0] = ball.configuration[0];
/// while let Some(_contact) = integrator.advance_to_event(&model, &mut ball, 1.0, fall, height)? {
///     bounces.push(ball.time);
///     ball.velocity[0] *= -0.5;
/// }
/// let first = (2.0 / 9.81_f64).sqrt();
/// assert!((bounces[0] - first).abs() < 1e-11);
/// assert!((bounces[1] - 2.0 * first).abs() < 1e-11);
/// assert_eq!(ball.time, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Adaptive<T: RealField + Copy> {
    tolerance: Tolerance<T>,
    scheme: RungeKutta<T>,
    /// The length of the next step; `None` at the start and after an event, when it must be determined first.
    step: Option<T>,
    end: SystemState<T>,
    directions: Vec<Direction>,
    before: Vec<T>,
    after: Vec<T>,
}

/// # Construction
impl<T: RealField + Copy> Adaptive<T> {
    /// For this model.
    pub fn new(model: &Model<T>, tolerance: Tolerance<T>) -> Self {
        Self {
            tolerance,
            scheme: RungeKutta::new(model, Scheme::DormandPrince8),
            step: None,
            end: SystemState::at_rest(model),
            directions: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    /// Adds one event per direction, see [`advance_to_event`](Self::advance_to_event).
    #[must_use]
    pub fn with_events(mut self, events: &[Direction]) -> Self {
        self.directions = events.to_vec();
        self.before = vec![T::zero(); events.len()];
        self.after = self.before.clone();
        self
    }
}

/// # Integration
impl<T: RealField + Copy> Adaptive<T> {
    /// Advances to the time `until` exactly, ignoring events; no effect for a time in the past. `dynamics(motion, rates)` writes
    /// `xi_dot`, followed by the rates of the other states.
    ///
    /// # Errors
    /// [`StepUnderflow`]; the motion is the last valid one.
    ///
    /// # Panics
    /// If the size of the motion is not that of the model, or it has too few velocities.
    pub fn advance(
        &mut self,
        model: &Model<T>,
        motion: &mut SystemState<T>,
        until: T,
        mut dynamics: impl FnMut(&SystemState<T>, &mut [T]),
    ) -> Result<(), StepUnderflow<T>> {
        while motion.time < until {
            let step = self.attempt(model, motion, until, &mut dynamics)?;
            self.accept(motion, until, step);
        }
        Ok(())
    }

    /// The same up to the first event, whose index it returns; `None` at the time `until`.
    ///
    /// `events(motion, values)` writes one value per direction of [`with_events`](Self::with_events); an event is a zero crossing of one of them
    /// in its direction. The time is accurate to 1e-12 of a step, and the motion is just beyond the crossing, so that continuing does not
    /// find it again. After an event the step size is determined anew, starting from short steps.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    ///
    /// # Panics
    /// As [`advance`](Self::advance).
    pub fn advance_to_event(
        &mut self,
        model: &Model<T>,
        motion: &mut SystemState<T>,
        until: T,
        mut dynamics: impl FnMut(&SystemState<T>, &mut [T]),
        mut events: impl FnMut(&SystemState<T>, &mut [T]),
    ) -> Result<Option<usize>, StepUnderflow<T>> {
        events(motion, &mut self.before);
        while motion.time < until {
            let step = self.attempt(model, motion, until, &mut dynamics)?;
            events(&self.end, &mut self.after);
            let mut first = None;
            let mut end = step;
            for i in 0..self.directions.len() {
                // After an earlier event has been found, later ones are searched only up to its time.
                let (before, after) = (self.before[i], self.after[i]);
                if !self.directions[i].crosses(before, after) {
                    continue;
                }
                let tolerance = end * convert(1e-12) + rounding(motion.time);
                let mut at = |step: T, integrator: &mut Self| {
                    integrator.try_step(model, motion, step, &mut dynamics);
                    events(&integrator.end, &mut integrator.after);
                    integrator.after[i]
                };
                end = locate(before, after, end, tolerance, |step| at(step, self));
                at(end, self);
                first = Some(i);
            }
            if first.is_some() {
                motion.copy_from(&self.end);
                self.step = None;
                return Ok(first);
            }
            self.accept(motion, until, step);
            self.before.copy_from_slice(&self.after);
        }
        Ok(None)
    }

    /// Accepts the end of a successful step.
    fn accept(&mut self, motion: &mut SystemState<T>, until: T, step: T) {
        let is_last = motion.time + step >= until;
        motion.copy_from(&self.end);
        if is_last {
            // Exactly, not with a rounding error.
            motion.time = until;
        }
    }

    /// Finds a step within the tolerance and not beyond `until`: returns its length, and writes its end to `self.end`.
    fn attempt(
        &mut self,
        model: &Model<T>,
        motion: &SystemState<T>,
        until: T,
        dynamics: &mut impl FnMut(&SystemState<T>, &mut [T]),
    ) -> Result<T, StepUnderflow<T>> {
        let mut wanted = match self.step {
            Some(step) => step,
            None => self.first_step(model, motion, dynamics),
        };
        loop {
            wanted = wanted.min(self.tolerance.longest_step);
            let step = wanted.min(until - motion.time);
            if step <= rounding(motion.time) && step < until - motion.time {
                let time = motion.time;
                return Err(StepUnderflow { time, step });
            }
            self.try_step(model, motion, step, dynamics);
            let error = self.error(step);
            // A NaN error fails both comparisons and shortens the step.
            let factor = if error.is_zero() {
                convert(6.0)
            } else {
                let best = error.powf(convert(-0.125)) * convert(0.9);
                if best > convert(0.2) {
                    best.min(convert(6.0))
                } else {
                    convert(0.2)
                }
            };
            if error <= T::one() {
                // The truncated last step must not shorten later ones.
                self.step =
                    Some((step * factor).max(if step < wanted { wanted } else { T::zero() }));
                return Ok(step);
            }
            wanted = step * factor.min(convert(0.8));
            if wanted <= rounding(motion.time) {
                let (time, step) = (motion.time, wanted);
                return Err(StepUnderflow { time, step });
            }
        }
    }

    fn try_step(
        &mut self,
        model: &Model<T>,
        motion: &SystemState<T>,
        step: T,
        dynamics: &mut impl FnMut(&SystemState<T>, &mut [T]),
    ) {
        self.scheme.evaluate(model, motion, step, dynamics);
        self.end.copy_from(motion);
        self.scheme.finish(model, step, &mut self.end);
    }

    /// The step's error in units of the tolerance, Hairer, Norsett and Wanner (II.10.17).
    fn error(&self, step: T) -> T {
        let (way, _) = self.scheme.way();
        let values = way.iter().chain(&self.end.velocity);
        let Tolerance {
            absolute, relative, ..
        } = self.tolerance;
        let (mut fifth, mut third, mut count) = (T::zero(), T::zero(), T::zero());
        let estimates = self.scheme.errors(0).zip(self.scheme.errors(1));
        for (value, (e5, e3)) in values.zip(estimates) {
            let unit = absolute + relative * value.abs();
            fifth += (e5 / unit) * (e5 / unit);
            third += (e3 / unit) * (e3 / unit);
            count += T::one();
        }
        if fifth.is_zero() {
            return fifth;
        }
        step * fifth / ((fifth + third * convert(0.01)) * count).sqrt()
    }

    /// A step in which the states change by a hundredth: short, as later ones grow.
    fn first_step(
        &mut self,
        model: &Model<T>,
        motion: &SystemState<T>,
        dynamics: &mut impl FnMut(&SystemState<T>, &mut [T]),
    ) -> T {
        self.scheme.evaluate(model, motion, T::zero(), dynamics);
        let (_, rates) = self.scheme.way();
        let norm = |numbers: &[T]| {
            let units = motion.velocity.iter();
            let pairs = numbers.iter().zip(units);
            pairs.fold(T::zero(), |sum, (number, value)| {
                let unit = self.tolerance.absolute + self.tolerance.relative * value.abs();
                sum + (*number / unit) * (*number / unit)
            })
        };
        let (size, rate) = (norm(&motion.velocity).sqrt(), norm(rates).sqrt());
        let small: T = convert(1e-5);
        let step = if size > small && rate > small {
            size / rate * convert(0.01)
        } else {
            convert(1e-6)
        };
        // A state nearly at rest, or NaN, gives no scale.
        if step > convert(1e-6) {
            step
        } else {
            convert(1e-6)
        }
    }
}

/// A step this short does not advance the time reliably.
fn rounding<T: RealField + Copy>(time: T) -> T {
    (time.abs() + convert(1e-3)) * T::default_epsilon() * convert(4.0)
}
