//! The closed loop as flown: commands are computed once per step, held, delayed, and followed with a lag.
#![allow(non_snake_case)]

use std::borrow::Cow;
use std::f64::consts::{PI, TAU};

use fly_mechanics::Polytope;
use nalgebra::{Complex, DMatrix};

use super::digital::{Digital, held, steps_of};
use super::{AnalysisError, ClosedLoop, LagFactors};
use crate::lehmer::Lehmer;
use crate::linear::{complex_eigenvalues, eigenvalues};

/// A [`ClosedLoop`] whose law runs once per step `h`: zero-order hold of the commands, which act through the lags of the actuators.
///
/// ```text
/// z_k+1 = Phi z_k + Gamma c_k,   c_k = L z_k     z = [eps; eps'; commands that lag], exactly for small errors
/// ```
///
/// The controller may have internal states: with a [disturbance observer](crate::disturbance) or a [lead](crate::lead) its estimate of the lagged commands,
/// from its own model; with an observer `M^-1 r`; and if it predicts the state over a delay, the commands in transit. The plant then contains that delay as
/// well. The estimates differ from the truth if gains, lags or delays do: the margins show how much that matters.
///
/// Poles are those of z: stable inside the unit circle; `ln(z)/h` is the equivalent continuous pole. A pole at `s` that is fast relative to the step,
/// `|s| h > 1`, is not where continuous analysis puts it.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledLoop {
    /// h, s.
    step: f64,
    /// The delay that the controller compensates, s.
    delay: f64,
    /// Of `z' = A z + B c`.
    A: DMatrix<f64>,
    B: DMatrix<f64>,
    /// With that delay.
    motion: Discretised,
    controller: Digital,
}

/// The smallest delay that destabilises a sampled loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayMargin {
    /// From the measurement to the command, in addition to the delay in the loop, s.
    pub delay: f64,
    /// The frequency of the oscillation at that delay, rad/s.
    pub frequency: f64,
}

/// The loop gains between which a sampled loop is stable, as factors of all commands' feedback. Saturation acts as a factor below 1, so the
/// lower one tells how much saturation the loop tolerates; a loop that is stable when open has no lower one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GainMargins {
    /// Below 1; `None` if stable down to [`SampledLoop::LEAST_GAIN`].
    pub least: Option<f64>,
    /// Above 1; `None` if stable up to [`SampledLoop::MOST_GAIN`].
    pub most: Option<f64>,
}

/// Lags below this fraction of a step count as zero: they decay before the command changes.
const NO_LAG: f64 = 1e-3;
/// Frequencies tested per decade.
const FREQUENCIES: u32 = 400;
/// Decades below the highest one, pi/h.
const DECADES: i32 = 6;
/// With commands in transit, neighbouring frequencies differ by at most this phase of the longest delay, rad.
const TURN: f64 = 0.2;
/// Ratio between successive gains tested.
const GAIN_STEP: f64 = 1.02;
/// With more states than this, nearly all of them commands in transit, only the dominant poles are computed.
const DENSE: usize = 120;
/// A pole that decays below this fraction within the longest delay does not last …
const FORGOTTEN: f64 = 1e-10;
/// … and the dominant subspace is invariant up to this fraction.
const INVARIANT: f64 = 1e-7;
/// Ratio between successive factors of the lags.
const LAG_STEP: f64 = 1.1;
/// The search for a delay between two steps: rounds, the distance of difference quotients, and the change at which it ends, as fractions.
const ROUNDS: u32 = 30;
const APART: f64 = 1e-5;
const EXACT: f64 = 1e-6;

/// `z_k+1 = Phi z_k + before c' + now c`, c' the command that acts until the delay of the next one, c, has passed.
#[derive(Clone, Debug, PartialEq)]
struct Discretised {
    /// Steps from the computation of c to this one; that of c' was one earlier, if it acts at all.
    whole: usize,
    has_before: bool,
    Phi: DMatrix<f64>,
    before: DMatrix<f64>,
    now: DMatrix<f64>,
}

