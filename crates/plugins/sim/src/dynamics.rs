//! How a system moves: along its tree, with its loops closed.

use fly_mechanics::System;
use fly_mechanics::integrate::Motion;
use fly_mechanics::multibody::constraints::{
    ConstraintError, ConstraintSet, ConstraintSetError, ConstraintWorkspace, Stabilization,
};
use fly_mechanics::multibody::{MasslessJoint, Workspace};
use nalgebra::DMatrix;

/// Scratch arrays, and what closes the loops.
pub(crate) struct Dynamics {
    pub(crate) workspace: Workspace<f64>,
    loops: Option<(ConstraintSet<f64>, ConstraintWorkspace<f64>)>,
    /// Of rotors and motors, n numbers.
    force: Vec<f64>,
}

/// Why a system cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Impossible {
    #[error(transparent)]
    Massless(#[from] MasslessJoint),
    #[error(transparent)]
    Loops(#[from] ConstraintSetError),
    #[error("where it starts: {0}")]
    Start(#[from] ConstraintError),
}

/// What opens a loop decays with this part of the inverse of the integration step.
const STABILIZATION: f64 = 0.1;

impl Dynamics {
    pub(crate) fn new(system: &System, step: f64) -> Result<Self, Impossible> {
        let model = &system.model;
        let stabilization = Stabilization::critically_damped(STABILIZATION / step);
        let loops = system
            .constraints()
            .stabilized(stabilization)
            .build(model)?;
        let scratch = ConstraintWorkspace::new(&loops);
        Ok(Self {
            workspace: Workspace::new(model),
            loops: (loops.equations() > 0).then_some((loops, scratch)),
            force: vec![0.0; model.dof()],
        })
    }

    /// Closes the loops of a start that leaves them open a little.
    pub(crate) fn settle(
        &mut self,
        system: &System,
        motion: &mut Motion<f64>,
    ) -> Result<(), Impossible> {
        let (model, workspace) = (&system.model, &mut self.workspace);
        let Some((loops, scratch)) = &mut self.loops else {
            return Ok(());
        };
        let (x, xi) = (&mut motion.configuration, &mut motion.velocity);
        scratch.project_configuration(loops, model, workspace, x, 0.0)?;
        let mut mass_matrix = DMatrix::zeros(model.dof(), model.dof());
        model.mass_matrix(workspace, x, &mut mass_matrix);
        scratch.project_velocity(loops, model, workspace, &mass_matrix, x, xi, 0.0)?;
        Ok(())
    }

    /// Whether there is an acceleration here.
    pub(crate) fn check(
        &mut self,
        system: &System,
        motion: &Motion<f64>,
    ) -> Result<(), Impossible> {
        let mut acceleration = vec![0.0; system.model.dof()];
        self.acceleration(system, motion, &mut acceleration)
    }

    /// `xi_dot`, then the rates of the actuators under a command. Not a number where there is no acceleration.
    pub(crate) fn rates(
        &mut self,
        system: &System,
        command: &[f64],
        motion: &Motion<f64>,
        rates: &mut [f64],
    ) {
        let n = system.model.dof();
        let (acceleration, rates) = rates.split_at_mut(n);
        if self.acceleration(system, motion, acceleration).is_err() {
            acceleration.fill(f64::NAN);
        }
        let lags = system.inputs.time_constants();
        let actual = &motion.velocity[n..];
        for (((rate, lag), actual), command) in rates.iter_mut().zip(lags).zip(actual).zip(command)
        {
            *rate = if *lag > 0.0 {
                (command - actual) / lag
            } else {
                0.0
            };
        }
    }

    fn acceleration(
        &mut self,
        system: &System,
        motion: &Motion<f64>,
        acceleration: &mut [f64],
    ) -> Result<(), Impossible> {
        let model = &system.model;
        let x = &motion.configuration;
        let (xi, actual) = motion.velocity.split_at(model.dof());
        self.force.fill(0.0);
        self.workspace.update(model, x, xi);
        self.workspace.update_jacobians(model);
        (system.inputs).add_force(&self.workspace, actual, &mut self.force);
        let (workspace, force) = (&mut self.workspace, &self.force);
        match &mut self.loops {
            None => model.forward_dynamics(workspace, x, xi, force, acceleration)?,
            Some((loops, scratch)) => {
                scratch.forward_dynamics(loops, model, workspace, x, xi, motion.time, force)?;
                acceleration.copy_from_slice(scratch.acceleration().as_slice());
            }
        }
        Ok(())
    }
}
