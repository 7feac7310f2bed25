//! Dynamics of a system under the commands of its actuators.

mod between;
mod broad_phase;
mod contacts;
mod frequency;
mod integrator;
mod mobility;
mod near;
mod pairs;
mod propulsion;
mod servo;
mod stops;
mod sustained;
mod wrenches;

use fly_lie::operators::join;
use nalgebra::{DMatrix, Vector3};

use crate::contact::{BodyContact, Ground};
use crate::integrate::SystemState;
use crate::multibody::constraints::{
    ConstraintError, ConstraintSet, ConstraintSetError, ConstraintWorkspace, Stabilization,
};
use crate::multibody::{BodyId, MasslessJoint, Model, Workspace};
use crate::rope::RopeForces;
use crate::{Air, PseudoInertia, System, velocity_of_point, wrench_of_force};
use between::BodyContacts;
use contacts::GroundContacts;
pub use frequency::{Surroundings, contact_frequency, contact_rate, element_rate};
pub use integrator::ContactIntegrator;
pub use pairs::contact_pairs;
use propulsion::Propulsion;
use servo::Servos;
use stops::JointStops;
pub use sustained::sustained_fraction;
use wrenches::BodyWrenches;

/// The dynamics of a [`System`] with its rotors and motors: along its tree, with its loops closed, and every actuator behind a first-order
/// lag.
///
/// Its [`SystemState`] holds the actuators' outputs (thrusts, tilts and efforts, in the order of the commands) after the n velocities. Once
/// [propulsion](Self::start_propulsion) is started, it holds speeds in place of the thrusts of rotors with motors, and the charge of a
/// battery; once there is a [ground](Self::start_ground) or [contact between bodies](Self::start_body_contact), the deflections of the bristles of the
/// contacts. A [`ContactIntegrator`] keeps, of those between bodies, only the bristles of shapes that are near each other.
///
/// ```
/// use fly_mechanics::integrate::{SystemState, RungeKutta, Scheme};
/// use fly_mechanics::{ActuatedDynamics, System};
///
/// let system = System::from_toml(
///     r#"
///     name = "slider"
///     gravity = [0, 0, 0]
///     [bodies.slider]
///     joint = { type = "prismatic", axis = [1, 0, 0] }
///     shape = { sphere = { radius = 0.1 } }
///     mass = 2
///     [[motors]]
///     joint = "slider"
///     effort = 10
///     "#,
/// )?;
/// let step = 0.01;
/// let mut dynamics = ActuatedDynamics::new(&system, step)?;
/// let mut motion = SystemState::at_rest(&system.model);
/// motion.velocity.push(6.0); // The motor pushes with 6 N, and is told to go on.
/// let mut integrator = RungeKutta::new(&system.model, Scheme::RungeKutta4);
/// for _ in 0..100 {
///     integrator.step(&system.model, &mut motion, step, |motion, rates| {
///         dynamics.rates(&system, &[6.0], motion, rates);
///     });
/// }
/// assert!((motion.configuration[0] - 1.5).abs() < 1e-12, "1/2 (6 N / 2 kg) (1 s)^2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ActuatedDynamics {
    workspace: Workspace<f64>,
    loops: Option<(ConstraintSet<f64>, ConstraintWorkspace<f64>)>,
    /// The actuators' outputs: thrusts, tilts and efforts.
    actual: Vec<f64>,
    /// Forces of motors and from outside, n entries.
    force: Vec<f64>,
    /// Wrenches of rotors, air, ropes and ground.
    wrenches: BodyWrenches,
    /// The effectiveness of each actuator, as a factor of its thrust or effort; 1 for tilts.
    effectiveness: Vec<f64>,
    /// `None`: resting air, which exerts linear drag alone; also for a system unaffected by anything else.
    air: Option<Air>,
    feels_air: bool,
    /// `None`: the thrusts have first-order lags.
    propulsion: Option<Propulsion>,
    servos: Servos,
    stops: JointStops,
    ropes: RopeForces,
    /// `None`: no contacts.
    ground: Option<GroundContacts>,
    bodies: Option<BodyContacts>,
    /// Additional external forces, n entries.
    external: Vec<f64>,
}

