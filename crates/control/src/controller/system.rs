//! The controller of a system of bodies.

use fly_mechanics::multibody::Model;
use nalgebra::{DMatrix, DVector};

use super::{Controller, Step};
use crate::plant::{Plant, SystemPlant};
use crate::rest;
use crate::step_error::StepError;
use crate::strategy::Strategy;
use crate::system::SystemReference;
use crate::template::DesiredMotion;

/// # A system of bodies
impl Controller<SystemPlant> {
    /// The input for this state and reference, ignoring rate limits: [`step_after`](Self::step_after) with an infinite time
    /// step.
    ///
    /// # Errors
    /// As [`step_after`](Self::step_after).
    ///
    /// # Panics
    /// As [`step_after`](Self::step_after).
    pub fn step(
        &mut self,
        x: &[f64],
        xi: &[f64],
        goal: &SystemReference<'_>,
    ) -> Result<&Step, StepError> {
        self.step_after(f64::INFINITY, x, xi, goal)
    }

    /// The input for this state and reference, `elapsed` seconds after the previous one, which limits by rates and advances observer, integrals and lead as for a vehicle.
    ///
    /// Does not allocate with `active_set` (but for the first step of state feedback, see [`place_at_rest`](Self::place_at_rest)). The same sequence of calls
    /// from the first on returns the same bits. If state or reference are not finite, neither is u0, and the input stays the previous one if there
    /// are limits; the caller checks that the input may be sent. State feedback has no energies.
    ///
    /// # Errors
    /// [`StepError`] where the law does not exist; input, energies and allocation then stay those of the last step.
    ///
    /// # Panics
    /// If the size of an argument is not that of the system.
    pub fn step_after(
        &mut self,
        elapsed: f64,
        x: &[f64],
        xi: &[f64],
        goal: &SystemReference<'_>,
    ) -> Result<&Step, StepError> {
        let parts = [x, xi, goal.configuration, goal.velocity, goal.acceleration];
        let finite = |part: &&[f64]| part.iter().all(|number| number.is_finite());
        if parts.iter().all(finite) {
            self.advance(elapsed, (x, xi), *goal)?;
        } else {
            self.step_on_nothing(elapsed)?;
        }
        Ok(&self.step)
    }

    /// Passes the measured state to the disturbance observer, `elapsed` s after the previous one, when the steps receive predicted states because of a
    /// [delay](Self::with_delay).
    ///
    /// # Panics
    /// If the size of an argument is not that of the system.
    pub fn observe_measured(&mut self, elapsed: f64, x: &[f64], xi: &[f64]) {
        if self.observer.is_none() {
            return;
        }
        if x.iter().chain(xi).all(|number| number.is_finite()) {
            self.plant.update((x, xi));
            self.observe(elapsed, (x, xi));
        } else {
            self.interrupt_observation();
        }
    }

    /// The step of a state or reference that is not finite.
    fn step_on_nothing(&mut self, elapsed: f64) -> Result<(), StepError> {
        let step = &mut self.step;
        step.unconstrained.fill(f64::NAN);
        step.demanded.fill(f64::NAN);
        step.energies = None;
        step.reference_power = None;
        if self.delay == 0.0 {
            self.interrupt_observation();
        }
        Ok(self.send(elapsed)?)
    }

    /// Computes the gains of state feedback for rest in this configuration; no effect for other strategies. Otherwise the first step computes
    /// them for its own reference. Allocates.
    ///
    /// # Errors
    /// [`StepError::NotAtRest`], [`StepError::Placement`].
    ///
    /// # Panics
    /// If the length of the configuration is not nu.
    pub fn place_at_rest(&mut self, configuration: &[f64]) -> Result<(), StepError> {
        match &mut self.strategy {
            Strategy::Feedback(feedback) => {
                feedback.place(self.plant.model(), self.plant.inputs(), configuration)
            }
            _ => Ok(()),
        }
    }

    /// Moves a configuration to a nearby equilibrium, in which the inputs hold the system at rest within their limits: a tilted multicopter is
    /// levelled in place with its heading kept; a system with an input for every degree of freedom stays as it is. Returns whether one was found;
    /// if not, the configuration is unchanged. Allocates.
    ///
    /// # Panics
    /// If the length of the configuration is not nu.
    pub fn nearest_equilibrium(&self, configuration: &mut [f64]) -> bool {
        rest::nearest(self.plant.model(), self.plant.inputs(), configuration)
    }

    /// The control strategy, mutable.
    pub(crate) fn strategy_mut(&mut self) -> &mut Strategy {
        &mut self.strategy
    }

    /// The system's bodies and joints.
    pub fn model(&self) -> &Model<f64> {
        self.plant.model()
    }

    /// The desired motion of the last step; state feedback does not compute one.
    pub fn desired(&self) -> &DesiredMotion {
        &self.desired
    }

    /// The model's M in the last step, n x n.
    pub fn mass_matrix(&self) -> &DMatrix<f64> {
        self.plant.mass_matrix()
    }

    /// The model's b in the last step, n entries: Coriolis, damping and potential forces. State feedback does not compute it.
    pub fn bias(&self) -> &DVector<f64> {
        self.plant.last_bias()
    }

    /// B in the last step, n x p.
    pub fn input_matrix(&self) -> &DMatrix<f64> {
        self.plant.input_matrix()
    }
}
