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
//! # Which solver
//!
//! Two solvers stand behind [`Allocator`]. The law calls either only if `u0` violates the limits: see [`Limits::contain`].
//!
//! | | [`ActiveSet`] | `Osqp` (feature `osqp`, the default of `[controller]`) |
//! |---|---|---|
//! | answer | exact to rounding, at its bounds to the last bit | to 1e-8, then drawn inside the limits: 2e-7 of the inputs' range at worst |
//! | time of a warm-started step | 60 to 140 ns (4 to 8 inputs, 8 to 33 rows) | 9 to 35 us |
//! | memory | all of it when it is built; none on the stack or heap of a step | allocates where it polishes |
//! | without std, in f32, for sizes known to the compiler | yes | no |
//! | limits that contradict each other | the input of least violation | falls back to [`ActiveSet`] |
//!
//! Choose [`ActiveSet`] for flight: it is exact, a hundred times faster, and does not allocate. OSQP, a widely used and
//! independently tested code (Stellato et al. 2020), serves as a cross-check.
//!
//! # Sizes and scalars
//!
//! [`Limits`] and [`ActiveSet`] are generic over the scalar (`f64`, `f32`) and over the numbers p of inputs and m of rows: [`Dyn`](nalgebra::Dyn) on the
//! desktop, [`Const`](nalgebra::Const) where neither heap nor std is at hand.
//!
//! ```
//! use fly_control::allocation::{ActiveSet, Allocator, Limits};
//! use nalgebra::{Const, SMatrix, matrix, vector};
//!
//! // Two thrusts between 0 and 1 N that may sum up to 1.5 N, in single precision, without a heap.
//! let rows: SMatrix<f32, 3, 2> = matrix![1.0, 0.0; 0.0, 1.0; 1.0, 1.0];
//! let limits = Limits::between(rows, &vector![0.0, 0.0, 0.0], &vector![1.0, 1.0, 1.5], vector![0.5, 0.5])?;
//! let mut solver: ActiveSet<f32, Const<2>, Const<3>> = ActiveSet::new(&limits, &SMatrix::identity())?;
//! let mut input = [0.0_f32; 2];
//! solver.solve(&[2.0, 1.0], &mut input);
//! assert!((input[0] - 1.0).abs() < 1e-6 && (input[1] - 0.5).abs() < 1e-6);
//! # Ok::<(), fly_control::allocation::AllocationError>(())
//! ```

mod active_set;
mod basis;
mod dual;
mod limited;
mod limits;
#[cfg(feature = "osqp")]
mod osqp;

pub use active_set::ActiveSet;
pub(crate) use active_set::inverse_factor;
pub use limited::Limited;
pub use limits::Limits;
#[cfg(feature = "osqp")]
pub use osqp::Osqp;

use nalgebra::allocator::Allocator as Memory;
use nalgebra::{DefaultAllocator, Dim, OMatrix, RealField};

use crate::sizes::{DefaultDim, Sizes};

/// A solver of (5.83) for one set of rows `W` and slowly or never changing metric `H` and bounds `l`.
///
/// Solvers carry a warm start from one call to the next, so their answers may depend on earlier calls within their
/// accuracy; the same sequence of calls gives the same bits.
pub trait Allocator<T: RealField + Copy = f64, P: Dim = DefaultDim>: Send
where
    DefaultAllocator: Memory<P, P>,
{
    /// Which solver this is.
    fn solver(&self) -> Solver;

    /// Takes a new metric `H` (p x p, symmetric positive definite), at the cost of one factorisation and no allocation.
    ///
    /// # Errors
    /// [`AllocationError::Metric`] if it is not positive definite, [`AllocationError::Shape`] if it has another shape;
    /// the metric before stays.
    fn set_metric(&mut self, metric: &OMatrix<T, P, P>) -> Result<(), AllocationError>;

    /// The same for a metric that is known to more digits than its numbers show, such as that of [redundant inputs](crate::law::Law): J (p x p) with
    /// `J J^T = H^-1` comes with it. A solver that has no use for J leaves it.
    ///
    /// # Errors
    /// As [`set_metric`](Self::set_metric).
    fn set_factored_metric(
        &mut self,
        metric: &OMatrix<T, P, P>,
        inverse_factor: &OMatrix<T, P, P>,
    ) -> Result<(), AllocationError> {
        let _ = inverse_factor;
        self.set_metric(metric)
    }

    /// Takes new bounds (m numbers each, in the units of the rows of `W`; infinite where there is none).
    ///
    /// # Errors
    /// As [`Limits::set_bounds`]; the bounds before stay.
    fn set_bounds(&mut self, lower: &[T], upper: &[T]) -> Result<(), AllocationError>;

    /// Writes into `input` the point of `W u <= l` nearest to `desired` (p numbers each) in the metric `H`.
    ///
    /// Always writes a finite input once it has given one; [`Allocation::outcome`] says what it is worth.
    fn solve(&mut self, desired: &[T], input: &mut [T]) -> Allocation;
}

#[cfg(feature = "std")]
impl<T: RealField + Copy, P: Dim, S: Allocator<T, P> + ?Sized> Allocator<T, P> for Box<S>
where
    DefaultAllocator: Memory<P, P>,
{
    fn solver(&self) -> Solver {
        (**self).solver()
    }

    fn set_metric(&mut self, metric: &OMatrix<T, P, P>) -> Result<(), AllocationError> {
        (**self).set_metric(metric)
    }

    fn set_factored_metric(
        &mut self,
        metric: &OMatrix<T, P, P>,
        inverse_factor: &OMatrix<T, P, P>,
    ) -> Result<(), AllocationError> {
        (**self).set_factored_metric(metric, inverse_factor)
    }

    fn set_bounds(&mut self, lower: &[T], upper: &[T]) -> Result<(), AllocationError> {
        (**self).set_bounds(lower, upper)
    }

    fn solve(&mut self, desired: &[T], input: &mut [T]) -> Allocation {
        (**self).solve(desired, input)
    }
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
    /// Rounding errors or the number of iterations stopped the search. The input satisfies the limits but need not be the nearest that does.
    Unfinished,
    /// Nothing satisfies the limits. Among the inputs for which the largest violation is least (rows of `W` scaled
    /// to length 1) the input is the one nearest to the desired one.
    Infeasible,
    /// The desired input was not finite. The input is the last one given.
    NotFinite,
}

/// Why an allocation problem could not be set up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocationError {
    /// A matrix does not have the shape that the others ask for.
    #[error("{what}: expected {} x {}, found {} x {}", expected[0], expected[1], found[0], found[1])]
    Shape {
        /// The matrix.
        what: &'static str,
        /// Rows and columns that the others ask for.
        expected: [usize; 2],
        /// Rows and columns that it has.
        found: [usize; 2],
    },
    /// A vector does not have the length that the others ask for.
    #[error("{what}: expected {expected} numbers, found {found}")]
    Length {
        /// The vector.
        what: &'static str,
        /// The length that the others ask for.
        expected: usize,
        /// The length that it has.
        found: usize,
    },
    /// The metric has no Cholesky factor.
    #[error(
        "metric: expected a symmetric positive definite matrix, found one without a Cholesky factor"
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
    /// OSQP would not take the problem, or is not in this build.
    #[cfg(feature = "std")]
    #[error("OSQP did not take the problem: {0}")]
    Osqp(String),
}

/// A tolerance: for `f64`, and for scalars of single precision.
pub(crate) fn tolerance<T: RealField>(double: f64, single: f64) -> T {
    let coarse = T::default_epsilon() > nalgebra::convert(1e-12);
    nalgebra::convert(if coarse { single } else { double })
}