/// Why [`ActuatedDynamics`] cannot be built or evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ActuatedDynamicsError {
    /// A joint carries no mass.
    #[error(transparent)]
    Massless(#[from] MasslessJoint),
    /// Its loops and couplings are an invalid constraint set.
    #[error(transparent)]
    Loops(#[from] ConstraintSetError),
    /// Its loops do not close.
    #[error("the initial state: {0}")]
    Start(#[from] ConstraintError),
}

/// The decay rate of loop violations, relative to the inverse of the integration step.
const STABILIZATION: f64 = 0.1;

/// # Construction
impl ActuatedDynamics {
    /// For this system and integration steps of this length, s, which determines the stabilisation rate of the loops.
    ///
    /// # Errors
    /// [`ActuatedDynamicsError::Loops`].
    pub fn new(system: &System, step: f64) -> Result<Self, ActuatedDynamicsError> {
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
            actual: vec![0.0; system.inputs.time_constants().len()],
            force: vec![0.0; model.dof()],
            wrenches: BodyWrenches::new(model),
            effectiveness: vec![1.0; system.inputs.time_constants().len()],
            air: None,
            feels_air: system.feels_air(),
            propulsion: None,
            servos: Servos::new(system),
            stops: JointStops::new(system),
            ropes: RopeForces::new(&system.ropes),
            ground: None,
            bodies: None,
            external: vec![0.0; model.dof()],
        })
    }

    /// Puts the system into this air: the [`Drag`](crate::Drag) of every body then acts on its velocity relative to the air, and all of
    /// [`aerodynamics`](crate::aerodynamics), inactive before, acts as well. Dampers are not affected by wind.
    pub fn set_air(&mut self, air: Air) {
        self.air = self.feels_air.then_some(air);
    }

    /// Starts the [motors](crate::RotorMotor) of the rotors that have one, from the thrusts in the state, on a battery with this charge (0 to 1). From
    /// now on the state holds the speeds of these rotors (rad/s) in place of their thrusts and, after all actuators, the charge if there is a battery.
    /// Has no effect if no rotor has a motor.
    pub fn start_propulsion(&mut self, system: &System, charge: f64, state: &mut SystemState<f64>) {
        self.propulsion = Propulsion::new(system);
        self.to_states(&mut state.velocity[system.model.dof()..]);
        if self.has_battery() {
            state.velocity.push(charge);
        }
    }

    /// Returns whether the system has [contact shapes](crate::ContactShape) and a ground.
    pub fn touches_ground(&self) -> bool {
        self.ground.is_some()
    }

    /// The largest penetration speed (m/s) of a contact point of the bodies that move with this one, since the last call for one of them, over all states evaluated;
    /// `None` without contact.
    pub fn take_contact_speed(&mut self, model: &Model<f64>, body: BodyId) -> Option<f64> {
        let ground = self.ground.as_mut()?;
        Some(ground.take_speed(model, body))
    }

    /// Sets the tilts in the state to those of the servo-driven joints.
    pub fn start_servos(&mut self, system: &System, state: &mut SystemState<f64>) {
        let n = system.model.dof();
        let (velocity, actuators) = state.velocity.split_at_mut(n);
        (self.servos).hold(&state.configuration, velocity, actuators);
    }

    /// Puts the system above this ground: from now on the state holds, at its end, the deflections of the bristles of all [contact
    /// shapes](crate::ContactShape), two for each ball or end of a capsule, m. Has no effect if the system has none. Call after [`start_propulsion`](Self::start_propulsion).
    pub fn start_ground(&mut self, system: &System, ground: Ground, state: &mut SystemState<f64>) {
        self.ground = GroundContacts::new(system, ground);
        if let Some(ground) = &self.ground {
            let count = state.velocity.len() + ground.rates.len();
            state.velocity.resize(count, 0.0);
        }
    }

    /// Lets bodies touch each other with these [pairs](crate::contact_pairs) of contact shapes: from now on the state holds, at its end, the
    /// deflections of their bristles, three for each pair, m. Has no effect without pairs. Call after [`start_ground`](Self::start_ground).
    ///
    /// Every step of any integrator then looks at every pair. A [`ContactIntegrator`] looks only at those that are near each other, and leaves only their bristles
    /// in the state; after its first step no other may advance this state.
    ///
    /// # Panics
    /// If the system has fewer shapes.
    pub fn start_body_contact(
        &mut self,
        system: &System,
        contact: BodyContact,
        pairs: &[[usize; 2]],
        state: &mut SystemState<f64>,
    ) {
        self.bodies = BodyContacts::new(system, contact, pairs);
        if let Some(bodies) = &self.bodies {
            let count = state.velocity.len() + bodies.rates.len();
            state.velocity.resize(count, 0.0);
        }
    }

    /// The bodies that have touched each other in a state evaluated so far, with the largest speed with which their shapes went into each other, m/s.
    pub fn touched_bodies(&self) -> impl Iterator<Item = ([BodyId; 2], f64)> {
        self.bodies.iter().flat_map(BodyContacts::touched)
    }

    /// The index of the first bristle among the states after the velocities.
    fn first_bristle(&self) -> usize {
        self.actual.len() + usize::from(self.has_battery())
    }

    /// The number of bristles' deflections of the ground.
    fn ground_bristles(&self) -> usize {
        self.ground.as_ref().map_or(0, |ground| ground.rates.len())
    }

    /// Whether it is time to [search](Self::search_contacts) for bodies that are near each other.
    fn search_is_due(&self) -> bool {
        let mut bodies = self.bodies.iter();
        bodies.any(|bodies| bodies.near().is_due())
    }

    /// Whether bodies have moved so far since the last search that others than those found may have touched.
    fn search_is_outrun(&self) -> bool {
        let mut bodies = self.bodies.iter();
        bodies.any(|bodies| bodies.near().is_outrun())
    }

    /// Finds the bodies that are near each other in this state, and leaves only the bristles between them in it. Does not allocate.
    fn search_contacts(&mut self, system: &System, state: &mut SystemState<f64>) {
        let first = system.model.dof() + self.first_bristle() + self.ground_bristles();
        self.update_kinematics(&system.model, state);
        if let Some(bodies) = &mut self.bodies {
            bodies.search(&self.workspace, &mut state.velocity, first);
        }
    }

    /// Whether there are contacts, stops or ropes, which may start and cease to act.
    fn may_touch(&self) -> bool {
        let contacts = self.ground.is_some() || self.bodies.is_some();
        contacts || !self.stops.is_empty() || !self.ropes.is_empty()
    }

    /// A code for the set of those acting in the last state evaluated; it differs between different sets.
    fn touching(&self) -> u64 {
        let ground = (self.ground.as_ref()).map_or(0, |ground| ground.touching);
        let bodies = (self.bodies.as_ref()).map_or(0, |bodies| bodies.touching);
        ground
            ^ self.stops.touching.rotate_left(21)
            ^ self.ropes.touching.rotate_left(42)
            ^ bodies.rotate_left(11)
    }

    /// The energy stored in contacts, stops and ropes in the last state evaluated, J.
    pub fn contact_energy(&self) -> f64 {
        self.stops.energy + self.ropes.energy + self.touch_energy()
    }

    /// The part of it that is stored where bodies touch the ground or each other, J.
    pub fn touch_energy(&self) -> f64 {
        let ground = (self.ground.as_ref()).map_or(0.0, |ground| ground.energy);
        let bodies = (self.bodies.as_ref()).map_or(0.0, |bodies| bodies.energy);
        ground + bodies
    }

    /// The power dissipated by contacts, stops and ropes in the last state evaluated, W; never negative.
    pub fn contact_dissipation(&self) -> f64 {
        let ground = (self.ground.as_ref()).map_or(0.0, |ground| ground.dissipation);
        let bodies = (self.bodies.as_ref()).map_or(0.0, |bodies| bodies.dissipation);
        self.stops.dissipation + self.ropes.dissipation + ground + bodies
    }

    /// The tensions of the [ropes](System::ropes) in the last state evaluated, N: 0 for a slack one.
    pub fn tensions(&self) -> &[f64] {
        &self.ropes.tensions
    }

    /// Copies air, effectiveness, external force, the contacts that the state holds and the record of [touched bodies](Self::touched_bodies) from other dynamics
    /// with the same actuators and contacts; the external force only if the systems match.
    pub fn copy_environment(&mut self, other: &Self) {
        self.air = other.air;
        self.effectiveness.copy_from_slice(&other.effectiveness);
        if let Some(propulsion) = &other.propulsion {
            self.set_battery_fraction(propulsion.battery_fraction());
        }
        if let (Some(bodies), Some(others)) = (&mut self.bodies, &other.bodies) {
            bodies.continue_from(others);
        }
        if self.external.len() == other.external.len() {
            self.external.copy_from_slice(&other.external);
        }
    }

    /// Converts actuator outputs to states in place: thrusts (N) of rotors with motors to speeds (rad/s).
    pub fn to_states(&self, actuators: &mut [f64]) {
        if let Some(propulsion) = &self.propulsion {
            propulsion.speeds(actuators);
        }
    }

    /// The thrust (N) at this speed (rad/s) of the rotor with this thrust command; `None` if the state does not hold its speed.
    pub fn thrust_of_speed(&self, command: usize, speed: f64) -> Option<f64> {
        (self.propulsion.as_ref())?.thrust(command, speed)
    }

    /// Returns whether this command is the tilt of a servo-driven joint, whose angle is part of the state.
    pub fn is_servo_driven(&self, command: usize) -> bool {
        self.servos.turns(command)
    }

    /// Returns whether the state holds the charge of a battery.
    pub fn has_battery(&self) -> bool {
        let mut all = self.propulsion.iter();
        all.any(Propulsion::has_battery)
    }

    /// The battery voltage in the last state whose [`rates`](Self::rates) were evaluated, V; `None` without a battery.
    pub fn voltage(&self) -> Option<f64> {
        let propulsion = self.propulsion.as_ref()?;
        propulsion.has_battery().then(|| propulsion.voltage())
    }

    /// Sets the remaining fraction of the battery's open-circuit voltage, 0 to 1: below 1 after cells have failed. No effect without a
    /// battery.
    pub fn set_battery_fraction(&mut self, part: f64) {
        if let Some(propulsion) = &mut self.propulsion {
            propulsion.set_battery_fraction(part);
        }
    }

    /// An additional external force, n entries along the velocity coordinates (N, N m): zero at first.
    pub fn external_force_mut(&mut self) -> &mut [f64] {
        &mut self.external
    }

    /// The effectiveness of each actuator, as a factor of its thrust or effort, in the order of the commands: 1 at first. Those of
    /// tilts must stay 1.
    pub fn effectiveness_mut(&mut self) -> &mut [f64] {
        &mut self.effectiveness
    }

    /// The effectiveness of each actuator, read-only.
    pub fn effectiveness(&self) -> &[f64] {
        &self.effectiveness
    }

    /// Closes the loops of a start state that leaves them open, and makes it roll.
    ///
    /// The others adapt to these velocity coordinates, along which first the configuration and then the velocity stay as they are; if the
    /// others cannot, all adapt. Of several ways to close a loop it is the one that the described configuration leads to: there the loops
    /// are closed first, and then what is held goes to where it is to be in small steps.
    ///
    /// # Errors
    /// [`ActuatedDynamicsError::Start`].
    ///
    /// # Panics
    /// If there is no such coordinate.
    pub fn close_loops(
        &mut self,
        system: &System,
        motion: &mut SystemState<f64>,
        held: [&[usize]; 2],
    ) -> Result<(), ActuatedDynamicsError> {
        let (model, workspace) = (&system.model, &mut self.workspace);
        let Some((loops, scratch)) = &mut self.loops else {
            return Ok(());
        };
        let (x, xi) = (
            &mut motion.configuration,
            &mut motion.velocity[..model.dof()],
        );
        let given = x.clone();
        let mut close = |x: &mut [f64], held: &[usize]| {
            scratch.hold(held);
            scratch.project_configuration(loops, model, workspace, x, 0.0)
        };
        if lead(model, x, held[0], &mut close).is_err() {
            x.copy_from_slice(&given);
            if close(x, held[0]).is_err() {
                x.copy_from_slice(&given);
                close(x, &[])?;
            }
        }
        let mut mass_matrix = DMatrix::zeros(model.dof(), model.dof());
        model.mass_matrix(workspace, x, &mut mass_matrix);
        let given = xi.to_vec();
        scratch.hold(held[1]);
        let made = scratch.project_velocity(loops, model, workspace, &mass_matrix, x, xi, 0.0);
        scratch.hold(&[]);
        if made.is_err() {
            xi.copy_from_slice(&given);
            scratch.project_velocity(loops, model, workspace, &mass_matrix, x, xi, 0.0)?;
        }
        Ok(())
    }
}

