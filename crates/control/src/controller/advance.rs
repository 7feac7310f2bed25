//! One step: strategy, law, lead, allocation.
#![allow(non_snake_case)]

use nalgebra::{DVector, DefaultAllocator, Dyn, OVector, Vector3};

use super::Controller;
use super::metric::metric;
use crate::allocation::{Allocation, AllocationError, Allocator};
use crate::disturbance::DisturbanceObserver;
use crate::law::Law;
use crate::lead::Ahead;
use crate::plant::{Plant, StrategyOutput};
use crate::sizes::Sizes;
use crate::step_error::StepError;
use crate::template::DesiredMotion;

/// # Control
impl<P: Plant> Controller<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// The input for this state and goal, `elapsed` seconds after the previous one.
    pub(super) fn advance(
        &mut self,
        elapsed: f64,
        state: P::State<'_>,
        goal: P::Goal<'_>,
    ) -> Result<(), StepError> {
        self.plant.update(state);
        if self.delay == 0.0 {
            self.observe(elapsed, state);
        } else if self.observer.is_some() {
            self.plant.bias(state);
        }
        let output = self.now().ask(elapsed, state, goal)?;
        self.take_reference_power(output);
        self.lead_on(elapsed, state, goal, output)?;
        self.send(elapsed)?;
        if let Some(ahead) = &mut self.ahead {
            ahead.sent(&self.step.input);
        }
        if self.prefers_previous && self.step.input.iter().all(|u| u.is_finite()) {
            self.prefer_last();
        }
        self.step.energies = match output {
            StrategyOutput::DesiredMotion => Some(self.desired.energies),
            StrategyOutput::Input => None,
        };
        self.has_stepped = true;
        Ok(())
    }

    /// Writes the input to send: the demand inside the limits.
    pub(super) fn send(&mut self, elapsed: f64) -> Result<(), AllocationError> {
        let (u0, input) = (
            self.step.demanded.as_slice(),
            self.step.input.as_mut_slice(),
        );
        self.step.allocation = match self.bounded.as_mut().or(self.limited.as_mut()) {
            None => {
                input.copy_from_slice(u0);
                Allocation::FREE
            }
            Some(limited) if P::CONSTANT => limited.allocate(u0, elapsed, input),
            Some(limited) => {
                let (law, priority, storage) = (&self.law, self.tilt_priority, &mut self.metric);
                let [factor, scratch] = &mut self.factor;
                let prepare = |solver: &mut Box<dyn Allocator>| {
                    let metric = metric(law, priority, storage);
                    if law.inverse_factor(metric, scratch, factor) {
                        solver.set_factored_metric(metric, factor)
                    } else {
                        solver.set_metric(metric)
                    }
                };
                limited.allocate_with(prepare, u0, elapsed, input)?
            }
        };
        Ok(())
    }

    /// Computes the power that the motion of the reference extracts in this step.
    fn take_reference_power(&mut self, output: StrategyOutput) {
        let (desired, step, xi_dot) = (&self.desired, &mut self.step, &mut self.acceleration);
        step.reference_power = match output {
            StrategyOutput::Input => None,
            StrategyOutput::DesiredMotion if desired.reference_momentum.amax() == 0.0 => {
                desired.reference_power
            }
            StrategyOutput::DesiredMotion => {
                let b = match &self.observer {
                    Some(_) => &self.compensated,
                    None => self.plant.last_bias(),
                };
                self.law.acceleration(b, &step.unconstrained, xi_dot);
                desired.reference_power_at(xi_dot)
            }
        };
    }

    /// The law's evaluation context in the plant's current state.
    fn now(&mut self) -> Asked<'_, P> {
        Asked {
            plant: &mut self.plant,
            strategy: &mut self.strategy,
            law: &mut self.law,
            desired: &mut self.desired,
            observer: self.observer.as_ref(),
            compensated: &mut self.compensated,
            force: &mut self.force,
            u0: &mut self.step.unconstrained,
        }
    }

    /// Writes the demand on the actuators that makes them produce u0.
    fn lead_on(
        &mut self,
        elapsed: f64,
        state: P::State<'_>,
        goal: P::Goal<'_>,
        output: StrategyOutput,
    ) -> Result<(), StepError> {
        let step = &mut self.step;
        step.demanded.copy_from(&step.unconstrained);
        let Some(ahead) = &mut self.ahead else {
            return Ok(());
        };
        ahead.let_follow(elapsed, &step.input);
        if ahead.fraction() <= 0.0 {
            return Ok(());
        }
        if output == StrategyOutput::Input {
            // The law did not need it.
            self.plant.bias(state);
        }
        let compensated = match &self.observer {
            Some(_) => &self.compensated,
            None => self.plant.last_bias(),
        };
        let now = (&self.plant, &self.law);
        if !ahead.look(
            elapsed,
            (state, goal),
            &step.unconstrained,
            now,
            compensated,
        ) {
            return Ok(());
        }
        let Ahead {
            plant,
            law,
            desired,
            snapshot,
            u0,
            ..
        } = &mut **ahead;
        let (state, goal) = P::at(snapshot);
        if let (Some(observer), Some([x, _])) = (&self.observer, plant.tilt_indices()) {
            plant.bias(state);
            let r = observer.force();
            plant.lean(
                observer.force_in_world(),
                &Vector3::new(r[x], r[x + 1], r[x + 2]),
            );
        } else if self.observer.is_some() {
            plant.bias(state);
        }
        let later = Asked {
            plant,
            strategy: &mut self.strategy,
            law,
            desired,
            observer: self.observer.as_ref(),
            compensated: &mut self.compensated,
            force: &mut self.force,
            u0,
        };
        later.ask(0.0, state, goal)?;
        ahead.lead_on(&mut step.demanded);
        Ok(())
    }

    /// Makes redundant inputs prefer their present values, without lead.
    fn prefer_last(&mut self) {
        let step = &self.step;
        if self.ahead.is_none() {
            return self.law.set_preferred_input(step.input.as_slice());
        }
        let preferred = &mut self.previous;
        preferred.copy_from(&step.input);
        *preferred -= &step.demanded;
        *preferred += &step.unconstrained;
        self.law.set_preferred_input(preferred.as_slice());
        if let Some(ahead) = &mut self.ahead {
            ahead.law.set_preferred_input(preferred.as_slice());
        }
    }
}

