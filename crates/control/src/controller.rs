//! The tracking controller: one control step.
#![allow(non_snake_case)]

use std::ops::Range;
use std::sync::Arc;

use fly_mechanics::State;
use fly_mechanics::multibody::Model;
use nalgebra::{Const, DMatrix, DVector, DefaultAllocator, Dyn, OVector, Vector3};

use crate::allocation::{ActiveSet, Allocation, AllocationError, Allocator, Limited, Limits};
use crate::disturbance::{BandwidthError, DisturbanceObserver, Failure, FailureDetector};
use crate::kinematics::OneBody;
use crate::law::{Law, LawError};
use crate::lead::{Ahead, Lead, LeadError};
use crate::matching::{Matching, MatchingForce};
use crate::plant::{FreeBodyPlant, Plant, StrategyOutput, SystemPlant};
use crate::rest;
use crate::sizes::Sizes;
use crate::spin::{SpinDesign, SpinLaw};
use crate::step_error::StepError;
use crate::strategy::Strategy;
use crate::system::SystemReference;
use crate::template::{DesiredMotion, Template};
use crate::{Energies, ReferencePoint};

/// The tracking controller of a vehicle or a system: desired motion, law and allocation, Konz (5.84)-(5.86).
///
/// For a vehicle (the default, [`FreeBodyPlant`]) all matrices are constant and factorised once: a step evaluates the template, two small products,
/// and the allocation if limits are violated. For a [system](SystemPlant) they are updated in every step.
///
/// `ControllerSettings::build` builds one from a configuration. In code:
///
/// ```
/// use fly_control::allocation::{ActiveSet, Limits};
/// use fly_control::plant::SystemPlant;
/// use fly_control::system::{SystemPair, SystemReference};
/// use fly_control::template::{Approach, Pair, Template};
/// use fly_control::transport::JointMap;
/// use fly_control::Controller;
/// use fly_mechanics::System;
/// use fly_mechanics::multibody::BodyId;
/// use nalgebra::{DVector, Matrix4, Vector4};
///
/// // A pendulum that a weak motor should hold out to the side.
/// let system = System::from_toml(
///     r#"
///     name = "pendulum"
///     [bodies.arm]
///     joint = { type = "revolute", axis = [0, 1, 0] }
///     shape = { sphere = { radius = 0.05 } }
///     mass = 1
///     center_of_mass = [0, 0, -1]
///     [[motors]]
///     joint = "arm"
///     effort = [-5, 5]
///     "#,
/// )?;
/// // Stiffness 9 N m, damping 6 N m s and inertia 1 kg m^2 about the joint.
/// let about_y = |moment: f64| Matrix4::from_diagonal(&Vector4::new(moment / 2.0, 0.0, moment / 2.0, 0.0));
/// let arm = system.model.body_id("arm")?;
/// let pair = SystemPair { a: BodyId::WORLD, b: arm, energies: Pair::new(about_y(9.0), about_y(6.0), about_y(1.0)) };
/// let template = Template::of_system(&system.model, Approach::Energy, vec![pair], Box::new(JointMap));
/// let (polytope, interior) = (system.inputs.limits(), DVector::from_column_slice(system.inputs.interior()));
/// let limits = Limits::new(polytope.matrix.clone(), polytope.bound.clone(), interior)?;
/// let mut controller = Controller::new(SystemPlant::new(&system)?, template)?
///     .limited(&limits, None, |limits, metric| Ok(Box::new(ActiveSet::new(limits, metric)?)))?;
///
/// let goal = SystemReference { configuration: &[1.0], velocity: &[0.0], acceleration: &[0.0] };
/// let step = controller.step_after(0.0, &[0.2], &[0.0], &goal)?;
/// // The law asks for about 8 N m: for the weight's 2 and to speed up; the motor gives what it has.
/// assert_eq!((step.input[0], step.active()), (5.0, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Controller<P: Plant = FreeBodyPlant>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    plant: P,
    strategy: P::Strategy,
    law: Law<f64, P::Dof, Dyn>,
    desired: DesiredMotion<f64, P::Dof>,
    tilt_priority: Option<TiltPriority>,
    /// The metric of the limits, if it differs from the law's.
    metric: DMatrix<f64>,
    /// Its inverse factor, if there are redundant inputs, and scratch to compute it.
    factor: [DMatrix<f64>; 2],
    limited: Option<Limited<Box<dyn Allocator>>>,
    observer: Option<DisturbanceObserver<P::Dof>>,
    /// b - r.
    compensated: OVector<f64, P::Dof>,
    /// That of u0.
    acceleration: OVector<f64, P::Dof>,
    ahead: Option<Box<Ahead<P>>>,
    /// The delay made up for, s.
    delay: f64,
    failures: Option<FailureDetector<P::Dof>>,
    /// The failure detected since the last query.
    failed: Option<Failure>,
    /// Whether the applied inputs are reported.
    is_told: bool,
    /// Whether the next step's state is predicted rather than measured, and the time since the last measurement, s.
    is_predicted: bool,
    unobserved: f64,
    /// The input that balances a disturbance under state feedback.
    balance: DVector<f64>,
    /// The limits without and with changed bounds of inputs, see [`set_input_bounds`](Self::set_input_bounds).
    limits: Option<(Limits, Option<Vec<f64>>)>,
    bounded: Option<Limited<Box<dyn Allocator>>>,
    /// u_ref while no input is fixed.
    preferred: DVector<f64>,
    /// The values of fixed inputs.
    fixed: Vec<Option<f64>>,
    /// Whether redundant inputs prefer their previous values.
    prefers_previous: bool,
    /// The law of a vehicle that hovers while spinning, see [`set_spin`](Controller::set_spin).
    spin: Option<Box<SpinLaw>>,
    step: Step,
}

