//! The controller of a vehicle.
#![allow(non_snake_case)]

use std::sync::Arc;

use fly_lie::operators::angular;
use fly_mechanics::State;
use nalgebra::{Const, Vector3};

use super::{Controller, Step};
use crate::ReferencePoint;
use crate::kinematics::OneBody;
use crate::law::LawError;
use crate::lead::{Ahead, FastTurn, Lead};
use crate::matching::{Matching, MatchingForce};
use crate::plant::{FreeBodyPlant, Plant};
use crate::spin::{SpinDesign, SpinLaw};
use crate::template::{DesiredMotion, Template};

/// The configured lead is enough for a body that turns by less than this angle within the longest lag, rad: the phase that the lag costs.
const SLOW_TURN: f64 = 0.1;

/// # A vehicle
impl Controller<FreeBodyPlant> {
    /// The input for this state and reference alone: [`step_after`](Self::step_after) with an infinite time step. What depends on time stands still: rates
    /// do not limit the input, and an observer, integrals and a lead do not learn. A controller that has them flies by `step_after`.
    pub fn step(&mut self, state: &State<f64>, reference: &ReferencePoint) -> &Step {
        self.step_after(f64::INFINITY, state, reference)
    }

    /// The input for this state and reference, `elapsed` seconds after the previous one.
    ///
    /// Each input changes by at most its rate times the elapsed time; the first one is not limited. An observer of disturbances, integrals and a lead
    /// advance by it.
    ///
    /// Does not allocate with `active_set`; for `Osqp` see there. The same sequence of calls from the first on returns the same bits. If state or
    /// reference are not finite, neither is u0, and the input stays the previous one if there are limits; the caller checks that the input may be
    /// sent.
    pub fn step_after(
        &mut self,
        elapsed: f64,
        state: &State<f64>,
        reference: &ReferencePoint,
    ) -> &Step {
        if self.spin.is_some() {
            self.spin_on(elapsed, state, reference);
            return &self.step;
        }
        // With constant matrices the law always exists, and no metric can be rejected.
        let done = self.advance(elapsed, state, reference);
        debug_assert_eq!(done, Ok(()));
        self.choose_lead(state, reference);
        &self.step
    }

    /// From the next step on controls the vehicle by this spinning-hover design instead of the law (5.86b); `None` returns to the law. Meanwhile commands
    /// neither lead nor prefer an input, there are no desired energies, and only the force of the disturbance counts. Limits, rates and
    /// [bounds](Self::set_input_bounds) hold as before.
    ///
    /// The law that stops a spin leads the whole lag of the actuators until the body turns slowly, whatever lead is configured: in a body that turns by a
    /// radian within a lag, thrusts that lag act about wrong axes. Baselines with internal state cannot. Allocates.
    ///
    /// # Panics
    /// If the design is for another number of inputs.
    pub fn set_spin(&mut self, design: Option<Arc<SpinDesign>>) {
        if let (None, Some(spin)) = (&design, &self.spin) {
            let lead = spin.design().lead().clone();
            if let Some(ahead) = self.lead_anew(lead) {
                ahead.fill(true);
            }
        }
        let gravity = *self.plant.body().gravity();
        let input = self.step.input.as_slice();
        self.spin = design.map(|design| Box::new(SpinLaw::new(design, gravity, input)));
    }

    /// From the next step on leads the whole lag of these actuators once the body turns fast, and until it turns by less than 0.1 rad within the
    /// longest of them, whatever lead is configured: torques that lag act about the axes where the body was, and spin it up. Baselines with internal
    /// state cannot. Allocates.
    ///
    /// # Panics
    /// If the number of actuators is not p.
    pub fn set_lead_when_turning(&mut self, lead: Lead, fast: FastTurn) {
        if self.ahead.is_none() {
            self.lead_anew(lead);
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.fast_turn = Some(fast);
        }
    }

    /// Leads anew, as configured or else with this lead; `None` for baselines with internal state.
    fn lead_anew(&mut self, lead: Lead) -> Option<&mut Ahead<FreeBodyPlant>> {
        if !FreeBodyPlant::is_stateless(&self.strategy) {
            return None;
        }
        let configured = self.ahead.as_ref().map(|ahead| ahead.lead().clone());
        let lead = configured.unwrap_or(lead);
        let ahead = Ahead::new(lead, &self.plant, &self.law);
        Some(self.ahead.insert(Box::new(ahead)))
    }

