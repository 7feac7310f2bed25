//! The plant: bodies, and actuators with their lags.

use fly_lie::SE3;
use fly_lie::operators::linear;
use fly_mechanics::actuators::CommandDelay;
use fly_mechanics::integrate::{RungeKutta, Scheme, SystemState};
use fly_mechanics::multibody::{BodyId, Workspace};
use fly_mechanics::{ActuatedDynamics, ActuatedDynamicsError, System};
use nalgebra::Vector3;

use crate::wind::Wind;

/// A simulated system.
pub(crate) struct Plant {
    system: System,
    /// Configuration and velocity, then what the actuators do: thrusts (speeds of rotors with motors), tilts and efforts, in the order of the
    /// commands, and the charge of a battery.
    motion: SystemState<f64>,
    /// Their commands, within the limits.
    command: Vec<f64>,
    /// Those that act now: the same but for those that are on their way, and for what is dead.
    acting: Vec<f64>,
    /// `None` if all commands act at once.
    on_their_way: Option<CommandDelay>,
    /// Whether the first commands are still to be taken as reached.
    starts_at_command: bool,
    /// Which actuators give nothing.
    dead: Vec<bool>,
    substeps: u32,
    integrator: RungeKutta<f64>,
    dynamics: ActuatedDynamics,
    responses: Vec<Response>,
    wind: Wind,
    /// The body at whose origin the wind is told, and with whose airspeed turbulence passes.
    in_wind: BodyId,
    /// Since the start, s.
    time: f64,
    /// For poses of bodies.
    workspace: Workspace<f64>,
}

/// What an actuator makes of its command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Response {
    /// The part of what it should give that it gives at first, and its rate, 1/s.
    pub(crate) effectiveness: [f64; 2],
    /// How long after it is given the command acts, s.
    pub(crate) delay: f64,
    /// Into how many steps its controller divides the way from the smallest to the largest command; 0 for any value.
    pub(crate) steps: u32,
}

impl Default for Response {
    fn default() -> Self {
        Self {
            effectiveness: [1.0, 0.0],
            delay: 0.0,
            steps: 0,
        }
    }
}

