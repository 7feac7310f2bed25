//! Changing the inputs' bounds.
#![allow(non_snake_case)]

use nalgebra::{DMatrix, DVector, DefaultAllocator, Dyn};

use super::Controller;
use crate::allocation::{ActiveSet, AllocationError, Allocator, InputBounds, Limited, Limits};
use crate::law::{Law, LawError};
use crate::plant::Plant;
use crate::sizes::Sizes;

/// # Changing inputs
impl<P: Plant> Controller<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// Sets new bounds of the inputs, which replace the limits that concern bounded inputs alone. [Free](InputBounds::free) bounds restore
    /// their own limits. The previous input is kept, so that rate limits continue to hold.
    ///
    /// An input whose bounds are equal is fixed at that value whatever is demanded, such as zero for a failed rotor: the law adds its force to b and
    /// removes its column from B, so that the other inputs compensate as far as they can, exactly while they are inside their limits. Bounded inputs are
    /// limited by [`ActiveSet`]. Allocates, and refactorises.
    ///
    /// # Errors
    /// [`InputBoundsError`]; the previous bounds stay.
    pub fn set_input_bounds(&mut self, bounds: &InputBounds) -> Result<(), InputBoundsError> {
        let bounded = self.with_bounds(bounds)?;
        let fixed: Vec<Option<f64>> = (bounds.lower.iter().zip(&bounds.upper))
            .map(|(lower, upper)| (lower == upper).then_some(*lower))
            .collect();
        self.plant.fix_inputs(&fixed);
        let law = match self.law_of_plant(&fixed) {
            Ok(law) => law,
            Err(error) => {
                self.plant.fix_inputs(&self.fixed);
                return Err(error.into());
            }
        };
        let law = std::mem::replace(&mut self.law, law);
        let before = std::mem::replace(&mut self.bounded, bounded);
        if let Err(error) = self.take_metric() {
            (self.law, self.bounded) = (law, before);
            self.plant.fix_inputs(&self.fixed);
            self.take_metric()?;
            return Err(error.into());
        }
        self.fixed = fixed;
        if let Some(failures) = &mut self.failures {
            failures.restart();
        }
        if let (Some(before), Some(limited)) = (before, &mut self.limited) {
            limited.follow(&before);
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.follow(&self.plant, &self.law);
        }
        Ok(())
    }

    /// The law for the plant's present inputs; that of a system in the state of the last step, if there was one.
    fn law_of_plant(&self, fixed: &[Option<f64>]) -> Result<Law<f64, P::Dof, Dyn>, LawError> {
        let plant = &self.plant;
        let mut law = plant.law(&self.strategy)?;
        law.set_input_weights(self.law.input_weights())?;
        let mut preferred = self.preferred.clone();
        if self.prefers_previous && self.has_stepped {
            let last = preferred.iter_mut().zip(self.step.intended());
            last.filter(|(_, u)| u.is_finite())
                .for_each(|(to, u)| *to = u);
        }
        for (to, fixed) in preferred.iter_mut().zip(fixed) {
            *to = fixed.unwrap_or(*to);
        }
        law.set_preferred_input(preferred.as_slice());
        if !P::CONSTANT && self.has_stepped {
            let M_bar = self.law.desired_mass_matrix();
            law.update(plant.mass_matrix(), M_bar, plant.input_matrix())?;
        }
        Ok(law)
    }

    /// The solver for these bounds; `None` without bounds.
    fn with_bounds(
        &self,
        bounds: &InputBounds,
    ) -> Result<Option<Limited<Box<dyn Allocator>>>, AllocationError> {
        let p = self.plant.input_dim();
        if bounds.are_free(p) {
            return Ok(None);
        }
        let (limits, rates) = if let Some((limits, rates)) = &self.limits {
            (limits.clone(), rates.clone())
        } else {
            // Without limits these bounds are the only ones.
            let none = DVector::zeros(0);
            let rows = DMatrix::zeros(0, p);
            let limits = Limits::<f64, Dyn, Dyn>::new(rows, none, DVector::zeros(p))?;
            (limits, None)
        };
        let mut limited =
            Limited::<Box<dyn Allocator>>::with_bounds(&limits, rates, bounds, |limits| {
                Ok(Box::new(ActiveSet::<f64, Dyn, Dyn>::new(
                    limits,
                    &DMatrix::identity(p, p),
                )?))
            })?;
        if let Some(before) = self.bounded.as_ref().or(self.limited.as_ref()) {
            limited.follow(before);
        }
        Ok(Some(limited))
    }
}

/// Why bounds of inputs are rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InputBoundsError {
    /// Invalid bounds, or not one per input.
    #[error(transparent)]
    Bounds(#[from] AllocationError),
    /// The law does not exist for the remaining inputs.
    #[error("the inputs that are not fixed: {0}")]
    Law(#[from] LawError),
}
