//! The closed loop as it is flown: commands are computed once each step, held, delayed, and followed with a lag.
#![allow(non_snake_case)]

use std::borrow::Cow;
use std::f64::consts::{PI, TAU};

use fly_mechanics::Polytope;
use nalgebra::{Complex, DMatrix};

use super::digital::{Digital, held, steps_of};
use super::{AnalysisError, ClosedLoop, LagFactors};
use crate::linear::{complex_eigenvalues, eigenvalues};

/// A [`ClosedLoop`] whose law is computed once each step `h`: the command holds for one step, and acts through the lags of the actuators.
///
/// ```text
/// z_k+1 = Phi z_k + Gamma c_k,   c_k = L z_k     z = [eps; eps'; commands that lag], exactly for small errors
/// ```
///
/// A controller may have states of its own: with an [observer of disturbances](crate::disturbance) or a [lead](crate::lead) what it believes of the commands that lag, by its
/// own model, with an observer `M^-1 r`, and where it predicts the state over a delay the commands that are on their way. That delay is then in the
/// plant as well. What it believes is not what acts if gains, lags or delays are others: the margins tell.
///
/// Poles are those of z: stable inside the unit circle; `ln(z)/h` is what a continuous loop would have. A pole at `s` that is fast beside the
/// step, `|s| h > 1`, is not where continuous analysis puts it.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledLoop {
    /// h, s.
    step: f64,
    /// The delay that the controller makes up for, s.
    delay: f64,
    /// Of `z' = A z + B c`.
    A: DMatrix<f64>,
    B: DMatrix<f64>,
    /// With that delay.
    motion: Motion,
    controller: Digital,
}

/// The smallest delay that a sampled loop does not bear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayMargin {
    /// From the measurement to the command, beyond what is in the loop already, s.
    pub delay: f64,
    /// The frequency at which it then oscillates, rad/s.
    pub frequency: f64,
}

/// The factors of all commands' feedback between which a sampled loop is stable. Saturation acts as a factor below 1, so the lower one says what
/// saturation may take; a loop that is stable open has none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GainMargins {
    /// Below 1; `None` if stable down to [`SampledLoop::LEAST_GAIN`].
    pub least: Option<f64>,
    /// Above 1; `None` if stable up to [`SampledLoop::MOST_GAIN`].
    pub most: Option<f64>,
}

/// Lags below this part of a step are none: they end before the command does.
const NO_LAG: f64 = 1e-3;
/// Frequencies that are looked at, in each decade.
const FREQUENCIES: u32 = 400;
/// Decades below the highest one, pi/h.
const DECADES: u32 = 6;
/// From one gain that is looked at to the next; with commands on their way there are many states, and fewer gains.
const GAIN_STEP: f64 = 1.02;
const DELAYED_GAIN_STEP: f64 = 1.1;
/// From one factor of the lags to the next.
const LAG_STEP: f64 = 1.1;
/// So many parts of a delay are looked at.
const EARLIER: u32 = 20;

/// `z_k+1 = Phi z_k + before c' + now c`, c' the command that acts until the next one, c, has passed the delay.
#[derive(Clone, Debug, PartialEq)]
struct Motion {
    Phi: DMatrix<f64>,
    before: DMatrix<f64>,
    now: DMatrix<f64>,
}

impl Motion {
    /// Of `z' = A z + B c` in one step.
    fn new(A: &DMatrix<f64>, B: &DMatrix<f64>, step: f64, delay: f64) -> Self {
        let (_, late) = steps_of(delay, step);
        let (rest, now) = held(A, B, step - late);
        let (first, before) = held(A, B, late);
        Self {
            Phi: &rest * first,
            before: rest * before,
            now,
        }
    }

    fn is_finite(&self) -> bool {
        let entries = self.Phi.iter().chain(&self.before).chain(&self.now);
        entries.into_iter().all(|x| x.is_finite())
    }
}

impl ClosedLoop {
    /// The loop flown with this step (s, > 0) and these time constants (s, >= 0) of the commands, in their order.
    ///
    /// # Errors
    /// [`AnalysisError::Lags`]; [`AnalysisError::Poles`] if its motion in one step is not finite.
    pub fn sampled(&self, step: f64, lags: &[f64]) -> Result<SampledLoop, AnalysisError> {
        let (A, B) = self.open(lags, NO_LAG * step)?;
        let motion = Motion::new(&A, &B, step, self.delay);
        if !motion.is_finite() {
            return Err(AnalysisError::Poles);
        }
        Ok(SampledLoop {
            step,
            delay: self.delay,
            A,
            B,
            motion,
            controller: self.digital(step, NO_LAG * step),
        })
    }

