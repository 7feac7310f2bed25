//! OSQP, with the exact solver as fallback.

use std::borrow::Cow;

use nalgebra::DMatrix;
use osqp::{CscMatrix, Problem, Settings, Status};

use super::limits::{dot, finite, largest};
use super::{ActiveSet, Allocation, AllocationError, Allocator, Limits, Outcome, Solver};

/// A row counts as active if its slack is below this fraction of `1 + |l|`.
const ACTIVE: f64 = 1e-6;

/// OSQP's penalty at first.
const RHO: f64 = 0.1;

/// Bounds of the largest entry of the diagonal of the metric that OSQP gets.
const SCALES: [f64; 2] = [1.0 / 1024.0, 1_048_576.0];

/// A solution is rejected if it violates the limits by more than this fraction of the inputs.
const TOLERANCE: f64 = 1e-7;

/// (5.83) by OSQP 0.6.3 (Stellato et al., *OSQP: an operator splitting solver for quadratic programs*, 2020).
///
/// Settings: `eps_abs = eps_rel = 1e-8`, polishing, a check of the residuals every 5 iterations, at most 1000
/// iterations, and adaptation of the penalty every 25 iterations. By default OSQP adapts it by wall-clock time, and
/// different runs of the same problem give different results. Measured with these settings: errors up to 2e-7 of the
/// inputs' range.
///
/// A solution may violate the limits by the tolerance; it is then moved towards the interior point of the [`Limits`] until they hold (unless new bounds
/// leave that point no longer well inside). If OSQP does not report `Solved`, or its solution violates the limits by more than its tolerance, [`ActiveSet`]
/// solves the problem and [`fallbacks`](Osqp::fallbacks) counts it.
///
/// OSQP's tolerances are absolute: a metric with a largest diagonal entry below 1e-3 or above 1e6 is scaled, which changes nothing of the problem. With redundant inputs the metric is nearly
/// singular; OSQP then meets the demand to 1e-8, but divides it among the inputs otherwise than the optimum, by up to a quarter of their range where
/// limits are active (a hexacopter's). [`ActiveSet`] is exact there, too.
///
/// OSQP allocates only when it polishes: up to 42 small blocks a call for the tricopter's 33 rows (counted in a test), all freed
/// in the same call. For real-time use without allocation choose [`ActiveSet`].
pub struct Osqp {
    problem: Problem,
    /// H, p x p, column by column, scaled as OSQP has it.
    metric: DMatrix<f64>,
    limits: Limits,
    linear: Vec<f64>,
    exact: ActiveSet,
    fallbacks: u64,
}

impl Osqp {
    /// For the given limits and metric `H` (p x p).
    ///
    /// # Errors
    /// As [`ActiveSet::new`], and [`AllocationError::Osqp`] if OSQP rejects the problem.
    pub fn new(limits: &Limits, metric: &DMatrix<f64>) -> Result<Self, AllocationError> {
        let exact = ActiveSet::new(limits, metric)?;
        let (p, m) = (limits.input_dim(), limits.len());
        let settings = Settings::default()
            .verbose(false)
            .eps_abs(1e-8)
            .eps_rel(1e-8)
            .max_iter(1000)
            .polish(true)
            .check_termination(Some(5))
            .adaptive_rho_interval(Some(25));
        let rows = CscMatrix::from_column_iter_dense(m, p, limits.rows().iter().copied());
        let metric = metric * scale(metric);
        let problem = Problem::new(
            upper_triangle(&metric),
            &vec![0.0; p],
            rows,
            limits.lower(),
            limits.upper(),
            &settings,
        )
        .map_err(|error| AllocationError::Osqp(error.to_string()))?;
        Ok(Self {
            problem,
            metric,
            limits: limits.clone(),
            linear: vec![0.0; p],
            exact,
            fallbacks: 0,
        })
    }

    /// The number of solutions that came from [`ActiveSet`] because OSQP failed.
    pub fn fallbacks(&self) -> u64 {
        self.fallbacks
    }

