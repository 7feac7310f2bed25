//! Commands ahead of what they should do, for actuators that lag.
//!
//! An actuator with a first-order lag T follows its command by `T v' + v = v_c`. Where it should do `v_0(t)`, the command
//!
//! ```text
//! v_c = v_0 + T dv_0/dt      leads to      d/dt (v - v_0) = -(v - v_0)/T
//! ```
//!
//! so that whatever the lag is the actuator does what it should, but for an error that decays within the lag. Thrusts, tilts and efforts lag, each with its
//! own T, so v_0 are the commands that the law's input u0 asks for.
//!
//! The rate is that of the law along the motion that the model has now. No measurement is differenced: with what the actuators do at present the acceleration is
//! `a = M^-1 (B u - b + r)`, r what an observer of disturbances has found, and the law is asked a second time, for the state and the reference a microsecond later.
//! Measured noise is amplified by no more than T times the gain over what it is a noise of. Of the reference pose, velocity and
//! acceleration move on by their own rates. The rate of the acceleration is extrapolated from its last two changes by time, but is at most twice the smaller of them, and zero
//! where they differ in sign: where a reference jumps nothing is led, and the actuators follow the jump with their lag.
//!
//! The limits act on the command: it is the one whose acceleration, once it is reached, is nearest to that of `v_c`.
#![allow(non_snake_case)]

use fly_mechanics::{Inputs, Rotors};
use nalgebra::{DVector, DefaultAllocator, Dyn, OVector, U1};

use crate::law::Law;
use crate::plant::Plant;
use crate::predictor::settle;
use crate::sizes::Sizes;
use crate::template::DesiredMotion;

/// The lags of actuators, and how much of them commands make up for.
///
/// ```
/// use fly_control::lead::Lead;
/// use fly_mechanics::Vehicle;
///
/// let vehicle = Vehicle::from_toml(include_str!("../../../configs/vehicles/quadcopter.toml"))?;
/// let lead = Lead::of_rotors(&vehicle.rotors, 1.0)?;
/// assert_eq!(lead.time_constants(), [0.03; 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Lead {
    rotors: Rotors,
    time_constants: Vec<f64>,
    part: f64,
}

/// A lead that there is not.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LeadError {
    /// Not from 0 to 1.
    #[error(
        "expected a number from 0 to 1, the part of the lag that commands make up for; found {0}"
    )]
    Part(f64),
    /// The strategy remembers what it was asked.
    #[error(
        "the baselines of multirotors have no lead: their integrals and filters move on whenever they are asked; expected particle, body, energy or a \
         baseline for systems"
    )]
    Remembers,
}

impl Lead {
    /// For the rotors and motors of a system, by their time constants; `part` of each lag, 0 to 1, is made up for.
    ///
    /// # Errors
    /// [`LeadError::Part`].
    pub fn of_inputs(inputs: &Inputs, part: f64) -> Result<Self, LeadError> {
        Self::new(inputs.rotors(), inputs.time_constants(), part)
    }

    /// The same for the rotors of a vehicle.
    ///
    /// # Errors
    /// [`LeadError::Part`].
    pub fn of_rotors(rotors: &Rotors, part: f64) -> Result<Self, LeadError> {
        Self::new(rotors, rotors.time_constants(), part)
    }

    fn new(rotors: &Rotors, time_constants: &[f64], part: f64) -> Result<Self, LeadError> {
        if !(0.0..=1.0).contains(&part) {
            return Err(LeadError::Part(part));
        }
        Ok(Self {
            rotors: rotors.clone(),
            time_constants: time_constants.to_vec(),
            part,
        })
    }

    /// The part of each lag that commands make up for.
    pub fn part(&self) -> f64 {
        self.part
    }

    /// The lag of each command, s.
    pub fn time_constants(&self) -> &[f64] {
        &self.time_constants
    }

    /// Inputs of motors, behind those of rotors, are their commands.
    fn commands(&self, input: &[f64], commands: &mut [f64]) {
        let p = self.rotors.input_dim();
        (self.rotors).commands_from_input(&input[..p], &mut commands[..p]);
        commands[p..].copy_from_slice(&input[p..]);
    }

