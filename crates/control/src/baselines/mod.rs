//! Textbook controllers, for comparison: springs and dampers between joint coordinates, linear state feedback, and those that people fly multirotors with.

mod euclidean;
mod feedback;
mod multirotor;

pub use euclidean::{DesiredInertia, EuclideanTemplate, NotEuclidean};
pub use feedback::RestFeedback;
pub use multirotor::{CascadeGains, Multirotor, MultirotorGains, MultirotorLaw};
