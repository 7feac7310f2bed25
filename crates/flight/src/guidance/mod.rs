//! What leads a flight: a reference and the law that follows it.

mod system;
mod vehicle;

use fly_control::Step;
use fly_control::SystemPoint;
use fly_control::analysis::LyapunovGuarantee;
use fly_hal::Frame;
use nalgebra::DMatrix;

pub use system::SystemGuidance;
pub use vehicle::VehicleGuidance;

use super::craft::Craft;
use super::supervisor::Fault;

/// A reference and the law that follows it, for what [`Craft`] knows.
///
/// No function of it allocates after its first call, but to tell of an error, and once to find where a system can rest.
pub trait Guidance {
    /// Puts the reference where it is at flight time `time` (s), to which `frame` belongs.
    ///
    /// # Errors
    /// [`Fault::Reference`]: nothing can follow there.
    fn lead(&mut self, time: f64, frame: &Frame) -> Result<(), Fault>;

    /// Puts the reference where it is so many seconds after the flight was given up; the first call is the beginning of that.
    fn retreat(&mut self, time: f64, craft: &Craft);

    /// The input that follows the reference, `elapsed` s after the one before.
    ///
    /// # Errors
    /// [`Fault::Controller`]: the law has no finite answer here.
    fn step(&mut self, elapsed: f64, craft: &Craft) -> Result<&Step, Fault>;

    /// The last step.
    fn last(&self) -> &Step;

    /// H of the last step, p x p: what a change of the inputs means for the energies.
    fn metric(&self) -> &DMatrix<f64>;

    /// When the total error energy W is a Lyapunov function.
    fn lyapunov_guarantee(&mut self) -> LyapunovGuarantee;

    /// The reference that was followed last.
    fn point(&self) -> &SystemPoint;

    /// When the reference has come to rest, s, where that is known.
    fn duration(&self) -> Option<f64>;

    /// What is followed, in words; `kind` is that of the configuration.
    fn describe(&self, kind: &str) -> String;
}

/// What the law asks for, if it is finite: where it is not, the allocation repeats its last answer, which would pass for a command.
fn finite(step: &Step) -> Result<&Step, Fault> {
    if step.unconstrained.iter().all(|value| value.is_finite()) {
        Ok(step)
    } else {
        Err(Fault::Controller)
    }
}
