//! From the section `[controller]` to a controller.
#![allow(non_snake_case)]

use std::ops::Range;

use fly_lie::SE3;
use fly_mechanics::{FreeBody, Polytope, State, System, Vehicle};
use nalgebra::{DMatrix, DVector, Matrix6xX};

use super::{
    AllocationMethod, ControllerError, ControllerSettings, GovernorSettings, SettingsError,
};
use crate::Controller;
#[cfg(feature = "osqp")]
use crate::allocation::Osqp;
use crate::allocation::{ActiveSet, AllocationError, Allocator, Limits};
use crate::analysis::check_existence;
use crate::disturbance::BandwidthError;
use crate::inputs::ReferenceInputs;
use crate::lead::{Lead, LeadError};
use crate::plant::{FreeBodyPlant, Plant, SystemPlant};
use crate::sizes::Sizes;
use crate::template::Template;

impl ControllerSettings {
    /// The controller of a vehicle from its description, within the limits of its actuators.
    ///
    /// # Errors
    /// [`ControllerError`].
    pub fn build(&self, vehicle: &Vehicle) -> Result<Controller, ControllerError> {
        let rotors = &vehicle.rotors;
        let polytope = rotors.limits();
        let interior = DVector::from_column_slice(rotors.interior());
        let limits = Limits::new(polytope.matrix.clone(), polytope.bound.clone(), interior)?;
        let controller = self.build_for_body(
            &vehicle.body,
            &vehicle.body_name,
            rotors.input_matrix(),
            Some(&limits),
        )?;
        let controller = self.lead(controller, Lead::of_rotors(rotors, self.actuators.lead))?;
        self.watch(controller, rotors.rotor_ranges())
    }

    /// The controller of any free body with this name, input matrix B (6 x p) and limits. Lags, and which inputs belong to one actuator, are unknown here, so
    /// there is no lead and no failure detection.
    ///
    /// # Errors
    /// [`ControllerError`].
    pub fn build_for_body(
        &self,
        body: &FreeBody<f64>,
        name: &str,
        inputs: &Matrix6xX<f64>,
        limits: Option<&Limits>,
    ) -> Result<Controller, ControllerError> {
        let (approach, transport) = self.of_free_body()?;
        let pair = self.pair(name, body, inputs)?;
        let template = Template::of_body(approach, transport, pair);
        let plant = FreeBodyPlant::new(body, inputs);
        let controller = Controller::new(plant.clone(), template)?;
        let level = State::at_rest(SE3::identity());
        let hover = || {
            let (polytope, interior) = polytope(limits, inputs.ncols());
            let inputs = ReferenceInputs::of_plant(plant, &polytope, &interior);
            inputs.central(&body.bias(&level)).input
        };
        let redundant = controller.law().redundancy() > 0;
        let controller = self.prefer(controller, redundant, hover)?;
        self.limit(controller, limits)
    }

    /// The controller of a system from its description, within the limits of its inputs.
    ///
    /// ```
    /// use fly_control::system::SystemReference;
    /// use fly_control::ControllerSettings;
    /// use fly_mechanics::System;
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
    /// let settings: ControllerSettings = toml::from_str(
    ///     "allocation = 'active_set'
    ///      pairs = [{ to = 'arm', stiffness = 9, damping = 6, inertia = 1 }]",
    /// )?;
    /// let mut controller = settings.build_for_system(&system)?;
    ///
    /// let goal = SystemReference { configuration: &[1.0], velocity: &[0.0], acceleration: &[0.0] };
    /// let step = controller.step_after(0.0, &[0.2], &[0.0], &goal)?;
    /// // The law asks for about 8 N m: for the weight's 2 and to speed up; the motor gives what it has.
    /// assert_eq!((step.input[0], step.active()), (5.0, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ControllerError`].
    pub fn build_for_system(
        &self,
        system: &System,
    ) -> Result<Controller<SystemPlant>, ControllerError> {
        let is_led = || self.is_of_body() && Vehicle::try_from(system.clone()).is_ok();
        if matches!(self.limits, GovernorSettings::Custom(_)) && !is_led() {
            let message = "expected no such section: the limits are those of a vehicle of one free body with rotors, flown by its energies";
            return Err(SettingsError::new("limits", message).into());
        }
        if !system.rolling.is_empty() && self.approach.template().is_none() {
            let message = format!(
                "expected particle, body or energy for a system that rolls, found {}",
                self.approach.name()
            );
            return Err(SettingsError::new("approach", message).into());
        }
        let plant = SystemPlant::new(system)?;
        let mut strategy = self.strategy(system)?;
        check_existence(system, &mut strategy)?;
        let polytope = system.inputs.limits();
        let interior = DVector::from_column_slice(system.inputs.interior());
        let limits = Limits::new(polytope.matrix.clone(), polytope.bound.clone(), interior)?;
        let controller = Controller::new(plant, strategy)?;
        let redundant = controller.plant().clone().input_rank() < system.inputs.input_dim();
        let mut inputs = ReferenceInputs::of_system(system)?;
        let neutral = system.model.neutral_configuration();
        let hover = || inputs.central_at(&neutral).input;
        let controller = self.prefer(controller, redundant, hover)?;
        let controller = self.limit(controller, Some(&limits))?;
        let inputs = &system.inputs;
        let controller = self.lead(controller, Lead::of_inputs(inputs, self.actuators.lead))?;
        self.watch(controller, inputs.actuator_ranges())
    }

