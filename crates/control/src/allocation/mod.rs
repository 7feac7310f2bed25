//! Bringing the wanted input into its limits: Konz (5.83), (A.130)-(A.136).
//!
//! The law (5.86b) gives an input `u0` without regard to what the actuators can do. The input that is sent is the one
//! nearest to it in the metric `H` of the closed loop among all that satisfy the limits:
//!
//! ```text
//! minimise  1/2 (u - u0)^T H (u - u0)     subject to  W u <= l
//! ```
//!
//! with `u` in R^p, `W` m x p, `l` in R^m and `H` symmetric positive definite, so that there is exactly one answer
//! wherever the limits leave anything at all. Rows may be bounded from below, too: [`Limits::between`].
//!
//! Two solvers stand behind [`Allocator`]: [`ActiveSet`] is exact, finite and never allocates; `Osqp` (feature
//! `osqp`) is the well-known operator-splitting solver, kept as an independent check and asking [`ActiveSet`] whenever it
//! does not report a solution itself. The law calls either only if `u0` violates the limits: see [`Limits::contain`].

mod active_set;
mod basis;
mod dual;
mod least_violation;
mod limited;
mod limits;
#[cfg(feature = "osqp")]
mod osqp;

pub use active_set::ActiveSet;
pub(crate) use limited::Limited;
pub use limits::Limits;
#[cfg(feature = "osqp")]
pub use osqp::Osqp;

use nalgebra::DMatrix;

/// A solver of (5.83) for one set of rows `W` and slowly or never changing metric `H` and bounds `l`.
///
/// Solvers carry a warm start from one call to the next, so their answers may depend on earlier calls within their
/// accuracy; the same sequence of calls gives the same bits.
pub trait Allocator: Send {
    /// Which solver this is.
    fn solver(&self) -> Solver;

    /// Takes a new metric `H` (p x p, symmetric positive definite), at the cost of one factorisation and no allocation.
    ///
    /// # Errors
    /// [`AllocationError::Metric`] if it is not positive definite, [`AllocationError::Shape`] if it has another shape;
    /// the metric before stays.
    fn set_metric(&mut self, metric: &DMatrix<f64>) -> Result<(), AllocationError>;

    /// Takes new bounds (m numbers each, in the units of the rows of `W`; infinite where there is none).
    ///
    /// # Errors
    /// As [`Limits::set_bounds`]; the bounds before stay.
    fn set_bounds(&mut self, lower: &[f64], upper: &[f64]) -> Result<(), AllocationError>;

    /// Writes into `input` the point of `W u <= l` nearest to `desired` (p numbers each) in the metric `H`.
    ///
    /// Always writes a finite input once it has given one; [`Allocation::outcome`] says what it is worth.
    fn solve(&mut self, desired: &[f64], input: &mut [f64]) -> Allocation;
}

/// What a call of [`Allocator::solve`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Which solver gave the answer.
    pub solver: Solver,
    /// What the answer is worth.
    pub outcome: Outcome,
    /// How many rows of the limits hold with equality at the answer.
    pub active: usize,
    /// How many subproblems or iterations it took.
    pub iterations: u32,
}

impl Allocation {
    /// The desired input was inside the limits: nothing to solve.
    pub(crate) const FREE: Self = Self {
        solver: Solver::None,
        outcome: Outcome::Optimal,
        active: 0,
        iterations: 0,
    };
}

/// Which solver answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// None was needed: the desired input satisfied the limits.
    None,
    /// [`ActiveSet`].
    ActiveSet,
    /// `Osqp` (feature `osqp`).
    Osqp,
}

/// What an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is the solution of (5.83) to rounding ([`ActiveSet`]) or to the solver's tolerance (`Osqp`).
    Optimal,
    /// The iterations ran out. The input satisfies the limits but is not the nearest that does.
    Unfinished,
    /// Nothing satisfies the limits. Among the inputs for which the largest violation is least (rows of `W` scaled
    /// to length 1) the input is the one nearest to the desired one.
    Infeasible,
    /// The desired input was not finite. The input is the last one given.
    NotFinite,
}

/// Why an allocation problem could not be set up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AllocationError {
    /// Two parts do not fit together.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// The part.
        what: &'static str,
        /// The shape that the other parts ask for.
        expected: String,
        /// The shape it has.
        found: String,
    },
    /// The metric has no Cholesky factor.
    #[error(
        "metric: expected a symmetric positive definite matrix, found one without a Cholesky factor (do the inputs act independently?)"
    )]
    Metric,
    /// NaN among the numbers, or an infinite entry where that means nothing.
    #[error("{what}: expected finite numbers, found {found}")]
    NotFinite {
        /// The part.
        what: &'static str,
        /// The number.
        found: f64,
    },
    /// A lower bound lies above the upper one.
    #[error(
        "row {row}: expected a lower bound of at most the upper one, found {lower} and {upper}"
    )]
    Crossed {
        /// The row of `W`.
        row: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// OSQP would not take the problem.
    #[error("OSQP did not take the problem: {0}")]
    Osqp(String),
}
