//! The disturbances of a flight, for its summary.

use fly_control::disturbance::HoverEstimate;
use nalgebra::Vector3;

/// The disturbance observer's result at the end of a flight.
#[derive(Debug, Clone, PartialEq)]
pub struct DisturbanceReport {
    /// The force that the model does not explain, in the model's velocity coordinates, N and N m.
    pub force: Vec<f64>,
    /// The disturbance of a vehicle of one body.
    pub body: Option<BodyDisturbance>,
}

/// The disturbance of one body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyDisturbance {
    /// Force, N, world frame.
    pub force: Vector3<f64>,
    /// Moment about the body's origin, N m, body frame.
    pub moment: Vector3<f64>,
    /// Ratio of actual to modelled thrust.
    pub thrust_scale: f64,
    /// The mass of the model, kg.
    pub model_mass: f64,
    /// The mass and centre of mass that would explain it in hover.
    pub hover: Option<HoverEstimate>,
}
