//! The dissertation's own solver: an active-set method in normalised coordinates, Konz A.4.3.

use nalgebra::DMatrix;

use super::limits::{finite, shape, upper_bounds};
use super::nearest::{Nearest, Search};
use super::{Allocation, AllocationError, Allocator, Limits, Outcome, Solver};

/// Rows of length 1 may be exceeded by this, relative to the point, before it counts as outside.
const FEASIBLE: f64 = 1e-12;
/// Weight of the way against the violation where a feasible point is looked for.
const WAY: f64 = 1e-3;

/// Exact solver of (5.83): Konz A.4.3, after Nocedal and Wright, *Numerical Optimization* (2006), algorithm 16.3.
///
/// With `H = L^T L` it works in `x = L u`, where the problem is to find the nearest point of `W L^-1 x <= l`
/// (A.131), (A.132), starting from the last answer with the working set of the last answer. It needs as many subproblems
/// as rows enter or leave, mostly one or two; none allocates.
///
/// The start is the last answer or, on the first call, the interior point of the [`Limits`]. If
/// [`set_bounds`](Allocator::set_bounds) leaves neither inside, a point is looked for by minimising the largest violation
/// with the same method in one more coordinate. If none exists, the answer is
/// [`Infeasible`](Outcome::Infeasible): the input that this minimisation ends at, whatever is desired.
#[derive(Clone, Debug)]
pub struct ActiveSet {
    p: usize,
    limits: Limits,
    /// Lower Cholesky factor L^T of H by rows, and room for the next one.
    factor: Vec<f64>,
    next_factor: Vec<f64>,
    /// Length of each row of W L^-1.
    lengths: Vec<f64>,
    nearest: Nearest,
    /// L u of the last answer, and L u0.
    point: Vec<f64>,
    target: Vec<f64>,
    feasible: bool,
    elastic: Nearest,
    elastic_point: Vec<f64>,
    elastic_target: Vec<f64>,
}

impl ActiveSet {
    /// For the given limits and metric `H` (p x p).
    ///
    /// # Errors
    /// [`AllocationError::Shape`] or [`AllocationError::Metric`] if the metric does not fit or is not positive definite.
    pub fn new(limits: &Limits, metric: &DMatrix<f64>) -> Result<Self, AllocationError> {
        let (p, m) = (limits.input_dim(), limits.bounds().len());
        let mut solver = Self {
            p,
            limits: limits.clone(),
            factor: identity(p),
            next_factor: identity(p),
            lengths: vec![1.0; m],
            nearest: Nearest::new(p, m),
            point: limits.interior().as_slice().to_vec(),
            target: vec![0.0; p],
            feasible: true,
            elastic: Nearest::new(p + 1, m),
            elastic_point: vec![0.0; p + 1],
            elastic_target: vec![0.0; p + 1],
        };
        solver.set_metric(metric)?;
        Ok(solver)
    }

    /// Multipliers of the rows of `W` at the last answer: `H (u - u0) + W^T multipliers = 0`, all >= 0.
    ///
    /// Zero for every row that is not active; meaningful after an [`Optimal`](Outcome::Optimal) answer of
    /// [`solve`](Allocator::solve). Allocates its answer: for tests and diagnosis, not for the flight path.
    pub fn multipliers(&self) -> Vec<f64> {
        let mut all = vec![0.0; self.limits.bounds().len()];
        for (row, multiplier) in self
            .nearest
            .working()
            .iter()
            .zip(self.nearest.multipliers())
        {
            all[*row] = multiplier / self.lengths[*row];
        }
        all
    }

    /// Rows of `W` that are active at the last answer, in the order in which they became so.
    pub fn active_rows(&self) -> &[usize] {
        self.nearest.working()
    }

    /// Writes W L^-1 and l, scaled to rows of length 1, into the two searches.
    fn normalise(&mut self) {
        let scale = 1.0 / (1.0 + WAY * WAY).sqrt();
        for row in 0..self.limits.bounds().len() {
            let normal = self.nearest.normal_mut(row);
            for (a, w) in normal.iter_mut().zip(self.limits.rows().row(row).iter()) {
                *a = *w;
            }
            forward(&self.factor, normal);
            let length = normal.iter().map(|a| a * a).sum::<f64>().sqrt();
            self.lengths[row] = length;
            let elastic = self.elastic.normal_mut(row);
            if length > 0.0 {
                for (a, e) in normal.iter_mut().zip(elastic.iter_mut()) {
                    *a /= length;
                    *e = *a * scale;
                }
                elastic[self.p] = -WAY * scale;
            } else {
                elastic.fill(0.0);
            }
        }
        self.offset();
    }

    /// Writes the scaled bounds into the two searches.
    fn offset(&mut self) {
        let scale = 1.0 / (1.0 + WAY * WAY).sqrt();
        for (row, (bound, length)) in self.limits.bounds().iter().zip(&self.lengths).enumerate() {
            // A row of zeros asks nothing of u; whether 0 <= l holds is told apart in `start`.
            let offset = if *length > 0.0 {
                bound / length
            } else {
                f64::INFINITY
            };
            *self.nearest.offset_mut(row) = offset;
            *self.elastic.offset_mut(row) = WAY * scale * offset;
        }
    }

    fn inside(&self) -> bool {
        let size = self.point.iter().map(|x| x * x).sum::<f64>().sqrt();
        self.nearest.violation(&self.point) <= FEASIBLE * (1.0 + size)
    }