    /// Adds a lead if configured.
    fn lead<P: Plant>(
        &self,
        controller: Controller<P>,
        lead: Result<Lead, LeadError>,
    ) -> Result<Controller<P>, ControllerError>
    where
        nalgebra::DefaultAllocator: Sizes<P::Dof, nalgebra::Dyn>,
    {
        if self.actuators.lead == 0.0 {
            return Ok(controller);
        }
        let led = lead.and_then(|lead| controller.with_lead(lead));
        let refused = |error: LeadError| SettingsError::new("actuators.lead", error.to_string());
        Ok(led.map_err(refused)?)
    }

    /// Adds a detector of failures of actuators with these inputs if configured.
    fn watch<P: Plant>(
        &self,
        controller: Controller<P>,
        actuators: impl Iterator<Item = Range<usize>>,
    ) -> Result<Controller<P>, ControllerError>
    where
        nalgebra::DefaultAllocator: Sizes<P::Dof, nalgebra::Dyn>,
    {
        if !(self.disturbance).is_some_and(|disturbance| disturbance.detect_failures) {
            return Ok(controller);
        }
        if self.actuators.delay > 0.0 {
            let message = "expected false (the default) beside `actuators.delay`: with commands in transit, the actuators' outputs are too uncertain to detect failures";
            return Err(SettingsError::new("disturbance.detect_failures", message).into());
        }
        if controller.plant().tilt_indices().is_none() {
            let message = "expected false (the default): failures can be detected on a single free body only, since a failed motor and a load on a joint look the same";
            return Err(SettingsError::new("disturbance.detect_failures", message).into());
        }
        Ok(controller.with_failure_detector(actuators.collect()))
    }

    /// Sets the weights and the preferred input of redundant inputs.
    fn prefer<P: Plant>(
        &self,
        controller: Controller<P>,
        redundant: bool,
        hover: impl FnOnce() -> DVector<f64>,
    ) -> Result<Controller<P>, ControllerError>
    where
        nalgebra::DefaultAllocator: Sizes<P::Dof, nalgebra::Dyn>,
    {
        let p = controller.input_dim();
        let hover = || {
            if redundant {
                hover()
            } else {
                DVector::zeros(p)
            }
        };
        let (weights, (preferred, follows)) = (self.weights(p)?, self.preferred(p, hover)?);
        if redundant {
            Ok(controller.with_preferred_input(&weights, &preferred, follows)?)
        } else {
            Ok(controller)
        }
    }

    /// Sets tilt priority and limits.
    fn limit<P: Plant>(
        &self,
        controller: Controller<P>,
        limits: Option<&Limits>,
    ) -> Result<Controller<P>, ControllerError>
    where
        nalgebra::DefaultAllocator: Sizes<P::Dof, nalgebra::Dyn>,
    {
        let rates = self.rates(controller.input_dim())?;
        let priority = self.tilt_priority.unwrap_or(0.0);
        if priority != 0.0 && controller.plant().tilt_indices().is_none() {
            let message = "expected 0 (the default): it is the tilt priority of the only free body, and this system has none or several";
            return Err(SettingsError::new("tilt_priority", message).into());
        }
        let controller = controller.with_delay(self.actuators.delay);
        let mut controller = controller.with_tilt_priority(priority)?;
        if let Some(bandwidth) = self.observer() {
            let refused = |error: BandwidthError| {
                SettingsError::new("disturbance.bandwidth", error.to_string())
            };
            let observed = controller.with_disturbance_observer(bandwidth);
            controller = observed.map_err(refused)?;
        }
        match limits {
            Some(limits) if self.allocation != AllocationMethod::None => {
                Ok(controller.limited(limits, rates, |limits, metric| {
                    allocator(self.allocation, limits, metric)
                })?)
            }
            _ => Ok(controller),
        }
    }
}

/// `W u <= l` from limits that may have lower bounds, and an interior point.
fn polytope(limits: Option<&Limits>, inputs: usize) -> (Polytope, Vec<f64>) {
    let Some(limits) = limits else {
        let (matrix, bound) = (DMatrix::zeros(0, inputs), DVector::zeros(0));
        return (Polytope { matrix, bound }, vec![0.0; inputs]);
    };
    let W = limits.rows();
    let above = limits.upper().iter().enumerate();
    let below = limits.lower().iter().enumerate();
    let sides: Vec<_> = (above.map(|(row, bound)| (row, 1.0, *bound)))
        .chain(below.map(|(row, bound)| (row, -1.0, -bound)))
        .filter(|(_, _, bound)| bound.is_finite())
        .collect();
    let matrix = DMatrix::from_fn(sides.len(), inputs, |i, j| {
        let (row, side, _) = sides[i];
        side * W[(row, j)]
    });
    let bound = DVector::from_iterator(sides.len(), sides.iter().map(|(.., bound)| *bound));
    let interior = limits.interior().as_slice().to_vec();
    (Polytope { matrix, bound }, interior)
}

/// The solver of this name.
fn allocator(
    method: AllocationMethod,
    limits: &Limits,
    metric: &DMatrix<f64>,
) -> Result<Box<dyn Allocator>, AllocationError> {
    match method {
        #[cfg(feature = "osqp")]
        AllocationMethod::Osqp => Ok(Box::new(Osqp::new(limits, metric)?)),
        // Rejected by `validate`.
        #[cfg(not(feature = "osqp"))]
        AllocationMethod::Osqp => Err(AllocationError::Osqp(
            "this build does not contain it".into(),
        )),
        AllocationMethod::ActiveSet | AllocationMethod::None => {
            Ok(Box::new(ActiveSet::new(limits, metric)?))
        }
    }
}
