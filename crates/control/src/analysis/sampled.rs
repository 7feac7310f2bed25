//! The closed loop as it is flown: commands are computed once each step, held, delayed, and followed with a lag.
#![allow(non_snake_case)]

use std::f64::consts::{PI, TAU};

use fly_mechanics::Polytope;
use nalgebra::{Complex, DMatrix, Schur};

use super::{AnalysisError, ClosedLoop};
use crate::linear::eigenvalues;

/// A [`ClosedLoop`] whose law is computed once each step `h`: the command holds for one step, and acts through the lags of the actuators.
///
/// ```text
/// z_k+1 = Phi z_k + Gamma v_k,   v_k = L z_k     z = [eps; eps'; commands that lag], exactly for small errors
/// ```
///
/// With an [observer of disturbances](crate::disturbance) z also holds what it believes of the commands that lag, and its estimate `M^-1 r`. It takes what delay and gain
/// make of the commands for a disturbance, so that both margins are others than without it.
///
/// Poles are those of z: stable inside the unit circle; `ln(z)/h` is what a continuous loop would have. A pole at `s` that is fast beside the
/// step, `|s| h > 1`, is not where continuous analysis puts it.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledLoop {
    /// h, s.
    step: f64,
    /// Of `z' = A z + B v`.
    A: DMatrix<f64>,
    B: DMatrix<f64>,
    /// Phi and Gamma over one step.
    Phi: DMatrix<f64>,
    Gamma: DMatrix<f64>,
    /// L
    gain: DMatrix<f64>,
    /// From states of the plant to all states: more than the identity with an observer of disturbances.
    lift: DMatrix<f64>,
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
/// From one gain that is looked at to the next.
const GAIN_STEP: f64 = 1.02;

