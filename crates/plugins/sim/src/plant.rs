//! The plant: bodies, and actuators with their lags.

use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::{ActuatedDynamics, ActuatedDynamicsError, System};

/// A simulated system.
pub(crate) struct Plant {
    system: System,
    /// Configuration and velocity, then what the actuators do: thrusts, tilts and efforts, in the order of the commands.
    motion: SystemState<f64>,
    /// Their commands, within the limits.
    command: Vec<f64>,
    /// Whether the actuators have a state.
    settled: bool,
    substeps: u32,
    integrator: RungeKutta<f64>,
    dynamics: ActuatedDynamics,
}

impl Plant {
    /// Starts the system in that configuration and with that velocity, both projected to closed loops. `actual` are the actuators'
    /// thrusts, tilts and efforts, by default those of the first command. `step` is the time of an integration step, s.
    pub(crate) fn new(
        system: System,
        mut motion: SystemState<f64>,
        actual: Option<Vec<f64>>,
        substeps: u32,
        step: f64,
    ) -> Result<Self, ActuatedDynamicsError> {
        let settled = actual.is_some();
        let actual = actual.unwrap_or_else(|| {
            // No tilt and the smallest thrust.
            let limits = system.inputs.command_limits().iter();
            limits
                .map(|[low, high]| 0.0_f64.clamp(*low, *high))
                .collect()
        });
        let mut dynamics = ActuatedDynamics::new(&system, step)?;
        dynamics.close_loops(&system, &mut motion)?;
        motion.velocity.extend_from_slice(&actual);
        let mut acceleration = vec![0.0; system.model.dof()];
        dynamics.acceleration(&system, &motion, &mut acceleration)?;
        let mut integrator = RungeKutta::new(&system.model, Scheme::RungeKutta4);
        // The first step allocates.
        let mut copy = motion.clone();
        integrator.step(&system.model, &mut copy, 0.0, |motion, rates| {
            dynamics.rates(&system, &actual, motion, rates);
        });
        Ok(Self {
            integrator,
            system,
            motion,
            command: actual,
            settled,
            substeps,
            dynamics,
        })
    }

    pub(crate) fn system(&self) -> &System {
        &self.system
    }

    /// The configuration and the velocity.
    pub(crate) fn state(&self) -> (&[f64], &[f64]) {
        let n = self.system.model.dof();
        (&self.motion.configuration, &self.motion.velocity[..n])
    }

    /// Takes the commands for the next step; returns whether all were within the limits.
    pub(crate) fn command(&mut self, commands: &[f64]) -> bool {
        let mut inside = true;
        for ((command, given), [low, high]) in self
            .command
            .iter_mut()
            .zip(commands)
            .zip(self.system.inputs.command_limits())
        {
            *command = given.clamp(*low, *high);
            inside &= *command == *given;
        }
        if !self.settled {
            self.motion.velocity[self.system.model.dof()..].copy_from_slice(&self.command);
            self.settled = true;
        }
        inside
    }

    /// Advances the time, s.
    pub(crate) fn advance(&mut self, time: f64) {
        let step = time / f64::from(self.substeps);
        let Self {
            system,
            motion,
            command,
            integrator,
            dynamics,
            ..
        } = self;
        for _ in 0..self.substeps {
            integrator.step(&system.model, motion, step, |motion, rates| {
                dynamics.rates(system, command, motion, rates);
            });
        }
    }
}