/// The priority of the free body's tilt when inputs are limited, see [`Law::metric_with_priority`].
#[derive(Clone, Copy)]
struct TiltPriority {
    rho: f64,
    /// The indices of its angular velocities about x and y.
    tilts: [usize; 2],
}

/// The result of one control step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// u, p entries, inside the limits: the input to send.
    pub input: DVector<f64>,
    /// u0, p entries: the unconstrained input of the law (5.86b).
    pub unconstrained: DVector<f64>,
    /// p entries: the command, before limits, that makes the actuators produce u0; u0 itself without a [`lead`](crate::lead).
    pub demanded: DVector<f64>,
    /// The desired energies; zero for state feedback, which has none.
    pub energies: Energies,
    /// The power that the motion of the reference extracts from the total energy while the actuators produce u0, W:
    /// [`DesiredMotion::reference_power_at`]; `None` if the strategy does not compute it.
    pub reference_power: Option<f64>,
    /// The report of the allocation.
    pub allocation: Allocation,
}

impl Step {
    /// Allocates for p inputs.
    fn new(p: usize) -> Self {
        Self {
            input: DVector::zeros(p),
            unconstrained: DVector::zeros(p),
            demanded: DVector::zeros(p),
            energies: Energies::default(),
            reference_power: None,
            allocation: Allocation::FREE,
        }
    }

    /// The intended actuator outputs until the next step, p entries: the input without its lead, u0 inside the limits.
    pub fn intended(&self) -> impl Iterator<Item = f64> + '_ {
        let led = self.unconstrained.iter().zip(&self.demanded);
        let each = self.input.iter().zip(led);
        each.map(|(input, (u0, demanded))| input + (u0 - demanded))
    }

    /// The number of active limits.
    pub fn active(&self) -> usize {
        self.allocation.active
    }

    /// Returns whether the input was limited.
    pub fn saturated(&self) -> bool {
        self.allocation.active > 0
    }
}

