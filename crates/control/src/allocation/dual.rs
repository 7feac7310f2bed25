//! The point of a polyhedron nearest to a target in a metric: the dual method of Goldfarb and Idnani.
//!
//! > D. Goldfarb, A. Idnani, *A numerically stable dual method for solving strictly convex quadratic programs*,
//! > Mathematical Programming 27 (1983).
//!
//! Konz A.4.3 walks from an interior point along the boundary to the nearest point. The dual method comes from outside: it
//! starts at the target itself, which the law computes anyway, and adds the violated rows one after the other. With the
//! working rows `A` as equalities, `A u = b`, the nearest point and the multipliers are, in the factors of [`Basis`],
//!
//! ```text
//! R^T w = A u0 - b,    u = u0 - J_1 w,    R mu = w                               (A.133)-(A.136) of Konz in these factors
//! ```
//!
//! A multiplier of the wrong sign marks a row to remove. Once there is none, the most violated row enters: its multiplier
//! rises from zero until its bound is met, and every row whose multiplier falls to zero on the way leaves. Every row that
//! enters increases the distance to the target, so no working set repeats and no rule against cycling is needed. A violated
//! row that depends on working rows none of which can leave proves that the rows are infeasible.
//!
//! The working set of the last call starts the next one, whatever has happened to target and bounds in between; usually it
//! is correct at once. `u` depends on target, bounds and working set alone, not on the path to them.
//!
//! # Distant targets
//!
//! `u = u0 - J_1 w` loses the digits that `u0` and `u` do not share. If the target is a thousand times larger than the point, the point is iteratively
//! projected back onto the working rows with the same factors, `R^T w = A u - b`, until they hold, and tolerances are relative to the limits.
//!
//! # Infeasible rows
//!
//! The row that cannot enter is then a combination of working rows with contradictory signs, `a + sum c_i a_i = 0` with `c_i >= 0` for rows that all point
//! outwards (a Farkas certificate). Each of these bounds must be relaxed by at least `excess / (|a| + sum c_i |a_i|)` before all can be met:
//! [`Search::Infeasible`].

use nalgebra::{DefaultAllocator, Dim, OMatrix, OVector, RealField, U1, convert};

use super::basis::Basis;
use super::limits::{Limits, dot, largest};
use super::{Sizes, tolerance};

/// A target this many times larger than the point is distant.
const FAR: f64 = 1e3;
/// The most projections back onto the working rows: one for every 16 digits by which the target exceeds the point.
const REFINEMENTS: usize = 20;
/// Refactorise after this many changes of the working set.
const FRESH: u32 = 100;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Search<T> {
    /// At the nearest point.
    Optimal,
    /// Infeasible unless each bound is relaxed by this, rows scaled to length 1.
    Infeasible(T),
    /// Too many steps, which only rounding can cause.
    IterationLimit,
}

/// Storage and warm start of the method.
#[derive(Clone, Debug)]
pub(super) struct Dual<T: RealField + Copy, P: Dim, M: Dim>
where
    DefaultAllocator: Sizes<P, M>,
{
    basis: Basis<T, P>,
    /// J of the empty working set: L^-1 of H = L^T L.
    metric: OMatrix<T, P, P>,
    /// Rows treated as equalities, in the order of the basis, and their active side: 1 upper, -1 lower.
    working: OVector<usize, P>,
    sides: OVector<T, P>,
    count: usize,
    /// Side of every row; 0 outside the working set.
    side_of: OVector<T, M>,
    /// For a row with a single entry 1 or -1: its column and that entry.
    single: OVector<Option<(usize, T)>, M>,
    multipliers: OVector<T, P>,
    /// w of the module's text, J^T a of a row, R^-1 of it.
    distances: OVector<T, P>,
    parts: OVector<T, P>,
    rates: OVector<T, P>,
    changes: u32,
}