    fn take_metric(&mut self, metric: &DMatrix<f64>) {
        self.metric.copy_from(metric);
        self.metric *= scale(metric);
        self.problem.update_P(upper_triangle(&self.metric));
    }

    /// Forgets the last solution, at which OSQP would begin the next one.
    fn restart(&mut self) {
        let (p, m) = (self.limits.input_dim(), self.limits.len());
        self.problem.warm_start(&vec![0.0; p], &vec![0.0; m]);
        self.problem.update_rho(RHO);
    }

    /// Whether a solution satisfies the limits to OSQP's tolerance.
    fn verified(&self, input: &[f64]) -> bool {
        let size = 1.0 + largest(input.iter().copied()) + self.limits.scale();
        self.limits.is_empty() || self.limits.violation(input) <= TOLERANCE * size
    }
}

impl Allocator for Osqp {
    fn solver(&self) -> Solver {
        Solver::Osqp
    }

    fn set_metric(&mut self, metric: &DMatrix<f64>) -> Result<(), AllocationError> {
        self.exact.set_metric(metric)?;
        self.take_metric(metric);
        Ok(())
    }

    fn set_factored_metric(
        &mut self,
        metric: &DMatrix<f64>,
        inverse_factor: &DMatrix<f64>,
    ) -> Result<(), AllocationError> {
        self.exact.set_factored_metric(metric, inverse_factor)?;
        self.take_metric(metric);
        Ok(())
    }

    fn set_bounds(&mut self, lower: &[f64], upper: &[f64]) -> Result<(), AllocationError> {
        self.exact.set_bounds(lower, upper)?;
        self.limits.set_bounds(lower, upper)?;
        self.problem.update_bounds(lower, upper);
        Ok(())
    }

    fn solve(&mut self, desired: &[f64], input: &mut [f64]) -> Allocation {
        assert_eq!(desired.len(), self.linear.len(), "desired inputs");
        if finite("desired input", desired).is_err() {
            return self.exact.solve(desired, input);
        }
        let p = desired.len();
        for (q, row) in self
            .linear
            .iter_mut()
            .zip(self.metric.as_slice().chunks_exact(p))
        {
            // H is symmetric: a column is a row.
            *q = -dot(row, desired);
        }
        if finite("linear cost", &self.linear).is_err() {
            self.fallbacks += 1;
            return self.exact.solve(desired, input);
        }
        self.problem.update_lin_cost(&self.linear);
        let status = self.problem.solve();
        if let Status::Solved(ref solution) = status {
            let iterations = status.iter();
            input.copy_from_slice(solution.x());
            if finite("input", input).is_err() {
                self.restart();
            } else if self.limits.draw_inside(input) || self.verified(input) {
                let active = self.limits.count_active(input, ACTIVE);
                return Allocation {
                    solver: Solver::Osqp,
                    outcome: Outcome::Optimal,
                    active,
                    iterations,
                };
            }
        }
        self.fallbacks += 1;
        self.exact.solve(desired, input)
    }
}

/// The factor, a power of two, that brings the largest entry of the diagonal into [`SCALES`].
fn scale(metric: &DMatrix<f64>) -> f64 {
    let [least, most] = SCALES;
    let size = metric.diagonal().max();
    let factor = size.clamp(least, most) / size;
    if factor == 1.0 || !factor.is_finite() {
        1.0
    } else {
        factor.log2().round().exp2()
    }
}

/// The upper triangle of H with all entries stored, so that its sparsity pattern is constant.
fn upper_triangle(metric: &DMatrix<f64>) -> CscMatrix<'static> {
    let p = metric.ncols();
    let data: Vec<f64> = (0..p)
        .flat_map(|j| (0..=j).map(move |i| (i, j)))
        .map(|at| metric[at])
        .collect();
    CscMatrix {
        nrows: p,
        ncols: p,
        indptr: Cow::Owned((0..=p).map(|j| j * (j + 1) / 2).collect()),
        indices: Cow::Owned((0..p).flat_map(|j| 0..=j).collect()),
        data: Cow::Owned(data),
    }
}
