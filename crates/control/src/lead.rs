//! Lead compensation: commands that anticipate the lag of the actuators.
//!
//! An actuator with a first-order lag T follows its command by `T v' + v = v_c`. For a desired output `v_0(t)` the
//! command
//!
//! ```text
//! v_c = v_0 + T dv_0/dt      leads to      d/dt (v - v_0) = -(v - v_0)/T
//! ```
//!
//! so that the output reaches the desired one whatever the lag, but for an error that decays with time constant T. Thrusts, tilts and efforts lag, each with
//! its own T; v_0 are the commands that correspond to the law's input u0.
//!
//! The rate of v_0 is that of the law along the model's current motion; no measurement is differentiated. With the present outputs of the actuators the
//! acceleration is `a = M^-1 (B u - b + r)`, r the force found by a disturbance observer, and the law is evaluated a second time, for the state and the
//! reference a microsecond later. Measurement noise is amplified by at most T times the gain on that measurement. The reference's pose, velocity and
//! acceleration advance by their own rates. The rate of the acceleration is extrapolated from its last two changes per time, limited to twice the smaller of
//! them, and set to zero if their signs differ: a jump of the reference gets no lead, and the actuators follow it with their lag.
//!
//! The limits act on the command: it is the feasible one whose acceleration, once the actuators reach it, is nearest to that of `v_c`.
#![allow(non_snake_case)]

use fly_mechanics::{Inputs, Rotors};
use nalgebra::{DVector, DefaultAllocator, Dyn, OVector, U1};

use crate::angle::wrapped;
use crate::law::Law;
use crate::plant::Plant;
use crate::predictor::settle;
use crate::sizes::Sizes;
use crate::template::DesiredMotion;

/// The lags of the actuators, and the fraction of each that the commands compensate.
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
    fraction: f64,
}

/// When a vehicle turns so fast that the whole lag of its actuators is led: by more than this angle (rad) within the longest lag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FastTurn {
    /// By its angular velocity, planned or not.
    OfBody(f64),
    /// By the difference of its angular velocity from that of the reference.
    Unplanned(f64),
}

/// Why a lead cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LeadError {
    /// The fraction is not between 0 and 1.
    #[error(
        "expected a number from 0 to 1, the fraction of the lag that the commands compensate; found {0}"
    )]
    Fraction(f64),
    /// The strategy has internal state, so that it cannot be evaluated twice per step.
    #[error(
        "multirotor baselines cannot have a lead: a second evaluation per step would advance their integrals and filters; expected particle, body, energy or a baseline for systems"
    )]
    Stateful,
}

impl Lead {
    /// For the rotors and motors of a system, from their time constants; compensates the fraction `fraction` (0 to 1) of
    /// each lag.
    ///
    /// # Errors
    /// [`LeadError::Fraction`].
    pub fn of_inputs(inputs: &Inputs, fraction: f64) -> Result<Self, LeadError> {
        Self::new(inputs.rotors(), inputs.time_constants(), fraction)
    }

    /// The same for the rotors of a vehicle.
    ///
    /// # Errors
    /// [`LeadError::Fraction`].
    pub fn of_rotors(rotors: &Rotors, fraction: f64) -> Result<Self, LeadError> {
        Self::new(rotors, rotors.time_constants(), fraction)
    }

    fn new(rotors: &Rotors, time_constants: &[f64], fraction: f64) -> Result<Self, LeadError> {
        if !(0.0..=1.0).contains(&fraction) {
            return Err(LeadError::Fraction(fraction));
        }
        Ok(Self {
            rotors: rotors.clone(),
            time_constants: time_constants.to_vec(),
            fraction,
        })
    }

    /// The fraction of each lag that the commands compensate.
    pub fn fraction(&self) -> f64 {
        self.fraction
    }

    /// The lag of each command, s.
    pub fn time_constants(&self) -> &[f64] {
        &self.time_constants
    }

    /// Converts inputs to commands. Inputs of motors, which follow those of rotors, are commands already.
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

    /// Advances the commands `now` by this fraction of their lags times their rates; `later` are the commands one `STEP` later.
    fn apply(&self, fraction: f64, now: &mut [f64], later: &[f64]) {
        let pairs = now.iter_mut().zip(later).zip(&self.time_constants);
        for ((now, later), lag) in pairs {
            *now += fraction * lag / STEP * (later - *now);
        }
    }
}

/// Time between the two evaluations of the law, s. The rate errs by half of this times the second derivative, and by rounding: 1e-16 of the
/// value over this.
const STEP: f64 = 1e-6;
/// The largest lead of a tilt, rad: beyond it the thrust would point away from its direction of travel.
const LARGEST_TURN: f64 = std::f64::consts::FRAC_PI_2;

