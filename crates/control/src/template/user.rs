//! Templates of one's own.
#![allow(non_snake_case)]

use fly_mechanics::multibody::{Model, Workspace};

use super::{Approach, DesiredMotion};
use crate::linear::LinearModel;
use crate::system::SystemReference;
use crate::transport::TransportError;

/// A desired closed loop of a system that is no sum over pairs of bodies. `FunctionTemplate` (feature `geometry`) makes one of any potential; a
/// [`Controller`](crate::Controller) takes it as its [`Strategy`](crate::Strategy).
pub trait SystemTemplate: Send {
    /// Writes the desired motion in the configuration x (nu numbers) with the velocity xi (n numbers), whose kinematics `actual` holds, Jacobians included. It is called
    /// in every control step, and should not allocate.
    ///
    /// # Errors
    /// [`TransportError`] where there is none.
    fn evaluate(
        &mut self,
        model: &Model<f64>,
        actual: &Workspace<f64>,
        state: (&[f64], &[f64]),
        goal: &SystemReference<'_>,
        out: &mut DesiredMotion,
    ) -> Result<(), TransportError>;

    /// For small errors about rest in this configuration (nu numbers), Konz (5.71).
    fn linear(&self, model: &Model<f64>, x: &[f64]) -> LinearModel;

    /// Which velocity error it is made of: what is known of its energy.
    fn approach(&self) -> Approach;

    /// Whether `grad_R V = -Q^T grad V` holds between these configurations to this relative tolerance, Konz (5.43), so that the total energy falls along moving
    /// references, too; `None` where there is no map.
    fn map_fits(
        &mut self,
        model: &Model<f64>,
        x: &[f64],
        x_R: &[f64],
        tolerance: f64,
    ) -> Option<bool>;
}