    /// Makes the point satisfy the rows, and the working set hold at it, after either changed.
    fn start(&mut self) {
        // The same rows are often active again: the point nearest to the last one on them.
        self.target.copy_from_slice(&self.point);
        self.nearest.refresh();
        self.nearest.project(&self.target, &mut self.point);
        if !self.inside() {
            self.nearest.clear();
            self.point.copy_from_slice(&self.target);
        }
        if !self.inside() {
            self.point
                .copy_from_slice(self.limits.interior().as_slice());
            upper_times(&self.factor, &mut self.point);
        }
        if !self.inside() {
            self.point.copy_from_slice(&self.target);
            self.least_violation();
        }
        let impossible = self
            .limits
            .bounds()
            .iter()
            .zip(&self.lengths)
            .any(|(l, length)| *length == 0.0 && *l < 0.0);
        self.feasible = !impossible && self.inside();
    }

    /// Moves the point until it satisfies all rows or its largest violation is least.
    ///
    /// In the coordinates (WAY x, t) with rows `a x - t <= b` it looks for the point nearest to (WAY x, -t): once t is
    /// zero all rows hold. The weight of the way makes the answer unique; going three times takes its influence away.
    fn least_violation(&mut self) {
        for _ in 0..3 {
            let violation = self.nearest.violation(&self.point);
            if violation <= 0.0 {
                return;
            }
            for ((z, target), x) in self
                .elastic_point
                .iter_mut()
                .zip(&mut self.elastic_target)
                .zip(&self.point)
            {
                *z = WAY * x;
                *target = *z;
            }
            self.elastic_point[self.p] = violation;
            self.elastic_target[self.p] = -violation;
            self.elastic.clear();
            let p = self.p;
            self.elastic
                .search(&self.elastic_target, &mut self.elastic_point, |z| {
                    z[p] <= 0.0
                });
            for (x, z) in self.point.iter_mut().zip(&self.elastic_point) {
                *x = z / WAY;
            }
        }
    }

    /// u = L^-1 x of the current point, inside the limits to the last bit.
    fn write(&self, input: &mut [f64]) {
        input.copy_from_slice(&self.point);
        upper_solve(&self.factor, input);
        self.limits.draw_inside(input);
    }
}

impl Allocator for ActiveSet {
    fn solver(&self) -> Solver {
        Solver::ActiveSet
    }

    fn set_metric(&mut self, metric: &DMatrix<f64>) -> Result<(), AllocationError> {
        if metric.shape() != (self.p, self.p) {
            return Err(AllocationError::Shape {
                what: "metric",
                expected: format!("{0} x {0}", self.p),
                found: format!("{} x {}", metric.nrows(), metric.ncols()),
            });
        }
        cholesky(metric, &mut self.next_factor)?;
        // Keep the point u, not x.
        upper_solve(&self.factor, &mut self.point);
        std::mem::swap(&mut self.factor, &mut self.next_factor);
        upper_times(&self.factor, &mut self.point);
        self.normalise();
        self.start();
        Ok(())
    }

    fn set_bounds(&mut self, bounds: &[f64]) -> Result<(), AllocationError> {
        if bounds.len() != self.lengths.len() {
            return Err(shape("bounds", self.lengths.len(), bounds.len()));
        }
        upper_bounds("bounds", bounds)?;
        self.limits.set_bounds(bounds);
        self.offset();
        self.start();
        Ok(())
    }

    fn solve(&mut self, desired: &[f64], input: &mut [f64]) -> Allocation {
        let outcome;
        let mut iterations = 0;
        if finite("desired input", desired).is_err() {
            outcome = Outcome::NotFinite;
        } else if self.feasible {
            self.target.copy_from_slice(desired);
            upper_times(&self.factor, &mut self.target);
            let (search, count) = self
                .nearest
                .search(&self.target, &mut self.point, |_| false);
            iterations = count;
            outcome = if search == Search::Arrived {
                Outcome::Optimal
            } else {
                Outcome::Unfinished
            };
        } else {
            outcome = Outcome::Infeasible;
        }
        self.write(input);
        Allocation {
            solver: Solver::ActiveSet,
            outcome,
            active: self.nearest.working().len(),
            iterations,
        }
    }
}

fn identity(p: usize) -> Vec<f64> {
    DMatrix::<f64>::identity(p, p).as_slice().to_vec()
}

/// Lower factor C of H = C C^T, by rows, without allocating. Konz's L is C^T.
fn cholesky(metric: &DMatrix<f64>, factor: &mut [f64]) -> Result<(), AllocationError> {
    let p = metric.nrows();
    for i in 0..p {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| factor[i * p + k] * factor[j * p + k]).sum();
            let rest = 0.5 * (metric[(i, j)] + metric[(j, i)]) - known;
            factor[i * p + j] = if i == j {
                if !rest.is_finite() || rest <= 1e-14 * metric[(i, i)].abs() {
                    return Err(AllocationError::Metric);
                }
                rest.sqrt()
            } else {
                rest / factor[j * p + j]
            };
        }
        factor[i * p + i + 1..(i + 1) * p].fill(0.0);
    }
    Ok(())
}

/// v <- C^-1 v.
fn forward(factor: &[f64], v: &mut [f64]) {
    let p = v.len();
    for i in 0..p {
        for j in 0..i {
            v[i] -= factor[i * p + j] * v[j];
        }
        v[i] /= factor[i * p + i];
    }
}

/// v <- C^T v = L v.
fn upper_times(factor: &[f64], v: &mut [f64]) {
    let p = v.len();
    for i in 0..p {
        v[i] = (i..p).map(|j| factor[j * p + i] * v[j]).sum();
    }
}

/// v <- C^-T v = L^-1 v.
fn upper_solve(factor: &[f64], v: &mut [f64]) {
    let p = v.len();
    for i in (0..p).rev() {
        for j in i + 1..p {
            v[i] -= factor[j * p + i] * v[j];
        }
        v[i] /= factor[i * p + i];
    }
}
