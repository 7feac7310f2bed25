//! The plant: bodies, and actuators with their lags.

use fly_lie::SE3;
use fly_lie::operators::linear;
use fly_mechanics::actuators::CommandDelay;
use fly_mechanics::integrate::SystemState;
use fly_mechanics::measurements::Measurements;
use fly_mechanics::multibody::{BodyId, Model, Workspace};
use fly_mechanics::{ActuatedDynamicsError, JointRelease, System};
use nalgebra::Vector3;

use crate::contacts::Contacts;
use crate::release::{Releases, Stage};
use crate::wind::Wind;

/// A simulated system.
pub(crate) struct Plant {
    stage: Stage,
    releases: Releases,
    /// Their commands, within the limits.
    command: Vec<f64>,
    /// Those that act now: the same but for those that are on their way, and for what is dead.
    acting: Vec<f64>,
    /// `None` if all commands act at once.
    on_their_way: Option<CommandDelay>,
    /// Whether the first commands are still to be taken as reached.
    starts_at_command: bool,
    /// What an actuator does whatever is commanded, if it has failed so.
    overrides: Vec<Option<f64>>,
    /// The part that faults leave of what each actuator gives.
    left: Vec<f64>,
    /// Models of the same system with other masses, with the workspaces of their dynamics, and which of them is in the place of its own.
    models: Vec<(Model<f64>, Workspace<f64>)>,
    loaded: Option<usize>,
    substeps: u32,
    responses: Vec<Response>,
    wind: Wind,
    /// The body at whose origin the wind is told, and with whose airspeed turbulence passes; then, if there are several, those that are free in the world.
    watched: Vec<BodyId>,
    /// Since the start, s.
    time: f64,
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
    /// Starts the system in that configuration and with that velocity, both projected to closed loops, its battery with that `charge` (0 to 1), among
    /// these contacts. `step` is the time of an integration step, s. The joints of `releases` are released at these times (s), in this order.
    pub(crate) fn new(
        system: System,
        motion: SystemState<f64>,
        start: Start,
        numbers: [f64; 2],
        contacts: &Contacts,
        substeps: u32,
        release: &[(f64, System, String)],
    ) -> Result<Self, ActuatedDynamicsError> {
        let starts_at_command = start == Start::FirstCommand;
        let actual = match start {
            Start::At(actual) => actual,
            Start::Rest | Start::FirstCommand => system.inputs.at_rest().collect(),
        };
        let first = Stage::new(system, motion, &actual, numbers, contacts)?;
        let mut releases = Releases::default();
        let (mut before, mut state) = (&first.system, first.motion.clone());
        for (time, after, joint) in release {
            // As if it were released at the start: its loops are closed there.
            let mut motion = SystemState::at_rest(&after.model);
            JointRelease::new(before, after).apply(&state, &mut motion);
            motion.velocity.truncate(after.model.dof());
            let stage = Stage::new(after.clone(), motion, &actual, numbers, contacts)?;
            state.clone_from(&stage.motion);
            releases.push(&first.system, (*time, joint), before, stage);
            before = after;
        }
        Ok(Self {
            overrides: vec![None; actual.len()],
            left: vec![1.0; actual.len()],
            models: Vec::new(),
            loaded: None,
            acting: actual.clone(),
            stage: first,
            releases,
            command: actual,
            on_their_way: None,
            starts_at_command,
            substeps,
            responses: Vec::new(),
            wind: Wind::default(),
            watched: vec![BodyId::WORLD],
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
        self.stage.dynamics.set_air(wind.now());
        self.wind = wind;
        let model = &self.stage.system.model;
        let free: Vec<_> = (model.bodies())
            .filter(|body| Measurements::is_free(model, *body))
            .collect();
        let in_wind = body.or(model.bodies().next()).unwrap_or(BodyId::WORLD);
        self.watched = vec![in_wind];
        if free.len() > 1 {
            self.watched.extend(free);
        }
        if responses.iter().any(|response| response.delay > 0.0) {
            let delays = responses.iter().map(|response| response.delay).collect();
            let mut on_their_way = CommandDelay::new(delays);
            on_their_way.start(&self.command);
            self.on_their_way = Some(on_their_way);
        }
        self.responses = responses;
        self.update_effectiveness();
        self
    }

    /// The same with models of the same system with other masses, to be [loaded](Self::load).
    pub(crate) fn with_models(mut self, models: Vec<Model<f64>>) -> Self {
        let with_workspace = |model: Model<f64>| {
            let mut workspace = Workspace::new(&model);
            // The first use allocates.
            workspace.update(
                &model,
                &self.stage.motion.configuration,
                &self.stage.motion.velocity[..model.dof()],
            );
            workspace.update_jacobians(&model);
            (model, workspace)
        };
        self.models = models.into_iter().map(with_workspace).collect();
        self
    }

    /// What the actuators give of what they should, now.
    fn update_effectiveness(&mut self) {
        let parts = self.stage.dynamics.effectiveness_mut();
        for ((part, response), left) in parts.iter_mut().zip(&self.responses).zip(&self.left) {
            let [start, rate] = response.effectiveness;
            *part = (start + rate * self.time).max(0.0) * left;
        }
    }

    /// Whether its actuators do something already before the first step.
    pub(crate) fn starts_in_motion(&self) -> bool {
        let rest = self.system().inputs.at_rest();
        self.starts_at_command || self.command.iter().zip(rest).any(|(is, rest)| *is != rest)
    }

    pub(crate) fn system(&self) -> &System {
        &self.stage.system
    }

    /// The system of the start with its configuration and its velocity, where those of released joints keep their values at the release.
    pub(crate) fn state(&self) -> (&Model<f64>, &[f64], &[f64]) {
        let stage = self.releases.start().unwrap_or(&self.stage);
        let (model, motion) = (&stage.system.model, &stage.motion);
        (
            model,
            &motion.configuration,
            &motion.velocity[..model.dof()],
        )
    }

    /// Whether the joint that carried this body at the start has been released.
    pub(crate) fn is_loose(&self, body: BodyId) -> bool {
        (self.releases.since_start()).is_some_and(|release| release.detaches(body))
    }

    /// The released joints, with their times, s.
    pub(crate) fn released(&self) -> impl Iterator<Item = (&str, f64)> {
        self.releases.released()
    }

    /// What the actuators do: thrusts, tilts and efforts, in the order of the commands.
    pub(crate) fn actual(&self) -> impl Iterator<Item = f64> + '_ {
        let parts = self.stage.dynamics.effectiveness();
        self.whole().zip(parts).map(|(whole, part)| whole * part)
    }

    /// The same as if every actuator gave all of what it should.
    pub(crate) fn whole(&self) -> impl Iterator<Item = f64> + '_ {
        let states = &self.stage.motion.velocity[self.stage.system.model.dof()..];
        let lags = self.stage.system.inputs.time_constants();
        let each = states.iter().zip(&self.acting).zip(lags);
        // Without a lag they do what is commanded, whatever is noted of them; a joint that a servo turns is where it is.
        each.enumerate().map(|(i, ((state, command), lag))| {
            let thrust = self.stage.dynamics.thrust_of_speed(i, *state);
            match thrust {
                Some(thrust) => thrust,
                None if *lag > 0.0 || self.stage.dynamics.is_servo_driven(i) => *state,
                None => *command,
            }
        })
    }

