//! User-defined templates.
#![allow(non_snake_case)]

use fly_mechanics::multibody::{Model, Workspace};

use super::{Approach, DesiredMotion};
use crate::linear::LinearModel;
use crate::system::SystemReference;
use crate::transport::TransportError;

/// A desired closed loop of a system that is not a sum over pairs of bodies. `FunctionTemplate` (feature `geometry`) builds one from any
/// potential; a [`Controller`](crate::Controller) takes it as its [`Strategy`](crate::Strategy).
pub trait SystemTemplate: Send {
    /// Writes the desired motion at the configuration x (nu entries) and velocity xi (n entries), whose kinematics `actual` holds, Jacobians included. Called
    /// in every control step: it should not allocate.
    ///
    /// # Errors
    /// [`TransportError`] where the motion is not defined.
    fn evaluate(
        &mut self,
        model: &Model<f64>,
        actual: &Workspace<f64>,
        state: (&[f64], &[f64]),
        goal: &SystemReference<'_>,
        out: &mut DesiredMotion,
    ) -> Result<(), TransportError>;

    /// The linear model for small errors about rest in this configuration (nu entries), Konz (5.71).
    fn linear(&self, model: &Model<f64>, x: &[f64]) -> LinearModel;

    /// The approach whose velocity error it uses, which determines what is known about its energy.
    fn approach(&self) -> Approach;

    /// Returns whether `grad_R V = -Q^T grad V` holds between these configurations to this relative tolerance, Konz (5.43), so that the total energy also
    /// decreases along moving references; `None` if there is no map.
    fn map_fits(
        &mut self,
        model: &Model<f64>,
        x: &[f64],
        x_R: &[f64],
        tolerance: f64,
    ) -> Option<bool>;
}
