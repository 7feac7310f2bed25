//! The actuator lag that a closed loop tolerates.
#![allow(non_snake_case)]

use nalgebra::{Complex, DMatrix, DVector};

use super::{AnalysisError, ClosedLoop};
use crate::linear::eigenvalues;

/// The largest tolerable actuator lag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LagMargin {
    /// The factor of the lags at which the closed loop becomes unstable; a time constant (s) if it is common to all.
    pub factor: f64,
    /// The frequency of the oscillation at that factor, rad/s.
    pub frequency: f64,
}

/// The factors of the lags between which a sampled loop is stable, see [`ClosedLoop::lag_factors`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LagFactors {
    /// Below 1; `None` if stable down to [`LEAST`](Self::LEAST).
    pub least: Option<f64>,
    /// Above 1; `None` if stable up to [`MOST`](Self::MOST).
    pub most: Option<f64>,
}

impl LagFactors {
    /// The smallest factor searched.
    pub const LEAST: f64 = 0.01;
    /// The largest factor searched.
    pub const MOST: f64 = 100.0;
}

/// Poles are stable to the left of this fraction of the fastest one.
const STABLE: f64 = 1e-9;
/// Lags are searched up to this multiple of the slowest time of the loop.
const SLOWEST: f64 = 1e3;
/// They are searched from a thousandth of its fastest time, or, where that is too long, down to this many powers of ten less: below, rounding
/// errors hide the damping.
const DECADES: usize = 3;
/// Critical lags closer than this fraction of themselves are one, split by rounding errors.
const SAME: f64 = 1e-6;
/// An eigenvalue counts as real up to this fraction of itself: a double one, where two crossings meet, splits by the square root
/// of the rounding error.
const REAL: f64 = 1e-4;
/// Commands whose effect is below this fraction of the largest count as without effect.
const IDLE: f64 = 1e-12;

/// # Lag
impl ClosedLoop {
    /// Returns whether all [`poles`](Self::poles) lie to the left of the imaginary axis, by more than rounding errors.
    ///
    /// # Errors
    /// [`AnalysisError::Poles`].
    pub fn is_stable(&self) -> Result<bool, AnalysisError> {
        Ok(unstable(&self.poles()?, f64::INFINITY).is_none())
    }

    /// The smallest time constant, common to all commands, at which the closed loop is unstable; `None` if there is none up to a
    /// thousand times its slowest time.
    ///
    /// # Errors
    /// As [`largest_factor`](Self::largest_factor).
    pub fn largest_lag(&self) -> Result<Option<LagMargin>, AnalysisError> {
        self.largest_factor(&vec![1.0; self.input().len()])
    }

    /// The margins for a lag common to all commands and for these time constants (s, >= 0): [`largest_lag`](Self::largest_lag)
    /// and [`largest_factor`](Self::largest_factor).
    ///
    /// # Errors
    /// As [`largest_factor`](Self::largest_factor).
    pub fn lag_margins(&self, lags: &[f64]) -> Result<[Option<LagMargin>; 2], AnalysisError> {
        let common = self.largest_lag()?;
        let own = match lags {
            [first, rest @ ..] if *first > 0.0 && rest.iter().all(|lag| lag == first) => common
                .map(|margin| LagMargin {
                    factor: margin.factor / first,
                    ..margin
                }),
            _ => self.largest_factor(lags)?,
        };
        Ok([common, own])
    }