impl Response {
    /// What it takes a command within these limits for.
    fn rounded(&self, command: f64, [low, high]: [f64; 2]) -> f64 {
        if self.steps == 0 {
            return command;
        }
        let step = (high - low) / f64::from(self.steps);
        (low + ((command - low) / step).round() * step).clamp(low, high)
    }
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
    /// Starts the system in that configuration and with that velocity, both projected to closed loops, its battery with that charge (0 to 1).
    /// `step` is the time of an integration step, s.
    pub(crate) fn new(
        system: System,
        mut motion: SystemState<f64>,
        start: Start,
        charge: f64,
        substeps: u32,
        step: f64,
    ) -> Result<Self, ActuatedDynamicsError> {
        let starts_at_command = start == Start::FirstCommand;
        let actual = match start {
            Start::At(actual) => actual,
            Start::Rest | Start::FirstCommand => system.inputs.at_rest().collect(),
        };
        let mut dynamics = ActuatedDynamics::new(&system, step)?;
        dynamics.close_loops(&system, &mut motion)?;
        motion.velocity.extend_from_slice(&actual);
        let mut acceleration = vec![0.0; system.model.dof()];
        dynamics.start_propulsion(&system, charge, &mut motion);
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
            acting: actual.clone(),
            command: actual,
            on_their_way: None,
            starts_at_command,
            substeps,
            dynamics,
            responses: Vec::new(),
            wind: Wind::default(),
            in_wind: BodyId::WORLD,
            time: 0.0,
        })
    }

    /// The same in wind, which knows how this body moves (by default the first), with what each actuator makes of its command.
    pub(crate) fn in_world(
        mut self,
        wind: Wind,
        body: Option<BodyId>,
        responses: Vec<Response>,
    ) -> Self {
        self.dynamics.set_air(wind.now());
        self.wind = wind;
        let first = self.system.model.bodies().next();
        self.in_wind = body.or(first).unwrap_or(BodyId::WORLD);
        if responses.iter().any(|response| response.delay > 0.0) {
            let delays = responses.iter().map(|response| response.delay).collect();
            let mut on_their_way = CommandDelay::new(delays);
            on_their_way.start(&self.command);
            self.on_their_way = Some(on_their_way);
        }
        self.responses = responses;
        self.weaken();
        self
    }

    /// What the actuators give of what they should, now.
    fn weaken(&mut self) {
        let parts = self.dynamics.effectiveness_mut();
        for (part, response) in parts.iter_mut().zip(&self.responses) {
            let [start, rate] = response.effectiveness;
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
        let states = &self.motion.velocity[self.system.model.dof()..];
        let lags = self.system.inputs.time_constants();
        let parts = self.dynamics.effectiveness();
        let each = states.iter().zip(&self.acting).zip(lags).zip(parts);
        // Without a lag they do what is commanded, whatever is noted of them.
        each.enumerate()
            .map(|(i, (((state, command), lag), part))| {
                let thrust = self.dynamics.thrust_of_speed(i, *state);
                part * match thrust {
                    Some(thrust) => thrust,
                    None if *lag > 0.0 => *state,
                    None => *command,
                }
            })
    }

    /// The speeds of the rotors that have a motor, rad/s, by the indices of the rotors.
    pub(crate) fn speeds(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let states = &self.motion.velocity[self.system.model.dof()..];
        let rotors = self.system.inputs.rotors();
        let all = rotors.as_slice().iter().zip(rotors.rotor_ranges());
        all.enumerate().filter_map(|(index, (rotor, range))| {
            (rotor.propeller.motor.is_some()).then(|| (index, states[range.start]))
        })
    }

    /// The voltage (V) of the battery and its charge, 0 to 1; `None` without one.
    pub(crate) fn battery(&self) -> Option<[f64; 2]> {
        let voltage = self.dynamics.voltage()?;
        // Behind the actuators.
        let charge = self.motion.velocity[self.system.model.dof() + self.command.len()];
        Some([voltage, charge.max(0.0)])
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

    /// Where the body in the wind is and how its origin moves: m and m/s, world.
    fn place(&mut self) -> [Vector3<f64>; 2] {
        let model = &self.system.model;
        let velocity = &self.motion.velocity[..model.dof()];
        self.workspace
            .update(model, &self.motion.configuration, velocity);
        let pose = self.workspace.pose(BodyId::WORLD, self.in_wind);
        let twist = self.workspace.twist(BodyId::WORLD, self.in_wind);
        [pose.translation, pose.rotation.act(&linear(&twist))]
    }

    /// The velocity of the air at the origin of the body in the wind, m/s, world.
    pub(crate) fn wind(&mut self) -> Vector3<f64> {
        let [position, _] = self.place();
        self.wind.now().velocity_at(position.z)
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
        let limits = self.system.inputs.command_limits();
        for ((command, limits), response) in
            self.command.iter_mut().zip(limits).zip(&self.responses)
        {
            *command = response.rounded(*command, *limits);
        }
        if std::mem::take(&mut self.starts_at_command) {
            let n = self.system.model.dof();
            let actuators = &mut self.motion.velocity[n..n + self.command.len()];
            actuators.copy_from_slice(&self.command);
            self.dynamics.to_states(actuators);
            if let Some(on_their_way) = &mut self.on_their_way {
                on_their_way.start(&self.command);
            }
        }
        if let Some(on_their_way) = &mut self.on_their_way {
            on_their_way.give(&self.command);
        }
        self.act(0.0);
        inside
    }

    /// Whether the actuator of this command gives nothing from now on.
    pub(crate) fn set_dead(&mut self, command: usize, dead: bool) {
        if std::mem::replace(&mut self.dead[command], dead) != dead {
            self.act(0.0);
        }
    }

    /// Takes the commands that act `later` s from now; returns for how long none of them changes, s.
    fn act(&mut self, later: f64) -> f64 {
        let left = if let Some(on_their_way) = &self.on_their_way {
            on_their_way.acting(later, &mut self.acting)
        } else {
            self.acting.copy_from_slice(&self.command);
            f64::INFINITY
        };
        for (command, dead) in self.acting.iter_mut().zip(&self.dead) {
            if *dead {
                *command = 0.0;
            }
        }
        left
    }

    /// Advances the time, s.
    pub(crate) fn advance(&mut self, time: f64) {
        self.weaken();
        self.time += time;
        if self.wind.changes() {
            let [position, velocity] = self.place();
            self.wind.begin(time, position.z, &velocity);
        }
        let begin = self.motion.time;
        let mut done = 0.0;
        loop {
            let left = time - done;
            let part = self.act(done).min(left);
            self.integrate(part, time, begin);
            if part >= left {
                break;
            }
            done += part;
        }
        if self.wind.changes() {
            self.wind.end();
        }
        if let Some(on_their_way) = &mut self.on_their_way {
            on_their_way.advance(time);
        }
        self.act(0.0);
    }

    /// Integrates over a part of the time from one frame to the next, which began at `begin` of the motion's time, in steps as for all of it, or
    /// shorter.
    fn integrate(&mut self, part: f64, whole: f64, begin: f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 1 to 1000
        let count = (f64::from(self.substeps) * part / whole - 1e-9)
            .ceil()
            .max(1.0) as u32;
        let step = part / f64::from(count);
        let Self {
            system,
            motion,
            acting,
            integrator,
            dynamics,
            wind,
            ..
        } = self;
        for _ in 0..count {
            integrator.step(&system.model, motion, step, |motion, rates| {
                if wind.changes() {
                    dynamics.set_air(wind.during(motion.time - begin));
                }
                dynamics.rates(system, acting, motion, rates);
            });
        }
    }
}