/// # Construction
impl<T: RealField + Copy, P: Dim, M: Dim> Dual<T, P, M>
where
    DefaultAllocator: Sizes<P, M>,
{
    /// For these rows, in the identity metric.
    pub fn new(limits: &Limits<T, P, M>) -> Self {
        let (n, m) = limits.sizes();
        let single = |row: &[T]| {
            let mut entries = row.iter().enumerate().filter(|(_, w)| **w != T::zero());
            match (entries.next(), entries.next()) {
                (Some((column, w)), None) if w.abs() == T::one() => Some((column, *w)),
                _ => None,
            }
        };
        let zero = || OVector::zeros_generic(n, U1);
        Self {
            basis: Basis::new(n),
            metric: OMatrix::identity_generic(n, n),
            working: OVector::from_element_generic(n, U1, 0),
            sides: zero(),
            count: 0,
            side_of: OVector::zeros_generic(m, U1),
            single: OVector::from_fn_generic(m, U1, |i, _| single(limits.row(i))),
            multipliers: zero(),
            distances: zero(),
            parts: zero(),
            rates: zero(),
            changes: 0,
        }
    }

    /// Sets another metric `H = L^T L`, given by `L^-1`; keeps the working set.
    pub fn set_metric(&mut self, limits: &Limits<T, P, M>, inverse_factor: &OMatrix<T, P, P>) {
        self.metric.copy_from(inverse_factor);
        self.refresh(limits);
    }

    /// Clears the working set.
    pub fn clear(&mut self) {
        self.count = 0;
        self.side_of.fill(T::zero());
        self.basis.reset(&self.metric);
        self.changes = 0;
    }

    /// Refactorises the working set.
    fn refresh(&mut self, limits: &Limits<T, P, M>) {
        self.basis.reset(&self.metric);
        self.changes = 0;
        let mut kept = 0;
        for i in 0..self.count {
            let row = self.working[i];
            let parts = self.parts.as_mut_slice();
            self.basis.parts(limits.row(row), parts);
            if self.basis.add(parts) {
                (self.working[kept], self.sides[kept]) = (row, self.sides[i]);
                kept += 1;
            } else {
                self.side_of[row] = T::zero();
            }
        }
        self.count = kept;
    }
}

/// # Solution
impl<T: RealField + Copy, P: Dim, M: Dim> Dual<T, P, M>
where
    DefaultAllocator: Sizes<P, M>,
{
    /// Rows of the working set.
    pub fn working(&self) -> &[usize] {
        &self.working.as_slice()[..self.count]
    }

    /// Multipliers of the working rows: positive at an upper bound, negative at a lower one.
    pub fn multipliers(&self) -> &[T] {
        &self.multipliers.as_slice()[..self.count]
    }

    /// Writes into `point` the feasible point nearest to `target`, and counts the subproblems.
    ///
    /// The limits hold to rounding. If the search fails, the point is the last iterate.
    pub fn search(
        &mut self,
        limits: &Limits<T, P, M>,
        target: &[T],
        point: &mut [T],
    ) -> (Search<T>, u32) {
        let most = 50 + 10 * (target.len() + limits.len());
        if self.changes >= FRESH {
            self.refresh(limits);
        }
        // Bounds may have been removed since the last call.
        for position in (0..self.count).rev() {
            if !self.bound(limits, position).is_finite() {
                self.remove(position);
            }
        }
        for count in 1..=most {
            let iterations = u32::try_from(count).unwrap_or(u32::MAX);
            self.nearest_on_working_rows(limits, target, point);
            if let Some(position) = self.wrong_side() {
                self.remove(position);
                continue;
            }
            let size = self.size(limits, target, point);
            // Violations below this are rounding.
            let feasible = tolerance::<T>(1e-12, 1e-5) * size;
            let Some((row, side, excess)) = self.most_exceeded(limits, point, feasible) else {
                return (Search::Optimal, iterations);
            };
            if let Err(give) = self.enter(limits, row, side, point) {
                // Rows that meet in a point, each rounded separately, contradict each other in the last digits.
                let search = if excess <= tolerance::<T>(1e-9, 1e-4) * size {
                    Search::Optimal
                } else {
                    Search::Infeasible(give)
                };
                return (search, iterations);
            }
        }
        (
            Search::IterationLimit,
            u32::try_from(most).unwrap_or(u32::MAX),
        )
    }

    /// The scale of the tolerances: the sizes of point and target, or of point and limits if the target is distant; the point is then refined.
    fn size(&mut self, limits: &Limits<T, P, M>, target: &[T], point: &mut [T]) -> T {
        let of = |x: &[T]| largest(x.iter().copied());
        let (far, near) = (of(target), of(point));
        let far_away = convert::<f64, T>(FAR);
        if far <= far_away * near {
            return far + near;
        }
        self.refine(limits, point);
        let near = of(point) + limits.scale();
        let rounding = T::default_epsilon() * far;
        if near > rounding { near } else { rounding }
    }

    /// Projects a point back onto the working rows.
    fn refine(&mut self, limits: &Limits<T, P, M>, point: &mut [T]) {
        let k = self.count;
        let mut before: T = convert(f64::INFINITY);
        for _ in 0..REFINEMENTS {
            for i in 0..k {
                self.distances[i] = self.value(limits, i, point) - self.bound(limits, i);
            }
            let off = largest(self.distances.as_slice()[..k].iter().copied());
            // Until rounding stops the progress; NaN stops it, too.
            let nearer = off < before;
            if !nearer || off == T::zero() {
                return;
            }
            before = off;
            self.basis.solve_transposed(self.distances.as_mut_slice());
            self.basis.subtract(self.distances.as_slice(), point);
            self.meet_single_bounds(limits, point);
        }
    }
}