/// The largest step of a held coordinate while loops are kept closed, m or rad, and the most steps.
const CLOSING_STEP: f64 = 0.05;
const CLOSING_STEPS: f64 = 2000.0;

/// Closes the loops with the held coordinates as described, and leads these to their values in `x`. Where there are none, `x` is closed as it is.
fn lead(
    model: &Model<f64>,
    x: &mut [f64],
    held: &[usize],
    close: &mut impl FnMut(&mut [f64], &[usize]) -> Result<usize, ConstraintError>,
) -> Result<(), ConstraintError> {
    let given = x.to_vec();
    let mut way = vec![0.0; model.dof()];
    let mut to_go = |from: &[f64], to: &[f64]| {
        model.difference(from, to, &mut way);
        let step: Vec<f64> = (0..way.len())
            .map(|i| if held.contains(&i) { way[i] } else { 0.0 })
            .collect();
        let length = step
            .iter()
            .fold(0.0, |most: f64, part| most.max(part.abs()));
        (step, length)
    };
    let (back, _) = to_go(&given, &model.neutral_configuration());
    model.integrate(x, &back);
    close(x, &[])?;
    let (_, length) = to_go(x, &given);
    let steps = (length / CLOSING_STEP).ceil().clamp(1.0, CLOSING_STEPS);
    let mut left = steps;
    while left > 0.0 {
        let (rest, _) = to_go(x, &given);
        let step: Vec<f64> = rest.iter().map(|part| part / left).collect();
        model.integrate(x, &step);
        close(x, held)?;
        left -= 1.0;
    }
    Ok(())
}