/// # Construction
impl<P: Plant> Controller<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// A controller without limits.
    ///
    /// # Errors
    /// [`LawError`] if the matrices are constant and the law does not exist.
    pub fn new(plant: P, strategy: impl Into<P::Strategy>) -> Result<Self, LawError> {
        let strategy = strategy.into();
        let p = plant.input_dim();
        Ok(Self {
            law: plant.law(&strategy)?,
            desired: DesiredMotion::of_dof(plant.dof()),
            tilt_priority: None,
            metric: DMatrix::zeros(p, p),
            factor: [DMatrix::zeros(p, p), DMatrix::zeros(p, p)],
            limited: None,
            observer: None,
            compensated: OVector::zeros_generic(plant.dof(), nalgebra::U1),
            acceleration: OVector::zeros_generic(plant.dof(), nalgebra::U1),
            ahead: None,
            delay: 0.0,
            failures: None,
            failed: None,
            is_told: false,
            is_predicted: false,
            unobserved: 0.0,
            balance: DVector::zeros(p),
            limits: None,
            bounded: None,
            preferred: DVector::zeros(p),
            fixed: vec![None; p],
            prefers_previous: false,
            spin: None,
            step: Step::new(p),
            strategy,
            plant,
        })
    }

    /// Adds a disturbance observer with this bandwidth, rad/s, and compensates its estimate r: `b - r` replaces b in (5.86b), and an underactuated
    /// vehicle leans against forces. State feedback adds the input that balances r.
    ///
    /// # Errors
    /// [`BandwidthError`] unless the bandwidth is positive and finite.
    pub fn with_disturbance_observer(mut self, bandwidth: f64) -> Result<Self, BandwidthError> {
        let (n, p) = (self.plant.dof(), self.plant.input_dim());
        let free = self.plant.tilt_indices().map(|[x, _]| x - 3);
        self.observer = Some(DisturbanceObserver::new(n, p, free, bandwidth)?);
        Ok(self)
    }

    /// For a vehicle whose attitude is controlled by an inner loop, such as an autopilot that receives attitudes or angular velocities: the torques of its
    /// rotors are then unknown, so that the disturbance observer estimates forces only, and failures of actuators are not detected. Call it last.
    #[must_use]
    pub fn with_inner_loop(mut self) -> Self {
        self.observer = self.observer.map(DisturbanceObserver::of_force);
        self.failures = None;
        self
    }

    /// Adds a lead that compensates the lag of the actuators, see [`lead`](crate::lead). Without lags, or with the fraction 0, it changes
    /// nothing.
    ///
    /// # Errors
    /// [`LeadError::Stateful`] for the multirotor baselines.
    ///
    /// # Panics
    /// If the number of actuators is not p.
    pub fn with_lead(mut self, lead: Lead) -> Result<Self, LeadError> {
        if !P::is_stateless(&self.strategy) {
            return Err(LeadError::Stateful);
        }
        let acts = lead.fraction() > 0.0 && lead.time_constants().iter().any(|lag| *lag > 0.0);
        self.ahead = acts.then(|| Box::new(Ahead::new(lead, &self.plant, &self.law)));
        Ok(self)
    }

    /// For commands that act `delay` seconds after the measurement from which they are computed. State and reference of a step are then those of that later
    /// time, with the state from [`StatePredictor::look_ahead`](crate::predictor::StatePredictor::look_ahead); the disturbance observer, if any, receives the
    /// measured state separately ([`observe_measured`](Controller::observe_measured)).
    #[must_use]
    pub fn with_delay(mut self, delay: f64) -> Self {
        self.delay = if delay.is_finite() {
            delay.max(0.0)
        } else {
            0.0
        };
        self
    }

    /// Adds a detector of failed actuators, each with these inputs. It uses the disturbance observer's measurements; it has no effect without an observer, or
    /// unless exactly one body is free. It only reports what it [finds](Self::take_failure); to act on it, see [`set_input_bounds`](Self::set_input_bounds).
    #[must_use]
    pub fn with_failure_detector(mut self, actuators: Vec<Range<usize>>) -> Self {
        let n = self.plant.dof();
        let applies = self.plant.tilt_indices().is_some();
        self.failures = applies.then(|| FailureDetector::new(n, actuators));
        self
    }

    /// Sets a priority rho (kg m^2) of the free body's tilt when inputs are limited, see [`Law::metric_with_priority`]. It has no effect
    /// unless exactly one body is free.
    ///
    /// # Errors
    /// [`AllocationError::Metric`] if there are limits and the metric with this priority is not positive definite.
    pub fn with_tilt_priority(mut self, rho: f64) -> Result<Self, AllocationError> {
        let tilts = self.plant.tilt_indices().filter(|_| rho != 0.0);
        self.tilt_priority = tilts.map(|tilts| TiltPriority { rho, tilts });
        self.take_metric()?;
        Ok(self)
    }

    /// Sets the input weight R (its diagonal, p entries) and the preferred input `u_ref` (p entries) of redundant inputs, see [`Law`]; with
    /// `follows` each step prefers the input of the previous step, and the first one `u_ref`. Has no effect if all inputs are independent.
    ///
    /// # Errors
    /// [`LawError::Weights`].
    ///
    /// # Panics
    /// If the number of entries is not p.
    pub fn with_preferred_input(
        mut self,
        weights: &DVector<f64>,
        preferred: &DVector<f64>,
        follows: bool,
    ) -> Result<Self, LawError> {
        self.law.set_input_weights(weights)?;
        self.law.set_preferred_input(preferred.as_slice());
        self.preferred.copy_from(preferred);
        self.prefers_previous = follows;
        if let Some(ahead) = &mut self.ahead {
            ahead.follow(&self.plant, &self.law);
        }
        // Cannot fail: R only changes the part of the metric that it makes positive definite.
        let taken = self.take_metric();
        debug_assert_eq!(taken, Ok(()));
        Ok(self)
    }

    /// Limits the inputs, and their rates (in each input's unit per second) if given. `make` builds the solver for the rows of both and a metric.
    ///
    /// # Errors
    /// [`AllocationError`] if the sizes of limits, rates and inputs do not match, and those of `make`.
    pub fn limited(
        mut self,
        limits: &Limits,
        rates: Option<Vec<f64>>,
        make: impl FnOnce(&Limits, &DMatrix<f64>) -> Result<Box<dyn Allocator>, AllocationError>,
    ) -> Result<Self, AllocationError> {
        let p = self.plant.input_dim();
        // A metric that depends on the state is set in each step; that of redundant inputs together with its factor.
        let metric = if P::CONSTANT && self.law.redundancy() == 0 {
            self.allocation_metric().clone()
        } else {
            DMatrix::identity(p, p)
        };
        self.limits = Some((limits.clone(), rates.clone()));
        self.limited = Some(Limited::<Box<dyn Allocator>>::with_rates(
            limits,
            rates,
            |limits| make(limits, &metric),
        )?);
        if self.law.redundancy() > 0 {
            self.take_metric()?;
        }
        Ok(self)
    }

    /// Passes a constant metric to the solver.
    fn take_metric(&mut self) -> Result<(), AllocationError> {
        match self.bounded.as_mut().or(self.limited.as_mut()) {
            Some(limited) if P::CONSTANT => {
                let metric = metric(&self.law, self.tilt_priority, &mut self.metric);
                let [factor, room] = &mut self.factor;
                if self.law.inverse_factor(metric, room, factor) {
                    limited.set_factored_metric(metric, factor)
                } else {
                    limited.set_metric(metric)
                }
            }
            _ => Ok(()),
        }
    }
}