impl ClosedLoop {
    /// The loop flown with this step (s, > 0) and these time constants (s, >= 0) of the commands, in their order.
    ///
    /// # Errors
    /// [`AnalysisError::Lags`]; [`AnalysisError::Poles`] if its motion in one step is not finite.
    pub fn sampled(&self, step: f64, lags: &[f64]) -> Result<SampledLoop, AnalysisError> {
        let [A, B, gain] = self.open(lags, NO_LAG * step)?;
        let (Phi, Gamma) = held(&A, &B, step);
        if Phi.iter().chain(&Gamma).any(|x| !x.is_finite()) {
            return Err(AnalysisError::Poles);
        }
        let size = Phi.nrows();
        let without = || (Phi.clone(), DMatrix::identity(size, size), gain.clone());
        let (Phi, lift, gain) = self
            .observed(lags, NO_LAG * step, step, [&Phi, &Gamma, &gain])
            .map_or_else(without, |with| (with.Phi, with.lift, with.gain));
        Ok(SampledLoop {
            step,
            A,
            B,
            Phi,
            Gamma: &lift * Gamma,
            gain,
            lift,
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

    /// The poles z: two for each degree of freedom and one for each command that lags; with an observer of disturbances as many more as there are degrees of freedom and
    /// commands that lag.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`].
    pub fn poles(&self) -> Result<Vec<Complex<f64>>, AnalysisError> {
        self.poles_with_gain(1.0)
    }

    /// The poles with all feedback multiplied by this factor.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`].
    pub fn poles_with_gain(&self, factor: f64) -> Result<Vec<Complex<f64>>, AnalysisError> {
        eigenvalues(&(&self.Phi + &self.Gamma * &self.gain * factor)).ok_or(AnalysisError::Poles)
    }

    /// The poles with this delay (s, >= 0) between measurement and command, which need not be a multiple of the step; the commands that are on their
    /// way are part of the state.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`].
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a number of steps
    pub fn poles_with_delay(&self, delay: f64) -> Result<Vec<Complex<f64>>, AnalysisError> {
        if delay <= 0.0 {
            return self.poles();
        }
        // The command of d + 1 steps ago acts until `late`, that of d steps ago for the rest of the step.
        let whole = (delay / self.step).floor();
        let (d, late) = (whole as usize, delay - whole * self.step);
        let (rest, now) = held(&self.A, &self.B, self.step - late);
        let before = &self.lift * rest * held(&self.A, &self.B, late).1;
        let now = &self.lift * now;
        let (s, p) = self.Gamma.shape();
        // z, then the commands of 1, 2, …, d + 1 steps ago.
        let mut next = DMatrix::zeros(s + (d + 1) * p, s + (d + 1) * p);
        next.view_mut((0, 0), (s, s)).copy_from(&self.Phi);
        next.view_mut((s, 0), (p, s)).copy_from(&self.gain);
        for k in 0..d {
            let at = (s + (k + 1) * p, s + k * p);
            next.view_mut(at, (p, p)).fill_with_identity();
        }
        next.view_mut((0, s + d * p), (s, p)).copy_from(&before);
        if d == 0 {
            let mut own = next.view_mut((0, 0), (s, s));
            own += &now * &self.gain;
        } else {
            let at = s + (d - 1) * p;
            next.view_mut((0, at), (s, p)).copy_from(&now);
        }
        eigenvalues(&next).ok_or(AnalysisError::Poles)
    }

    /// The smallest delay at which the loop is not stable; `None` if there is none. Exact for whole numbers of steps, between them as a command that is
    /// held in the same way but later.
    ///
    /// With d steps of delay the loop closes where an eigenvalue `lambda` of `L (z - Phi)^-1 Gamma` is `z^d`. Poles meet the unit circle, `z = e^(i theta)`, where
    /// `|lambda| = 1`, with `d = arg(lambda)/theta`.
    ///
    /// # Errors
    /// [`AnalysisError::Unstable`] if it is not stable without any; [`AnalysisError::Poles`].
    pub fn delay_margin(&self) -> Result<Option<DelayMargin>, AnalysisError> {
        self.expect_stable()?;
        let count = FREQUENCIES * DECADES;
        let angle_at = |k: u32| PI * 10.0_f64.powf(-f64::from(k) / f64::from(FREQUENCIES));
        let mut least: Option<DelayMargin> = None;
        let mut above = self.open_loop(PI)?;
        for k in 1..=count {
            let (low, high) = (angle_at(k), angle_at(k - 1));
            let below = self.open_loop(low)?;
            for i in 0..below.len() {
                if (below[i].norm() > 1.0) != (above[i].norm() > 1.0) {
                    let (theta, lambda) = self.crossing(i, low, high, below[i].norm() > 1.0)?;
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

    /// The gains between which the loop is stable.
    ///
    /// # Errors
    /// As [`delay_margin`](Self::delay_margin).
    pub fn gain_margins(&self) -> Result<GainMargins, AnalysisError> {
        self.expect_stable()?;
        Ok(GainMargins {
            least: self.first_unstable(GAIN_STEP.recip(), Self::LEAST_GAIN)?,
            most: self.first_unstable(GAIN_STEP, Self::MOST_GAIN)?,
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

    /// The first gain on the way from 1 to the last one at which it is not stable.
    fn first_unstable(&self, ratio: f64, last: f64) -> Result<Option<f64>, AnalysisError> {
        let is_stable = |gain| Ok::<_, AnalysisError>(growth(&self.poles_with_gain(gain)?) < 1.0);
        let mut stable = 1.0;
        while (stable < last) == (ratio > 1.0) {
            let mut limit = stable * ratio;
            if is_stable(limit)? {
                stable = limit;
                continue;
            }
            while (limit - stable).abs() > 1e-9 * limit {
                let middle = f64::midpoint(stable, limit);
                if is_stable(middle)? {
                    stable = middle;
                } else {
                    limit = middle;
                }
            }
            return Ok(Some(limit));
        }
        Ok(None)
    }

    /// The eigenvalues of `L (e^(i theta) - Phi)^-1 Gamma`, the smallest first.
    fn open_loop(&self, theta: f64) -> Result<Vec<Complex<f64>>, AnalysisError> {
        let complex = |matrix: &DMatrix<f64>| matrix.map(Complex::from);
        let mut denominator = -complex(&self.Phi);
        for i in 0..denominator.nrows() {
            denominator[(i, i)] += Complex::cis(theta);
        }
        let state = denominator.lu().solve(&complex(&self.Gamma));
        let transfer = complex(&self.gain) * state.ok_or(AnalysisError::Poles)?;
        let scale = transfer.map(Complex::norm).amax();
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(AnalysisError::Poles);
        }
        // As for real eigenvalues: where rounding errors do not let the steps end, a coarser bound does.
        let transfer = transfer.unscale(scale);
        let schur = (0..6).find_map(|power| {
            let bound = f64::EPSILON * 10.0_f64.powi(power);
            Schur::try_new(transfer.clone(), bound, 1000)
        });
        let diagonal = schur.ok_or(AnalysisError::Poles)?.unpack().1.diagonal();
        let mut values: Vec<_> = diagonal.iter().map(|value| value * scale).collect();
        values.sort_by(|a, b| a.norm().total_cmp(&b.norm()));
        Ok(values)
    }

    /// Where the i-th smallest eigenvalue has the modulus 1, between two angles on whose lower side it is larger or smaller.
    fn crossing(
        &self,
        i: usize,
        mut low: f64,
        mut high: f64,
        larger_below: bool,
    ) -> Result<(f64, Complex<f64>), AnalysisError> {
        while high - low > 1e-12 * high {
            let middle = f64::midpoint(low, high);
            if (self.open_loop(middle)?[i].norm() > 1.0) == larger_below {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok((low, self.open_loop(low)?[i]))
    }
}

/// `e^(A t)` and its integral times B: the motion in a time t under a command that holds.
fn held(A: &DMatrix<f64>, B: &DMatrix<f64>, time: f64) -> (DMatrix<f64>, DMatrix<f64>) {
    let (s, p) = B.shape();
    let mut whole = DMatrix::zeros(s + p, s + p);
    whole.view_mut((0, 0), (s, s)).copy_from(&(A * time));
    whole.view_mut((0, s), (s, p)).copy_from(&(B * time));
    let whole = whole.exp();
    (
        whole.view((0, 0), (s, s)).into_owned(),
        whole.view((0, s), (s, p)).into_owned(),
    )
}

/// The factor by which errors grow in a step, in the long run: the largest modulus of the poles z. Below 1 the loop is stable.
pub fn growth(poles: &[Complex<f64>]) -> f64 {
    poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max)
}
