//! One control step.
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
use crate::plant::{FreeBodyPlant, Plant, Pursuit, SystemPlant};
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
/// Of a vehicle (the default, [`FreeBodyPlant`]) all matrices are constant and factorised once: a step is the template's forces, two small products,
/// and the allocation where the limits are met. Of a [system](SystemPlant) they are those of the moment.
///
/// `ControllerSettings::build` makes one from a configuration. In code:
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
    /// The metric of the limits, if it is not that of the law.
    metric: DMatrix<f64>,
    /// Its inverse factor, if there are redundant inputs, and room to find it.
    factor: [DMatrix<f64>; 2],
    limited: Option<Limited<Box<dyn Allocator>>>,
    observer: Option<DisturbanceObserver<P::Dof>>,
    /// b - r.
    compensated: OVector<f64, P::Dof>,
    /// That of u0.
    acceleration: OVector<f64, P::Dof>,
    ahead: Option<Box<Ahead<P>>>,
    /// s.
    delay: f64,
    failures: Option<FailureDetector<P::Dof>>,
    /// What was found to have failed since somebody asked.
    failed: Option<Failure>,
    /// Whether somebody tells which inputs are applied.
    is_told: bool,
    /// Whether the next step's state is predicted, not measured, and how long none was measured, s.
    is_predicted: bool,
    unobserved: f64,
    /// The input that balances a disturbance under state feedback.
    balance: DVector<f64>,
    /// The limits without and with bounds of inputs that have changed, see [`set_input_bounds`](Self::set_input_bounds).
    limits: Option<(Limits, Option<Vec<f64>>)>,
    bounded: Option<Limited<Box<dyn Allocator>>>,
    /// u_ref while no input is fixed.
    preferred: DVector<f64>,
    /// What fixed inputs are fixed at.
    fixed: Vec<Option<f64>>,
    /// Whether redundant inputs prefer what they were in the step before.
    prefers_previous: bool,
    /// What flies a vehicle that hovers while spinning, see [`set_spin`](Controller::set_spin).
    spin: Option<Box<SpinLaw>>,
    step: Step,
}

/// How much the tilt of the free body counts when inputs are limited, see [`Law::metric_with_priority`].
#[derive(Clone, Copy)]
struct TiltPriority {
    rho: f64,
    /// The places of its angular velocities about x and y.
    tilts: [usize; 2],
}

/// The result of one control step.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// u, p numbers, inside the limits: what to send.
    pub input: DVector<f64>,
    /// u0, p numbers: what the law (5.86b) asks for without limits.
    pub unconstrained: DVector<f64>,
    /// p numbers: what the actuators should be told without limits so that they do u0; u0 itself without a [`lead`](crate::lead).
    pub demanded: DVector<f64>,
    /// The desired energies; zero for state feedback, which has none.
    pub energies: Energies,
    /// The power that the motion of the reference takes out of the total energy while the actuators do u0, W:
    /// [`DesiredMotion::reference_power_at`]; `None` if the strategy does not know.
    pub reference_power: Option<f64>,
    /// What the allocation did.
    pub allocation: Allocation,
}

impl Step {
    /// Room for p inputs.
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

    /// What the actuators are to do until the next step, p numbers: the input less what leads them, u0 inside the limits.
    pub fn intended(&self) -> impl Iterator<Item = f64> + '_ {
        let led = self.unconstrained.iter().zip(&self.demanded);
        let each = self.input.iter().zip(led);
        each.map(|(input, (u0, demanded))| input + (u0 - demanded))
    }

    /// How many limits are active.
    pub fn active(&self) -> usize {
        self.allocation.active
    }

    /// Whether the input had to be limited.
    pub fn saturated(&self) -> bool {
        self.allocation.active > 0
    }
}

