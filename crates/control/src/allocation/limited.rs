//! Allocation with limits on inputs and on their rates.

use core::cmp::Ordering;

use nalgebra::{DefaultAllocator, Dim, OMatrix, OVector, RealField, convert};

#[cfg(feature = "std")]
use super::InputBounds;
use super::limits::check_length;
use super::{Allocation, AllocationError, Allocator, DefaultDim, Limits, Outcome, Sizes};

/// Limits on inputs and rates, and the solver called when they are violated.
pub struct Limited<A, T: RealField + Copy = f64, P: Dim = DefaultDim, M: Dim = DefaultDim>
where
    DefaultAllocator: Sizes<P, M>,
{
    limits: Limits<T, P, M>,
    allocator: A,
    rate: Option<Rate<T, P, M>>,
    /// Whether there is a previous input.
    begun: bool,
}

/// Rate limits `|u - u_before| <= most * elapsed`, one row per input after the rows of the limits.
struct Rate<T: RealField + Copy, P: Dim, M: Dim>
where
    DefaultAllocator: Sizes<P, M>,
{
    /// Per input, in its unit per second.
    most: OVector<T, P>,
    /// Bounds of all rows.
    lower: OVector<T, M>,
    upper: OVector<T, M>,
    /// Bounds of each input without its rate limit.
    within: [OVector<T, P>; 2],
}

impl<A: Allocator<T, P>, T: RealField + Copy, P: Dim, M: Dim> Limited<A, T, P, M>
where
    DefaultAllocator: Sizes<P, M>,
{
    /// From limits, a rate limit for each input (its unit per second), and the solver that `make` builds for the
    /// limits.
    ///
    /// With rates the last p rows of the limits are those of the individual inputs. An infinite rate does not limit its input.
    ///
    /// # Errors
    /// [`AllocationError::Rate`] if a rate is negative or NaN, [`AllocationError::Length`] if there are fewer limits than rates, and those of
    /// `make`.
    pub fn new(
        limits: Limits<T, P, M>,
        rate: Option<OVector<T, P>>,
        make: impl FnOnce(&Limits<T, P, M>) -> Result<A, AllocationError>,
    ) -> Result<Self, AllocationError> {
        let (_, m) = limits.sizes();
        if let Some(most) = &rate
            && let Some(input) = most.iter().position(is_no_rate)
        {
            let found = nalgebra::try_convert(most[input]).unwrap_or(f64::NAN);
            return Err(AllocationError::Rate { input, found });
        }
        if let Some(most) = rate.as_ref().filter(|most| most.len() > limits.len()) {
            check_length("input rates", limits.len(), most.len())?;
        }
        let bounds = |bounds: &[T]| OVector::from_column_slice_generic(m, nalgebra::U1, bounds);
        let rate = rate.map(|most| {
            let first = limits.len() - most.len();
            let of_inputs = |bounds: &[T]| most.map_with_location(|i, _, _| bounds[first + i]);
            Rate {
                within: [of_inputs(limits.lower()), of_inputs(limits.upper())],
                lower: bounds(limits.lower()),
                upper: bounds(limits.upper()),
                most,
            }
        });
        Ok(Self {
            allocator: make(&limits)?,
            limits,
            rate,
            begun: false,
        })
    }
}

#[cfg(feature = "std")]
impl Limited<Box<dyn Allocator>> {
    /// From limits and a rate limit for each input (its unit per second), with the solver that `make` builds for the rows of
    /// both.
    ///
    /// # Errors
    /// [`AllocationError::Length`] unless there is one rate per input, and as [`new`](Self::new).
    pub fn with_rates(
        limits: &Limits,
        rate: Option<Vec<f64>>,
        make: impl FnOnce(&Limits) -> Result<Box<dyn Allocator>, AllocationError>,
    ) -> Result<Self, AllocationError> {
        let each = match rate {
            Some(_) => limits.with_each_input(None)?,
            None => limits.clone(),
        };
        Self::of_each(each, rate, make)
    }

    /// The same with these bounds of each input (p entries each, infinite for no bound) in place of the limits that concern bounded
    /// inputs alone.
    ///
    /// # Errors
    /// As [`with_rates`](Self::with_rates) and [`Limits::set_bounds`].
    pub fn with_bounds(
        limits: &Limits,
        rate: Option<Vec<f64>>,
        bounds: &InputBounds,
        make: impl FnOnce(&Limits) -> Result<Box<dyn Allocator>, AllocationError>,
    ) -> Result<Self, AllocationError> {
        Self::of_each(limits.with_each_input(Some(bounds))?, rate, make)
    }

    /// From limits whose last rows are those of the individual inputs.
    fn of_each(
        limits: Limits,
        rate: Option<Vec<f64>>,
        make: impl FnOnce(&Limits) -> Result<Box<dyn Allocator>, AllocationError>,
    ) -> Result<Self, AllocationError> {
        if let Some(rate) = &rate {
            check_length("input rates", limits.input_dim(), rate.len())?;
        }
        Self::new(limits, rate.map(nalgebra::DVector::from_vec), make)
    }
}