    fn input(&self, commands: &[f64], input: &mut [f64]) {
        let p = self.rotors.input_dim();
        (self.rotors).input_from_commands(&commands[..p], &mut input[..p]);
        input[p..].copy_from_slice(&commands[p..]);
    }

    /// Moves the commands `now` on by their rates, to those a time `STEP` later, times their lags.
    fn apply(&self, now: &mut [f64], later: &[f64]) {
        let pairs = now.iter_mut().zip(later).zip(&self.time_constants);
        for ((now, later), lag) in pairs {
            *now += self.part * lag / STEP * (later - *now);
        }
    }
}

/// The law is asked again for so much later, s: its rate errs by half of this times its second derivative, and by rounding, 1e-16 of it by this.
const STEP: f64 = 1e-6;
/// No tilt is led by more than this, rad: beyond it the thrust would point away from where it goes.
const LARGEST_TURN: f64 = std::f64::consts::FRAC_PI_2;

/// What it takes to ask the law a moment later.
pub(crate) struct Ahead<P: Plant>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    lead: Lead,
    /// The plant a moment later, with all that follows from it.
    pub(crate) plant: P,
    pub(crate) law: Law<f64, P::Dof, Dyn>,
    pub(crate) desired: DesiredMotion<f64, P::Dof>,
    pub(crate) moment: P::Moment,
    pub(crate) u0: DVector<f64>,
    /// What the actuators do.
    actual: Vec<f64>,
    knowledge: Knowledge,
    acceleration: OVector<f64, P::Dof>,
    goal: GoalRate<P>,
    input: DVector<f64>,
    commands: [Vec<f64>; 2],
}

/// What is known of the actuators.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Knowledge {
    /// Nothing: no command has come.
    None,
    /// By the model of their lags, and the commands of this controller.
    Own,
    /// Somebody tells, and has told for this step, or not.
    Told(bool),
}

