//! From the section `[controller]` to a controller.

use fly_mechanics::{FreeBody, System, Vehicle};
use nalgebra::{DMatrix, DVector, Matrix6xX};

use super::trial::try_out;
use super::{
    AllocationMethod, ControllerError, ControllerSettings, GovernorSettings, SettingsError,
};
use crate::Controller;
#[cfg(feature = "osqp")]
use crate::allocation::Osqp;
use crate::allocation::{ActiveSet, AllocationError, Allocator, Limits};
use crate::disturbance::BandwidthError;
use crate::plant::{FreeBodyPlant, Plant, SystemPlant};
use crate::sizes::Sizes;
use crate::template::Template;

impl ControllerSettings {
    /// The controller of a vehicle as its description gives it, within the limits of its actuators.
    ///
    /// # Errors
    /// [`ControllerError`].
    pub fn build(&self, vehicle: &Vehicle) -> Result<Controller, ControllerError> {
        let rotors = &vehicle.rotors;
        let polytope = rotors.limits();
        let interior = DVector::from_column_slice(rotors.interior());
        let limits = Limits::new(polytope.matrix.clone(), polytope.bound.clone(), interior)?;
        self.build_for_body(
            &vehicle.body,
            &vehicle.body_name,
            rotors.input_matrix(),
            Some(&limits),
        )
    }

    /// The controller of any free body with this name, input matrix B (6 x p) and limits.
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
        let controller = Controller::new(FreeBodyPlant::new(body, inputs), template)?;
        self.limit(controller, limits)
    }

    /// The controller of a system as its description gives it, within the limits of its inputs.
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
        if let GovernorSettings::Chosen(_) = self.limits {
            let message = "expected no such section: the limits are those of a vehicle of one free body with rotors, flown by its energies";
            return Err(SettingsError::new("limits", message).into());
        }
        let plant = SystemPlant::new(system)?;
        let mut strategy = self.strategy(system)?;
        try_out(system, &mut strategy)?;
        let polytope = system.inputs.limits();
        let interior = DVector::from_column_slice(system.inputs.interior());
        let limits = Limits::new(polytope.matrix.clone(), polytope.bound.clone(), interior)?;
        self.limit(Controller::new(plant, strategy)?, Some(&limits))
    }

    /// The same controller with priority of tilt and limits.
    fn limit<P: Plant>(
        &self,
        controller: Controller<P>,
        limits: Option<&Limits>,
    ) -> Result<Controller<P>, ControllerError>
    where
        nalgebra::DefaultAllocator: Sizes<P::Dof, nalgebra::Dyn>,
    {
        let rates = self.rates(controller.input_dim())?;
        if self.tilt_priority != 0.0 && controller.plant().tilts().is_none() {
            let message = "expected 0 (the default): it is the priority of the tilt of the one body that moves freely, and this system has none or \
                           several";
            return Err(SettingsError::new("tilt_priority", message).into());
        }
        let mut controller = controller.with_tilt_priority(self.tilt_priority)?;
        if let Some(disturbance) = self.observer() {
            let refused = |error: BandwidthError| {
                SettingsError::new("disturbance.bandwidth", error.to_string())
            };
            let observed = controller.with_disturbance_observer(disturbance.bandwidth);
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

/// The solver of this name.
fn allocator(
    method: AllocationMethod,
    limits: &Limits,
    metric: &DMatrix<f64>,
) -> Result<Box<dyn Allocator>, AllocationError> {
    match method {
        #[cfg(feature = "osqp")]
        AllocationMethod::Osqp => Ok(Box::new(Osqp::new(limits, metric)?)),
        // Refused by `validate`.
        #[cfg(not(feature = "osqp"))]
        AllocationMethod::Osqp => Err(AllocationError::Osqp("it is not in this build".into())),
        AllocationMethod::ActiveSet | AllocationMethod::None => {
            Ok(Box::new(ActiveSet::new(limits, metric)?))
        }
    }
}
