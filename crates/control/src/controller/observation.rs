//! What is measured and reported: the disturbance observer, failures, the actuators.
#![allow(non_snake_case)]

use nalgebra::{DefaultAllocator, Dyn, Vector3};

use super::Controller;
use crate::disturbance::{DisturbanceObserver, Failure, FailureDetector};
use crate::plant::Plant;
use crate::sizes::Sizes;

/// # Observation
impl<P: Plant> Controller<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// Passes the plant's current state to the observer, if any.
    pub(super) fn observe(&mut self, elapsed: f64, state: P::State<'_>) {
        let Some(observer) = &mut self.observer else {
            return;
        };
        let (plant, step) = (&mut self.plant, &self.step);
        if std::mem::take(&mut self.is_predicted) {
            self.unobserved += elapsed;
            plant.bias(state);
            return;
        }
        let elapsed = elapsed + std::mem::take(&mut self.unobserved);
        if !self.is_told {
            observer.set_applied(Some(step.input.as_slice()));
        }
        let unmet = step.saturated().then_some((&step.demanded, &step.input));
        plant.bias(state);
        let R = plant.attitude(state);
        let (M, B, b) = (plant.mass_matrix(), plant.input_matrix(), plant.last_bias());
        observer.observe(elapsed, M, B, b, P::velocity(&state), &R, unmet);
        if let (Some(failures), Some((d, u))) = (&mut self.failures, observer.measured()) {
            let (M, B) = (plant.mass_matrix(), plant.input_matrix());
            if let Some(failed) = failures.observe(elapsed, d, u, B, M) {
                // The observer's estimate has absorbed the failure, which the allocation compensates from now on.
                observer.assume(failures.nominal_residual());
                self.failed = Some(failed);
            }
        }
        if let Some([x, _]) = plant.tilt_indices() {
            let r = observer.force();
            let moment = Vector3::new(r[x], r[x + 1], r[x + 2]);
            plant.lean(observer.force_in_world(), &moment);
        }
    }

    /// Makes the observer begin anew with the next state, because this one is not finite.
    pub(super) fn interrupt_observation(&mut self) {
        (self.is_predicted, self.unobserved) = (false, 0.0);
        if let Some(observer) = &mut self.observer {
            observer.interrupt();
        }
    }

    /// Reports the mean input (p entries) applied since the last step, actuator lags included; `None` if it is unknown or the state was not measured: the
    /// disturbance observer then holds its estimate. Without any report the commands are assumed to apply at once.
    ///
    /// # Panics
    /// If the number of entries is not p.
    pub fn set_applied(&mut self, input: Option<&[f64]>) {
        self.is_told = true;
        if let Some(observer) = &mut self.observer {
            observer.set_applied(input);
        }
    }

    /// Declares the next step's state as predicted: the disturbance observer waits for the next measured state, and for the input applied [until
    /// then](Self::set_applied). Valid for one step.
    pub fn skip_observation(&mut self) {
        self.is_predicted = true;
    }

    /// Reports the actuators' outputs now, or when this step's command will act: thrusts, tilts and efforts, p entries in the order of the commands; `None` if
    /// unknown, in which case commands do not lead. Valid for one step. Without any report all inputs are assumed to be sent, and the outputs follow from the
    /// lag models.
    ///
    /// # Panics
    /// If the number of entries is not p.
    pub fn set_actuators(&mut self, actual: Option<&[f64]>) {
        if let Some(ahead) = &mut self.ahead {
            ahead.set_actuators(actual);
        }
        if let (Some(spin), Some(actual)) = (&mut self.spin, actual) {
            spin.set_thrusts(actual);
        }
    }

    /// The failure detected since the last call, by the indices of the actuators in the [detector](Self::with_failure_detector).
    pub fn take_failure(&mut self) -> Option<Failure> {
        self.failed.take()
    }

    /// Returns whether the [detector](Self::with_failure_detector) sees a disturbance as large as a failure that no
    /// single failure explains.
    pub fn has_unexplained_disturbance(&self) -> bool {
        (self.failures.as_ref()).is_some_and(FailureDetector::has_unexplained_disturbance)
    }

    /// The disturbance observer, if any.
    pub fn disturbance(&self) -> Option<&DisturbanceObserver<P::Dof>> {
        self.observer.as_ref()
    }
}