impl<P: Plant> Ahead<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    pub(crate) fn new(lead: Lead, plant: &P, law: &Law<f64, P::Dof, Dyn>) -> Self {
        let (n, p) = (plant.dof(), plant.input_dim());
        assert_eq!(lead.time_constants.len(), p, "number of inputs");
        let zero = OVector::zeros_generic(n, U1);
        Self {
            lead,
            plant: plant.clone(),
            law: law.clone(),
            desired: DesiredMotion::of_dof(n),
            moment: plant.moment(),
            u0: DVector::zeros(p),
            actual: vec![0.0; p],
            knowledge: Knowledge::None,
            acceleration: zero.clone(),
            goal: GoalRate {
                known: [false; 2],
                last: zero.clone(),
                change: zero.clone(),
                rate: zero,
            },
            input: DVector::zeros(p),
            commands: [vec![0.0; p], vec![0.0; p]],
        }
    }

    pub(crate) fn lead(&self) -> &Lead {
        &self.lead
    }

    /// Takes the place of the plant and the law, whose inputs have changed.
    pub(crate) fn follow(&mut self, plant: &P, law: &Law<f64, P::Dof, Dyn>) {
        self.plant = plant.clone();
        self.law = law.clone();
    }

    /// What the actuators do now; `None` if nobody knows.
    pub(crate) fn set_actuators(&mut self, commands: Option<&[f64]>) {
        self.knowledge = Knowledge::Told(commands.is_some());
        if let Some(commands) = commands {
            self.actual.copy_from_slice(commands);
        }
    }

    /// Lets the actuators follow the last `input` for so long, if nobody tells what they do.
    pub(crate) fn let_follow(&mut self, elapsed: f64, input: &DVector<f64>) {
        if self.knowledge == Knowledge::Own {
            let commands = &mut self.commands[0];
            self.lead.commands(input.as_slice(), commands);
            let lags = &self.lead.time_constants;
            settle(&mut self.actual, commands, lags, elapsed, f64::INFINITY);
        }
    }

    /// Notes that this input was sent.
    pub(crate) fn sent(&mut self, input: &DVector<f64>) {
        if self.knowledge == Knowledge::None {
            self.lead.commands(input.as_slice(), &mut self.actual);
            self.knowledge = Knowledge::Own;
        }
    }

    /// Moves state and goal on to the moment for which the law is to be asked again, and updates the plant there. `u0` is what the law asks for now, `law` and
    /// `plant` are those of now, `compensated` is b - r. Returns whether the actuators are known, so that there is a rate.
    pub(crate) fn look(
        &mut self,
        elapsed: f64,
        (state, goal): (P::State<'_>, P::Goal<'_>),
        u0: &DVector<f64>,
        (plant, law): (&P, &Law<f64, P::Dof, Dyn>),
        compensated: &OVector<f64, P::Dof>,
    ) -> bool {
        self.goal.observe(elapsed, P::goal_acceleration(&goal));
        let known = match &mut self.knowledge {
            Knowledge::None => false,
            Knowledge::Own => true,
            // What was told holds for one step.
            Knowledge::Told(known) => std::mem::take(known),
        };
        if !known {
            return false;
        }
        // What has no lag does what the law asks for.
        let now = &mut self.commands[0];
        self.lead.commands(u0.as_slice(), now);
        for ((actual, now), lag) in
            (self.actual.iter_mut().zip(&*now)).zip(&self.lead.time_constants)
        {
            if *lag == 0.0 {
                *actual = *now;
            }
        }
        self.lead.input(&self.actual, self.input.as_mut_slice());
        let a = &mut self.acceleration;
        a.gemv(1.0, plant.input_matrix(), &self.input, 0.0);
        *a -= compensated;
        law.accelerate(a);
        (self.plant).advance(STEP, state, a, goal, &self.goal.rate, &mut self.moment);
        let (state, _) = P::at(&self.moment);
        self.plant.update(state);
        true
    }

    /// Writes the input of the commands that lead, from what the law asks for now and a moment later, where both are finite.
    pub(crate) fn lead_on(&mut self, demanded: &mut DVector<f64>) {
        let [now, later] = &mut self.commands;
        self.lead.commands(self.u0.as_slice(), later);
        let tilting = self.lead.rotors.rotor_ranges().filter(|r| r.len() == 2);
        for range in tilting {
            let (thrust, tilt) = (range.start, range.start + 1);
            let lag = self.lead.time_constants[tilt] * self.lead.part;
            let turn = wrapped(later[tilt] - now[tilt]);
            let most = if lag > 0.0 {
                LARGEST_TURN * STEP / lag
            } else {
                0.0
            };
            later[tilt] = now[tilt] + turn.clamp(-most, most);
            // A thrust is no less than none.
            let lag = self.lead.time_constants[thrust] * self.lead.part;
            if lag > 0.0 {
                later[thrust] = later[thrust].max(now[thrust] * (1.0 - STEP / lag));
            }
        }
        self.lead.apply(now, later);
        self.lead.input(now, self.input.as_mut_slice());
        if self.input.iter().all(|u| u.is_finite()) {
            demanded.copy_from(&self.input);
        }
    }
}

/// The rate of the acceleration of a goal.
struct GoalRate<P: Plant>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// Whether the last acceleration and the last change are known.
    known: [bool; 2],
    last: OVector<f64, P::Dof>,
    /// By time.
    change: OVector<f64, P::Dof>,
    rate: OVector<f64, P::Dof>,
}

impl<P: Plant> GoalRate<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    fn observe(&mut self, elapsed: f64, acceleration: &[f64]) {
        let [known, known_change] = self.known;
        let usable = known && elapsed > 0.0 && elapsed.is_finite();
        for (i, a) in acceleration.iter().enumerate() {
            let change = if usable {
                (a - self.last[i]) / elapsed
            } else {
                0.0
            };
            let before = if known_change { self.change[i] } else { 0.0 };
            // The changes are those half a step and one and a half ago.
            let most = 2.0 * change.abs().min(before.abs());
            self.rate[i] = if change * before > 0.0 {
                let rate = (1.5 * change - 0.5 * before) * change.signum();
                rate.clamp(0.0, most).copysign(change)
            } else {
                0.0
            };
            (self.last[i], self.change[i]) = (*a, change);
        }
        self.known = [true, usable];
    }
}

/// The same angle within half a turn to either side, rad.
fn wrapped(angle: f64) -> f64 {
    let turn = std::f64::consts::TAU;
    angle - (angle / turn).round() * turn
}