/// # Steps
impl<T: RealField + Copy, P: Dim, M: Dim> Dual<T, P, M>
where
    DefaultAllocator: Sizes<P, M>,
{
    /// Computes point and multipliers with the working rows as equalities.
    fn nearest_on_working_rows(&mut self, limits: &Limits<T, P, M>, target: &[T], point: &mut [T]) {
        let k = self.count;
        point.copy_from_slice(target);
        if k == 0 {
            return;
        }
        for i in 0..k {
            self.distances[i] = self.value(limits, i, target) - self.bound(limits, i);
        }
        self.basis.solve_transposed(self.distances.as_mut_slice());
        self.basis.subtract(self.distances.as_slice(), point);
        self.meet_single_bounds(limits, point);
        self.multipliers.as_mut_slice()[..k].copy_from_slice(&self.distances.as_slice()[..k]);
        self.basis.solve(self.multipliers.as_mut_slice());
    }

    /// Sets inputs with a bound of their own to the bound exactly.
    #[inline]
    fn meet_single_bounds(&self, limits: &Limits<T, P, M>, point: &mut [T]) {
        for i in 0..self.count {
            if let Some((column, w)) = self.single[self.working[i]] {
                point[column] = self.bound(limits, i) * w;
            }
        }
    }

    #[inline]
    fn value(&self, limits: &Limits<T, P, M>, position: usize, point: &[T]) -> T {
        let row = self.working[position];
        match self.single[row] {
            Some((column, w)) => w * point[column],
            None => dot(limits.row(row), point),
        }
    }

    #[inline]
    fn bound(&self, limits: &Limits<T, P, M>, position: usize) -> T {
        let row = self.working[position];
        if self.sides[position] > T::zero() {
            limits.upper()[row]
        } else {
            limits.lower()[row]
        }
    }

    /// The working row with the most wrong multiplier, if any.
    fn wrong_side(&self) -> Option<usize> {
        let k = self.count;
        let signed = |i: usize| self.sides[i] * self.multipliers[i];
        if (0..k).all(|i| signed(i) >= T::zero()) {
            return None;
        }
        let distances = &self.distances.as_slice()[..k];
        // Smaller multipliers of the wrong sign are rounding.
        let mut least = -tolerance::<T>(1e-12, 1e-5) * dot(distances, distances).sqrt();
        let mut found = None;
        for i in 0..k {
            let pull = signed(i) * self.basis.length(i);
            if pull < least {
                (least, found) = (pull, Some(i));
            }
        }
        found
    }

    /// The most violated row outside the working set, if violated by more than `tolerance`: row, side, violation.
    #[inline]
    fn most_exceeded(
        &self,
        limits: &Limits<T, P, M>,
        point: &[T],
        tolerance: T,
    ) -> Option<(usize, T, T)> {
        let mut most = None;
        let mut least = tolerance;
        limits.each_excess(point, |first, excess| {
            if excess.iter().any(|excess| *excess > least) {
                for (row, excess) in (first..limits.len()).zip(excess) {
                    let side = side(limits, row, point);
                    if *excess > least && self.side_of[row] != side {
                        least = *excess;
                        most = Some((row, side, *excess));
                    }
                }
            }
        });
        most
    }

    /// Adds a violated row to the working set, and removes the rows that must leave for it.
    ///
    /// # Errors
    /// The amount by which each bound must be relaxed, rows scaled to length 1, before the row can be met.
    fn enter(
        &mut self,
        limits: &Limits<T, P, M>,
        index: usize,
        side: T,
        point: &[T],
    ) -> Result<(), T> {
        let row = limits.row(index);
        let mut excess = if side > T::zero() {
            dot(row, point) - limits.upper()[index]
        } else {
            limits.lower()[index] - dot(row, point)
        };
        let mut multiplier = T::zero();
        loop {
            let k = self.count;
            let (parts, rates) = (self.parts.as_mut_slice(), self.rates.as_mut_slice());
            self.basis.parts(row, parts);
            rates[..k].copy_from_slice(&parts[..k]);
            self.basis.solve(rates);
            let length = dot(parts, parts).sqrt();
            let rest = self.basis.rest(parts);
            // How far the multiplier can rise until the bound is met, and until a working row leaves.
            let mut rise = rest.map(|rest| excess / (rest * rest));
            let mut leaving = None;
            for i in 0..k {
                let rate = self.sides[i] * side * self.rates[i];
                // Components of a row along working rows below this, relative to its length, are rounding.
                if rate * self.basis.length(i) > tolerance::<T>(1e-11, 1e-5) * length {
                    let signed = self.sides[i] * self.multipliers[i];
                    let until = if signed > T::zero() {
                        signed / rate
                    } else {
                        T::zero()
                    };
                    if rise.is_none_or(|rise| until < rise) {
                        (rise, leaving) = (Some(until), Some(i));
                    }
                }
            }
            let Some(rise) = rise else {
                return Err(self.give(limits, index, side, excess));
            };
            for i in 0..k {
                self.multipliers[i] -= rise * side * self.rates[i];
            }
            multiplier += rise;
            if let Some(position) = leaving {
                excess -= rise * rest.map_or(T::zero(), |rest| rest * rest);
                self.remove(position);
            } else {
                let added = self.basis.add(self.parts.as_mut_slice());
                debug_assert!(added, "the row has a part outside the basis");
                self.multipliers[k] = side * multiplier;
                self.working[k] = index;
                self.sides[k] = side;
                self.side_of[index] = side;
                self.count = k + 1;
                self.changes += 1;
                return Ok(());
            }
        }
    }

    /// The amount by which a row, violated by `excess`, and the working rows that contradict it must be relaxed.
    fn give(&self, limits: &Limits<T, P, M>, index: usize, side: T, excess: T) -> T {
        let length = |row: usize| limits.reciprocal(row).recip();
        let mut all = length(index);
        for i in 0..self.count {
            let against = -self.sides[i] * side * self.rates[i];
            if against > T::zero() {
                all += against * length(self.working[i]);
            }
        }
        excess / all
    }

    fn remove(&mut self, position: usize) {
        self.basis.remove(position);
        self.side_of[self.working[position]] = T::zero();
        let (rest, k) = (position + 1..self.count, self.count - 1);
        self.working
            .as_mut_slice()
            .copy_within(rest.clone(), position);
        self.sides
            .as_mut_slice()
            .copy_within(rest.clone(), position);
        self.multipliers.as_mut_slice().copy_within(rest, position);
        self.count = k;
        self.changes += 1;
    }
}

/// The violated side of a row.
fn side<T: RealField + Copy, P: Dim, M: Dim>(limits: &Limits<T, P, M>, row: usize, point: &[T]) -> T
where
    DefaultAllocator: Sizes<P, M>,
{
    if dot(limits.row(row), point) > limits.upper()[row] {
        T::one()
    } else {
        -T::one()
    }
}