/// # Changing inputs
impl<P: Plant> Controller<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// Sets new bounds of the inputs (p entries each, in their units), which replace the limits that concern bounded inputs alone; infinite bounds restore
    /// an input's own limits. The previous input is kept, so that rate limits continue to hold.
    ///
    /// An input whose bounds are equal is fixed at that value whatever is demanded, such as zero for a failed rotor: the law adds its force to b and
    /// removes its column from B, so that the other inputs compensate as far as they can, exactly while they are inside their limits. Bounded inputs are
    /// limited by [`ActiveSet`]. Allocates, and refactorises.
    ///
    /// # Errors
    /// [`InputBoundsError`]; the previous bounds stay.
    pub fn set_input_bounds(
        &mut self,
        lower: &[f64],
        upper: &[f64],
    ) -> Result<(), InputBoundsError> {
        let p = self.plant.input_dim();
        let bounded = self.with_bounds([lower, upper])?;
        let fixed: Vec<Option<f64>> = (lower.iter().zip(upper))
            .map(|(lower, upper)| (lower == upper).then_some(*lower))
            .collect();
        self.plant.fix_inputs(&fixed);
        let mut law = match self.plant.law(&self.strategy) {
            Ok(law) => law,
            Err(error) => {
                self.plant.fix_inputs(&self.fixed);
                return Err(error.into());
            }
        };
        law.set_input_weights(self.law.input_weights())?;
        let preferred = DVector::from_fn(p, |j, _| fixed[j].unwrap_or(self.preferred[j]));
        law.set_preferred_input(preferred.as_slice());
        self.law = law;
        self.fixed = fixed;
        if let Some(failures) = &mut self.failures {
            failures.restart();
        }
        self.bounded = bounded;
        if let Some(ahead) = &mut self.ahead {
            ahead.follow(&self.plant, &self.law);
        }
        self.take_metric()?;
        Ok(())
    }

    /// The solver for these bounds; `None` without bounds.
    fn with_bounds(
        &self,
        bounds: [&[f64]; 2],
    ) -> Result<Option<Limited<Box<dyn Allocator>>>, AllocationError> {
        let p = self.plant.input_dim();
        let [lower, upper] = bounds;
        let is_free = lower.iter().all(|l| *l == f64::NEG_INFINITY)
            && upper.iter().all(|u| *u == f64::INFINITY);
        if is_free && lower.len() == p && upper.len() == p {
            return Ok(None);
        }
        let (limits, rates) = if let Some((limits, rates)) = &self.limits {
            (limits.clone(), rates.clone())
        } else {
            // Without limits these bounds are the only ones.
            let none = DVector::zeros(0);
            let rows = DMatrix::zeros(0, p);
            let limits = Limits::<f64, Dyn, Dyn>::new(rows, none, DVector::zeros(p))?;
            (limits, None)
        };
        let mut limited =
            Limited::<Box<dyn Allocator>>::with_bounds(&limits, rates, bounds, |limits| {
                Ok(Box::new(ActiveSet::<f64, Dyn, Dyn>::new(
                    limits,
                    &DMatrix::identity(p, p),
                )?))
            })?;
        if let Some(before) = self.bounded.as_ref().or(self.limited.as_ref()) {
            limited.follow(before);
        }
        Ok(Some(limited))
    }
}

