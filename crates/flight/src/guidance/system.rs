//! Any other system: it follows configurations.

use fly_control::inputs::ReferenceInputs;
use fly_control::plant::{PlantError, SystemPlant};
use fly_control::predictor::StatePredictor;
use fly_control::{Controller, Step, SystemPoint, Trajectory};
use fly_mechanics::System;
use fly_mechanics::measurements::Measurements;
use nalgebra::{DVector, Vector3};

use crate::supervisor::Fault;

/// The reference of a system, and the control law that follows it.
pub(super) struct SystemGuidance {
    pub reference: Box<dyn Trajectory<SystemPoint>>,
    pub controller: Controller<SystemPlant>,
    /// The last reference.
    pub point: SystemPoint,
    /// The reference at the time when the next commands act, if that is later.
    ahead: Option<(Box<dyn Trajectory<SystemPoint>>, SystemPoint)>,
    rest_inputs: ReferenceInputs<SystemPlant>,
    /// The input that holds the system where its failsafe holds it.
    rest_input: DVector<f64>,
    /// How far jumps of the measured position have moved the reference of the tracked body, m, world frame.
    moved: Vector3<f64>,
    measurements: Measurements,
    /// Whether an error of the reference and one of the law have been reported; only the first of each is.
    has_reported: [bool; 2],
}

impl SystemGuidance {
    /// # Errors
    /// [`PlantError`] if the system has no inputs or is constrained.
    pub fn new(
        system: &System,
        reference: Box<dyn Trajectory<SystemPoint>>,
        controller: Controller<SystemPlant>,
    ) -> Result<Self, PlantError> {
        let mut rest_inputs = ReferenceInputs::of_system(system)?;
        let point = SystemPoint::new(controller.model());
        let tracked = Measurements::tracked(controller.model());
        Ok(Self {
            moved: Vector3::zeros(),
            measurements: Measurements::new(controller.model(), tracked),
            rest_input: rest_inputs.at(&point.as_reference()).input,
            reference,
            controller,
            point,
            ahead: None,
            rest_inputs,
            has_reported: [false; 2],
        })
    }

    /// Accounts for the delay that the controller knows; `reference` is the system's reference again.
    pub fn look_ahead(&mut self, reference: Box<dyn Trajectory<SystemPoint>>) {
        self.ahead = Some((reference, SystemPoint::new(self.controller.model())));
    }

    /// Evaluates the reference at this flight time, s.
    pub fn evaluate(&mut self, time: f64) -> Result<(), Fault> {
        let (delay, moved) = (self.controller.delay(), self.moved);
        let (model, measurements) = (self.controller.model(), &self.measurements);
        // What cannot be evaluated stays, moved already.
        let moves = |point: &mut SystemPoint| {
            if moved != Vector3::zeros() {
                measurements.translate(model, &moved, &mut point.configuration);
            }
        };
        let mut result = self.reference.at(time, &mut self.point);
        if result.is_ok() {
            moves(&mut self.point);
            if let Some((ahead, aim)) = &mut self.ahead {
                result = ahead.at(time + delay, aim);
                if result.is_ok() {
                    moves(aim);
                }
            }
        }
        result.map_err(|error| {
            if !std::mem::replace(&mut self.has_reported[0], true) {
                tracing::error!("{error}");
            }
            Fault::Reference
        })
    }

    /// Moves the reference, or the configuration that a failsafe holds, by this vector of the world, m. Returns whether the
    /// reference has moved.
    pub fn displace(&mut self, by: &Vector3<f64>, is_failsafe: bool) -> bool {
        if !is_failsafe {
            self.moved += by;
        }
        let model = self.controller.model();
        let aim = self.ahead.iter_mut().map(|(_, aim)| aim);
        for point in aim.chain([&mut self.point]) {
            (self.measurements).translate(model, by, &mut point.configuration);
        }
        !is_failsafe
    }

    /// Holds still from now on, where the inputs can hold the system.
    pub fn begin_failsafe(&mut self, predictor: &StatePredictor) {
        let point = &mut self.point;
        let present = predictor.configuration();
        point.configuration.copy_from_slice(present);
        if !(self.controller).nearest_equilibrium(&mut point.configuration) {
            tracing::warn!(
                "no equilibrium found near the current configuration: holding the current configuration"
            );
        }
        point.velocity.fill(0.0);
        point.acceleration.fill(0.0);
        self.rest_input = self.rest_inputs.at(&point.as_reference()).input;
        if let Some((_, aim)) = &mut self.ahead {
            (aim.configuration).copy_from_slice(&point.configuration);
            aim.velocity.fill(0.0);
            aim.acceleration.fill(0.0);
        }
    }

    /// The input that follows the last reference; it may not be finite.
    pub fn step(&mut self, elapsed: f64, predictor: &mut StatePredictor) -> Result<&Step, Fault> {
        if self.controller.delay() > 0.0 {
            let (x, xi) = (predictor.configuration(), predictor.velocity());
            self.controller.observe_measured(elapsed, x, xi);
            let observer = self.controller.disturbance();
            predictor.look_ahead(observer.map(|found| found.force().as_slice()));
        }
        let state = predictor.ahead();
        self.controller.set_actuators(state.actuators);
        let aim = self.ahead.as_ref().map_or(&self.point, |(_, aim)| aim);
        let aim = aim.as_reference();
        let step = (self.controller).step_after(elapsed, state.configuration, state.velocity, &aim);
        step.map_err(|error| {
            if !std::mem::replace(&mut self.has_reported[1], true) {
                tracing::error!("{error}");
            }
            Fault::Controller
        })
    }

    /// Writes the input of a failsafe whose law gives no result.
    pub fn input_without_law(&self, input: &mut [f64]) {
        for (to, rest) in input.iter_mut().zip(&self.rest_input) {
            *to = *rest;
        }
    }
}