/// State of the second evaluation of the law, a moment later.
pub(crate) struct Ahead<P: Plant>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    lead: Lead,
    /// Whether the whole lag is compensated, whatever the lead's fraction, until the body turns slowly.
    pub(crate) is_full: bool,
    /// When that begins, if it does.
    pub(crate) fast_turn: Option<FastTurn>,
    /// The plant a moment later, with everything derived from its state.
    pub(crate) plant: P,
    pub(crate) law: Law<f64, P::Dof, Dyn>,
    pub(crate) desired: DesiredMotion<f64, P::Dof>,
    pub(crate) snapshot: P::Snapshot,
    pub(crate) u0: DVector<f64>,
    /// The actuators' present outputs.
    actual: Vec<f64>,
    knowledge: Knowledge,
    acceleration: OVector<f64, P::Dof>,
    goal: GoalRate<P>,
    input: DVector<f64>,
    commands: [Vec<f64>; 2],
}

/// What is known about the actuators' outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Knowledge {
    /// Nothing: no command has been sent yet.
    None,
    /// Predicted by the lag models from this controller's commands.
    Own,
    /// Reported from outside; whether there is a report for this step.
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
            is_full: false,
            fast_turn: None,
            plant: plant.clone(),
            law: law.clone(),
            desired: DesiredMotion::of_dof(n),
            snapshot: plant.snapshot(),
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

    /// Whether the whole lag is compensated from now on. Nothing is known of the goal's rate if it was not.
    pub(crate) fn fill(&mut self, is_full: bool) {
        if is_full && self.fraction() == 0.0 {
            self.goal.known = [false; 2];
        }
        self.is_full = is_full;
    }

    pub(crate) fn lead(&self) -> &Lead {
        &self.lead
    }

    /// The fraction of each lag that the commands compensate now.
    pub(crate) fn fraction(&self) -> f64 {
        if self.is_full {
            1.0
        } else {
            self.lead.fraction
        }
    }

    /// The longest lag of an actuator, s.
    pub(crate) fn longest_lag(&self) -> f64 {
        self.lead.time_constants.iter().copied().fold(0.0, f64::max)
    }

    /// Replaces plant and law after a change of inputs.
    pub(crate) fn follow(&mut self, plant: &P, law: &Law<f64, P::Dof, Dyn>) {
        self.plant = plant.clone();
        self.law = law.clone();
    }

    /// Sets the actuators' present outputs; `None` if unknown.
    pub(crate) fn set_actuators(&mut self, commands: Option<&[f64]>) {
        self.knowledge = Knowledge::Told(commands.is_some());
        if let Some(commands) = commands {
            self.actual.copy_from_slice(commands);
        }
    }

    /// Predicts the actuators' outputs after `elapsed` s under the last `input`, unless they are reported.
    pub(crate) fn let_follow(&mut self, elapsed: f64, input: &DVector<f64>) {
        if self.knowledge == Knowledge::Own {
            let commands = &mut self.commands[0];
            self.lead.commands(input.as_slice(), commands);
            let lags = &self.lead.time_constants;
            settle(&mut self.actual, commands, lags, elapsed, f64::INFINITY);
        }
    }

    /// Records the input that was sent.
    pub(crate) fn sent(&mut self, input: &DVector<f64>) {
        if self.knowledge == Knowledge::None {
            self.lead.commands(input.as_slice(), &mut self.actual);
            self.knowledge = Knowledge::Own;
        }
    }

    /// Advances state and goal to the moment of the second evaluation, and updates the plant there. `u0` is the law's present demand, `law` and `plant` are
    /// the present ones, `compensated` is b - r. Returns whether the actuators' outputs are known, so that there is a rate.
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
            // A report is valid for one step.
            Knowledge::Told(known) => std::mem::take(known),
        };
        if !known {
            return false;
        }
        // Actuators without lag produce the demanded output at once.
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
        (self.plant).advance(STEP, state, a, goal, &self.goal.rate, &mut self.snapshot);
        let (state, _) = P::at(&self.snapshot);
        self.plant.update(state);
        true
    }

    /// Writes the input of the leading commands, from the law's demand now and a moment later, if both are finite.
    pub(crate) fn lead_on(&mut self, demanded: &mut DVector<f64>) {
        let fraction = self.fraction();
        let [now, later] = &mut self.commands;
        self.lead.commands(self.u0.as_slice(), later);
        let tilting = self.lead.rotors.rotor_ranges().filter(|r| r.len() == 2);
        for range in tilting {
            let (thrust, tilt) = (range.start, range.start + 1);
            let lag = self.lead.time_constants[tilt] * fraction;
            let turn = wrapped(later[tilt] - now[tilt]);
            let most = if lag > 0.0 {
                LARGEST_TURN * STEP / lag
            } else {
                0.0
            };
            later[tilt] = now[tilt] + turn.clamp(-most, most);
            // A thrust is not negative.
            let lag = self.lead.time_constants[thrust] * fraction;
            if lag > 0.0 {
                later[thrust] = later[thrust].max(now[thrust] * (1.0 - STEP / lag));
            }
        }
        self.lead.apply(fraction, now, later);
        self.lead.input(now, self.input.as_mut_slice());
        if self.input.iter().all(|u| u.is_finite()) {
            demanded.copy_from(&self.input);
        }
    }
}

/// Estimates the rate of a goal's acceleration.
struct GoalRate<P: Plant>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// Whether the last acceleration and the last change are known.
    known: [bool; 2],
    last: OVector<f64, P::Dof>,
    /// Per time.
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
            // These changes are centred half a step and one and a half steps ago.
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