/// Why bounds of inputs are rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InputBoundsError {
    /// Invalid bounds, or not one per input.
    #[error(transparent)]
    Bounds(#[from] AllocationError),
    /// The law does not exist for the remaining inputs.
    #[error("the inputs that are not fixed: {0}")]
    Law(#[from] LawError),
}

/// # Control
impl<P: Plant> Controller<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// The input for this state and goal, `elapsed` seconds after the previous one.
    fn advance(
        &mut self,
        elapsed: f64,
        state: P::State<'_>,
        goal: P::Goal<'_>,
    ) -> Result<(), StepError> {
        self.plant.update(state);
        if self.delay == 0.0 {
            self.observe(elapsed, state);
        } else if self.observer.is_some() {
            self.plant.bias(state);
        }
        let output = self.now().ask(elapsed, state, goal)?;
        self.take_reference_power(output);
        self.lead_on(elapsed, state, goal, output)?;
        let (input, u0) = (
            self.step.input.as_mut_slice(),
            self.step.demanded.as_slice(),
        );
        self.step.allocation = match self.bounded.as_mut().or(self.limited.as_mut()) {
            None => {
                input.copy_from_slice(u0);
                Allocation::FREE
            }
            Some(limited) if P::CONSTANT => limited.allocate(u0, elapsed, input),
            Some(limited) => {
                let (law, priority, room) = (&self.law, self.tilt_priority, &mut self.metric);
                let [factor, scratch] = &mut self.factor;
                let prepare = |solver: &mut Box<dyn Allocator>| {
                    let metric = metric(law, priority, room);
                    if law.inverse_factor(metric, scratch, factor) {
                        solver.set_factored_metric(metric, factor)
                    } else {
                        solver.set_metric(metric)
                    }
                };
                limited.allocate_with(prepare, u0, elapsed, input)?
            }
        };
        if let Some(ahead) = &mut self.ahead {
            ahead.sent(&self.step.input);
        }
        if self.prefers_previous && self.step.input.iter().all(|u| u.is_finite()) {
            self.prefer_last();
        }
        self.step.energies = match output {
            StrategyOutput::DesiredMotion => self.desired.energies,
            StrategyOutput::Input => Energies::default(),
        };
        Ok(())
    }

    /// Computes the power that the motion of the reference extracts in this step.
    fn take_reference_power(&mut self, output: StrategyOutput) {
        let (desired, step, xi_dot) = (&self.desired, &mut self.step, &mut self.acceleration);
        step.reference_power = match output {
            StrategyOutput::Input => None,
            StrategyOutput::DesiredMotion if desired.reference_momentum.amax() == 0.0 => {
                desired.reference_power
            }
            StrategyOutput::DesiredMotion => {
                let b = match &self.observer {
                    Some(_) => &self.compensated,
                    None => self.plant.last_bias(),
                };
                self.law.acceleration(b, &step.unconstrained, xi_dot);
                desired.reference_power_at(xi_dot)
            }
        };
    }

    /// The law's evaluation context in the plant's current state.
    fn now(&mut self) -> Asked<'_, P> {
        Asked {
            plant: &mut self.plant,
            strategy: &mut self.strategy,
            law: &mut self.law,
            desired: &mut self.desired,
            observer: self.observer.as_ref(),
            compensated: &mut self.compensated,
            balance: &mut self.balance,
            u0: &mut self.step.unconstrained,
        }
    }

    /// Writes the demand on the actuators that makes them produce u0.
    fn lead_on(
        &mut self,
        elapsed: f64,
        state: P::State<'_>,
        goal: P::Goal<'_>,
        output: StrategyOutput,
    ) -> Result<(), StepError> {
        let step = &mut self.step;
        step.demanded.copy_from(&step.unconstrained);
        let Some(ahead) = &mut self.ahead else {
            return Ok(());
        };
        ahead.let_follow(elapsed, &step.input);
        if output == StrategyOutput::Input {
            // The law did not need it.
            self.plant.bias(state);
        }
        let compensated = match &self.observer {
            Some(_) => &self.compensated,
            None => self.plant.last_bias(),
        };
        let now = (&self.plant, &self.law);
        if !ahead.look(
            elapsed,
            (state, goal),
            &step.unconstrained,
            now,
            compensated,
        ) {
            return Ok(());
        }
        let Ahead {
            plant,
            law,
            desired,
            snapshot,
            u0,
            ..
        } = &mut **ahead;
        let (state, goal) = P::at(snapshot);
        if let (Some(observer), Some([x, _])) = (&self.observer, plant.tilt_indices()) {
            plant.bias(state);
            let r = observer.force();
            plant.lean(
                observer.force_in_world(),
                &Vector3::new(r[x], r[x + 1], r[x + 2]),
            );
        } else if self.observer.is_some() {
            plant.bias(state);
        }
        let later = Asked {
            plant,
            strategy: &mut self.strategy,
            law,
            desired,
            observer: self.observer.as_ref(),
            compensated: &mut self.compensated,
            balance: &mut self.balance,
            u0,
        };
        later.ask(0.0, state, goal)?;
        ahead.lead_on(&mut step.demanded);
        Ok(())
    }

    /// Makes redundant inputs prefer their present values, without lead.
    fn prefer_last(&mut self) {
        let step = &self.step;
        if self.ahead.is_none() {
            return self.law.set_preferred_input(step.input.as_slice());
        }
        let preferred = &mut self.balance;
        preferred.copy_from(&step.input);
        *preferred -= &step.demanded;
        *preferred += &step.unconstrained;
        self.law.set_preferred_input(preferred.as_slice());
        if let Some(ahead) = &mut self.ahead {
            ahead.law.set_preferred_input(preferred.as_slice());
        }
    }

    /// Passes the plant's current state to the observer, if any.
    fn observe(&mut self, elapsed: f64, state: P::State<'_>) {
        let Some(observer) = &mut self.observer else {
            return;
        };
        let (plant, step) = (&mut self.plant, &self.step);
        if std::mem::take(&mut self.is_predicted) {
            self.unobserved += elapsed;
            plant.bias(state);
            return;
        }
        let elapsed = elapsed + std::mem::take(&mut self.unobserved);
        if !self.is_told {
            observer.set_applied(Some(step.input.as_slice()));
        }
        let unmet = step.saturated().then_some((&step.demanded, &step.input));
        plant.bias(state);
        let R = plant.attitude(state);
        let (M, B, b) = (plant.mass_matrix(), plant.input_matrix(), plant.last_bias());
        observer.observe(elapsed, M, B, b, P::velocity(&state), &R, unmet);
        if let (Some(failures), Some((d, u))) = (&mut self.failures, observer.measured()) {
            let (M, B) = (plant.mass_matrix(), plant.input_matrix());
            if let Some(failed) = failures.observe(elapsed, d, u, B, M) {
                // The observer's estimate has absorbed the failure, which the allocation compensates from now on.
                observer.assume(failures.nominal_residual());
                self.failed = Some(failed);
            }
        }
        if let Some([x, _]) = plant.tilt_indices() {
            let r = observer.force();
            let moment = Vector3::new(r[x], r[x + 1], r[x + 2]);
            plant.lean(observer.force_in_world(), &moment);
        }
    }

    /// Reports the mean input (p entries) applied since the last step, actuator lags included; `None` if it is unknown or the state was not measured: the
    /// disturbance observer then holds its estimate. Without any report the commands are assumed to apply at once.
    ///
    /// # Panics
    /// If the number of entries is not p.
    pub fn set_applied(&mut self, input: Option<&[f64]>) {
        self.is_told = true;
        if let Some(observer) = &mut self.observer {
            observer.set_applied(input);
        }
    }

    /// Declares the next step's state as predicted: the disturbance observer waits for the next measured state, and for the input applied [until
    /// then](Self::set_applied). Valid for one step.
    pub fn skip_observation(&mut self) {
        self.is_predicted = true;
    }

    /// Reports the actuators' outputs now, or when this step's command will act: thrusts, tilts and efforts, p entries in the order of the commands; `None` if
    /// unknown, in which case commands do not lead. Valid for one step. Without any report all inputs are assumed to be sent, and the outputs follow from the
    /// lag models.
    ///
    /// # Panics
    /// If the number of entries is not p.
    pub fn set_actuators(&mut self, actual: Option<&[f64]>) {
        if let Some(ahead) = &mut self.ahead {
            ahead.set_actuators(actual);
        }
        if let (Some(spin), Some(actual)) = (&mut self.spin, actual) {
            spin.set_thrusts(actual);
        }
    }

    /// The lead compensation; `None` without one.
    pub fn lead(&self) -> Option<&Lead> {
        self.ahead.as_ref().map(|ahead| ahead.lead())
    }

    /// The delay between measurement and effect of the command that state and reference are predicted over, s.
    pub fn delay(&self) -> f64 {
        self.delay
    }

    /// The failure detected since the last call, by the indices of the actuators in the [detector](Self::with_failure_detector).
    pub fn take_failure(&mut self) -> Option<Failure> {
        self.failed.take()
    }

    /// Returns whether the [detector](Self::with_failure_detector) sees a disturbance as large as a failure that no
    /// single failure explains.
    pub fn has_unexplained_disturbance(&self) -> bool {
        (self.failures.as_ref()).is_some_and(FailureDetector::has_unexplained_disturbance)
    }

    /// The disturbance observer, if any.
    pub fn disturbance(&self) -> Option<&DisturbanceObserver<P::Dof>> {
        self.observer.as_ref()
    }

    /// The result of the last step.
    pub fn last(&self) -> &Step {
        &self.step
    }

    /// The number of inputs, p.
    pub fn input_dim(&self) -> usize {
        self.plant.input_dim()
    }
}

