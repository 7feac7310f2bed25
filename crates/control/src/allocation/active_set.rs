//! The exact solver: an active-set method, warm-started.

use nalgebra::{DefaultAllocator, Dim, OMatrix, OVector, RealField, U1};

use super::dual::{Dual, Search};
use super::limits::{Limits, finite, largest};
use super::{
    Allocation, AllocationError, Allocator, DefaultDim, Outcome, Sizes, Solver, tolerance,
};

/// The most increases of the least violation: one per set of contradictory rows, usually one or two.
const RAISES: usize = 50;
/// A desired input this many times larger than the limits is moved closer if its own search fails.
const AWAY: f64 = 1e12;

/// Exact solver of (5.83), the problem of Konz A.4.3, by the dual method of Goldfarb and Idnani (1983).
///
/// It starts from the last active set and solves one subproblem for each row that has become active or inactive since;
/// usually none. New bounds cost a copy, a new metric one factorisation; neither allocates.
///
/// If the limits are contradictory it returns [`Infeasible`](Outcome::Infeasible): of the inputs with the least largest
/// violation (rows of `W` scaled to length 1), the one nearest to the desired input.
#[derive(Clone, Debug)]
pub struct ActiveSet<T: RealField + Copy = f64, P: Dim = DefaultDim, M: Dim = DefaultDim>
where
    DefaultAllocator: Sizes<P, M>,
{
    limits: Limits<T, P, M>,
    /// L^-1 of H = L^T L, and storage for the next one.
    inverse_factor: OMatrix<T, P, P>,
    scratch: OMatrix<T, P, P>,
    dual: Dual<T, P, M>,
    /// The limits, widened as far as necessary.
    widened: Limits<T, P, M>,
    last: OVector<T, P>,
    nearer: OVector<T, P>,
}

