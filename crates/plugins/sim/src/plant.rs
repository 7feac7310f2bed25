//! The plant: bodies, and actuators with their lags.

use fly_lie::SE3;
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_mechanics::{ActuatedDynamics, ActuatedDynamicsError, System};
use nalgebra::Vector3;

/// A simulated system.
pub(crate) struct Plant {
    system: System,
    /// Configuration and velocity, then what the actuators do: thrusts, tilts and efforts, in the order of the commands.
    motion: SystemState<f64>,
    /// Their commands, within the limits.
    command: Vec<f64>,
    /// Whether the first commands are still to be taken as reached.
    starts_at_command: bool,
    /// Which actuators give nothing.
    dead: Vec<bool>,
    substeps: u32,
    integrator: RungeKutta<f64>,
    dynamics: ActuatedDynamics,
    /// Of each actuator: the part of what it should give that it gives at first, and its rate, 1/s.
    effectiveness: Vec<[f64; 2]>,
    /// Since the start, s.
    time: f64,
    /// For poses of bodies.
    workspace: Workspace<f64>,
}

/// What the actuators do before the first step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Start {
    /// The smallest thrusts and efforts, no tilt: they rest.
    Rest,
    /// What the first commands say, as if the system were in motion already.
    FirstCommand,
    /// These thrusts, tilts and efforts, in the order of the commands.
    At(Vec<f64>),
}

impl Plant {
    /// Starts the system in that configuration and with that velocity, both projected to closed loops. `step` is the time of an
    /// integration step, s.
    pub(crate) fn new(
        system: System,
        mut motion: SystemState<f64>,
        start: Start,
        substeps: u32,
        step: f64,
    ) -> Result<Self, ActuatedDynamicsError> {
        let starts_at_command = start == Start::FirstCommand;
        let actual = match start {
            Start::At(actual) => actual,
            Start::Rest | Start::FirstCommand => {
                let limits = system.inputs.command_limits().iter();
                limits
                    .map(|[low, high]| 0.0_f64.clamp(*low, *high))
                    .collect()
            }
        };
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
            workspace: Workspace::new(&system.model),
            integrator,
            system,
            motion,
            dead: vec![false; actual.len()],
            command: actual,
            starts_at_command,
            substeps,
            dynamics,
            effectiveness: Vec::new(),
            time: 0.0,
        })
    }

    /// The same in wind (m/s, world), with actuators that give so much of what they should, each at first and its rate (1/s).
    pub(crate) fn in_world(mut self, wind: Vector3<f64>, effectiveness: Vec<[f64; 2]>) -> Self {
        self.dynamics.set_wind(wind);
        self.effectiveness = effectiveness;
        self.weaken();
        self
    }

    /// What the actuators give of what they should, now.
    fn weaken(&mut self) {
        let parts = self.dynamics.effectiveness_mut();
        for (part, [start, rate]) in parts.iter_mut().zip(&self.effectiveness) {
            *part = (start + rate * self.time).max(0.0);
        }
    }

    pub(crate) fn system(&self) -> &System {
        &self.system
    }

    /// The configuration and the velocity.
    pub(crate) fn state(&self) -> (&[f64], &[f64]) {
        let n = self.system.model.dof();
        (&self.motion.configuration, &self.motion.velocity[..n])
    }

    /// What the actuators do: thrusts, tilts and efforts, in the order of the commands.
    pub(crate) fn actual(&self) -> impl Iterator<Item = f64> + '_ {
        let lagging = &self.motion.velocity[self.system.model.dof()..];
        let lags = self.system.inputs.time_constants();
        let parts = self.dynamics.effectiveness();
        let each = lagging.iter().zip(&self.command).zip(lags).zip(parts);
        // Without a lag they do what is commanded, whatever is noted of them.
        each.map(|(((lagging, command), lag), part)| {
            part * if *lag > 0.0 { *lagging } else { *command }
        })
    }

    /// Poses of all bodies in the world, in the model's order.
    pub(crate) fn poses(&mut self) -> impl Iterator<Item = SE3<f64>> + '_ {
        let model = &self.system.model;
        let velocity = &self.motion.velocity[..model.dof()];
        self.workspace
            .update(model, &self.motion.configuration, velocity);
        let workspace = &self.workspace;
        (model.bodies()).map(|body| workspace.pose(BodyId::WORLD, body))
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
        self.stop_dead();
        if std::mem::take(&mut self.starts_at_command) {
            self.motion.velocity[self.system.model.dof()..].copy_from_slice(&self.command);
        }
        inside
    }

    /// Whether the actuator of this command gives nothing from now on.
    pub(crate) fn set_dead(&mut self, command: usize, dead: bool) {
        self.dead[command] = dead;
        self.stop_dead();
    }

    fn stop_dead(&mut self) {
        for (command, dead) in self.command.iter_mut().zip(&self.dead) {
            if *dead {
                *command = 0.0;
            }
        }
    }

    /// Advances the time, s.
    pub(crate) fn advance(&mut self, time: f64) {
        let step = time / f64::from(self.substeps);
        self.weaken();
        self.time += time;
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