/// The context of an evaluation of the law in the plant's current state.
struct Asked<'a, P: Plant>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    plant: &'a mut P,
    strategy: &'a mut P::Strategy,
    law: &'a mut Law<f64, P::Dof, Dyn>,
    desired: &'a mut DesiredMotion<f64, P::Dof>,
    /// With an observer, the plant has computed b already.
    observer: Option<&'a DisturbanceObserver<P::Dof>>,
    compensated: &'a mut OVector<f64, P::Dof>,
    balance: &'a mut DVector<f64>,
    u0: &'a mut DVector<f64>,
}

impl<P: Plant> Asked<'_, P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// Writes u0.
    fn ask(
        self,
        elapsed: f64,
        state: P::State<'_>,
        goal: P::Goal<'_>,
    ) -> Result<StrategyOutput, StepError> {
        let Self {
            plant,
            strategy,
            law,
            desired,
            observer,
            compensated,
            balance,
            u0,
        } = self;
        if let Some(observer) = observer {
            let R = plant.attitude(state);
            observer.compensate(plant.last_bias(), &R, compensated);
        }
        let output = plant.evaluate(elapsed, strategy, state, goal, desired, u0)?;
        match output {
            StrategyOutput::DesiredMotion => {
                if !P::CONSTANT {
                    let (M, B) = (plant.mass_matrix(), plant.input_matrix());
                    law.update(M, &desired.mass_matrix, B)?;
                }
                let b = match observer {
                    Some(_) => &*compensated,
                    None => plant.bias(state),
                };
                law.unconstrained(b, &desired.bias, u0);
            }
            // Without a template there is no desired inertia: of the feasible inputs take the one whose acceleration is nearest to the
            // desired one in the metric of the kinetic energy (Gauss's principle), which is independent of coordinates and units.
            StrategyOutput::Input => {
                let M = plant.mass_matrix();
                law.update(M, M, plant.input_matrix())?;
                if observer.is_some() {
                    // The law with Mbar = M and bbar = b balances r alone.
                    law.unconstrained(compensated, plant.last_bias(), balance);
                    *u0 += &*balance;
                }
            }
        }
        Ok(output)
    }
}