    /// Begins or ends to lead the whole lag, as the body turns.
    fn choose_lead(&mut self, state: &State<f64>, goal: &ReferencePoint) {
        let Some(ahead) = &mut self.ahead else {
            return;
        };
        let is_fast = |fast: &FastTurn| {
            let (rate, most) = match fast {
                FastTurn::OfBody(most) => (angular(&state.twist), *most),
                FastTurn::Unplanned(most) => {
                    let planned = goal.pose.rotation.act(&angular(&goal.twist));
                    let planned = state.pose.rotation.inverse().act(&planned);
                    (angular(&state.twist) - planned, *most)
                }
            };
            rate.norm() * ahead.longest_lag() > most
        };
        let is_fast = ahead.fast_turn.as_ref().is_some_and(is_fast);
        let turn = angular(&state.twist).norm() * ahead.longest_lag();
        ahead.fill(turn > SLOW_TURN && (ahead.is_full || is_fast));
    }

    /// The spinning-hover law; `None` while it is not in use.
    pub fn spin(&self) -> Option<&SpinLaw> {
        self.spin.as_deref()
    }

    /// A step of the spinning-hover law.
    fn spin_on(&mut self, elapsed: f64, state: &State<f64>, goal: &ReferencePoint) {
        if self.delay == 0.0 {
            self.observe(elapsed, state);
        }
        let Some(spin) = &mut self.spin else { return };
        let mass = self.plant.body().inertia().mass();
        // Forces along the thrust rotate with the body: only their mean counts, which is vertical.
        let push = self.observer.as_ref().map_or_else(Vector3::zeros, |found| {
            let down = self.plant.body().gravity().normalize();
            let r = state
                .pose
                .rotation
                .act(&found.force().fixed_rows::<3>(0).into_owned());
            let world = found.force_in_world();
            (world + down * down.dot(&(r - world))) / mass
        });
        let step = &mut self.step;
        let u0 = &mut step.unconstrained;
        spin.command(elapsed, state, goal, &push, &step.input, u0);
        step.demanded.copy_from(u0);
        step.energies = None;
        step.reference_power = None;
        // A constant metric is set already.
        let sent = self.send(elapsed);
        debug_assert_eq!(sent, Ok(()));
        self.has_stepped = true;
    }

    /// Passes the measured state to the disturbance observer, `elapsed` s after the previous one, when the steps receive predicted states because of a
    /// [delay](Self::with_delay).
    pub fn observe_measured(&mut self, elapsed: f64, state: &State<f64>) {
        self.observe(elapsed, state);
    }

    /// The desired closed loop.
    pub fn template(&self) -> &Template<OneBody> {
        &self.strategy
    }

    /// The desired motion at this state and reference, which [leans](FreeBodyPlant::leaning) against a known disturbance as in a step.
    pub fn desired(
        &self,
        state: &State<f64>,
        reference: &ReferencePoint,
    ) -> DesiredMotion<f64, Const<6>> {
        let mut desired = DesiredMotion::of_dof(Const);
        let leaned = self.plant.leaning(reference);
        self.strategy
            .clone()
            .evaluate(state, leaned.as_ref().unwrap_or(reference), &mut desired);
        desired
    }

    /// The matching force: what the inputs that are not [fixed](Self::set_input_bounds) cannot produce of the desired closed loop, limits aside,
    /// Konz (5.78). Allocates.
    ///
    /// # Errors
    /// [`LawError`] if the desired mass matrix is singular.
    pub fn matching_force(
        &self,
        state: &State<f64>,
        reference: &ReferencePoint,
    ) -> Result<MatchingForce<f64, Const<6>>, LawError> {
        let mut plant = self.plant.clone();
        let matching = Matching::new(
            plant.mass_matrix(),
            self.strategy.mass_matrix(),
            plant.input_matrix(),
        )?;
        let mut b = *plant.bias(state);
        if let Some(observer) = &self.observer {
            observer.compensate(plant.last_bias(), &plant.attitude(state), &mut b);
        }
        Ok(matching.force(&b, &self.desired(state, reference).bias))
    }
}
