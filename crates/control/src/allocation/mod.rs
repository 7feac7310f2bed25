//! Control allocation: the feasible input nearest to the desired one, Konz (5.83), (A.130)-(A.136).
//!
//! The law (5.86b) computes an input `u0` regardless of actuator limits. The input sent is, of all inputs within the
//! limits, the nearest to `u0` in the metric `H` of the closed loop:
//!
//! ```text
//! minimise  1/2 (u - u0)^T H (u - u0)     subject to  W u <= l
//! ```
//!
//! with `u` in R^p, `W` m x p, `l` in R^m and `H` symmetric positive definite, so that the solution is unique if the
//! limits are feasible. Rows may have lower bounds, too: [`Limits::between`].
//!
//! # Which solver
//!
//! [`Allocator`] has two solvers. The law calls one only if `u0` violates the limits: see [`Limits::contains`].
//!
//! | | [`ActiveSet`] | `Osqp` (feature `osqp`, the default of `[controller]`) |
//! |---|---|---|
//! | solution | exact to rounding, at its bounds to the last bit | to 1e-8, then moved inside the limits: 2e-7 of the inputs' range at worst |
//! | time of a warm-started step | 60 to 140 ns (4 to 8 inputs, 8 to 33 rows) | 9 to 35 us |
//! | memory | allocated at construction; a step uses neither heap nor large stack | allocates when it polishes |
//! | no std, f32, compile-time sizes | yes | no |
//! | infeasible limits | the input of least violation | falls back to [`ActiveSet`] |
//!
//! Choose [`ActiveSet`] for flight: it is exact, a hundred times faster, and does not allocate. OSQP, a widely used and
//! independently tested code (Stellato et al. 2020), serves as a cross-check.
//!
//! # Sizes and scalars
//!
//! [`Limits`] and [`ActiveSet`] are generic over the scalar (`f64`, `f32`) and over the numbers p of inputs and m of rows: [`Dyn`](nalgebra::Dyn) on
//! desktops, [`Const`](nalgebra::Const) without heap and std.
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
#[cfg(feature = "std")]
mod bounds;
mod dual;
mod limited;
mod limits;
#[cfg(feature = "osqp")]
mod osqp;

pub use active_set::ActiveSet;
pub(crate) use active_set::inverse_factor;
#[cfg(feature = "std")]
pub use bounds::InputBounds;
pub use limited::Limited;
pub use limits::Limits;
#[cfg(feature = "osqp")]
pub use osqp::Osqp;

use nalgebra::allocator::Allocator as Memory;
use nalgebra::{DefaultAllocator, Dim, OMatrix, RealField};

use crate::sizes::{DefaultDim, Sizes};

/// A solver of (5.83) for fixed rows `W` and constant or slowly changing metric `H` and bounds `l`.
///
/// Solvers warm-start from the previous call, so their results may depend on earlier calls within their accuracy; the
/// same sequence of calls returns the same bits.
pub trait Allocator<T: RealField + Copy = f64, P: Dim = DefaultDim>: Send
where
    DefaultAllocator: Memory<P, P>,
{
    /// The kind of solver.
    fn solver(&self) -> Solver;

    /// Sets a new metric `H` (p x p, symmetric positive definite), with one factorisation and no allocation.
    ///
    /// # Errors
    /// [`AllocationError::Metric`] if it is not positive definite, [`AllocationError::Shape`] if its shape is wrong;
    /// the previous metric stays.
    fn set_metric(&mut self, metric: &OMatrix<T, P, P>) -> Result<(), AllocationError>;

    /// The same for a metric known to more digits than its entries hold, such as that of [redundant inputs](crate::law::Law), with its factor J (p x
    /// p), `J J^T = H^-1`. A solver may ignore J.
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

    /// Sets new bounds (m entries each, in the units of the rows of `W`; infinite for no bound).
    ///
    /// # Errors
    /// As [`Limits::set_bounds`]; the previous bounds stay.
    fn set_bounds(&mut self, lower: &[T], upper: &[T]) -> Result<(), AllocationError>;

    /// Writes into `input` the point of `W u <= l` nearest to `desired` (p entries each) in the metric `H`.
    ///
    /// After the first finite input every input written is finite; [`Allocation::outcome`] qualifies it.
    ///
    /// # Panics
    /// If either has not p entries.
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

/// The report of an [`Allocator::solve`] call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The solver that found the input.
    pub solver: Solver,
    /// The quality of the input.
    pub outcome: Outcome,
    /// The number of active rows at the solution.
    pub active: usize,
    /// The number of subproblems or iterations.
    pub iterations: u32,
}

