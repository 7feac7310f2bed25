//! Inputs inside the limits that produce the same force: linear programs over the null space of B.
#![allow(non_snake_case)]

use fly_mechanics::Polytope;
use microlp::{ComparisonOp, OptimizationDirection, Problem, Solution, Variable};
use nalgebra::{DMatrix, DVector, Dyn};

use crate::allocation::{ActiveSet, Allocator, Limits};
use crate::law::NullSpace;

/// Relative accuracy of the linear programs, as a share of the interior point's margins.
const ROUNDING: f64 = 1e-7;

/// Share of the margin given up in the search for the smallest input, so that rounding leaves that search a feasible set.
const SPARE: f64 = 1e-6;

/// The inputs `u + Y c` that produce the same force as u, with an orthonormal basis Y (p x k) of null(B), inside
/// `W (u + Y c) <= l`.
///
/// Without redundant inputs u is the only one, and there is nothing to search for.
pub(crate) struct InputRedundancy {
    limits: Polytope,
    /// Y.
    basis: DMatrix<f64>,
    /// W Y.
    along: DMatrix<f64>,
    /// The interior point's distance from each limit, the unit in which margins are measured.
    units: DVector<f64>,
}

impl InputRedundancy {
    /// For a matrix B (n x p), limits, and a point (p entries) inside them.
    pub fn new(B: &DMatrix<f64>, limits: &Polytope, interior: &[f64]) -> Self {
        let (n, p) = B.shape();
        let mut null_space = NullSpace::new(Dyn(n), Dyn(p));
        null_space.find(&DVector::repeat(p, 1.0), |columns| columns.copy_from(B));
        let columns: Vec<f64> = null_space.basis().flatten().copied().collect();
        let basis = DMatrix::from_vec(p, null_space.dim(), columns);
        let slack = &limits.bound - &limits.matrix * DVector::from_column_slice(interior);
        let units = DVector::from_fn(limits.rows(), |i, _| {
            if slack[i] > 0.0 {
                slack[i]
            } else {
                limits.matrix.row(i).norm()
            }
        });
        Self {
            along: &limits.matrix * &basis,
            limits: limits.clone(),
            basis,
            units,
        }
    }

    /// k.
    pub fn dim(&self) -> usize {
        self.basis.ncols()
    }

    /// Of the inputs with the same force as `u`, returns the one whose least distance from a limit is largest, relative to the interior point's
    /// distances; of several, the smallest. Returns `u` itself if there is no choice.
    pub fn central(&self, u: &DVector<f64>) -> DVector<f64> {
        self.most_inside(u).unwrap_or_else(|| u.clone())
    }

    /// Returns whether the limits admit an input with the same force as `u`.
    pub fn allows(&self, u: &DVector<f64>) -> bool {
        self.limits.contains(u.as_slice(), 0.0)
            || self
                .margin(u)
                .is_some_and(|(margin, _)| margin >= -ROUNDING)
    }

    /// How far one can move along `way` from the force of `u`: zero if that force is not attainable, infinite if
    /// nothing bounds it.
    pub fn reach(&self, u: &DVector<f64>, way: &DVector<f64>) -> f64 {
        let slack = &self.limits.bound - &self.limits.matrix * u;
        let speed = &self.limits.matrix * way;
        if self.dim() == 0 {
            let bounds = slack.iter().zip(speed.iter());
            let bounds = bounds.filter(|(_, speed)| **speed > 0.0);
            let far = bounds.map(|(slack, speed)| slack / speed);
            return far.fold(f64::INFINITY, f64::min).max(0.0);
        }
        let (mut problem, ways) = self.problem();
        let far = problem.add_var(1.0, (0.0, f64::INFINITY));
        self.bound(&mut problem, &ways, (far, &speed), &slack);
        match problem.solve() {
            Ok(outcome) => outcome
                .into_solution()
                .map_or(0.0, |solution| solution.var_value(far)),
            Err(microlp::Error::Unbounded) => f64::INFINITY,
            Err(_) => 0.0,
        }
    }

    fn most_inside(&self, u: &DVector<f64>) -> Option<DVector<f64>> {
        let (margin, ways) = self.margin(u)?;
        let least = margin - SPARE * margin.abs().max(1.0);
        let slack = &self.limits.bound - &self.limits.matrix * u - &self.units * least;
        let limits = Limits::new(self.along.clone(), slack, ways).ok()?;
        let k = self.dim();
        let mut solver = ActiveSet::new(&limits, &DMatrix::identity(k, k)).ok()?;
        let smallest = -self.basis.tr_mul(u);
        let mut ways = smallest.clone();
        if !limits.contains(smallest.as_slice()) {
            solver.solve(smallest.as_slice(), ways.as_mut_slice());
        }
        Some(u + &self.basis * ways)
    }

    /// The largest relative margin that all limits can have at once, and the c that attains it.
    fn margin(&self, u: &DVector<f64>) -> Option<(f64, DVector<f64>)> {
        if self.dim() == 0 || self.limits.rows() == 0 {
            return None;
        }
        let slack = &self.limits.bound - &self.limits.matrix * u;
        let (mut problem, ways) = self.problem();
        let margin = problem.add_var(1.0, (f64::NEG_INFINITY, 1.0));
        self.bound(&mut problem, &ways, (margin, &self.units), &slack);
        let solution: Solution = problem.solve().ok()?.into_solution().ok()?;
        let values = ways.iter().map(|way| solution.var_value(*way));
        let values = DVector::from_iterator(ways.len(), values);
        Some((solution.var_value(margin), values))
    }

    fn problem(&self) -> (Problem, Vec<Variable>) {
        let mut problem = Problem::new(OptimizationDirection::Maximize);
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let ways = (0..self.dim())
            .map(|_| problem.add_var(0.0, free))
            .collect();
        (problem, ways)
    }

    /// Adds the constraints `W Y c + column x <= slack`.
    fn bound(
        &self,
        problem: &mut Problem,
        ways: &[Variable],
        (x, column): (Variable, &DVector<f64>),
        slack: &DVector<f64>,
    ) {
        for i in 0..self.limits.rows() {
            let of_way = ways.iter().enumerate();
            let mut terms: Vec<_> = of_way.map(|(j, way)| (*way, self.along[(i, j)])).collect();
            terms.push((x, column[i]));
            problem.add_constraint(&terms, ComparisonOp::Le, slack[i]);
        }
    }
}
