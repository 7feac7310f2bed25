//! A vehicle of one body: trajectories of poses, and the law with constant matrices.

use fly_control::analysis::LyapunovGuarantee;
use fly_control::{Controller, ReferencePoint, Step, SystemPoint};
use fly_hal::Frame;
use fly_lie::SE3;
use fly_mechanics::State;
use fly_mechanics::multibody::{Joint, Model};
use nalgebra::DMatrix;

use super::{Guidance, finite};
use crate::craft::Craft;
use crate::descent::Descent;
use crate::reference::FlightReference;
use crate::supervisor::Fault;

/// Leads one free body.
pub struct VehicleGuidance {
    reference: FlightReference,
    controller: Controller,
    joint: Joint<f64>,
    point: ReferencePoint,
    /// The same, in the coordinates of the joint.
    coordinates: SystemPoint,
    /// How fast to sink when the flight is given up, m/s.
    descent_rate: f64,
    descent: Option<Descent>,
    /// Whether the reference had to hold its last point, which is told once.
    held: bool,
}

impl VehicleGuidance {
    /// For the model of one free body. Given up, the vehicle levels and sinks at `descent_rate`, m/s.
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
    fn lead(&mut self, time: f64, frame: &Frame) -> Result<(), Fault> {
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

    fn retreat(&mut self, time: f64, craft: &Craft) {
        let rate = self.descent_rate;
        let descent = *self
            .descent
            .get_or_insert_with(|| Descent::new(&state(craft), rate));
        self.put(descent.at(time));
    }

    fn step(&mut self, elapsed: f64, craft: &Craft) -> Result<&Step, Fault> {
        let state = state(craft);
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

/// Pose and twist of the one body; at rest in the origin where there is none.
fn state(craft: &Craft) -> State<f64> {
    craft.tracked_motion().map_or_else(
        || State::at_rest(SE3::identity()),
        |(pose, twist)| State { pose, twist },
    )
}
