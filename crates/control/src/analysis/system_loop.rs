//! The closed loop of a whole system for small errors.
#![allow(non_snake_case)]

use fly_mechanics::System;
use fly_mechanics::multibody::Workspace;
use nalgebra::{Complex, DMatrix, DVector};

use crate::eigenvalues::eigenvalues;
use crate::plant::SystemPlant;
use crate::system::SystemReference;
use crate::{Controller, StepError};

/// Why the closed loop of a system cannot be analysed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SystemLoopError {
    /// There is no law near the reference.
    #[error(transparent)]
    Law(#[from] StepError),
    /// The inputs do not hold the system there.
    #[error(
        "the inputs cannot hold the system at rest there: it would accelerate by {0:.3} m/s^2 or rad/s^2"
    )]
    Equilibrium(f64),
    /// The mass matrix is singular.
    #[error("the mass matrix is singular there")]
    Mass,
    /// The eigenvalues could not be computed.
    #[error(
        "the poles of the closed loop could not be computed: expected finite parameters within a few powers of ten of each other"
    )]
    Poles,
}

/// An acceleration at the reference that is larger than this, m/s^2 or rad/s^2, is no rounding.
const REST: f64 = 1e-6;
/// Step of the central differences, rad or m: their error is its square, that of rounding 1e-16 / STEP.
const STEP: f64 = 1e-5;

/// The 2n poles of a system under its controller for small errors about a configuration at rest, limits and lags aside: of the whole loop as it is,
/// whatever the approach, whether the inputs can do what it asks for or not. Allocates.
///
/// With `x = x_R exp(eps)`, to first order `eps' = xi` and `xi' = a(eps, xi)`, the acceleration of the system under its law, of which
/// central differences are taken.
///
/// # Errors
/// [`SystemLoopError`].
///
/// # Panics
/// If the configuration has another length than the system's.
pub fn system_poles(
    system: &System,
    controller: &mut Controller<SystemPlant>,
    configuration: &[f64],
) -> Result<Vec<Complex<f64>>, SystemLoopError> {
    let n = system.model.dof();
    controller.rest_at(configuration)?;
    let mut at = Loop::new(system, controller, configuration);
    let rest = at.acceleration(&vec![0.0; n], &vec![0.0; n])?.amax();
    // A NaN is no rest.
    if rest.is_nan() || rest > REST {
        return Err(SystemLoopError::Equilibrium(rest));
    }
    let mut A = DMatrix::zeros(2 * n, 2 * n);
    A.view_mut((0, n), (n, n)).fill_with_identity();
    for column in 0..2 * n {
        let mut side = |step: f64| {
            let mut error = vec![0.0; 2 * n];
            error[column] = step;
            let (eps, xi) = error.split_at(n);
            at.acceleration(eps, xi)
        };
        let slope = (side(STEP)? - side(-STEP)?) / (2.0 * STEP);
        A.view_mut((n, column), (n, 1)).copy_from(&slope);
    }
    eigenvalues(&A).ok_or(SystemLoopError::Poles)
}

/// A system under its law.
struct Loop<'a> {
    system: &'a System,
    controller: &'a mut Controller<SystemPlant>,
    configuration: &'a [f64],
    workspace: Workspace<f64>,
    zero: Vec<f64>,
}

impl<'a> Loop<'a> {
    fn new(
        system: &'a System,
        controller: &'a mut Controller<SystemPlant>,
        configuration: &'a [f64],
    ) -> Self {
        Self {
            workspace: Workspace::new(&system.model),
            zero: vec![0.0; system.model.dof()],
            system,
            controller,
            configuration,
        }
    }

    /// `M^-1 (B u0 - b)` at this error and velocity.
    fn acceleration(&mut self, eps: &[f64], xi: &[f64]) -> Result<DVector<f64>, SystemLoopError> {
        let model = &self.system.model;
        let mut x = self.configuration.to_vec();
        model.integrate(&mut x, eps);
        let goal = SystemReference {
            configuration: self.configuration,
            velocity: &self.zero,
            acceleration: &self.zero,
        };
        let u0 = self.controller.step(&x, xi, &goal)?.unconstrained.clone();
        let mut commands = vec![0.0; u0.len()];
        (self.system.inputs).commands_from_input(u0.as_slice(), &mut commands);
        self.workspace.update(model, &x, xi);
        self.workspace.update_jacobians(model);
        let mut force = vec![0.0; model.dof()];
        (self.system.inputs).add_force(&self.workspace, &commands, &mut force);
        let mut acceleration = DVector::zeros(model.dof());
        let workspace = &mut self.workspace;
        model
            .forward_dynamics(workspace, &x, xi, &force, acceleration.as_mut_slice())
            .map_err(|_| SystemLoopError::Mass)?;
        Ok(acceleration)
    }
}
