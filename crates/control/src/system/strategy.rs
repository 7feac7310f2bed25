//! What a controller makes of the errors of a system.

use super::{EuclideanTemplate, RestFeedback, SystemTemplate};

/// What a [`SystemController`](super::SystemController) pursues.
pub enum Strategy {
    /// The closed loop of energies between pairs of bodies.
    Template(SystemTemplate),
    /// The closed loop of springs and dampers between joint coordinates: joint PD, computed torque, linear control.
    Euclidean(EuclideanTemplate),
    /// Linear state feedback about a reference at rest.
    Feedback(RestFeedback),
}

impl From<SystemTemplate> for Strategy {
    fn from(template: SystemTemplate) -> Self {
        Self::Template(template)
    }
}

impl From<EuclideanTemplate> for Strategy {
    fn from(template: EuclideanTemplate) -> Self {
        Self::Euclidean(template)
    }
}

impl From<RestFeedback> for Strategy {
    fn from(feedback: RestFeedback) -> Self {
        Self::Feedback(feedback)
    }
}