/// # Construction
impl<P: Plant> Controller<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// Without limits.
    ///
    /// # Errors
    /// [`LawError`], if the matrices are constant and there is no law.
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

    /// The same with an observer of disturbances of this bandwidth, rad/s, whose estimate is compensated: `b - r` takes the place of b in (5.86b), and an
    /// underactuated vehicle leans against forces. State feedback adds the input that balances r.
    ///
    /// # Errors
    /// [`BandwidthError`] unless it is positive and finite.
    pub fn with_disturbance_observer(mut self, bandwidth: f64) -> Result<Self, BandwidthError> {
        let (n, p) = (self.plant.dof(), self.plant.input_dim());
        let free = self.plant.tilts().map(|[x, _]| x - 3);
        self.observer = Some(DisturbanceObserver::new(n, p, free, bandwidth)?);
        Ok(self)
    }

    /// The same for a vehicle whose attitude somebody else controls, as an autopilot that is told attitudes or angular velocities: which torques its rotors give is
    /// not known then, so that the observer of disturbances finds forces alone, and no failure of an actuator is looked for. To be called last.
    #[must_use]
    pub fn above_an_inner_loop(mut self) -> Self {
        self.observer = self.observer.map(DisturbanceObserver::of_force);
        self.failures = None;
        self
    }

    /// The same with commands that lead actuators which lag, see [`lead`](crate::lead). Without a lag, or with the part 0, it changes nothing.
    ///
    /// # Errors
    /// [`LeadError::Remembers`] for the baselines of multirotors.
    ///
    /// # Panics
    /// If there are other than p actuators.
    pub fn with_lead(mut self, lead: Lead) -> Result<Self, LeadError> {
        if !P::is_repeatable(&self.strategy) {
            return Err(LeadError::Remembers);
        }
        let acts = lead.part() > 0.0 && lead.time_constants().iter().any(|lag| *lag > 0.0);
        self.ahead = acts.then(|| Box::new(Ahead::new(lead, &self.plant, &self.law)));
        Ok(self)
    }

    /// The same for commands that act so many seconds after the state was measured, in which they are computed. State and reference of a step are then those of
    /// that later time, as [`StatePredictor::look_ahead`](crate::predictor::StatePredictor::look_ahead) predicts the state; the observer of disturbances, if there is one, gets the measured
    /// state by itself ([`observe_measured`](Controller::observe_measured)).
    #[must_use]
    pub fn with_delay(mut self, delay: f64) -> Self {
        self.delay = if delay.is_finite() {
            delay.max(0.0)
        } else {
            0.0
        };
        self
    }

    /// The same with a detector of failed actuators, each with these inputs, which learns from what the observer of disturbances measures: without one, or where
    /// no or several bodies move freely, it has no effect. What it [finds](Self::take_failed) is told only; see
    /// [`set_input_bounds`](Self::set_input_bounds).
    #[must_use]
    pub fn with_failure_detector(mut self, actuators: Vec<Range<usize>>) -> Self {
        let n = self.plant.dof();
        let applies = self.plant.tilts().is_some();
        self.failures = applies.then(|| FailureDetector::new(n, actuators));
        self
    }

    /// The same with a priority rho (kg m^2) of the free body's tilt when inputs are limited, see [`Law::metric_with_priority`]. It has no
    /// effect where none or several bodies move freely.
    ///
    /// # Errors
    /// [`AllocationError::Metric`] if there are limits and the metric with this priority is not positive definite.
    pub fn with_tilt_priority(mut self, rho: f64) -> Result<Self, AllocationError> {
        let tilts = self.plant.tilts().filter(|_| rho != 0.0);
        self.tilt_priority = tilts.map(|tilts| TiltPriority { rho, tilts });
        self.take_metric()?;
        Ok(self)
    }

    /// The same with an input weight R (p numbers, its diagonal) and a preferred input `u_ref` (p numbers) of redundant inputs, see [`Law`]; with
    /// `follows` each step prefers the input of the step before, and the first one `u_ref`. Has no effect while all inputs are independent.
    ///
    /// # Errors
    /// [`LawError::Weights`].
    ///
    /// # Panics
    /// If there are other than p numbers.
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
        // Cannot fail: R changes the part of the metric that it makes positive definite.
        let taken = self.take_metric();
        debug_assert_eq!(taken, Ok(()));
        Ok(self)
    }

    /// The same with inputs inside these limits, and with rates (of each input, in its unit per second) if there are any. `make` gives the solver
    /// for the rows of both and a metric.
    ///
    /// # Errors
    /// [`AllocationError`] if limits, rates and inputs do not fit together, and those of `make`.
    pub fn limited(
        mut self,
        limits: &Limits,
        rates: Option<Vec<f64>>,
        make: impl FnOnce(&Limits, &DMatrix<f64>) -> Result<Box<dyn Allocator>, AllocationError>,
    ) -> Result<Self, AllocationError> {
        let p = self.plant.input_dim();
        // Where the metric changes with the state, each step sets it; that of redundant inputs follows with its factor.
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

    /// Hands a constant metric to the solver.
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

/// # Inputs that change
impl<P: Plant> Controller<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// Takes new bounds of the inputs (p numbers each, in their units), in the place of the limits that concern bounded inputs alone; infinite bounds bring
    /// an input's own limits back. What was known of the input before stays, so that rates hold on.
    ///
    /// An input whose bounds are equal does what they say whatever is asked of it, as a rotor that has failed gives nothing: the law counts its force to b
    /// and leaves it out of B, so that the others make up for it as far as they can, exactly while they are inside their limits. Bounded inputs are
    /// limited by [`ActiveSet`]. Allocates, and factorises afresh.
    ///
    /// # Errors
    /// [`InputBoundsError`]; the bounds before stay.
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

    /// The solver for these bounds; none without any.
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

/// Why bounds of inputs cannot be taken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InputBoundsError {
    /// The bounds are no bounds, or not one for each input.
    #[error(transparent)]
    Bounds(#[from] AllocationError),
    /// The inputs that are left have no law.
    #[error("the inputs that are not fixed: {0}")]
    Law(#[from] LawError),
}

/// # Flight
impl<P: Plant> Controller<P>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    /// The input for this state and goal, `elapsed` seconds after the one before.
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
        let pursuit = self.now().ask(elapsed, state, goal)?;
        self.take_reference_power(pursuit);
        self.lead_on(elapsed, state, goal, pursuit)?;
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
        self.step.energies = match pursuit {
            Pursuit::Motion => self.desired.energies,
            Pursuit::Input => Energies::default(),
        };
        Ok(())
    }

    /// Notes what the motion of the reference takes in this step.
    fn take_reference_power(&mut self, pursuit: Pursuit) {
        let (desired, step, xi_dot) = (&self.desired, &mut self.step, &mut self.acceleration);
        step.reference_power = match pursuit {
            Pursuit::Input => None,
            Pursuit::Motion if desired.reference_momentum.amax() == 0.0 => desired.reference_power,
            Pursuit::Motion => {
                let b = match &self.observer {
                    Some(_) => &self.compensated,
                    None => self.plant.last_bias(),
                };
                self.law.acceleration(b, &step.unconstrained, xi_dot);
                desired.reference_power_at(xi_dot)
            }
        };
    }

    /// The law in the state that the plant has taken in.
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

    /// Writes what is demanded of the actuators so that they do u0.
    fn lead_on(
        &mut self,
        elapsed: f64,
        state: P::State<'_>,
        goal: P::Goal<'_>,
        pursuit: Pursuit,
    ) -> Result<(), StepError> {
        let step = &mut self.step;
        step.demanded.copy_from(&step.unconstrained);
        let Some(ahead) = &mut self.ahead else {
            return Ok(());
        };
        ahead.let_follow(elapsed, &step.input);
        if pursuit == Pursuit::Input {
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
            moment,
            u0,
            ..
        } = &mut **ahead;
        let (state, goal) = P::at(moment);
        if let (Some(observer), Some([x, _])) = (&self.observer, plant.tilts()) {
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

    /// Lets redundant inputs prefer what they were in this step, but for what led.
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

    /// Shows the state that the plant has taken in to the observer, if there is one.
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
                // What was learned meanwhile is the failure, which is made up for otherwise.
                observer.assume(failures.usual());
                self.failed = Some(failed);
            }
        }
        if let Some([x, _]) = plant.tilts() {
            let r = observer.force();
            let moment = Vector3::new(r[x], r[x + 1], r[x + 2]);
            plant.lean(observer.force_in_world(), &moment);
        }
    }

    /// Tells which input (p numbers) was applied in the mean since the last step, lags of the actuators included; with `None` that nothing is known of it, or that
    /// the state was not measured: the observer of disturbances then holds its estimate. Who never tells is taken to apply the commands at once.
    ///
    /// # Panics
    /// If there are other than p numbers.
    pub fn set_applied(&mut self, input: Option<&[f64]>) {
        self.is_told = true;
        if let Some(observer) = &mut self.observer {
            observer.set_applied(input);
        }
    }

    /// Tells that the next step's state is predicted: the observer of disturbances waits for the next measured one, and for the input that was applied
    /// [until then](Self::set_applied). Holds for one step.
    pub fn skip_observation(&mut self) {
        self.is_predicted = true;
    }

    /// Tells what the actuators do now, or will do when this step's commands act: thrusts, tilts and efforts, p numbers in the order of the commands; with `None`
    /// that nobody knows, so that nothing leads. Holds for one step. Who never tells is taken to send all inputs, from which the actuators follow by
    /// their lags.
    ///
    /// # Panics
    /// If there are other than p numbers.
    pub fn set_actuators(&mut self, actual: Option<&[f64]>) {
        if let Some(ahead) = &mut self.ahead {
            ahead.set_actuators(actual);
        }
        if let (Some(spin), Some(actual)) = (&mut self.spin, actual) {
            spin.set_thrusts(actual);
        }
    }

    /// How commands lead actuators that lag; `None` if they do not.
    pub fn lead(&self) -> Option<&Lead> {
        self.ahead.as_ref().map(|ahead| ahead.lead())
    }

    /// How long after a measurement the command that is computed from it acts, as far as state and reference are predicted, s.
    pub fn delay(&self) -> f64 {
        self.delay
    }

    /// What was found to have failed since the last call, by the numbers of the actuators in those of the [detector](Self::with_failure_detector).
    pub fn take_failed(&mut self) -> Option<Failure> {
        self.failed.take()
    }

    /// Whether the [detector](Self::with_failure_detector) sees something as large as a failure that no failure explains.
    pub fn is_unexplained(&self) -> bool {
        (self.failures.as_ref()).is_some_and(FailureDetector::is_unexplained)
    }

    /// The observer of disturbances, if there is one.
    pub fn disturbance(&self) -> Option<&DisturbanceObserver<P::Dof>> {
        self.observer.as_ref()
    }

    /// The result of the last step.
    pub fn last(&self) -> &Step {
        &self.step
    }

    /// Number of inputs p.
    pub fn input_dim(&self) -> usize {
        self.plant.input_dim()
    }
}