/// # Motion
impl ActuatedDynamics {
    /// `xi_dot`, n entries, under the thrusts, tilts and efforts in the state. Does not allocate.
    ///
    /// # Errors
    /// [`ActuatedDynamicsError::Massless`]; [`ActuatedDynamicsError::Start`] if the loop constraints are inconsistent.
    pub fn acceleration(
        &mut self,
        system: &System,
        state: &SystemState<f64>,
        acceleration: &mut [f64],
    ) -> Result<(), ActuatedDynamicsError> {
        let n = system.model.dof();
        self.look(system, state);
        let actuators = self.actual.len();
        (self.actual).copy_from_slice(&state.velocity[n..n + actuators]);
        let velocity = &state.velocity[..n];
        (self.servos).hold(&state.configuration, velocity, &mut self.actual);
        if let Some(propulsion) = &mut self.propulsion {
            propulsion.hold(&state.velocity[n..], &mut self.actual);
        }
        self.accelerate(system, state, acceleration)
    }

    /// `xi_dot`, followed by the rates of the actuators under a command; NaN if the acceleration does not exist. Does
    /// not allocate.
    ///
    /// Actuators without lag produce the command: their entries in the state are ignored, and their rates are zero.
    pub fn rates(
        &mut self,
        system: &System,
        command: &[f64],
        state: &SystemState<f64>,
        rates: &mut [f64],
    ) {
        let n = system.model.dof();
        let (acceleration, rates) = rates.split_at_mut(n);
        self.look(system, state);
        let lags = system.inputs.time_constants();
        let states = state.velocity[n..].iter().zip(command).zip(lags);
        for ((actual, rate), ((state, command), lag)) in
            self.actual.iter_mut().zip(&mut *rates).zip(states)
        {
            (*actual, *rate) = if *lag > 0.0 {
                (*state, (command - state) / lag)
            } else {
                (*command, 0.0)
            };
        }
        (self.servos).turn(command, state, n, &mut self.actual, rates);
        if let Some(propulsion) = &mut self.propulsion {
            propulsion.drive(
                &self.workspace,
                command,
                &state.velocity[n..],
                &self.effectiveness,
                &mut self.actual,
                rates,
            );
        }
        if self.accelerate(system, state, acceleration).is_err() {
            acceleration.fill(f64::NAN);
        }
        let (_, bristles) = rates.split_at_mut(self.first_bristle());
        let (of_ground, of_bodies) = bristles.split_at_mut(self.ground_bristles());
        if let Some(ground) = &self.ground {
            of_ground.copy_from_slice(&ground.rates);
        }
        if let Some(bodies) = &self.bodies {
            of_bodies.copy_from_slice(&bodies.rates);
        }
    }

