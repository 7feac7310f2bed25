//! Control strategies of a system.

use fly_mechanics::multibody::Model;

use crate::baselines::{EuclideanTemplate, Multirotor, RestFeedback};
use crate::template::{MatrixTemplate, SystemTemplate, Template};

/// The control strategy of a [system](crate::plant::SystemPlant): what defines its desired closed loop.
pub enum Strategy {
    /// Desired energies between pairs of bodies.
    Template(Template<Model<f64>>),
    /// The same with full 6 x 6 matrices.
    Matrices(MatrixTemplate),
    /// A user-defined closed loop.
    User(Box<dyn SystemTemplate>),
    /// Springs and dampers between joint coordinates: joint PD, computed torque, linear control.
    Euclidean(EuclideanTemplate),
    /// Linear state feedback about a reference at rest.
    Feedback(RestFeedback),
    /// The usual cascaded controllers of multirotors.
    Multirotor(Box<Multirotor>),
}

impl From<Multirotor> for Strategy {
    fn from(multirotor: Multirotor) -> Self {
        Self::Multirotor(Box::new(multirotor))
    }
}

impl From<Template<Model<f64>>> for Strategy {
    fn from(template: Template<Model<f64>>) -> Self {
        Self::Template(template)
    }
}

impl From<MatrixTemplate> for Strategy {
    fn from(template: MatrixTemplate) -> Self {
        Self::Matrices(template)
    }
}

impl From<Box<dyn SystemTemplate>> for Strategy {
    fn from(template: Box<dyn SystemTemplate>) -> Self {
        Self::User(template)
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