/// All that takes part when the law is asked in a state that the plant has taken in.
struct Asked<'a, P: Plant>
where
    DefaultAllocator: Sizes<P::Dof, Dyn>,
{
    plant: &'a mut P,
    strategy: &'a mut P::Strategy,
    law: &'a mut Law<f64, P::Dof, Dyn>,
    desired: &'a mut DesiredMotion<f64, P::Dof>,
    /// With one, the plant has been asked for b.
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
    ) -> Result<Pursuit, StepError> {
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
        let pursuit = plant.pursue(elapsed, strategy, state, goal, desired, u0)?;
        match pursuit {
            Pursuit::Motion => {
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
            // No template, so no desired inertia: of the inputs within the limits the one counts whose acceleration is nearest to the wanted
            // one in the metric of the kinetic energy (Gauss's principle), which is the same in all coordinates and units.
            Pursuit::Input => {
                let M = plant.mass_matrix();
                law.update(M, M, plant.input_matrix())?;
                if observer.is_some() {
                    // The law of Mbar = M with bbar = b balances r alone.
                    law.unconstrained(compensated, plant.last_bias(), balance);
                    *u0 += &*balance;
                }
            }
        }
        Ok(pursuit)
    }
}

/// The metric in which limited inputs are nearest to what the law asks for.
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
    /// What it pursues: of a vehicle the template.
    pub fn strategy(&self) -> &P::Strategy {
        &self.strategy
    }

    /// The model of what is controlled.
    pub fn plant(&self) -> &P {
        &self.plant
    }

    /// The law, with H.
    pub fn law(&self) -> &Law<f64, P::Dof, Dyn> {
        &self.law
    }

    /// H, p x p: the metric of the inputs in the last step, without the priority of tilt; `H_N` if there are [redundant ones](Law).
    pub fn metric(&self) -> &DMatrix<f64> {
        self.law.metric()
    }

    /// Writes how much each input changes the rate of the total error energy W, p numbers, W by the unit of the input:
    ///
    /// ```text
    /// dW/du = (M^-1 B)^T dTbar/dxi
    /// ```
    ///
    /// An input that differs from the one in force by d changes dW/dt by `dW/du . d`. Zero for state feedback, which has no energies. No allocation.
    ///
    /// # Panics
    /// If there are other than p numbers.
    pub fn energy_gradient(&self, gradient: &mut [f64]) {
        let effect = self.law.control_effectiveness();
        assert_eq!(gradient.len(), effect.ncols(), "number of inputs");
        for (entry, column) in gradient.iter_mut().zip(effect.column_iter()) {
            *entry = column.dot(&self.desired.momentum);
        }
    }

    /// The metric in which limited inputs are nearest to what the law asks for, with the priority of tilt: p x p.
    ///
    /// See [`Law::metric_with_priority`].
    pub fn allocation_metric(&mut self) -> &DMatrix<f64> {
        metric(&self.law, self.tilt_priority, &mut self.metric)
    }
}