/// The context of an evaluation of the law in the plant's current state.
struct Asked<'a, P: Plant>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    plant: &'a mut P,
    strategy: &'a mut P::Strategy,
    law: &'a mut Law<f64, P::Dof, Dyn>,
    desired: &'a mut DesiredMotion<f64, P::Dof>,
    /// With an observer, the plant has computed b already.
    observer: Option<&'a DisturbanceObserver<P::Dof>>,
    compensated: &'a mut OVector<f64, P::Dof>,
    force: &'a mut OVector<f64, P::Dof>,
    u0: &'a mut DVector<f64>,
}

impl<P: Plant> Asked<'_, P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// Writes u0.
    fn ask(
        self,
        elapsed: f64,
        state: P::State<'_>,
        goal: P::Goal<'_>,
    ) -> Result<StrategyOutput, StepError> {
        let Self {
            plant,
            strategy,
            law,
            desired,
            observer,
            compensated,
            force,
            u0,
        } = self;
        if let Some(observer) = observer {
            let R = plant.attitude(state);
            observer.compensate(plant.last_bias(), &R, compensated);
        }
        let output = plant.evaluate(elapsed, strategy, state, goal, desired, u0)?;
        match output {
            StrategyOutput::DesiredMotion => {
                if !P::CONSTANT {
                    let (M, B) = (plant.mass_matrix(), plant.input_matrix());
                    law.update(M, &desired.mass_matrix, B)?;
                }
                let b = match observer {
                    Some(_) => &*compensated,
                    None => plant.bias(state),
                };
                law.unconstrained(b, &desired.bias, u0);
            }
            // Without a template there is no desired inertia: of the feasible inputs take the one whose acceleration is nearest to the
            // desired one in the metric of the kinetic energy (Gauss's principle), which is independent of coordinates and units.
            StrategyOutput::Input => {
                let M = plant.mass_matrix();
                law.update(M, M, plant.input_matrix())?;
                // Where other inputs can produce the same force, those that are fixed have to be replaced, and preferences count.
                if observer.is_some() || law.redundancy() > 0 {
                    force.fill(0.0);
                    if observer.is_some() {
                        *force += &*compensated;
                        *force -= plant.last_bias();
                    }
                    plant.add_force(u0, force);
                    law.input_for(force, u0);
                }
            }
        }
        Ok(output)
    }
}
