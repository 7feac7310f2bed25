//! A reference and the control law that follows it.

mod system;
mod vehicle;

use fly_control::Step;
use fly_control::SystemPoint;
use fly_control::analysis::LyapunovGuarantee;
use fly_control::predictor::StatePredictor;
use fly_hal::Frame;
use nalgebra::DMatrix;

pub use system::SystemGuidance;
pub use vehicle::VehicleGuidance;

use super::supervisor::Fault;

/// A reference and the control law that follows it.
///
/// Its functions allocate only in their first call, for messages of errors, and once to find where a system can rest.
pub trait Guidance {
    /// Evaluates the reference at flight time `time` (s), to which `frame` belongs.
    ///
    /// # Errors
    /// [`Fault::Reference`] if it cannot be followed there.
    fn evaluate(&mut self, time: f64, frame: &Frame) -> Result<(), Fault>;

    /// Evaluates the reference of the failsafe, `time` s after it began. The first call starts it from the present state.
    fn failsafe(&mut self, time: f64, predictor: &StatePredictor);

    /// The input that follows the reference, `elapsed` s after the one before.
    ///
    /// # Errors
    /// [`Fault::Controller`] if the law has no finite result here.
    fn step(&mut self, elapsed: f64, predictor: &StatePredictor) -> Result<&Step, Fault>;

    /// The last step.
    fn last(&self) -> &Step;

    /// H of the last step, p x p: the metric of the allocation.
    fn metric(&self) -> &DMatrix<f64>;

    /// When the total error energy W is a Lyapunov function.
    fn lyapunov_guarantee(&mut self) -> LyapunovGuarantee;

    /// The last reference.
    fn point(&self) -> &SystemPoint;

    /// When the reference comes to rest, s, if that is known.
    fn duration(&self) -> Option<f64>;

    /// What is followed, in words; `kind` is that of the configuration.
    fn describe(&self, kind: &str) -> String;
}

/// The step if its unconstrained input is finite: where it is not, the allocation repeats its last result, which would pass for a command.
fn finite(step: &Step) -> Result<&Step, Fault> {
    if step.unconstrained.iter().all(|value| value.is_finite()) {
        Ok(step)
    } else {
        Err(Fault::Controller)
    }
}
