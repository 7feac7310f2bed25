//! What is left where nothing satisfies the limits: how far every row has to give way.

use nalgebra::{DMatrix, DVector};

use super::AllocationError;
use super::dual::{Dual, Search};
use super::limits::Limits;

/// Weight of the way in u, relative to the violation.
const WAY: f64 = 1e-3;
/// The violation is least when a further step makes it less by no more than this part.
const SETTLED: f64 = 1e-12;
/// Steps at most; one or two are usual.
const STEPS: usize = 20;

/// Finds the least t for which `lower - t <= W u <= upper + t` can be met, rows of `W` scaled to length 1.
///
/// A linear program in (u, t), solved by the proximal-point method: each step asks for the point nearest to the last one with
/// t lowered (a problem that always has an answer, in one more coordinate). It ends after finitely many steps
/// (Rockafellar 1976) and needs nothing but the solver that is there.
#[derive(Clone, Debug)]
pub(super) struct LeastViolation {
    /// Each bound as a row of its own, `w u - t <= bound`.
    limits: Limits,
    dual: Dual,
    lower: Vec<f64>,
    upper: Vec<f64>,
    inverse_factor: Vec<f64>,
    target: Vec<f64>,
    point: Vec<f64>,
}

impl LeastViolation {
    /// For the rows of these limits.
    pub fn new(limits: &Limits) -> Result<Self, AllocationError> {
        let (p, m) = (limits.input_dim(), limits.len());
        let rows = DMatrix::from_fn(2 * m, p + 1, |i, j| {
            let (row, sign) = if i < m { (i, 1.0) } else { (i - m, -1.0) };
            if j == p {
                -1.0
            } else {
                sign * limits.row(row)[j] * limits.reciprocal(row)
            }
        });
        let bounds = DVector::from_element(2 * m, f64::INFINITY);
        let limits = Limits::new(rows, bounds, DVector::zeros(p + 1))?;
        Ok(Self {
            dual: Dual::new(&limits),
            limits,
            lower: vec![f64::NEG_INFINITY; 2 * m],
            upper: vec![f64::INFINITY; 2 * m],
            inverse_factor: vec![0.0; (p + 1) * (p + 1)],
            target: vec![0.0; p + 1],
            point: vec![0.0; p + 1],
        })
    }

    /// The least violation of these limits, starting from `desired`, in the metric given by `L^-1` (p x p, by columns).
    pub fn find(&mut self, limits: &Limits, inverse_factor: &[f64], desired: &[f64]) -> f64 {
        let (p, m) = (limits.input_dim(), limits.len());
        for i in 0..m {
            self.upper[i] = limits.upper()[i] * limits.reciprocal(i);
            self.upper[m + i] = -limits.lower()[i] * limits.reciprocal(i);
        }
        if self.limits.set_bounds(&self.lower, &self.upper).is_err() {
            return f64::NAN; // The bounds were checked when they were set.
        }
        // H scaled so that it does not matter in which units it is given: the mean square of L^-1 is that of the weight.
        let square: f64 = inverse_factor.iter().map(|x| x * x).sum();
        let scale = (p as f64 / square).sqrt() / WAY;
        self.inverse_factor.fill(0.0);
        for (to, from) in self
            .inverse_factor
            .chunks_exact_mut(p + 1)
            .zip(inverse_factor.chunks_exact(p))
        {
            for (to, from) in to.iter_mut().zip(from) {
                *to = from * scale;
            }
        }
        self.inverse_factor[(p + 1) * (p + 1) - 1] = 1.0;
        self.dual.set_metric(&self.limits, &self.inverse_factor);
        self.dual.clear();

        let mut violation = limits.excess(desired);
        let lowering = violation;
        self.point[..p].copy_from_slice(desired);
        self.point[p] = violation;
        for _ in 0..STEPS {
            self.target.copy_from_slice(&self.point);
            self.target[p] -= lowering;
            let (search, _) = self
                .dual
                .search(&self.limits, &self.target, &mut self.point);
            if search != Search::Arrived {
                break;
            }
            let before = violation;
            violation = self.point[p];
            if before - violation <= SETTLED * before {
                break;
            }
        }
        violation
    }
}