impl<T: RealField + Copy, P: Dim, M: Dim> ActiveSet<T, P, M>
where
    DefaultAllocator: Sizes<P, M>,
{
    /// For the given limits and metric `H` (p x p).
    ///
    /// # Errors
    /// [`AllocationError::Shape`] if the metric has the wrong shape, [`AllocationError::Metric`] if it is not positive
    /// definite, or not in the digits of the scalar: in single precision see [`Law::active_set`](crate::law::Law::active_set).
    pub fn new(
        limits: &Limits<T, P, M>,
        metric: &OMatrix<T, P, P>,
    ) -> Result<Self, AllocationError> {
        let mut solver = Self::unweighted(limits.clone());
        solver.factor(metric)?;
        Ok(solver)
    }

    /// In the metric with this J, `J J^T = H^-1`.
    pub(crate) fn of_inverse_factor(
        limits: Limits<T, P, M>,
        inverse_factor: &OMatrix<T, P, P>,
    ) -> Result<Self, AllocationError> {
        let mut solver = Self::unweighted(limits);
        solver.take_inverse_factor(inverse_factor)?;
        Ok(solver)
    }

    /// In the identity metric.
    fn unweighted(limits: Limits<T, P, M>) -> Self {
        let (p, _) = limits.sizes();
        Self {
            inverse_factor: OMatrix::identity_generic(p, p),
            scratch: OMatrix::zeros_generic(p, p),
            dual: Dual::new(&limits),
            widened: limits.clone(),
            last: limits.interior().clone(),
            nearer: OVector::zeros_generic(p, U1),
            limits,
        }
    }

    /// Multipliers of the rows of `W` at the last solution: `H (u - u0) + W^T multipliers = 0`.
    ///
    /// Positive where an upper bound is active, negative where a lower one is; valid after an
    /// [`Optimal`](Outcome::Optimal) result.
    pub fn multipliers(&self) -> OVector<T, M> {
        let (_, m) = self.limits.sizes();
        let mut all = OVector::zeros_generic(m, U1);
        for (row, multiplier) in self.dual.working().iter().zip(self.dual.multipliers()) {
            all[*row] = *multiplier;
        }
        all
    }

    /// Active rows of `W` at the last solution, in the order in which they became active.
    pub fn active_rows(&self) -> &[usize] {
        self.dual.working()
    }

    /// Searches again from an empty working set if rounding made the first search cycle.
    fn search(&mut self, desired: &[T], input: &mut [T]) -> (Search<T>, u32) {
        let (search, count) = self.dual.search(&self.limits, desired, input);
        if search != Search::IterationLimit {
            return (search, count);
        }
        self.dual.clear();
        let (search, more) = self.dual.search(&self.limits, desired, input);
        (search, count + more)
    }

    /// Of the inputs with the least largest violation, which is at least `violation`, the one nearest to the desired input.
    ///
    /// Every set of contradictory rows yields a lower bound on the violation; the least violation is reached when no such set is left.
    fn yielding(&mut self, mut violation: T, desired: &[T], input: &mut [T]) -> (Outcome, u32) {
        let mut iterations = 0;
        for _ in 0..RAISES {
            if !violation.is_finite() {
                break;
            }
            // A little more than necessary, so that rounding leaves a feasible set.
            let slack = tolerance::<T>(1e-10, 1e-5);
            self.widened
                .widen(&self.limits, violation * (T::one() + slack));
            let (search, count) = self.dual.search(&self.widened, desired, input);
            iterations += count;
            match search {
                Search::Optimal if holds(&self.widened, input) => {
                    return (Outcome::Infeasible, iterations);
                }
                Search::Infeasible(more) if more > T::zero() => violation += more,
                Search::Optimal | Search::Infeasible(_) | Search::IterationLimit => break,
            }
        }
        (Outcome::NotConverged, iterations)
    }

    /// Accepts a solution if it satisfies the limits to rounding, and then moves it inside to the last bit where
    /// possible.
    fn accepts(&self, input: &mut [T]) -> bool {
        self.limits.draw_inside(input) || holds(&self.limits, input)
    }

    /// If the desired input is so far away that its digits carry nothing about the limits: replaces it by one closer on the line to the interior point,
    /// with the same solution to rounding.
    fn shorten(&mut self, desired: &[T]) -> bool {
        let inside = self.limits.interior();
        let near = nalgebra::convert::<f64, T>(AWAY) * self.limits.scale();
        let far = largest(desired.iter().copied());
        if near == T::zero() || far <= near {
            return false;
        }
        let part = near / far;
        for (i, desired) in desired.iter().enumerate() {
            // Avoids the difference, which may overflow.
            self.nearer[i] = inside[i] * (T::one() - part) + *desired * part;
        }
        true
    }

    /// Factorises a metric and stores it; on failure the previous one stays.
    fn factor(&mut self, metric: &OMatrix<T, P, P>) -> Result<(), AllocationError> {
        self.check_shape("metric", metric)?;
        inverse_factor(metric, self.scratch.as_mut_slice())?;
        core::mem::swap(&mut self.inverse_factor, &mut self.scratch);
        self.dual.set_metric(&self.limits, &self.inverse_factor);
        Ok(())
    }

    /// Stores such a J; on failure the previous one stays.
    fn take_inverse_factor(
        &mut self,
        inverse_factor: &OMatrix<T, P, P>,
    ) -> Result<(), AllocationError> {
        self.check_shape("inverse factor", inverse_factor)?;
        finite("inverse factor", inverse_factor.as_slice())?;
        self.inverse_factor.copy_from(inverse_factor);
        self.dual.set_metric(&self.limits, &self.inverse_factor);
        Ok(())
    }

    fn check_shape(
        &self,
        what: &'static str,
        matrix: &OMatrix<T, P, P>,
    ) -> Result<(), AllocationError> {
        let p = self.limits.input_dim();
        if matrix.shape() == (p, p) {
            return Ok(());
        }
        Err(AllocationError::Shape {
            what,
            expected: [p, p],
            found: [matrix.nrows(), matrix.ncols()],
        })
    }

    /// Whether the interior point satisfies the current bounds.
    fn has_interior(&self) -> bool {
        self.limits.contains(self.limits.interior().as_slice())
    }

    /// Fallback after a failed search: goes from the interior point towards the input as far as the limits allow.
    fn cut(&mut self, input: &mut [T]) {
        self.dual.clear();
        if finite("input", input).is_err() {
            input.copy_from_slice(self.limits.interior().as_slice());
        }
        self.limits.cut(input);
    }
}

