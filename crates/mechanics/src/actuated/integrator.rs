//! Integration of steps in which contacts start or end.

use crate::System;
use crate::integrate::{RungeKutta, Scheme, SystemState};
use crate::multibody::Model;

use super::ActuatedDynamics;

/// The classical Runge-Kutta scheme for [`ActuatedDynamics`] with contacts that start or end anywhere within a step.
///
/// Where a contact, a stop or a rope starts or ceases to act, its force has a kink. A step across it is only of second order, and adds or removes energy
/// depending on the instant of the kink within the step: up to 7 % of that of an impact with steps of `0.9 / w`. Such a step is repeated in
/// [`PARTS`](Self::PARTS) equal parts. An undamped impact then gains at most 1e-4 of its energy for all steps up to `1 / w`; with longer ones the scheme itself
/// loses more than that. Steps without such events are bitwise those of [`RungeKutta`].
///
/// ```
/// use fly_mechanics::integrate::SystemState;
/// use fly_mechanics::{ActuatedDynamics, ContactIntegrator, System};
///
/// // A slider of 2 kg comes to its stop with 1 m/s; w = 10 rad/s.
/// let system = System::from_toml(
///     r#"
///     name = "slider"
///     gravity = [0, 0, 0]
///     [bodies.slider]
///     mass = 2
///     inertia = [1, 1, 1]
///     joint = { type = "prismatic", axis = [1, 0, 0], limits = { position = [-9, 0.03], stop = { stiffness = 200 } } }
///     "#,
/// )?;
/// let step = 0.08;
/// let mut dynamics = ActuatedDynamics::new(&system, step)?;
/// let mut state = SystemState::at_rest(&system.model);
/// state.velocity[0] = 1.0;
/// let mut integrator = ContactIntegrator::new(&system.model);
/// for _ in 0..20 {
///     integrator.step(&system, &mut dynamics, &mut state, step, |dynamics, state, rates| {
///         dynamics.rates(&system, &[], state, rates);
///     });
/// }
/// let left = state.velocity[0] * state.velocity[0];
/// assert!(state.velocity[0] < 0.0 && left < 1.0 + 1e-4 && left > 0.98);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ContactIntegrator {
    scheme: RungeKutta<f64>,
    /// The state at the start of the step.
    before: SystemState<f64>,
}

impl ContactIntegrator {
    /// The number of parts into which a step with contact events is divided.
    pub const PARTS: u32 = 8;

    /// For this model.
    pub fn new(model: &Model<f64>) -> Self {
        Self {
            scheme: RungeKutta::new(model, Scheme::RungeKutta4),
            before: SystemState::at_rest(model),
        }
    }

    /// Allocates what steps of states as long as this one need; without it the first steps allocate.
    pub fn reserve(&mut self, state: &SystemState<f64>) {
        self.scheme.reserve(state.velocity.len());
        self.before.copy_from(state);
    }

    /// Advances by `step` (s). `rates(dynamics, state, rates)` evaluates the [rates](ActuatedDynamics::rates) of the dynamics. Does not allocate after
    /// [`reserve`](Self::reserve).
    ///
    /// # Panics
    /// As [`RungeKutta::step`]; if `state` is not the one that these dynamics have advanced last: whoever goes back to an earlier one clones the dynamics with
    /// it.
    pub fn step(
        &mut self,
        system: &System,
        dynamics: &mut ActuatedDynamics,
        state: &mut SystemState<f64>,
        step: f64,
        mut rates: impl FnMut(&mut ActuatedDynamics, &SystemState<f64>, &mut [f64]),
    ) {
        let model = &system.model;
        if !dynamics.may_touch() {
            (self.scheme).step(model, state, step, |state, to| rates(dynamics, state, to));
            return;
        }
        if dynamics.search_is_due() {
            dynamics.search_contacts(system, state);
        }
        if self.advance(system, dynamics, state, step, &mut rates) {
            state.copy_from(&self.before);
            let part = step / f64::from(Self::PARTS);
            for _ in 0..Self::PARTS {
                self.advance(system, dynamics, state, part, &mut rates);
            }
        }
        // Now, as the next to evaluate this state may be another.
        if dynamics.search_is_due() {
            dynamics.search_contacts(system, state);
        }
    }

    /// One step of the scheme, repeated as long as bodies outrun the search for those that are near each other: no contact is missed that looking at all pairs would find.
    /// Returns whether contacts start or cease to act within it; `before` is the state at its start.
    fn advance(
        &mut self,
        system: &System,
        dynamics: &mut ActuatedDynamics,
        state: &mut SystemState<f64>,
        step: f64,
        rates: &mut impl FnMut(&mut ActuatedDynamics, &SystemState<f64>, &mut [f64]),
    ) -> bool {
        loop {
            self.before.copy_from(state);
            let (mut first, mut changes) = (None, false);
            (self.scheme).step(&system.model, state, step, |state, to| {
                rates(dynamics, state, to);
                let touching = dynamics.touching();
                changes |= *first.get_or_insert(touching) != touching;
            });
            if !dynamics.search_is_outrun() {
                return changes;
            }
            state.copy_from(&self.before);
            dynamics.search_contacts(system, state);
        }
    }
}