    /// The smallest factor of these time constants (s, >= 0, zero for an instantaneous command) at which the closed loop is unstable; `None` as for
    /// [`largest_lag`](Self::largest_lag), or if all are zero.
    ///
    /// With the lags `factor t_i` the loop is `A + B/factor` with constant A and B. No lag moves a pole to zero, so poles cross the imaginary axis only in
    /// pairs that sum to zero, hence where `X -> (A + B/factor) X + X (A + B/factor)^T` is singular on the skew-symmetric matrices: all such factors are
    /// eigenvalues of one matrix, and no window of instability is missed, however narrow.
    ///
    /// Commands that lead may not tolerate too small a lag: the factor is then the upper end of the first stable interval.
    ///
    /// # Errors
    /// [`AnalysisError::Unstable`] if the loop is unstable without lag, or, if commands lead, at every factor; [`AnalysisError::Lags`],
    /// [`AnalysisError::Poles`]; [`AnalysisError::LagSearch`] if the search fails.
    pub fn largest_factor(&self, lags: &[f64]) -> Result<Option<LagMargin>, AnalysisError> {
        let poles = self.poles()?;
        if let Some(unstable) = unstable(&poles, f64::INFINITY) {
            return Err(AnalysisError::Unstable(unstable.re));
        }
        let (needed, lags) = self.of_needed_commands(lags)?;
        let [held, rate] = needed.with_commands(&lags)?;
        let longest = lags.iter().copied().fold(0.0, f64::max);
        if longest == 0.0 {
            return Ok(None);
        }
        let size = |pole: &Complex<f64>| pole.norm();
        let fastest = poles.iter().map(size).fold(0.0, f64::max);
        let poles_at = |factor: f64| {
            let scaled: Vec<f64> = lags.iter().map(|lag| factor * lag).collect();
            Ok(unstable(&needed.poles_with_lags(&scaled)?, fastest))
        };
        let slowest = poles.iter().map(size).fold(f64::INFINITY, f64::min);
        let (mut least, most) = (
            1.0 / (SLOWEST * fastest * longest),
            SLOWEST / (slowest * longest),
        );
        // What hardly damps tolerates less: the search begins where it is stable.
        let mut decades = 0;
        while !self.leads() && poles_at(least)?.is_some() {
            if decades == DECADES {
                return Err(AnalysisError::LagSearch);
            }
            (least, decades) = (least / 10.0, decades + 1);
        }

        let mut bounds = critical(&held, &rate, least).ok_or(AnalysisError::LagSearch)?;
        bounds.retain(|factor| (least..most).contains(factor));
        bounds.push(most);
        bounds.sort_by(f64::total_cmp);
        bounds.dedup_by(|b, a| *b - *a <= SAME * *a);
        // Stability does not change between two critical factors.
        let mut from = least;
        let mut stable = (!self.leads()).then_some(least);
        let mut rightmost = 0.0;
        for to in bounds {
            let middle = (from * to).sqrt();
            match (poles_at(middle)?, stable) {
                (Some(_), Some(stable)) => {
                    return Self::narrow(stable, middle, poles_at).map(Some);
                }
                (Some(pole), None) => rightmost = pole.re,
                (None, _) => stable = Some(middle),
            }
            from = to;
        }
        if stable.is_none() {
            return Err(AnalysisError::Unstable(rightmost));
        }
        Ok(None)
    }