    /// Updates the kinematics for a state, as far as needed.
    fn look(&mut self, system: &System, state: &SystemState<f64>) {
        let touched = self.ground.is_some() || self.bodies.is_some();
        let ropes_or_motors = !self.ropes.is_empty() || system.inputs.react();
        let acted_on = self.air.is_some() || touched || ropes_or_motors;
        if acted_on || self.propulsion.is_some() || self.loops.is_some() {
            self.update_kinematics(&system.model, state);
        }
    }

    fn update_kinematics(&mut self, model: &Model<f64>, state: &SystemState<f64>) {
        let (x, xi) = (&state.configuration, &state.velocity[..model.dof()]);
        self.workspace.update(model, x, xi);
    }

    /// `xi_dot` with the actuator outputs in `self.actual`, in the state evaluated.
    fn accelerate(
        &mut self,
        system: &System,
        state: &SystemState<f64>,
        acceleration: &mut [f64],
    ) -> Result<(), ActuatedDynamicsError> {
        let model = &system.model;
        let (x, xi) = (&state.configuration, &state.velocity[..model.dof()]);
        for (actual, part) in self.actual.iter_mut().zip(&self.effectiveness) {
            *actual *= part;
        }
        self.act(system, state);
        let (workspace, force) = (&mut self.workspace, &mut self.force);
        match &mut self.loops {
            None => {
                let wrenches = self.wrenches.beside(model, force);
                model.forward_dynamics_with(workspace, x, xi, force, wrenches, acceleration)?;
            }
            Some((loops, scratch)) => {
                workspace.update_jacobians(model);
                self.wrenches.add_force(workspace, force);
                scratch.forward_dynamics(loops, model, workspace, x, xi, state.time, force)?;
                acceleration.copy_from_slice(scratch.acceleration().as_slice());
            }
        }
        Ok(())
    }