impl Discretised {
    /// Discretises `z' = A z + B c` over one step.
    fn new(A: &DMatrix<f64>, B: &DMatrix<f64>, step: f64, delay: f64) -> Self {
        let (whole, late) = steps_of(delay, step);
        let (rest, now) = held(A, B, step - late);
        let (first, before) = held(A, B, late);
        Self {
            whole,
            has_before: late > 0.0,
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
    /// The loop sampled with this step (s, > 0) and with these time constants (s, >= 0) of the commands, in their
    /// order.
    ///
    /// # Errors
    /// [`AnalysisError::Lags`]; [`AnalysisError::Poles`] if its motion in one step is not finite.
    pub fn sampled(&self, step: f64, lags: &[f64]) -> Result<SampledLoop, AnalysisError> {
        let (A, B) = self.open(lags, NO_LAG * step)?;
        let motion = Discretised::new(&A, &B, step, self.delay);
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

    /// The factors of these lags (s), common to all, between which the sampled loop is stable; the lags that the controller assumes stay the same.
    ///
    /// # Errors
    /// [`AnalysisError::Unstable`] if it is unstable with these lags; as [`sampled`](Self::sampled).
    pub fn lag_factors(&self, step: f64, lags: &[f64]) -> Result<LagFactors, AnalysisError> {
        let is_stable = |factor: f64| {
            let scaled: Vec<f64> = lags.iter().map(|lag| factor * lag).collect();
            Ok(spectral_radius(&self.sampled(step, &scaled)?.poles()?) < 1.0)
        };
        self.sampled(step, lags)?.expect_stable()?;
        Ok(LagFactors {
            least: first_unstable(LAG_STEP.recip(), LagFactors::LEAST, is_stable)?,
            most: first_unstable(LAG_STEP, LagFactors::MOST, is_stable)?,
        })
    }

    /// The largest error from rest, in m or rad, that drives no input to its limits `W u <= l`: the entries of `eps` with these indices, in
    /// any direction, the others zero. Zero if the system cannot rest inside its limits; infinite without limits.
    ///
    /// # Panics
    /// If limits or indices do not match the system.
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
    /// The smallest gain tested.
    pub const LEAST_GAIN: f64 = 0.01;
    /// The largest gain tested.
    pub const MOST_GAIN: f64 = 100.0;

    /// h, s.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// p.
    pub fn inputs(&self) -> usize {
        self.B.ncols()
    }

    /// The number of poles: commands in transit are states, too.
    pub fn states(&self) -> usize {
        self.matrix(self.delay, 1.0).nrows()
    }

    /// Returns whether so many commands are in transit that only the dominant [poles](Self::poles) are computed.
    pub fn has_dominant_poles_only(&self) -> bool {
        self.states() > DENSE
    }

    /// The poles z: two per degree of freedom and one per lagged command, then those of the controller's internal states and of commands in transit. For a
    /// loop with [dominant poles only](Self::has_dominant_poles_only) with exact prediction, only those that remain when all commands have arrived.
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

    /// The poles with this much more delay (s) between measurement and command than the controller compensates, or less (< 0); it need not be a multiple of the
    /// step. The commands in transit are part of the state.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`].
    pub fn poles_with_delay(&self, delay: f64) -> Result<Vec<Complex<f64>>, AnalysisError> {
        self.poles_with(delay, 1.0)
    }

    /// The poles with both this much more delay (s) than the controller compensates and the effect of all commands multiplied by a factor.
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

    /// The plant over one step, with this delay, s.
    fn motion(&self, delay: f64) -> Cow<'_, Discretised> {
        if delay == self.delay {
            Cow::Borrowed(&self.motion)
        } else {
            Cow::Owned(Discretised::new(&self.A, &self.B, self.step, delay))
        }
    }

    /// The matrix of `[z; s; c_k-1, c_k-2, ...]`, s the controller's internal states, with this delay of the plant (s) and this factor
    /// of its commands.
    fn matrix(&self, delay: f64, factor: f64) -> DMatrix<f64> {
        let (B, of) = (&self.B, &self.controller);
        let ((size, p), own, errors) = (B.shape(), of.own.nrows(), of.gain.ncols());
        let motion = self.motion(delay);
        let Discretised {
            whole,
            has_before,
            Phi,
            before,
            now,
        } = motion.as_ref();
        let whole = *whole;
        let ring = of.past.len().max(whole + usize::from(*has_before));
        let count = size + own + ring * p;
        let at = |j: usize| size + own + (j - 1) * p;

        let mut command = DMatrix::zeros(p, count);
        command.columns_mut(0, errors).copy_from(&of.gain);
        command.columns_mut(size, own).copy_from(&of.own_gain);
        for (j, [past, _]) in (1..).zip(&of.past) {
            command.columns_mut(at(j), p).copy_from(past);
        }
        let mut plant = DMatrix::zeros(size, count);
        if *has_before {
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

    /// The smallest delay beyond what the controller compensates at which the loop is unstable; `None` if there is none.
    ///
    /// With d steps of delay the loop closes where an eigenvalue `lambda` of the open loop, from acting to computed commands, equals `z^d`. Poles cross the
    /// unit circle, `z = e^(i theta)`, where `|lambda| = 1`, with `d = arg(lambda)/theta`. That is exact for whole numbers of steps, and the beginning of a search in
    /// between.
    ///
    /// # Errors
    /// [`AnalysisError::Unstable`] if it is unstable without any; [`AnalysisError::Poles`].
    pub fn delay_margin(&self) -> Result<Option<DelayMargin>, AnalysisError> {
        self.expect_stable()?;
        let of = |(theta, lambda): (f64, Complex<f64>)| DelayMargin {
            delay: self.step * lambda.arg().rem_euclid(TAU) / theta,
            frequency: theta / self.step,
        };
        let margins: Vec<_> = self.unit_gains()?.into_iter().map(of).collect();
        Ok(self.nearest_margin(margins))
    }

    /// The smallest of these delays, of either sign, once those are exact that may be it.
    fn nearest_margin(&self, margins: Vec<DelayMargin>) -> Option<DelayMargin> {
        let sizes = margins.iter().map(|margin| margin.delay.abs());
        let most = sizes.fold(f64::INFINITY, f64::min) + 2.0 * self.step;
        let near = margins
            .into_iter()
            .filter(|margin| margin.delay.abs() <= most);
        near.map(|margin| self.between_steps(margin))
            .min_by(|a, b| a.delay.abs().total_cmp(&b.delay.abs()))
    }

    /// The delay and frequency at which a pole crosses the unit circle near these, which are exact for whole numbers of steps; the same where
    /// none is found within a step.
    fn between_steps(&self, guess: DelayMargin) -> DelayMargin {
        let h = self.step;
        let mut margin = guess;
        for _ in 0..ROUNDS {
            let (delay, theta) = (self.delay + margin.delay, margin.frequency * h);
            if delay < 0.0
                || !(theta > 0.0 && theta <= PI)
                || (margin.delay - guess.delay).abs() > h
            {
                break;
            }
            let motion = self.motion(delay);
            let log = |theta: f64| {
                let values = self.open_loop(&motion, theta).ok()?;
                Some(nearest(&values, Complex::from(1.0)).ln())
            };
            // Newton's method for ln(lambda) = 0; more delay turns lambda by theta per step.
            let apart = APART * theta;
            let Some((value, before)) = log(theta).zip(log(theta - apart)) else {
                break;
            };
            let slope = (value - before) / apart;
            let turn = -value.re / slope.re;
            let later = h * (value.im + slope.im * turn) / theta;
            if !(turn.is_finite() && later.is_finite()) {
                break;
            }
            margin.delay += later;
            margin.frequency += turn / h;
            if later.abs() <= EXACT * h && turn.abs() <= EXACT * theta {
                return margin;
            }
        }
        guess
    }

    /// Angles and open-loop eigenvalues where an eigenvalue has modulus 1.
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

    /// Visits neighbouring angles from pi down, the lower one first, with the open-loop eigenvalues there.
    fn sweep(
        &self,
        mut visit: impl FnMut([f64; 2], [&[Complex<f64>]; 2]) -> Result<(), AnalysisError>,
    ) -> Result<(), AnalysisError> {
        let whole = self.motion.whole;
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

    /// How much shorter than the compensated one the delay may be before the loop becomes unstable, s; `None` if any shorter delay is stable.
    ///
    /// # Errors
    /// As [`delay_margin`](Self::delay_margin).
    pub fn delay_reduction_margin(&self) -> Result<Option<f64>, AnalysisError> {
        self.expect_stable()?;
        let of = |(theta, lambda): (f64, Complex<f64>)| DelayMargin {
            delay: -self.step * (-lambda.arg()).rem_euclid(TAU) / theta,
            frequency: theta / self.step,
        };
        let margins: Vec<_> = self.unit_gains()?.into_iter().map(of).collect();
        let less = self.nearest_margin(margins).map(|margin| -margin.delay);
        Ok(less.filter(|less| *less <= self.delay))
    }

    /// The gains between which the loop is stable.
    ///
    /// For a loop with [dominant poles only](Self::has_dominant_poles_only) from the open-loop eigenvalues `lambda`: poles cross the unit circle at the
    /// gain `1/lambda` where an eigenvalue is real and positive.
    ///
    /// # Errors
    /// As [`delay_margin`](Self::delay_margin).
    pub fn gain_margins(&self) -> Result<GainMargins, AnalysisError> {
        self.expect_stable()?;
        if self.has_dominant_poles_only() {
            let gains = self.critical_gains()?;
            let found = |gain: &f64| (Self::LEAST_GAIN..=Self::MOST_GAIN).contains(gain);
            let gains = || gains.iter().copied().filter(found);
            return Ok(GainMargins {
                least: gains().filter(|gain| *gain < 1.0).max_by(f64::total_cmp),
                most: gains().filter(|gain| *gain > 1.0).min_by(f64::total_cmp),
            });
        }
        let is_stable = |gain| Ok(spectral_radius(&self.poles_with_gain(gain)?) < 1.0);
        Ok(GainMargins {
            least: first_unstable(GAIN_STEP.recip(), Self::LEAST_GAIN, is_stable)?,
            most: first_unstable(GAIN_STEP, Self::MOST_GAIN, is_stable)?,
        })
    }

    /// The gains at which a pole lies on the unit circle.
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
        let radius = spectral_radius(&self.poles()?);
        if radius < 1.0 {
            Ok(())
        } else {
            Err(AnalysisError::Unstable(radius.ln() / self.step))
        }
    }

    /// The open-loop eigenvalues at `z = e^(i theta)`, from acting to computed commands, in ascending order of modulus.
    fn open_loop(
        &self,
        motion: &Discretised,
        theta: f64,
    ) -> Result<Vec<Complex<f64>>, AnalysisError> {
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
        let mut acting = complex(&motion.now);
        if motion.has_before {
            acting += complex(&motion.before) / z;
        }
        acting *= Complex::cis(-theta * motion.whole as f64);
        let of = &self.controller;
        let errors = of.gain.ncols();
        let y = solve(&motion.Phi, acting)?.rows(0, errors).into_owned();
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

    /// The angle at which the i-th smallest eigenvalue has modulus 1, between two angles; on the lower side it is larger or
    /// smaller.
    fn crossing(
        &self,
        motion: &Discretised,
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

/// The value nearest to `to`; zero if there are none.
fn nearest(values: &[Complex<f64>], to: Complex<f64>) -> Complex<f64> {
    let distance = |z: &Complex<f64>| (z - to).norm();
    let nearest = values.iter().copied();
    (nearest.min_by(|a, b| distance(a).total_cmp(&distance(b)))).unwrap_or_default()
}

/// The lasting eigenvalues of a large matrix all but at most `most` of whose directions are nilpotent, as those of a delay line are; `None` for a small matrix,
/// or if it is not of this kind.
///
/// After as many steps as the delay line is long every vector lies in the dominant subspace, `X = M^k X_0`. It is invariant, `M Q = Q H`, and H has its
/// eigenvalues.
fn lasting(matrix: &DMatrix<f64>, most: usize) -> Option<Vec<Complex<f64>>> {
    let count = matrix.nrows();
    if count <= DENSE || matrix.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let entries: Vec<(usize, usize, f64)> = (0..count)
        .flat_map(|j| (0..count).map(move |i| (i, j)))
        .filter_map(|(i, j)| Some((i, j, matrix[(i, j)])).filter(|(_, _, x)| *x != 0.0))
        .collect();
    // Vectors are rows, so that their entries are contiguous.
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

/// The first factor from 1 towards the last one, by this ratio, at which the loop is unstable.
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

/// The limit of stability between a stable and an unstable value.
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

/// The largest modulus of the poles z, by which errors grow per step in the long run. Below 1 the loop is stable.
pub fn spectral_radius(poles: &[Complex<f64>]) -> f64 {
    poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max)
}