    /// The factors of these lags (s) between which the loop flown with this step is stable, all lags multiplied by the same; the controller believes what it does.
    ///
    /// # Errors
    /// [`AnalysisError::Unstable`] if it is not stable with these lags; as [`sampled`](Self::sampled).
    pub fn lag_factors(&self, step: f64, lags: &[f64]) -> Result<LagFactors, AnalysisError> {
        let is_stable = |factor: f64| {
            let scaled: Vec<f64> = lags.iter().map(|lag| factor * lag).collect();
            Ok(growth(&self.sampled(step, &scaled)?.poles()?) < 1.0)
        };
        self.sampled(step, lags)?.expect_stable()?;
        Ok(LagFactors {
            least: first_unstable(LAG_STEP.recip(), LagFactors::LEAST, is_stable)?,
            most: first_unstable(LAG_STEP, LagFactors::MOST, is_stable)?,
        })
    }

    /// The largest error, in m or rad, that takes no input to its limits `W u <= l`, from rest: its entries of these indices of `eps` in any
    /// direction, the others zero. Zero where the system cannot rest inside its limits; infinite without limits.
    ///
    /// # Panics
    /// If limits or indices do not fit the system.
    pub fn unsaturated_error(&self, limits: &Polytope, of: std::ops::Range<usize>) -> f64 {
        let change = &limits.matrix * self.input_gain();
        let slack = &limits.bound - &limits.matrix * self.input();
        (slack.iter().zip(change.row_iter()))
            .map(|(slack, row)| slack.max(0.0) / row.columns_range(of.clone()).norm())
            .filter(|error| !error.is_nan())
            .fold(f64::INFINITY, f64::min)
    }
}

impl SampledLoop {
    /// The least gain that is looked at.
    pub const LEAST_GAIN: f64 = 0.01;
    /// The largest gain that is looked at.
    pub const MOST_GAIN: f64 = 100.0;

    /// h, s.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// p.
    pub fn inputs(&self) -> usize {
        self.B.ncols()
    }

    /// How many poles it has: commands on their way are states, too.
    pub fn states(&self) -> usize {
        self.matrix(self.delay, 1.0).nrows()
    }

    /// The poles z: two for each degree of freedom and one for each command that lags, then those of the controller's own states and of commands on their way.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`].
    pub fn poles(&self) -> Result<Vec<Complex<f64>>, AnalysisError> {
        self.poles_with_gain(1.0)
    }

    /// The poles with the effect of all commands multiplied by this factor.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`].
    pub fn poles_with_gain(&self, factor: f64) -> Result<Vec<Complex<f64>>, AnalysisError> {
        self.poles_with(0.0, factor)
    }

    /// The poles with so much more delay (s) between measurement and command than the controller makes up for, or less (< 0), which need not be a multiple of the step;
    /// the commands that are on their way are part of the state.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`].
    pub fn poles_with_delay(&self, delay: f64) -> Result<Vec<Complex<f64>>, AnalysisError> {
        self.poles_with(delay, 1.0)
    }

    /// The poles with both: so much more delay (s) than the controller makes up for, and the effect of all commands multiplied by a factor.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`].
    pub fn poles_with(&self, delay: f64, factor: f64) -> Result<Vec<Complex<f64>>, AnalysisError> {
        let delay = (self.delay + delay).max(0.0);
        eigenvalues(&self.matrix(delay, factor)).ok_or(AnalysisError::Poles)
    }

