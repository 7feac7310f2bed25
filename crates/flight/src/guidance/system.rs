//! A system of bodies: trajectories of its joints, and the control law with configuration-dependent matrices.

use fly_control::analysis::LyapunovGuarantee;
use fly_control::plant::SystemPlant;
use fly_control::predictor::StatePredictor;
use fly_control::{Controller, Step};
use fly_control::{SystemPoint, Trajectory};
use fly_hal::Frame;
use nalgebra::DMatrix;

use super::{Guidance, finite};
use crate::supervisor::Fault;

/// Reference and control law of any system.
pub struct SystemGuidance {
    reference: Box<dyn Trajectory<SystemPoint>>,
    controller: Controller<SystemPlant>,
    point: SystemPoint,
    next: SystemPoint,
    resting: bool,
    /// Errors of the reference and of the law are reported once each.
    told: [bool; 2],
}

impl SystemGuidance {
    /// With a failsafe that holds position: where the system is, or the nearest configuration that its inputs can hold.
    pub fn new(
        reference: Box<dyn Trajectory<SystemPoint>>,
        controller: Controller<SystemPlant>,
    ) -> Self {
        let point = SystemPoint::new(controller.model());
        Self {
            reference,
            controller,
            next: point.clone(),
            point,
            resting: false,
            told: [false; 2],
        }
    }
}

impl Guidance for SystemGuidance {
    fn evaluate(&mut self, time: f64, _: &Frame) -> Result<(), Fault> {
        match self.reference.at(time, &mut self.next) {
            Ok(()) => {
                std::mem::swap(&mut self.point, &mut self.next);
                Ok(())
            }
            Err(error) => {
                tell(&mut self.told[0], &error);
                Err(Fault::Reference)
            }
        }
    }

    fn failsafe(&mut self, _: f64, predictor: &StatePredictor) {
        if !self.resting {
            self.resting = true;
            let point = &mut self.point;
            point
                .configuration
                .copy_from_slice(predictor.configuration());
            if !self.controller.rest_near(&mut point.configuration) {
                tracing::warn!(
                    "no configuration near here can be held at rest: holding the present one"
                );
            }
            point.velocity.fill(0.0);
            point.acceleration.fill(0.0);
        }
    }

    fn step(&mut self, elapsed: f64, predictor: &StatePredictor) -> Result<&Step, Fault> {
        let (x, xi) = (predictor.configuration(), predictor.velocity());
        let goal = self.point.as_reference();
        match self.controller.step_after(elapsed, x, xi, &goal) {
            Ok(step) => finite(step),
            Err(error) => {
                tell(&mut self.told[1], &error);
                Err(Fault::Controller)
            }
        }
    }

    fn last(&self) -> &Step {
        self.controller.last()
    }

    fn metric(&self) -> &DMatrix<f64> {
        self.controller.metric()
    }

    fn lyapunov_guarantee(&mut self) -> LyapunovGuarantee {
        self.controller.lyapunov_guarantee()
    }

    fn point(&self) -> &SystemPoint {
        &self.point
    }

    fn duration(&self) -> Option<f64> {
        self.reference.duration()
    }

    fn describe(&self, kind: &str) -> String {
        kind.to_owned()
    }
}

fn tell(told: &mut bool, error: &dyn std::error::Error) {
    if !*told {
        *told = true;
        tracing::error!("{error}");
    }
}
