//! The point of a polyhedron nearest to a target in a metric, by the dual method of Goldfarb and Idnani.
//!
//! > D. Goldfarb, A. Idnani, *A numerically stable dual method for solving strictly convex quadratic programs*,
//! > Mathematical Programming 27 (1983).
//!
//! Konz A.4.3 goes from a point inside along the boundary to the nearest one. This method comes from the other side: it starts
//! at the target itself, which the law computes first anyway, and takes in the rows that are exceeded, one after the other.
//! With the working rows `A` as equalities, `A u = b`, the nearest point and the multipliers are, in the factors of [`Basis`],
//!
//! ```text
//! R^T w = A u0 - b,    u = u0 - J_1 w,    R mu = w                               (A.133)-(A.136) of Konz in these factors
//! ```
//!
//! A multiplier that points to the wrong side names a row to take out. As soon as none does, the most exceeded row enters: its
//! own multiplier rises from zero until its bound is met, and whichever row's multiplier falls to zero on the way leaves.
//! Every row that enters makes the distance to the target larger, so no working set repeats and none needs a rule against
//! cycling. A row that is exceeded and depends on working rows none of which can leave proves that no point satisfies all.
//!
//! The working set of the last call is the start of the next, whatever has become of target and bounds since; mostly it is
//! right at once. `u` depends on target, bounds and working set alone, not on the way there.

use super::basis::Basis;
use super::limits::{Limits, dot};

/// Rows may be exceeded by this, relative to the sizes of point and target, before they count as exceeded.
const FEASIBLE: f64 = 1e-12;
/// Multipliers above minus this, relative to the distance to the target, count as non-negative.
const MULTIPLIER: f64 = 1e-12;
/// What contradicts itself by less than this, relative to point and target, does so by rounding.
const CONTRADICTION: f64 = 1e-9;
/// After so many changes of the working set its factors are computed afresh.
const FRESH: u32 = 100;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// At the nearest point.
    Arrived,
    /// Nothing satisfies all rows.
    Impossible,
    /// Too many steps: only rounding could bring us here.
    Exhausted,
}

/// Storage and warm start of the method.
#[derive(Clone, Debug)]
pub(super) struct Dual {
    basis: Basis,
    /// J without any rows: L^-1 of H = L^T L, by columns.
    metric: Vec<f64>,
    /// Rows taken as equalities, in the order of the basis, and on which side of them: 1 above, -1 below.
    working: Vec<usize>,
    sides: Vec<f64>,
    /// Side of every row; 0 outside the working set.
    side_of: Vec<f64>,
    /// Where a row has a single entry 1 or -1: its column and that entry.
    single: Vec<Option<(usize, f64)>>,
    multipliers: Vec<f64>,
    /// w of the module's text, J^T a of a row, R^-1 of it.
    distances: Vec<f64>,
    parts: Vec<f64>,
    rates: Vec<f64>,
    changes: u32,
}

/// # Construction
impl Dual {
    /// For these rows, in the metric of the identity.
    pub fn new(limits: &Limits) -> Self {
        let (n, m) = (limits.input_dim(), limits.len());
        let single = |row: &[f64]| {
            let mut entries = row.iter().enumerate().filter(|(_, w)| **w != 0.0);
            match (entries.next(), entries.next()) {
                (Some((column, w)), None) if w.abs() == 1.0 => Some((column, *w)),
                _ => None,
            }
        };
        let identity = nalgebra::DMatrix::<f64>::identity(n, n);
        Self {
            basis: Basis::new(n),
            metric: identity.as_slice().to_vec(),
            working: Vec::with_capacity(n),
            sides: Vec::with_capacity(n),
            side_of: vec![0.0; m],
            single: (0..m).map(|i| single(limits.row(i))).collect(),
            multipliers: vec![0.0; n],
            distances: vec![0.0; n],
            parts: vec![0.0; n],
            rates: vec![0.0; n],
            changes: 0,
        }
    }

    /// Takes another metric `H = L^T L`, given by `L^-1` (n x n, by columns); the working set stays.
    pub fn set_metric(&mut self, limits: &Limits, inverse_factor: &[f64]) {
        self.metric.copy_from_slice(inverse_factor);
        self.refresh(limits);
    }

    /// Forgets the working set.
    pub fn clear(&mut self) {
        self.working.clear();
        self.sides.clear();
        self.side_of.fill(0.0);
        self.basis.reset(&self.metric);
        self.changes = 0;
    }

    /// Computes the factors of the working set afresh.
    fn refresh(&mut self, limits: &Limits) {
        self.basis.reset(&self.metric);
        self.changes = 0;
        let mut kept = 0;
        for i in 0..self.working.len() {
            let row = self.working[i];
            self.basis.parts(limits.row(row), &mut self.parts);
            if self.basis.add(&mut self.parts) {
                (self.working[kept], self.sides[kept]) = (row, self.sides[i]);
                kept += 1;
            } else {
                self.side_of[row] = 0.0;
            }
        }
        self.working.truncate(kept);
        self.sides.truncate(kept);
    }
}

/// # Answers
impl Dual {
    /// Rows of the working set.
    pub fn working(&self) -> &[usize] {
        &self.working
    }

    /// Multipliers of the working rows: above zero at an upper bound, below at a lower one.
    pub fn multipliers(&self) -> &[f64] {
        &self.multipliers[..self.working.len()]
    }

