//! A system of bodies: trajectories of its joints, and the law with matrices of the moment.

use fly_control::analysis::LyapunovGuarantee;
use fly_control::plant::SystemPlant;
use fly_control::{Controller, Step};
use fly_control::{SystemPoint, Trajectory};
use fly_hal::Frame;
use nalgebra::DMatrix;

use super::{Guidance, finite};
use crate::craft::Craft;
use crate::supervisor::Fault;

/// Leads any system.
pub struct SystemGuidance {
    reference: Box<dyn Trajectory<SystemPoint>>,
    controller: Controller<SystemPlant>,
    point: SystemPoint,
    next: SystemPoint,
    resting: bool,
    /// Errors are told once each.
    told: [bool; 2],
}

impl SystemGuidance {
    /// Of this reference and this law. Given up, the system stops where it is, or near by where its inputs can hold it.
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
    fn lead(&mut self, time: f64, _: &Frame) -> Result<(), Fault> {
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

    fn retreat(&mut self, _: f64, craft: &Craft) {
        if !self.resting {
            self.resting = true;
            let point = &mut self.point;
            point.configuration.copy_from_slice(craft.configuration());
            if !self.controller.rest_near(&mut point.configuration) {
                tracing::warn!(
                    "nothing holds the system at rest near here: it is told to stay where it is"
                );
            }
            point.velocity.fill(0.0);
            point.acceleration.fill(0.0);
        }
    }

    fn step(&mut self, elapsed: f64, craft: &Craft) -> Result<&Step, Fault> {
        let (x, xi) = (craft.configuration(), craft.velocity());
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