    /// The speeds of the rotors that have a motor, rad/s, by the indices of the rotors.
    pub(crate) fn speeds(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let states = &self.stage.motion.velocity[self.stage.system.model.dof()..];
        let rotors = self.stage.system.inputs.rotors();
        let all = rotors.as_slice().iter().zip(rotors.rotor_ranges());
        all.enumerate().filter_map(|(index, (rotor, range))| {
            (rotor.propeller.motor.is_some()).then(|| (index, states[range.start]))
        })
    }

    /// The speeds of all rotors, rad/s: of those without a motor, the speed of their thrust; 0 where no `thrust_coefficient` tells it.
    pub(crate) fn rotor_speeds(&self, speeds: &mut [f64]) {
        let rotors = self.stage.system.inputs.rotors();
        let states = &self.stage.motion.velocity[self.stage.system.model.dof()..];
        let all = rotors.as_slice().iter().zip(rotors.rotor_ranges());
        let mut actual = self.actual();
        let mut passed = 0;
        for (speed, (rotor, range)) in speeds.iter_mut().zip(all) {
            let thrust = actual.nth(range.start - passed).unwrap_or(0.0);
            passed = range.start + 1;
            *speed = match rotor.propeller.motor {
                Some(_) => states[range.start],
                None => rotor.propeller.speed(thrust).unwrap_or(0.0),
            };
        }
    }

    /// The voltage (V) of the battery and its charge, 0 to 1; `None` without one.
    pub(crate) fn battery(&self) -> Option<[f64; 2]> {
        let voltage = self.stage.dynamics.voltage()?;
        let charge = self.stage.motion.velocity[self.charge_place()];
        Some([voltage, charge.max(0.0)])
    }

    /// Where the state holds the charge of a battery: behind the actuators.
    fn charge_place(&self) -> usize {
        self.stage.system.model.dof() + self.command.len()
    }

