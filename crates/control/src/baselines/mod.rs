//! Textbook controllers for comparison: springs and dampers between joint coordinates, linear state feedback, and common multirotor controllers.

mod euclidean;
mod feedback;
mod multirotor;

pub use euclidean::{DesiredInertia, EuclideanTemplate, NotEuclidean};
pub use feedback::RestFeedback;
pub use multirotor::{CascadeGains, LinearMemory, Multirotor, MultirotorGains, MultirotorLaw};
