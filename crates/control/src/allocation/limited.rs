//! Limits on inputs and on their rates, and the solver that keeps them.

use nalgebra::DMatrix;

use super::{Allocation, AllocationError, Allocator, Limits};

/// Limits, how fast inputs may change, and a solver for when they are met.
pub(crate) struct Limited {
    limits: Limits,
    allocator: Box<dyn Allocator>,
    rate: Option<Rate>,
}

/// `|u - u_before| <= most * elapsed`, one row for each input after the rows of the limits.
struct Rate {
    /// Of each input, in its unit per second.
    most: Vec<f64>,
    /// Bounds of all rows.
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Whether there is an input before.
    begun: bool,
}

impl Limited {
    /// For these limits and a rate for each input (its unit per second), with the solver that `make` builds for the rows of both.
    pub fn new<E: From<AllocationError>>(
        limits: &Limits,
        rate: Option<Vec<f64>>,
        make: impl FnOnce(&Limits) -> Result<Box<dyn Allocator>, E>,
    ) -> Result<Self, E> {
        let limits = match rate {
            Some(_) => limits.with_each_input()?,
            None => limits.clone(),
        };
        let rate = rate.map(|most| Rate {
            most,
            lower: limits.lower().to_vec(),
            upper: limits.upper().to_vec(),
            begun: false,
        });
        Ok(Self {
            allocator: make(&limits)?,
            limits,
            rate,
        })
    }

    /// Replaces the `input` before by the one nearest to `desired` that the limits allow, `elapsed` seconds later.
    ///
    /// The input before satisfies the limits and of course its own rates, so that there always is one.
    pub fn allocate(&mut self, desired: &[f64], elapsed: f64, input: &mut [f64]) -> Allocation {
        if self.admit(desired, elapsed, input) {
            return self.begin(Allocation::FREE);
        }
        let allocation = self.allocator.solve(desired, input);
        self.begin(allocation)
    }

    /// The same in a metric of the moment.
    pub fn allocate_in(
        &mut self,
        metric: &DMatrix<f64>,
        desired: &[f64],
        elapsed: f64,
        input: &mut [f64],
    ) -> Result<Allocation, AllocationError> {
        if self.admit(desired, elapsed, input) {
            return Ok(self.begin(Allocation::FREE));
        }
        self.allocator.set_metric(metric)?;
        let allocation = self.allocator.solve(desired, input);
        Ok(self.begin(allocation))
    }

    /// Takes the desired input if the limits and the rates around the input before allow it.
    fn admit(&mut self, desired: &[f64], elapsed: f64, input: &mut [f64]) -> bool {
        if let Some(rate) = &mut self.rate {
            rate.surround(input, elapsed);
            // Cannot fail: the input is finite, and bounds around it do not cross.
            let taken = self.limits.set_bounds(&rate.lower, &rate.upper);
            debug_assert_eq!(taken, Ok(()));
            let taken = self.allocator.set_bounds(&rate.lower, &rate.upper);
            debug_assert_eq!(taken, Ok(()));
        }
        let inside = self.limits.contain(desired);
        if inside {
            input.copy_from_slice(desired);
        }
        inside
    }

    fn begin(&mut self, allocation: Allocation) -> Allocation {
        if let Some(rate) = &mut self.rate {
            rate.begun |= allocation.outcome != super::Outcome::NotFinite;
        }
        allocation
    }
}

impl Rate {
    /// Bounds each input to what can be reached from the one before; time that runs backwards counts as none.
    fn surround(&mut self, before: &[f64], elapsed: f64) {
        let first = self.lower.len() - before.len();
        for (((lower, upper), u), most) in self.lower[first..]
            .iter_mut()
            .zip(&mut self.upper[first..])
            .zip(before)
            .zip(&self.most)
        {
            let reach = if self.begun {
                most * elapsed.max(0.0)
            } else {
                f64::INFINITY
            };
            (*lower, *upper) = (u - reach, u + reach);
        }
    }
}