    /// Of the plant over a step, with this delay, s.
    fn motion(&self, delay: f64) -> Cow<'_, Motion> {
        if delay == self.delay {
            Cow::Borrowed(&self.motion)
        } else {
            Cow::Owned(Motion::new(&self.A, &self.B, self.step, delay))
        }
    }

    /// Of `[z; s; c_k-1, c_k-2, ...]`, s the controller's own states, with this delay of the plant (s) and this factor of its commands.
    fn matrix(&self, delay: f64, factor: f64) -> DMatrix<f64> {
        let (B, of) = (&self.B, &self.controller);
        let ((size, p), own, errors) = (B.shape(), of.own.nrows(), of.gain.ncols());
        // The command of `whole + 1` steps ago acts until `late`, that of `whole` steps ago for the rest of the step.
        let (whole, late) = steps_of(delay, self.step);
        let ring = of.past.len().max(whole + usize::from(late > 0.0));
        let count = size + own + ring * p;
        let at = |j: usize| size + own + (j - 1) * p;

        let mut command = DMatrix::zeros(p, count);
        command.columns_mut(0, errors).copy_from(&of.gain);
        command.columns_mut(size, own).copy_from(&of.own_gain);
        for (j, [past, _]) in (1..).zip(&of.past) {
            command.columns_mut(at(j), p).copy_from(past);
        }
        let mut plant = DMatrix::zeros(size, count);
        let motion = self.motion(delay);
        let Motion { Phi, before, now } = motion.as_ref();
        if late > 0.0 {
            let mut acting = plant.columns_mut(at(whole + 1), p);
            acting += before * factor;
        }
        let mut of_plant = plant.columns_mut(0, size);
        of_plant += Phi;
        if whole == 0 {
            plant += now * factor * &command;
        } else {
            let mut acting = plant.columns_mut(at(whole), p);
            acting += now * factor;
        }

        let mut next = DMatrix::zeros(count, count);
        next.rows_mut(0, size).copy_from(&plant);
        let mut state = &of.after * plant.rows(0, errors) + &of.command * &command;
        let mut part = state.columns_mut(0, errors);
        part += &of.before;
        let mut part = state.columns_mut(size, own);
        part += &of.own;
        for (j, [_, past]) in (1..).zip(&of.past) {
            let mut part = state.columns_mut(at(j), p);
            part += past;
        }
        next.rows_mut(size, own).copy_from(&state);
        if ring > 0 {
            next.rows_mut(at(1), p).copy_from(&command);
        }
        for j in 1..ring {
            let (to, from) = (at(j + 1), at(j));
            next.view_mut((to, from), (p, p)).fill_with_identity();
        }
        next
    }

    /// The smallest delay, beyond what the controller makes up for, at which the loop is not stable; `None` if there is none. Exact for whole numbers of steps, between them as a command that is
    /// held in the same way but later.
    ///
    /// With d steps of delay the loop closes where an eigenvalue `lambda` of the open one, from the commands that act to those that are computed, is `z^d`. Poles meet the unit circle, `z = e^(i theta)`, where
    /// `|lambda| = 1`, with `d = arg(lambda)/theta`.
    ///
    /// # Errors
    /// [`AnalysisError::Unstable`] if it is not stable without any; [`AnalysisError::Poles`].
    pub fn delay_margin(&self) -> Result<Option<DelayMargin>, AnalysisError> {
        self.expect_stable()?;
        let motion = &self.motion;
        let count = FREQUENCIES * DECADES;
        let angle_at = |k: u32| PI * 10.0_f64.powf(-f64::from(k) / f64::from(FREQUENCIES));
        let mut least: Option<DelayMargin> = None;
        let mut above = self.open_loop(motion, PI)?;
        for k in 1..=count {
            let (low, high) = (angle_at(k), angle_at(k - 1));
            let below = self.open_loop(motion, low)?;
            for i in 0..below.len() {
                if (below[i].norm() > 1.0) != (above[i].norm() > 1.0) {
                    let (theta, lambda) =
                        self.crossing(motion, i, low, high, below[i].norm() > 1.0)?;
                    let delay = self.step * lambda.arg().rem_euclid(TAU) / theta;
                    if least.is_none_or(|least| delay < least.delay) {
                        let frequency = theta / self.step;
                        least = Some(DelayMargin { delay, frequency });
                    }
                }
            }
            above = below;
        }
        Ok(least)
    }

    /// How much less delay than the controller makes up for takes the loop to where it is not stable, s; `None` if it bears any.
    ///
    /// # Errors
    /// As [`delay_margin`](Self::delay_margin).
    pub fn early_margin(&self) -> Result<Option<f64>, AnalysisError> {
        self.expect_stable()?;
        let is_stable = |less: f64| Ok(growth(&self.poles_with_delay(-less)?) < 1.0);
        let mut stable = 0.0;
        for k in 1..=EARLIER {
            let less = self.delay * f64::from(k) / f64::from(EARLIER);
            if !is_stable(less)? {
                return bisect(stable, less, is_stable).map(Some);
            }
            stable = less;
        }
        Ok(None)
    }

    /// The gains between which the loop is stable.
    ///
    /// # Errors
    /// As [`delay_margin`](Self::delay_margin).
    pub fn gain_margins(&self) -> Result<GainMargins, AnalysisError> {
        self.expect_stable()?;
        let is_stable = |gain| Ok(growth(&self.poles_with_gain(gain)?) < 1.0);
        let ratio = if self.delay > 0.0 {
            DELAYED_GAIN_STEP
        } else {
            GAIN_STEP
        };
        Ok(GainMargins {
            least: first_unstable(ratio.recip(), Self::LEAST_GAIN, is_stable)?,
            most: first_unstable(ratio, Self::MOST_GAIN, is_stable)?,
        })
    }

    fn expect_stable(&self) -> Result<(), AnalysisError> {
        let growth = growth(&self.poles()?);
        if growth < 1.0 {
            Ok(())
        } else {
            Err(AnalysisError::Unstable(growth.ln() / self.step))
        }
    }

    /// The eigenvalues of the open loop at `z = e^(i theta)`, from the commands that act to those that are computed, the smallest first.
    fn open_loop(&self, motion: &Motion, theta: f64) -> Result<Vec<Complex<f64>>, AnalysisError> {
        let complex = |matrix: &DMatrix<f64>| matrix.map(Complex::from);
        let z = Complex::cis(theta);
        let solve = |matrix: &DMatrix<f64>, right: DMatrix<Complex<f64>>| {
            if matrix.is_empty() {
                return Ok(right);
            }
            let mut denominator = -complex(matrix);
            for i in 0..denominator.nrows() {
                denominator[(i, i)] += z;
            }
            denominator.lu().solve(&right).ok_or(AnalysisError::Poles)
        };
        let (whole, late) = steps_of(self.delay, self.step);
        let Motion { Phi, before, now } = motion;
        let mut acting = complex(now);
        if late > 0.0 {
            acting += complex(before) / z;
        }
        acting *= Complex::cis(-theta * whole as f64);
        let of = &self.controller;
        let errors = of.gain.ncols();
        let y = solve(Phi, acting)?.rows(0, errors).into_owned();
        // (I - P - G_s (z - S)^-1 Q) c = (G + G_s (z - S)^-1 (S_y + z S_+)) y
        let mut gain = complex(&of.gain);
        let is_empty = of.past.is_empty() && of.own.is_empty();
        let transfer = if is_empty {
            gain * y
        } else {
            let p = self.B.ncols();
            let (mut past, mut own_past) = (DMatrix::identity(p, p), complex(&of.command));
            let mut earlier = Complex::from(1.0);
            for [command, own] in &of.past {
                earlier /= z;
                past -= complex(command) * earlier;
                own_past += complex(own) * earlier;
            }
            let own_gain = complex(&of.own_gain);
            let own = solve(&of.own, complex(&of.before) + complex(&of.after) * z)?;
            past -= &own_gain * solve(&of.own, own_past)?;
            gain += own_gain * own;
            past.lu().solve(&(gain * y)).ok_or(AnalysisError::Poles)?
        };
        let mut values = complex_eigenvalues(&transfer).ok_or(AnalysisError::Poles)?;
        values.sort_by(|a, b| a.norm().total_cmp(&b.norm()));
        Ok(values)
    }

    /// Where the i-th smallest eigenvalue has the modulus 1, between two angles on whose lower side it is larger or smaller.
    fn crossing(
        &self,
        motion: &Motion,
        i: usize,
        mut low: f64,
        mut high: f64,
        larger_below: bool,
    ) -> Result<(f64, Complex<f64>), AnalysisError> {
        while high - low > 1e-12 * high {
            let middle = f64::midpoint(low, high);
            if (self.open_loop(motion, middle)?[i].norm() > 1.0) == larger_below {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok((low, self.open_loop(motion, low)?[i]))
    }
}

/// The first factor on the way from 1 to the last one, by this ratio, at which a loop is not stable.
fn first_unstable(
    ratio: f64,
    last: f64,
    is_stable: impl Fn(f64) -> Result<bool, AnalysisError>,
) -> Result<Option<f64>, AnalysisError> {
    let mut stable = 1.0;
    while (stable < last) == (ratio > 1.0) {
        let limit = stable * ratio;
        if !is_stable(limit)? {
            return bisect(stable, limit, is_stable).map(Some);
        }
        stable = limit;
    }
    Ok(None)
}

/// The limit of stability between a value that is stable and one that is not.
fn bisect(
    mut stable: f64,
    mut limit: f64,
    is_stable: impl Fn(f64) -> Result<bool, AnalysisError>,
) -> Result<f64, AnalysisError> {
    while (limit - stable).abs() > 1e-9 * limit {
        let middle = f64::midpoint(stable, limit);
        if is_stable(middle)? {
            stable = middle;
        } else {
            limit = middle;
        }
    }
    Ok(limit)
}

/// The factor by which errors grow in a step, in the long run: the largest modulus of the poles z. Below 1 the loop is stable.
pub fn growth(poles: &[Complex<f64>]) -> f64 {
    poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max)
}