/// The metric of the allocation.
fn metric<'a, N: nalgebra::Dim>(
    law: &'a Law<f64, N, Dyn>,
    priority: Option<TiltPriority>,
    room: &'a mut DMatrix<f64>,
) -> &'a DMatrix<f64>
where
    DefaultAllocator: Sizes<N, Dyn>,
{
    match priority {
        Some(TiltPriority { rho, tilts }) => {
            law.metric_with_priority(tilts, rho, room);
            room
        }
        None => law.metric(),
    }
}

/// # The last step
impl<P: Plant> Controller<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// The control strategy; for a vehicle the template.
    pub fn strategy(&self) -> &P::Strategy {
        &self.strategy
    }

    /// The plant model.
    pub fn plant(&self) -> &P {
        &self.plant
    }

    /// The law, with H.
    pub fn law(&self) -> &Law<f64, P::Dof, Dyn> {
        &self.law
    }

    /// H, p x p: the metric of the inputs in the last step, without the tilt priority; `H_N` if there are [redundant inputs](Law).
    pub fn metric(&self) -> &DMatrix<f64> {
        self.law.metric()
    }

    /// Writes the gradient of the rate of the total error energy W with respect to the inputs, p entries, W per unit of
    /// the input:
    ///
    /// ```text
    /// dW/du = (M^-1 B)^T dTbar/dxi
    /// ```
    /// A change d of the input changes dW/dt by `dW/du . d`. Zero for state feedback, which has no energies. Does not allocate.
    ///
    /// # Panics
    /// If the number of entries is not p.
    pub fn energy_gradient(&self, gradient: &mut [f64]) {
        let effect = self.law.control_effectiveness();
        assert_eq!(gradient.len(), effect.ncols(), "number of inputs");
        for (entry, column) in gradient.iter_mut().zip(effect.column_iter()) {
            *entry = column.dot(&self.desired.momentum);
        }
    }

    /// The metric of the allocation, with the tilt priority: p x p.
    ///
    /// See [`Law::metric_with_priority`].
    pub fn allocation_metric(&mut self) -> &DMatrix<f64> {
        metric(&self.law, self.tilt_priority, &mut self.metric)
    }
}

/// # A vehicle
impl Controller<FreeBodyPlant> {
    /// The input for this state and reference, ignoring rate limits: [`step_after`](Self::step_after) with an infinite time
    /// step.
    pub fn step(&mut self, state: &State<f64>, reference: &ReferencePoint) -> &Step {
        self.step_after(f64::INFINITY, state, reference)
    }

    /// The input for this state and reference, `elapsed` seconds after the previous one.
    ///
    /// The time matters only with rate limits: each input changes by at most its rate times the elapsed time. The first input is not rate-limited.
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
        &self.step
    }

    /// From the next step on controls the vehicle by this spinning-hover design instead of the law (5.86b); `None` returns to the law. Meanwhile commands
    /// neither lead nor prefer an input, there are no desired energies, and only the force of the disturbance counts. Limits, rates and
    /// [bounds](Self::set_input_bounds) hold as before.
    ///
    /// # Panics
    /// If the design is for another number of inputs.
    pub fn set_spin(&mut self, design: Option<Arc<SpinDesign>>) {
        let gravity = *self.plant.body().gravity();
        let input = self.step.input.as_slice();
        self.spin = design.map(|design| Box::new(SpinLaw::new(design, gravity, input)));
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
        let (u0, input) = (step.demanded.as_slice(), step.input.as_mut_slice());
        step.allocation = if let Some(limited) = self.bounded.as_mut().or(self.limited.as_mut()) {
            limited.allocate(u0, elapsed, input)
        } else {
            input.copy_from_slice(u0);
            Allocation::FREE
        };
        step.energies = Energies::default();
        step.reference_power = None;
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

    /// The desired motion at this state and reference.
    pub fn desired(
        &self,
        state: &State<f64>,
        reference: &ReferencePoint,
    ) -> DesiredMotion<f64, Const<6>> {
        let mut desired = DesiredMotion::of_dof(Const);
        self.strategy
            .clone()
            .evaluate(state, reference, &mut desired);
        desired
    }

    /// The matching force: what the inputs cannot produce of the desired closed loop, limits aside, Konz (5.78).
    /// Allocates.
    ///
    /// # Errors
    /// [`LawError`] if the desired mass matrix is singular.
    pub fn matching_force(
        &self,
        state: &State<f64>,
        reference: &ReferencePoint,
    ) -> Result<MatchingForce<f64, Const<6>>, LawError> {
        let plant = &self.plant;
        let matching = Matching::new(
            plant.mass_matrix(),
            self.strategy.mass_matrix(),
            plant.input_matrix(),
        )?;
        let mut b = plant.body().bias(state);
        if let Some(observer) = &self.observer {
            b -= observer.force();
        }
        Ok(matching.force(&b, &self.desired(state, reference).bias))
    }
}

