//! The metric of the allocation.

use nalgebra::{DMatrix, DefaultAllocator, Dim, Dyn};

use super::Controller;
use crate::allocation::AllocationError;
use crate::law::Law;
use crate::plant::Plant;
use crate::sizes::Sizes;

/// The priority of the free body's tilt when inputs are limited, see [`Law::metric_with_priority`].
#[derive(Clone, Copy)]
pub(super) struct TiltPriority {
    pub rho: f64,
    /// The indices of its angular velocities about x and y.
    pub tilts: [usize; 2],
}

impl<P: Plant> Controller<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// Passes a constant metric to the solver.
    pub(super) fn take_metric(&mut self) -> Result<(), AllocationError> {
        match self.bounded.as_mut().or(self.limited.as_mut()) {
            Some(limited) if P::CONSTANT => {
                let metric = metric(&self.law, self.tilt_priority, &mut self.metric);
                let [factor, scratch] = &mut self.factor;
                if self.law.inverse_factor(metric, scratch, factor) {
                    limited.set_factored_metric(metric, factor)
                } else {
                    limited.set_metric(metric)
                }
            }
            _ => Ok(()),
        }
    }
}

/// The metric of the allocation.
pub(super) fn metric<'a, N: Dim>(
    law: &'a Law<f64, N, Dyn>,
    priority: Option<TiltPriority>,
    storage: &'a mut DMatrix<f64>,
) -> &'a DMatrix<f64>
where
    DefaultAllocator: Sizes<N, Dyn>,
{
    match priority {
        Some(TiltPriority { rho, tilts }) => {
            law.metric_with_priority(tilts, rho, storage);
            storage
        }
        None => law.metric(),
    }
}
