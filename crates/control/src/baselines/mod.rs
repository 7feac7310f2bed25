//! Textbook controllers, for comparison: springs and dampers between joint coordinates, and linear state feedback.

mod euclidean;
mod feedback;

pub use euclidean::{DesiredInertia, EuclideanTemplate, NotEuclidean};
pub use feedback::RestFeedback;