/// # A system of bodies
impl Controller<SystemPlant> {
    /// The input for this state and reference, ignoring rate limits: [`step_after`](Self::step_after) with an infinite time
    /// step.
    ///
    /// # Errors
    /// As [`step_after`](Self::step_after).
    ///
    /// # Panics
    /// As [`step_after`](Self::step_after).
    pub fn step(
        &mut self,
        x: &[f64],
        xi: &[f64],
        goal: &SystemReference<'_>,
    ) -> Result<&Step, StepError> {
        self.step_after(f64::INFINITY, x, xi, goal)
    }

    /// The input for this state and reference, `elapsed` seconds after the previous one. The time matters only with rate limits, as for a vehicle.
    ///
    /// Does not allocate with `active_set` (but for the first step of state feedback, see [`place_at_rest`](Self::place_at_rest)). The same sequence of calls
    /// from the first on returns the same bits. If state or reference are not finite, neither is u0, and the input stays the previous one if there
    /// are limits; the caller checks that the input may be sent. State feedback has no energies: they are zero.
    ///
    /// # Errors
    /// [`StepError`] where the law does not exist; input, energies and allocation then stay those of the last step.
    ///
    /// # Panics
    /// If the size of an argument is not that of the system.
    pub fn step_after(
        &mut self,
        elapsed: f64,
        x: &[f64],
        xi: &[f64],
        goal: &SystemReference<'_>,
    ) -> Result<&Step, StepError> {
        let parts = [x, xi, goal.configuration, goal.velocity, goal.acceleration];
        let finite = |part: &&[f64]| part.iter().all(|number| number.is_finite());
        if parts.iter().all(finite) {
            self.advance(elapsed, (x, xi), *goal)?;
        } else {
            self.not_finite(elapsed);
        }
        Ok(&self.step)
    }

    /// Passes the measured state to the disturbance observer, `elapsed` s after the previous one, when the steps receive predicted states because of a
    /// [delay](Self::with_delay).
    ///
    /// # Panics
    /// If the size of an argument is not that of the system.
    pub fn observe_measured(&mut self, elapsed: f64, x: &[f64], xi: &[f64]) {
        if self.observer.is_some() && x.iter().chain(xi).all(|number| number.is_finite()) {
            self.plant.update((x, xi));
            self.observe(elapsed, (x, xi));
        }
    }

    fn not_finite(&mut self, elapsed: f64) {
        let step = &mut self.step;
        step.unconstrained.fill(f64::NAN);
        step.demanded.fill(f64::NAN);
        step.energies = Energies::new(f64::NAN, f64::NAN, f64::NAN);
        step.reference_power = None;
        let desired = step.demanded.as_slice();
        let limited = self.bounded.as_mut().or(self.limited.as_mut());
        step.allocation = if let Some(limited) = limited {
            limited.allocate(desired, elapsed, step.input.as_mut_slice())
        } else {
            step.input.copy_from_slice(desired);
            Allocation::FREE
        };
    }

    /// Computes the gains of state feedback for rest in this configuration; no effect for other strategies. Otherwise the first step computes
    /// them for its own reference. Allocates.
    ///
    /// # Errors
    /// [`StepError::NotAtRest`], [`StepError::Placement`].
    ///
    /// # Panics
    /// If the length of the configuration is not nu.
    pub fn place_at_rest(&mut self, configuration: &[f64]) -> Result<(), StepError> {
        match &mut self.strategy {
            Strategy::Feedback(feedback) => {
                feedback.place(self.plant.model(), self.plant.inputs(), configuration)
            }
            _ => Ok(()),
        }
    }

    /// Moves a configuration to a nearby equilibrium, in which the inputs hold the system at rest within their limits: a tilted multicopter is
    /// levelled in place with its heading kept; a system with an input for every degree of freedom stays as it is. Returns whether one was found;
    /// if not, the configuration is unchanged. Allocates.
    ///
    /// # Panics
    /// If the length of the configuration is not nu.
    pub fn nearest_equilibrium(&self, configuration: &mut [f64]) -> bool {
        rest::nearest(self.plant.model(), self.plant.inputs(), configuration)
    }

    /// The control strategy, mutable.
    pub(crate) fn strategy_mut(&mut self) -> &mut Strategy {
        &mut self.strategy
    }

    /// The system's bodies and joints.
    pub fn model(&self) -> &Model<f64> {
        self.plant.model()
    }

    /// The desired motion of the last step; state feedback does not compute one.
    pub fn desired(&self) -> &DesiredMotion {
        &self.desired
    }

    /// The model's M in the last step, n x n.
    pub fn mass_matrix(&self) -> &DMatrix<f64> {
        self.plant.mass_matrix()
    }

    /// The model's b in the last step, n entries: Coriolis, damping and potential forces. State feedback does not compute it.
    pub fn bias(&self) -> &DVector<f64> {
        self.plant.last_bias()
    }

    /// B in the last step, n x p.
    pub fn input_matrix(&self) -> &DMatrix<f64> {
        self.plant.input_matrix()
    }
}