    /// Writes into `point` the point within the limits that is nearest to `target`, and counts the subproblems.
    ///
    /// The limits hold to rounding. Where there is no answer the point is the last one tried.
    pub fn search(&mut self, limits: &Limits, target: &[f64], point: &mut [f64]) -> (Search, u32) {
        let most = 50 + 10 * (target.len() + limits.len());
        if self.changes >= FRESH {
            self.refresh(limits);
        }
        // Bounds may have been taken away since the last call.
        for position in (0..self.working.len()).rev() {
            if self.bound(limits, position).is_infinite() {
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
            let size = largest(target) + largest(point);
            let Some((row, side, excess)) = self.most_exceeded(limits, point, FEASIBLE * size)
            else {
                return (Search::Arrived, iterations);
            };
            if !self.enter(limits, row, side, point) {
                // Rows that meet in a point, each rounded in its own way, contradict each other in the last digits.
                let search = if excess <= CONTRADICTION * size {
                    Search::Arrived
                } else {
                    Search::Impossible
                };
                return (search, iterations);
            }
        }
        (Search::Exhausted, u32::try_from(most).unwrap_or(u32::MAX))
    }
}

/// # Steps
impl Dual {
    /// Sets point and multipliers to those of the working rows taken as equalities.
    fn nearest_on_working_rows(&mut self, limits: &Limits, target: &[f64], point: &mut [f64]) {
        let k = self.working.len();
        for i in 0..k {
            self.distances[i] = self.value(limits, i, target) - self.bound(limits, i);
        }
        self.basis.solve_transposed(&mut self.distances);
        point.copy_from_slice(target);
        self.basis.subtract(&self.distances, point);
        // A bound of a single input is met to the last bit.
        for i in 0..k {
            if let Some((column, w)) = self.single[self.working[i]] {
                point[column] = self.bound(limits, i) * w;
            }
        }
        self.multipliers[..k].copy_from_slice(&self.distances[..k]);
        self.basis.solve(&mut self.multipliers);
    }

    fn value(&self, limits: &Limits, position: usize, point: &[f64]) -> f64 {
        let row = self.working[position];
        match self.single[row] {
            Some((column, w)) => w * point[column],
            None => dot(limits.row(row), point),
        }
    }

    fn bound(&self, limits: &Limits, position: usize) -> f64 {
        let row = self.working[position];
        if self.sides[position] > 0.0 {
            limits.upper()[row]
        } else {
            limits.lower()[row]
        }
    }

    /// The working row that holds the point back from the target most, if one does.
    fn wrong_side(&self) -> Option<usize> {
        let k = self.working.len();
        let signed = |i: usize| self.sides[i] * self.multipliers[i];
        if (0..k).all(|i| signed(i) >= 0.0) {
            return None;
        }
        let distance = self.distances[..k]
            .iter()
            .map(|w| w * w)
            .sum::<f64>()
            .sqrt();
        (0..k)
            .map(|i| (i, signed(i) * self.basis.length(i)))
            .filter(|(_, pull)| *pull < -MULTIPLIER * distance)
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(i, _)| i)
    }

    /// The row outside the working set that is exceeded most and by more than `tolerance`: row, side, by how much.
    fn most_exceeded(
        &self,
        limits: &Limits,
        point: &[f64],
        tolerance: f64,
    ) -> Option<(usize, f64, f64)> {
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

    /// Takes a row that the point exceeds into the working set, and out of it what has to leave for that.
    ///
    /// False if it cannot be met.
    fn enter(&mut self, limits: &Limits, index: usize, side: f64, point: &[f64]) -> bool {
        let row = limits.row(index);
        let mut excess = if side > 0.0 {
            dot(row, point) - limits.upper()[index]
        } else {
            limits.lower()[index] - dot(row, point)
        };
        let mut multiplier = 0.0;
        loop {
            let k = self.working.len();
            self.basis.parts(row, &mut self.parts);
            self.rates[..k].copy_from_slice(&self.parts[..k]);
            self.basis.solve(&mut self.rates);
            let length = dot(&self.parts, &self.parts).sqrt();
            let rest = self.basis.rest(&self.parts);
            // How far the multiplier may rise until the bound is met, and until a working row lets go.
            let full = rest.map_or(f64::INFINITY, |rest| excess / (rest * rest));
            let mut first = (full, None);
            for i in 0..k {
                let rate = self.sides[i] * side * self.rates[i];
                if rate * self.basis.length(i) > DEPENDENCE * length {
                    let rise = (self.sides[i] * self.multipliers[i]).max(0.0) / rate;
                    if rise < first.0 {
                        first = (rise, Some(i));
                    }
                }
            }
            let (rise, leaving) = first;
            if rise == f64::INFINITY {
                return false;
            }
            for (multiplier, rate) in self.multipliers[..k].iter_mut().zip(&self.rates) {
                *multiplier -= rise * side * rate;
            }
            multiplier += rise;
            if let Some(position) = leaving {
                excess -= rise * rest.map_or(0.0, |rest| rest * rest);
                self.remove(position);
            } else {
                let added = self.basis.add(&mut self.parts);
                debug_assert!(added, "the row has a part outside the basis");
                self.multipliers[k] = side * multiplier;
                self.working.push(index);
                self.sides.push(side);
                self.side_of[index] = side;
                self.changes += 1;
                return true;
            }
        }
    }

    fn remove(&mut self, position: usize) {
        self.basis.remove(position);
        let row = self.working.remove(position);
        self.sides.remove(position);
        self.side_of[row] = 0.0;
        self.multipliers.copy_within(position + 1.., position);
        self.changes += 1;
    }
}

/// Parts of a row along working rows below this, relative to its length, are rounding.
const DEPENDENCE: f64 = 1e-11;

/// On which side of a row that it exceeds the point is.
fn side(limits: &Limits, row: usize, point: &[f64]) -> f64 {
    if dot(limits.row(row), point) > limits.upper()[row] {
        1.0
    } else {
        -1.0
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter()
        .fold(0.0, |most, x| if x.abs() > most { x.abs() } else { most })
}
