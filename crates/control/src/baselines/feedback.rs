//! State feedback about a reference at rest, as a control strategy.
#![allow(non_snake_case)]

use fly_mechanics::Inputs;
use fly_mechanics::multibody::Model;
use nalgebra::{DMatrix, DVector};

use crate::StepError;
use crate::design::{FeedbackDesign, PlacementError, StateFeedback};
use crate::linear::LinearModel;
use crate::system::SystemReference;

/// `u0 = u_R - F_K eps - F_D eps'`, which places the poles of small errors, or minimises their cost.
///
/// The gains and the holding input `u_R` are computed for one configuration at rest, that of the first reference unless
/// [`Controller::place_at_rest`](crate::Controller::place_at_rest) sets another. `eps` is the constant velocity that leads from the reference to
/// the state in unit time, joint by joint, `eps' = xi - xi_R`. The reference may move as long as the system's equations do not depend
/// on the configuration, as for a free body that is translated or rotated about the vertical.
///
/// A baseline: far from its configuration, with large errors and at speed, nothing is guaranteed.
#[derive(Clone, Debug)]
pub struct RestFeedback {
    design: FeedbackDesign,
    placed: Option<Placed>,
    eps: DVector<f64>,
    eps_dot: DVector<f64>,
}

#[derive(Clone, Debug)]
struct Placed {
    feedback: StateFeedback,
    /// `u_R`.
    at_rest: DVector<f64>,
}

impl RestFeedback {
    /// With this design, for a system with n degrees of freedom and p inputs.
    ///
    /// # Errors
    /// As of [`FeedbackDesign::check`].
    pub fn new(dof: usize, inputs: usize, design: FeedbackDesign) -> Result<Self, PlacementError> {
        design.check(dof, inputs)?;
        Ok(Self {
            design,
            placed: None,
            eps: DVector::zeros(dof),
            eps_dot: DVector::zeros(dof),
        })
    }

    /// Computes the gains for rest in this configuration. Allocates.
    ///
    /// # Errors
    /// [`StepError`] if no input holds the system there, or the system is not controllable.
    pub fn place(
        &mut self,
        model: &Model<f64>,
        inputs: &Inputs,
        x: &[f64],
    ) -> Result<(), StepError> {
        let (linear, at_rest) = LinearModel::of_system(model, inputs, x)?;
        let feedback = self.design.feedback(&linear)?;
        self.placed = Some(Placed { feedback, at_rest });
        Ok(())
    }

    /// `[F_K, F_D]` for this system at rest, unless they have been [computed](Self::place) for another.
    ///
    /// # Errors
    /// [`PlacementError`].
    pub fn gains(&self, linear: &LinearModel) -> Result<[DMatrix<f64>; 2], PlacementError> {
        match &self.placed {
            Some(placed) => Ok(placed.feedback.gains()),
            None => Ok(self.design.feedback(linear)?.gains()),
        }
    }

    /// Writes u0, p entries. The first call [computes](Self::place) the gains if necessary; later calls do not allocate.
    ///
    /// # Errors
    /// As [`place`](Self::place).
    ///
    /// # Panics
    /// If the length of a slice does not match the system.
    pub fn input(
        &mut self,
        model: &Model<f64>,
        inputs: &Inputs,
        (x, xi): (&[f64], &[f64]),
        goal: &SystemReference<'_>,
        out: &mut DVector<f64>,
    ) -> Result<(), StepError> {
        if self.placed.is_none() {
            self.place(model, inputs, goal.configuration)?;
        }
        let Some(Placed { feedback, at_rest }) = &self.placed else {
            return Ok(());
        };
        model.difference(goal.configuration, x, self.eps.as_mut_slice());
        for ((error, xi), xi_R) in self.eps_dot.iter_mut().zip(xi).zip(goal.velocity) {
            *error = xi - xi_R;
        }
        feedback.input(&self.eps, &self.eps_dot, out);
        *out += at_rest;
        Ok(())
    }
}