    /// Poses of all bodies in the world, in the order of the start's system.
    pub(crate) fn poses(&mut self) -> impl Iterator<Item = SE3<f64>> + '_ {
        let model = &self.stage.system.model;
        let velocity = &self.stage.motion.velocity[..model.dof()];
        self.stage
            .workspace
            .update(model, &self.stage.motion.configuration, velocity);
        let (workspace, release) = (&self.stage.workspace, self.releases.since_start());
        (model.bodies()).map(move |body| {
            let twin = release.map_or(body, |release| release.counterpart(body));
            workspace.pose(BodyId::WORLD, twin)
        })
    }

    /// Where this body is and how its origin moves: m and m/s, world.
    fn place(&mut self, body: BodyId) -> [Vector3<f64>; 2] {
        let model = &self.stage.system.model;
        let velocity = &self.stage.motion.velocity[..model.dof()];
        self.stage
            .workspace
            .update(model, &self.stage.motion.configuration, velocity);
        let pose = self.stage.workspace.pose(BodyId::WORLD, body);
        let twist = self.stage.workspace.twist(BodyId::WORLD, body);
        [pose.translation, pose.rotation.act(&linear(&twist))]
    }

    /// The velocity of the air at the origin of the body in the wind, m/s, world.
    pub(crate) fn wind(&mut self) -> Vector3<f64> {
        self.wind_at(self.watched[0])
    }

    /// Writes that, and that of each of the [free bodies](Self::free_bodies).
    pub(crate) fn winds(&mut self, velocities: &mut [f64]) {
        for (i, velocity) in velocities.chunks_exact_mut(3).enumerate() {
            let wind = self.wind_at(self.watched[i]);
            velocity.copy_from_slice(wind.as_slice());
        }
    }

    fn wind_at(&mut self, body: BodyId) -> Vector3<f64> {
        let [position, _] = self.place(body);
        self.wind.now().velocity_at(position.z)
    }

    /// How high the energy that is stored where bodies touch the ground or each other would lift the whole system, m.
    pub(crate) fn stored_height(&self) -> f64 {
        let model = &self.stage.system.model;
        let gravity = model.gravity().norm();
        // Without gravity by that of the earth.
        let gravity = if gravity > 0.0 { gravity } else { 9.81 };
        self.stage.dynamics.touch_energy() / (model.mass() * gravity)
    }

    /// The first free body whose origin is below this height of the world (m).
    pub(crate) fn body_below(&mut self, height: f64) -> Option<&str> {
        let sunk = (0..self.watched.len()).find(|i| {
            let body = self.watched[*i];
            Measurements::is_free(&self.stage.system.model, body) && self.place(body)[0].z < height
        })?;
        Some(self.stage.system.model.name(self.watched[sunk]))
    }

    /// Whether anything of the system touches a ground.
    pub(crate) fn touches_ground(&self) -> bool {
        self.stage.dynamics.touches_ground()
    }

    /// The numbers of the bodies that are free in the world, if there are several.
    pub(crate) fn free_bodies(&self) -> impl Iterator<Item = usize> {
        let model = &self.stage.system.model;
        let number = |body: &BodyId| model.bodies().position(|other| other == *body);
        self.watched[1..].iter().filter_map(number)
    }

    /// Writes the largest speed with which something that moves with the body in the wind went into the ground since this was asked last, m/s,
    /// and those of each of the [free bodies](Self::free_bodies). Nothing is written where nothing touches it.
    pub(crate) fn take_contact_speeds(&mut self, speeds: &mut [f64]) {
        let Stage {
            system, dynamics, ..
        } = &mut self.stage;
        let mut of = |body| {
            dynamics
                .take_contact_speed(&system.model, body)
                .unwrap_or(0.0)
        };
        let Some((in_wind, free)) = speeds.split_first_mut() else {
            return;
        };
        *in_wind = 0.0;
        for (speed, body) in free.iter_mut().zip(&self.watched[1..]) {
            *speed = of(*body);
            if *body == self.watched[0] {
                *in_wind = *speed;
            }
        }
        *in_wind = in_wind.max(of(self.watched[0]));
    }

    /// The names of bodies that have touched each other, with the largest speed with which they went into each other, m/s.
    pub(crate) fn touched(&self) -> impl Iterator<Item = ([&str; 2], f64)> {
        let Stage {
            system, dynamics, ..
        } = &self.stage;
        let named = |(bodies, speed): ([BodyId; 2], f64)| {
            (bodies.map(|body| system.model.name(body)), speed)
        };
        dynamics.touched_bodies().map(named)
    }

    /// Takes the commands for the next step; returns whether all were within the limits.
    pub(crate) fn command(&mut self, commands: &[f64]) -> bool {
        let mut inside = true;
        for ((command, given), [low, high]) in self
            .command
            .iter_mut()
            .zip(commands)
            .zip(self.stage.system.inputs.command_limits())
        {
            *command = given.clamp(*low, *high);
            inside &= *command == *given;
        }
        let limits = self.stage.system.inputs.command_limits();
        for ((command, limits), response) in
            self.command.iter_mut().zip(limits).zip(&self.responses)
        {
            *command = response.rounded(*command, *limits);
        }
        if std::mem::take(&mut self.starts_at_command) {
            let n = self.stage.system.model.dof();
            let actuators = &mut self.stage.motion.velocity[n..n + self.command.len()];
            actuators.copy_from_slice(&self.command);
            self.stage.dynamics.to_states(actuators);
            let Stage {
                system,
                motion,
                dynamics,
                ..
            } = &mut self.stage;
            dynamics.start_servos(system, motion);
            if let Some(on_their_way) = &mut self.on_their_way {
                on_their_way.start(&self.command);
            }
        }
        if let Some(on_their_way) = &mut self.on_their_way {
            on_their_way.send(&self.command);
        }
        self.act(0.0);
        inside
    }

    /// Takes the commands that act `later` s from now; returns for how long none of them changes, s.
    fn act(&mut self, later: f64) -> f64 {
        let left = if let Some(on_their_way) = &self.on_their_way {
            on_their_way.in_effect(later, &mut self.acting)
        } else {
            self.acting.copy_from_slice(&self.command);
            f64::INFINITY
        };
        for (command, failed) in self.acting.iter_mut().zip(&self.overrides) {
            *command = failed.unwrap_or(*command);
        }
        left
    }

    /// Advances the time, s.
    pub(crate) fn advance(&mut self, time: f64) {
        self.releases
            .advance(self.time, &mut self.stage, &mut self.watched);
        self.update_effectiveness();
        self.time += time;
        if self.wind.changes() {
            let [position, velocity] = self.place(self.watched[0]);
            self.wind.begin(time, position.z, &velocity);
        }
        let begin = self.stage.motion.time;
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
        self.releases.reduce(&self.stage);
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
            stage,
            acting,
            wind,
            ..
        } = self;
        let Stage {
            system,
            motion,
            dynamics,
            integrator,
            ..
        } = stage;
        for _ in 0..count {
            integrator.step(system, dynamics, motion, step, |dynamics, motion, rates| {
                if wind.changes() {
                    dynamics.set_air(wind.during(motion.time - begin));
                }
                dynamics.rates(system, acting, motion, rates);
            });
        }
    }
}