impl Allocation {
    /// The desired input satisfied the limits: no solver ran.
    pub(crate) const FREE: Self = Self {
        solver: Solver::None,
        outcome: Outcome::Optimal,
        active: 0,
        iterations: 0,
    };
}

/// The solver that found the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// No solver ran: the desired input satisfied the limits.
    None,
    /// [`ActiveSet`].
    ActiveSet,
    /// `Osqp` (feature `osqp`).
    Osqp,
}

/// The quality of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The solution of (5.83) to rounding ([`ActiveSet`]) or to the solver's tolerance (`Osqp`).
    Optimal,
    /// Rounding errors or the iteration limit stopped the search. The input satisfies the limits but may not be the nearest.
    NotConverged,
    /// The limits are infeasible. Of the inputs with the least largest violation (rows of `W` scaled to length 1) this
    /// is the one nearest to the desired input.
    Infeasible,
    /// The desired input was not finite. The input is the previous one.
    NotFinite,
}

/// Why an allocation problem is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AllocationError {
    /// A matrix does not have the expected shape.
    #[error("{what}: expected {} x {}, found {} x {}", expected[0], expected[1], found[0], found[1])]
    Shape {
        /// The matrix.
        what: &'static str,
        /// Expected rows and columns.
        expected: [usize; 2],
        /// Actual rows and columns.
        found: [usize; 2],
    },
    /// A vector does not have the expected length.
    #[error("{what}: expected {expected} numbers, found {found}")]
    Length {
        /// The vector.
        what: &'static str,
        /// Expected length.
        expected: usize,
        /// Actual length.
        found: usize,
    },
    /// The metric has no Cholesky factor.
    #[error(
        "metric: expected a symmetric positive definite matrix, found one without a Cholesky factor"
    )]
    Metric,
    /// NaN, or an infinite entry where none is allowed.
    #[error("{what}: expected finite numbers, found {found}")]
    NotFinite {
        /// The quantity.
        what: &'static str,
        /// The entry.
        found: f64,
    },
    /// A lower bound lies above the upper one.
    #[error(
        "row {row}: expected a lower bound of at most the upper one, found {lower} and {upper}"
    )]
    CrossedBounds {
        /// The row of `W`.
        row: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// The bounds of an input cross, are NaN, or admit no finite input.
    #[error(
        "bounds of input {input}: expected a lower bound of at most the upper one, found {lower} and {upper}"
    )]
    InputBounds {
        /// The input.
        input: usize,
        /// Its lower bound.
        lower: f64,
        /// Its upper bound.
        upper: f64,
    },
    /// A rate limit is negative or NaN.
    #[error("rate limit of input {input}: expected a number of at least 0, found {found}")]
    Rate {
        /// The input.
        input: usize,
        /// Its rate limit.
        found: f64,
    },
    /// OSQP rejected the problem, or is not in this build.
    #[cfg(feature = "std")]
    #[error("OSQP rejected the problem: {0}")]
    Osqp(String),
}

/// The tolerance for `f64`, or the one for single-precision scalars.
pub(crate) fn tolerance<T: RealField>(double: f64, single: f64) -> T {
    nalgebra::convert(tolerance_of::<T>(double, single))
}

/// The same as a number of double precision.
pub(crate) fn tolerance_of<T: RealField>(double: f64, single: f64) -> f64 {
    let coarse = T::default_epsilon() > nalgebra::convert(1e-12);
    if coarse { single } else { double }
}
