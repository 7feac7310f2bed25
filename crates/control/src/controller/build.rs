//! Construction.

use std::ops::Range;

use nalgebra::{DMatrix, DVector, DefaultAllocator, Dyn, OVector};

use super::metric::TiltPriority;
use super::{Controller, Step};
use crate::allocation::{AllocationError, Allocator, Limited, Limits};
use crate::disturbance::{BandwidthError, DisturbanceObserver, FailureDetector};
use crate::law::LawError;
use crate::lead::{Ahead, Lead, LeadError};
use crate::plant::Plant;
use crate::sizes::Sizes;
use crate::template::DesiredMotion;

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
            has_inner_loop: false,
            is_told: false,
            is_predicted: false,
            unobserved: 0.0,
            force: OVector::zeros_generic(plant.dof(), nalgebra::U1),
            previous: DVector::zeros(p),
            limits: None,
            bounded: None,
            preferred: DVector::zeros(p),
            fixed: vec![None; p],
            prefers_previous: false,
            spin: None,
            step: Step::new(p),
            has_stepped: false,
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
        let observer = DisturbanceObserver::new(n, p, free, bandwidth)?;
        self.observer = Some(if self.has_inner_loop {
            observer.of_force()
        } else {
            observer
        });
        Ok(self)
    }

    /// For a vehicle whose attitude is controlled by an inner loop, such as an autopilot that receives attitudes or angular velocities: the torques of its
    /// rotors are then unknown, so that the disturbance observer estimates forces only, and failures of actuators are not detected.
    #[must_use]
    pub fn with_inner_loop(mut self) -> Self {
        self.has_inner_loop = true;
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

    /// Adds a detector of failed actuators, each with these inputs. It uses the disturbance observer's measurements; it has no effect without an observer, with an
    /// [inner loop](Self::with_inner_loop), or unless exactly one body is free in the world. It only reports what it [finds](Self::take_failure); to act on it, see [`set_input_bounds`](Self::set_input_bounds).
    #[must_use]
    pub fn with_failure_detector(mut self, actuators: Vec<Range<usize>>) -> Self {
        let n = self.plant.dof();
        let applies = self.plant.tilt_indices().is_some() && !self.has_inner_loop;
        self.failures = applies.then(|| FailureDetector::new(n, actuators));
        self
    }

    /// Sets a priority rho (kg m^2) of the free body's tilt when inputs are limited, see [`Law::metric_with_priority`](crate::law::Law::metric_with_priority). It has no effect
    /// unless exactly one body is free in the world.
    ///
    /// # Errors
    /// [`AllocationError::Metric`] if there are limits and the metric with this priority is not positive definite.
    pub fn with_tilt_priority(mut self, rho: f64) -> Result<Self, AllocationError> {
        let tilts = self.plant.tilt_indices().filter(|_| rho != 0.0);
        self.tilt_priority = tilts.map(|tilts| TiltPriority { rho, tilts });
        self.take_metric()?;
        Ok(self)
    }

    /// Sets the input weight R (its diagonal, p entries) and the preferred input `u_ref` (p entries) of redundant inputs, see [`Law`](crate::law::Law); with
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
}