impl<T: RealField + Copy, P: Dim, M: Dim> Allocator<T, P> for ActiveSet<T, P, M>
where
    DefaultAllocator: Sizes<P, M>,
    Self: Send,
{
    fn solver(&self) -> Solver {
        Solver::ActiveSet
    }

    fn set_metric(&mut self, metric: &OMatrix<T, P, P>) -> Result<(), AllocationError> {
        self.factor(metric)
    }

    fn set_factored_metric(
        &mut self,
        _: &OMatrix<T, P, P>,
        inverse_factor: &OMatrix<T, P, P>,
    ) -> Result<(), AllocationError> {
        self.take_inverse_factor(inverse_factor)
    }

    fn set_bounds(&mut self, lower: &[T], upper: &[T]) -> Result<(), AllocationError> {
        self.limits.set_bounds(lower, upper)
    }

    fn solve(&mut self, desired: &[T], input: &mut [T]) -> Allocation {
        let mut answer = Allocation {
            solver: Solver::ActiveSet,
            outcome: Outcome::Optimal,
            active: 0,
            iterations: 0,
        };
        if finite("desired input", desired).is_err() {
            input.copy_from_slice(self.last.as_slice());
            answer.outcome = Outcome::NotFinite;
        } else {
            let (mut search, mut iterations) = self.search(desired, input);
            let mut found = search == Search::Optimal && self.accepts(input);
            if !found && self.shorten(desired) {
                self.dual.clear();
                let target = self.nearer.as_slice();
                let (again, more) = self.dual.search(&self.limits, target, input);
                (search, iterations) = (again, iterations + more);
                found = search == Search::Optimal && self.accepts(input);
            }
            if !found {
                let (outcome, more) = match search {
                    // Rows that a point satisfies contradict each other by rounding alone.
                    Search::Infeasible(violation) if !self.has_interior() => {
                        self.yielding(violation, desired, input)
                    }
                    _ => (Outcome::NotConverged, 0),
                };
                (answer.outcome, iterations) = (outcome, iterations + more);
            }
            answer.iterations = iterations;
            if answer.outcome == Outcome::NotConverged {
                self.cut(input);
            }
            self.last.copy_from_slice(input);
        }
        answer.active = self.dual.working().len();
        answer
    }
}

/// Whether an input satisfies the limits to rounding.
fn holds<T: RealField + Copy, P: Dim, M: Dim>(limits: &Limits<T, P, M>, input: &[T]) -> bool
where
    DefaultAllocator: Sizes<P, M>,
{
    let size = largest(input.iter().copied()) + limits.scale();
    // False for NaN.
    let finite = input.iter().all(nalgebra::ComplexField::is_finite);
    finite && (limits.is_empty() || limits.violation(input) <= tolerance::<T>(1e-9, 1e-4) * size)
}

/// L^-1 of H = L^T L, upper triangular, by columns, without allocating.
pub(crate) fn inverse_factor<T: RealField + Copy, P: Dim>(
    metric: &OMatrix<T, P, P>,
    inverse: &mut [T],
) -> Result<(), AllocationError>
where
    DefaultAllocator: nalgebra::allocator::Allocator<P, P>,
{
    let p = metric.nrows();
    let half: T = nalgebra::convert(0.5);
    // The lower factor L^T by rows, in place of the result.
    for i in 0..p {
        for j in 0..=i {
            let known = (0..j).fold(T::zero(), |sum, k| {
                sum + inverse[i * p + k] * inverse[j * p + k]
            });
            let rest = half * (metric[(i, j)] + metric[(j, i)]) - known;
            inverse[i * p + j] = if i == j {
                // False for NaN.
                let positive = rest > tolerance::<T>(1e-14, 1e-6) * metric[(i, i)].abs();
                if !(rest.is_finite() && positive) {
                    return Err(AllocationError::Metric);
                }
                rest.sqrt()
            } else {
                rest / inverse[j * p + j]
            };
        }
        inverse[i * p + i + 1..(i + 1) * p].fill(T::zero());
    }
    // By rows L^T is L by columns, and so are the inverses: forward substitution in place, column by column of L^T.
    for j in 0..p {
        inverse[j * p + j] = inverse[j * p + j].recip();
        for i in j + 1..p {
            let known = (j..i).fold(T::zero(), |sum, k| {
                sum + inverse[i * p + k] * inverse[k * p + j]
            });
            inverse[i * p + j] = -known / inverse[i * p + i];
        }
    }
    Ok(())
}
