//! What has disturbed a flight, for its summary.

use fly_control::disturbance::HoverEstimate;
use nalgebra::Vector3;

/// What the observer of disturbances has found at the end of a flight.
#[derive(Debug, Clone, PartialEq)]
pub struct DisturbanceReport {
    /// The force that the model does not explain, along the velocity coordinates of the model, N and N m.
    pub force: Vec<f64>,
    /// Of a vehicle of one body.
    pub body: Option<BodyDisturbance>,
}

/// What disturbs one body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyDisturbance {
    /// Force, N, world.
    pub force: Vector3<f64>,
    /// Moment about the body's origin, N m, body axes.
    pub moment: Vector3<f64>,
    /// How much the thrust gives of what it should.
    pub thrust_scale: f64,
    /// The mass of the model, kg.
    pub model_mass: f64,
    /// The mass and the centre of mass that would explain it in hover.
    pub hover: Option<HoverEstimate>,
}