    /// Collects the effects of rotors, motors, air, stops, ropes and external forces.
    fn act(&mut self, system: &System, state: &SystemState<f64>) {
        self.force.copy_from_slice(&self.external);
        system.inputs.add_efforts(&self.actual, &mut self.force);
        self.wrenches.clear();
        self.wrenches.extend(system.inputs.wrenches(&self.actual));
        let reactions = system.inputs.reactions(&self.workspace, &self.actual);
        self.wrenches.extend(reactions);
        if let Some(propulsion) = &self.propulsion {
            self.wrenches.extend(propulsion.wrenches(&self.workspace));
        }
        if let Some(air) = self.air {
            if !air.is_still() {
                self.blow(&system.model, &air);
            }
            self.add_aerodynamics(system, &air);
        }
        let (n, first) = (system.model.dof(), self.first_bristle());
        let xi = &state.velocity[..n];
        self.servos.add_force(&mut self.force);
        (self.stops).add_force(&state.configuration, xi, &mut self.force);
        if !self.ropes.is_empty() {
            let wrenches = &mut self.wrenches;
            (self.ropes).act(&self.workspace, |body, wrench| wrenches.add(body, wrench));
        }
        let between = n + first + self.ground_bristles();
        if let Some(ground) = &mut self.ground {
            let (wrenches, bristles) = (&mut self.wrenches, &state.velocity[n + first..]);
            ground.act(&self.workspace, bristles, |body, wrench| {
                wrenches.add(body, wrench);
            });
        }
        if let Some(bodies) = &mut self.bodies {
            let (wrenches, bristles) = (&mut self.wrenches, &state.velocity[between..]);
            bodies.act(&self.workspace, bristles, |body, wrench| {
                wrenches.add(body, wrench);
            });
        }
    }