/// # Faults
///
/// They are set anew at every frame: first [mended](Self::mend), then struck, then [taken over](Self::take_over).
impl Plant {
    /// Ends all faults but those of its masses.
    pub(crate) fn mend(&mut self) {
        self.overrides.fill(None);
        self.left.fill(1.0);
        self.wind.fault = Vector3::zeros();
    }

    /// The actuator of this command does that, whatever is commanded.
    pub(crate) fn override_command(&mut self, command: usize, to: f64) {
        self.overrides[command] = Some(to);
    }

    /// The actuator of this command gives this part of what it should.
    pub(crate) fn weaken(&mut self, command: usize, part: f64) {
        self.left[command] *= part;
    }

    /// A wind beside all others, m/s, world.
    pub(crate) fn add_wind(&mut self, velocity: Vector3<f64>) {
        self.wind.fault += velocity;
    }

    /// The battery has this part of its voltage.
    pub(crate) fn keep_cells(&mut self, part: f64) {
        self.stage.dynamics.set_battery_fraction(part);
    }

    /// The battery has this charge, 0 to 1, and discharges on.
    pub(crate) fn set_charge(&mut self, charge: f64) {
        if self.stage.dynamics.has_battery() {
            let place = self.charge_place();
            self.stage.motion.velocity[place] = charge;
        }
    }

    /// Takes the masses of the model of this number, or its own. Configuration and velocity stay.
    pub(crate) fn load(&mut self, model: Option<usize>) {
        if self.loaded == model {
            return;
        }
        let before = std::mem::replace(&mut self.loaded, model);
        // What stands in its own place goes back to where the one came from that stands there now.
        for index in [before, model].into_iter().flatten() {
            let (model, workspace) = &mut self.models[index];
            std::mem::swap(&mut self.stage.system.model, model);
            std::mem::swap(self.stage.dynamics.workspace_mut(), workspace);
        }
    }

    /// What faults have set holds from now on.
    pub(crate) fn take_over(&mut self) {
        self.update_effectiveness();
        self.stage.dynamics.set_air(self.wind.now());
        self.act(0.0);
    }
}