/// # A vehicle
impl Controller<FreeBodyPlant> {
    /// The input for this state and reference, without regard to how fast inputs may change: [`step_after`](Self::step_after)
    /// with all the time in the world.
    pub fn step(&mut self, state: &State<f64>, reference: &ReferencePoint) -> &Step {
        self.step_after(f64::INFINITY, state, reference)
    }

    /// The input for this state and reference, `elapsed` seconds after the one before.
    ///
    /// The time matters only with rates in the limits: each input stays within its rate times the time of the one before. The first input has none
    /// before it.
    ///
    /// Allocates nothing with `active_set`; see `Osqp` for what that does. The same calls from the first on
    /// give the same bits. Where state or reference are not finite, so is u0, and the input stays the last one if there
    /// are limits; that an input may be sent is for the caller to check.
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
        // With constant matrices there always is a law, and no metric to refuse.
        let done = self.advance(elapsed, state, reference);
        debug_assert_eq!(done, Ok(()));
        &self.step
    }

    /// From the next step on hovers while spinning by this design, in the place of the law (5.86b); with `None` by the law again. Commands neither lead nor prefer anything
    /// meanwhile, there are no desired energies, and of the disturbance the force alone counts. Limits, rates and
    /// [bounds](Self::set_input_bounds) are kept as before.
    ///
    /// # Panics
    /// If the design is for another number of inputs.
    pub fn set_spin(&mut self, design: Option<Arc<SpinDesign>>) {
        let gravity = *self.plant.body().gravity();
        let input = self.step.input.as_slice();
        self.spin = design.map(|design| Box::new(SpinLaw::new(design, gravity, input)));
    }

    /// What flies a vehicle that hovers while spinning; `None` while it does not.
    pub fn spin(&self) -> Option<&SpinLaw> {
        self.spin.as_deref()
    }

    /// A step while spinning.
    fn spin_on(&mut self, elapsed: f64, state: &State<f64>, goal: &ReferencePoint) {
        if self.delay == 0.0 {
            self.observe(elapsed, state);
        }
        let Some(spin) = &mut self.spin else { return };
        let mass = self.plant.body().inertia().mass();
        // What is along the thrust turns with the body: of that the mean counts, which is vertical.
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

    /// Shows the measured state to the observer of disturbances, `elapsed` s after the last one, where the steps get a predicted one because there is a
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

    /// What the inputs cannot give of the desired closed loop, limits aside, Konz (5.78). Allocates.
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
    /// The input for this state and reference, without regard to how fast inputs may change: [`step_after`](Self::step_after)
    /// with all the time in the world.
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

    /// The input for this state and reference, `elapsed` seconds after the one before; the time matters only with rates in the limits, as for a
    /// vehicle.
    ///
    /// Allocates nothing with `active_set` (but for the first step of state feedback, see [`rest_at`](Self::rest_at)). The same calls from the first
    /// on give the same bits. Where state or reference are not finite, neither is u0, and the input stays the last one if there are limits;
    /// that an input may be sent is for the caller to check. State feedback has no energies: they are zero.
    ///
    /// # Errors
    /// [`StepError`] where there is no law; input, energies and allocation of the last step then stay.
    ///
    /// # Panics
    /// If an argument has another size than the system.
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

    /// Shows the measured state to the observer of disturbances, `elapsed` s after the last one, where the steps get a predicted one because there is a
    /// [delay](Self::with_delay).
    ///
    /// # Panics
    /// If an argument has another size than the system.
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

    /// Finds the gains of state feedback for rest in this configuration; other strategies know no such thing. The first step does it for its own
    /// reference otherwise. Allocates.
    ///
    /// # Errors
    /// [`StepError::NotAtRest`], [`StepError::Placement`].
    ///
    /// # Panics
    /// If the configuration has another length than the system's.
    pub fn rest_at(&mut self, configuration: &[f64]) -> Result<(), StepError> {
        match &mut self.strategy {
            Strategy::Feedback(feedback) => {
                feedback.place(self.plant.model(), self.plant.inputs(), configuration)
            }
            _ => Ok(()),
        }
    }

    /// Moves a configuration to one near by in which the inputs hold the system at rest within their limits: a tilted multicopter is levelled where
    /// it is, its heading kept; a system with an input for every degree of freedom stays as it is. Returns whether one was found; if not, the
    /// configuration stays. Allocates.
    ///
    /// # Panics
    /// If the configuration has another length than the system's.
    pub fn rest_near(&self, configuration: &mut [f64]) -> bool {
        rest::nearest(self.plant.model(), self.plant.inputs(), configuration)
    }

    /// What it pursues, to be asked.
    pub(crate) fn strategy_mut(&mut self) -> &mut Strategy {
        &mut self.strategy
    }

    /// The system's bodies and joints.
    pub fn model(&self) -> &Model<f64> {
        self.plant.model()
    }

    /// The desired motion of the last step; state feedback has none.
    pub fn desired(&self) -> &DesiredMotion {
        &self.desired
    }

    /// M of the model in the last step, n x n.
    pub fn mass_matrix(&self) -> &DMatrix<f64> {
        self.plant.mass_matrix()
    }

    /// b of the model in the last step, n numbers: Coriolis, damping and potential forces. State feedback does not ask for it.
    pub fn bias(&self) -> &DVector<f64> {
        self.plant.last_bias()
    }

    /// B in the last step, n x p.
    pub fn input_matrix(&self) -> &DMatrix<f64> {
        self.plant.input_matrix()
    }
}
