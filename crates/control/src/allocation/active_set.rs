//! The exact solver: an active-set method, warm-started.

use nalgebra::DMatrix;

use super::dual::{Dual, Search};
use super::least_violation::LeastViolation;
use super::limits::{Limits, finite};
use super::{Allocation, AllocationError, Allocator, Outcome, Solver};

/// Where limits have to give way they do so by this part more than needed, so that rounding leaves something between them.
const SLACK: f64 = 1e-10;

/// Exact solver of (5.83) for the problem of Konz A.4.3, by the dual method of Goldfarb and Idnani (1983).
///
/// It starts with the rows that were active last and needs one subproblem for each row that has become active or inactive
/// since; mostly none. New bounds cost a copy, a new metric one factorisation; none of it allocates.
///
/// Where nothing satisfies the limits the answer is [`Infeasible`](Outcome::Infeasible): among the inputs for which the
/// largest violation is least (rows of `W` scaled to length 1), the one nearest to the desired input.
#[derive(Clone, Debug)]
pub struct ActiveSet {
    limits: Limits,
    /// L^-1 of H = L^T L, by columns, and room for the next one.
    inverse_factor: Vec<f64>,
    scratch: Vec<f64>,
    dual: Dual,
    least_violation: LeastViolation,
    /// The limits as far as they had to give way.
    yielding: Limits,
    lower: Vec<f64>,
    upper: Vec<f64>,
    last: Vec<f64>,
}

impl ActiveSet {
    /// For the given limits and metric `H` (p x p).
    ///
    /// # Errors
    /// [`AllocationError::Shape`] or [`AllocationError::Metric`] if the metric does not fit or is not positive definite.
    pub fn new(limits: &Limits, metric: &DMatrix<f64>) -> Result<Self, AllocationError> {
        let p = limits.input_dim();
        let mut solver = Self {
            limits: limits.clone(),
            inverse_factor: vec![0.0; p * p],
            scratch: vec![0.0; p * p],
            dual: Dual::new(limits),
            least_violation: LeastViolation::new(limits)?,
            yielding: limits.clone(),
            lower: limits.lower().to_vec(),
            upper: limits.upper().to_vec(),
            last: limits.interior().as_slice().to_vec(),
        };
        solver.set_metric(metric)?;
        Ok(solver)
    }

    /// Multipliers of the rows of `W` at the last answer: `H (u - u0) + W^T multipliers = 0`.
    ///
    /// Above zero where an upper bound is active, below where a lower one is; meaningful after an
    /// [`Optimal`](Outcome::Optimal) answer. Allocates its answer: for tests and diagnosis, not for the flight path.
    pub fn multipliers(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.limits.len()];
        for (row, multiplier) in self.dual.working().iter().zip(self.dual.multipliers()) {
            all[*row] = *multiplier;
        }
        all
    }

    /// Rows of `W` that are active at the last answer, in the order in which they became so.
    pub fn active_rows(&self) -> &[usize] {
        self.dual.working()
    }

    /// Searches once more from nothing if rounding brought the first search into a circle.
    fn search(&mut self, desired: &[f64], input: &mut [f64]) -> (Search, u32) {
        let (search, count) = self.dual.search(&self.limits, desired, input);
        if search != Search::Exhausted {
            return (search, count);
        }
        self.dual.clear();
        let (search, more) = self.dual.search(&self.limits, desired, input);
        (search, count + more)
    }

    /// The input nearest to the desired one among those whose largest violation is least.
    fn yielding(&mut self, desired: &[f64], input: &mut [f64]) -> u32 {
        let violation = self
            .least_violation
            .find(&self.limits, &self.inverse_factor, desired)
            .max(0.0);
        for row in 0..self.limits.len() {
            let give = (1.0 + SLACK) * violation / self.limits.reciprocal(row);
            self.lower[row] = self.limits.lower()[row] - give;
            self.upper[row] = self.limits.upper()[row] + give;
        }
        // Wider than bounds that were checked, unless a number overflowed; then the limits before stay.
        let _ = self.yielding.set_bounds(&self.lower, &self.upper);
        self.dual.search(&self.yielding, desired, input).1
    }
}

impl Allocator for ActiveSet {
    fn solver(&self) -> Solver {
        Solver::ActiveSet
    }

    fn set_metric(&mut self, metric: &DMatrix<f64>) -> Result<(), AllocationError> {
        let p = self.limits.input_dim();
        if metric.shape() != (p, p) {
            return Err(AllocationError::Shape {
                what: "metric",
                expected: format!("{p} x {p}"),
                found: format!("{} x {}", metric.nrows(), metric.ncols()),
            });
        }
        inverse_factor(metric, &mut self.scratch)?;
        std::mem::swap(&mut self.inverse_factor, &mut self.scratch);
        self.dual.set_metric(&self.limits, &self.inverse_factor);
        Ok(())
    }

    fn set_bounds(&mut self, lower: &[f64], upper: &[f64]) -> Result<(), AllocationError> {
        self.limits.set_bounds(lower, upper)
    }

    fn solve(&mut self, desired: &[f64], input: &mut [f64]) -> Allocation {
        let mut answer = Allocation {
            solver: Solver::ActiveSet,
            outcome: Outcome::Optimal,
            active: 0,
            iterations: 0,
        };
        if finite("desired input", desired).is_err() {
            input.copy_from_slice(&self.last);
            answer.outcome = Outcome::NotFinite;
        } else {
            let (search, iterations) = self.search(desired, input);
            answer.iterations = iterations;
            match search {
                Search::Arrived => self.limits.draw_inside(input),
                Search::Impossible => {
                    answer.iterations += self.yielding(desired, input);
                    answer.outcome = Outcome::Infeasible;
                }
                Search::Exhausted => {
                    self.limits.cut(input);
                    answer.outcome = Outcome::Unfinished;
                }
            }
            self.last.copy_from_slice(input);
        }
        answer.active = self.dual.working().len();
        answer
    }
}

/// L^-1 of H = L^T L, upper triangular, by columns, without allocating.
fn inverse_factor(metric: &DMatrix<f64>, inverse: &mut [f64]) -> Result<(), AllocationError> {
    let p = metric.nrows();
    // The lower factor L^T by rows, in the place of the answer.
    for i in 0..p {
        for j in 0..=i {
            let known: f64 = (0..j)
                .map(|k| inverse[i * p + k] * inverse[j * p + k])
                .sum();
            let rest = 0.5 * (metric[(i, j)] + metric[(j, i)]) - known;
            inverse[i * p + j] = if i == j {
                if !rest.is_finite() || rest <= 1e-14 * metric[(i, i)].abs() {
                    return Err(AllocationError::Metric);
                }
                rest.sqrt()
            } else {
                rest / inverse[j * p + j]
            };
        }
        inverse[i * p + i + 1..(i + 1) * p].fill(0.0);
    }
    // By rows L^T is L by columns, and so are the inverses: forward substitution in place, column by column of L^T.
    for j in 0..p {
        inverse[j * p + j] = 1.0 / inverse[j * p + j];
        for i in j + 1..p {
            let known: f64 = (j..i)
                .map(|k| inverse[i * p + k] * inverse[k * p + j])
                .sum();
            inverse[i * p + j] = -known / inverse[i * p + i];
        }
    }
    Ok(())
}
