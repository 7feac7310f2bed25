//! The closed loop as it is flown: commands are computed once each step, held, delayed, and followed with a lag.
#![allow(non_snake_case)]

use std::borrow::Cow;
use std::f64::consts::{PI, TAU};

use fly_mechanics::Polytope;
use nalgebra::{Complex, DMatrix};

use super::digital::{Digital, held, steps_of};
use super::{AnalysisError, ClosedLoop, LagFactors};
use crate::lehmer::Lehmer;
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
const DECADES: i32 = 6;
/// Where commands are on their way, neighbours differ at most by this part of a radian that the longest way turns.
const TURN: f64 = 0.2;
/// From one gain that is looked at to the next.
const GAIN_STEP: f64 = 1.02;
/// With more states than this, nearly all of commands on their way, the poles that last are looked for without the others.
const DENSE: usize = 120;
/// What is left of a pole below this part after the longest way does not last …
const FORGOTTEN: f64 = 1e-10;
/// … and what lasts goes over into itself, but for this part.
const INVARIANT: f64 = 1e-7;
/// From one factor of the lags to the next.
const LAG_STEP: f64 = 1.1;

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

    /// Whether it has so many commands on their way that only the [poles](Self::poles) that last are looked for.
    pub fn is_long(&self) -> bool {
        self.states() > DENSE
    }

    /// The poles z: two for each degree of freedom and one for each command that lags, then those of the controller's own states and of commands on their way. Of a
    /// [long](Self::is_long) loop whose prediction is exact only those that are left when all commands have arrived.
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
        let matrix = self.matrix(delay, factor);
        lasting(
            &matrix,
            self.motion.Phi.nrows() + self.controller.own.nrows(),
        )
        .or_else(|| eigenvalues(&matrix))
        .ok_or(AnalysisError::Poles)
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
        let of = |(theta, lambda): (f64, Complex<f64>)| DelayMargin {
            delay: self.step * lambda.arg().rem_euclid(TAU) / theta,
            frequency: theta / self.step,
        };
        let margins = self.unit_gains()?.into_iter().map(of);
        Ok(margins.min_by(|a, b| a.delay.total_cmp(&b.delay)))
    }

    /// Where an eigenvalue of the open loop has the modulus 1: angles and eigenvalues.
    fn unit_gains(&self) -> Result<Vec<(f64, Complex<f64>)>, AnalysisError> {
        let motion = &self.motion;
        let mut found = Vec::new();
        self.sweep(|[low, high], [below, above]| {
            for i in 0..below.len() {
                let is_larger = below[i].norm() > 1.0;
                if is_larger != (above[i].norm() > 1.0) {
                    found.push(self.crossing(motion, i, low, high, is_larger)?);
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Visits neighbouring angles from pi down, the lower one first, with the eigenvalues of the open loop there.
    fn sweep(
        &self,
        mut visit: impl FnMut([f64; 2], [&[Complex<f64>]; 2]) -> Result<(), AnalysisError>,
    ) -> Result<(), AnalysisError> {
        let (whole, _) = steps_of(self.delay, self.step);
        let ratio = 10.0_f64.powf(-1.0 / f64::from(FREQUENCIES));
        let last = PI * 10.0_f64.powi(-DECADES);
        let (mut high, mut above) = (PI, self.open_loop(&self.motion, PI)?);
        while high > last {
            let low = (high * ratio).max(high - TURN / whole as f64);
            let below = self.open_loop(&self.motion, low)?;
            visit([low, high], [&below, &above])?;
            (high, above) = (low, below);
        }
        Ok(())
    }

    /// How much less delay than the controller makes up for takes the loop to where it is not stable, s; `None` if it bears any. Found like the
    /// [delay margin](Self::delay_margin), and as exact.
    ///
    /// # Errors
    /// As [`delay_margin`](Self::delay_margin).
    pub fn early_margin(&self) -> Result<Option<f64>, AnalysisError> {
        self.expect_stable()?;
        let of = |(theta, lambda): (f64, Complex<f64>)| {
            self.step * (-lambda.arg()).rem_euclid(TAU) / theta
        };
        let margins = self.unit_gains()?.into_iter().map(of);
        let least = margins.min_by(f64::total_cmp);
        Ok(least.filter(|less| *less <= self.delay))
    }

    /// The gains between which the loop is stable.
    ///
    /// Of a [long](Self::is_long) loop from the eigenvalues `lambda` of the open one: poles meet the unit circle with the gain `1/lambda` where one is real and positive.
    ///
    /// # Errors
    /// As [`delay_margin`](Self::delay_margin).
    pub fn gain_margins(&self) -> Result<GainMargins, AnalysisError> {
        self.expect_stable()?;
        if self.is_long() {
            let gains = self.critical_gains()?;
            let found = |gain: &f64| (Self::LEAST_GAIN..=Self::MOST_GAIN).contains(gain);
            let gains = || gains.iter().copied().filter(found);
            return Ok(GainMargins {
                least: gains().filter(|gain| *gain < 1.0).max_by(f64::total_cmp),
                most: gains().filter(|gain| *gain > 1.0).min_by(f64::total_cmp),
            });
        }
        let is_stable = |gain| Ok(growth(&self.poles_with_gain(gain)?) < 1.0);
        Ok(GainMargins {
            least: first_unstable(GAIN_STEP.recip(), Self::LEAST_GAIN, is_stable)?,
            most: first_unstable(GAIN_STEP, Self::MOST_GAIN, is_stable)?,
        })
    }

    /// The gains with which a pole is on the unit circle.
    fn critical_gains(&self) -> Result<Vec<f64>, AnalysisError> {
        let motion = &self.motion;
        let mut gains = Vec::new();
        // Real ones at both ends; at z = 1 there may be none, as the plant integrates.
        for angle in [0.0, PI] {
            let ends = self.open_loop(motion, angle).unwrap_or_default();
            let real = ends.iter().filter(|z| z.im.abs() <= 1e-9 * z.norm());
            gains.extend(real.map(|z| z.re.recip()));
        }
        self.sweep(|[low, high], [below, above]| {
            for from in below {
                let to = nearest(above, *from);
                if from.re > 0.0 && to.re > 0.0 && (from.im > 0.0) != (to.im > 0.0) {
                    let (mut angles, mut ends) = ([low, high], [*from, to]);
                    while angles[1] - angles[0] > 1e-12 * angles[1] {
                        let middle = f64::midpoint(angles[0], angles[1]);
                        let guess = (ends[0] + ends[1]) * 0.5;
                        let value = nearest(&self.open_loop(motion, middle)?, guess);
                        let side = usize::from((value.im > 0.0) != (ends[0].im > 0.0));
                        (angles[side], ends[side]) = (middle, value);
                    }
                    gains.push(ends[0].re.recip());
                }
            }
            Ok(())
        })?;
        Ok(gains)
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
                for (to, x) in past.iter_mut().zip(command) {
                    *to -= earlier * *x;
                }
                for (to, x) in own_past.iter_mut().zip(own) {
                    *to += earlier * *x;
                }
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

/// The nearest of these values; zero if there are none.
fn nearest(values: &[Complex<f64>], to: Complex<f64>) -> Complex<f64> {
    let distance = |z: &Complex<f64>| (z - to).norm();
    let nearest = values.iter().copied();
    (nearest.min_by(|a, b| distance(a).total_cmp(&distance(b)))).unwrap_or_default()
}

/// The eigenvalues that last of a large matrix that forgets all but at most `most` directions by and by, as one that passes commands on from place to place does; `None` of
/// a small one, or if it does not.
///
/// After as many steps as it has places whatever it is given lies in the directions that last, `X = M^k X_0`. They go over into themselves, `M Q = Q H`, and H has
/// their eigenvalues.
fn lasting(matrix: &DMatrix<f64>, most: usize) -> Option<Vec<Complex<f64>>> {
    let count = matrix.nrows();
    if count <= DENSE || matrix.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let entries: Vec<(usize, usize, f64)> = (0..count)
        .flat_map(|j| (0..count).map(move |i| (i, j)))
        .filter_map(|(i, j)| Some((i, j, matrix[(i, j)])).filter(|(_, _, x)| *x != 0.0))
        .collect();
    // Vectors are rows, so that what belongs together stands together.
    let step = |from: &DMatrix<f64>| {
        let mut to = DMatrix::zeros(from.nrows(), count);
        for (i, j, x) in &entries {
            to.column_mut(*i).axpy(*x, &from.column(*j), 1.0);
        }
        to
    };
    let mut numbers = Lehmer(7);
    let mut vectors = DMatrix::from_fn(most + 2, count, |_, _| numbers.next());
    for _ in 0..count {
        vectors = step(&vectors);
        let size = vectors.amax();
        if size == 0.0 {
            return None;
        }
        vectors /= size;
    }
    let svd = vectors.transpose().svd(true, false);
    let largest = svd.singular_values.amax();
    let rank = svd
        .singular_values
        .iter()
        .filter(|s| **s > FORGOTTEN * largest);
    let basis = svd.u?.columns(0, rank.count()).transpose();
    let moved = step(&basis);
    let projected = &moved * basis.transpose();
    let rest = (moved - &projected * &basis).norm();
    if rest > INVARIANT * projected.norm() {
        return None;
    }
    eigenvalues(&projected)
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
