//! A vehicle of one body: trajectories of poses, and the control law with constant matrices.

use fly_control::analysis::LyapunovGuarantee;
use fly_control::predictor::StatePredictor;
use fly_control::{Controller, ReferencePoint, Step, SystemPoint};
use fly_hal::Frame;
use fly_lie::SE3;
use fly_mechanics::State;
use fly_mechanics::multibody::{Joint, Model};
use nalgebra::DMatrix;

use super::{Guidance, finite};
use crate::descent::Descent;
use crate::reference::FlightReference;
use crate::supervisor::Fault;

/// Reference and control law of one free body.
pub struct VehicleGuidance {
    reference: FlightReference,
    controller: Controller,
    joint: Joint<f64>,
    point: ReferencePoint,
    /// The same, in the coordinates of the joint.
    coordinates: SystemPoint,
    /// Descent rate of the failsafe, m/s; 0 to hold position.
    descent_rate: f64,
    descent: Option<Descent>,
    /// Whether the reference had to hold its last point, which is told once.
    held: bool,
}

impl VehicleGuidance {
    /// For the model of one free body, whose failsafe levels it and descends at `descent_rate`, m/s.
    ///
    /// # Panics
    /// If the model has no body.
    pub fn new(
        model: &Model<f64>,
        reference: FlightReference,
        controller: Controller,
        descent_rate: f64,
    ) -> Self {
        let body = model.bodies().next().and_then(|body| model.joint(body));
        Self {
            reference,
            controller,
            joint: *body.expect("a vehicle has a body"),
            point: ReferencePoint::at_rest(SE3::identity()),
            coordinates: SystemPoint::new(model),
            descent_rate,
            descent: None,
            held: false,
        }
    }

    fn put(&mut self, point: ReferencePoint) {
        self.point = point;
        let coordinates = &mut self.coordinates;
        self.joint
            .coordinates(&point.pose, &mut coordinates.configuration);
        coordinates.velocity.copy_from_slice(point.twist.as_slice());
        coordinates
            .acceleration
            .copy_from_slice(point.acceleration.as_slice());
    }
}

impl Guidance for VehicleGuidance {
    fn evaluate(&mut self, time: f64, frame: &Frame) -> Result<(), Fault> {
        let mut point = self.point;
        if let Err(error) = self.reference.at(time, frame, &mut point)
            && !self.held
        {
            self.held = true;
            tracing::warn!("{error}: the reference holds its last point meanwhile");
        }
        self.put(point);
        Ok(())
    }

    fn failsafe(&mut self, time: f64, predictor: &StatePredictor) {
        let rate = self.descent_rate;
        let descent = *self
            .descent
            .get_or_insert_with(|| Descent::new(&state(predictor), rate));
        self.put(descent.at(time));
    }

    fn step(&mut self, elapsed: f64, predictor: &StatePredictor) -> Result<&Step, Fault> {
        let state = state(predictor);
        finite(self.controller.step_after(elapsed, &state, &self.point))
    }

    fn last(&self) -> &Step {
        self.controller.last()
    }

    fn metric(&self) -> &DMatrix<f64> {
        self.controller.law().metric()
    }

    fn lyapunov_guarantee(&mut self) -> LyapunovGuarantee {
        self.controller.lyapunov_guarantee()
    }

    fn point(&self) -> &SystemPoint {
        &self.coordinates
    }

    fn duration(&self) -> Option<f64> {
        self.reference.duration()
    }

    fn describe(&self, kind: &str) -> String {
        self.reference.describe(kind)
    }
}

/// Pose and twist of the one body.
fn state(predictor: &StatePredictor) -> State<f64> {
    predictor.tracked_motion().map_or_else(
        || State::at_rest(SE3::identity()),
        |(pose, twist)| State { pose, twist },
    )
}
