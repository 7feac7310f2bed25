//! Limits on inputs and on their rates, and the solver that keeps them.

use nalgebra::DMatrix;

use super::{Allocation, AllocationError, Allocator, Limits, Outcome};

/// Limits, how fast inputs may change, and a solver for when they are met.
pub(crate) struct Limited {
    limits: Limits,
    allocator: Box<dyn Allocator>,
    rate: Option<Rate>,
    /// Whether there is an input before.
    begun: bool,
}

/// `|u - u_before| <= most * elapsed`, one row for each input after the rows of the limits.
struct Rate {
    /// Of each input, in its unit per second.
    most: Vec<f64>,
    /// Bounds of all rows.
    lower: Vec<f64>,
    upper: Vec<f64>,
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
        });
        Ok(Self {
            allocator: make(&limits)?,
            limits,
            rate,
            begun: false,
        })
    }

    /// Replaces the `input` before by the one nearest to `desired` that the limits allow, `elapsed` seconds later.
    ///
    /// The input before satisfies the limits and of course its own rates, so that there always is one. It stays where the desired one is not
    /// finite; if there is none before, one inside the limits takes its place.
    pub fn allocate(&mut self, desired: &[f64], elapsed: f64, input: &mut [f64]) -> Allocation {
        if let Some(allocation) = self.settle(desired, elapsed, input) {
            return allocation;
        }
        self.begun = true;
        self.allocator.solve(desired, input)
    }

    /// The same in a metric of the moment.
    pub fn allocate_in(
        &mut self,
        metric: &DMatrix<f64>,
        desired: &[f64],
        elapsed: f64,
        input: &mut [f64],
    ) -> Result<Allocation, AllocationError> {
        if let Some(allocation) = self.settle(desired, elapsed, input) {
            return Ok(allocation);
        }
        self.allocator.set_metric(metric)?;
        self.begun = true;
        Ok(self.allocator.solve(desired, input))
    }

    /// What needs no solver: a desired input that the limits and the rates around the input before allow, or one that is not finite.
    fn settle(&mut self, desired: &[f64], elapsed: f64, input: &mut [f64]) -> Option<Allocation> {
        if !desired.iter().all(|u| u.is_finite()) {
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
            rate.surround(input, if self.begun { elapsed } else { f64::INFINITY });
            // Cannot fail: the input is finite, and bounds around it do not cross.
            let taken = self.limits.set_bounds(&rate.lower, &rate.upper);
            debug_assert_eq!(taken, Ok(()));
            let taken = self.allocator.set_bounds(&rate.lower, &rate.upper);
            debug_assert_eq!(taken, Ok(()));
        }
        if !self.limits.contain(desired) {
            return None;
        }
        input.copy_from_slice(desired);
        self.begun = true;
        Some(Allocation::FREE)
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
            let reach = most * elapsed.max(0.0);
            (*lower, *upper) = (u - reach, u + reach);
        }
    }
}