    /// Adds the effect of the wind beyond the drag in resting air: linear drag depends on the velocity relative to the air, and this is the air's
    /// part.
    fn blow(&mut self, model: &Model<f64>, air: &Air) {
        for body in model.bodies() {
            let Some(drag) = model.drag(body) else {
                continue;
            };
            let inertia = model.inertia(body);
            let center = inertia.map_or_else(Vector3::zeros, PseudoInertia::center_of_mass);
            let wind = join(&self.wind_at(air, body, &center), &Vector3::zeros());
            self.wrenches.add(body, &drag.force(&wind, &center));
        }
    }

    /// Adds the quadratic drag of the bodies and the aerodynamic wrenches on the rotors.
    fn add_aerodynamics(&mut self, system: &System, air: &Air) {
        for (body, drag) in &system.quadratic_drag {
            let inertia = system.model.inertia(*body);
            let center = inertia.map_or_else(Vector3::zeros, PseudoInertia::center_of_mass);
            let twist = self.workspace.twist(BodyId::WORLD, *body);
            let airspeed = velocity_of_point(&twist, &center) - self.wind_at(air, *body, &center);
            let wrench = wrench_of_force(&drag.force(&airspeed), &center);
            self.wrenches.add(*body, &wrench);
        }
        let flow = (system.inputs).air_wrenches(&self.workspace, air, &self.actual);
        self.wrenches.extend(flow);
    }

    /// The velocity of the air at a point of a body (m), in its axes, m/s.
    fn wind_at(&self, air: &Air, body: BodyId, point: &Vector3<f64>) -> Vector3<f64> {
        let pose = self.workspace.pose(BodyId::WORLD, body);
        let wind = air.velocity_at(pose.act(point).z);
        pose.rotation.inverse().act(&wind)
    }

    /// The generalised force of rotors, motors, air, contacts, stops and the outside at this [`acceleration`](Self::acceleration), n entries along the velocity
    /// coordinates, N and N m: everything except gravity, springs, dampers and linear drag in resting air.
    ///
    /// # Errors
    /// As [`acceleration`](Self::acceleration).
    pub fn force(
        &mut self,
        system: &System,
        state: &SystemState<f64>,
        acceleration: &mut [f64],
    ) -> Result<&[f64], ActuatedDynamicsError> {
        self.acceleration(system, state, acceleration)?;
        // On one free body the wrench is part of the force already.
        if self.loops.is_none() && !system.model.is_one_free_body() {
            self.update_kinematics(&system.model, state);
            self.workspace.update_jacobians(&system.model);
            self.wrenches.add_force(&self.workspace, &mut self.force);
        }
        Ok(&self.force)
    }

    /// The kinematics of the last state evaluated, free to be updated.
    pub fn workspace_mut(&mut self) -> &mut Workspace<f64> {
        &mut self.workspace
    }
}