    /// The loop reduced to the fewest commands with the same effect, and their lags: commands with equal lags act only through the span of their
    /// effects. It has the same poles except for some at `-1/lag`, which are unobservable.
    fn of_needed_commands(&self, lags: &[f64]) -> Result<(Self, Vec<f64>), AnalysisError> {
        self.expect_lags(lags)?;
        if self.lead.is_some() {
            return Ok((self.clone(), lags.to_vec()));
        }
        let mut distinct = lags.to_vec();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let (mut effects, mut gains, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for lag in distinct {
            let alike: Vec<usize> = (0..lags.len()).filter(|i| lags[*i] == lag).collect();
            let effect = self.effect.select_columns(&alike);
            let gain = self.gain.select_rows(&alike);
            // U with the fewest columns such that effect = U U^T effect.
            let svd = effect.clone().svd(true, false);
            let largest = svd.singular_values.max();
            let U = svd.u.ok_or(AnalysisError::Poles)?;
            for (u, value) in U.column_iter().zip(&svd.singular_values) {
                if *value > IDLE * largest {
                    gains.push(u.tr_mul(&effect) * &gain);
                    effects.push(u.into_owned());
                    left.push(lag);
                }
            }
        }
        if left.is_empty() {
            return Ok((self.clone(), lags.to_vec()));
        }
        let needed = Self {
            effect: DMatrix::from_columns(&effects),
            gain: DMatrix::from_rows(&gains),
            input: DVector::zeros(left.len()),
            to_commands: DMatrix::identity(left.len(), left.len()),
            held: self.held.clone(),
            compensation: None,
            memory: None,
            lags: left.clone(),
            lead: None,
            delay: self.delay,
        };
        Ok((needed, left))
    }

    /// Bisects between a stable factor and an unstable one.
    fn narrow(
        mut stable: f64,
        mut limit: f64,
        poles_at: impl Fn(f64) -> Result<Option<Complex<f64>>, AnalysisError>,
    ) -> Result<LagMargin, AnalysisError> {
        while limit - stable > 1e-12 * limit {
            let middle = f64::midpoint(stable, limit);
            match poles_at(middle)? {
                Some(_) => limit = middle,
                None => stable = middle,
            }
        }
        Ok(LagMargin {
            factor: limit,
            frequency: poles_at(limit)?.map_or(0.0, |pole| pole.im.abs()),
        })
    }
}

/// The factors at which `A + B/factor` may have two poles that sum to zero; the loop must be stable at `start`.
///
/// With `S = L(A + B/start)`, which is regular, `S + (1/factor - 1/start) L(B)` is singular where `-1/(1/factor - 1/start)` is an
/// eigenvalue of `S^-1 L(B)`, or of `L(B) S^-1` on the few nonzero rows of `L(B)`.
fn critical(held: &DMatrix<f64>, rate: &DMatrix<f64>, start: f64) -> Option<Vec<f64>> {
    let change = sums(rate);
    let rows: Vec<usize> = (0..change.nrows())
        .filter(|i| change.row(*i).amax() > 0.0)
        .collect();
    let unit = DMatrix::identity(change.nrows(), change.nrows()).select_columns(&rows);
    let inverse = sums(&(held + rate / start)).lu().solve(&unit)?;
    let values = eigenvalues(&(change.select_rows(&rows) * inverse))?;
    let real = values
        .iter()
        .filter(|value| value.im.abs() <= REAL * value.re.abs());
    Some(
        real.map(|value| (start.recip() - value.re.recip()).recip())
            .collect(),
    )
}

/// `L: X -> A X + X A^T` on the skew-symmetric matrices: its eigenvalues are the sums of two different ones of A.
fn sums(matrix: &DMatrix<f64>) -> DMatrix<f64> {
    let n = matrix.nrows();
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|j| (0..j).map(move |i| (i, j))).collect();
    let mut map = DMatrix::zeros(pairs.len(), pairs.len());
    for (column, &(i, j)) in pairs.iter().enumerate() {
        // A X has nonzero columns i and j only.
        let mut product = DMatrix::zeros(n, n);
        product.set_column(j, &matrix.column(i));
        product.set_column(i, &-matrix.column(j));
        let image = &product - product.transpose();
        for (row, &(k, l)) in pairs.iter().enumerate() {
            map[(row, column)] = image[(k, l)];
        }
    }
    map
}

/// The rightmost pole, if it is unstable. Poles faster than this are no measure: those of short lags.
fn unstable(poles: &[Complex<f64>], fastest: f64) -> Option<Complex<f64>> {
    let own = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
    let right = poles.iter().max_by(|a, b| a.re.total_cmp(&b.re))?;
    (right.re > -STABLE * own.min(fastest)).then_some(*right)
}

#[cfg(test)]
mod tests {
    use nalgebra::dmatrix;

    use super::critical;

    #[test]
    fn narrow_windows_are_found() {
        // s^3 + x s^2 + x s + (2 + e) x - (1 + e) with x = 1/factor: by Routh unstable for 1 < x < 1 + e.
        let e = 1e-4;
        let held = dmatrix![0.0, 1.0, 0.0; 0.0, 0.0, 1.0; 1.0 + e, 0.0, 0.0];
        let rate = dmatrix![0.0, 0.0, 0.0; 0.0, 0.0, 0.0; -2.0 - e, -1.0, -1.0];
        let mut found = critical(&held, &rate, 0.5).expect("it converges");
        found.sort_by(f64::total_cmp);
        let expected = [1.0 / (1.0 + e), 1.0];
        assert_eq!(found.len(), 2, "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }
}