impl<A: Allocator<T, P>, T: RealField + Copy, P: Dim, M: Dim> Limited<A, T, P, M>
where
    DefaultAllocator: Sizes<P, M>,
{
    /// Replaces the previous `input` by the admissible one nearest to `desired`, `elapsed` seconds later.
    ///
    /// The previous input satisfies the limits and its own rate limits, so a solution always exists. `input` is unchanged if `desired` is
    /// not finite; without a previous input it becomes one inside the limits.
    pub fn allocate(&mut self, desired: &[T], elapsed: T, input: &mut [T]) -> Allocation {
        if let Some(allocation) = self.settle(desired, elapsed, input) {
            return allocation;
        }
        self.begun = true;
        self.allocator.solve(desired, input)
    }

    /// Continues from another allocator's previous input, if it has one.
    #[cfg(feature = "std")]
    pub(crate) fn follow(&mut self, other: &Self) {
        self.begun = other.begun;
    }

    /// Sets a new metric.
    ///
    /// # Errors
    /// As [`Allocator::set_metric`].
    pub fn set_metric(&mut self, metric: &OMatrix<T, P, P>) -> Result<(), AllocationError> {
        self.allocator.set_metric(metric)
    }

    /// Sets a new metric with its inverse factor.
    ///
    /// # Errors
    /// As [`Allocator::set_factored_metric`].
    pub fn set_factored_metric(
        &mut self,
        metric: &OMatrix<T, P, P>,
        inverse_factor: &OMatrix<T, P, P>,
    ) -> Result<(), AllocationError> {
        self.allocator.set_factored_metric(metric, inverse_factor)
    }

    /// As [`allocate`](Self::allocate), with a solver whose metric `prepare` sets; both run only if the limits are violated.
    ///
    /// # Errors
    /// Those of `prepare`; the previous input stays.
    pub fn allocate_with<E>(
        &mut self,
        prepare: impl FnOnce(&mut A) -> Result<(), E>,
        desired: &[T],
        elapsed: T,
        input: &mut [T],
    ) -> Result<Allocation, E> {
        if let Some(allocation) = self.settle(desired, elapsed, input) {
            return Ok(allocation);
        }
        prepare(&mut self.allocator)?;
        self.begun = true;
        Ok(self.allocator.solve(desired, input))
    }

    /// Handles what needs no solver: a desired input that satisfies limits and rates, or one that is not finite.
    fn settle(&mut self, desired: &[T], elapsed: T, input: &mut [T]) -> Option<Allocation> {
        if !desired.iter().all(nalgebra::ComplexField::is_finite) {
            let mut allocation = Allocation {
                solver: self.allocator.solver(),
                outcome: Outcome::NotFinite,
                ..Allocation::FREE
            };
            if !self.begun {
                allocation = self.allocator.solve(desired, input);
            }
            return Some(allocation);
        }
        if let Some(rate) = &mut self.rate {
            let elapsed = if self.begun {
                elapsed
            } else {
                convert(f64::INFINITY)
            };
            rate.surround(input, elapsed);
            // Cannot fail: the input is finite, and bounds around it do not cross.
            let taken = self
                .limits
                .set_bounds(rate.lower.as_slice(), rate.upper.as_slice());
            debug_assert_eq!(taken, Ok(()));
            let taken = self
                .allocator
                .set_bounds(rate.lower.as_slice(), rate.upper.as_slice());
            debug_assert_eq!(taken, Ok(()));
        }
        if !self.limits.contains(desired) {
            return None;
        }
        input.copy_from_slice(desired);
        self.begun = true;
        Some(Allocation::FREE)
    }
}

impl<T: RealField + Copy, P: Dim, M: Dim> Rate<T, P, M>
where
    DefaultAllocator: Sizes<P, M>,
{
    /// Bounds each input by what it can reach from the previous one; negative elapsed time counts as zero.
    fn surround(&mut self, before: &[T], elapsed: T) {
        let first = self.lower.len() - before.len();
        let elapsed = if elapsed > T::zero() {
            elapsed
        } else {
            T::zero()
        };
        let lower = self.lower.as_mut_slice()[first..].iter_mut();
        let bounds = lower.zip(&mut self.upper.as_mut_slice()[first..]);
        let [least, greatest] = &self.within;
        let within = least.iter().zip(greatest);
        for ((((lower, upper), u), most), (least, greatest)) in
            bounds.zip(before).zip(&self.most).zip(within)
        {
            // Of 0 and infinity there is no product.
            let reach = if elapsed.is_finite() && most.is_finite() {
                *most * elapsed
            } else {
                convert(f64::INFINITY)
            };
            // Bounds that have jumped away from the previous input take precedence.
            *lower = larger(*least, smaller(*u - reach, *greatest));
            *upper = smaller(*greatest, larger(*u + reach, *least));
        }
    }
}

/// Whether a rate limit is negative or NaN.
fn is_no_rate<T: RealField + Copy>(most: &T) -> bool {
    most.partial_cmp(&T::zero()).is_none_or(Ordering::is_lt)
}

fn larger<T: RealField + Copy>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

fn smaller<T: RealField + Copy>(a: T, b: T) -> T {
    if a < b { a } else { b }
}
